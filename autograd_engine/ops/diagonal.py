"""Triangles and diagonals of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim, fresh_dim
from autograd_engine.core.spec import (
    Array,
    Like,
    Shape,
    Spec,
    format_shape,
    may_equal,
)
from autograd_engine.errors import ShapeError
from autograd_engine.ops.infer import same
from autograd_engine.ops.kernels.compiled import LARGE, compiled
from autograd_engine.ops.registry.forms import PICKED
from autograd_engine.ops.registry.opdef import NONDIFF, defop


def _inside(shape: Any, offset: int, axis1: int = -2, axis2: int = -1) -> int:
    """`offset`, or that of the first diagonal beyond the corner: NumPy takes 64 bits only."""
    return min(max(offset, -int(shape[axis1])), int(shape[axis2]))


# --- triangles


def _tril(x: Array, *, diagonal: int = 0) -> Array:
    diagonal = _inside(x.shape, diagonal)
    done = _triangle(x, diagonal, False)
    return np.tril(x, diagonal) if done is None else done


def _triu(x: Array, *, diagonal: int = 0) -> Array:
    diagonal = _inside(x.shape, diagonal)
    done = _triangle(x, diagonal, True)
    return np.triu(x, diagonal) if done is None else done


def _triangle(x: Array, diagonal: int, upper: bool) -> Array | None:
    """By C, of large arrays: NumPy makes a mask, and chooses element by element."""
    run = compiled("spread.triangle", x) if x.size >= LARGE else None
    if run is None:
        return None
    out, (rows, columns) = np.empty(x.shape, x.dtype), x.shape[-2:]
    run(np.ascontiguousarray(x), out, x.size // (rows * columns), rows, columns, diagonal, upper)
    return out


defop(
    "tril", _tril, inputs="x", infer=same, tangent="linear", elements="padded", stacks="leading"
).vjp(x=lambda xp, g, *, diagonal: xp.tril(g, diagonal=diagonal))
defop(
    "triu", _triu, inputs="x", infer=same, tangent="linear", elements="padded", stacks="leading"
).vjp(x=lambda xp, g, *, diagonal: xp.triu(g, diagonal=diagonal))

# --- one diagonal, as the last axis in the place of the two axes it runs along


def _diagonal(x: Array, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    return np.diagonal(x, _inside(x.shape, offset, axis1, axis2), axis1, axis2)


def _diagonal_size(rows: Any, columns: Any, offset: int) -> Any:
    """How many elements the diagonal has; of unknown sizes one symbol each time it is asked."""
    if isinstance(offset, Dim):
        return fresh_dim()
    rows, columns = rows + min(offset, 0), columns - max(offset, 0)
    if rows == columns:
        return rows
    if isinstance(rows, Dim) or isinstance(columns, Dim):
        return Dim.symbol(f"min({','.join(sorted(map(str, (rows, columns))))})")
    return max(min(rows, columns), 0)


def _diagonal_shape(shape: Shape, offset: int, axis1: int, axis2: int) -> Shape:
    kept = tuple(d for k, d in enumerate(shape) if k not in (axis1, axis2))
    return (*kept, _diagonal_size(shape[axis1], shape[axis2], offset))


def _infer_diagonal(x: Spec, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Spec:
    return Spec(_diagonal_shape(x.shape, offset, axis1, axis2), x.dtype)


def _written(shape: Any, x: Array, offset: int, axis1: int, axis2: int) -> Array:
    """Zeros of `shape` with `x` on a diagonal."""
    out = np.zeros(shape, x.dtype)
    view = np.diagonal(out, _inside(shape, offset, axis1, axis2), axis1, axis2)
    view.flags.writeable = True
    view[...] = x
    return out


def _undiagonal_like(
    x: Array, like: Like, *, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Array:
    """Zeros with `x` on a diagonal: the adjoint of diagonal."""
    _infer_undiagonal(x, like, offset=offset, axis1=axis1, axis2=axis2)
    return _written(like.shape, x, offset, axis1, axis2)


def _infer_undiagonal(
    x: Like, like: Like, *, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Spec:
    """Refuses all but one value for each element: NumPy would broadcast without a word."""
    there = _diagonal_shape(like.shape, offset, axis1, axis2)
    if not may_equal(x.shape, there):
        raise ShapeError(
            f"diagonal_scatter: the diagonal of {format_shape(like.shape)} has shape "
            f"{format_shape(there)}, and what is to be written there {format_shape(x.shape)}; "
            "expand it"
        )
    return Spec(like.shape, x.dtype)


def _embedded(shape: Shape, offset: int, axis1: int, axis2: int) -> Shape:
    """The last size of `shape`, and the offset, on both axes of the result."""
    side = fresh_dim() if isinstance(offset, Dim) else shape[-1] + abs(offset)
    sizes = iter(shape[:-1])
    return tuple(side if k in (axis1, axis2) else next(sizes) for k in range(len(shape) + 1))


def _diag_embed(x: Array, *, offset: int = 0, axis1: int, axis2: int) -> Array:
    return _written(_embedded(x.shape, offset, axis1, axis2), x, offset, axis1, axis2)


def _write_diagonal(xp: Any, value: Any, x: Any, **attrs: Any) -> Any:
    there = xp.undiagonal_like(xp.full_like(value, value=True, dtype="bool"), x, **attrs)
    return xp.where(there, xp.undiagonal_like(value, x, **attrs), x)


defop("diagonal", _diagonal, inputs="x", infer=_infer_diagonal, **PICKED).vjp(
    x=lambda xp, g, x_like, **attrs: xp.undiagonal_like(g, x_like, **attrs)
).writes(_write_diagonal)
defop(
    "undiagonal_like",
    _undiagonal_like,
    inputs="x like",
    infer=_infer_undiagonal,
    tangent="linear",
    elements="padded",
).vjp(x=lambda xp, g, **attrs: xp.diagonal(g, **attrs), like=NONDIFF)
defop(
    "diag_embed",
    _diag_embed,
    inputs="x",
    infer=lambda x, *, offset=0, axis1, axis2: Spec(
        _embedded(x.shape, offset, axis1, axis2), x.dtype
    ),
    tangent="linear",
    elements="padded",
).vjp(x=lambda xp, g, **attrs: xp.diagonal(g, **attrs))
