"""Order statistics: the largest, the most frequent; and how elements that tie share a cotangent."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import INT64, accumulation_dtype
from autograd_engine.core.spec import Array, Spec, reduced_shape
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.infer import index_dtype
from autograd_engine.ops.kernels.axes import take_lines, with_axes
from autograd_engine.ops.kernels.branches import perhaps
from autograd_engine.ops.kernels.compiled import LARGE, compiled
from autograd_engine.ops.registry.forms import VALUES_AND_INDICES, put_back
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.sorting import stable_order

Axes = tuple[int, ...]
# NumPy's stubs know no tuple of axes beside a computed keepdims.
_add_reduce: Any = np.add.reduce

# --- ties


def _lined_up(a: Array, axis: Axes, keepdims: bool) -> Array:
    return a if keepdims else with_axes(a, axis)


def _ties(x: Array, value: Array) -> Array:
    """Where `x` is `value`, which broadcasts; NaN is NaN."""
    ties = np.asarray(x == value)
    unequal = value != value
    if perhaps(unequal.any()):
        ties |= unequal & (x != x)
    return ties


def _share_ties(c: Array, x: Array, value: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    """Zeros, but where `x` is `value`: there an equal share of `c`; NaN where `value` is NaN.

    `value` is that of an element of each line. As many ties as lines are therefore one in each,
    and need not be counted line by line; what is not written stays untouched zeros.
    """
    share, value = _lined_up(c, axis, keepdims), _lined_up(value, axis, keepdims)
    if x.size >= LARGE and axis == (x.ndim - 1,) and c.dtype == x.dtype:
        run = compiled("reduce.share_ties", x)
        if run is not None:
            shares: Array = run(share[..., 0], np.ascontiguousarray(x), value[..., 0])
            return shares
    ties = _ties(x, value)
    if perhaps(np.count_nonzero(ties) != value.size):
        count = _add_reduce(ties, axis=axis, keepdims=True, dtype=np.int64)
        # Shares are taken in float64: it holds any count, float16 none above 65504.
        share = (share / np.maximum(count, 1)).astype(c.dtype)
    unequal = value != value
    if perhaps(unequal.any()):
        share = np.where(unequal, np.nan, share)
    out = np.zeros(x.shape, c.dtype)
    np.copyto(out, share, where=ties, casting="same_kind")
    return out


def _average_ties(d: Array, x: Array, value: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    """Mean of `d` over the elements where `x` is `value`: the adjoint of `share_ties`."""
    full = _lined_up(value, axis, keepdims)
    ties = _ties(x, full)
    count = _add_reduce(ties, axis=axis, keepdims=keepdims, dtype=np.int64)
    wide = accumulation_dtype(d.dtype)
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
    c=lambda xp, g, x, value, **attrs: xp.average_ties(g, x, value, **attrs),
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
    d=lambda xp, g, x, value, **attrs: xp.share_ties(g, x, value, **attrs),
    x=NONDIFF,
    value=NONDIFF,
)


def _take_tied(x: Array, index: Array, *, axis: int) -> Array:
    """The element of each line at `index`, whose size along `axis` is 1."""
    return take_lines(x, index, axis)


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


_IN_C = 32  # elements that are kept in order one by one
_WORTH = 64  # elements from which the calls of NumPy take longer: C gives the same


def _topk(x: Array, *, k: int, axis: int, largest: bool = True) -> tuple[Array, Array]:
    """Sorted, ties in order of position (a stable sort decides); NaN is larger than any number."""
    if k <= _IN_C and x.size >= _WORTH and axis == x.ndim - 1:
        run = compiled("order.topk", x)
        if run is not None:
            shape = (*x.shape[:-1], k)
            values, index = np.empty(shape, x.dtype), np.empty(shape, np.int64)
            rows = x.size // x.shape[-1]
            run(np.ascontiguousarray(x), values, index, rows, x.shape[-1], k, largest)
            return values, index
    found = _few(x, k, axis, largest) if 8 * k <= x.shape[axis] and x.size else None
    if found is None:
        order = stable_order(x, axis, largest)
        found = order[(*[slice(None)] * axis, slice(0, k))].copy()
    return take_lines(x, found, axis), found


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
    size = x.shape[axis]
    if not isinstance(k, Dim) and (k < 1 or (not isinstance(size, Dim) and k > size)):
        raise ArgumentError(f"topk: k must be 1 to {size} for axis {axis}, got {k}")
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return Spec(shape, x.dtype), Spec(shape, INT64)


defop("topk", _topk, **VALUES_AND_INDICES, infer=_infer_topk, zero_gradient="not_chosen").vjp(
    x=put_back
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


defop("mode", _mode, **VALUES_AND_INDICES, infer=_infer_mode, zero_gradient="not_chosen").vjp(
    x=put_back
)
