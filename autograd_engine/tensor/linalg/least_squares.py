"""Pseudo-inverses, least squares, ranks and condition numbers; reached in ``paddle.linalg``."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.linalg.decomposition import (
    eigvalsh,
    part,
    real_matrices,
    svdvals,
    swap,
)
from autograd_engine.tensor.linalg.inverse import square_matrices

__all__ = ["cond", "lstsq", "matrix_rank", "pinv"]


def _number(op: str, argument: str, value: Any) -> float:
    if isinstance(value, Tensor):
        value = value.item()
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        raise TypeError(f"{op}: {argument} must be a number, got {type(value).__name__}")
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
        return ops.pinv(real_matrices("pinv", x), rcond=cutoff)
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


@atomic
def matrix_rank(
    x: Any,
    tol: Any = None,
    hermitian: bool = False,
    atol: Any = None,
    rtol: Any = None,
    name: str | None = None,
) -> Tensor:
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


@atomic
def cond(x: Any, p: float | str | None = None, name: str | None = None) -> Tensor:
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
    from autograd_engine.tensor.linalg.norms import matrix_norm

    if p is None or p in (2, -2):
        values = svdvals(real_matrices("cond", x))
        largest, smallest = part(values, 0), part(values, -1)
        return smallest / largest if p == -2 else largest / smallest
    if p not in ("fro", "nuc", 1, -1, np.inf, -np.inf):
        raise ArgumentError(
            f"cond: p must be None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf; got {p!r}"
        )
    x = square_matrices("cond", x)
    return matrix_norm(x, p) * matrix_norm(ops.inv(x), p)
