"""Sorting, and searching in what is sorted. Sorts are stable, and NaN is larger than any number."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dims import fresh_dim
from autograd_engine.core.dtypes import BOOL, INT64
from autograd_engine.core.spec import (
    Array,
    Like,
    Spec,
    format_shape,
    may_equal,
)
from autograd_engine.errors import ShapeError
from autograd_engine.ops.kernels.axes import backwards, take_lines
from autograd_engine.ops.registry.forms import VALUES_AND_INDICES, put_back
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.registry.work import each_result


def stable_order(x: Array, axis: int, descending: bool) -> Array:
    """Positions along `axis` in the order of their values, ties in order of position."""
    if descending:
        # Ascending from the back, then read from the back: ties end in order of position again.
        # -x would do for floats only: it wraps for integers that have no negative.
        back = np.argsort(backwards(x, axis), axis=axis, kind="stable")
        order: Array = x.shape[axis] - 1 - backwards(back, axis)
    else:
        order = np.argsort(x, axis=axis, kind="stable")
    return order.astype(np.int64, copy=False)


def _sort(x: Array, *, axis: int, descending: bool = False) -> tuple[Array, Array]:
    index = stable_order(x, axis, descending)
    return take_lines(x, index, axis), index


def _infer_sort(x: Spec, *, axis: int, descending: bool = False) -> tuple[Spec, Spec]:
    return Spec(x.shape, x.dtype), Spec(x.shape, INT64)


def _argsort(x: Array, *, axis: int, descending: bool = False) -> Array:
    return stable_order(x, axis, descending)


def _infer_argsort(x: Spec, *, axis: int, descending: bool = False) -> Spec:
    return Spec(x.shape, INT64)


defop("sort", _sort, **VALUES_AND_INDICES, infer=_infer_sort, zero_gradient="not_chosen").vjp(
    x=put_back
)
defop(
    "argsort", _argsort, takes="bif", inputs="x", infer=_infer_argsort, work=each_result
).nondiff()


# --- in what is sorted


def _infer_searchsorted(sorted_sequence: Like, values: Like, *, right: bool = False) -> Spec:
    sequence, wanted = sorted_sequence.shape, values.shape
    fits = len(sequence) == 1 or (
        len(sequence) == len(wanted) > 1 and may_equal(sequence[:-1], wanted[:-1])
    )
    if not fits:
        raise ShapeError(
            f"searchsorted: sorted_sequence {format_shape(sequence)} must have one axis, or the "
            f"axes of values {format_shape(wanted)} with equal sizes on all but the last"
        )
    return Spec(wanted, INT64)


def _searchsorted(sorted_sequence: Array, values: Array, *, right: bool = False) -> Array:
    _infer_searchsorted(sorted_sequence, values)
    side: Any = "right" if right else "left"
    if sorted_sequence.ndim == 1:
        return np.asarray(np.searchsorted(sorted_sequence, values, side), np.int64)
    out = np.zeros(values.shape, np.int64)
    for line in np.ndindex(values.shape[:-1]):
        out[line] = np.searchsorted(sorted_sequence[line], values[line], side)
    return out


defop(
    "searchsorted",
    _searchsorted,
    takes="bif",
    inputs="sorted_sequence values",
    infer=_infer_searchsorted,
    work=each_result,
).nondiff()


# --- sets: how many elements there are is known when they are


def _unique(x: Array, *, axis: int | None = None) -> tuple[Array, Array, Array, Array]:
    """Sorted distinct elements, the first position of each, where each went, how many there are.

    NaN equals nothing, itself included.
    """
    found = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=False
    )
    out, index, inverse, counts = found
    return out, _int64(index), _int64(inverse).reshape(-1), _int64(counts)


def _unique_consecutive(x: Array, *, axis: int | None = None) -> tuple[Array, Array, Array]:
    """The first of each run of equal elements, which run each is in, how long they are."""
    lines = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    count = len(lines)
    rows = lines.reshape(count, -1) if lines.size else np.zeros((count, 1))
    starts = np.ones(count, np.bool_)
    starts[1:] = np.any(rows[1:] != rows[:-1], axis=1)
    index = np.flatnonzero(starts)
    out = lines[index] if axis is None else np.moveaxis(lines[index], 0, axis)
    counts = np.diff(index, append=count)
    return np.ascontiguousarray(out), _int64(np.cumsum(starts) - 1), _int64(counts)


def _int64(x: Array) -> Array:
    return x.astype(np.int64, copy=False)


def _infer_unique(x: Spec, *, axis: int | None = None) -> tuple[Spec, ...]:
    count = fresh_dim()
    total = x.size if axis is None else x.shape[axis]
    shape = (count,) if axis is None else (*x.shape[:axis], count, *x.shape[axis + 1 :])
    numbers = Spec((count,), INT64)
    return Spec(shape, x.dtype), numbers, Spec((total,), INT64), numbers


def _infer_unique_consecutive(x: Spec, *, axis: int | None = None) -> tuple[Spec, ...]:
    out, _, inverse, counts = _infer_unique(x, axis=axis)
    return out, inverse, counts


defop(
    "unique",
    _unique,
    inputs="x",
    outputs="out index inverse counts",
    infer=_infer_unique,
    stacks="each",
    work=each_result,
).nondiff()
defop(
    "unique_consecutive",
    _unique_consecutive,
    inputs="x",
    outputs="out inverse counts",
    infer=_infer_unique_consecutive,
    stacks="each",
    work=each_result,
).nondiff()
defop(
    "nonzero",
    lambda x: _int64(np.argwhere(x)),
    inputs="x",
    infer=lambda x: Spec((fresh_dim(), x.ndim), INT64),
    work=each_result,
).nondiff()
defop(
    "isin",
    lambda x, test, *, invert=False: np.asarray(np.isin(x, test, invert=invert)),
    inputs="x test",
    infer=lambda x, test, *, invert=False: Spec(x.shape, BOOL),
    dtypes="common",
    work=each_result,
).nondiff()
