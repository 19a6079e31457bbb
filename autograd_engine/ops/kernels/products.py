"""The call that a product of matrices is, whoever makes it.

A BLAS has several ways to one product, which round otherwise: one for each size, for operands that
lie row by row or column by column, and for what NumPy's functions hand it, a matrix of one column
as a matrix or as a vector. So which function is called is for the shapes alone to say. Elements
with gaps between them, which a BLAS does not read, are copied first, whatever release of NumPy does
that itself. And a matrix meets a copy of itself: NumPy would have half of ``x @ x.T`` computed by
another routine if the two are one array, and whether they are depends on who computed them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.spec import Array

__all__ = ["SMALL", "function_for", "multiply", "readable"]

# Elements of an operand up to which `np.dot` is called: it takes a third of a microsecond less than
# `np.matmul`, but copies operands that have gaps between their rows.
SMALL: Final = 1 << 15


def multiply(x: Array, y: Array) -> Array:
    """The product of matrices, or of stacks of them."""
    if x.shape[-2] == y.shape[-1] and np.may_share_memory(x, y) and _begin_together(x, y):
        y = y.copy("K")
    if x.ndim == 2 == y.ndim and x.size <= SMALL and y.size <= SMALL:  # as `function_for` says
        out: Array = x.dot(y)
        return out
    if not readable(x.strides, x.itemsize):
        x = x.copy()
    if not readable(y.strides, y.itemsize):
        y = y.copy()
    out = x @ y
    return out


def _begin_together(x: Array, y: Array) -> bool:
    return bool(x.__array_interface__["data"][0] == y.__array_interface__["data"][0])


def function_for(x: Sequence[int], y: Sequence[int]) -> Callable[..., Any]:
    """What multiplies readable operands of these shapes: ``f(x, y, out)``."""
    if len(x) == 2 == len(y) and x[0] * x[1] <= SMALL and y[0] * y[1] <= SMALL:
        return np.dot
    return np.matmul


def readable(strides: Sequence[int], itemsize: int) -> bool:
    """Whether the elements of a row, or of a column, follow each other."""
    return itemsize in strides[-2:]
