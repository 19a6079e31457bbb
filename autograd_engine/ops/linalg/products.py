"""Matrix products."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from autograd_engine.core.dims import Size, product
from autograd_engine.core.dtypes import BLAS_REALS, HALVES, common_dtype
from autograd_engine.core.spec import (
    Array,
    Like,
    Shape,
    Spec,
    matmul_shape,
)
from autograd_engine.ops.kernels.compiled import MANY, compiled
from autograd_engine.ops.kernels.products import SMALL, multiply
from autograd_engine.ops.registry.cores import several
from autograd_engine.ops.registry.forms import RESHAPED
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.work import Specs, each_read, multiply_adds


def _matmul(x: Array, y: Array, *, transpose_x: bool = False, transpose_y: bool = False) -> Array:
    if transpose_x:
        x = x.T if x.ndim == 2 else x.swapaxes(-1, -2)
    if transpose_y:
        y = y.T if y.ndim == 2 else y.swapaxes(-1, -2)
    if x.ndim == 2 == y.ndim:
        (rows, inner), columns = x.shape, y.shape[1]
        if x.size <= SMALL >= y.size and inner != 1 and rows != columns and x.dtype in BLAS_REALS:
            small: Array = x.dot(y)  # what `multiply` comes to here, without its call
            return small
    if x.dtype in HALVES:  # products accumulate in float32
        return np.asarray(np.matmul(x.astype(np.float32), y.astype(np.float32)), x.dtype)
    # With nothing to sum over, the product is an outer one, which BLAS takes twice as long for.
    out: Array = _outer(x, y) if x.shape[-1] == 1 == y.shape[-2] else multiply(x, y)
    return out


def _outer(x: Array, y: Array) -> Array:
    if x.size * y.shape[-1] >= MANY and x.shape[:-2] == y.shape[:-2] and x.dtype is y.dtype:
        run = compiled("products.outer", x) if several() else None
        if run is not None and x.flags.c_contiguous and y.flags.c_contiguous:
            out = np.empty((*x.shape[:-1], y.shape[-1]), x.dtype)
            run(x, y, out, x.size // x.shape[-2], x.shape[-2], y.shape[-1])
            return out
    outer: Array = x * y
    return outer


def _infer_matmul(
    x: Spec, y: Spec, *, transpose_x: bool = False, transpose_y: bool = False
) -> Spec:
    def shape(s: Spec, transposed: bool) -> Shape:
        return (*s.shape[:-2], s.shape[-1], s.shape[-2]) if transposed else s.shape

    out = matmul_shape("matmul", shape(x, transpose_x), shape(y, transpose_y))
    return Spec(out, common_dtype([x.dtype, y.dtype]))


def matmul_x(xp: Any, g: Any, y: Any, *, transpose_x: bool, transpose_y: bool) -> Any:
    """out = X Y gives G Y'; transposed where X was."""
    if transpose_x:
        return xp.matmul(y, g, transpose_x=transpose_y, transpose_y=True)
    return xp.matmul(g, y, transpose_x=False, transpose_y=not transpose_y)


def matmul_y(xp: Any, g: Any, x: Any, *, transpose_x: bool, transpose_y: bool) -> Any:
    """out = X Y gives X' G; transposed where Y was."""
    if transpose_y:
        return xp.matmul(g, x, transpose_x=True, transpose_y=transpose_x)
    return xp.matmul(x, g, transpose_x=not transpose_x, transpose_y=False)


def _inner_products(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Size:
    inner = operands[0].shape[-2 if attrs["transpose_x"] else -1]
    return results[0].size * inner


# Both inputs have two or more dimensions: the public function sees to vectors.
defop(
    "matmul",
    _matmul,
    inputs="x y",
    infer=_infer_matmul,
    broadcasts=2,
    dtypes="common",
    tangent="multilinear",
    work=multiply_adds(_inner_products),
    zero_gradient="multiplied_by_zero",
    amp="low",
    types="matmul_v2 mul bmm mv linear_v2 einsum",
).vjp(x=matmul_x, y=matmul_y)

# --- cross products


def _cross(x: Array, y: Array, *, axis: int) -> Array:
    lead: Any = (slice(None),) * axis
    (a, b, c), (d, e, f) = ([v[(*lead, k)] for k in range(3)] for v in (x, y))
    return np.stack([b * f - c * e, c * d - a * f, a * e - b * d], axis=axis)


def _infer_cross(x: Spec, y: Spec, *, axis: int) -> Spec:
    return Spec(x.shape, common_dtype([x.dtype, y.dtype]))


# <g, x cross y> is the volume of the three, which turning them in a circle leaves as it is.
defop(
    "cross",
    _cross,
    inputs="x y",
    infer=_infer_cross,
    dtypes="common",
    takes="ifc",
    tangent="multilinear",
    work=each_read(3),
).vjp(
    x=lambda xp, g, y, *, axis: xp.cross(y, g, axis=axis),
    y=lambda xp, g, x, *, axis: xp.cross(g, x, axis=axis),
)

# --- axes as one, and apart again: what makes a product of arrays one of matrices. A program need
# not know their sizes.


def _merge_axes(x: Array, *, counts: tuple[int, ...]) -> Array:
    """As many neighbouring axes as each count says become one; 0 gives an axis of size 1."""
    return x.reshape([int(d) for d in _merged(x.shape, counts)])


def _merged(shape: Shape, counts: tuple[int, ...]) -> Shape:
    stops = list(itertools.accumulate(counts))
    return tuple(product(shape[b - n : b]) for b, n in zip(stops, counts, strict=True))


defop(
    "merge_axes",
    _merge_axes,
    inputs="x",
    infer=lambda x, *, counts: Spec(_merged(x.shape, counts), x.dtype),
    **RESHAPED,
).vjp(x=lambda xp, g, x_like: xp.reshape_like(g, x_like))

Sources = tuple[tuple[int, int], ...]


def _unmerge_axes(x: Array, *likes: Like, sources: Sources) -> Array:
    """`x` in the shape whose sizes are those of (like, axis)."""
    return x.reshape([likes[k].shape[axis] for k, axis in sources])


defop(
    "unmerge_axes",
    _unmerge_axes,
    inputs="x *likes",
    infer=lambda x, *likes, sources: Spec(tuple(likes[k].shape[a] for k, a in sources), x.dtype),
    **RESHAPED,
).vjp(x=lambda xp, g, x_like: xp.reshape_like(g, x_like), likes=NONDIFF)
