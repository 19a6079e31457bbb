"""Inverses and linear systems. What is not in `__all__` is in ``paddle.linalg``."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.linalg.decomposition import real_matrices, swap

__all__ = ["inverse"]


def square_matrices(op: str, x: Any, argument: str = "x") -> Any:
    x = real_matrices(op, x, argument)
    shape = spec_of(x).shape
    if not may_equal(shape[-1:], shape[-2:-1]):
        raise ShapeError(f"{op}: {argument} must hold square matrices, got {format_shape(shape)}")
    return x


def inverse(x: Any, name: str | None = None) -> Tensor:
    """Inverses of square matrices.

    Raises
    ------
    ArgumentError
        When a matrix is singular.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.inverse(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return ops.inv(square_matrices("inverse", x))


def inv(x: Any, name: str | None = None) -> Tensor:
    """Inverses of square matrices; see `inverse`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.inv(paddle.to_tensor([[0.0, 2.0], [4.0, 0.0]])).tolist()
    [[0.0, 0.25], [0.5, 0.0]]
    """
    return ops.inv(square_matrices("inv", x))


def solve(x: Any, y: Any, left: bool = True, name: str | None = None) -> Tensor:
    """The solution X of ``x X = y``, or of ``X x = y`` where not `left`.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., n, n]``
    y : Tensor or Variable
        ``[..., n, k]`` (``[..., k, n]`` where not `left`), or vectors: ``[n]``, or the shape of `x`
        without its last axis. Leading axes broadcast.

    Raises
    ------
    ArgumentError
        When a matrix is singular.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> a = paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> paddle.linalg.solve(a, paddle.to_tensor([2.0, 2.0])).tolist()
    [1.0, 0.5]
    """
    x, y = square_matrices("solve", x), as_operand("solve", y, "y")
    a, b = spec_of(x).shape, spec_of(y).shape
    vector = len(b) == 1 or (len(b) == len(a) - 1 and may_equal(a[:-1], b))
    if not vector:
        y = real_matrices("solve", y, "y")
    if left:
        if not vector:
            return ops.solve(x, y)
        out = ops.solve(x, ops.unsqueeze(y, axis=(len(b),)))
        return ops.squeeze(out, axis=(spec_of(out).ndim - 1,))
    if vector:
        raise ShapeError(
            f"solve: with left=False y must hold matrices [..., k, n], got {format_shape(b)}"
        )
    return swap(ops.solve(x, swap(y), transpose=True))


def triangular_solve(
    x: Any,
    y: Any,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    name: str | None = None,
) -> Tensor:
    """The solution X of ``x X = y``, where one triangle of `x` is read.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., n, n]``
    y : Tensor or Variable
        ``[..., n, k]``; leading axes broadcast.
    upper : bool
        Read the upper triangle, else the lower one.
    transpose : bool
        Solve with the transpose of that triangle.
    unitriangular : bool
        Take the diagonal to be 1, without reading it.

    Raises
    ------
    ArgumentError
        When there is a zero on the diagonal.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> a = paddle.to_tensor([[2.0, 1.0], [0.0, 4.0]])
    >>> paddle.linalg.triangular_solve(a, paddle.to_tensor([[3.0], [4.0]])).tolist()
    [[1.0], [1.0]]
    """
    x = square_matrices("triangular_solve", x)
    y = real_matrices("triangular_solve", y, "y")
    return ops.triangular_solve(x, y, upper=upper, transpose=transpose, unitriangular=unitriangular)


def cholesky_solve(x: Any, y: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """The solution X of ``A X = x``, where `y` is the Cholesky factor of A.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., n, k]``
    y : Tensor or Variable
        ``[..., n, n]``: L with A = L L', or with `upper` U with A = U' U.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> a = paddle.to_tensor([[4.0, 0.0], [0.0, 1.0]])
    >>> paddle.linalg.cholesky_solve(paddle.ones([2, 1]), paddle.linalg.cholesky(a)).tolist()
    [[0.25], [1.0]]
    """
    x, y = real_matrices("cholesky_solve", x), square_matrices("cholesky_solve", y, "y")
    half = ops.triangular_solve(y, x, upper=upper, transpose=upper)
    return ops.triangular_solve(y, half, upper=upper, transpose=not upper)


def cholesky_inverse(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """The inverse of the matrix whose Cholesky factor is `x`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.cholesky_inverse(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.25, 0.0], [0.0, 1.0]]
    """
    x = square_matrices("cholesky_inverse", x)
    return cholesky_solve(ops.eye_like(x), x, upper)


@atomic
def matrix_power(x: Any, n: int, name: str | None = None) -> Tensor:
    """Products of n equal square matrices; of their inverses for a negative n.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.matrix_power(paddle.to_tensor([[1.0, 1.0], [0.0, 1.0]]), 5).tolist()
    [[1.0, 5.0], [0.0, 1.0]]
    """
    x = square_matrices("matrix_power", x)
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool):
        raise TypeError(f"matrix_power: n must be an int, got {n!r}")
    if n == 0:
        return ops.eye_like(x)
    square, left = (ops.inv(x) if n < 0 else x), abs(int(n))
    out: Any = None
    while True:
        left, odd = divmod(left, 2)
        if odd:
            out = square if out is None else ops.matmul(out, square)
        if not left:
            return ops.assign(out) if out is x else out
        square = ops.matmul(square, square)


def matrix_exp(x: Any, name: str | None = None) -> Tensor:
    """The exponential of square matrices, I + x + x x / 2 + ...

    Notes
    -----
    Scaling and squaring with a Pade approximant of degree 13, in float64: N. J. Higham, "The
    scaling and squaring method for the matrix exponential revisited" (2005).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.matrix_exp(paddle.to_tensor([[0.0, 1.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    return ops.matrix_exp(square_matrices("matrix_exp", x))
