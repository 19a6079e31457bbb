"""Inverses, pseudo-inverses and linear systems.

What is not in `__all__` is reached as ``paddle.linalg.<name>``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.checks import as_number
from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.linalg.decomposition import (
    known_sizes,
    matrices,
    matrix_rank,
    svdvals,
    swap,
)

__all__ = ["inverse"]


def square_matrices(op: str, x: Any, argument: str = "x") -> Any:
    x = matrices(op, x, argument)
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
        y = matrices("solve", y, "y")
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
    y = matrices("triangular_solve", y, "y")
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
    x, y = matrices("cholesky_solve", x), square_matrices("cholesky_solve", y, "y")
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
        raise ArgumentTypeError(f"matrix_power: n must be an int, got {n!r}")
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


def _number(op: str, argument: str, value: Any) -> float:
    value = as_number(value)
    if isinstance(value, SymbolicNumber):
        return value  # type: ignore[return-value]
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ArgumentTypeError(f"{op}: {argument} must be a number, got {type(value).__name__}")
    return float(value)


def pinv(x: Any, rcond: Any = 1e-15, hermitian: bool = False, name: str | None = None) -> Tensor:
    """Pseudo-inverses of matrices ``[..., m, n]``, of shape ``[..., n, m]``.

    Parameters
    ----------
    x : Tensor or Variable
    rcond : float
        Singular values up to this part of the largest count as 0.
    hermitian : bool
        The matrices are symmetric: the lower triangle is read, and the gradient is symmetric.

    Notes
    -----
    The gradient is that of matrices whose rank stays as it is: right where the rank is full, while
    elsewhere the pseudo-inverse is not continuous.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.pinv(paddle.to_tensor([[2.0, 0.0]])).tolist()
    [[0.5], [0.0]]
    """
    cutoff = _number("pinv", "rcond", rcond)
    if not hermitian:
        return ops.pinv(matrices("pinv", x), rcond=cutoff)
    x = ops.mirror_triangle(square_matrices("pinv", x))
    return ops.pinv(0.5 * (x + swap(x)), rcond=cutoff)


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@atomic
def lstsq(
    x: Any, y: Any, rcond: float | None = None, driver: str | None = None, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The X of least norm among those with the least sum of squares of ``x X - y``.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., m, n]``, m and n known.
    y : Tensor or Variable
        ``[..., m, k]``
    rcond : float, optional
        Singular values up to this part of the largest count as 0; by default as many times 1e-7
        (1e-15 for float64) as the larger of m and n.
    driver : {"gels", "gelsy", "gelsd", "gelss"}, optional
        Says what else is returned, not how it is computed; "gelsy" by default.

    Returns
    -------
    The solution ``[..., n, k]``; the sums of squares ``[..., k]``, empty for "gelsy" and unless
    m > n; the rank as int32, empty for "gels"; the singular values, empty for "gels" and "gelsy".
    The gradient is that of `linalg.pinv`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> paddle.linalg.lstsq(x, paddle.ones([3, 1]))[0].tolist()
    [[1.0], [0.5]]
    """
    x, y = matrices("lstsq", x), matrices("lstsq", y, "y")
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise ArgumentError(f"lstsq: driver must be one of {', '.join(_DRIVERS)}; got {driver!r}")
    m, n = known_sizes("lstsq", x)
    if not may_equal((m,), spec_of(y).shape[-2:-1]):
        raise ShapeError(
            f"lstsq: x {format_shape(spec_of(x).shape)} and y {format_shape(spec_of(y).shape)} "
            "must have as many rows"
        )
    name = spec_of(x).dtype.name
    if rcond is None:
        rcond = (1e-15 if name == "float64" else 1e-7) * max(m, n)
    solution = ops.matmul(ops.pinv(x, rcond=_number("lstsq", "rcond", rcond)), y)

    def nothing(dtype: str) -> Any:
        return ops.full(shape=(0,), value=0, dtype=dtype)

    residuals = nothing(spec_of(solution).dtype.name)
    values = residuals
    if driver != "gelsy" and m > n:
        rest = ops.matmul(x, solution) - y
        residuals = ops.sum(ops.square(rest), axis=(spec_of(rest).ndim - 2,))
    if driver == "gels":
        rank = nothing("int64")
    else:
        rank = ops.cast(matrix_rank(x, rtol=rcond), dtype="int32")
    if driver in ("gelsd", "gelss"):
        values = svdvals(x)
    return solution, residuals, rank, values
