"""Losses of class labels: cross entropy in its forms."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.spec import along, format_shape, may_equal, normalize_axis
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.activation import log_softmax, softmax
from autograd_engine.nn.functional.arguments import (
    as_floats,
    as_integers,
    check_number,
    check_reduction,
    narrow,
    reduce_loss,
    widen,
)
from autograd_engine.nn.functional.common import uniform_like
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, shape_of, spec_of
from autograd_engine.tensor.arguments import integer
from autograd_engine.tensor.reduction import sum as sum_over

__all__ = ["cross_entropy", "nll_loss", "softmax_with_cross_entropy"]


def class_weight(op: str, weight: Any, input: Any, axis: int) -> Any:
    """One weight for each class, None where none are given."""
    if weight is None:
        return None
    weight = as_operand(op, weight, "weight")
    classes = spec_of(input).shape[axis]
    if not may_equal(spec_of(weight).shape, (classes,)):
        raise ShapeError(
            f"{op}: weight must have one entry for each class, {format_shape((classes,))}; got "
            f"{format_shape(spec_of(weight).shape)}"
        )
    return weight


def _check_hard_labels(op: str, input: Any, label: Any, axis: int) -> bool:
    """Whether they have the class axis, with size 1; an error where they are no labels."""
    as_integers(op, label, "label", ", or soft_label=True for probabilities")
    have, want = shape_of(label), shape_of(input)
    lines = want[:axis] + want[axis + 1 :]
    if have == lines or may_equal(have, lines):
        return False
    if not may_equal(have, (*want[:axis], 1, *want[axis + 1 :])):
        raise ShapeError(
            f"{op}: input {format_shape(want)} needs labels of its shape without axis {axis} "
            f"(or with size 1 there); got {format_shape(have)}"
        )
    return True


def _hard_labels(op: str, input: Any, label: Any, axis: int) -> Any:
    """Integer labels with the class axis kept as 1."""
    kept = _check_hard_labels(op, input, label, axis)
    return label if kept else ops.unsqueeze(label, axis=(axis,))


class _Labels:
    """Class numbers beside an input with the classes on `axis`, which is kept as 1."""

    def __init__(self, op: str, input: Any, label: Any, axis: int, ignore_index: int) -> None:
        self.op, self.axis, self.ignore, self.given = op, axis, ignore_index, label
        label = _hard_labels(op, input, label, axis)
        self.counted = False  # the sum of all factors is the number of labels that count
        self.counts = ops.not_equal(label, ignore_index)
        # Class 0 stands for those that do not count.
        self.classes = ops.checked_label(label, input, axis=axis, ignore=ignore_index, op=op)

    def pick(self, values: Any) -> Any:
        return ops.take_along_axis(values, self.classes, axis=self.axis)

    def loss(self, log_probs: Any) -> Any:
        """-log p of each label; 0 where it does not count."""
        return ops.where(self.counts, -self.pick(log_probs), 0.0)

    def entropy(self, input: Any, kept: bool) -> Any:
        """-log softmax(input) of each label; 0 where it does not count."""
        axis = self.axis
        flat = ops.squeeze(self.given, axis=(axis,)) if kept else self.given
        found = ops.label_entropy(input, flat, axis=axis, ignore=self.ignore, op=self.op)
        return ops.unsqueeze(found[0], axis=(axis,))

    def weighted(self, loss: Any, weight: Any) -> tuple[Any, Any]:
        """`loss` times the weight of each label, and these weights: 0 for one without a count."""
        factor = ops.cast_like(self.counts, loss)
        if weight is None:
            self.counted = True
            return loss, factor
        factor = factor * ops.gather(weight, self.classes, axis=0)
        return ops.weighed(factor, loss), factor

    def reduce(self, loss: Any, factor: Any, reduction: str, kept: bool) -> Any:
        """The loss of each label has size 1 on the axis of the classes if `kept`."""
        if reduction == "mean":
            return _ratio(loss, factor, counted=self.counted)
        if reduction == "none":
            return loss if kept else ops.squeeze(loss, axis=(self.axis,))
        return reduce_loss(loss, reduction)


def _ratio(loss: Any, factor: Any, *, counted: bool = False) -> Any:
    """sum(loss) / sum(factor), and 0 where both are; float16 adds up in float32.

    `counted`: the latter is a number of labels, and if it is not 0, it is 1 at least.
    """
    total, count = sum_over(widen(loss)), sum_over(widen(factor))
    least = ops.maximum(count, 1.0) if counted else ops.where(ops.equal(count, 0.0), 1.0, count)
    return narrow(total / least, loss)


def _per_class(weight: Any, like: Any, axis: int) -> Any:
    """`weight` lying along the class axis of `like`."""
    return ops.reshape(weight, shape=along(spec_of(like).ndim, axis))


@atomic
def cross_entropy(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cross entropy between `label` and softmax(input) along `axis`.

    Parameters
    ----------
    input : Tensor or Variable
        Logits; probabilities with ``use_softmax=False``.
    label : Tensor or Variable
        Class numbers, of the shape of `input` without `axis` (or with size 1 there); with
        `soft_label`, probabilities of the shape of `input`.
    weight : Tensor or Variable, optional
        One for each class.
    ignore_index : int
        Labels that do not count; soft labels all count.
    reduction : {"mean", "sum", "none"}
    label_smoothing : float
        In [0, 1]: this share of each label is spread over all classes.

    Returns
    -------
    The reduced loss; for "none" of the shape of `label`, with size 1 on `axis` for soft labels

    Raises
    ------
    DTypeError, ShapeError, ArgumentError
    IndexError
        For a label that is no class and not to be ignored.

    Notes
    -----
    With q the (smoothed) label as a distribution, p the probabilities and w the weights, 1 where
    none are given, the loss of one sample is ``sum_c w_c q_c (-log p_c)``; a class with w_c q_c = 0
    adds nothing, even where `input` gives the probability 0 for it.

    "mean" is the sum of these losses divided by the sum of the weights of the samples: for class
    numbers the weight of the class, whatever the smoothing, for samples that count; for soft labels
    with `weight` ``sum_c w_c q_c``, and 1 without. Where no sample counts it is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> logits = paddle.to_tensor([[0.0, 0.0]])
    >>> round(cross_entropy(logits, paddle.to_tensor([1])).item(), 4)
    0.6931
    """
    op = "cross_entropy"
    input, label = as_floats(op, input, "input"), as_operand(op, label, "label")
    ndim = len(shape_of(input))
    axis = ndim - 1 if axis == -1 and ndim else normalize_axis(op, axis, ndim)
    ignore_index = integer(op, "ignore_index", ignore_index)
    if label_smoothing.__class__ is not float or label_smoothing:
        label_smoothing = check_number(op, "label_smoothing", label_smoothing)
        if not 0 <= label_smoothing <= 1:
            raise ArgumentError(f"{op}: label_smoothing must be in [0, 1], got {label_smoothing}")
    if weight is not None:
        weight = class_weight(op, weight, input, axis)
    check_reduction(op, reduction)
    if not soft_label:
        if use_softmax and not label_smoothing and weight is None:
            return _plain(op, input, label, axis, ignore_index, reduction)
        kept = spec_of(label).ndim == spec_of(input).ndim
        labels = _Labels(op, input, label, axis, ignore_index)
        return _hard(input, labels, weight, reduction, label_smoothing, use_softmax, kept)
    if not may_equal(spec_of(label).shape, spec_of(input).shape):
        raise ShapeError(
            f"{op}: soft labels must have the shape of input, "
            f"{format_shape(spec_of(input).shape)}; got {format_shape(spec_of(label).shape)}"
        )
    label = as_floats(op, label, "label")
    return _soft(input, label, weight, axis, reduction, label_smoothing, use_softmax)


