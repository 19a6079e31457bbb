"""Operations that move elements: reshape, transpose, join, split, slice."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.dims import Dim, product
from autograd_engine.dtypes import common_dtype
from autograd_engine.errors import ShapeError
from autograd_engine.ops.infer import same
from autograd_engine.registry import NONDIFF, defop
from autograd_engine.spec import (
    Like,
    Shape,
    Spec,
    broadcast_shapes,
    format_shape,
    may_equal,
    reshaped,
)

Array = NDArray[Any]
Axes = tuple[int, ...]

# --- reshape


def _reshape(x: Array, *, shape: tuple[int, ...]) -> Array:
    # 0 keeps the size at its place, in the terms of the reference.
    sizes = [x.shape[i] if d == 0 and i < x.ndim else d for i, d in enumerate(shape)]
    return x.reshape(sizes)


defop(
    "reshape",
    _reshape,
    inputs="x",
    infer=lambda x, *, shape: Spec(reshaped("reshape", x.shape, shape), x.dtype),
).vjp(x=lambda xp, g, x_like: xp.reshape_like(g, x_like))


# --- the leading axes as one, which needs no sizes while a program is built


def _flatten_lead(x: Array) -> Array:
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])  # -1 cannot be worked out beside a 0


def _unflatten_lead(x: Array, like: Like) -> Array:
    return x.reshape(*like.shape[:-1], x.shape[-1])


def _infer_unflatten_lead(x: Spec, like: Spec) -> Spec:
    lead = like.shape[:-1]
    if not may_equal((product(lead),), x.shape[:-1]):
        raise ShapeError(
            f"unflatten_lead: the rows of {format_shape(x.shape)} cannot become the leading axes "
            f"of {format_shape(like.shape)}"
        )
    return Spec((*lead, x.shape[-1]), x.dtype)


defop(
    "flatten_lead",
    _flatten_lead,
    inputs="x",
    infer=lambda x: Spec((product(x.shape[:-1]), x.shape[-1]), x.dtype),
).vjp(x=lambda xp, g, x_like: xp.reshape_like(g, x_like))
defop("unflatten_lead", _unflatten_lead, inputs="x like", infer=_infer_unflatten_lead).vjp(
    x=lambda xp, g: xp.flatten_lead(g), like=NONDIFF
)

# --- the same array, once it is seen to have the right shape


def _same_shape(x: Array, like: Like, *, names: tuple[str, str] = ("x", "like")) -> Array:
    if x.shape != like.shape:
        raise ShapeError(
            f"{names[0]} has shape {format_shape(x.shape)}, {names[1]} has "
            f"{format_shape(like.shape)}; they must be equal"
        )
    return x


def _infer_same_shape(x: Spec, like: Spec, *, names: tuple[str, str] = ("x", "like")) -> Spec:
    if not may_equal(x.shape, like.shape):
        raise ShapeError(
            f"same_shape: {names[0]} has shape {format_shape(x.shape)}, {names[1]} has "
            f"{format_shape(like.shape)}; they must be equal"
        )
    return Spec(like.shape, x.dtype)


defop("same_shape", _same_shape, inputs="x like", infer=_infer_same_shape).vjp(
    x=lambda xp, g: g, like=NONDIFF
)


def _unsqueeze(x: Array, *, axis: Axes) -> Array:
    return np.expand_dims(x, axis)


def _infer_unsqueeze(x: Spec, *, axis: Axes) -> Spec:
    sizes = iter(x.shape)
    shape = tuple(1 if i in axis else next(sizes) for i in range(x.ndim + len(axis)))
    return Spec(shape, x.dtype)


def _squeeze(x: Array, *, axis: Axes) -> Array:
    return np.squeeze(x, axis)


def _infer_squeeze(x: Spec, *, axis: Axes) -> Spec:
    for a in axis:
        if x.shape[a] != 1 and not isinstance(x.shape[a], Dim):
            raise ShapeError(
                f"squeeze: axis {a} of {format_shape(x.shape)} has size {x.shape[a]}, not 1"
            )
    return Spec(tuple(d for i, d in enumerate(x.shape) if i not in axis), x.dtype)


defop("unsqueeze", _unsqueeze, inputs="x", infer=_infer_unsqueeze).vjp(
    x=lambda xp, g, *, axis: xp.squeeze(g, axis=axis)
)
defop("squeeze", _squeeze, inputs="x", infer=_infer_squeeze).vjp(
    x=lambda xp, g, *, axis: xp.unsqueeze(g, axis=axis)
)

# --- transpose


def _transpose(x: Array, *, perm: Axes) -> Array:
    return x.transpose(perm)


def _inverse(perm: Axes) -> Axes:
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


defop(
    "transpose",
    _transpose,
    inputs="x",
    infer=lambda x, *, perm: Spec(tuple(x.shape[p] for p in perm), x.dtype),
).vjp(x=lambda xp, g, *, perm: xp.transpose(g, perm=_inverse(perm)))

# --- expand


def _expand(x: Array, *, shape: tuple[int, ...]) -> Array:
    """-1 keeps the size of `x` at that place, counted from the back."""
    lead = len(shape) - x.ndim
    sizes = [x.shape[i - lead] if d == -1 else d for i, d in enumerate(shape)]
    return np.broadcast_to(x, sizes)


def _infer_expand(x: Spec, *, shape: tuple[int, ...]) -> Spec:
    lead = len(shape) - x.ndim
    if lead < 0 or any(d == -1 for d in shape[:lead]):
        raise ShapeError(
            f"expand: {format_shape(x.shape)} cannot become {list(shape)}: give one size for each "
            "of its dimensions, and no -1 for a new one"
        )
    target: Shape = tuple(x.shape[i - lead] if d == -1 else d for i, d in enumerate(shape))
    if broadcast_shapes("expand", x.shape, target) != target:
        raise ShapeError(
            f"expand: {format_shape(x.shape)} cannot become {format_shape(target)}: only a size "
            "of 1 can be expanded"
        )
    return Spec(target, x.dtype)


defop("expand", _expand, inputs="x", infer=_infer_expand).vjp(
    x=lambda xp, g, x_like: xp.sum_like(g, x_like)
)

# --- join and split


def _concat(*xs: Array, axis: int) -> Array:
    return np.concatenate(xs, axis=axis)


def _infer_concat(*xs: Spec, axis: int) -> Spec:
    first = xs[0]
    total = first.shape[axis]
    for x in xs[1:]:
        others = (*x.shape[:axis], first.shape[axis], *x.shape[axis + 1 :])
        if x.ndim != first.ndim or not may_equal(first.shape, others):
            raise ShapeError(
                f"concat: {format_shape(first.shape)} and {format_shape(x.shape)} differ in an "
                f"axis other than {axis}; only the axis along which they are joined may differ"
            )
        total = total + x.shape[axis]
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    return Spec(shape, common_dtype([x.dtype for x in xs]))


def _split_like(x: Array, *likes: Like, axis: int) -> tuple[Array, ...]:
    """Cut `x` along `axis` into pieces as long as `likes`."""
    stops = np.cumsum([like.shape[axis] for like in likes])[:-1]
    return tuple(np.split(x, stops, axis=axis))


defop("concat", _concat, inputs="*xs", infer=_infer_concat, dtypes="common").vjp(
    xs=lambda xp, g, xs_like, *, axis: xp.split_like(g, *xs_like, axis=axis)
)
defop(
    "split_like",
    _split_like,
    inputs="x *likes",
    outputs="*pieces",
    infer=lambda x, *likes, axis: tuple(Spec(s.shape, x.dtype) for s in likes),
).vjp(x=lambda xp, g_pieces, *, axis: xp.concat(*g_pieces, axis=axis), likes=NONDIFF)


def _split(x: Array, *, sizes: tuple[int, ...], axis: int) -> tuple[Array, ...]:
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis=axis))


def _infer_split(x: Spec, *, sizes: tuple[int, ...], axis: int) -> tuple[Spec, ...]:
    return tuple(Spec((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype) for size in sizes)


defop("split", _split, inputs="x", outputs="*pieces", infer=_infer_split).vjp(
    x=lambda xp, g_pieces, *, axis: xp.concat(*g_pieces, axis=axis)
)


def _stack(*xs: Array, axis: int) -> Array:
    return np.stack(xs, axis=axis)


def _one_shape(op: str, xs: tuple[Spec, ...], hint: str = "") -> Shape:
    """The shape that all of `xs` have."""
    first = xs[0].shape
    for x in xs[1:]:
        if not may_equal(first, x.shape):
            raise ShapeError(
                f"{op}: {format_shape(first)} and {format_shape(x.shape)} differ; all inputs must "
                f"have one shape{hint}"
            )
    return first


def _infer_stack(*xs: Spec, axis: int) -> Spec:
    first = _one_shape("stack", xs)
    return Spec((*first[:axis], len(xs), *first[axis:]), common_dtype([x.dtype for x in xs]))


def _unstack(x: Array, *, axis: int) -> tuple[Array, ...]:
    return tuple(np.moveaxis(x, axis, 0))


def _infer_unstack(x: Spec, *, axis: int) -> tuple[Spec, ...]:
    count = x.shape[axis]
    if isinstance(count, Dim):
        raise ShapeError(f"unstack: axis {axis} has an unknown size; declare it in static.data")
    return (Spec((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype),) * count


defop("stack", _stack, inputs="*xs", infer=_infer_stack, dtypes="common").vjp(
    xs=lambda xp, g, *, axis: xp.unstack(g, axis=axis)
)
defop("unstack", _unstack, inputs="x", outputs="*pieces", infer=_infer_unstack).vjp(
    x=lambda xp, g_pieces, *, axis: xp.stack(*g_pieces, axis=axis)
)

# --- sum of many: what accumulation in a static program is


def _add_n(*xs: Array) -> Array:
    """Left fold, the order in which the tape accumulates."""
    total = xs[0] if len(xs) > 1 else np.copy(xs[0])
    for x in xs[1:]:
        if x.shape != total.shape:
            raise ShapeError("add_n: all inputs must have one shape; use add to broadcast")
        total = total + x
    return np.asarray(total)


def _infer_add_n(*xs: Spec) -> Spec:
    first = _one_shape("add_n", xs, "; use add to broadcast")
    return Spec(first, common_dtype([x.dtype for x in xs]))


class _Repeat:
    """A sequence that holds the same value at every position."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, _: int) -> Any:
        return self.value


