"""Losses element by element: differences, divergences of probabilities, logits, likelihoods."""

from __future__ import annotations

import math
from typing import Any

from autograd_engine import unique_name
from autograd_engine.core.dtypes import BLAS_REALS, FLOAT16
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import (
    above_zero,
    as_floats,
    as_integers,
    check_number,
    check_reduction,
    check_same_shape,
    float_pair,
    narrow,
    reduce_loss,
    warn_of_broadcast,
    widen,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.builder import layer_scope
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.elementwise import clip
from autograd_engine.tensor.reduction import mean

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "dice_loss",
    "gaussian_nll_loss",
    "kl_div",
    "l1_loss",
    "log_loss",
    "mse_loss",
    "multi_label_soft_margin_loss",
    "poisson_nll_loss",
    "sigmoid_focal_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "square_error_cost",
]


# --- differences


def square_error_cost(input: Any, label: Any) -> Tensor:
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


def mse_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Tensor:
    """Mean of (input - label) ** 2.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> mse_loss(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 2.0])).item()
    2.0
    """
    check_reduction("mse_loss", reduction)
    warn_of_broadcast("mse_loss", input, label)
    if reduction == "mean":
        x, y = as_operand("mse_loss", input, "input"), as_operand("mse_loss", label, "label")
        dtype, ndim = x.dtype, x.ndim
        if dtype is y.dtype and ndim == y.ndim and spec_of(x).dtype in BLAS_REALS:
            return ops.mean_square(x, y, axis=tuple(range(ndim)))
    return reduce_loss(square_error_cost(input, label), reduction)


def l1_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Tensor:
    """Mean of abs(input - label); the gradient where they are equal is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> l1_loss(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 2.0])).item()
    1.0
    """
    check_reduction("l1_loss", reduction)
    warn_of_broadcast("l1_loss", input, label)
    input, label = float_pair("l1_loss", input, label)
    return reduce_loss(ops.abs(input - label), reduction)


def smooth_l1_loss(
    input: Any,
    label: Any,
    reduction: str = "mean",
    delta: float = 1.0,
    is_huber: bool = True,
    name: str | None = None,
) -> Tensor:
    """Half the square of input - label up to `delta`, a line of slope `delta` beyond (Huber 1964).

    Divided by `delta` unless `is_huber`, so that the slope is 1.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> smooth_l1_loss(paddle.to_tensor([1.0, 4.0]), paddle.zeros([2]), "none").tolist()
    [0.5, 3.5]
    """
    op = "smooth_l1_loss"
    check_reduction(op, reduction)
    warn_of_broadcast(op, input, label)
    delta = above_zero(op, "delta", delta)
    input, label = float_pair(op, input, label)
    loss = ops.huber(input - label, delta=delta)
    return reduce_loss(loss if is_huber else loss / delta, reduction)


# --- probabilities


@atomic
def kl_div(
    input: Any,
    label: Any,
    reduction: str = "mean",
    log_target: bool = False,
    name: str | None = None,
) -> Tensor:
    """label * (log(label) - input), elementwise, with log-probabilities in `input`.

    Where the label is not above 0 the loss is 0.

    Parameters
    ----------
    reduction : {"mean", "sum", "batchmean", "none"}
        "batchmean" divides the sum by the size of the first axis.
    log_target : bool
        The label is a log-probability, too.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> kl_div(paddle.zeros([2]), paddle.to_tensor([0.0, 1.0]), "sum").item()
    0.0
    """
    op = "kl_div"
    warn_of_broadcast(op, input, label)
    check_reduction(op, reduction, "batchmean")
    input, label = float_pair(op, input, label)
    if log_target:
        loss = ops.exp(label) * (label - input)
    else:
        positive = ops.greater_than(label, 0.0)
        safe = ops.where(positive, label, 1.0)
        loss = ops.where(positive, safe * (ops.log(safe) - input), 0.0)
    if reduction != "batchmean":
        return reduce_loss(loss, reduction)
    axes = tuple(range(1, spec_of(loss).ndim))
    # The sum of each sample, and the mean of these: the size of the batch need not be known.
    return mean(ops.sum(loss, axis=axes, keepdims=False))


