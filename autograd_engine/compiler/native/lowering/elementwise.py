"""Operations on corresponding elements whose kernels are more than an expression."""

from __future__ import annotations

import math
from typing import Any

import numpy

from autograd_engine.compiler.native.lowering.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.ops.kernels import gelu

__all__: list[str] = []

Axes = tuple[int, ...]

# --- integers


@lowers("remainder", "floor_divide")
def _dividing(np: Loops, x: Traced, y: Traced) -> Traced:
    dtype = np.meeting((x, y))
    if dtype.kind not in "iu":
        return np.map(np.origin.op.name, x, y)
    if dtype.char in "LQ":
        raise NotLowered("integers of 64 bits without a sign are divided by NumPy")
    y = np.cast(y, dtype)
    if y.term.buffer is None:
        if not y.term.number:
            raise NotLowered("it divides by 0")
    else:
        wide = np.cast(y, numpy.dtype(numpy.int64))
        y = np.cast(np.check(_NO_ZERO.format(wide.size), wide), dtype)
    return np.map(np.origin.op.name, x, y)


_NO_ZERO = (
    "static int64_t NAME(const int64_t *x)\n{{\n    int64_t bad = 0;\n"
    "    for (int64_t i = 0; i < {}; i++) bad |= x[i] == 0;\n    return bad;\n}}\n"
)


@lowers("bitwise_left_shift", "bitwise_right_shift", "logical_right_shift")
def _bit_shift(np: Loops, x: Traced, y: Traced) -> Traced:
    """Beyond the width of the dtype 0 is left, or the sign."""
    dtype = np.meeting((x, y))
    x, y = np.cast(x, dtype), np.cast(y, dtype)
    bits = 8 * dtype.itemsize
    inside = np.map("logical_and", y >= 0, y < bits) if dtype.kind == "i" else y < bits
    by = np.where(inside, y, 0)
    name = np.origin.op.name
    if name == "logical_right_shift":
        natural = numpy.dtype(dtype.str.replace("i", "u"))
        moved = np.map("right_shift", np.cast(x, natural), np.cast(by, natural))
        return np.where(inside, np.cast(moved, dtype), 0)
    if name == "bitwise_left_shift":
        return np.where(inside, np.map("left_shift", x, by), 0)
    rest: Any = np.where(x < 0, -1, 0) if dtype.kind == "i" else 0
    return np.where(inside, np.map("right_shift", x, by), rest)


@lowers("round")
def _round(np: Loops, x: Traced, *, decimals: int = 0) -> Traced:
    if x.dtype.kind in "biu":
        if decimals < 0:
            raise NotLowered("integers are rounded to tens by NumPy")
        return x
    if decimals == 0:
        return np.map("rint", x)
    power = 10.0 ** abs(decimals)
    up = decimals > 0
    out = np.map("rint", x * power) / power if up else np.map("rint", x / power) * power
    return np.where(np.map("isfinite", out), out, x)


@lowers("isreal")
def _isreal(np: Loops, x: Traced) -> Traced:
    return np.ones(x.shape, bool)


@lowers("isclose")
def _isclose(
    np: Loops, x: Traced, y: Traced, *, rtol: float, atol: float, equal_nan: bool
) -> Traced:
    dtype = np.meeting((x, y))
    dtype = dtype if dtype.kind == "f" else numpy.dtype(numpy.float64)
    x, y = np.cast(x, dtype), np.cast(y, dtype)
    near = abs(x - y) <= atol + rtol * abs(y)
    close = (near & np.map("isfinite", y)) | (x == y)
    return close | ((x != x) & (y != y)) if equal_nan else close


@lowers("equal_all")
def _equal_all(np: Loops, x: Traced, y: Traced) -> Traced:
    if x.shape != y.shape:
        return np.zeros((), bool)
    return np.reduce("all", x == y, None)


# --- exponentials


@lowers("exp_difference")
def _exp_difference(np: Loops, x: Traced, y: Traced) -> Traced:
    difference = x - y
    equal = (difference != difference) & (x == y)
    return np.map("exp", np.where(equal, np.map("minimum", x, 0), difference))


_DENSITY_0 = 1.0 / math.sqrt(2.0 * math.pi)


