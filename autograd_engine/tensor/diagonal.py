"""Diagonals, and the triangles above and below them."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.checks import require_bools
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import INEXACT
from autograd_engine.core.spec import Array, Shape, format_shape, normalize_axis
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.conversion import held, real
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import integer
from autograd_engine.tensor.creation import to_tensor

__all__ = [
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_scatter",
    "trace",
    "tril",
    "triu",
]


def tril(x: Any, diagonal: int = 0, name: str | None = None) -> Tensor:
    """The lower triangle of the last two axes, zeros elsewhere.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.tril(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
    [[1, 0], [3, 4]]
    """
    return ops.tril(_matrices("tril", x), diagonal=integer("tril", "diagonal", diagonal))


def triu(x: Any, diagonal: int = 0, name: str | None = None) -> Tensor:
    """The upper triangle of the last two axes, zeros elsewhere.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.triu(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
    [[1, 2], [0, 4]]
    """
    return ops.triu(_matrices("triu", x), diagonal=integer("triu", "diagonal", diagonal))


def _matrices(op: str, x: Any) -> Any:
    x = as_operand(op, x)
    if spec_of(x).ndim < 2:
        raise ShapeError(f"{op}: takes two dimensions or more, got {spec_of(x).ndim}")
    return x


def _plane(op: str, x: Any, offset: Any, axis1: Any, axis2: Any) -> dict[str, int]:
    """The attributes of a diagonal of `x`."""
    ndim = spec_of(x).ndim
    if ndim < 2:
        raise ShapeError(f"{op}: takes two dimensions or more, got {ndim}")
    first, second = normalize_axis(op, axis1, ndim), normalize_axis(op, axis2, ndim)
    if first == second:
        raise ArgumentError(f"{op}: the two axes must differ, got {axis1} and {axis2}")
    return {"offset": integer(op, "offset", offset), "axis1": first, "axis2": second}


@atomic
def diagonal(
    x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Tensor:
    """A diagonal of the planes of two axes, as a new last axis.

    Parameters
    ----------
    x : Tensor or Variable
    offset : int
        Above 0 for diagonals above the main one, below 0 for those below.
    axis1, axis2 : int

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.diagonal(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    x = as_operand("diagonal", x)
    return ops.diagonal(x, **_plane("diagonal", x, offset, axis1, axis2))


@atomic
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Zeros with the last axis of `input` on a diagonal of the planes of two new axes.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.diag_embed(paddle.to_tensor([1, 2]), offset=1).tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    x = to_tensor(input) if isinstance(input, (list, tuple)) else input
    x = as_operand("diag_embed", x, "input")
    ndim = spec_of(x).ndim
    if not ndim:
        raise ShapeError("diag_embed: takes one dimension or more, got a 0-d array")
    first, second = (normalize_axis("diag_embed", d, ndim + 1) for d in (dim1, dim2))
    if first == second:
        raise ArgumentError(f"diag_embed: dim1 and dim2 must differ, got {dim1} and {dim2}")
    return ops.diag_embed(
        x, offset=integer("diag_embed", "offset", offset), axis1=first, axis2=second
    )


@atomic
def diag(x: Any, offset: int = 0, padding_value: float = 0, name: str | None = None) -> Tensor:
    """Of a vector the matrix that has it on a diagonal; of a matrix that diagonal.

    Parameters
    ----------
    x : Tensor or Variable
        Of two dimensions at most; a 0-d array is a vector of one element.
    offset : int
        Above 0 for diagonals above the main one, below 0 for those below.
    padding_value : number
        What stands beside the diagonal of a new matrix.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.diag(paddle.to_tensor([1, 2]), padding_value=9).tolist()
    [[1, 9], [9, 2]]
    >>> paddle.diag(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    x = as_operand("diag", x)
    ndim = spec_of(x).ndim
    if ndim > 2:
        raise ShapeError(f"diag: takes at most two dimensions, got {ndim}; use diagonal")
    if ndim == 2:
        found = ops.diagonal(x, **_plane("diag", x, offset, 0, 1))
        return ops.assign(found) if isinstance(found, Tensor) else found  # `diagonal` is a view
    line = x if ndim else ops.unsqueeze(x, axis=(0,))
    attrs = {"offset": integer("diag", "offset", offset), "axis1": 0, "axis2": 1}
    out = ops.diag_embed(line, **attrs)
    if isinstance(padding_value, (int, float, complex, np.generic)) and padding_value == 0:
        return out
    # A number of the array's own kind, or 0.5 would make floats of integers.
    value = padding_value if spec_of(x).dtype in INEXACT else int(padding_value)
    there = ops.diag_embed(ops.full_like(line, value=True, dtype="bool"), **attrs)
    return ops.where(there, out, value)


@atomic
def diagflat(x: Any, offset: int = 0, name: str | None = None) -> Tensor:
    """The matrix that has the elements of `x`, flattened, on a diagonal.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.diagflat(paddle.to_tensor([[1], [2]])).tolist()
    [[1, 0], [0, 2]]
    """
    x = as_operand("diagflat", x)
    flat = x if spec_of(x).ndim == 1 else ops.reshape(x, shape=(-1,))
    offset = integer("diagflat", "offset", offset)
    return ops.diag_embed(flat, offset=offset, axis1=0, axis2=1)


@atomic
def trace(
    x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Tensor:
    """The sum of a diagonal of the planes of two axes, in the dtype of `x`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.trace(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).item()
    5.0
    """
    x = as_operand("trace", x)
    line = ops.diagonal(x, **_plane("trace", x, offset, axis1, axis2))
    last = spec_of(line).ndim - 1
    total = ops.sum(line, axis=(last,), keepdims=False)
    dtype = spec_of(x).dtype
    return total if spec_of(total).dtype == dtype else ops.cast(total, dtype=dtype.name)


@atomic
def diagonal_scatter(
    x: Any, y: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Tensor:
    """`x` with `y` in the place of a diagonal, whose shape it must have.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.diagonal_scatter(paddle.zeros([2, 2]), paddle.ones([2])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _replaced("diagonal_scatter", x, y, offset, axis1, axis2)


@atomic
def fill_diagonal_tensor(
    x: Any, y: Any, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None
) -> Tensor:
    """`diagonal_scatter` under the name of the method."""
    return _replaced("fill_diagonal_tensor", x, y, offset, dim1, dim2)


@atomic
def fill_diagonal(
    x: Any, value: float, offset: int = 0, wrap: bool = False, name: str | None = None
) -> Tensor:
    """`x` with a number on a diagonal: of three axes or more, at the places ``[i, i, i, ...]``.

    Parameters
    ----------
    x : Tensor or Variable
        Of two axes, or of more that have one size.
    value : number
    offset : int
        Above 0 for a diagonal above the main one, below 0 for one below; of two axes.
    wrap : bool
        Whether the diagonal of a tall matrix begins anew below a row that it leaves out.
    """
    op = "fill_diagonal_"
    x = as_operand(op, x)
    require_bools(op, wrap=wrap)
    shape, offset = spec_of(x).shape, integer(op, "offset", offset)
    number = held(op, "value", real(op, "value", value), spec_of(x).dtype)
    if wrap or len(shape) != 2:
        there = _diagonal_mask(op, shape, offset, wrap)
    else:
        plane = {"offset": offset, "axis1": 0, "axis2": 1}
        line = ops.full_like(ops.diagonal(x, **plane), value=True, dtype="bool")
        there = ops.undiagonal_like(line, x, **plane)
    return ops.where(there, ops.full_like(x, value=number), x)


def _diagonal_mask(op: str, shape: Shape, offset: int, wrap: bool) -> Array:
    ndim = len(shape)
    if ndim < 2 or (ndim > 2 and (offset or len(set(shape)) > 1)):
        raise ShapeError(
            f"{op}: takes two axes, or more of one size with offset=0; x has shape "
            f"{format_shape(shape)}, and offset is {offset}"
        )
    if any(isinstance(size, Dim) for size in shape):
        raise ShapeError(f"{op}: {format_shape(shape)} must be known when the program is built")
    index = np.ogrid[tuple(slice(size) for size in shape)]
    row = index[0] % (shape[1] + 1) if wrap and ndim == 2 else index[0]
    mask = np.ones(shape, bool)
    for other in index[1:]:
        mask &= row + offset == other
    return mask


def _replaced(op: str, x: Any, y: Any, offset: Any, axis1: Any, axis2: Any) -> Any:
    x, y = as_operand(op, x), as_operand(op, y, "y")
    plane = _plane(op, x, offset, axis1, axis2)
    values = ops.undiagonal_like(ops.cast_like(y, x), x, **plane)
    there = ops.undiagonal_like(ops.full_like(y, value=True, dtype="bool"), x, **plane)
    return ops.where(there, values, x)
