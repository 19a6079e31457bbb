"""Losses over so many classes that these are arranged in a tree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from autograd_engine.core.checks import as_number, decided, int_at_least, is_int
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import as_floats, as_integers
from autograd_engine.nn.functional.common import linear
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import spec_of
from autograd_engine.tensor.reduction import mean

__all__ = ["adaptive_log_softmax_with_loss", "hsigmoid_loss"]


def _complete_tree(classes: int) -> tuple[Any, Any]:
    """Of each class the inner nodes on its path, and which way it goes there.

    Leaf c of the complete binary tree, whose nodes are numbered from 1 by rows, is c + classes; the
    inner nodes are 1 to classes - 1. Shorter paths end in -1.
    """
    depth = (2 * classes - 1).bit_length() - 1
    nodes = np.full((classes, depth), -1, np.int64)
    turns = np.zeros((classes, depth), np.int64)
    for c in range(classes):
        leaf = c + classes
        for bit in range(leaf.bit_length() - 1):
            nodes[c, bit] = (leaf >> (bit + 1)) - 1
            turns[c, bit] = leaf >> bit & 1
    return nodes, turns


@atomic
def hsigmoid_loss(
    input: Any,
    label: Any,
    num_classes: int,
    weight: Any,
    bias: Any = None,
    path_table: Any = None,
    path_code: Any = None,
    is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Hierarchical softmax: minus the log-probability of the path to the label.

    Morin and Bengio 2005.

    Parameters
    ----------
    input : Tensor or Variable
        ``[N, D]``
    label : Tensor or Variable
        ``[N]`` or ``[N, 1]``, class numbers.
    num_classes : int
        At least 2; the tree is a complete binary one over this many leaves.
    weight : Tensor or Variable
        ``[num_classes - 1, D]``, a row for each inner node.
    bias : Tensor or Variable, optional
        ``[num_classes - 1]``, or with a last size of 1.
    path_table, path_code : Tensor or Variable, optional
        ``[N, depth]``: the nodes on the path of each sample, -1 where it is shorter, and the ways
        taken there, 0 or 1; for another tree than the complete one.
    is_sparse : bool
        Accepted; gradients are dense.

    Returns
    -------
    ``[N, 1]``

    Raises
    ------
    ArgumentError, ShapeError, DTypeError, IndexError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, w = paddle.zeros([1, 3]), paddle.zeros([3, 3])
    >>> round(hsigmoid_loss(x, paddle.to_tensor([1]), 4, w).item(), 4)
    1.3863
    """
    op = "hsigmoid_loss"
    num_classes = decided(op, "num_classes", int_at_least(op, "num_classes", num_classes, 2))
    if (path_table is None) != (path_code is None):
        raise ArgumentError(f"{op}: path_table and path_code go together; give both or neither")
    input, weight = as_floats(op, input, "input"), as_floats(op, weight, "weight")
    label = as_integers(op, label, "label")
    rows, table, have = spec_of(input).shape, spec_of(weight).shape, spec_of(label)
    fits = len(rows) == 2 and len(table) == 2 and may_equal(rows[1:], table[1:])
    if not fits or not (may_equal(have.shape, rows[:1]) or may_equal(have.shape, (rows[0], 1))):
        raise ShapeError(
            f"{op}: input must be [N, D], label [N] and weight [nodes, D], got "
            f"{format_shape(rows)}, {format_shape(have.shape)} and {format_shape(table)}"
        )
    if have.ndim == 2:
        label = ops.squeeze(label, axis=(1,))
    if path_table is None:
        nodes, turns = _complete_tree(num_classes)
        classes = np.zeros((num_classes, 0), np.int64)
        label = ops.checked_label(label, classes, axis=0, ignore=None, op=op)
        path_table = ops.gather(nodes, label, axis=0)
        path_code = ops.gather(turns, label, axis=0)
    else:
        path_table = as_integers(op, path_table, "path_table")
        path_code = as_integers(op, path_code, "path_code")
    there = ops.greater_equal(path_table, 0)
    node = ops.where(there, path_table, 0)
    score = ops.sum(
        ops.gather(weight, node, axis=0) * ops.unsqueeze(input, axis=(1,)),
        axis=(2,),
        keepdims=False,
    )
    if bias is not None:
        bias = as_floats(op, bias, "bias")
        score = score + ops.gather(ops.reshape(bias, shape=(-1,)), node, axis=0)
    # The way 1 has the probability sigmoid(score), the way 0 that of -score.
    toward = ops.where(ops.not_equal(path_code, 0), -score, score)
    return ops.sum(ops.where(there, ops.softplus(toward), 0.0), axis=(1,), keepdims=True)