def _plain(op: str, input: Any, label: Any, axis: int, ignore_index: int, reduction: str) -> Any:
    """The usual case, of which one operation computes everything but a sum."""
    kept = _check_hard_labels(op, input, label, axis)
    flat = ops.squeeze(label, axis=(axis,)) if kept else label
    mean = reduction == "mean"
    row = ops.label_loss if op == "nll_loss" else ops.label_entropy
    loss = row(input, flat, axis=axis, ignore=ignore_index, op=op, mean=mean)[0]
    if mean:
        return loss
    if reduction == "none":
        return ops.unsqueeze(loss, axis=(axis,)) if kept and op != "nll_loss" else loss
    return reduce_loss(loss, reduction)


def _hard(
    input: Any,
    labels: _Labels,
    weight: Any,
    reduction: str,
    smoothing: float,
    use_softmax: bool,
    kept: bool,
) -> Any:
    axis, counts = labels.axis, labels.counts
    if use_softmax and not smoothing:
        loss = labels.entropy(input, kept)
    elif use_softmax:
        log_probs = log_softmax(input, axis=axis)
        loss = labels.loss(log_probs)
    else:
        # Picked before the logarithm is taken: that of another class may be infinite.
        loss = -ops.log(ops.where(counts, labels.pick(input), 1.0))
    loss, factor = labels.weighted(loss, weight)
    if smoothing:
        if not use_softmax:
            log_probs = ops.log(ops.where(counts, input, 1.0))
        terms = log_probs
        if weight is not None:
            terms = ops.weighed(_per_class(weight, input, axis), log_probs)
        spread = -ops.mean(terms, axis=(axis,), keepdims=True)
        loss = (1.0 - smoothing) * loss + smoothing * ops.where(counts, spread, 0.0)
    return labels.reduce(loss, factor, reduction, kept)


