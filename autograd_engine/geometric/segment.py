"""Rows put together by numbers: segments, graphs and messages along their edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.checks import is_int
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import FLOATS, REALS, iinfo, instead_of_complex
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError, ShapeError
from autograd_engine.ops.infer import index_dtype
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.sorting import argsort, unique

__all__ = [
    "reindex_graph",
    "reindex_heter_graph",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_sum",
    "send_u_recv",
    "send_ue_recv",
    "send_uv",
]

_MESSAGES = {"add": ops.add, "sub": ops.subtract, "mul": ops.multiply, "div": ops.divide}
_REDUCTIONS = ("sum", "mean", "max", "min")


def _chosen(op: str, argument: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        listed = ", ".join(map(repr, known[:-1]))
        raise ArgumentError(f"{op}: {argument} must be {listed} or {known[-1]!r}, got {value!r}")


def index_argument(op: str, argument: str, index: Any) -> Any:
    """``[E]``, from ``[E]`` or ``[E, 1]``."""
    index = as_operand(op, index, argument)
    index_dtype(op, argument, spec_of(index))
    shape = spec_of(index).shape
    if len(shape) != 1 and not (len(shape) == 2 and may_equal(shape[1:], (1,))):
        raise ShapeError(f"{op}: {argument} must be [E], got {format_shape(shape)}")
    return index if len(shape) == 1 else ops.squeeze(index, axis=(1,))


def numeric_argument(op: str, argument: str, x: Any) -> Any:
    x = as_operand(op, x, argument)
    spec = spec_of(x)
    if spec.dtype not in REALS:
        raise DTypeError(
            f"{op}: {argument} must hold real numbers, got {spec.dtype.name}"
            f"{instead_of_complex(spec.dtype)}"
        )
    if spec.ndim < 1:
        raise ShapeError(
            f"{op}: {argument} must have rows, [N, ...], got {format_shape(spec.shape)}"
        )
    return x


def _combined(how: str, x: Any, index: Any, counts: Any) -> Any:
    """The rows of ``x = [E, ...]`` put together at `index`, 0 where there are none.

    `counts` says how many there are, ``[S]``.
    """
    rest = spec_of(x).shape[1:]
    column = ops.reshape(counts, shape=(-1, *[1] * len(rest)))
    like = ops.cast_like(ops.expand(column, shape=(-1, *rest)), x)
    if how in ("sum", "mean"):
        total = ops.scatter_add_like(x, index, like, axis=0)
        if how == "sum":
            return total
        return ops.cast_like(ops.divide(total, ops.cast_like(ops.maximum(column, 1), total)), x)
    dtype = spec_of(x).dtype
    least = -np.inf if dtype in FLOATS else iinfo(dtype).min
    most = np.inf if dtype in FLOATS else iinfo(dtype).max
    extremum, start = (ops.index_maximum, least) if how == "max" else (ops.index_minimum, most)
    out = extremum(ops.full_like(like, value=start), x, index, key=("index",))
    return ops.where(ops.greater_than(column, 0), out, ops.full_like(like, value=0))


def _segments(how: str, data: Any, segment_ids: Any) -> Any:
    op = f"segment_{how}"
    data, index = numeric_argument(op, "data", data), index_argument(op, "segment_ids", segment_ids)
    if not may_equal(spec_of(index).shape, spec_of(data).shape[:1]):
        raise ShapeError(
            f"{op}: segment_ids must have a number for each row of data "
            f"{format_shape(spec_of(data).shape)}, got {format_shape(spec_of(index).shape)}"
        )
    counts = ops.row_counts(index, index, op=op, argument="segment_ids", size=None, grows=True)
    return _combined(how, data, index, counts)


@atomic
def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """Sums of the rows of each segment.

    Parameters
    ----------
    data : Tensor or Variable
        ``[N, ...]``
    segment_ids : Tensor or Variable
        ``[N]``, integers from 0 on: the segment of each row. They need not be in order.

    Returns
    -------
    ``[largest id + 1, ...]``; zeros for a segment without rows.

    Raises
    ------
    IndexError, ShapeError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> data = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> paddle.geometric.segment_sum(data, paddle.to_tensor([0, 0, 2])).tolist()
    [[4.0, 6.0], [0.0, 0.0], [5.0, 6.0]]
    """
    return _segments("sum", data, segment_ids)


@atomic
def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """Means of the rows of each segment; see `segment_sum`. Of integers they are integers."""
    return _segments("mean", data, segment_ids)


@atomic
def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The maxima of the rows of each segment; see `segment_sum`. Ties share the gradient."""
    return _segments("max", data, segment_ids)