@atomic
def binary_cross_entropy(
    input: Any,
    label: Any,
    weight: Any = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """-(label * log(input) + (1 - label) * log(1 - input)) for probabilities in `input`.

    The logarithms are -100 at least. Their derivative, 1 / p, is bounded: by 1e12, in float16 by
    16384.

    Parameters
    ----------
    input, label : Tensor or Variable
        In [0, 1].
    weight : Tensor or Variable, optional
        Multiplies the loss; broadcasts.
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> p, y = paddle.to_tensor([0.5, 0.0]), paddle.to_tensor([1.0, 1.0])
    >>> binary_cross_entropy(p, y, reduction="none").numpy().round(4).tolist()
    [0.6930999755859375, 100.0]
    """
    op = "binary_cross_entropy"
    check_reduction(op, reduction)
    input, label = float_pair(op, input, label)
    check_same_shape(op, input, label)
    loss = _of_probabilities(label, input, 1.0 - input)
    if weight is not None:
        loss = loss * as_floats(op, weight, "weight")
    return reduce_loss(loss, reduction)


def _of_probabilities(label: Any, p: Any, other: Any) -> Any:
    """-label * log(p) - (1 - label) * log(other), with bounded logarithms and derivatives."""
    floor = 2.0**-14 if spec_of(p).dtype == FLOAT16 else 1e-12
    log_p, log_other = (ops.bounded_log(v, lowest=-100.0, floor=floor) for v in (p, other))
    return -(label * log_p + (1.0 - label) * log_other)


@atomic
def log_loss(input: Any, label: Any, epsilon: float = 1e-4, name: str | None = None) -> Tensor:
    """-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon), elementwise.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(log_loss(paddle.to_tensor([[0.25]]), paddle.to_tensor([[1.0]]), 0.25).item(), 4)
    0.6931
    """
    input, label = float_pair("log_loss", input, label)
    e = check_number("log_loss", "epsilon", epsilon)
    return _of_probabilities(label, input + e, 1.0 - input + e)


@atomic
def dice_loss(input: Any, label: Any, epsilon: float = 1e-5, name: str | None = None) -> Tensor:
    """Mean of 1 - 2 sum(p q) / (sum(p) + sum(q) + epsilon) over samples, q the one-hot label.

    Milletari, Navab and Ahmadi 2016.

    Parameters
    ----------
    input : Tensor or Variable
        Probabilities ``[N, ..., classes]``.
    label : Tensor or Variable
        Class numbers ``[N, ..., 1]``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> p = paddle.to_tensor([[0.0, 1.0]])
    >>> round(dice_loss(p, paddle.to_tensor([[1]])).item(), 4)
    0.0
    """
    op = "dice_loss"
    input, label = as_floats(op, input, "input"), as_integers(op, label, "label")
    have, want = spec_of(label).shape, spec_of(input).shape
    if len(want) < 2 or not may_equal(have, (*want[:-1], 1)):
        raise ShapeError(
            f"{op}: input must be [N, ..., classes] and label [N, ..., 1], got "
            f"{format_shape(want)} and {format_shape(have)}"
        )
    last = len(want) - 1
    label = ops.checked_label(label, input, axis=last, ignore=None, op=op)
    axes = tuple(range(1, last + 1))
    wide = widen(input)

    def total(x: Any) -> Any:
        return ops.sum(x, axis=axes, keepdims=False)

    # One class of each position is the label: the sum of one-hot labels counts positions.
    picked = ops.take_along_axis(wide, label, axis=last)
    count = total(ops.full_like(picked, value=1.0))
    score = 1.0 - total(picked) * 2.0 / (total(wide) + count + check_number(op, "epsilon", epsilon))
    return narrow(mean(score), input)


# --- logits of labels that are true or false: exact for logits of any size


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
    if pos_weight is None:
        loss = ops.logistic_entropy(logit, label)[0]
    else:
        positive = label * as_floats(op, pos_weight, "pos_weight")
        loss = ops.logistic_loss(logit, positive, 1.0 - label)
    if weight is not None:
        loss = loss * as_floats(op, weight, "weight")
    return reduce_loss(loss, reduction)


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
    alpha, gamma = check_number(op, "alpha", alpha), check_number(op, "gamma", gamma)
    logit, label = float_pair(op, logit, label, "logit")
    check_same_shape(op, logit, label, "logit")
    other = 1.0 - label
    entropy = ops.logistic_entropy(logit, label)[0]
    missed = ops.sigmoid(logit) * other + ops.sigmoid(-logit) * label
    share = alpha * label + (1.0 - alpha) * other
    loss = share * ops.pow(missed, gamma) * entropy
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
    loss = ops.logistic_entropy(input, label)[0]
    if weight is not None:
        loss = loss * as_floats(op, weight, "weight")
    return reduce_loss(mean(loss, axis=-1), reduction)


# --- other likelihoods


@atomic
def poisson_nll_loss(
    input: Any,
    label: Any,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Minus the log-likelihood of counts in `label`: exp(input) - label * input.

    Parameters
    ----------
    log_input : bool
        Without it `input` is the rate itself: input - label * log(input + epsilon).
    full : bool
        Add Stirling's approximation of log(label!) for labels above 1.
    epsilon : float
        Above 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> poisson_nll_loss(paddle.zeros([1]), paddle.ones([1])).item()
    1.0
    """
    op = "poisson_nll_loss"
    check_reduction(op, reduction)
    if not check_number(op, "epsilon", epsilon) > 0.0:
        raise ArgumentError(f"{op}: epsilon must be above 0, got {epsilon}")
    input, label = float_pair(op, input, label)
    check_same_shape(op, input, label)
    if log_input:
        loss = ops.exp(input) - label * input
    else:
        loss = input - label * ops.log(input + float(epsilon))
    if full:
        above = ops.greater_than(label, 1.0)
        n = ops.where(above, label, 1.0)
        stirling = n * ops.log(n) - n + 0.5 * ops.log(2.0 * math.pi * n)
        loss = loss + ops.where(above, stirling, 0.0)
    return reduce_loss(loss, reduction)


@atomic
def gaussian_nll_loss(
    input: Any,
    label: Any,
    variance: Any,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """(log(variance) + (input - label) ** 2 / variance) / 2, with the variance at least `epsilon`.

    Nix and Weigend 1994.

    Parameters
    ----------
    input, label : Tensor or Variable
    variance : Tensor or Variable
        Of the shape of `input`, or with size 1 on its last axis, or without that axis.
    full : bool
        Add log(2 pi) / 2.
    epsilon : float
        Below it the gradient in the variance is 0.

    Raises
    ------
    ArgumentError
        For a negative variance; while a program is built it is not known.
    ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> gaussian_nll_loss(paddle.zeros([1]), paddle.full([1], 2.0), paddle.ones([1])).item()
    2.0
    """
    op = "gaussian_nll_loss"
    warn_of_broadcast(op, input, label)
    check_reduction(op, reduction)
    input, label = float_pair(op, input, label)
    variance = as_floats(op, variance, "variance")
    shape, have = spec_of(input).shape, spec_of(variance).shape
    if may_equal(have, shape[:-1]) and len(have) + 1 == len(shape):
        variance = ops.unsqueeze(variance, axis=(len(have),))
    elif not may_equal(have, shape) and not may_equal(have, (*shape[:-1], 1)):
        raise ShapeError(
            f"{op}: variance must have the shape of input, {format_shape(shape)}, or 1 for its "
            f"last size, or be without that axis; got {format_shape(have)}"
        )
    if isinstance(variance, Tensor) and bool((variance.numpy() < 0).any()):
        raise ArgumentError(f"{op}: variance must not be negative; give exp(x) or abs(x)")
    bounded = clip(variance, min=check_number(op, "epsilon", epsilon))
    loss = 0.5 * (ops.log(bounded) + ops.square(input - label) / bounded)
    return reduce_loss(loss + 0.5 * math.log(2.0 * math.pi) if full else loss, reduction)
