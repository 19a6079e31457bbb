"""Matrix products."""

from __future__ import annotations

from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.namespace import ops
from autograd_engine.spec import Shape, matmul_shape
from autograd_engine.tensor.operand import as_operand, spec_of

__all__ = ["matmul"]


def matmul(
    x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Any:
    """Matrix product; ``x @ y`` is the same.

    Parameters
    ----------
    x, y : Tensor or Variable
        Matrices of shapes ``[..., m, k]`` and ``[..., k, n]``, whose leading axes broadcast;
        vectors of length k are taken as a row and as a column.
    transpose_x, transpose_y : bool
        Use the transpose of the last two axes. Has no effect on a vector.

    Raises
    ------
    ShapeError
        When the shapes do not fit.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> a = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> (a @ a).tolist()
    [[7.0, 10.0], [15.0, 22.0]]
    """
    if x.__class__ is Tensor is y.__class__ and x._data.ndim == 2 == y._data.ndim:
        return ops.matmul(x, y, transpose_x=transpose_x, transpose_y=transpose_y)
    x, y = as_operand("matmul", x), as_operand("matmul", y, "y")
    row, column = spec_of(x).ndim == 1, spec_of(y).ndim == 1
    if row or column:
        return _with_vectors(x, y, row, column, transpose_x, transpose_y)
    shape, other = spec_of(x).shape, spec_of(y).shape
    if len(shape) > 2 and len(other) == 2 and not transpose_x:
        other = other[::-1] if transpose_y else other
        if shape[-1] != other[0]:
            matmul_shape("matmul", shape, other)  # so that an error speaks of these shapes
        # One large product instead of many small ones, and in the gradient of y as well. It has
        # other bits, so the ranks alone decide, and not which sizes a program happens to know.
        flat = ops.flatten_lead(x)
        out = ops.matmul(flat, y, transpose_x=False, transpose_y=transpose_y)
        return ops.unflatten_lead(out, x)
    return ops.matmul(x, y, transpose_x=transpose_x, transpose_y=transpose_y)


def _with_vectors(
    x: Any, y: Any, row: bool, column: bool, transpose_x: bool, transpose_y: bool
) -> Any:
    def shape(v: Any, transposed: bool) -> Shape:
        sizes = spec_of(v).shape
        return (*sizes[:-2], *sizes[:-3:-1]) if transposed and len(sizes) > 1 else sizes

    # Checked here, so that an error speaks of the shapes that the caller sees.
    matmul_shape("matmul", shape(x, transpose_x), shape(y, transpose_y))
    out = ops.matmul(
        ops.unsqueeze(x, axis=(0,)) if row else x,
        ops.unsqueeze(y, axis=(1,)) if column else y,
        transpose_x=transpose_x and not row,
        transpose_y=transpose_y and not column,
    )
    ndim = spec_of(out).ndim
    gone = (*((ndim - 2,) if row else ()), *((ndim - 1,) if column else ()))
    return ops.squeeze(out, axis=gone)
