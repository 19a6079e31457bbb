"""Activations whose kernels are more than an expression, or have a C function."""

from __future__ import annotations

import math
from collections.abc import Sequence

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers
from autograd_engine.core.dtypes import FLOAT32

__all__: list[str] = []


@lowers("relu")
def _relu(np: Loops, x: Traced) -> Traced:
    return np.map("maximum", x, 0)


@lowers("sigmoid", "softplus")
def _named(np: Loops, x: Traced) -> Traced:
    return np.map(np.origin.op.name, x)


@lowers("log_sigmoid")
def _log_sigmoid(np: Loops, x: Traced) -> Traced:
    return -np.map("softplus", -x)


@lowers("silu")
def _silu(np: Loops, x: Traced) -> Traced:
    return x * np.map("sigmoid", x)


_DENSITY_0 = 1.0 / math.sqrt(2.0 * math.pi)
# P(-a) / exp(-a^2 / 2) up to 14.8, where float32 has underflown, as a quotient of least maximal
# relative error, 6.2e-9; from the highest power down, and one half at 0.
_OVER = (0.39894670, 3.9313399, 17.705994, 42.307718, 48.198222)
_UNDER = (1.0, 9.8550097, 45.368248, 116.09456, 161.52871, 2.0 * 48.198222)


@lowers("gelu")
def _gelu(np: Loops, x: Traced) -> tuple[Traced, Traced]:
    """x P(x), P the normal distribution, and its derivative P(x) + x p(x).

    exp(-x^2 / 2) is taken of the square and what its rounding left, so that far out it is as
    accurate as near 0.
    """
    if x.dtype == FLOAT32:
        a = np.map("minimum", abs(x), 20.0)
        square = a * a
        rest = np.map("product_error", a, a, square)
        bell = np.map("exp_down", -0.5 * square) * (1.0 - 0.5 * rest)
        over, under = _polynomial(np, _OVER, a), _polynomial(np, _UNDER, a)
        tail = bell * (over / under)
        below = np.where(x > 0.0, 1.0 - tail, tail)
        out = np.map("maximum", x, -20.0) * below
        return out, below + np.map("copysign", a, x) * (_DENSITY_0 * bell)
    near = np.map("minimum", np.map("maximum", x, -40.0), 40.0)
    half = near * math.sqrt(0.5)
    below = 0.5 * np.map("erfc", -half)
    out = np.map("maximum", x, -40.0) * below
    return out, below + near * (_DENSITY_0 * np.map("exp_down", -(half * half)))


def _polynomial(np: Loops, coefficients: Sequence[float], a: Traced) -> Traced:
    value = np.map("multiply_add", a, coefficients[0], coefficients[1])
    for c in coefficients[2:]:
        value = np.map("multiply_add", value, a, c)
    return value


@lowers("softmax")
def _softmax(np: Loops, x: Traced, *, axis: int) -> Traced:
    e = np.map("exp", x - np.reduce("max", x, axis, True))
    return e / np.reduce("sum", e, axis, True)


@lowers("log_softmax")
def _log_softmax(np: Loops, x: Traced, *, axis: int) -> Traced:
    shifted = x - np.reduce("max", x, axis, True)
    return shifted - np.map("log", np.reduce("sum", np.map("exp", shifted), axis, True))


@lowers("log_softmax_adjoint")
def _log_softmax_adjoint(np: Loops, y: Traced, out: Traced, *, axis: int) -> Traced:
    return y - np.map("exp", out) * np.reduce("sum", y, axis, True)


@lowers("softmax_adjoint")
def _softmax_adjoint(np: Loops, y: Traced, out: Traced, *, axis: int) -> Traced:
    return out * (y - np.reduce("sum", y * out, axis, True))
