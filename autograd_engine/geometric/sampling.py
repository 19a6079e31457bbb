"""Some of the neighbors of nodes, drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.checks import is_int
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.geometric.segment import index_argument, numeric_argument
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import spec_of

__all__ = ["sample_neighbors", "weighted_sample_neighbors"]


def _places(like: Any) -> Any:
    """0, 1, 2 ... for the elements of ``[N]``."""
    return ops.cumsum(ops.full_like(like, value=1, dtype="int64"), axis=0) - 1


def _drawn(node: Any, before: Any, sample_size: int, weight: Any) -> Any:
    """Which edges stay, in their order: of each `node` the `sample_size` with the largest keys.

    `node` says of which node each edge is, in order, `before` how many edges those before it have.
    With u uniform the key is log(u) / weight: the chance to be next is in proportion to the weight
    (Efraimidis and Spirakis 2006).
    """
    key = ops.log(1.0 - ops.uniform_like(ops.cast(node, dtype="float64"), low=0.0, high=1.0))
    if weight is not None:
        weight = ops.cast(weight, dtype="float64")
        chance = ops.greater_than(weight, 0.0)
        key = ops.where(chance, key / ops.where(chance, weight, 1.0), -np.inf)
    order = ops.argsort(key, axis=0, descending=True)
    order = ops.gather(order, ops.argsort(ops.gather(node, order, axis=0), axis=0), axis=0)
    turn = _places(node) - ops.gather(before, node, axis=0)
    chosen = ops.gather(order, ops.nonzero(ops.less_than(turn, sample_size))[:, 0], axis=0)
    return ops.sort(chosen, axis=0)[0]


def _sampled(
    op: str,
    row: Any,
    colptr: Any,
    input_nodes: Any,
    sample_size: int,
    eids: Any,
    return_eids: bool,
    edge_weight: Any = None,
) -> tuple[Any, ...]:
    given, begins = index_argument(op, "row", row), index_argument(op, "colptr", colptr)
    nodes = index_argument(op, "input_nodes", input_nodes)
    if not is_int(sample_size):
        raise ArgumentError(f"{op}: sample_size must be an int, got {sample_size!r}")
    if return_eids and eids is None:
        raise ArgumentError(f"{op}: return_eids=True needs eids, a number for each edge, got None")
    beside = [("eids", index_argument(op, "eids", eids))] if eids is not None else []
    if edge_weight is not None:
        beside.append(("edge_weight", numeric_argument(op, "edge_weight", edge_weight)))
    for argument, value in beside:
        if not may_equal(spec_of(value).shape[:1], spec_of(given).shape):
            raise ShapeError(
                f"{op}: {argument} must have one element for each edge of row, "
                f"{format_shape(spec_of(given).shape)}; got {format_shape(spec_of(value).shape)}"
            )
    nodes, begins = (ops.cast(v, dtype="int64") for v in (nodes, begins))
    begin = ops.gather(begins, nodes, axis=0)
    degree = ops.gather(begins, nodes + 1, axis=0) - begin
    node = ops.repeat_index(degree, nodes, axis=0)
    before = ops.cumsum(degree, axis=0) - degree
    edge = _places(node) + ops.gather(begin - before, node, axis=0)
    if sample_size >= 0:
        weight = None
        if edge_weight is not None:
            weight = ops.gather(ops.reshape(beside[-1][1], shape=(-1,)), edge, axis=0)
        edge = ops.gather(edge, _drawn(node, before, int(sample_size), weight), axis=0)
        degree = ops.minimum(degree, int(sample_size))
    found = ops.gather(given, edge, axis=0), ops.cast(degree, dtype="int32")
    return (*found, ops.gather(beside[0][1], edge, axis=0)) if return_eids else found


@atomic
def sample_neighbors(
    row: Any,
    colptr: Any,
    input_nodes: Any,
    sample_size: int = -1,
    eids: Any = None,
    return_eids: bool = False,
    perm_buffer: Any = None,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Neighbors of some nodes, each of a node as likely as any other.

    Parameters
    ----------
    row : Tensor or Variable
        ``[E]``, integers: the neighbors of the first node, then those of the second, and so on.
    colptr : Tensor or Variable
        ``[N + 1]``, integers: where in `row` those of each node begin, and the last end.
    input_nodes : Tensor or Variable
        ``[M]``, integers.
    sample_size : int
        At most so many neighbors of each node, each once; -1 for all.
    eids : Tensor or Variable, optional
        ``[E]``, integers: a number for each edge.
    return_eids : bool
    perm_buffer : None
        Accepted for the reference's sake.

    Returns
    -------
    neighbors : ``[F]``
        Those of the first of `input_nodes`, then those of the second, and so on.
    count : ``[M]``, int32
        How many there are of each; what `reindex_graph` takes.
    numbers : ``[F]``
        With `return_eids`: of `eids`.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError, IndexError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> row, colptr = paddle.to_tensor([1, 2, 0, 0, 1]), paddle.to_tensor([0, 2, 3, 5])
    >>> near, count = paddle.geometric.sample_neighbors(row, colptr, paddle.to_tensor([2, 1]))
    >>> near.tolist(), count.tolist()
    ([0, 1, 0], [2, 1])
    """
    return _sampled("sample_neighbors", row, colptr, input_nodes, sample_size, eids, return_eids)


@atomic
def weighted_sample_neighbors(
    row: Any,
    colptr: Any,
    edge_weight: Any,
    input_nodes: Any,
    sample_size: int = -1,
    eids: Any = None,
    return_eids: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """`sample_neighbors` that are the likelier, the larger the weight of their edge.

    Parameters
    ----------
    row, colptr, input_nodes, sample_size, eids, return_eids
        As of `sample_neighbors`.
    edge_weight : Tensor or Variable
        ``[E]``, not negative: the chance of an edge to be drawn next is in proportion to it.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> row, colptr = paddle.to_tensor([1, 2, 0, 0, 1]), paddle.to_tensor([0, 2, 3, 5])
    >>> weight = paddle.to_tensor([0.0, 1.0, 1.0, 1.0, 0.0])
    >>> near, _ = paddle.geometric.weighted_sample_neighbors(
    ...     row, colptr, weight, paddle.to_tensor([0, 2]), 1
    ... )
    >>> near.tolist()
    [2, 0]
    """
    op = "weighted_sample_neighbors"
    return _sampled(op, row, colptr, input_nodes, sample_size, eids, return_eids, edge_weight)
