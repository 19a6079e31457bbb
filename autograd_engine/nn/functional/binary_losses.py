"""Losses of logits for labels that are true or false, exact for logits of any size."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ShapeError
from autograd_engine.nn.functional.arguments import (
    as_floats,
    check_reduction,
    check_same_shape,
    float_pair,
    reduce_loss,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.reduction import mean

__all__ = [
    "binary_cross_entropy_with_logits",
    "multi_label_soft_margin_loss",
    "sigmoid_focal_loss",
    "soft_margin_loss",
]


@atomic
def binary_cross_entropy_with_logits(
    logit: Any,
    label: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
    name: str | None = None,
) -> Tensor:
    """`binary_cross_entropy` of sigmoid(logit), exact for logits of any size.

    Parameters
    ----------
    logit, label : Tensor or Variable
        Of one shape.
    weight : Tensor or Variable, optional
        Multiplies the loss; broadcasts.
    reduction : {"mean", "sum", "none"}
    pos_weight : Tensor or Variable, optional
        Multiplies the part of label 1; broadcasts.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.to_tensor([0.0, 1000.0]), paddle.to_tensor([1.0, 0.0])
    >>> binary_cross_entropy_with_logits(x, y, reduction="none").numpy().round(4).tolist()
    [0.6930999755859375, 1000.0]
    """
    op = "binary_cross_entropy_with_logits"
    check_reduction(op, reduction)
    logit, label = float_pair(op, logit, label, "logit")
    check_same_shape(op, logit, label, "logit")
    positive = label if pos_weight is None else label * as_floats(op, pos_weight, "pos_weight")
    loss = _of_logits(logit, positive, 1.0 - label)
    if weight is not None:
        loss = loss * as_floats(op, weight, "weight")
    return reduce_loss(loss, reduction)


def _of_logits(logit: Any, positive: Any, negative: Any) -> Any:
    """-positive * log(sigmoid(x)) - negative * log(sigmoid(-x)): no digits cancel at either end."""
    return positive * ops.softplus(-logit) + negative * ops.softplus(logit)


@atomic
def sigmoid_focal_loss(
    logit: Any,
    label: Any,
    normalizer: Any = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Tensor:
    """Cross entropy in which what is well classified counts little (Lin and others 2017).

    With p the probability of the label: ``-a (1 - p) ** gamma log(p) / normalizer``, where a is
    `alpha` for label 1 and 1 - alpha for label 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(sigmoid_focal_loss(paddle.zeros([1]), paddle.ones([1])).item(), 4)
    0.0433
    """
    op = "sigmoid_focal_loss"
    check_reduction(op, reduction)
    logit, label = float_pair(op, logit, label, "logit")
    check_same_shape(op, logit, label, "logit")
    other = 1.0 - label
    entropy = _of_logits(logit, label, other)
    missed = ops.sigmoid(logit) * other + ops.sigmoid(-logit) * label
    share = float(alpha) * label + (1.0 - float(alpha)) * other
    loss = share * ops.pow(missed, float(gamma)) * entropy
    if normalizer is not None:
        normalizer = as_floats(op, normalizer, "normalizer")
        if spec_of(normalizer).ndim > 1:
            raise ShapeError(
                f"{op}: normalizer must have one dimension at most, got "
                f"{format_shape(spec_of(normalizer).shape)}"
            )
        loss = loss / normalizer
    return reduce_loss(loss, reduction)


def soft_margin_loss(
    input: Any, label: Any, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """log(1 + exp(-label * input)) for labels 1 and -1.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.to_tensor([0.0, -1000.0]), paddle.to_tensor([1.0, 1.0])
    >>> soft_margin_loss(x, y, "none").numpy().round(4).tolist()
    [0.6930999755859375, 1000.0]
    """
    op = "soft_margin_loss"
    check_reduction(op, reduction)
    input, label = as_floats(op, input, "input"), as_operand(op, label, "label")
    check_same_shape(op, input, label)
    return reduce_loss(ops.softplus(-(input * ops.cast_like(label, input))), reduction)


@atomic
def multi_label_soft_margin_loss(
    input: Any,
    label: Any,
    weight: Any = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Mean over the last axis of `binary_cross_entropy_with_logits`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.zeros([1, 2]), paddle.to_tensor([[1.0, 0.0]])
    >>> round(multi_label_soft_margin_loss(x, y).item(), 4)
    0.6931
    """
    op = "multi_label_soft_margin_loss"
    check_reduction(op, reduction)
    input, label = float_pair(op, input, label)
    check_same_shape(op, input, label)
    if not spec_of(input).ndim:
        raise ShapeError(f"{op}: takes one dimension or more, got a 0-d array; use reshape([1])")
    loss = _of_logits(input, label, 1.0 - label)
    if weight is not None:
        loss = loss * as_floats(op, weight, "weight")
    return reduce_loss(mean(loss, axis=-1), reduction)
