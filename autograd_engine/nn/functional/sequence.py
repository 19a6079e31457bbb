"""Sequences: masks of lengths, beams, and losses over all alignments."""

from __future__ import annotations

import math
from typing import Any

from autograd_engine.core.checks import as_number, int_at_least, is_int
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import REALS, DTypeLike, to_numpy
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.nn.functional.arguments import (
    as_floats,
    as_integers,
    check_number,
    check_reduction,
    narrow,
    reduce_loss,
    widen,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "ctc_loss",
    "gather_tree",
    "rnnt_loss",
    "sequence_mask",
]


@atomic
def sequence_mask(
    x: Any, maxlen: int | None = None, dtype: DTypeLike = "int64", name: str | None = None
) -> Tensor:
    """1 for the first x positions along a new last axis of size `maxlen`, 0 for the rest.

    Parameters
    ----------
    x : Tensor or Variable
        Lengths of any shape; of 2.5 the positions 0, 1 and 2 are below it.
    maxlen : int, optional
        The largest length, rounded down, when not given; its size is then unknown in a program.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> sequence_mask(paddle.to_tensor([1, 3])).tolist()
    [[1, 0, 0], [1, 1, 1]]
    """
    x = as_operand("sequence_mask", x)
    if spec_of(x).dtype not in REALS:
        raise DTypeError(
            f"sequence_mask: x must hold lengths, got {spec_of(x).dtype.name}; use "
            "x.astype('int64')"
        )
    size = as_number(maxlen)
    if size is not None:
        size = int_at_least("sequence_mask", "maxlen", size, 0)
    return ops.sequence_mask(x, maxlen=size, dtype=to_numpy(dtype).name)


def gather_tree(ids: Any, parents: Any) -> Tensor:
    """The sequences that a beam search found: each beam of the last step, read back to the first.

    Parameters
    ----------
    ids, parents : Tensor or Variable
        ``[time, batch, beams]``, integers: what each beam chose, and the beam of the step before
        that it goes on from.

    Returns
    -------
    ``[time, batch, beams]``, without a gradient

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> ids = paddle.to_tensor([[[2, 5]], [[3, 7]]])
    >>> gather_tree(ids, paddle.to_tensor([[[0, 0]], [[1, 0]]])).tolist()
    [[[5, 2]], [[3, 7]]]
    """
    op = "gather_tree"
    ids, parents = as_integers(op, ids, "ids"), as_integers(op, parents, "parents")
    shapes = spec_of(ids).shape, spec_of(parents).shape
    if len(shapes[0]) != 3 or not may_equal(*shapes):
        raise ShapeError(
            f"{op}: ids and parents must both be [time, batch, beams], got "
            f"{format_shape(shapes[0])} and {format_shape(shapes[1])}"
        )
    return ops.gather_tree(ids, parents)


def _check_blank(op: str, blank: Any, classes: Any) -> None:
    if not is_int(blank) or blank < 0 or (not isinstance(classes, Dim) and blank >= classes):
        raise ArgumentError(f"{op}: blank must be a class, 0 to {classes} - 1, got {blank!r}")


def _from_anchor(scores: Any, anchor: Any) -> Any:
    """0 in value, with the derivatives of the scores; constant where the anchor is 0."""
    return ops.where(ops.equal(scores, anchor), scores - anchor, 0.0)


def _log_total(reached: Any, end: Any, possible: Any) -> Any:
    """Logarithm of the weights of all alignments, 0 in value, where there are any."""
    total = ops.sum(reached * end, axis=(1,), keepdims=False)
    return ops.log(ops.where(possible, total, 1.0))


