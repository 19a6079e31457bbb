"""Sorting, searching in what is sorted, and order statistics: the largest, the most frequent.

Sorts are stable, and NaN is larger than any number. Elements that tie share a cotangent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dims import fresh_dim
from autograd_engine.core.dtypes import BOOL, INT64
from autograd_engine.core.spec import (
    Shape,
    Spec,
    format_shape,
    may_equal,
    reduced_shape,
)
from autograd_engine.errors import ShapeError
from autograd_engine.ops.infer import index_dtype
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.work import each_result

Array = NDArray[Any]


def stable_order(x: Array, axis: int, descending: bool) -> Array:
    """Positions along `axis` in the order of their values, ties in order of position."""
    if descending:
        # Ascending from the back, then read from the back: ties end in order of position again.
        # -x would do for floats only: it wraps for integers that have no negative.
        back = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
        order: Array = x.shape[axis] - 1 - np.flip(back, axis)
    else:
        order = np.argsort(x, axis=axis, kind="stable")
    return order.astype(np.int64, copy=False)


def _sort(x: Array, *, axis: int, descending: bool = False) -> tuple[Array, Array]:
    index = stable_order(x, axis, descending)
    return np.take_along_axis(x, index, axis=axis), index


def _infer_sort(x: Spec, *, axis: int, descending: bool = False) -> tuple[Spec, Spec]:
    return Spec(x.shape, x.dtype), Spec(x.shape, INT64)


def _argsort(x: Array, *, axis: int, descending: bool = False) -> Array:
    return stable_order(x, axis, descending)


def _infer_argsort(x: Spec, *, axis: int, descending: bool = False) -> Spec:
    return Spec(x.shape, INT64)


defop(
    "sort",
    _sort,
    real=True,
    inputs="x",
    outputs="values indices",
    nondiff_outputs="indices",
    infer=_infer_sort,
    zero_gradient="not_chosen",
).vjp(
    x=lambda xp, g_values, indices, x_like, *, axis: xp.put_along_axis_like(
        g_values, indices, x_like, axis=axis
    )
)
defop("argsort", _argsort, real=True, inputs="x", infer=_infer_argsort, work=each_result).nondiff()


# --- in what is sorted


def _check_sequences(sequence: Shape, values: Shape) -> None:
    fits = len(sequence) == 1 or (
        len(sequence) == len(values) > 1 and may_equal(sequence[:-1], values[:-1])
    )
    if not fits:
        raise ShapeError(
            f"searchsorted: sorted_sequence {format_shape(sequence)} must have one axis, or the "
            f"axes of values {format_shape(values)} with equal sizes on all but the last"
        )


def _searchsorted(sorted_sequence: Array, values: Array, *, right: bool = False) -> Array:
    _check_sequences(sorted_sequence.shape, values.shape)
    side: Any = "right" if right else "left"
    if sorted_sequence.ndim == 1:
        return np.asarray(np.searchsorted(sorted_sequence, values, side), np.int64)
    out = np.zeros(values.shape, np.int64)
    for line in np.ndindex(values.shape[:-1]):
        out[line] = np.searchsorted(sorted_sequence[line], values[line], side)
    return out


def _infer_searchsorted(sorted_sequence: Spec, values: Spec, *, right: bool = False) -> Spec:
    _check_sequences(sorted_sequence.shape, values.shape)
    return Spec(values.shape, INT64)


defop(
    "searchsorted",
    _searchsorted,
    real=True,
    inputs="sorted_sequence values",
    infer=_infer_searchsorted,
    work=each_result,
).nondiff()


# --- sets: how many elements there are is known when they are


def _unique(x: Array, *, axis: int | None = None) -> tuple[Array, Array, Array, Array]:
    """Sorted distinct elements, the first position of each, where each went, how many there are."""
    found = np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
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


def _nonzero(x: Array) -> Array:
    return _int64(np.argwhere(x))


def _isin(x: Array, test: Array, *, invert: bool = False) -> Array:
    return np.asarray(np.isin(x, test, invert=invert))


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
    _nonzero,
    inputs="x",
    infer=lambda x: Spec((fresh_dim(), x.ndim), INT64),
    work=each_result,
).nondiff()
defop(
    "isin",
    _isin,
    inputs="x test",
    infer=lambda x, test, *, invert=False: Spec(x.shape, BOOL),
    dtypes="common",
    work=each_result,
).nondiff()


Axes = tuple[int, ...]
# NumPy's stubs know no tuple of axes beside a computed keepdims.
_add_reduce: Any = np.add.reduce

# --- ties


def _lined_up(a: Array, axis: Axes, keepdims: bool) -> Array:
    return a if keepdims else np.expand_dims(a, axis)


def _ties(x: Array, value: Array) -> Array:
    """Where `x` is `value`, which broadcasts; NaN is NaN."""
    ties = np.asarray(x == value)
    unequal = value != value
    if unequal.any():
        ties |= unequal & (x != x)
    return ties


def _share_ties(c: Array, x: Array, value: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    """Zeros, but where `x` is `value`: there an equal share of `c`; NaN where `value` is NaN.

    `value` is that of an element of each line. As many ties as lines are therefore one in each,
    and need not be counted line by line; what is not written stays untouched zeros.
    """
    share, value = _lined_up(c, axis, keepdims), _lined_up(value, axis, keepdims)
    ties = _ties(x, value)
    if np.count_nonzero(ties) != value.size:
        count = _add_reduce(ties, axis=axis, keepdims=True, dtype=np.int64)
        # Shares are taken in float64: it holds any count, float16 none above 65504.
        share = (share / np.maximum(count, 1)).astype(c.dtype)
    unequal = value != value
    if unequal.any():
        share = np.where(unequal, np.nan, share)
    out = np.zeros(x.shape, c.dtype)
    np.copyto(out, share, where=ties, casting="same_kind")
    return out


def _average_ties(d: Array, x: Array, value: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    """Mean of `d` over the elements where `x` is `value`: the adjoint of `share_ties`."""
    full = _lined_up(value, axis, keepdims)
    ties = _ties(x, full)
    count = _add_reduce(ties, axis=axis, keepdims=keepdims, dtype=np.int64)
    wide = np.float32 if d.dtype.char == "e" else d.dtype
    total = _add_reduce(np.where(ties, d, 0), axis=axis, keepdims=keepdims, dtype=wide)
    mean = np.asarray(total / np.maximum(count, 1)).astype(d.dtype)
    mean[value != value] = np.nan
    return mean


defop(
    "share_ties",
    _share_ties,
    inputs="c x value",
    infer=lambda c, x, value, *, axis, keepdims=False: Spec(x.shape, c.dtype),
    tangent="linear",
).vjp(
    c=lambda xp, g, x, value, *, axis, keepdims: xp.average_ties(
        g, x, value, axis=axis, keepdims=keepdims
    ),
    x=NONDIFF,
    value=NONDIFF,
)
defop(
    "average_ties",
    _average_ties,
    inputs="d x value",
    infer=lambda d, x, value, *, axis, keepdims=False: Spec(
        reduced_shape(d.shape, axis, keepdims), d.dtype
    ),
    tangent="linear",
).vjp(
    d=lambda xp, g, x, value, *, axis, keepdims: xp.share_ties(
        g, x, value, axis=axis, keepdims=keepdims
    ),
    x=NONDIFF,
    value=NONDIFF,
)


def _take_tied(x: Array, index: Array, *, axis: int) -> Array:
    """The element of each line at `index`, whose size along `axis` is 1."""
    return np.take_along_axis(x, index, axis=axis)


def _infer_take_tied(x: Spec, index: Spec, *, axis: int) -> Spec:
    index_dtype("take_tied", "index", index)
    return Spec(index.shape, x.dtype)


# As take_along_axis, but elements that equal the one selected share its cotangent.
defop(
    "take_tied",
    _take_tied,
    inputs="x index",
    infer=_infer_take_tied,
    elements="picked",
    checks_values=True,
).vjp(
    x=lambda xp, g, x, out, *, axis: xp.share_ties(g, x, out, axis=(axis,), keepdims=True),
    index=NONDIFF,
)

# --- the largest


def _topk(x: Array, *, k: int, axis: int, largest: bool = True) -> tuple[Array, Array]:
    """Sorted, ties in order of position (a stable sort decides); NaN is larger than any number."""
    index = _few(x, k, axis, largest) if 8 * k <= x.shape[axis] and x.size else None
    if index is None:
        order = stable_order(x, axis, largest)
        index = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, index, axis=axis), index


def _few(x: Array, k: int, axis: int, largest: bool) -> Array | None:
    """Positions of the `k` first in order without sorting the lines; None where NaN is among them.

    A partition finds the k-th value. All that is better is taken, and of what equals it the first
    elements that are needed; a stable sort of those few puts them in order.
    """
    lines = np.ascontiguousarray(np.moveaxis(x, axis, -1)).reshape(-1, x.shape[axis])
    n = lines.shape[1]
    cut = n - k if largest else k - 1
    parted = np.partition(lines, cut, axis=-1)
    chosen = parted[:, cut:] if largest else parted[:, : cut + 1]
    if (chosen != chosen).any():
        return None
    last = parted[:, cut : cut + 1]
    taken = lines >= last if largest else lines <= last
    excess = np.count_nonzero(taken, axis=-1) > k
    if excess.any():
        ties = lines[excess] == last[excess]
        better = taken[excess] & ~ties
        room = k - np.count_nonzero(better, axis=-1)[:, None]
        taken[excess] = better | (ties & (np.cumsum(ties, axis=-1) <= room))
    position = np.nonzero(taken)[1].reshape(-1, k)
    order = stable_order(np.take_along_axis(lines, position, axis=-1), 1, largest)
    index = np.take_along_axis(position, order, axis=-1).astype(np.int64, copy=False)
    rest = (*x.shape[:axis], *x.shape[axis + 1 :])
    return np.moveaxis(index.reshape(*rest, k), -1, axis)


def _infer_topk(x: Spec, *, k: int, axis: int, largest: bool = True) -> tuple[Spec, Spec]:
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return Spec(shape, x.dtype), Spec(shape, INT64)


defop(
    "topk",
    _topk,
    real=True,
    inputs="x",
    outputs="values indices",
    nondiff_outputs="indices",
    infer=_infer_topk,
    zero_gradient="not_chosen",
).vjp(
    x=lambda xp, g_values, indices, x_like, *, axis: xp.put_along_axis_like(
        g_values, indices, x_like, axis=axis
    )
)

# --- the most frequent


def _mode(x: Array, *, axis: int) -> tuple[Array, Array]:
    """The most frequent element of each line, of several the smallest, and its last position.

    The axis stays, with size 1. In a sorted line equal elements are runs; the first end of a
    longest run is the answer. NaN equals NaN here.
    """
    order = np.moveaxis(stable_order(x, axis, False), axis, -1)
    line = np.take_along_axis(np.moveaxis(x, axis, -1), order, axis=-1)
    before, after = line[..., :-1], line[..., 1:]
    starts = np.ones(line.shape, np.bool_)
    starts[..., 1:] = (before != after) & ((before == before) | (after == after))
    position = np.arange(line.shape[-1])
    length = position - np.maximum.accumulate(np.where(starts, position, 0), axis=-1)
    end = np.argmax(length, axis=-1)[..., None]
    values, index = (np.take_along_axis(a, end, axis=-1) for a in (line, order))
    return np.moveaxis(values, -1, axis), np.moveaxis(index, -1, axis)


def _infer_mode(x: Spec, *, axis: int) -> tuple[Spec, Spec]:
    shape = reduced_shape(x.shape, (axis,), True)
    return Spec(shape, x.dtype), Spec(shape, INT64)


defop(
    "mode",
    _mode,
    real=True,
    inputs="x",
    outputs="values indices",
    nondiff_outputs="indices",
    infer=_infer_mode,
    zero_gradient="not_chosen",
).vjp(
    x=lambda xp, g_values, indices, x_like, *, axis: xp.put_along_axis_like(
        g_values, indices, x_like, axis=axis
    )
)
