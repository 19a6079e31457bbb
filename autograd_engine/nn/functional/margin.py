"""Losses that ask for a margin: between scores, distances or angles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_engine.core.checks import check_callback, positive_int
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import (
    as_floats,
    as_integers,
    check_number,
    check_reduction,
    check_same_shape,
    narrow,
    reduce_loss,
    warn_of_broadcast,
    widen,
)
from autograd_engine.nn.functional.classification import class_weight, cross_entropy
from autograd_engine.nn.functional.distance import pairwise_distance
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.elementwise import clip
from autograd_engine.tensor.linalg.products import matmul
from autograd_engine.tensor.reduction import mean

__all__ = [
    "class_center_sample",
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_cross_entropy",
    "margin_ranking_loss",
    "multi_label_margin_loss",
    "multi_margin_loss",
    "npair_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


@atomic
def margin_ranking_loss(
    input: Any,
    other: Any,
    label: Any,
    margin: float = 0.0,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """max(0, margin - label * (input - other)): label 1 wants `input` above `other`, -1 below.

    The gradient at the kink is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.to_tensor([1.0, 1.0]), paddle.to_tensor([2.0, 0.0])
    >>> margin_ranking_loss(x, y, paddle.ones([2]), reduction="none").tolist()
    [1.0, 0.0]
    """
    op = "margin_ranking_loss"
    check_reduction(op, reduction)
    input, other = as_floats(op, input, "input"), as_floats(op, other, "other")
    warn_of_broadcast(op, input, other, "input", "other")
    gap = input - other
    warn_of_broadcast(op, gap, label)
    label = ops.cast_like(as_operand(op, label, "label"), gap)
    return reduce_loss(ops.relu(check_number(op, "margin", margin) - label * gap), reduction)


@atomic
def hinge_embedding_loss(
    input: Any,
    label: Any,
    margin: float = 1.0,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """`input` where label is 1, max(0, margin - input) where it is -1, 0 elsewhere.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.to_tensor([0.25, 0.25]), paddle.to_tensor([1.0, -1.0])
    >>> hinge_embedding_loss(x, y, reduction="none").tolist()
    [0.25, 0.75]
    """
    op = "hinge_embedding_loss"
    check_reduction(op, reduction)
    input, label = as_floats(op, input, "input"), as_operand(op, label, "label")
    check_same_shape(op, input, label)
    apart = ops.relu(check_number(op, "margin", margin) - input)
    loss = ops.where(ops.equal(label, -1.0), apart, 0.0)
    return reduce_loss(ops.where(ops.equal(label, 1.0), input, loss), reduction)


@atomic
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    label: Any,
    margin: float = 0,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """1 - cos where label is 1, max(0, cos - margin) where it is -1, cos the cosine of two vectors.

    Parameters
    ----------
    input1, input2 : Tensor or Variable
        ``[N, D]`` or ``[D]``
    label : Tensor or Variable
        ``[N]``, of 1 and -1; ``[1]`` for one vector.
    margin : float
        In [-1, 1].

    Raises
    ------
    ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0.0, 1.0]])
    >>> round(cosine_embedding_loss(x, y, paddle.to_tensor([1])).item(), 4)
    1.0
    """
    op = "cosine_embedding_loss"
    check_reduction(op, reduction)
    x, y = as_floats(op, input1, "input1"), as_floats(op, input2, "input2")
    label = as_operand(op, label, "label")
    first, second, have = spec_of(x).shape, spec_of(y).shape, spec_of(label).shape
    if len(have) != 1 or not may_equal(first, second) or len(first) not in (1, 2):
        raise ShapeError(
            f"{op}: input1 and input2 must both be [N, D] or [D] and label [N], got "
            f"{format_shape(first)}, {format_shape(second)} and {format_shape(have)}"
        )
    a, b = widen(x), widen(y)

    def total(values: Any) -> Any:
        return ops.sum(values, axis=(len(first) - 1,), keepdims=False)

    norm = ops.sqrt((total(ops.square(a)) + 1e-11) * (total(ops.square(b)) + 1e-11))
    cosine = total(a * b) / norm
    alike = ops.where(ops.equal(label, 1.0), 1.0 - cosine, 0.0)
    apart = clip(cosine - check_number(op, "margin", margin), min=0.0)
    loss = alike + ops.where(ops.equal(label, -1.0), apart, 0.0)
    return reduce_loss(narrow(loss, x), reduction)


def _triplet(
    op: str,
    points: tuple[Any, Any, Any],
    distance: Callable[[Any, Any], Any],
    margin: float,
    swap: bool,
    reduction: str,
) -> Any:
    check_reduction(op, reduction)
    if check_number(op, "margin", margin) < 0.0:
        raise ArgumentError(f"{op}: margin must not be negative, got {margin}")
    names = ("input", "positive", "negative")
    points = tuple(as_floats(op, x, n) for x, n in zip(points, names, strict=True))
    anchor, positive, negative = points
    shapes = [spec_of(x).shape for x in points]
    if not may_equal(shapes[0], shapes[1]) or not may_equal(shapes[0], shapes[2]):
        raise ShapeError(
            f"{op}: input, positive and negative must have one shape, got "
            f"{', '.join(map(format_shape, shapes))}"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return reduce_loss(clip(near - far + float(margin), min=0.0), reduction)


@atomic
def triplet_margin_loss(
    input: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """max(0, d(input, positive) - d(input, negative) + margin), d the `pairwise_distance`.

    Balntas, Riba, Ponsa and Mikolajczyk 2016.

    Parameters
    ----------
    input, positive, negative : Tensor or Variable
        ``[N, D]``
    margin : float
        Not negative.
    p, epsilon : float
        Of the distance.
    swap : bool
        Use the distance of `positive` and `negative` where it is the smaller one.
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.zeros([1, 2]), paddle.to_tensor([[3.0, 4.0]])
    >>> round(triplet_margin_loss(x, y, x).item(), 4)
    6.0
    """
    return _triplet(
        "triplet_margin_loss",
        (input, positive, negative),
        lambda x, y: pairwise_distance(x, y, p, epsilon),
        margin,
        swap,
        reduction,
    )


@atomic
def triplet_margin_with_distance_loss(
    input: Any,
    positive: Any,
    negative: Any,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """`triplet_margin_loss` with a distance of the caller's: a function of two tensors.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.zeros([1, 2]), paddle.to_tensor([[3.0, 4.0]])
    >>> distance = lambda a, b: paddle.max(paddle.abs(a - b), axis=1)
    >>> triplet_margin_with_distance_loss(x, y, x, distance).item()
    5.0
    """
    op = "triplet_margin_with_distance_loss"
    if distance_function is not None and not callable(distance_function):
        raise ArgumentError(f"{op}: distance_function must be callable, got {distance_function!r}")
    if distance_function is not None:
        check_callback(op, "distance_function", distance_function, "x", "y")
    distance = distance_function or pairwise_distance
    return _triplet(op, (input, positive, negative), distance, margin, swap, reduction)


def _labels_of_rows(op: str, input: Any, label: Any) -> Any:
    """Class numbers ``[N]`` (or ``[N, 1]``) of ``[N, classes]``, as ``[N, 1]``, checked."""
    label = as_integers(op, label, "label")
    have, want = spec_of(label), spec_of(input).shape
    if len(want) != 2 or not (
        may_equal(have.shape, want[:1]) or may_equal(have.shape, (want[0], 1))
    ):
        raise ShapeError(
            f"{op}: input must be [N, classes] and label [N], got {format_shape(want)} and "
            f"{format_shape(have.shape)}"
        )
    if have.ndim == 1:
        label = ops.unsqueeze(label, axis=(1,))
    return ops.checked_label(label, input, axis=1, ignore=None, op=op)


def _is_label(label: Any, like: Any) -> Any:
    """Which elements of ``[N, classes]`` belong to the labels ``[N, 1]``."""
    one = ops.full_like(label, value=1.0, dtype="float32")
    return ops.not_equal(ops.put_along_axis_like(one, label, like, axis=1), 0.0)


@atomic
def multi_margin_loss(
    input: Any,
    label: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Mean over the other classes c of max(0, margin - x[label] + x[c]) ** p, over all classes.

    The gradient at the kink is that of the inside. Crammer and Singer 2001.

    Parameters
    ----------
    input : Tensor or Variable
        ``[N, classes]``
    label : Tensor or Variable
        ``[N]``
    p : int
        1 or more.
    weight : Tensor or Variable, optional
        One for each class; that of the label multiplies the loss.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> multi_margin_loss(paddle.to_tensor([[0.5, 0.0]]), paddle.to_tensor([0])).item()
    0.25
    """
    op = "multi_margin_loss"
    check_reduction(op, reduction)
    if check_number(op, "p", p) < 1.0:
        raise ArgumentError(f"{op}: p must be at least 1, got {p}")
    input = as_floats(op, input, "input")
    weight = class_weight(op, weight, input, 1)
    label = _labels_of_rows(op, input, label)
    gap = check_number(op, "margin", margin) - ops.take_along_axis(input, label, axis=1) + input
    hinge = ops.where(_is_label(label, input), 0.0, clip(gap, min=0.0))
    if p != 1:
        hinge = ops.square(hinge) if p == 2 else ops.pow(hinge, float(p))
    loss = ops.mean(hinge, axis=(1,), keepdims=False)
    if weight is not None:
        loss = loss * ops.gather(weight, ops.squeeze(label, axis=(1,)), axis=0)
    return reduce_loss(loss, reduction)