@atomic
def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The minima of the rows of each segment; see `segment_sum`. Ties share the gradient."""
    return _segments("min", data, segment_ids)


# --- messages: an edge leads from a row (a node) to another


def _edges(op: str, src_index: Any, dst_index: Any) -> tuple[Any, Any]:
    src, dst = (
        index_argument(op, "src_index", src_index),
        index_argument(op, "dst_index", dst_index),
    )
    if not may_equal(spec_of(src).shape, spec_of(dst).shape):
        raise ShapeError(
            f"{op}: src_index and dst_index must have one shape, got "
            f"{format_shape(spec_of(src).shape)} and {format_shape(spec_of(dst).shape)}"
        )
    return src, dst


def _received(op: str, how: str, x: Any, messages: Any, dst: Any, out_size: Any) -> Any:
    if isinstance(out_size, Variable):
        raise ArgumentError(f"{op}: out_size must be an int while a program is built")
    if isinstance(out_size, (Tensor, np.ndarray)):
        out_size = out_size.item()
    if out_size is not None and not is_int(out_size):
        raise ArgumentError(f"{op}: out_size must be an int, got {out_size!r}")
    size = None if out_size is None or out_size <= 0 else int(out_size)
    counts = ops.row_counts(dst, x, op=op, argument="dst_index", size=size, grows=False)
    return _combined(how, messages, dst, counts)


def _aligned(op: str, x: Any, y: Any) -> tuple[Any, Any]:
    """Both with the same number of axes, those that are missing after the first."""
    ndim = max(spec_of(x).ndim, spec_of(y).ndim, 2)

    def aligned(v: Any) -> Any:
        missing = ndim - spec_of(v).ndim
        return ops.unsqueeze(v, axis=tuple(range(1, 1 + missing))) if missing else v

    x, y = aligned(x), aligned(y)
    for a, b in zip(spec_of(x).shape[1:], spec_of(y).shape[1:], strict=True):
        if not isinstance(a, Dim) and not isinstance(b, Dim) and a != b and 1 not in (a, b):
            raise ShapeError(
                f"{op}: rows of x {format_shape(spec_of(x).shape)} and y "
                f"{format_shape(spec_of(y).shape)} do not broadcast"
            )
    return x, y


@atomic
def send_u_recv(
    x: Any,
    src_index: Any,
    dst_index: Any,
    reduce_op: str = "sum",
    out_size: int | None = None,
    name: str | None = None,
) -> Tensor:
    """What each node receives along edges: rows of `x` from the other ends, put together.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, ...]``, a row for each node.
    src_index, dst_index : Tensor or Variable
        ``[E]``, integers: from which node to which each edge leads.
    reduce_op : {"sum", "mean", "max", "min"}
        Ties of "max" and "min" share the gradient.
    out_size : int, optional
        How many nodes receive; N for None, and for 0 and less.

    Returns
    -------
    ``[out_size, ...]``; zeros for a node that no edge leads to.

    Raises
    ------
    IndexError, ShapeError, ArgumentError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1.0], [2.0], [4.0]])
    >>> src, dst = paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 1])
    >>> paddle.geometric.send_u_recv(x, src, dst).tolist()
    [[0.0], [5.0], [2.0]]
    """
    op = "send_u_recv"
    _chosen(op, "reduce_op", reduce_op, _REDUCTIONS)
    x = numeric_argument(op, "x", x)
    src, dst = _edges(op, src_index, dst_index)
    return _received(op, reduce_op, x, ops.gather(x, src, axis=0), dst, out_size)


@atomic
def send_ue_recv(
    x: Any,
    y: Any,
    src_index: Any,
    dst_index: Any,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`send_u_recv` of rows of nodes combined with what their edges have.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, ...]``, a row for each node.
    y : Tensor or Variable
        ``[E, ...]``, a row for each edge; rows broadcast, axes that are missing come first.
    message_op : {"add", "sub", "mul", "div"}
    src_index, dst_index, reduce_op, out_size
        As of `send_u_recv`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.to_tensor([[1.0], [2.0], [4.0]]), paddle.to_tensor([10.0, 1.0, 1.0])
    >>> src, dst = paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 1])
    >>> paddle.geometric.send_ue_recv(x, y, src, dst, "mul").tolist()
    [[0.0], [14.0], [2.0]]
    """
    op = "send_ue_recv"
    _chosen(op, "message_op", message_op, tuple(_MESSAGES))
    _chosen(op, "reduce_op", reduce_op, _REDUCTIONS)
    x, y = _aligned(op, numeric_argument(op, "x", x), numeric_argument(op, "y", y))
    src, dst = _edges(op, src_index, dst_index)
    if not may_equal(spec_of(y).shape[:1], spec_of(src).shape):
        raise ShapeError(
            f"{op}: y must have a row for each edge, {format_shape(spec_of(src).shape)}; got "
            f"{format_shape(spec_of(y).shape)}"
        )
    messages = _MESSAGES[message_op](ops.gather(x, src, axis=0), y)
    return _received(op, reduce_op, x, messages, dst, out_size)


