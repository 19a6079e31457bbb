"""What spreads or sums to the shape of another array."""

from __future__ import annotations

import math

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers
from autograd_engine.core.spec import Like

__all__ = ["spread"]

Axes = tuple[int, ...]


@lowers("sum_like")
def _sum_like(np: Loops, x: Traced, like: Like) -> Traced:
    lead = x.ndim - len(like.shape)
    axes = [k for k, d in enumerate(x.shape) if k < lead or (like.shape[k - lead] == 1 and d != 1)]
    return np.reduce("sum", x, axes).reshape(like.shape)


def spread(np: Loops, x: Traced, like: Like, axis: Axes, keepdims: bool) -> Traced:
    if not keepdims and x.ndim + len(axis) == len(like.shape):
        x = np.expand_dims(x, axis)
    return np.broadcast_to(x, like.shape)


@lowers("expand_like")
def _expand_like(
    np: Loops, x: Traced, like: Like, *, axis: Axes = (), keepdims: bool = True
) -> Traced:
    return spread(np, x, like, axis, keepdims)


@lowers("spread_like")
def _spread_like(np: Loops, x: Traced, like: Like, *, axis: Axes, keepdims: bool) -> Traced:
    count = math.prod(like.shape[a] for a in axis)
    return spread(np, x / (count or 1), like, axis, keepdims)
