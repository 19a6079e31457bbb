"""A training step of nothing but elementwise operations, beside PyTorch, by the number of elements.

The volatility of each of n options is fitted to its price: the formula of Black and Scholes with
the tanh form of the normal distribution, mean squared error, gradient descent. One core, float32.
Run with ``python -m pytest benchmarks/micro/test_elementwise.py -q``. Nothing is asserted about
time.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median, quantiles
from typing import Any

import numpy as np
import pytest

from benchmarks.conftest import TABLES
from benchmarks.micro.interleave import compare
from benchmarks.micro.overhead_steps import installed

SIZES = (10_000, 100_000, 1_000_000, 4_000_000)
RATE = 10.0
INTEREST = 0.03
SCALE = 0.7978845608
HEAD = (
    "| elements of a training step | ours, ms | torch, ms | ours / it | quartiles |\n"
    "|---|---|---|---|---|\n"
)


def data(n: int) -> tuple[np.ndarray[Any, Any], ...]:
    """Spot and strike prices, times, prices, and a first volatility."""
    rng = np.random.default_rng(0)
    spot, strike = rng.random(n) * 50 + 75, rng.random(n) * 50 + 75
    time, price = rng.random(n) * 2 + 0.25, rng.random(n) * 30 + 2
    volatility = rng.random(n) * 0.3 + 0.1
    arrays = spot, strike, time, price, volatility
    return tuple(a.astype(np.float32) for a in arrays)


def loss(lib: Any, spot: Any, strike: Any, time: Any, price: Any, volatility: Any) -> Any:
    """The same text for both libraries."""

    def normal(x: Any) -> Any:
        return 0.5 * (1.0 + lib.tanh(SCALE * (x + 0.044715 * x * x * x)))

    width = volatility * lib.sqrt(time)
    drift = (INTEREST + 0.5 * volatility * volatility) * time
    d = (lib.log(spot / strike) + drift) / width
    discount = lib.exp(-INTEREST * time)
    error = spot * normal(d) - strike * discount * normal(d - width) - price
    return (error * error).mean()


def ours(n: int) -> Callable[[], float]:
    import autograd_engine as paddle

    *fixed, first = data(n)
    constants = [paddle.to_tensor(a) for a in fixed]
    volatility = paddle.to_tensor(first, stop_gradient=False)
    sgd = paddle.optimizer.SGD(RATE, parameters=[volatility])

    def step() -> float:
        value = loss(paddle, *constants, volatility)
        value.backward()
        sgd.step()
        sgd.clear_grad(False)
        return float(value.item())

    return step


def torch_step(n: int) -> Callable[[], float]:
    import torch

    torch.set_num_threads(1)
    *fixed, first = data(n)
    constants = [torch.from_numpy(a) for a in fixed]
    volatility = torch.from_numpy(first.copy()).requires_grad_()
    sgd = torch.optim.SGD([volatility], RATE)

    def step() -> float:
        value = loss(torch, *constants, volatility)
        value.backward()
        sgd.step()
        sgd.zero_grad()
        return float(value.item())

    return step


@pytest.mark.parametrize("n", SIZES)
def test_ratio(n: int) -> None:
    if not installed("torch"):
        pytest.skip("torch is not installed")
    steps = {"ours": ours(n), "torch": torch_step(n)}
    for _ in range(3):
        assert steps["ours"]() == pytest.approx(steps["torch"](), rel=1e-4)
    timings = compare(steps, rounds=21 if n < 1_000_000 else 9, seconds=0.1)
    ratios = [a / b for a, b in zip(timings["ours"], timings["torch"], strict=True)]
    low, _, high = quantiles(ratios, n=4)
    TABLES.append(
        ("" if TABLES else HEAD)
        + f"| {n:,} | {median(timings['ours']) * 1e3:.2f} | {median(timings['torch']) * 1e3:.2f} "
        f"| {median(ratios):.2f} | {low:.2f} to {high:.2f} |"
    )