def _cutoffs(op: str, cutoffs: Sequence[Any]) -> list[int]:
    found = list(map(as_number, cutoffs))
    rising = all(map(is_int, found)) and all(a < b for a, b in pairwise([0, *found]))
    if not found or not rising:
        raise ArgumentError(f"{op}: cutoffs must be ints above 0 in rising order, got {found}")
    return [int(c) for c in found]


@atomic
def adaptive_log_softmax_with_loss(
    input: Any,
    label: Any,
    head_weight: Any,
    tail_weights: Sequence[Sequence[Any]],
    cutoffs: Sequence[Any],
    head_bias: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Log-probabilities of labels, rare classes being looked up in clusters of their own.

    Grave, Joulin, Cisse, Grangier and Jegou 2017.

    Parameters
    ----------
    input : Tensor or Variable
        ``[N, D]``, or ``[D]``.
    label : Tensor or Variable
        ``[N]``, or ``[]``.
    head_weight : Tensor or Variable
        ``[D, cutoffs[0] + clusters]``: the frequent classes, and one entry for each cluster.
    tail_weights : sequence of pairs
        For each cluster two matrices, ``[D, d]`` and ``[d, classes of the cluster]``.
    cutoffs : sequence of int
        Where the clusters begin, and the number of classes at the end.
    head_bias : Tensor or Variable, optional

    Returns
    -------
    (log-probability of each label, minus their mean)

    Raises
    ------
    ArgumentError, ShapeError, IndexError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, head = paddle.zeros([1, 2]), paddle.zeros([2, 3])
    >>> tail = [[paddle.zeros([2, 1]), paddle.zeros([1, 4])]]
    >>> out, loss = adaptive_log_softmax_with_loss(x, paddle.to_tensor([3]), head, tail, [2, 6])
    >>> round(loss.item(), 4)
    2.4849
    """
    op = "adaptive_log_softmax_with_loss"
    limits = _cutoffs(op, cutoffs)
    if len(tail_weights) != len(limits) - 1:
        raise ArgumentError(
            f"{op}: {len(limits)} cutoffs make {len(limits) - 1} clusters, but tail_weights has "
            f"{len(tail_weights)}"
        )
    input, label = as_floats(op, input, "input"), as_integers(op, label, "label")
    rows, have = spec_of(input).shape, spec_of(label).shape
    if len(have) + 1 != len(rows) or len(rows) not in (1, 2) or not may_equal(rows[:-1], have):
        raise ShapeError(
            f"{op}: input must be [N, D] and label [N] (or [D] and []), got {format_shape(rows)} "
            f"and {format_shape(have)}"
        )
    if not have:
        input, label = ops.unsqueeze(input, axis=(0,)), ops.unsqueeze(label, axis=(0,))
    classes = np.zeros((limits[-1], 0), np.int64)
    label = ops.checked_label(label, classes, axis=0, ignore=None, op=op)

    def picked(log_probs: Any, index: Any) -> Any:
        taken = ops.take_along_axis(log_probs, ops.unsqueeze(index, axis=(1,)), axis=1)
        return ops.squeeze(taken, axis=(1,))

    # Every cluster is worked out for every label: those that are not asked for add 0.
    entry, rest = label, None
    for k, (first, second) in enumerate(tail_weights):
        low, high = limits[k], limits[k + 1]
        inside = ops.logical_and(ops.greater_equal(label, low), ops.less_than(label, high))
        entry = ops.where(inside, limits[0] + k, entry)
        scores = linear(linear(input, first), second)
        place = ops.where(inside, label - low, 0)
        part = ops.where(inside, picked(ops.log_softmax(scores, axis=1), place), 0.0)
        rest = part if rest is None else rest + part
    head = linear(input, head_weight, head_bias)
    out = picked(ops.log_softmax(head, axis=1), entry)
    out = out if rest is None else out + rest
    loss = -mean(out)
    return (out if have else ops.squeeze(out, axis=(0,))), loss
