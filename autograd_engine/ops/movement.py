"""Elements in another order, and windows that slide along an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.dims import exceeds, fresh_dim
from autograd_engine.core.dtypes import INT64
from autograd_engine.core.spec import (
    Array,
    Like,
    Shape,
    Spec,
    format_shape,
    may_equal,
)
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.infer import index_dtype, same
from autograd_engine.ops.kernels.accumulate import accumulator
from autograd_engine.ops.registry.forms import PICKED
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.work import each_read, nothing

Axes = tuple[int, ...]


def _flip(x: Array, *, axis: Axes) -> Array:
    return np.flip(x, axis)


def _roll(x: Array, *, shifts: Axes, axis: Axes) -> Array:
    return np.roll(x, shifts, axis)


defop("flip", _flip, inputs="x", infer=same, **PICKED).vjp(
    x=lambda xp, g, *, axis: xp.flip(g, axis=axis)
)
defop("roll", _roll, inputs="x", infer=same, tangent="linear", elements="picked").vjp(
    x=lambda xp, g, *, shifts, axis: xp.roll(g, shifts=tuple(-s for s in shifts), axis=axis)
)

# --- windows: the elements of each one along a new last axis


def _window_count(shape: Shape, axis: int, size: int, step: int) -> Any:
    """How many windows of `size` fit along `axis`, one every `step`."""
    length = shape[axis]
    if exceeds(size, length):
        raise ShapeError(
            f"unfold: a window of {size} does not fit axis {axis} of {format_shape(shape)}, whose "
            f"size is {length}; pad it"
        )
    return (length - size) // step + 1


def _windows(x: Array, *, axis: int, size: int, step: int) -> Array:
    _window_count(x.shape, axis, size, step)
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis)
    return windows[(slice(None),) * axis + (slice(None, None, step),)]


def _windows_shape(shape: Shape, axis: int, size: int, step: int) -> Shape:
    return (*shape[:axis], _window_count(shape, axis, size, step), *shape[axis + 1 :], size)


def _unwindows_like(x: Array, like: Like, *, axis: int, size: int, step: int) -> Array:
    """Each element is the sum over the windows it lies in: the adjoint of windows."""
    _infer_unwindows(x, like, axis=axis, size=size, step=step)
    out = accumulator(like.shape, x.dtype)
    count = x.shape[axis]
    for k in range(size if count else 0):
        taken = slice(k, k + (count - 1) * step + 1, step)
        out[(slice(None),) * axis + (taken,)] += x[..., k]
    return out.astype(x.dtype, copy=False)


def _infer_unwindows(x: Like, like: Like, *, axis: int, size: int, step: int) -> Spec:
    there = _windows_shape(like.shape, axis, size, step)
    if not may_equal(x.shape, there):
        raise ShapeError(
            f"unwindows_like: the windows of {format_shape(like.shape)} have shape "
            f"{format_shape(there)}, got {format_shape(x.shape)}"
        )
    return Spec(like.shape, x.dtype)


def _write_windows(xp: Any, value: Any, x: Any, **attrs: Any) -> Any:
    """Of several values for one element the last stays."""
    order = np.arange(math.prod(x.shape)).reshape(tuple(x.shape))
    positions = np.ascontiguousarray(_windows(order, **attrs)).reshape(-1)
    flat, values = xp.reshape(x, shape=(-1,)), xp.reshape(value, shape=(-1,))
    return xp.reshape_like(xp.setitem(flat, values, positions, key=("index",)), x)


defop(
    "windows",
    _windows,
    inputs="x",
    infer=lambda x, *, axis, size, step: Spec(_windows_shape(x.shape, axis, size, step), x.dtype),
    **PICKED,
).vjp(x=lambda xp, g, x_like, **attrs: xp.unwindows_like(g, x_like, **attrs)).writes(_write_windows)
defop(
    "unwindows_like",
    _unwindows_like,
    inputs="x like",
    infer=_infer_unwindows,
    tangent="linear",
    work=each_read(),
).vjp(x=lambda xp, g, **attrs: xp.windows(g, **attrs), like=NONDIFF)

# --- which element comes at each place once every element is repeated


def _repeat_index(repeats: Array, like: Like, *, axis: int, total: int | None = None) -> Array:
    _infer_repeat_index(repeats, like, axis=axis, total=total)
    if repeats.size and repeats.min() < 0:
        raise ArgumentError(
            f"repeat_interleave: repeats must not be negative, got {repeats.min()} among them"
        )
    index = np.repeat(np.arange(repeats.size), repeats)
    if total is not None and index.size != total:
        raise ArgumentError(
            f"repeat_interleave: repeats add up to {index.size}, and output_size is {total}"
        )
    return index.astype(np.int64, copy=False)


def _infer_repeat_index(repeats: Like, like: Like, *, axis: int, total: int | None = None) -> Spec:
    index_dtype("repeat_interleave", "repeats", repeats)
    needed = (like.shape[axis],)
    if not may_equal(repeats.shape, needed):
        raise ShapeError(
            f"repeat_interleave: repeats has shape {format_shape(repeats.shape)}; for axis {axis} "
            f"of {format_shape(like.shape)} it must have shape {format_shape(needed)}"
        )
    return Spec((fresh_dim() if total is None else total,), INT64)


defop(
    "repeat_index",
    _repeat_index,
    inputs="repeats like",
    infer=_infer_repeat_index,
    stacks="each",
    checks_values=True,
    work=nothing,
).nondiff()
