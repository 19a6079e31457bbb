"""Reading by index arrays, and the adjoints that write by them."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import INT64, accumulation_dtype
from autograd_engine.core.spec import (
    Array,
    Like,
    Shape,
    Spec,
    format_shape,
    may_equal,
)
from autograd_engine.errors import IndexRangeError, ShapeError
from autograd_engine.ops.infer import index_dtype
from autograd_engine.ops.kernels.accumulate import WORTH, accumulator, add_elements, add_rows
from autograd_engine.ops.kernels.axes import line_key, take_lines
from autograd_engine.ops.kernels.compiled import MANY, compiled
from autograd_engine.ops.registry.cores import several
from autograd_engine.ops.registry.opdef import NONDIFF, defop, scattering
from autograd_engine.ops.registry.pullback import handed_on
from autograd_engine.ops.registry.work import each_read, nothing

_minimum: Any = functools.partial(np.minimum.reduce, axis=None)
_maximum: Any = functools.partial(np.maximum.reduce, axis=None)


def _check_index(op: str, index: Array, size: int, of: str, *, wraps: bool) -> None:
    """NumPy would count a negative index from the back; unless `wraps`, it is a mistake here."""
    low = -size if wraps else 0
    if index.size and (_minimum(index) < low or _maximum(index) >= size):
        bad = index[(index < low) | (index >= size)].ravel()[0]
        raise IndexRangeError(
            f"{op}: index {bad} is out of range; it must be in {low} to {size - 1}, for {of} is "
            f"{size}"
            if size
            else f"{op}: index {bad} is out of range, as any index is: {of} is 0"
        )


def _size_of(axis: int) -> str:
    return f"the size of axis {axis}"


def _from_the_front(op: str, index: Array, size: int, axis: int) -> Array:
    """Indices as NumPy counts them, seen to be in range, without negative ones."""
    if index.dtype is INT64 and index.size and _maximum(index.view(np.uint64)) < size:
        return index  # as an unsigned number a negative one is larger than any size
    least = _minimum(index) if index.size else 0
    if least < -size or (index.size and _maximum(index) >= size):
        _check_index(op, index, size, _size_of(axis), wraps=True)
    index = index.astype(np.intp, copy=False)
    return np.where(index < 0, index + size, index) if least < 0 else index


def _gather(
    x: Array, index: Array, *, axis: int, wraps: bool = False, sparse: bool = False
) -> Array:
    """`sparse`: the gradient keeps the rows that were read, not the zeros between."""
    if not wraps and index.size and _minimum(index) < 0:
        _check_index("gather", index, x.shape[axis], _size_of(axis), wraps=False)
    if axis == 0 and index.size and index.size * (x.size // max(1, x.shape[0])) >= MANY:
        taken = _on_all_cores(x, index)
        if taken is not None:
            return taken
    try:
        return x.take(index, axis=axis)
    except IndexError:
        _check_index("gather", index, x.shape[axis], _size_of(axis), wraps=wraps)
        raise


def _on_all_cores(x: Array, index: Array) -> Array | None:
    """The rows of `x` by a loop in C; None of what that does not read."""
    rows = index.astype(np.int64, "C", copy=False)
    if not several() or not x.flags.c_contiguous or _minimum(rows) < 0 or _maximum(rows) >= len(x):
        return None
    run = compiled("indexing.take_rows", x)
    if run is None:
        return None
    out = np.empty((*index.shape, *x.shape[1:]), x.dtype)
    run(x, rows, out, rows.size, x.size // len(x))
    return out


def _infer_gather(x: Spec, index: Spec, *, axis: int, **_: Any) -> Spec:
    index_dtype("gather", "index", index)
    return Spec((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]), x.dtype)


def _scatter_add_like(
    x: Array, index: Array, like: Like, *, axis: int, sparse: bool = False
) -> Array:
    """Zeros with each slice of `x` added at its index: the adjoint of gather."""
    _infer_scatter(x, index, like, axis=axis)
    out = accumulator(like.shape, x.dtype)
    _place_rows(out, x, index, axis=axis)
    return out.astype(x.dtype, copy=False)


def _place_rows(
    out: Array, values: Array, index: Array, *, axis: int, sparse: bool = False
) -> None:
    """Add each slice of `values` to that of `out` (contiguous) at its index."""
    shape = out.shape
    size = shape[axis]
    rows = _from_the_front("scatter_add_like", index, size, axis).reshape(-1)
    lead, width = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    add_rows(out.reshape(lead, size, width), rows, values)


def _infer_scatter(x: Like, index: Like, like: Like, *, axis: int, **_: Any) -> Spec:
    """One slice of `x` for each index: what is missing would be read from beyond the array."""
    index_dtype("scatter_add_like", "index", index)
    needed = (*like.shape[:axis], *index.shape, *like.shape[axis + 1 :])
    if x.shape != needed and not may_equal(x.shape, needed):
        raise ShapeError(
            f"scatter_add_like: an index of shape {format_shape(index.shape)} on axis {axis} of "
            f"{format_shape(like.shape)} takes values of shape {format_shape(needed)}, got "
            f"{format_shape(x.shape)}"
        )
    return Spec(like.shape, x.dtype)


defop(
    "gather",
    _gather,
    inputs="x index",
    infer=_infer_gather,
    tangent="linear",
    elements="picked",
    result="contiguous",
    checks_values=True,
    zero_gradient="not_chosen",
).vjp(
    x=scattering(
        "x",
        lambda xp, g, index, x_like, *, axis, sparse: xp.scatter(
            "scatter_add_like", g, index, x_like, axis=axis, sparse=sparse
        ),
    ),
    index=NONDIFF,
)
scatter_add_like = defop(
    "scatter_add_like",
    _scatter_add_like,
    inputs="x index like",
    infer=_infer_scatter,
    tangent="linear",
    result="contiguous",
    checks_values=True,
    work=each_read(),
)
scatter_add_like.vjp(
    x=lambda xp, g, index, *, axis: xp.gather(g, index, axis=axis, wraps=True),
    index=NONDIFF,
    like=NONDIFF,
)


def _scatter_add(base: Array, x: Array, index: Array, *, axis: int) -> Array:
    """`base` with each slice of `x` added at its index, one after the other."""
    _infer_scatter(x, index, base, axis=axis)
    wide = accumulation_dtype(base.dtype)
    out = np.add(base, 0, dtype=wide, order="C")
    _place_rows(out, x, index, axis=axis)
    return out.astype(base.dtype, copy=False)


def _infer_scatter_add(base: Spec, x: Spec, index: Spec, *, axis: int) -> Spec:
    _infer_scatter(x, index, base, axis=axis)
    return base


defop(
    "scatter_add",
    _scatter_add,
    inputs="base x index",
    infer=_infer_scatter_add,
    dtypes="common",
    takes="ifc",
    untyped="index",
    tangent="linear",
    checks_values=True,
    work=each_read(operand=1),
    amp="always high",
    types="scatter",
).vjp(
    base=handed_on,
    x=lambda xp, g, index, *, axis: xp.gather(g, index, axis=axis, wraps=True),
    index=NONDIFF,
)


def _record_rows(xp: Any, base: Any, like: Like, parts: Any) -> Any:
    total = xp.zeros_like(like) if base is None else base
    for values, (index,), attrs in parts:
        total = xp.scatter_add(total, values, index, axis=attrs["axis"])
    return total


scatter_add_like.scatters(_place_rows, _record_rows)


def _check_lines(op: str, index: Shape, shape: Shape, axis: int) -> None:
    """Refuse all but indices for each line along `axis`: NumPy would broadcast without a word."""
    behind = axis + 1
    same = index[:axis] == shape[:axis] and index[behind:] == shape[behind:]
    if same and len(index) == len(shape):
        return
    lines, there = (*shape[:axis], *shape[behind:]), (*index[:axis], *index[behind:])
    if len(index) != len(shape) or not may_equal(lines, there):
        raise ShapeError(
            f"{op}: an index of shape {format_shape(index)} does not fit {format_shape(shape)}: "
            f"their sizes must be equal on every axis but {axis}; expand the index, or feed as "
            "many indices as there are lines"
        )


def _take_along_axis(x: Array, index: Array, *, axis: int, wraps: bool = False) -> Array:
    _check_lines("take_along_axis", index.shape, x.shape, axis)
    _check_index("take_along_axis", index, x.shape[axis], _size_of(axis), wraps=wraps)
    run = compiled("indexing.take_lines", x) if index.size >= WORTH else None
    if run is not None:
        out = np.empty(index.shape, x.dtype)
        at = np.ascontiguousarray(index, np.int64)
        run(np.ascontiguousarray(x), at, out, *_line_sizes(x.shape, index.shape[axis], axis))
        return out
    return take_lines(x, index, axis)


def _line_sizes(shape: Any, count: int, axis: int) -> tuple[int, int, int, int]:
    """[outer, size, inner] of `shape`, with the number of indices behind the size."""
    return math.prod(shape[:axis]), shape[axis], count, math.prod(shape[axis + 1 :])


def _infer_take_along(x: Spec, index: Spec, *, axis: int, wraps: bool = False) -> Spec:
    index_dtype("take_along_axis", "index", index)
    _check_lines("take_along_axis", index.shape, x.shape, axis)
    return Spec(index.shape, x.dtype)


def _put_along_axis_like(x: Array, index: Array, like: Like, *, axis: int) -> Array:
    """Zeros with `x` added at `index` along `axis`: the adjoint of take_along_axis."""
    _infer_put_along(x, index, like, axis=axis)
    if index.shape[axis] == 1:  # one write to a line: nothing to accumulate
        out = np.zeros(like.shape, x.dtype)
        out[line_key(index, axis)] = x
        return out
    shape = like.shape
    size = shape[axis]
    index = _from_the_front("put_along_axis_like", index, size, axis)
    out = accumulator(shape, x.dtype)
    run = compiled("indexing.add_lines", out) if index.size >= WORTH else None
    if run is not None:
        at, given = np.ascontiguousarray(index, np.int64), np.ascontiguousarray(x, out.dtype)
        run(out, at, given, *_line_sizes(shape, index.shape[axis], axis))
        return out.astype(x.dtype, copy=False)
    lead, width = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    at = index.reshape(lead, index.shape[axis], width)
    lines = np.arange(lead).reshape(lead, 1, 1) * size
    add_elements(out, (lines + at) * width + np.arange(width), x)
    return out.astype(x.dtype, copy=False)


def _infer_put_along(x: Like, index: Like, like: Like, *, axis: int) -> Spec:
    index_dtype("put_along_axis_like", "index", index)
    _check_lines("put_along_axis_like", index.shape, like.shape, axis)
    if x.shape != index.shape and not may_equal(x.shape, index.shape):
        raise ShapeError(
            f"put_along_axis_like: values of shape {format_shape(x.shape)} need an index of that "
            f"shape, got {format_shape(index.shape)}"
        )
    return Spec(like.shape, x.dtype)


defop(
    "take_along_axis",
    _take_along_axis,
    inputs="x index",
    infer=_infer_take_along,
    tangent="linear",
    elements="picked",
    checks_values=True,
    zero_gradient="not_chosen",
).vjp(
    x=lambda xp, g, index, x_like, *, axis: xp.put_along_axis_like(g, index, x_like, axis=axis),
    index=NONDIFF,
)
defop(
    "put_along_axis_like",
    _put_along_axis_like,
    inputs="x index like",
    infer=_infer_put_along,
    tangent="linear",
    result="contiguous",
    checks_values=True,
    work=each_read(),
).vjp(
    x=lambda xp, g, index, *, axis: xp.take_along_axis(g, index, axis=axis, wraps=True),
    index=NONDIFF,
    like=NONDIFF,
)


def _one_hot(x: Array, *, num_classes: int, dtype: str) -> Array:
    _check_index("one_hot", x, num_classes, "num_classes", wraps=False)
    hot = np.zeros((x.size, num_classes), dtype)
    hot[np.arange(x.size), x.reshape(-1)] = 1
    return hot.reshape(*x.shape, num_classes)


def _infer_one_hot(x: Spec, *, num_classes: int, dtype: str) -> Spec:
    index_dtype("one_hot", "x", x)
    return Spec((*x.shape, num_classes), np.dtype(dtype))


defop(
    "one_hot",
    _one_hot,
    takes="i",
    inputs="x",
    infer=_infer_one_hot,
    result="contiguous",
    stacks="leading",
    checks_values=True,
    work=nothing,
).nondiff()


def _positions_like(like: Like, *, axis: int) -> Array:
    """0, 1, 2, ... along one axis of `like`, of size 1 on the others."""
    shape = [1] * len(like.shape)
    shape[axis] = like.shape[axis]
    return np.arange(shape[axis]).reshape(shape)


def _infer_positions(like: Spec, *, axis: int) -> Spec:
    sizes: list[Any] = [1] * like.ndim
    sizes[axis] = like.shape[axis]
    return Spec(tuple(sizes), INT64)


defop(
    "positions_like", _positions_like, inputs="like", infer=_infer_positions, work=nothing
).nondiff()
