"""Operations that give an array another shape: reshape, squeeze, transpose, expand."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim, product
from autograd_engine.core.dtypes import INT64
from autograd_engine.core.spec import (
    Array,
    Like,
    Shape,
    Spec,
    ValueSpec,
    broadcast_shapes,
    format_shape,
    may_equal,
    reshaped,
)
from autograd_engine.errors import ShapeError
from autograd_engine.ops.kernels.axes import with_axes
from autograd_engine.ops.registry.forms import PICKED, RESHAPED
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.work import nothing

__all__ = []

Axes = tuple[int, ...]

# --- reshape


def _reshape(x: Array, *, shape: tuple[int, ...]) -> Array:
    # 0 keeps the size at its place, in the terms of the reference.
    sizes = [x.shape[i] if d == 0 and i < x.ndim else d for i, d in enumerate(shape)]
    return x.reshape(sizes)


def _reshape_back(xp: Any, value: Any, x: Any, **_: Any) -> Any:
    return xp.reshape_like(value, x)


defop(
    "reshape",
    _reshape,
    inputs="x",
    infer=lambda x, *, shape: Spec(reshaped("reshape", x.shape, shape), x.dtype),
    **RESHAPED,
).vjp(x=lambda xp, g, x_like: xp.reshape_like(g, x_like)).writes(_reshape_back)


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
    **RESHAPED,
).vjp(x=lambda xp, g, x_like: xp.reshape_like(g, x_like))
defop(
    "unflatten_lead", _unflatten_lead, inputs="x like", infer=_infer_unflatten_lead, **RESHAPED
).vjp(x=lambda xp, g: xp.flatten_lead(g), like=NONDIFF)

# --- some axes as one, and one as some: no other size need be known


def _flatten_axes(x: Array, *, start: int, stop: int) -> Array:
    merged = math.prod(x.shape[start : stop + 1])
    return x.reshape(*x.shape[:start], merged, *x.shape[stop + 1 :])


def _infer_flatten_axes(x: Spec, *, start: int, stop: int) -> Spec:
    merged = product(x.shape[start : stop + 1])
    return Spec((*x.shape[:start], merged, *x.shape[stop + 1 :]), x.dtype)


def _unflattened(shape: Shape, axis: int, sizes: tuple[int, ...]) -> Shape:
    """`shape` with `sizes`, of which one may be -1, in the place of one of its axes."""
    size = shape[axis]
    rest = math.prod(d for d in sizes if d != -1)
    if (
        not isinstance(size, Dim)
        and not isinstance(rest, Dim)
        and ((rest == 0 or size % rest != 0) if -1 in sizes else rest != size)
    ):
        raise ShapeError(
            f"unflatten: axis {axis} of {format_shape(shape)} has size {size}, which cannot become "
            f"{list(sizes)}; give sizes whose product it is, one of them may be -1"
        )
    parts = tuple(size // rest if d == -1 else d for d in sizes)
    return (*shape[:axis], *parts, *shape[axis + 1 :])


defop("flatten_axes", _flatten_axes, inputs="x", infer=_infer_flatten_axes, **RESHAPED).vjp(
    x=lambda xp, g, x_like: xp.reshape_like(g, x_like)
).writes(_reshape_back)
defop(
    "unflatten_axis",
    lambda x, *, axis, sizes: x.reshape(_unflattened(x.shape, axis, sizes)),
    inputs="x",
    infer=lambda x, *, axis, sizes: Spec(_unflattened(x.shape, axis, sizes), x.dtype),
    **RESHAPED,
).vjp(
    x=lambda xp, g, *, axis, sizes: xp.flatten_axes(g, start=axis, stop=axis + len(sizes) - 1)
).writes(_reshape_back)

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


defop(
    "same_shape",
    _same_shape,
    inputs="x like",
    infer=_infer_same_shape,
    **RESHAPED,
    stacks="leading",
).vjp(x=lambda xp, g: g, like=NONDIFF)


# --- axes of size 1


def _infer_unsqueeze(x: Spec, *, axis: Axes) -> Spec:
    sizes = iter(x.shape)
    shape = tuple(1 if i in axis else next(sizes) for i in range(x.ndim + len(axis)))
    return Spec(shape, x.dtype)


def _infer_squeeze(x: Spec, *, axis: Axes) -> Spec:
    for a in axis:
        if x.shape[a] != 1 and not isinstance(x.shape[a], Dim):
            raise ShapeError(
                f"squeeze: axis {a} of {format_shape(x.shape)} has size {x.shape[a]}, not 1"
            )
    return Spec(tuple(d for i, d in enumerate(x.shape) if i not in axis), x.dtype)


defop(
    "unsqueeze",
    lambda x, *, axis: with_axes(x, axis),
    inputs="x",
    infer=_infer_unsqueeze,
    **RESHAPED,
).vjp(x=lambda xp, g, *, axis: xp.squeeze(g, axis=axis)).writes(_reshape_back)
defop(
    "squeeze", lambda x, *, axis: np.squeeze(x, axis), inputs="x", infer=_infer_squeeze, **RESHAPED
).vjp(x=lambda xp, g, *, axis: xp.unsqueeze(g, axis=axis)).writes(_reshape_back)

# --- transpose


@lru_cache(maxsize=256)
def _inverse(perm: Axes) -> Axes:
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


defop(
    "transpose",
    lambda x, *, perm: x.transpose(perm),
    inputs="x",
    infer=lambda x, *, perm: Spec(tuple(x.shape[p] for p in perm), x.dtype),
    **PICKED,
).vjp(x=lambda xp, g, *, perm: xp.transpose(g, perm=_inverse(perm))).writes(
    lambda xp, value, x, *, perm: xp.transpose(value, perm=_inverse(perm))
)

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
    apart = [
        d != e and d != 1 and not isinstance(d, Dim) and not isinstance(e, Dim)
        for d, e in zip(x.shape, target[lead:], strict=True)
    ]
    stays = [isinstance(d, Dim) and e == 1 for d, e in zip(x.shape, target[lead:], strict=True)]
    if any(apart) or any(stays):
        raise ShapeError(
            f"expand: {format_shape(x.shape)} cannot become {format_shape(target)}: only a size "
            "of 1 can be expanded"
        )
    return Spec(target, x.dtype)


def _broadcast_like(x: Array, *likes: Like) -> Array:
    """`x` broadcast to the shape in which it and `likes` meet."""
    if all(like.shape == x.shape for like in likes):
        return x
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, *(like.shape for like in likes)))


defop("expand", _expand, inputs="x", infer=_infer_expand, **PICKED).vjp(
    x=lambda xp, g, x_like: xp.sum_like(g, x_like)
)
defop(
    "broadcast_like",
    _broadcast_like,
    inputs="x *likes",
    infer=lambda x, *likes: Spec(
        broadcast_shapes("broadcast", x.shape, *(like.shape for like in likes)), x.dtype
    ),
    **PICKED,
).vjp(x=lambda xp, g, x_like: xp.sum_like(g, x_like), likes=NONDIFF)


def _shape_of(like: Like) -> Array:
    return np.asarray(like.shape, np.int64)


def _numel(like: Like) -> Array:
    return np.asarray(math.prod(like.shape), np.int64)


defop(
    "shape_of",
    _shape_of,
    inputs="like",
    infer=lambda like: ValueSpec(INT64, like.shape),
    work=nothing,
).nondiff()
defop(
    "numel", _numel, inputs="like", infer=lambda like: ValueSpec(INT64, like.size), work=nothing
).nondiff()


def _reinterpret(x: Array, *, dtype: str) -> Array:
    if x.dtype == dtype:
        return x
    _reinterpreted(x.shape, x.dtype, np.dtype(dtype))
    return np.ascontiguousarray(x).reshape(x.shape).view(dtype)


def _reinterpreted(shape: Shape, old: np.dtype[Any], new: np.dtype[Any]) -> Shape:
    """Shape once the bytes of the last axis are read as `new`."""
    if old.itemsize == new.itemsize:
        return shape
    if not shape or (not isinstance(shape[-1], Dim) and shape[-1] * old.itemsize % new.itemsize):
        raise ShapeError(
            f"view: the last axis of {format_shape(shape)} {old.name} does not hold whole elements "
            f"of {new.name}; use a dtype of {old.itemsize} bytes, or astype for another value type"
        )
    return (*shape[:-1], shape[-1] * old.itemsize // new.itemsize)


# The bits of a number are no smooth function of it.
defop(
    "reinterpret",
    _reinterpret,
    inputs="x",
    infer=lambda x, *, dtype: Spec(
        _reinterpreted(x.shape, x.dtype, np.dtype(dtype)), np.dtype(dtype)
    ),
    casts=True,
    halves="as they are",
    result="view",
    work=nothing,
).nondiff().writes(lambda xp, value, x, **_: xp.reinterpret(value, dtype=np.dtype(x.dtype).name))
