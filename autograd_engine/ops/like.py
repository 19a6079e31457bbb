"""Operations that take a shape or dtype from another array: what rules use instead of shapes.

Each reads only the shape and dtype of its input `like`, which therefore need not be kept.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from autograd_engine.core.dtypes import BLAS_REALS, COMPLEX, FLOAT32, rounded, widened
from autograd_engine.core.spec import Array, Like, Spec, format_shape, may_equal
from autograd_engine.errors import ShapeError
from autograd_engine.ops.conjugates import cast_back
from autograd_engine.ops.infer import cast, like as infer_like, same
from autograd_engine.ops.kernels.axes import with_axes
from autograd_engine.ops.kernels.sums import sum_like
from autograd_engine.ops.registry.forms import PICKED, RESHAPED
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.symbolic_zero import hollow, is_hollow
from autograd_engine.ops.registry.work import Specs, Work, nothing

Axes = tuple[int, ...]


def _spread(x: Array, like: Like, axis: Axes, keepdims: bool) -> Array:
    """A view of `x` broadcast to the shape of `like`, with the axes in `axis` put back.

    `np.broadcast_to` takes eight times as long on small arrays. The view is never written: see
    docs/design/eager.md, "Values".
    """
    shape = like.shape
    if x.ndim == 0:
        return np.ndarray(shape, x.dtype, np.asarray(x), 0, (0,) * len(shape))
    given = x.shape
    if not keepdims:
        x = with_axes(x, axis)
    if x.ndim != len(shape) or not x.flags.c_contiguous:
        try:
            return np.broadcast_to(x, shape)
        except ValueError:
            _refuse_to_spread(given, shape)
    # Strides that do not fit would read past the array: a program learns its sizes when it runs.
    strides = [
        s if d == n else 0 if d == 1 else _refuse_to_spread(given, shape)
        for d, n, s in zip(x.shape, shape, x.strides, strict=True)
    ]
    return np.ndarray(shape, x.dtype, x, 0, strides)


def _refuse_to_spread(given: Any, shape: Any) -> NoReturn:
    raise ShapeError(
        f"an array of shape {format_shape(given)} cannot be spread to {format_shape(shape)}: each "
        "size must be equal or 1; a cotangent must have the shape of what it belongs to"
    )


def _expand_like(x: Array, like: Like, *, axis: Axes = (), keepdims: bool = True) -> Array:
    return _spread(x, like, axis, keepdims)


def _spread_like(x: Array, like: Like, *, axis: Axes, keepdims: bool) -> Array:
    shape = like.shape
    count = 1
    for a in axis:
        count *= shape[a]
    if x.ndim == 0 and x.dtype in BLAS_REALS:
        x = x[()]  # NumPy takes a fifth of the time for its scalars
    # Divided before it is spread: the same bits, fewer divisions.
    return _spread(x / (count or 1), like, axis, keepdims)


def _reshape_like(x: Array, like: Like) -> Array:
    return x.reshape(like.shape)


def _infer_reshape_like(x: Spec, like: Spec) -> Spec:
    if not may_equal((x.size,), (like.size,)):
        raise ShapeError(
            f"reshape: {format_shape(x.shape)} has {x.size} elements and cannot become "
            f"{format_shape(like.shape)}, which has {like.size}"
        )
    return infer_like(x, like)


def _cast_like(x: Array, like: Like) -> Array:
    """`x` itself where the dtypes agree, so a rule may cast without asking whether it must."""
    if x.__class__ is np.ndarray and x.dtype is like.dtype:
        return x
    if x.dtype is like.dtype and isinstance(x, np.generic):
        return np.asarray(x)
    if x.dtype in COMPLEX:
        cast(x, like.dtype)
    array = np.asarray(x)
    if like.dtype is FLOAT32:
        return widened(array)
    return rounded(array, like.dtype)


def _work_of_sum_like(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
    read = operands[0].size
    return Work(0, 0 if read == results[0].size else read)


defop(
    "sum_like",
    sum_like,
    inputs="x like",
    infer=infer_like,
    tangent="linear",
    result="view",
    work=_work_of_sum_like,
).vjp(x=lambda xp, g, x_like: xp.expand_like(g, x_like), like=NONDIFF)


def expand_like_x(xp: Any, g: Any, x_like: Any, *, axis: Axes, keepdims: bool) -> Any:
    """Sum over the dropped axes, then over the stretched ones."""
    return xp.sum_like(g if keepdims else xp.sum(g, axis=axis, keepdims=False), x_like)


defop("expand_like", _expand_like, inputs="x like", infer=infer_like, **PICKED).vjp(
    x=expand_like_x, like=NONDIFF
)
defop(
    "spread_like", _spread_like, inputs="x like", infer=infer_like, tangent="linear", work=nothing
).vjp(x=lambda xp, g, *, axis, keepdims: xp.mean(g, axis=axis, keepdims=keepdims), like=NONDIFF)
defop("reshape_like", _reshape_like, inputs="x like", infer=_infer_reshape_like, **RESHAPED).vjp(
    x=lambda xp, g, x_like: xp.reshape_like(g, x_like), like=NONDIFF
)
defop(
    "cast_like",
    _cast_like,
    inputs="x like",
    infer=lambda x, like: cast(x, like.dtype),
    casts=True,
    halves="as they are",
    tangent="linear",
    result="view",
    elementwise=True,
    work=nothing,
).vjp(x=lambda xp, g, x_like: cast_back(xp, g, x_like), like=NONDIFF)


def _full_like(like: Like, *, value: float, dtype: str | None = None) -> Array:
    return np.full(like.shape, value, dtype or like.dtype)


def _infer_full_like(like: Spec, *, value: float, dtype: str | None = None) -> Spec:
    return Spec(like.shape, np.dtype(dtype) if dtype else like.dtype)


def _zeros_like(like: Like) -> Array:
    return np.zeros(like.shape, like.dtype)


defop("full_like", _full_like, inputs="like", infer=_infer_full_like, elements="fill").nondiff()
defop("zeros_like", _zeros_like, inputs="like", infer=lambda like: like, elements="fill").nondiff()


def _unless_zero(x: Array, *gs: Array) -> Array:
    """`x`, or zeros like it where all of the others are zeros."""
    return x if any(g.any() for g in gs) else np.zeros_like(x)


# Not differentiable in `gs`: moving them from 0 takes away a selection, it moves no value.
defop("unless_zero", _unless_zero, inputs="x *gs", infer=same, result="view", work=nothing).vjp(
    x=lambda xp, g, gs: xp.unless_zero(g, *gs), gs=NONDIFF
)


def _unless_hollow(x: Array, *gs: Any) -> Array:
    """`x`, or a hollow array like it where all of the others are hollow."""
    return x if not all(map(is_hollow, gs)) else hollow(x)


# Which of them are hollow depends on the branches that ran, and not on values.
defop("unless_hollow", _unless_hollow, inputs="x *gs", infer=same, result="view", work=nothing).vjp(
    x=lambda xp, g, gs: xp.unless_hollow(g, *gs), gs=NONDIFF
)