@atomic
def ctc_loss(
    log_probs: Any,
    labels: Any,
    input_lengths: Any,
    label_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    norm_by_times: bool = False,
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the log-probability that frames spell a label sequence, over all alignments of the two.

    Graves, Fernandez, Gomez and Schmidhuber 2006.

    Parameters
    ----------
    log_probs : Tensor or Variable
        Logits ``[time, batch, classes]``; their softmax is taken here, which leaves
        log-probabilities as they are.
    labels : Tensor or Variable
        ``[batch, longest]``, filled up with any class.
    input_lengths, label_lengths : Tensor or Variable
        ``[batch]``, integers.
    blank : int
        The class that stands for no label.
    reduction : {"mean", "sum", "none"}
        "mean" divides each loss by the length of its label sequence (0 counts as 1) first.
    norm_by_times : bool
        Divide the gradient, not the loss, by the number of frames.
    zero_infinity : bool
        Where there is no alignment, the loss is 0 and not infinite.

    Returns
    -------
    ``[batch]`` for "none". The gradient is 0 where there is no alignment.

    Raises
    ------
    ShapeError, ArgumentError, DTypeError, IndexError

    Notes
    -----
    The sum over alignments is the linear recurrence ``h_t = y_t * (A h_(t-1))`` with the
    probabilities y. Each h is divided here by its value, which is taken for a constant: the values
    are then 1, whatever the range of the probabilities, and derivatives of every order are exact.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> logits = paddle.zeros([2, 1, 2])
    >>> two, one = paddle.to_tensor([2]), paddle.to_tensor([1])
    >>> round(ctc_loss(logits, paddle.to_tensor([[1]]), two, one).item(), 4)
    0.2877
    """
    op = "ctc_loss"
    check_reduction(op, reduction)
    logits = as_floats(op, log_probs, "log_probs")
    labels = as_integers(op, labels, "labels")
    times = as_integers(op, input_lengths, "input_lengths")
    lengths = as_integers(op, label_lengths, "label_lengths")
    shapes = [spec_of(x).shape for x in (logits, labels, times, lengths)]
    if [len(s) for s in shapes] != [3, 2, 1, 1] or not all(
        may_equal(s[:1], shapes[0][1:2]) for s in shapes[1:]
    ):
        raise ShapeError(
            f"{op}: log_probs must be [time, batch, classes], labels [batch, longest] and the "
            f"lengths [batch]; got {', '.join(map(format_shape, shapes))}"
        )
    _check_blank(op, blank, shapes[0][2])
    wide = widen(logits)
    index = ops.ctc_states(labels, wide, blank=blank)
    scores = ops.take_along_axis(ops.log_softmax(wide, axis=2), index, axis=2)
    likelihood, steps, start, end, anchor = ops.ctc_align(
        scores, labels, times, lengths, blank=blank
    )
    factor = ops.exp(_from_anchor(scores, anchor))
    weight = steps * ops.unsqueeze(factor, axis=(3,))
    reached = ops.getitem(ops.band_scan(weight, start * factor), key=(-1,))
    possible = ops.greater_than(likelihood, -math.inf)
    change = _log_total(reached, end, possible)
    if norm_by_times:
        change = change / ops.cast_like(ops.maximum(times, 1), change)
    loss = -(likelihood + change)
    if zero_infinity:
        loss = ops.where(possible, loss, 0.0)
    if reduction == "mean":
        loss = loss / ops.cast_like(ops.maximum(lengths, 1), loss)
    return narrow(reduce_loss(loss, reduction), logits)


@atomic
def rnnt_loss(
    input: Any,
    label: Any,
    input_lengths: Any,
    label_lengths: Any,
    blank: int = 0,
    fastemit_lambda: float = 0.001,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Minus the log-probability that a transducer emits a label sequence, over all alignments.

    Graves 2012, "Sequence transduction with recurrent neural networks".

    Parameters
    ----------
    input : Tensor or Variable
        Log-probabilities ``[batch, frames, longest + 1, classes]``: of each class at a frame, so
        many labels having been emitted. They are taken as they are; see `log_softmax`.
    label : Tensor or Variable
        ``[batch, longest]``, filled up with any class.
    input_lengths, label_lengths : Tensor or Variable
        ``[batch]``, integers.
    blank : int
        The class with which the next frame is gone on to.
    fastemit_lambda : float
        The gradient of what emits a label is larger by this share, the loss is not (Yu and others
        2021).
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    ``[batch]`` for "none"; infinite where there is no alignment, with gradient 0.

    Raises
    ------
    ShapeError, ArgumentError, DTypeError, IndexError

    Notes
    -----
    Sums and derivatives are taken as those of `ctc_loss`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> probabilities = paddle.full([1, 2, 2, 3], 1 / 3)
    >>> two, one = paddle.to_tensor([2]), paddle.to_tensor([1])
    >>> round(rnnt_loss(paddle.log(probabilities), paddle.to_tensor([[1]]), two, one).item(), 4)
    2.6027
    """
    op = "rnnt_loss"
    check_reduction(op, reduction)
    if not check_number(op, "fastemit_lambda", fastemit_lambda) >= 0.0:
        raise ArgumentError(f"{op}: fastemit_lambda must not be negative, got {fastemit_lambda}")
    logits = as_floats(op, input, "input")
    label = as_integers(op, label, "label")
    times = as_integers(op, input_lengths, "input_lengths")
    lengths = as_integers(op, label_lengths, "label_lengths")
    shapes = [spec_of(x).shape for x in (logits, label, times, lengths)]
    if (
        [len(s) for s in shapes] != [4, 2, 1, 1]
        or not all(may_equal(s[:1], shapes[0][:1]) for s in shapes[1:])
        or not may_equal(shapes[0][2:3], (shapes[1][1] + 1,))
    ):
        raise ShapeError(
            f"{op}: input must be [batch, frames, longest + 1, classes], label [batch, longest] "
            f"and the lengths [batch]; got {', '.join(map(format_shape, shapes))}"
        )
    _check_blank(op, blank, shapes[0][3])
    wide = widen(logits)
    index = ops.rnnt_moves(label, wide, blank=blank)
    scores = ops.gather(ops.reshape(wide, shape=(-1,)), index, axis=0)
    likelihood, steps, start, end, anchor = ops.rnnt_align(scores, times, lengths)
    moved = _from_anchor(scores, anchor)
    if fastemit_lambda:
        blanks, labels, none = (ops.getitem(moved, key=(..., slice(k, k + 1))) for k in range(3))
        moved = ops.concat(blanks, labels * (1.0 + fastemit_lambda), none, axis=3)
    reached = ops.getitem(ops.band_scan(steps * ops.exp(moved), start), key=(-1,))
    possible = ops.greater_than(likelihood, -math.inf)
    loss = -(likelihood + _log_total(reached, end, possible))
    return narrow(reduce_loss(loss, reduction), logits)
