"""Determinants of square matrices; reached in ``paddle.linalg``."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.dtypes import COMPLEX
from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import spec_of
from autograd_engine.tensor.linalg.inverse import square_matrices

__all__ = ["det", "slogdet"]


def det(x: Any, name: str | None = None) -> Tensor:
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
    return ops.det(square_matrices("det", x))


def slogdet(x: Any, name: str | None = None) -> Tensor:
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
    x = square_matrices("slogdet", x)
    sign, logarithm = ops.slogdet(x)
    if spec_of(x).dtype in COMPLEX:
        # The direction of a determinant turns; of one of size 1, which no power leads out of range.
        size = ops.exp(-logarithm / spec_of(x).shape[-1])
        size = ops.where(ops.isfinite(size), size, 1.0)
        sign = ops.sgn(ops.det(x * ops.unsqueeze(size, axis=(size.ndim, size.ndim + 1))))
    return ops.stack(sign, logarithm, axis=0)