@lowers("gelu")
def _gelu(np: Loops, x: Traced) -> tuple[Traced, Traced]:
    """x P(x), P the normal distribution, and its derivative P(x) + x p(x).

    exp(-x^2 / 2) is taken of the square and what its rounding left, so that far out it is as
    accurate as near 0.
    """
    if x.dtype.char == "f":
        a = np.map("minimum", abs(x), 20.0)
        square = a * a
        rest = np.map("product_error", a, a, square)
        bell = np.map("exp", -0.5 * square) * (1.0 - 0.5 * rest)
        tail = bell * np.where(a > 2.8, _far(a), _near(a))
        below = np.where(x > 0.0, 1.0 - tail, tail)
        out = np.map("maximum", x, -20.0) * below
        return out, below + np.map("copysign", a, x) * (_DENSITY_0 * bell)
    near = np.map("minimum", np.map("maximum", x, -40.0), 40.0)
    half = near * math.sqrt(0.5)
    below = 0.5 * np.map("erfc", -half)
    out = np.map("maximum", x, -40.0) * below
    return out, below + near * (_DENSITY_0 * np.map("exp", -(half * half)))


def _near(a: Traced) -> Traced:
    """P(-a) / exp(-a^2 / 2), up to 2.83; see `kernels.gelu`."""
    inner = float(gelu._B3) / (a + float(gelu._A3)) + a + float(gelu._A2)
    return float(gelu._B1) / (float(gelu._B2) / inner + a + float(gelu._A1)) + float(gelu._C0)


def _far(a: Traced) -> Traced:
    """The same beyond."""
    return _polynomial(gelu._TAIL_P, a) / _polynomial(gelu._TAIL_Q, a)


def _polynomial(coefficients: tuple[float, ...], a: Traced) -> Traced:
    value = a * coefficients[0] + coefficients[1]
    for c in coefficients[2:]:
        value = value * a + c
    return value


# --- ties


def _lined_up(np: Loops, a: Traced, axis: Axes, keepdims: bool) -> Traced:
    return a if keepdims else np.expand_dims(a, axis)


def _ties(x: Traced, value: Traced) -> Traced:
    return (x == value) | ((x != x) & (value != value))


@lowers("share_ties")
def _share_ties(
    np: Loops, c: Traced, x: Traced, value: Traced, *, axis: Axes, keepdims: bool = False
) -> Traced:
    share, value = _lined_up(np, c, axis, keepdims), _lined_up(np, value, axis, keepdims)
    ties = _ties(x, value)
    count = np.reduce("sum", ties, axis, True)
    share = np.cast(share / np.map("maximum", count, 1), c.dtype)
    share = np.where(value != value, math.nan, share) if c.dtype.kind == "f" else share
    return np.where(ties, share, np.number(0, c.dtype))


@lowers("average_ties")
def _average_ties(
    np: Loops, d: Traced, x: Traced, value: Traced, *, axis: Axes, keepdims: bool = False
) -> Traced:
    ties = _ties(x, _lined_up(np, value, axis, keepdims))
    count = np.reduce("sum", ties, axis, keepdims)
    total = np.reduce("sum", np.where(ties, d, np.number(0, d.dtype)), axis, keepdims)
    mean = np.cast(total / np.map("maximum", count, 1), d.dtype)
    return np.where(value != value, math.nan, mean)


# --- norms


@lowers("p_norm")
def _p_norm(np: Loops, x: Traced, *, p: float, axis: Axes, keepdims: bool = False) -> Traced:
    """Where powers leave the range of the dtype, they are taken relative to the largest."""
    size = abs(x)
    out = _of_sizes(np, size, p, axis)
    if p > 1 and x.size:
        info = numpy.finfo(x.dtype)
        small = float(info.tiny / info.eps) ** (1 / p)
        largest = np.reduce("max", size, axis, True)
        largest = np.where((largest > 0) & np.map("isfinite", largest), largest, 1)
        relative = largest * _of_sizes(np, size / largest, p, axis)
        out = np.where((out > small) & np.map("isfinite", out), out, relative)
    return out if keepdims else np.squeeze(out, axis)


def _of_sizes(np: Loops, size: Traced, p: float, axis: Axes) -> Traced:
    if p == 1:
        return np.reduce("sum", size, axis, True)
    if p == 2:
        return np.map("sqrt", np.reduce("sum", size * size, axis, True))
    return np.map("power", np.reduce("sum", np.map("power", size, p), axis, True), 1.0 / p)


# --- what only shapes decide


@lowers("sequence_mask")
def _sequence_mask(np: Loops, x: Traced, *, maxlen: int | None, dtype: str) -> Traced:
    if maxlen is None:
        raise NotLowered("the longest sequence decides the size")
    shape = (*x.shape, maxlen)
    mask = np.position(shape, len(shape) - 1) < x.reshape(*x.shape, 1)
    return np.cast(mask, numpy.dtype(dtype))
