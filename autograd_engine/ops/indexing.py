"""Reading by index arrays, and the adjoints that write by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.errors import ShapeError
from autograd_engine.ops.infer import index_dtype
from autograd_engine.registry import NONDIFF, defop
from autograd_engine.spec import Like, Shape, Spec, format_shape, may_equal

Array = NDArray[Any]


def _check_index(index: Array, size: int, op: str) -> None:
    """NumPy would count a negative index from the back; here it is a mistake in the data."""
    if index.size and (index.min() < 0 or index.max() >= size):
        bad = index[(index < 0) | (index >= size)].ravel()[0]
        raise IndexError(f"{op}: index {bad} is out of range; it must be in 0 to {size - 1}")


def _accumulator(shape: Shape, dtype: np.dtype[Any]) -> Array:
    """Zeros to add to. For float16 they are float32: 2048 + 1 is 2048 in float16."""
    return np.zeros(shape, np.float32 if dtype.char == "e" else dtype)


def _gather(x: Array, index: Array, *, axis: int) -> Array:
    _check_index(index, x.shape[axis], "gather")
    return np.take(x, index, axis=axis)


def _infer_gather(x: Spec, index: Spec, *, axis: int) -> Spec:
    index_dtype("gather", "index", index)
    return Spec((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]), x.dtype)


def _scatter_add_like(x: Array, index: Array, like: Like, *, axis: int) -> Array:
    """Zeros with each slice of `x` added at its index: the adjoint of gather."""
    out = _accumulator(like.shape, x.dtype)
    key: Any = (*(slice(None) for _ in range(axis)), index)
    np.add.at(out, key, x)
    return out.astype(x.dtype, copy=False)


defop("gather", _gather, inputs="x index", infer=_infer_gather).vjp(
    x=lambda xp, g, index, x_like, *, axis: xp.scatter_add_like(g, index, x_like, axis=axis),
    index=NONDIFF,
)
defop(
    "scatter_add_like",
    _scatter_add_like,
    inputs="x index like",
    infer=lambda x, index, like, *, axis: Spec(like.shape, x.dtype),
).vjp(
    x=lambda xp, g, index, *, axis: xp.gather(g, index, axis=axis),
    index=NONDIFF,
    like=NONDIFF,
)


def _check_lines(op: str, index: Shape, shape: Shape, axis: int) -> None:
    """Refuse all but indices for each line along `axis`: NumPy would broadcast without a word."""
    lines, there = (*shape[:axis], *shape[axis + 1 :]), (*index[:axis], *index[axis + 1 :])
    if len(index) != len(shape) or (lines != there and not may_equal(lines, there)):
        raise ShapeError(
            f"{op}: an index of shape {format_shape(index)} does not fit {format_shape(shape)}: "
            f"their sizes must be equal on every axis but {axis}; expand the index, or feed as "
            "many indices as there are lines"
        )


def _take_along_axis(x: Array, index: Array, *, axis: int) -> Array:
    _check_lines("take_along_axis", index.shape, x.shape, axis)
    _check_index(index, x.shape[axis], "take_along_axis")
    return np.take_along_axis(x, index, axis=axis)


def _infer_take_along(x: Spec, index: Spec, *, axis: int) -> Spec:
    index_dtype("take_along_axis", "index", index)
    _check_lines("take_along_axis", index.shape, x.shape, axis)
    return Spec(index.shape, x.dtype)


def _put_along_axis_like(x: Array, index: Array, like: Like, *, axis: int) -> Array:
    """Zeros with `x` added at `index` along `axis`: the adjoint of take_along_axis."""
    _check_put(x.shape, index.shape, like.shape, axis)
    if index.shape[axis] == 1:  # one write to a line: nothing to accumulate
        out = np.zeros(like.shape, x.dtype)
        np.put_along_axis(out, index, x, axis=axis)
        return out
    out = _accumulator(like.shape, x.dtype)
    grid: list[Any] = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grid[axis] = index
    np.add.at(out, tuple(grid), x)
    return out.astype(x.dtype, copy=False)


def _check_put(x: Shape, index: Shape, like: Shape, axis: int) -> None:
    _check_lines("put_along_axis_like", index, like, axis)
    if x != index and not may_equal(x, index):
        raise ShapeError(
            f"put_along_axis_like: values of shape {format_shape(x)} need an index of that shape, "
            f"got {format_shape(index)}"
        )


def _infer_put_along(x: Spec, index: Spec, like: Spec, *, axis: int) -> Spec:
    index_dtype("put_along_axis_like", "index", index)
    _check_put(x.shape, index.shape, like.shape, axis)
    return Spec(like.shape, x.dtype)


defop("take_along_axis", _take_along_axis, inputs="x index", infer=_infer_take_along).vjp(
    x=lambda xp, g, index, x_like, *, axis: xp.put_along_axis_like(g, index, x_like, axis=axis),
    index=NONDIFF,
)
defop(
    "put_along_axis_like",
    _put_along_axis_like,
    inputs="x index like",
    infer=_infer_put_along,
).vjp(
    x=lambda xp, g, index, *, axis: xp.take_along_axis(g, index, axis=axis),
    index=NONDIFF,
    like=NONDIFF,
)


def _one_hot(x: Array, *, num_classes: int, dtype: str) -> Array:
    _check_index(x, num_classes, "one_hot")
    hot: Array = x[..., None] == np.arange(num_classes)
    return hot.astype(dtype)


def _infer_one_hot(x: Spec, *, num_classes: int, dtype: str) -> Spec:
    index_dtype("one_hot", "x", x)
    return Spec((*x.shape, num_classes), np.dtype(dtype))


defop("one_hot", _one_hot, inputs="x", infer=_infer_one_hot).nondiff()
