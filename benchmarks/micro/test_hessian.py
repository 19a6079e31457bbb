"""Hessians of functions of 200 parameters: ours, and JAX's compiled ones where it is installed.

``mlp``: a network 8-18-2 with tanh, mean squared error on 32 samples, its parameters in one
vector. ``chain``: Rosenbrock's function in 200 dimensions. Run with ``python -m pytest
benchmarks/micro/test_hessian.py -q``. Nothing is asserted about time; the ratios of one run are
printed at the end. JAX's time does not hold the compilation, ours not the first call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as ag
from benchmarks.conftest import TABLES
from benchmarks.micro.interleave import compare, table

COUNT = 200
_rng = np.random.default_rng(0)
X = _rng.standard_normal((32, 8)).astype(np.float32)
T = _rng.standard_normal((32, 2)).astype(np.float32)
P = (_rng.standard_normal(COUNT) * 0.3).astype(np.float32)


def mlp(np_like: Any, x: Any, t: Any, p: Any) -> Any:
    w1, b1 = p[:144].reshape((8, 18)), p[144:162]
    w2, b2 = p[162:198].reshape((18, 2)), p[198:]
    error = np_like.tanh(x @ w1 + b1) @ w2 + b2 - t
    return (error * error).sum() / 32.0


def chain(p: Any) -> Any:
    rest = p[1:] - p[:-1] * p[:-1]
    away = 1.0 - p[:-1]
    return (100.0 * rest * rest + away * away).sum()


def ours(name: str) -> Callable[[], Any]:
    x, t, p = (ag.to_tensor(a) for a in (X, T, P))
    function = chain if name == "chain" else lambda p: mlp(ag, x, t, p)
    return lambda: ag.autograd.hessian(function, p).numpy()


def of_jax(name: str) -> Callable[[], Any]:
    jax = pytest.importorskip("jax")
    jnp = pytest.importorskip("jax.numpy")
    function = chain if name == "chain" else lambda p: mlp(jnp, X, T, p)
    compiled = jax.jit(jax.hessian(function))
    p = jnp.asarray(P)
    return lambda: np.asarray(compiled(p).block_until_ready())


def by_differences(name: str) -> Any:
    """Central differences of the gradient, in float64."""
    x, t = (ag.to_tensor(a.astype(np.float64)) for a in (X, T))
    function = chain if name == "chain" else lambda p: mlp(ag, x, t, p)
    gradient = ag.autograd.value_and_grad(function)
    step = 1e-5
    rows = []
    for k in range(COUNT):
        moved = [P.astype(np.float64), P.astype(np.float64)]
        moved[0][k] += step
        moved[1][k] -= step
        above, below = (gradient(ag.to_tensor(p))[1].numpy() for p in moved)
        rows.append((above - below) / (2.0 * step))
    return np.stack(rows)


@pytest.mark.parametrize("name", ["mlp", "chain"])
def test_same_numbers(name: str) -> None:
    expected = by_differences(name)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(ours(name)() / scale, expected / scale, atol=2e-6)
    np.testing.assert_allclose(of_jax(name)() / scale, expected / scale, atol=2e-6)


@pytest.mark.parametrize("name", ["mlp", "chain"])
def test_ratios(name: str) -> None:
    timings = compare({"ours": ours(name), "jax, jitted": of_jax(name)})
    TABLES.append(table(f"Hessian of {COUNT} parameters: {name}", timings))
    assert all(len(times) for times in timings.values())
