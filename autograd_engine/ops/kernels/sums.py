"""Sums over the axes that broadcasting had added or stretched."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_engine.core.dtypes import BLAS_REALS, HALVES
from autograd_engine.core.spec import Array, Like, reduced_shape
from autograd_engine.ops.kernels import rows
from autograd_engine.ops.kernels.compiled import LARGE

__all__ = ["MANY_ROWS", "sum_like", "total_over"]

MANY_ROWS: Final = 64
_add_reduce: Any = np.add.reduce


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


def _column_sums(x: Array) -> Array:
    """By BLAS, which takes a half to a tenth of the time of a reduction, and rounds less."""
    return np.asarray(np.ones(len(x), x.dtype) @ np.ascontiguousarray(x))


def sum_like(x: Array, like: Like) -> Array:
    """Sum `x` over the axes that broadcasting had added or stretched."""
    shape, given = like.shape, x.shape
    if given == shape:
        return x
    if x.dtype in HALVES:  # accumulates in float32
        return sum_like(x.astype(np.float32), like).astype(x.dtype)
    lead = len(given) - len(shape)
    if given[lead:] == shape:
        count = given[0] if lead == 1 else math.prod(given[:lead])
        if count >= MANY_ROWS and x.dtype in BLAS_REALS and x.size:
            return _column_sums(x.reshape(count, -1)).reshape(shape)
        return np.asarray(_add_reduce(x, 0 if lead == 1 else tuple(range(lead))))
    stretched = [i + lead for i, d in enumerate(shape) if d == 1 and x.shape[i + lead] != 1]
    total: Array = total_over(x, (*range(lead), *stretched), True)
    return total.reshape(shape)
