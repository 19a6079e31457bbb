"""Norms and distances along an axis."""

from __future__ import annotations

import math
from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.nn.functional.arguments import (
    as_floats,
    check_number,
    narrow,
    widen,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.tensor.arguments import axis_of
from autograd_engine.tensor.elementwise import clip

__all__ = ["cosine_similarity", "normalize", "pairwise_distance"]


def p_norm(x: Any, p: float, axis: int, keepdim: bool) -> Any:
    """The norm of order `p` along `axis`; where it is 0, so is its gradient."""
    axes = (axis,)
    if p == 0.0:
        counted = ops.cast_like(ops.not_equal(x, 0.0), x)
        return ops.sum(counted, axis=axes, keepdims=keepdim)
    if not math.isinf(p):
        return ops.p_norm(x, p=p, axis=axes, keepdims=keepdim)
    size = ops.abs(x)
    return (ops.max if p > 0.0 else ops.min)(size, axis=axes, keepdims=keepdim)


@atomic
def normalize(
    x: Any,
    p: float = 2,
    axis: int = 1,
    epsilon: float = 1e-12,
    name: str | None = None,
) -> Tensor:
    """x / max(norm of order `p` along `axis`, epsilon).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> normalize(paddle.to_tensor([[3.0, 4.0]])).numpy().round(4).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    x = as_floats("normalize", x)
    order, axis = check_number("normalize", "p", p), axis_of("normalize", x, axis)
    wide = widen(x)
    norm = p_norm(wide, order, axis, keepdim=True)
    return narrow(wide / ops.maximum(norm, check_number("normalize", "epsilon", epsilon)), x)


@atomic
def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """sum(x1 * x2) / max(norm(x1) * norm(x2), eps) along `axis`; the other axes broadcast.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1.0, 0.0], [1.0, 1.0]])
    >>> cosine_similarity(x, paddle.to_tensor([[2.0, 0.0], [1.0, -1.0]])).tolist()
    [1.0, 0.0]
    """
    op = "cosine_similarity"
    x1, x2 = as_floats(op, x1, "x1"), as_floats(op, x2, "x2")
    a, b = widen(x1), widen(x2)
    product = a * b
    axis = axis_of(op, product, axis)

    def total(x: Any) -> Any:
        return ops.sum(x, axis=(axis,), keepdims=False)

    # A vector of size 1 along the axis counts as often as it is repeated.
    one = ops.full_like(product, value=1.0)
    squares = total(ops.square(a) * one), total(ops.square(b) * one)
    norm = ops.sqrt(clip(squares[0] * squares[1], min=check_number(op, "eps", eps) ** 2))
    return narrow(total(product) / norm, product if a is x1 else x1)


@atomic
def pairwise_distance(
    x: Any,
    y: Any,
    p: float = 2.0,
    epsilon: float = 1e-6,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """The norm of order `p` of x - y + epsilon along the last axis.

    Parameters
    ----------
    x, y : Tensor or Variable
        ``[N, D]`` or ``[D]``
    p : float
        Infinite ones, 0 and negative ones too.
    epsilon : float
        Keeps the distance of equal points away from 0, where it has no derivative; with 0 that
        gradient is 0.
    keepdim : bool

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> pairwise_distance(paddle.to_tensor([3.0, 4.0]), paddle.zeros([2]), epsilon=0.0).item()
    5.0
    """
    op = "pairwise_distance"
    epsilon = check_number(op, "epsilon", epsilon)
    x, y = as_floats(op, x), as_floats(op, y, "y")
    gap = x - y
    wide = widen(gap)
    if epsilon:
        wide = wide + epsilon
    order = check_number(op, "p", p)
    return narrow(p_norm(wide, order, axis_of(op, gap, -1), keepdim), gap)
