"""Products of vectors and matrices."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.spec import (
    Shape,
    format_shape,
    matmul_shape,
    may_equal,
    normalize_axis,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.linalg.decomposition import cholesky, eigvalsh, svdvals as svdvals
from autograd_engine.tensor.linalg.inverse import inverse

__all__ = [
    "addmm",
    "baddbmm",
    "bmm",
    "cholesky",
    "dot",
    "eigvalsh",
    "inverse",
    "matmul",
    "matrix_transpose",
    "mm",
    "mv",
    "vecdot",
]


def matmul(
    x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Tensor:
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


def of_dimensions(op: str, x: Any, argument: str, *allowed: int) -> Any:
    x = as_operand(op, x, argument)
    if spec_of(x).ndim not in allowed:
        raise ShapeError(
            f"{op}: {argument} must have {' or '.join(map(str, allowed))} dimensions, got "
            f"{format_shape(spec_of(x).shape)}; use matmul for other ranks"
        )
    return x


def same_sizes(op: str, x: Any, y: Any) -> Any:
    """`y`, seen to have the shape of `x`: when it runs, where a program cannot know."""
    a, b = spec_of(x).shape, spec_of(y).shape
    if not may_equal(a, b):
        raise ShapeError(
            f"{op}: x {format_shape(a)} and y {format_shape(b)} must have one shape; expand one"
        )
    return y if a == b else ops.same_shape(y, x, names=("y", "x"))


def mm(input: Any, mat2: Any, name: str | None = None) -> Tensor:
    """Matrix product, as `matmul` without transposition.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.mm(paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    return matmul(input, mat2)


def bmm(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Products of as many matrices ``[b, m, k]`` with ``[b, k, n]``; batches do not broadcast.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.bmm(paddle.ones([2, 1, 3]), paddle.ones([2, 3, 1])).tolist()
    [[[3.0]], [[3.0]]]
    """
    x, y = of_dimensions("bmm", x, "x", 3), of_dimensions("bmm", y, "y", 3)
    a, b = spec_of(x).shape, spec_of(y).shape
    if not may_equal(a[:1], b[:1]):
        raise ShapeError(
            f"bmm: x {format_shape(a)} and y {format_shape(b)} differ in the size of their "
            f"batches, {a[0]} and {b[0]}; use matmul to broadcast"
        )
    return matmul(x, y)


@atomic
def mv(x: Any, vec: Any, name: str | None = None) -> Tensor:
    """Product of a matrix ``[m, n]`` with a vector ``[n]``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.mv(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.ones([2])).tolist()
    [3.0, 7.0]
    """
    return matmul(of_dimensions("mv", x, "x", 2), of_dimensions("mv", vec, "vec", 1))


@atomic
def dot(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Inner product of vectors; of matrices, of each row with the same row of the other.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.dot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
    11.0
    """
    x, y = of_dimensions("dot", x, "x", 1, 2), of_dimensions("dot", y, "y", 1, 2)
    y = same_sizes("dot", x, y)
    return matmul(x, y) if spec_of(x).ndim == 1 else ops.sum(x * y, axis=(1,))


@atomic
def vecdot(x: Any, y: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """Inner products of the vectors along `axis`; the other axes broadcast.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.vecdot(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.ones([2])).tolist()
    [3.0, 7.0]
    """
    products = as_operand("vecdot", x) * as_operand("vecdot", y, "y")
    return ops.sum(products, axis=(normalize_axis("vecdot", axis, spec_of(products).ndim),))


def _added(op: str, input: Any, product: Any, beta: float, alpha: float) -> Any:
    input = as_operand(op, input, "input")
    return (input if beta == 1 else input * beta) + (product if alpha == 1 else product * alpha)


@atomic
def addmm(
    input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """beta * input + alpha * (x @ y) of matrices; `input` broadcasts.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.addmm(paddle.ones([2]), paddle.ones([2, 3]), paddle.ones([3, 2]), beta=2.0).tolist()
    [[5.0, 5.0], [5.0, 5.0]]
    """
    x, y = of_dimensions("addmm", x, "x", 2), of_dimensions("addmm", y, "y", 2)
    return _added("addmm", input, matmul(x, y), beta, alpha)


@atomic
def baddbmm(
    input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """beta * input + alpha * (x @ y) of batches of matrices; `input` broadcasts.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.ones([2, 1, 1])
    >>> paddle.baddbmm(x, x, x, alpha=3.0).tolist()
    [[[4.0]], [[4.0]]]
    """
    return _added("baddbmm", input, bmm(x, y), beta, alpha)


def matrix_transpose(x: Any, name: str | None = None) -> Tensor:
    """The last two axes exchanged.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.matrix_transpose(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
    [[1, 3], [2, 4]]
    """
    x = as_operand("matrix_transpose", x)
    n = spec_of(x).ndim
    if n < 2:
        raise ShapeError(f"matrix_transpose: takes two dimensions or more, got {n}; use unsqueeze")
    return ops.transpose(x, perm=(*range(n - 2), n - 1, n - 2))
