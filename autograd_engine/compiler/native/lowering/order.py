"""Ties among the largest or smallest elements."""

from __future__ import annotations

import math

from autograd_engine.compiler.native.lowering.indexing import row_numbers, taken_along
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers
from autograd_engine.core.dtypes import FLOATS

__all__: list[str] = []

Axes = tuple[int, ...]


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
    share = np.where(value != value, math.nan, share) if c.dtype in FLOATS else share
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


@lowers("take_tied")
def _take_tied(np: Loops, x: Traced, index: Traced, *, axis: int) -> Traced:
    rows = row_numbers(np, index, x.shape[axis], wraps=True)
    return taken_along(np, x, rows, axis)
