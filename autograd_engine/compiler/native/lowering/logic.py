"""Comparisons and bits whose kernels are more than an expression."""

from __future__ import annotations

from typing import Any

import numpy

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers
from autograd_engine.core.dtypes import FLOATS, SIGNED

__all__: list[str] = []


@lowers("bitwise_left_shift", "bitwise_right_shift", "logical_right_shift")
def _bit_shift(np: Loops, x: Traced, y: Traced) -> Traced:
    """Beyond the width of the dtype 0 is left, or the sign."""
    dtype = np.meeting((x, y))
    x, y = np.cast(x, dtype), np.cast(y, dtype)
    bits = 8 * dtype.itemsize
    inside = np.map("logical_and", y >= 0, y < bits) if dtype in SIGNED else y < bits
    by = np.where(inside, y, 0)
    name = np.origin.op.name
    if name == "logical_right_shift":
        natural = numpy.dtype(dtype.str.replace("i", "u"))
        moved = np.map("right_shift", np.cast(x, natural), np.cast(by, natural))
        return np.where(inside, np.cast(moved, dtype), 0)
    if name == "bitwise_left_shift":
        return np.where(inside, np.map("left_shift", x, by), 0)
    rest: Any = np.where(x < 0, -1, 0) if dtype in SIGNED else 0
    return np.where(inside, np.map("right_shift", x, by), rest)


@lowers("isreal")
def _isreal(np: Loops, x: Traced) -> Traced:
    return np.ones(x.shape, bool)


@lowers("isclose")
def _isclose(
    np: Loops, x: Traced, y: Traced, *, rtol: float, atol: float, equal_nan: bool
) -> Traced:
    dtype = np.meeting((x, y))
    dtype = dtype if dtype in FLOATS else numpy.dtype(numpy.float64)
    x, y = np.cast(x, dtype), np.cast(y, dtype)
    near = abs(x - y) <= atol + rtol * abs(y)
    close = (near & np.map("isfinite", y)) | (x == y)
    return close | ((x != x) & (y != y)) if equal_nan else close


@lowers("equal_all")
def _equal_all(np: Loops, x: Traced, y: Traced) -> Traced:
    if x.shape != y.shape:
        return np.zeros((), bool)
    return np.reduce("all", x == y, None)
