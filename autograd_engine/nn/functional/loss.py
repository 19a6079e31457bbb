"""Losses."""

from __future__ import annotations

from typing import Any

from autograd_engine import unique_name
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.namespace import ops
from autograd_engine.nn.functional.activation import log_softmax, softmax
from autograd_engine.spec import format_shape, may_equal, normalize_axis
from autograd_engine.static.builder import layer_scope
from autograd_engine.static.program import Variable
from autograd_engine.tensor.operand import as_operand, spec_of
from autograd_engine.tensor.reduction import mean
from autograd_engine.tensor.reduction import sum as sum_over

__all__ = [
    "cross_entropy",
    "mse_loss",
    "nll_loss",
    "softmax_with_cross_entropy",
    "square_error_cost",
]


def _check_reduction(op: str, reduction: str) -> None:
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentError(f"{op}: reduction must be 'mean', 'sum' or 'none', got {reduction!r}")


def _reduce(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    return mean(loss) if reduction == "mean" else sum_over(loss)


def _class_weight(op: str, weight: Any, input: Any, axis: int) -> Any:
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


def square_error_cost(input: Any, label: Any) -> Any:
    """(input - label) ** 2, elementwise.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> square_error_cost(paddle.to_tensor([1.0]), paddle.to_tensor([3.0])).tolist()
    [4.0]
    """
    if isinstance(input, Variable) or isinstance(label, Variable):
        with layer_scope(unique_name.generate("square_error_cost")):
            return ops.square(ops.subtract(input, label))
    return ops.square(ops.subtract(input, label))


def mse_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """Mean of (input - label) ** 2.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> mse_loss(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 2.0])).item()
    2.0
    """
    _check_reduction("mse_loss", reduction)
    return _reduce(square_error_cost(input, label), reduction)


def _hard_labels(op: str, input: Any, label: Any, axis: int) -> Any:
    """Integer labels with the class axis kept as 1."""
    have, want = spec_of(label), spec_of(input)
    if have.dtype.kind not in "iu":
        raise DTypeError(
            f"{op}: label must hold integers, got {have.dtype.name}; use label.astype('int64'), or "
            "soft_label=True for probabilities"
        )
    kept = (*want.shape[:axis], 1, *want.shape[axis + 1 :])
    if may_equal(have.shape, kept[:axis] + kept[axis + 1 :]):
        label = ops.unsqueeze(label, axis=(axis,))
    elif not may_equal(have.shape, kept):
        raise ShapeError(
            f"{op}: input {format_shape(want.shape)} needs labels of its shape without axis {axis} "
            f"(or with size 1 there); got {format_shape(have.shape)}"
        )
    return label


def _pick(values: Any, counts: Any, label: Any, axis: int) -> Any:
    """The value for each label; that of class 0 for a label that does not count."""
    return ops.take_along_axis(values, ops.where(counts, label, 0), axis=axis)


def _of_log_probs(log_probs: Any, counts: Any, label: Any, axis: int) -> Any:
    """-log p of each label; 0 where it does not count."""
    return ops.where(counts, -_pick(log_probs, counts, label, axis), 0.0)


def _per_class(weight: Any, like: Any, axis: int) -> Any:
    """`weight` lying along the class axis of `like`."""
    shape = [1] * spec_of(like).ndim
    shape[axis] = -1
    return ops.reshape(weight, shape=tuple(shape))


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
) -> Any:
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

    Raises
    ------
    DTypeError, ShapeError, ArgumentError, IndexError

    Notes
    -----
    With q the (smoothed) label as a distribution, p the probabilities and w the weights, 1 where
    none are given, the loss of one sample is ``sum_c w_c q_c (-log p_c)``; a class with q_c = 0
    adds nothing, even where `input` gives the probability 0 for it.

    "mean" is the sum of these losses divided by the sum of the weights of the samples: for class
    numbers the weight of the class, whatever the smoothing, for samples that count; for soft labels
    with `weight` ``sum_c w_c q_c``, and 1 without.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> logits = paddle.to_tensor([[0.0, 0.0]])
    >>> round(cross_entropy(logits, paddle.to_tensor([1])).item(), 4)
    0.6931
    """
    op = "cross_entropy"
    input, label = as_operand(op, input, "input"), as_operand(op, label, "label")
    axis = normalize_axis(op, axis, spec_of(input).ndim)
    if not 0 <= label_smoothing <= 1:
        raise ArgumentError(f"{op}: label_smoothing must be in [0, 1], got {label_smoothing}")
    weight = _class_weight(op, weight, input, axis)
    _check_reduction(op, reduction)
    if not soft_label:
        label = _hard_labels(op, input, label, axis)
    elif not may_equal(spec_of(label).shape, spec_of(input).shape):
        raise ShapeError(
            f"{op}: soft labels must have the shape of input, "
            f"{format_shape(spec_of(input).shape)}; got {format_shape(spec_of(label).shape)}"
        )
    if soft_label:
        return _soft(input, label, weight, axis, reduction, label_smoothing, use_softmax)
    return _hard(input, label, weight, axis, reduction, label_smoothing, use_softmax, ignore_index)


def _hard(
    input: Any,
    label: Any,
    weight: Any,
    axis: int,
    reduction: str,
    smoothing: float,
    use_softmax: bool,
    ignore_index: int,
) -> Any:
    counts = ops.not_equal(label, ignore_index)
    if use_softmax:
        log_probs = log_softmax(input, axis=axis)
        loss = _of_log_probs(log_probs, counts, label, axis)
    else:
        # Picked before the logarithm is taken: that of another class may be infinite.
        loss = -ops.log(ops.where(counts, _pick(input, counts, label, axis), 1.0))
    loss, factor = _weighted(loss, counts, label, weight)
    if smoothing:
        if not use_softmax:
            log_probs = ops.log(ops.where(counts, input, 1.0))
        terms = log_probs if weight is None else log_probs * _per_class(weight, input, axis)
        spread = -ops.mean(terms, axis=(axis,), keepdims=True)
        loss = (1.0 - smoothing) * loss + smoothing * ops.where(counts, spread, 0.0)
    return _reduce_weighted(loss, factor, axis, reduction)


def _weighted(loss: Any, counts: Any, label: Any, weight: Any) -> tuple[Any, Any]:
    """`loss` times the weight of each label, and these weights: 0 where a label does not count."""
    factor = ops.cast_like(counts, loss)
    if weight is None:
        return loss, factor
    factor = factor * ops.gather(weight, ops.where(counts, label, 0), axis=0)
    return loss * factor, factor


def _reduce_weighted(loss: Any, factor: Any, axis: int, reduction: str) -> Any:
    if reduction == "mean":
        return sum_over(loss) / sum_over(factor)
    return _reduce(ops.squeeze(loss, axis=(axis,)), reduction)


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
        one = ops.mean(ops.full_like(label, value=1.0), axis=(axis,), keepdims=True)
        uniform = ops.spread_like(one, label, axis=(axis,), keepdims=True)
        label = (1.0 - smoothing) * label + smoothing * uniform
    if use_softmax:
        log_probs = log_softmax(input, axis=axis)
    else:  # 0 log 0 counts as 0, the limit of p log p
        nothing = ops.logical_and(ops.equal(label, 0.0), ops.equal(input, 0.0))
        log_probs = ops.log(ops.where(nothing, 1.0, input))
    share = label if weight is None else label * _per_class(weight, label, axis)
    loss = -ops.sum(share * log_probs, axis=(axis,), keepdims=False)
    if weight is not None and reduction == "mean":
        return sum_over(loss) / sum_over(share)
    return _reduce(loss, reduction)


def softmax_with_cross_entropy(
    logits: Any,
    label: Any,
    soft_label: bool = False,
    ignore_index: int = -100,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """Cross entropy of each element, with `axis` kept as 1; and the softmax, if asked for.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> softmax_with_cross_entropy(paddle.zeros([1, 4]), paddle.to_tensor([[2]])).shape
    paddle.Size([1, 1])
    """
    loss = cross_entropy(
        logits,
        label,
        soft_label=soft_label,
        ignore_index=ignore_index,
        axis=axis,
        reduction="none",
    )
    kept = normalize_axis("softmax_with_cross_entropy", axis, spec_of(logits).ndim)
    loss = ops.unsqueeze(loss, axis=(kept,))
    return (loss, softmax(logits, axis=axis)) if return_softmax else loss


def nll_loss(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """Minus the log-probability (in `input`, classes on axis 1) of each label.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> nll_loss(paddle.to_tensor([[-1.0, -2.0]]), paddle.to_tensor([1])).item()
    2.0
    """
    op = "nll_loss"
    input, label = as_operand(op, input, "input"), as_operand(op, label, "label")
    if spec_of(input).ndim < 2:
        raise ShapeError(
            f"{op}: input must be [N, classes, ...], got {format_shape(spec_of(input).shape)}"
        )
    weight = _class_weight(op, weight, input, 1)
    _check_reduction(op, reduction)
    label = _hard_labels(op, input, label, 1)
    counts = ops.not_equal(label, ignore_index)
    loss = _of_log_probs(input, counts, label, 1)
    loss, factor = _weighted(loss, counts, label, weight)
    return _reduce_weighted(loss, factor, 1, reduction)
