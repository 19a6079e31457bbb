"""What operations cost on large arrays, forward and backward, beside PyTorch.

Run with ``python -m pytest benchmarks/micro/test_large_arrays.py -q``. One core, float32, 1e6
elements (images: 64 x 64 x 56 x 56). Every backward pass starts from a given cotangent. Nothing is
asserted about time; the table at the end has the ratios of one run and their geometric mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import median, quantiles
from typing import Any

import numpy as np
import pytest

from benchmarks.conftest import TABLES
from benchmarks.micro.interleave import compare
from benchmarks.micro.overhead_steps import installed

_rng = np.random.default_rng(0)
RATIOS: dict[str, list[float]] = {}


def array(*shape: int) -> np.ndarray[Any, Any]:
    return _rng.standard_normal(shape).astype(np.float32)


SQUARE = (1000, 1000)
IMAGE = (64, 64, 56, 56)
IDS = _rng.integers(0, 50_000, 16_384)

# Operands that are differentiated, the call by either library, and how many rounds it is worth.
OPERATIONS: dict[str, tuple[Callable[[], list[Any]], Callable[..., Any], Callable[..., Any], int]]
OPERATIONS = {
    "exp": (lambda: [array(*SQUARE)], lambda p, x: p.exp(x), lambda t, x: t.exp(x), 31),
    "tanh": (lambda: [array(*SQUARE)], lambda p, x: p.tanh(x), lambda t, x: t.tanh(x), 31),
    "gelu": (
        lambda: [array(*SQUARE)],
        lambda p, x: p.nn.functional.gelu(x),
        lambda t, x: t.nn.functional.gelu(x),
        31,
    ),
    "softmax": (
        lambda: [array(*SQUARE)],
        lambda p, x: p.nn.functional.softmax(x),
        lambda t, x: t.softmax(x, -1),
        31,
    ),
    "layer_norm": (
        lambda: [array(*SQUARE), array(1000), array(1000)],
        lambda p, x, w, b: p.nn.functional.layer_norm(x, [1000], w, b),
        lambda t, x, w, b: t.nn.functional.layer_norm(x, [1000], w, b),
        31,
    ),
    "matmul": (
        lambda: [array(*SQUARE), array(*SQUARE)],
        lambda p, x, y: p.matmul(x, y),
        lambda t, x, y: t.matmul(x, y),
        11,
    ),
    "sum": (lambda: [array(*SQUARE)], lambda p, x: p.sum(x), lambda t, x: t.sum(x), 31),
    "conv2d 3x3": (
        lambda: [array(*IMAGE), array(64, 64, 3, 3) * 0.05],
        lambda p, x, w: p.nn.functional.conv2d(x, w, padding=1),
        lambda t, x, w: t.nn.functional.conv2d(x, w, padding=1),
        5,
    ),
    "max_pool 2x2": (
        lambda: [array(*IMAGE)],
        lambda p, x: p.nn.functional.max_pool2d(x, 2),
        lambda t, x: t.nn.functional.max_pool2d(x, 2),
        7,
    ),
    "embedding": (
        lambda: [array(50_000, 64)],
        lambda p, w: p.nn.functional.embedding(p.to_tensor(IDS), w),
        lambda t, w: t.nn.functional.embedding(t.from_numpy(IDS), w),
        15,
    ),
}


def ours(name: str) -> Callable[[], Any]:
    import autograd_engine as paddle

    make, call, _, _ = OPERATIONS[name]
    leaves = [paddle.to_tensor(a, stop_gradient=False) for a in make()]
    cotangent = paddle.to_tensor(array(*call(paddle, *leaves).shape))

    def step() -> Any:
        call(paddle, *leaves).backward(cotangent)
        grads = [x.grad.numpy() for x in leaves]
        for x in leaves:
            x.clear_grad(False)
        return grads

    return step


def torch_step(name: str) -> Callable[[], Any]:
    import torch

    torch.set_num_threads(1)
    make, _, call, _ = OPERATIONS[name]
    leaves = [torch.from_numpy(a).requires_grad_() for a in make()]
    cotangent = torch.from_numpy(np.asarray(array(*call(torch, *leaves).shape)))

    def step() -> Any:
        call(torch, *leaves).backward(cotangent)
        grads = [x.grad.numpy() for x in leaves]
        for x in leaves:
            x.grad = None
        return grads

    return step


def seeded(make: Callable[[str], Callable[[], Any]], name: str) -> Callable[[], Any]:
    global _rng
    _rng = np.random.default_rng(1)
    return make(name)


@pytest.mark.parametrize("name", OPERATIONS)
def test_ratio(name: str) -> None:
    if not installed("torch"):
        pytest.skip("torch is not installed")
    steps = {"ours": seeded(ours, name), "torch": seeded(torch_step, name)}
    for a, b in zip(steps["ours"](), steps["torch"](), strict=True):
        scale = float(np.abs(b).max())
        np.testing.assert_allclose(a / scale, b / scale, atol=2e-5)
    timings = compare(steps, rounds=OPERATIONS[name][3], seconds=0.05)
    RATIOS[name] = [a / b for a, b in zip(timings["ours"], timings["torch"], strict=True)]
    low, _, high = quantiles(RATIOS[name], n=4)
    head = "" if TABLES else "| forward + backward | ours, ms | torch, ms | ratio | quartiles |\n"
    head += "" if TABLES else "|---|---|---|---|---|\n"
    TABLES.append(
        f"{head}| {name} | {median(timings['ours']) * 1e3:.2f} | "
        f"{median(timings['torch']) * 1e3:.2f} | {median(RATIOS[name]):.2f} | "
        f"{low:.2f} to {high:.2f} |"
    )


def test_geometric_mean() -> None:
    """Last, so that all of them have run."""
    if not RATIOS:
        pytest.skip("no ratio was measured")
    mean = math.exp(sum(math.log(median(r)) for r in RATIOS.values()) / len(RATIOS))
    TABLES.append(f"| geometric mean of {len(RATIOS)} | | | {mean:.2f} | |")
