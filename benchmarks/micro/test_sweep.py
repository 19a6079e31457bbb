"""Functions that PyTorch has too, forward and backward, on tiny, medium and large operands.

Run with ``python -m pytest benchmarks/micro/test_sweep.py -q``; ``-k "tiny and pool"`` picks, and
``-k "not more"`` leaves out the second table. One core, float32; every pass starts from a given
cotangent. Results and gradients are compared, and nothing is asserted about time: the tables at the
end have the ratio of processor time in the fastest of rounds that take turns, which a busy machine
changes least.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks.conftest import TABLES
from benchmarks.micro.overhead_steps import installed
from benchmarks.micro.sweep_cases import CASES, SIZES, Case
from benchmarks.micro.sweep_more_cases import DRAWN, MORE

ALL: dict[str, Case] = {**CASES, **MORE}
RATIOS: dict[str, dict[str, float]] = {size: {} for size in SIZES}


def labels_of(n: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).integers(0, n, n)


def operands_of(name: str, n: int) -> list[np.ndarray[Any, Any]]:
    return ALL[name].make(np.random.default_rng(2), n)


def cotangent_of(shape: Any) -> np.ndarray[Any, Any]:
    return np.asarray(np.random.default_rng(3).standard_normal(tuple(shape)), np.float32)


def ours(name: str, n: int) -> Callable[[], Any]:
    import autograd_engine as paddle

    call, labels = ALL[name].ours, paddle.to_tensor(labels_of(n))
    leaves = [paddle.to_tensor(a, stop_gradient=False) for a in operands_of(name, n)]
    cotangent = paddle.to_tensor(cotangent_of(call(paddle, labels, *leaves).shape))

    def step() -> Any:
        out = call(paddle, labels, *leaves)
        if not out.stop_gradient:  # `floor` and the like have no gradient here, zeros there
            out.backward(cotangent)
        grads = [x.grad for x in leaves]
        for x in leaves:
            x.clear_grad(False)
        return out, grads

    return step


def torch_step(name: str, n: int) -> Callable[[], Any]:
    import torch

    torch.set_num_threads(1)
    call, labels = ALL[name].theirs, torch.from_numpy(labels_of(n))
    leaves = [torch.from_numpy(a).requires_grad_() for a in operands_of(name, n)]
    cotangent = torch.from_numpy(cotangent_of(call(torch, labels, *leaves).shape))

    def step() -> Any:
        out = call(torch, labels, *leaves)
        if out.requires_grad:
            out.backward(cotangent)
        grads = [x.grad for x in leaves]
        for x in leaves:
            x.grad = None
        return out, grads

    return step


def arrays_of(result: Any) -> list[np.ndarray[Any, Any]]:
    """The result and the gradients of a step; zeros where there is none."""
    out, grads = result
    none = np.zeros(())
    return [np.asarray(out.detach().numpy())] + [
        none if g is None else np.asarray(g.numpy()) for g in grads
    ]


def fastest(steps: list[Callable[[], Any]], rounds: int, seconds: float = 0.005) -> list[float]:
    """Seconds of the processor that a call of each takes in its best round."""
    start = time.perf_counter()
    for step in steps:
        step()
    calls = max(1, int(seconds * len(steps) / (time.perf_counter() - start)))
    best = [math.inf] * len(steps)
    for _ in range(rounds):
        for k, step in enumerate(steps):
            start = time.process_time()
            for _ in range(calls):
                step()
            best[k] = min(best[k], (time.process_time() - start) / calls)
    return best


def measure(name: str, size: str) -> None:
    if not installed("torch"):
        pytest.skip("torch is not installed")
    n = SIZES[size]
    steps = {"ours": ours(name, n), "torch": torch_step(name, n)}
    found = [arrays_of(step()) for step in steps.values()]
    for a, b in zip(*found, strict=True) if name not in DRAWN else ():
        scale = float(np.abs(b).max()) or 1.0
        np.testing.assert_allclose(a / scale, b / scale, atol=1e-3)
    first, second = fastest(list(steps.values()), rounds=7 if size == "large" else 21)
    RATIOS[size][name] = first / second


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_ratio(name: str, size: str) -> None:
    measure(name, size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", MORE)
def test_more(name: str, size: str) -> None:
    measure(name, size)


@pytest.fixture(scope="module", autouse=True)
def _tables() -> Iterator[None]:
    """Of those that have run, whichever were picked."""
    yield
    for cases in (CASES, MORE):
        measured = {
            size: {name: ratios[name] for name in cases if name in ratios}
            for size, ratios in RATIOS.items()
        }
        measured = {size: ratios for size, ratios in measured.items() if ratios}
        if measured:
            TABLES.append(table_of(list(cases), measured))


def table_of(names: list[str], measured: dict[str, dict[str, float]]) -> str:
    head = "| time / that of PyTorch | " + " | ".join(measured) + " |"
    lines = [head, "|---" * (len(measured) + 1) + "|"]
    for name in names:
        cells = [ratios.get(name) for ratios in measured.values()]
        if any(cells):
            shown = " | ".join(f"{ratio:.2f}" if ratio else "" for ratio in cells)
            lines.append(f"| {name} | {shown} |")
    means = [
        math.exp(sum(map(math.log, ratios.values())) / len(ratios)) for ratios in measured.values()
    ]
    lines.append("| geometric mean | " + " | ".join(f"{mean:.2f}" for mean in means) + " |")
    return "\n".join(lines)