def _soft(
    input: Any,
    label: Any,
    weight: Any,
    axis: int,
    reduction: str,
    smoothing: float,
    use_softmax: bool,
) -> Any:
    if smoothing:
        label = (1.0 - smoothing) * label + smoothing * uniform_like(label, axis)
    if use_softmax:
        log_probs = log_softmax(input, axis=axis)
    else:  # 0 log 0 counts as 0, the limit of p log p
        nothing = ops.logical_and(ops.equal(label, 0.0), ops.equal(input, 0.0))
        log_probs = ops.log(ops.where(nothing, 1.0, input))
    share = label if weight is None else label * _per_class(weight, label, axis)
    loss = -ops.sum(ops.weighed(share, log_probs), axis=(axis,), keepdims=True)
    if weight is not None and reduction == "mean":
        return _ratio(loss, share)
    return reduce_loss(loss, reduction)


@atomic
def softmax_with_cross_entropy(
    logits: Any,
    label: Any,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """Cross entropy of each element, with `axis` kept as 1; and the softmax, if asked for.

    `numeric_stable_mode` is accepted; there is no other.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> softmax_with_cross_entropy(paddle.zeros([1, 4]), paddle.to_tensor([[2]])).shape
    paddle.Size([1, 1])
    """
    op = "softmax_with_cross_entropy"
    logits, label = as_floats(op, logits, "logits"), as_operand(op, label, "label")
    axis = normalize_axis(op, axis, spec_of(logits).ndim)
    if not soft_label:
        label = _hard_labels(op, logits, label, axis)
    loss = cross_entropy(
        logits,
        label,
        soft_label=soft_label,
        ignore_index=ignore_index,
        axis=axis,
        reduction="none",
    )
    return (loss, softmax(logits, axis=axis)) if return_softmax else loss


@atomic
def nll_loss(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Minus the log-probability (in `input`, classes on axis 1) of each label.

    Labels have the shape of `input` without axis 1, or with size 1 there, which the losses of
    "none" lack. "mean" divides by the sum of the weights of the labels that count, and is 0 without
    any.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> nll_loss(paddle.to_tensor([[-1.0, -2.0]]), paddle.to_tensor([1])).item()
    2.0
    """
    op = "nll_loss"
    input, label = as_floats(op, input, "input"), as_operand(op, label, "label")
    if len(shape_of(input)) < 2:
        raise ShapeError(
            f"{op}: input must be [N, classes, ...], got {format_shape(shape_of(input))}"
        )
    check_reduction(op, reduction)
    ignore_index = integer(op, "ignore_index", ignore_index)
    if weight is None:
        return _plain(op, input, label, 1, ignore_index, reduction)
    weight = class_weight(op, weight, input, 1)
    labels = _Labels(op, input, label, 1, ignore_index)
    loss, factor = labels.weighted(labels.loss(input), weight)
    return labels.reduce(loss, factor, reduction, kept=False)
