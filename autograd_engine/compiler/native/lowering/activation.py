"""Activations whose kernels are more than an expression, or have a C function."""

from __future__ import annotations

import math

import numpy

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers
from autograd_engine.core.dtypes import FLOAT32
from autograd_engine.ops.kernels import gelu

__all__: list[str] = []


@lowers("relu")
def _relu(np: Loops, x: Traced) -> Traced:
    return np.map("maximum", x, 0)


@lowers("sigmoid", "softplus")
def _named(np: Loops, x: Traced) -> Traced:
    return np.map(np.origin.op.name, x)


@lowers("silu")
def _silu(np: Loops, x: Traced) -> Traced:
    return x * np.map("sigmoid", x)


_DENSITY_0 = 1.0 / math.sqrt(2.0 * math.pi)


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
        bell = np.map("exp", -0.5 * square) * (1.0 - 0.5 * rest)
        over, under = (
            np.where(a > 2.8, far, near) for far, near in zip(_far(a), _near(a), strict=True)
        )
        tail = bell * (over / under)  # one division: of all this they take most of the time
        below = np.where(x > 0.0, 1.0 - tail, tail)
        out = np.map("maximum", x, -20.0) * below
        return out, below + np.map("copysign", a, x) * (_DENSITY_0 * bell)
    near = np.map("minimum", np.map("maximum", x, -40.0), 40.0)
    half = near * math.sqrt(0.5)
    below = 0.5 * np.map("erfc", -half)
    out = np.map("maximum", x, -40.0) * below
    return out, below + near * (_DENSITY_0 * np.map("exp", -(half * half)))


def _near(a: Traced) -> tuple[Traced, Traced]:
    """P(-a) / exp(-a^2 / 2) up to 2.83 as a quotient: the continued fraction of `kernels.gelu`."""
    c0, b1, a1, b2, a2, b3, a3 = map(
        float, (gelu._C0, gelu._B1, gelu._A1, gelu._B2, gelu._A2, gelu._B3, gelu._A3)
    )
    inner = numpy.polyadd(numpy.polymul([1.0, a2], [1.0, a3]), [b3])
    under = numpy.polyadd(numpy.polymul([1.0, a1], inner), [b2, b2 * a3])
    over = numpy.polyadd(c0 * under, b1 * inner)
    return _polynomial(tuple(over.tolist()), a), _polynomial(tuple(under.tolist()), a)


def _far(a: Traced) -> tuple[Traced, Traced]:
    """The same beyond."""
    return _polynomial(gelu._TAIL_P, a), _polynomial(gelu._TAIL_Q, a)


def _polynomial(coefficients: tuple[float, ...], a: Traced) -> Traced:
    value = a * coefficients[0] + coefficients[1]
    for c in coefficients[2:]:
        value = value * a + c
    return value


@lowers("softmax")
def _softmax(np: Loops, x: Traced, *, axis: int) -> Traced:
    e = np.map("exp", x - np.reduce("max", x, axis, True))
    return e / np.reduce("sum", e, axis, True)


@lowers("log_softmax")
def _log_softmax(np: Loops, x: Traced, *, axis: int) -> Traced:
    shifted = x - np.reduce("max", x, axis, True)
    return shifted - np.map("log", np.reduce("sum", np.map("exp", shifted), axis, True))


@lowers("softmax_adjoint")
def _softmax_adjoint(np: Loops, y: Traced, out: Traced, *, axis: int) -> Traced:
    return out * (y - np.reduce("sum", y * out, axis, True))
