"""Sums over the axes that broadcasting had added or stretched."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_engine.core.dtypes import BLAS_REALS, HALVES
from autograd_engine.core.spec import Array, Like, Shape, reduced_shape
from autograd_engine.ops.kernels import rows
from autograd_engine.ops.kernels.compiled import LARGE

__all__ = ["MANY_ROWS", "leading", "sum_like", "total_over"]

MANY_ROWS: Final = 8
_add_reduce: Any = np.add.reduce
_MOST: Final = 1 << 10
_ones: Final[dict[tuple[Any, int], Array]] = {}  # as many of them as asked for, up to `_MOST`


def total_over(x: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    """The sum over axes, in the dtype of `x`: of rows in C or by BLAS, where there are many."""
    if x.size >= LARGE and x.flags.c_contiguous:
        shape = rows.lines(x, axis)
        if shape is not None:
            return rows.row_sums(x.reshape(shape)).reshape(reduced_shape(x.shape, axis, keepdims))
        short = rows.short_rows("sum", x, axis)
        if short is not None:
            return short(x).reshape(reduced_shape(x.shape, axis, keepdims))
    if x.size >= rows.FEW and x.flags.c_contiguous:
        between = rows.between("sum", x, axis)
        if between is not None:
            out = np.empty(reduced_shape(x.shape, axis, keepdims), x.dtype)
            between(x, out)
            return out
    return _add_reduce(x, axis=axis, keepdims=keepdims)


def _column_sums(x: Array, count: int) -> Array:
    """By BLAS, which takes a half to a tenth of the time of a reduction, and rounds less."""
    key = (x.dtype, count)
    ones = _ones.get(key)
    if ones is None:
        if count > _MOST:
            ones = np.ones(count, x.dtype)
        else:
            every = _ones.setdefault((x.dtype, _MOST), np.ones(_MOST, x.dtype))
            ones = _ones[key] = every[:count]
    if not x.flags.c_contiguous:
        x = np.ascontiguousarray(x)
    total: Array = ones.dot(x if x.ndim == 2 and x.shape[0] == count else x.reshape(count, -1))
    return total


def leading(given: Shape, shape: Shape) -> int | None:
    """How many axes in front are added up, if no others are, to get from `given` to `shape`.

    Those that broadcasting had stretched count as if it had added them.
    """
    lead = len(given) - len(shape)
    while shape and shape[0] == 1 != given[lead]:
        shape, lead = shape[1:], lead + 1
    return lead if given[lead:] == shape else None


def sum_like(x: Array, like: Like) -> Array:
    """Sum `x` over the axes that broadcasting had added or stretched."""
    shape, given = like.shape, x.shape
    if given == shape:
        return x
    total: Array
    by_blas = x.dtype in BLAS_REALS
    if not by_blas and x.dtype in HALVES:  # accumulates in float32
        return sum_like(x.astype(np.float32), like).astype(x.dtype)
    lead: int | None = len(given) - len(shape)
    if given[lead:] != shape:
        lead = leading(given, shape)
    if lead is not None:
        count = given[0] if lead == 1 else math.prod(given[:lead])
        if by_blas and count >= MANY_ROWS and x.size:
            total = _column_sums(x, count)
            return total if total.shape == shape else total.reshape(shape)
        return np.asarray(_add_reduce(x, 0 if lead == 1 else tuple(range(lead)))).reshape(shape)
    lead = len(given) - len(shape)
    stretched = [i + lead for i, d in enumerate(shape) if d == 1 and x.shape[i + lead] != 1]
    total = total_over(x, (*range(lead), *stretched), True)
    return total.reshape(shape)