@atomic
def multi_label_margin_loss(
    input: Any, label: Any, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """Sum of max(0, 1 - x[label] + x[c]) over labels and over classes c that are none, by classes.

    The gradient at the kink is 0.

    Parameters
    ----------
    input : Tensor or Variable
        ``[N, classes]``
    label : Tensor or Variable
        ``[N, most]``, the labels of each sample, up to the first -1.
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    ``[N]`` for "none"

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[0.25, 0.5, 0.0, 1.0]])
    >>> multi_label_margin_loss(x, paddle.to_tensor([[3, 0, -1, 1]])).item()
    0.625
    """
    op = "multi_label_margin_loss"
    check_reduction(op, reduction)
    input, label = as_floats(op, input, "input"), as_integers(op, label, "label")
    want, have = spec_of(input).shape, spec_of(label).shape
    if len(want) != 2 or len(have) != 2 or not may_equal(want[:1], have[:1]):
        raise ShapeError(
            f"{op}: input must be [N, classes] and label [N, most], got {format_shape(want)} and "
            f"{format_shape(have)}"
        )
    given = ops.cast(ops.not_equal(label, -1), dtype="int64")
    counts = ops.not_equal(ops.cumprod(given, axis=1), 0)
    label = ops.checked_label(label, input, axis=1, ignore=-1, op=op)
    # The first label stands for those that do not count.
    label = ops.where(counts, label, ops.getitem(label, key=(slice(None), slice(0, 1))))
    scores = ops.unsqueeze(ops.take_along_axis(input, label, axis=1), axis=(2,))
    hinge = ops.relu(1.0 - scores + ops.unsqueeze(input, axis=(1,)))
    hinge = ops.where(ops.unsqueeze(counts, axis=(2,)), hinge, 0.0)
    total = ops.sum(hinge, axis=(1,), keepdims=False)
    others = ops.where(_is_label(label, input), 0.0, total)
    return reduce_loss(ops.mean(others, axis=(1,), keepdims=False), reduction)


@atomic
def npair_loss(anchor: Any, positive: Any, labels: Any, l2_reg: float = 0.002) -> Tensor:
    """Cross entropy of anchor @ positive.T with rows of equal labels as targets (Sohn 2016).

    Added to it: l2_reg / 4 times the mean squared norms of both.

    Parameters
    ----------
    anchor, positive : Tensor or Variable
        ``[N, D]``
    labels : Tensor or Variable
        ``[N]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.zeros([2, 3])
    >>> round(npair_loss(x, x, paddle.to_tensor([0, 1])).item(), 4)
    0.6931
    """
    op = "npair_loss"
    l2_reg = check_number(op, "l2_reg", l2_reg)
    anchor, positive = as_floats(op, anchor, "anchor"), as_floats(op, positive, "positive")
    labels = as_operand(op, labels, "labels")
    shapes = [spec_of(x).shape for x in (anchor, positive, labels)]
    if len(shapes[0]) != 2 or len(shapes[2]) != 1 or not may_equal(shapes[0], shapes[1]):
        raise ShapeError(
            f"{op}: anchor and positive must be [N, D] and labels [N], got "
            f"{', '.join(map(format_shape, shapes))}"
        )
    rows, columns = ops.unsqueeze(labels, axis=(1,)), ops.unsqueeze(labels, axis=(0,))
    same = ops.cast_like(ops.equal(rows, columns), anchor)
    target = same / ops.sum(same, axis=(1,), keepdims=True)

    def squared_norm(x: Any) -> Any:
        return mean(ops.sum(ops.square(x), axis=(1,), keepdims=False))

    size = squared_norm(anchor) + squared_norm(positive)
    logits = matmul(anchor, positive, transpose_y=True)
    return size * (0.25 * l2_reg) + cross_entropy(logits, target, soft_label=True)


@atomic
def class_center_sample(
    label: Any, num_classes: int, num_samples: int, group: Any = None
) -> tuple[Tensor, Tensor]:
    """Classes for a loss that is computed over some of them only (An and others 2021).

    Parameters
    ----------
    label : Tensor or Variable
        ``[N]``, integers.
    num_classes : int
    num_samples : int
        How many classes: those of the labels, and others drawn. There are more if the labels alone
        have more.
    group : None or False
        There are no process groups here.

    Returns
    -------
    remapped : ``[N]``
        The labels as positions among the sampled classes.
    sampled : ``[max(num_samples, classes of the labels)]``
        The classes of the labels in order, then the others.

    Raises
    ------
    IndexError, ShapeError, ArgumentError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> remapped, sampled = class_center_sample(paddle.to_tensor([7, 2, 7]), 10, 2)
    >>> remapped.tolist(), sampled.tolist()
    ([1, 0, 1], [2, 7])
    """
    op = "class_center_sample"
    _check_group(op, group)
    label = as_integers(op, label, "label")
    shape = spec_of(label).shape
    if len(shape) != 1 or shape[0] == 0:
        raise ShapeError(f"{op}: label must be [N], N at least 1, got {format_shape(shape)}")
    classes = positive_int(op, "num_classes", num_classes)
    samples = positive_int(op, "num_samples", num_samples)
    if samples > classes:
        raise ArgumentError(
            f"{op}: num_samples must not be above num_classes, got {samples} and {classes}"
        )
    sampled, remapped = ops.class_center_sample(label, classes=classes, samples=samples)
    return remapped, sampled


def _check_group(op: str, group: Any) -> None:
    if group is not None and group is not False:
        raise ArgumentError(f"{op}: group must be None, there are no process groups; got {group!r}")


@atomic
def margin_cross_entropy(
    logits: Any,
    label: Any,
    margin1: float = 1.0,
    margin2: float = 0.5,
    margin3: float = 0.0,
    scale: float = 64.0,
    group: Any = None,
    return_softmax: bool = False,
    reduction: str | None = "mean",
) -> Any:
    """Cross entropy of cosines, that of the label being made smaller (Deng and others 2019).

    With t the angle of the label, its cosine becomes ``cos(margin1 t + margin2) - margin3``; all
    are then multiplied by `scale`.

    Parameters
    ----------
    logits : Tensor or Variable
        Cosines ``[N, classes]``; the gradient at 1 and -1 is infinite.
    label : Tensor or Variable
        ``[N]`` or ``[N, 1]``
    group : None or False
        There are no process groups here.
    return_softmax : bool
        Return the softmax of the changed logits, too.
    reduction : {"mean", "sum", "none"} or None
        The losses of "none" (or None) are ``[N, 1]``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.zeros([1, 2])
    >>> round(margin_cross_entropy(x, paddle.to_tensor([0]), margin2=0.0).item(), 4)
    0.6931
    """
    op = "margin_cross_entropy"
    margin1, margin2 = check_number(op, "margin1", margin1), check_number(op, "margin2", margin2)
    margin3, scale = check_number(op, "margin3", margin3), check_number(op, "scale", scale)
    reduction = "none" if reduction is None else reduction
    check_reduction(op, reduction)
    _check_group(op, group)
    logits = as_floats(op, logits, "logits")
    label = _labels_of_rows(op, logits, label)
    wide = widen(logits)
    cosine = ops.take_along_axis(wide, label, axis=1)
    if margin1 != 1.0 or margin2 != 0.0:
        cosine = ops.cos(ops.acos(cosine) * margin1 + margin2)
    if margin3:
        cosine = cosine - margin3
    changed = ops.where(_is_label(label, wide), cosine, wide) * scale
    loss = cross_entropy(changed, label, axis=1, ignore_index=-1, reduction="none")
    loss = narrow(reduce_loss(loss, reduction), logits)
    return (loss, narrow(ops.softmax(changed, axis=1), logits)) if return_softmax else loss
