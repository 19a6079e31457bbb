"""Inverses, determinants and linear systems. What is not in `__all__` is in ``paddle.linalg``."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.dims import Dim
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.namespace import ops
from autograd_engine.spec import format_shape, may_equal
from autograd_engine.tensor.decomposition import (
    eigvalsh,
    part,
    real_matrices,
    svdvals,
    swap,
)
from autograd_engine.tensor.operand import as_operand, spec_of

__all__ = ["inverse"]


def _square(op: str, x: Any, argument: str = "x") -> Any:
    x = real_matrices(op, x, argument)
    shape = spec_of(x).shape
    if not may_equal(shape[-1:], shape[-2:-1]):
        raise ShapeError(f"{op}: {argument} must hold square matrices, got {format_shape(shape)}")
    return x


def inverse(x: Any, name: str | None = None) -> Any:
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
    return ops.inv(_square("inverse", x))


def inv(x: Any, name: str | None = None) -> Any:
    """Inverses of square matrices; see `inverse`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.inv(paddle.to_tensor([[0.0, 2.0], [4.0, 0.0]])).tolist()
    [[0.0, 0.25], [0.5, 0.0]]
    """
    return ops.inv(_square("inv", x))


def det(x: Any, name: str | None = None) -> Any:
    """Determinants of square matrices ``[..., n, n]``, of shape ``[...]``.

    Notes
    -----
    The gradient is the matrix of cofactors. It and its derivative are right for singular matrices,
    too; the third derivative needs the inverse.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]], stop_gradient=False)
    >>> paddle.linalg.det(x).backward()
    >>> paddle.allclose(x.grad, paddle.to_tensor([[4.0, -2.0], [-2.0, 1.0]]), atol=1e-6).item()
    True
    """
    return ops.det(_square("det", x))


def slogdet(x: Any, name: str | None = None) -> Any:
    """Sign of the determinants and the logarithms of their absolute values, in one array.

    Returns
    -------
    ``[2, ...]`` for matrices ``[..., n, n]``. A singular matrix has sign 0 and the logarithm -inf,
    and no gradient: asking for one raises ArgumentError.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.slogdet(paddle.to_tensor([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [-1.0, 0.0]
    """
    return ops.stack(*ops.slogdet(_square("slogdet", x)), axis=0)


def solve(x: Any, y: Any, left: bool = True, name: str | None = None) -> Any:
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
    x, y = _square("solve", x), as_operand("solve", y, "y")
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
) -> Any:
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
    x = _square("triangular_solve", x)
    y = real_matrices("triangular_solve", y, "y")
    return ops.triangular_solve(
        x, y, upper=upper, transpose=transpose, unitriangular=unitriangular
    )


def cholesky_solve(x: Any, y: Any, upper: bool = False, name: str | None = None) -> Any:
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
    x, y = real_matrices("cholesky_solve", x), _square("cholesky_solve", y, "y")
    half = ops.triangular_solve(y, x, upper=upper, transpose=upper)
    return ops.triangular_solve(y, half, upper=upper, transpose=not upper)


def cholesky_inverse(x: Any, upper: bool = False, name: str | None = None) -> Any:
    """The inverse of the matrix whose Cholesky factor is `x`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.cholesky_inverse(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.25, 0.0], [0.0, 1.0]]
    """
    x = _square("cholesky_inverse", x)
    return cholesky_solve(ops.eye_like(x), x, upper)


def lu_solve(b: Any, lu: Any, pivots: Any, trans: str = "N", name: str | None = None) -> Any:
    """The solution X of ``A X = b`` from the factors and pivots that `linalg.lu` gave for A.

    Parameters
    ----------
    b : Tensor or Variable
        ``[..., n, k]``, with the leading axes of `lu`.
    trans : {"N", "T", "C"}
        Solve with A, or with its transpose.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> a = paddle.to_tensor([[0.0, 2.0], [4.0, 0.0]])
    >>> paddle.linalg.lu_solve(paddle.ones([2, 1]), *paddle.linalg.lu(a)).tolist()
    [[0.25], [0.5]]
    """
    b, lu = real_matrices("lu_solve", b, "b"), _square("lu_solve", lu, "lu")
    pivots = as_operand("lu_solve", pivots, "pivots")
    if trans not in ("N", "T", "C"):
        raise ArgumentError(f"lu_solve: trans must be 'N', 'T' or 'C', got {trans!r}")
    if trans == "N":
        half = ops.triangular_solve(
            lu, ops.exchange_rows(b, pivots), upper=False, unitriangular=True
        )
        return ops.triangular_solve(lu, half)
    half = ops.triangular_solve(lu, b, transpose=True)
    whole = ops.triangular_solve(lu, half, upper=False, transpose=True, unitriangular=True)
    return ops.exchange_rows(whole, pivots, backwards=True)


def _number(op: str, argument: str, value: Any) -> float:
    if isinstance(value, Tensor):
        value = value.item()
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        raise TypeError(f"{op}: {argument} must be a number, got {type(value).__name__}")
    return float(value)


def pinv(x: Any, rcond: Any = 1e-15, hermitian: bool = False, name: str | None = None) -> Any:
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
        return ops.pinv(real_matrices("pinv", x), rcond=cutoff)
    x = ops.mirror_triangle(_square("pinv", x))
    return ops.pinv(0.5 * (x + swap(x)), rcond=cutoff)


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(
    x: Any, y: Any, rcond: float | None = None, driver: str | None = None, name: str | None = None
) -> Any:
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
    x, y = real_matrices("lstsq", x), real_matrices("lstsq", y, "y")
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise ArgumentError(f"lstsq: driver must be one of {', '.join(_DRIVERS)}; got {driver!r}")
    m, n = _known_sizes("lstsq", x)
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


def _known_sizes(op: str, x: Any) -> tuple[int, int]:
    m, n = spec_of(x).shape[-2:]
    if isinstance(m, Dim) or isinstance(n, Dim):
        raise ShapeError(
            f"{op}: the sizes of the matrices {format_shape(spec_of(x).shape)} must be known; "
            "declare them in static.data"
        )
    return m, n


def matrix_rank(
    x: Any,
    tol: Any = None,
    hermitian: bool = False,
    atol: Any = None,
    rtol: Any = None,
    name: str | None = None,
) -> Any:
    """How many singular values exceed a threshold; int64, no gradient.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., m, n]``
    tol : float, optional
        The threshold.
    hermitian : bool
        The matrices are symmetric: the lower triangle is read.
    atol, rtol : float, optional
        The threshold is the larger of `atol` and `rtol` times the largest singular value. Without
        any of the three, rtol is the larger of m and n times the epsilon of the dtype.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.matrix_rank(paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]])).item()
    1
    """
    x = real_matrices("matrix_rank", x)
    values = ops.abs(eigvalsh(x)) if hermitian else svdvals(x)
    last = spec_of(values).ndim - 1
    if tol is not None:
        if atol is not None or rtol is not None:
            raise ArgumentError("matrix_rank: give tol, or atol and rtol, not both")
        threshold: Any = _threshold(tol)
    else:
        if rtol is None:
            unit = 0.0 if atol is not None else float(np.finfo(spec_of(values).dtype).eps)
            rtol = unit * max(_known_sizes("matrix_rank", x)) if unit else 0.0
        threshold = 0.0 if atol is None else _threshold(atol)
        if spec_of(values).shape[-1] != 0:
            largest = ops.max(values, axis=(last,), keepdims=True)
            threshold = ops.maximum(largest * _threshold(rtol), threshold)
    return ops.sum(ops.greater_than(values, threshold), axis=(last,))


def _threshold(value: Any) -> Any:
    """A number, or one for each matrix with an axis for its singular values."""
    if isinstance(value, (int, float)):
        return float(value)
    value = as_operand("matrix_rank", value, "tol")
    return ops.unsqueeze(value, axis=(spec_of(value).ndim,))


def cond(x: Any, p: float | str | None = None, name: str | None = None) -> Any:
    """Condition numbers of matrices, with respect to a norm.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., m, n]``; square unless p is None, 2 or -2.
    p : {None, "fro", "nuc", 1, -1, 2, -2, inf, -inf}
        The norm, as of `linalg.norm`; 2 for None.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.cond(paddle.to_tensor([[4.0, 0.0], [0.0, 2.0]])).item()
    2.0
    """
    from autograd_engine.tensor.norms import matrix_norm  # which imports this module's neighbours

    if p is None or p in (2, -2):
        values = svdvals(real_matrices("cond", x))
        largest, smallest = part(values, 0), part(values, -1)
        return smallest / largest if p == -2 else largest / smallest
    if p not in ("fro", "nuc", 1, -1, np.inf, -np.inf):
        raise ArgumentError(
            f"cond: p must be None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf; got {p!r}"
        )
    x = _square("cond", x)
    return matrix_norm(x, p) * matrix_norm(ops.inv(x), p)


def matrix_power(x: Any, n: int, name: str | None = None) -> Any:
    """Products of n equal square matrices; of their inverses for a negative n.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.matrix_power(paddle.to_tensor([[1.0, 1.0], [0.0, 1.0]]), 5).tolist()
    [[1.0, 5.0], [0.0, 1.0]]
    """
    x = _square("matrix_power", x)
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool):
        raise TypeError(f"matrix_power: n must be an int, got {n!r}")
    if n == 0:
        return ops.eye_like(x)
    square, left, out = (ops.inv(x) if n < 0 else x), abs(int(n)), None
    while True:
        left, odd = divmod(left, 2)
        if odd:
            out = square if out is None else ops.matmul(out, square)
        if not left:
            return ops.assign(out) if out is x else out
        square = ops.matmul(square, square)


def matrix_exp(x: Any, name: str | None = None) -> Any:
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
    return ops.matrix_exp(_square("matrix_exp", x))
