"""Triangular factors of matrices with their rows exchanged; reached in ``paddle.linalg``."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.dims import Dim
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.linalg.decomposition import matrices, part
from autograd_engine.tensor.linalg.inverse import square_matrices

__all__ = ["lu", "lu_solve", "lu_unpack"]


def lu(
    x: Any, pivot: bool = True, get_infos: bool = False, name: str | None = None
) -> tuple[Tensor, ...]:
    """Triangular factors of x with its rows exchanged, P' x = L U, in one array.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., m, n]``; k is the smaller of m and n.
    pivot : bool
        Rows are always exchanged: False is refused.
    get_infos : bool
        Return as well, for each matrix, 0 or the place (from 1) of the first pivot that is 0.

    Returns
    -------
    L below the diagonal (whose own is 1) and U on and above it ``[..., m, n]``; the pivots
    ``[..., k]`` as int32: row i was exchanged with row pivots[i] - 1, in this order. Pass both to
    `linalg.lu_unpack` or `linalg.lu_solve`.

    Notes
    -----
    Square, nonsingular matrices have a gradient; others have none.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> factors, pivots = paddle.linalg.lu(paddle.to_tensor([[0.0, 1.0], [2.0, 3.0]]))
    >>> factors.tolist(), pivots.tolist()
    ([[2.0, 3.0], [0.0, 1.0]], [2, 2])
    """
    x = matrices("lu", x)
    if not pivot:
        raise ArgumentError("lu: without exchanges of rows it is unstable: use pivot=True")
    m, n = spec_of(x).shape[-2:]
    known = not isinstance(m, Dim) and not isinstance(n, Dim)
    factors, pivots, info = (ops.lu_rectangular if known and m != n else ops.lu)(x)
    return (factors, pivots, info) if get_infos else (factors, pivots)


def lu_unpack(
    x: Any,
    y: Any,
    unpack_ludata: bool = True,
    unpack_pivots: bool = True,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """P, L and U from the factors and pivots of `linalg.lu`: the matrix was P L U.

    Parameters
    ----------
    x : Tensor or Variable
        The factors, ``[..., m, n]``; k is the smaller of m and n. A program that does not know m
        and n takes them to be equal.
    y : Tensor or Variable
        The pivots, ``[..., k]``.
    unpack_ludata, unpack_pivots : bool
        Without them L and U, or P, are None.

    Returns
    -------
    P ``[..., m, m]``, L ``[..., m, k]``, U ``[..., k, n]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> factors, pivots = paddle.linalg.lu(paddle.to_tensor([[0.0, 1.0], [2.0, 3.0]]))
    >>> p, l, u = paddle.linalg.lu_unpack(factors, pivots)
    >>> (p @ l @ u).tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    x, y = matrices("lu_unpack", x), as_operand("lu_unpack", y, "y")
    p = ops.permutation_like(y, x) if unpack_pivots else None
    if not unpack_ludata:
        return p, None, None
    m, n = spec_of(x).shape[-2:]
    low, up = x, x
    if not isinstance(m, Dim) and not isinstance(n, Dim):
        low = part(x, slice(0, n)) if m >= n else part(x, slice(0, m))
        up = part(x, slice(0, n), slice(None)) if m > n else x
    strict = ops.tril(low, diagonal=-1)
    return p, strict + ops.eye_like(strict), ops.triu(up)


@atomic
def lu_solve(b: Any, lu: Any, pivots: Any, trans: str = "N", name: str | None = None) -> Tensor:
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
    b, lu = matrices("lu_solve", b, "b"), square_matrices("lu_solve", lu, "lu")
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
