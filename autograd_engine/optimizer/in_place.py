"""Updates written over parameters and their state, where nobody else can see the arrays."""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine.core.dtypes import BLAS_REALS
from autograd_engine.core.spec import Array
from autograd_engine.eager.row_sparse import held_by_one
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import is_alone
from autograd_engine.ops.kernels.compiled import functions_asked_for
from autograd_engine.ops.update import WORTH, in_place

if TYPE_CHECKING:
    from autograd_engine.optimizer.optimizer import Optimizer, ParamGrad

__all__ = ["update_in_place"]


def update_in_place(optimizer: Optimizer, pairs: Sequence[ParamGrad]) -> Sequence[ParamGrad]:
    """Update in one call what can be, and return the other pairs.

    That is a third of the memory traffic of making new arrays. What a graph has saved, a view or
    another tensor shows, and what a user has of the state, is held by these too, and not written.
    """
    # Of a rule with much state NumPy begins a dozen loops for each parameter, however small. A
    # program that has not asked for C so far is not made to wait until it can be had.
    at_once = len(optimizer.state) > 1 and functions_asked_for()
    if not pairs or (not at_once and sum([p._data.size for p, _ in pairs]) < WORTH):
        return pairs
    like = pairs[0][0]._data
    dtype, rate = like.dtype, optimizer.get_lr()
    if dtype not in BLAS_REALS:
        return pairs
    write = in_place(optimizer.operation, optimizer._attrs, like, rate)
    del like
    if write is None:
        return pairs
    table: list[int] = []
    rest = []
    count = 0
    for pair in pairs:
        p, grad = pair
        if (
            grad.__class__ is Tensor
            and getattr(p, "_options", None) is None
            and (p.__weakref__ is None or is_alone(p))
            and held_by_one(p)
        ):
            state = optimizer._state_of(p) if optimizer.state else ()
            if _held_by_state(state) and _fit(dtype, p._data, grad._data, state):
                table += p._data.size, id(p._data), id(grad._data), *map(id, state)
                count += 1
                continue
        rest.append(pair)
    if count:  # one call: nothing can come between a parameter and its state
        write(np.array(table, np.int64), count, float(dtype.type(rate)))
    return rest


def _fit(dtype: np.dtype[Any], data: Array, grad: Array, state: Sequence[Array]) -> bool:
    """All arrays, of one dtype, without gaps, and as large, but for numbers."""
    shape = data.shape
    if data.__class__ is not np.ndarray or grad.__class__ is not np.ndarray:
        return False  # a scalar of NumPy's
    if data.dtype is not dtype or grad.dtype is not dtype or grad.shape != shape:
        return False
    if not (data.flags.c_contiguous and grad.flags.c_contiguous):
        return False
    for a in state:
        if (
            a.__class__ is not np.ndarray
            or a.dtype is not dtype
            or (a.ndim and a.shape != shape)
            or not a.flags.c_contiguous
        ):
            return False
    return True


def _counts(arrays: Sequence[Array]) -> list[int]:
    return list(map(getrefcount, arrays))


_ONE = _counts([np.zeros(1)])


def _held_by_state(state: Sequence[Array]) -> bool:
    """Whether nothing but the list of them holds these arrays, which are their own."""
    if _counts(state) != _ONE * len(state):
        return False
    return all(a.base is None and a.flags.writeable for a in state)
