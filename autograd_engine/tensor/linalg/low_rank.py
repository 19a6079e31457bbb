"""Decompositions of matrices of low rank, by products with random vectors.

N. Halko, P. G. Martinsson, J. A. Tropp, "Finding structure with randomness" (2011), algorithm 4.4.
"""

from __future__ import annotations

from typing import Any, Final

from autograd_engine.core.checks import int_at_least, require_bools, require_floats
from autograd_engine.core.spec import broadcast_shapes
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.conversion import count
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.linalg.decomposition import known_sizes, matrices, qr, svd
from autograd_engine.tensor.linalg.products import matrix_transpose
from autograd_engine.tensor.reduction import mean

__all__ = ["pca_lowrank", "svd_lowrank"]

_MOST_ROUNDS: Final = 1000


@atomic
def svd_lowrank(
    x: Any,
    q: int | None = None,
    niter: int = 2,
    M: Any = None,  # noqa: N803 - the public name
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The `q` largest singular values, and their vectors: about x = U diag(S) V'.

    It is exact, but for rounding, where the rank of `x` is at most `q`. The result depends on the
    random generator (`paddle.seed`) where it is not.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., m, n]``, known while a program is built.
    q : int, optional
        By default 6, or the smaller of m and n if that is less.
    niter : int
        Products with ``x x'`` that sharpen the result.
    M : Tensor or Variable, optional
        Is taken off `x` first, which it is broadcast to.

    Returns
    -------
    U ``[..., m, q]``, S ``[..., q]`` (the largest first) and V ``[..., n, q]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[3.0, 0.0], [4.0, 0.0]])
    >>> u, s, v = paddle.linalg.svd_lowrank(x, q=1)
    >>> round(s.item(), 4)
    5.0
    """
    return _largest("svd_lowrank", x, q, niter, M)


@atomic
def pca_lowrank(
    x: Any, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components: `svd_lowrank` of `x` without the means of its columns.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., m, n]``, a sample in each row; known while a program is built.
    q : int, optional
        How many components; by default 6, or the smaller of m and n if that is less.
    center : bool
        Whether to take the means off.
    niter : int

    Returns
    -------
    U ``[..., m, q]``, S ``[..., q]`` and V ``[..., n, q]``: the components are the columns of V

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1.0, 7.0], [3.0, 7.0]])
    >>> u, s, v = paddle.linalg.pca_lowrank(x, q=1)
    >>> v.abs().tolist()
    [[1.0], [0.0]]
    """
    x = matrices("pca_lowrank", x)
    require_bools("pca_lowrank", center=center)
    means = mean(x, axis=-2, keepdim=True) if center else None
    return _largest("pca_lowrank", x, q, niter, means)


def _largest(op: str, x: Any, q: Any, niter: Any, means: Any) -> tuple[Tensor, Tensor, Tensor]:
    x = matrices(op, x)
    require_floats(op, "x", spec_of(x).dtype)
    m, n = known_sizes(op, x)
    rank = min(6, m, n) if q is None else count(op, "q", q)
    rounds = int_at_least(op, "niter", niter, 0, _MOST_ROUNDS)
    if rank > min(m, n):
        raise ArgumentError(f"{op}: q must be at most {min(m, n)}, the smaller size; got {rank}")
    if means is not None:
        means = as_operand(op, means, "M")
        broadcast_shapes(op, spec_of(x).shape, spec_of(means).shape)
        x = x - ops.cast_like(means, x)
    wide = m < n
    tall, flat = (matrix_transpose(x), x) if wide else (x, matrix_transpose(x))
    like = ops.getitem(flat, key=(..., slice(0, rank)))
    drawn = ops.random_like(like, distribution="gaussian", a=0.0, b=1.0)
    basis = qr(ops.matmul(tall, drawn))[0]
    for _ in range(rounds):
        basis = qr(ops.matmul(tall, qr(ops.matmul(flat, basis))[0]))[0]
    left, values, right = svd(ops.matmul(basis, tall, transpose_x=True))
    u, v = ops.matmul(basis, left), matrix_transpose(right)
    return (v, values, u) if wide else (u, values, v)
