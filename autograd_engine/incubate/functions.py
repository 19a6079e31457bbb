"""Functions of ``paddle.incubate``: older names, and masked softmax in one call."""

from __future__ import annotations

import math
from typing import Any

from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.geometric.segment import reindex_graph, send_u_recv
from autograd_engine.nn.functional.arguments import as_floats, reduce_loss
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "graph_reindex",
    "graph_send_recv",
    "identity_loss",
    "softmax_mask_fuse",
    "softmax_mask_fuse_upper_triangle",
]


@atomic
def softmax_mask_fuse(x: Any, mask: Any, name: str | None = None) -> Tensor:
    """softmax(x + mask) along the last axis.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, mask = paddle.zeros([1, 1, 1, 2]), paddle.to_tensor([[[[0.0, -1e9]]]])
    >>> paddle.incubate.softmax_mask_fuse(x, mask).tolist()
    [[[[1.0, 0.0]]]]
    """
    op = "softmax_mask_fuse"
    x, mask = as_floats(op, x), as_operand(op, mask, "mask")
    total = ops.add(x, mask)
    return ops.softmax(total, axis=_last(op, total))


@atomic
def softmax_mask_fuse_upper_triangle(x: Any) -> Tensor:
    """softmax along the last axis of what is not above the diagonal of the last two.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.incubate.softmax_mask_fuse_upper_triangle(paddle.zeros([1, 1, 2, 2])).tolist()
    [[[[1.0, 0.0], [0.5, 0.5]]]]
    """
    op = "softmax_mask_fuse_upper_triangle"
    x = as_floats(op, x)
    axis = _last(op, x)
    seen = ops.not_equal(ops.tril(ops.full_like(x, value=1.0)), 0.0)
    return ops.softmax(ops.where(seen, x, -math.inf), axis=axis)


def _last(op: str, x: Any) -> int:
    shape = spec_of(x).shape
    if len(shape) < 2:
        raise ShapeError(f"{op}: x must have two axes at least, got {format_shape(shape)}")
    return len(shape) - 1


@atomic
def identity_loss(x: Any, reduction: str | int = "none") -> Tensor:
    """`x`, its mean or its sum.

    Parameters
    ----------
    reduction : {"sum", "mean", "none"} or {0, 1, 2}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.incubate.identity_loss(paddle.to_tensor([1.0, 2.0]), "mean").item()
    1.5
    """
    known = ("sum", "mean", "none")
    how = reduction.lower() if isinstance(reduction, str) else reduction
    if isinstance(how, int) and not isinstance(how, bool) and 0 <= how < len(known):
        how = known[how]
    if how not in known:
        raise ArgumentError(
            "identity_loss: reduction must be 'sum', 'mean' or 'none', or the number of one of "
            f"them, got {reduction!r}"
        )
    return reduce_loss(ops.assign(as_floats("identity_loss", x)), str(how))


def graph_send_recv(
    x: Any,
    src_index: Any,
    dst_index: Any,
    pool_type: str = "sum",
    out_size: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`paddle.geometric.send_u_recv`, of which `pool_type` is the `reduce_op`."""
    return send_u_recv(x, src_index, dst_index, pool_type, out_size)


def graph_reindex(
    x: Any,
    neighbors: Any,
    count: Any,
    value_buffer: Any = None,
    index_buffer: Any = None,
    flag_buffer_hashtable: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`paddle.geometric.reindex_graph`; buffers are accepted for the reference's sake."""
    return reindex_graph(x, neighbors, count)
