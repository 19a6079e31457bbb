"""A training step of recurrent layers: 50 steps, 32 sequences, 128 units; PyTorch beside it.

Forward, the mean of the outputs, and the gradients of the weights and of the input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import nn
from benchmarks.conftest import TABLES
from benchmarks.micro.interleave import compare, table

TIME, BATCH, SIZE = 50, 32, 128
KINDS = {"LSTM": nn.LSTM, "GRU": nn.GRU, "SimpleRNN": nn.SimpleRNN}
VALUES = np.random.default_rng(0).standard_normal((TIME, BATCH, SIZE)).astype(np.float32)


def eager(kind: str) -> Callable[[], object]:
    layer = KINDS[kind](SIZE, SIZE, time_major=True)
    x = paddle.to_tensor(VALUES, stop_gradient=False)

    def step() -> None:
        layer(x)[0].mean().backward()
        x.clear_grad()
        layer.clear_gradients()

    return step


def compiled(kind: str, backend: str) -> Callable[[], object]:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        layer = KINDS[kind](SIZE, SIZE, time_major=True)
        x = paddle.static.data("x", VALUES.shape, "float32")
        x.stop_gradient = False
        loss = layer(x)[0].mean()
        wanted = [loss, *paddle.static.gradients([loss], [x, *layer.parameters()])]
    exe = paddle.static.Executor(backend=backend)
    exe.run(startup)
    return lambda: exe.run(main, feed={"x": VALUES}, fetch_list=wanted)


def in_torch(kind: str) -> Callable[[], object]:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")
    torch.set_num_threads(1)
    layer = {"SimpleRNN": torch.nn.RNN}.get(kind, getattr(torch.nn, kind, None))(SIZE, SIZE)
    x = torch.from_numpy(VALUES.copy()).requires_grad_()

    def step() -> None:
        layer(x)[0].mean().backward()
        x.grad = None
        layer.zero_grad()

    return step


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["eager", "numpy", "native"])
def test_a_training_step(benchmark: Any, kind: str, how: str) -> None:
    benchmark(eager(kind) if how == "eager" else compiled(kind, how))


@pytest.mark.parametrize("kind", KINDS)
def test_beside_pytorch(kind: str) -> None:
    steps = {
        "ours": eager(kind),
        "ours, native": compiled(kind, "native"),
        "PyTorch": in_torch(kind),
    }
    timings = compare(steps, rounds=15, seconds=0.1)
    TABLES.append(table(f"{kind}, eager", timings))
    TABLES.append(table(f"{kind}, native", timings, ours="ours, native"))