defop("add_n", _add_n, inputs="*xs", infer=_infer_add_n, dtypes="common").vjp(
    xs=lambda xp, g: _Repeat(g)
)

# --- triangles


def _tril(x: Array, *, diagonal: int = 0) -> Array:
    return np.tril(x, _within(x, diagonal))


def _triu(x: Array, *, diagonal: int = 0) -> Array:
    return np.triu(x, _within(x, diagonal))


def _within(x: Array, diagonal: int) -> int:
    """All diagonals beyond the corners are alike, and NumPy takes those of 64 bits only."""
    return min(max(diagonal, -int(x.shape[-2])), int(x.shape[-1]))


defop("tril", _tril, inputs="x", infer=same).vjp(
    x=lambda xp, g, *, diagonal: xp.tril(g, diagonal=diagonal)
)
defop("triu", _triu, inputs="x", infer=same).vjp(
    x=lambda xp, g, *, diagonal: xp.triu(g, diagonal=diagonal)
)

# --- slices: `key` is a tuple of ints, slices, None and Ellipsis

Key = tuple[Any, ...]


def _getitem(x: Array, *, key: Key) -> Array:
    return np.asarray(x[key])


def _infer_getitem(x: Spec, *, key: Key) -> Spec:
    taken = sum(1 for k in key if k is not None and k is not Ellipsis)
    if taken > x.ndim:
        raise IndexError(
            f"too many indices: {taken} for an array with {x.ndim} dimensions "
            f"{format_shape(x.shape)}"
        )
    at = key.index(Ellipsis) if Ellipsis in key else len(key)
    full = [*key[:at], *[slice(None)] * (x.ndim - taken), *key[at + 1 :]]
    sizes = iter(x.shape)
    shape: list[Any] = []
    for k in full:
        if k is None:
            shape.append(1)
            continue
        size = next(sizes)
        if isinstance(k, slice):
            shape.append(_sliced(size, k))
        elif not isinstance(size, Dim) and not -size <= k < size:
            raise IndexError(
                f"index {k} is out of range for a dimension of size {size}; "
                f"use {-size} to {size - 1}"
            )
    return Spec(tuple(shape), x.dtype)


def _sliced(size: Any, key: slice) -> Any:
    """Length of a slice; of an unknown size only a whole slice, or one cut by a literal, is."""
    if not isinstance(size, Dim):
        return len(range(*key.indices(size)))
    if key == slice(None):
        return size
    if key.step in (None, 1) and key.stop is None and key.start is not None and key.start < 0:
        return Dim.symbol(f"min({-key.start},{size})")
    return Dim.symbol(f"len({size}[{key.start}:{key.stop}:{key.step}])")


def _unslice_like(x: Array, like: Like, *, key: Key) -> Array:
    """Zeros but for `x` at `key`: basic slices never visit an element twice."""
    out = np.zeros(like.shape, x.dtype)
    out[key] = x
    return out


def _infer_unslice(x: Spec, like: Spec, **_: Any) -> Spec:
    return Spec(like.shape, x.dtype)


defop("getitem", _getitem, inputs="x", infer=_infer_getitem).vjp(
    x=lambda xp, g, x_like, *, key: xp.unslice_like(g, x_like, key=key)
)
defop("unslice_like", _unslice_like, inputs="x like", infer=_infer_unslice).vjp(
    x=lambda xp, g, *, key: xp.getitem(g, key=key), like=NONDIFF
)