@atomic
def send_uv(
    x: Any,
    y: Any,
    src_index: Any,
    dst_index: Any,
    message_op: str = "add",
    name: str | None = None,
) -> Tensor:
    """For each edge the row of `x` where it begins combined with that of `y` where it ends.

    Parameters
    ----------
    x, y : Tensor or Variable
        ``[N, ...]``, a row for each node.
    src_index, dst_index, message_op
        As of `send_ue_recv`.

    Returns
    -------
    ``[E, ...]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[10.0], [20.0]])
    >>> src, dst = paddle.to_tensor([0, 1, 1]), paddle.to_tensor([1, 0, 1])
    >>> paddle.geometric.send_uv(x, y, src, dst).tolist()
    [[21.0], [12.0], [22.0]]
    """
    op = "send_uv"
    _chosen(op, "message_op", message_op, tuple(_MESSAGES))
    x, y = _aligned(op, numeric_argument(op, "x", x), numeric_argument(op, "y", y))
    src, dst = _edges(op, src_index, dst_index)
    sent, met = ops.gather(x, src, axis=0), ops.gather(y, dst, axis=0)
    return _MESSAGES[message_op](sent, met)


# --- numbers of nodes


def _reindexed(op: str, x: Any, neighbors: list[Any], counts: list[Any]) -> Any:
    x = index_argument(op, "x", x)
    neighbors = [index_argument(op, "neighbors", n) for n in neighbors]
    counts = [index_argument(op, "count", c) for c in counts]
    ends = []
    for near, count in zip(neighbors, counts, strict=True):
        if not may_equal(spec_of(count).shape, spec_of(x).shape):
            raise ShapeError(
                f"{op}: count must have a number for each node of x, "
                f"{format_shape(spec_of(x).shape)}; got {format_shape(spec_of(count).shape)}"
            )
        end = ops.repeat_index(count, x, axis=0)
        if not may_equal(spec_of(end).shape, spec_of(near).shape):
            raise ShapeError(
                f"{op}: count adds up to {spec_of(end).shape[0]}, and there are "
                f"{spec_of(near).shape[0]} neighbors"
            )
        ends.append(ops.cast_like(end, x))
    every = ops.concat(x, *(ops.cast_like(n, x) for n in neighbors), axis=0)
    values, first, inverse = unique(every, return_index=True, return_inverse=True)
    # In the order in which they come first.
    order = argsort(first)
    place = ops.gather(argsort(order), inverse, axis=0)
    begin = spec_of(x).shape[0]
    if isinstance(begin, Dim):
        raise ShapeError(f"{op}: the number of nodes in x must be known; declare it")
    sources = ops.getitem(place, key=(slice(int(begin), None),))
    nodes = ops.gather(values, order, axis=0)
    return ops.cast_like(sources, x), ops.concat(*ends, axis=0), nodes


@atomic
def reindex_graph(
    x: Any,
    neighbors: Any,
    count: Any,
    value_buffer: Any = None,
    index_buffer: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Nodes numbered anew from 0: those of `x` first, then their neighbors as they come.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N]``, integers, each once.
    neighbors : Tensor or Variable
        ``[E]``: the neighbors of the first node, then those of the second, and so on.
    count : Tensor or Variable
        ``[N]``: how many neighbors each node has.
    value_buffer, index_buffer : None
        Accepted for the reference's sake.

    Returns
    -------
    sources, destinations : ``[E]``
        For each neighbor its new number, and that of the node that it is a neighbor of.
    nodes : ``[M]``
        The old number of each node.

    Raises
    ------
    ShapeError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, near = paddle.to_tensor([5, 2]), paddle.to_tensor([2, 9, 9])
    >>> found = paddle.geometric.reindex_graph(x, near, paddle.to_tensor([1, 2]))
    >>> [v.tolist() for v in found]
    [[1, 2, 2], [0, 1, 1], [5, 2, 9]]
    """
    return _reindexed("reindex_graph", x, [neighbors], [count])


@atomic
def reindex_heter_graph(
    x: Any,
    neighbors: Sequence[Any],
    count: Sequence[Any],
    value_buffer: Any = None,
    index_buffer: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`reindex_graph` of edges of several kinds: a list of `neighbors`, and of `count`."""
    op = "reindex_heter_graph"
    for argument, given in (("neighbors", neighbors), ("count", count)):
        if not isinstance(given, (list, tuple)) or not given:
            raise NotATensorError(
                f"{op}: {argument} must be a list of tensors, got {type(given).__name__}"
            )
    if len(neighbors) != len(count):
        raise ArgumentError(
            f"{op}: neighbors and count must be lists of one length, got {len(neighbors)} and "
            f"{len(count)}"
        )
    return _reindexed(op, x, list(neighbors), list(count))
