"""Measures of a whole epoch, counted batch by batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.checks import MOST, in_memory, int_at_least
from autograd_engine.core.described import Described
from autograd_engine.core.dtypes import INTEGERS, REALS_AND_BOOLS
from autograd_engine.core.names.constructors import Respelled
from autograd_engine.core.spec import Array, format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.static.metric import accuracy as counted
from autograd_engine.tensor.order import topk as top

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]


class Metric(Respelled, Described, ABC):
    """What is measured over many batches.

    For each batch ``update`` takes what ``compute`` makes of the outputs of a model and the labels;
    ``accumulate`` gives the measure of all batches since ``reset``. A subclass defines `reset`,
    `update`, `accumulate` and `name`.

    Examples
    --------
    >>> from autograd_engine.metric import Metric
    >>> class Largest(Metric):
    ...     def __init__(self):
    ...         self.reset()
    ...
    ...     def reset(self):
    ...         self.value = float("-inf")
    ...
    ...     def update(self, x):
    ...         self.value = max(self.value, float(x.max()))
    ...
    ...     def accumulate(self):
    ...         return self.value
    ...
    ...     def name(self):
    ...         return "largest"
    >>> import numpy as np
    >>> largest = Largest()
    >>> for batch in (np.array([1.0, 3.0]), np.array([2.0])):
    ...     largest.update(batch)
    >>> largest.accumulate()
    3.0
    """

    @abstractmethod
    def reset(self) -> None:
        """Forget all batches."""

    @abstractmethod
    def update(self, *args: Any) -> Any:
        """Count a batch."""

    @abstractmethod
    def accumulate(self) -> Any:
        """The measure of all batches."""

    @abstractmethod
    def name(self) -> Any:
        """What it is called."""

    def compute(self, *args: Any) -> Any:
        """What `update` takes, of outputs and labels: these themselves, unless it is overridden.

        It is made of Tensors, or of Variables as part of a program.
        """
        return args


def _array(metric: str, name: str, value: Any) -> Array:
    if isinstance(value, Tensor):
        return value._data
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    raise NotATensorError(
        f"{metric}: {name} must be a Tensor or an ndarray, got {type(value).__name__}"
    )


class Accuracy(Metric):
    """The share of samples whose label is among the largest scores.

    Parameters
    ----------
    topk : sequence of int
        For each of them, whether the label is among so many scores.
    name : str, optional
        ``"acc"`` if left out.

    Raises
    ------
    ArgumentError, NotATensorError, DTypeError, ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> accuracy = paddle.metric.Accuracy(topk=(1, 2))
    >>> scores = paddle.to_tensor([[0.1, 0.7, 0.2], [0.5, 0.1, 0.4]])
    >>> correct = accuracy.compute(scores, paddle.to_tensor([[1], [2]]))
    >>> accuracy.update(correct)
    [0.5, 1.0]
    >>> accuracy.name(), accuracy.accumulate()
    (['acc_top1', 'acc_top2'], [0.5, 1.0])
    """

    def __init__(
        self, topk: Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        if not isinstance(topk, (list, tuple)) or not topk:
            raise ArgumentError(
                f"Accuracy: topk must be a list or a tuple of ints, got {topk!r}"
                + (f": topk=({topk},)" if isinstance(topk, int) else "")
            )
        for k in topk:
            if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
                raise ArgumentError(f"Accuracy: topk must hold ints, 1 at least; got {k!r}")
        self.topk = tuple(int(k) for k in topk)
        self.maxk = max(self.topk)
        self._name = _named("Accuracy", name, "acc")
        self.reset()

    def compute(self, pred: Any, label: Any, *args: Any) -> Any:
        """Which of the largest scores are those of the label.

        Parameters
        ----------
        pred : Tensor or Variable
            ``[..., classes]``
        label : Tensor or Variable
            ``[...]`` or ``[..., 1]`` integers, or one-hot ``[..., classes]``.

        Returns
        -------
        Tensor or Variable
            ``[..., k]`` of 0.0 and 1.0, for the largest `k` of `topk`.
        """
        pred = as_operand("Accuracy.compute", pred, "pred")
        label = as_operand("Accuracy.compute", label, "label")
        scores, labels = spec_of(pred), spec_of(label)
        if not scores.ndim:
            raise ShapeError("Accuracy.compute: pred must be [..., classes], got a scalar")
        classes = scores.shape[-1]
        if isinstance(classes, int) and classes < self.maxk:
            raise ArgumentError(
                f"Accuracy.compute: pred {format_shape(scores.shape)} has {classes} classes; topk "
                f"asks for the {self.maxk} largest"
            )
        if not any(
            may_equal(labels.shape, (*scores.shape[:-1], *last)) for last in ((), (1,), (classes,))
        ):
            raise ShapeError(
                f"Accuracy.compute: label must be {format_shape(scores.shape[:-1])}, with or "
                f"without an axis of 1, or one-hot {format_shape(scores.shape)}; got "
                f"{format_shape(labels.shape)}"
            )
        if labels.ndim < scores.ndim:
            label = ops.unsqueeze(label, axis=(labels.ndim,))
        elif labels.shape[-1] != 1:
            _, label = top(label, 1)
        if spec_of(label).dtype not in INTEGERS:
            raise DTypeError(
                f"Accuracy.compute: label must hold integers, got {labels.dtype.name}: cast it to "
                "int64"
            )
        _, best = top(pred, self.maxk)
        return ops.cast(ops.equal(best, label), dtype="float32")

    def update(self, correct: Any, *args: Any) -> Any:
        """Count what `compute` has made of a batch.

        Parameters
        ----------
        correct : Tensor or ndarray
            ``[..., k]``

        Returns
        -------
        float or list of float
            The accuracy of the batch, for each of `topk`.
        """
        flags = _array("Accuracy.update", "correct", correct)
        if not flags.ndim or flags.shape[-1] < self.maxk:
            raise ShapeError(
                f"Accuracy.update: correct must be [..., {self.maxk}], what compute() returns; got "
                f"{list(flags.shape)}"
            )
        rows = int(np.prod(flags.shape[:-1]))
        hits = [float(flags[..., :k].sum()) for k in self.topk]
        for place, found in enumerate(hits):
            self.total[place] += found
            self.count[place] += rows
        shares = [found / rows if rows else 0.0 for found in hits]
        return shares if len(shares) > 1 else shares[0]

    def reset(self) -> None:
        """Forget all batches."""
        self.total = [0.0] * len(self.topk)
        self.count = [0] * len(self.topk)

    def accumulate(self) -> Any:
        """The accuracy of all batches, for each of `topk`; 0 without any."""
        shares = [
            found / rows if rows else 0.0
            for found, rows in zip(self.total, self.count, strict=True)
        ]
        return shares if len(shares) > 1 else shares[0]

    def name(self) -> list[str]:
        """One for each of `topk`."""
        if len(self.topk) == 1:
            return [self._name]
        return [f"{self._name}_top{k}" for k in self.topk]


def _named(metric: str, name: Any, default: str) -> str:
    if name is not None and not isinstance(name, str):
        raise ArgumentError(f"{metric}: name must be a str, got {name!r}")
    return default if name is None else name


def _binary(metric: str, preds: Any, labels: Any) -> tuple[Array, Array]:
    """Scores and whether the label is 1, both ``[N]``."""
    scores = _array(metric, "preds", preds)
    truth = _array(metric, "labels", labels)
    if scores.dtype not in REALS_AND_BOOLS:
        raise DTypeError(f"{metric}: preds must hold numbers, got {scores.dtype}")
    if scores.size != truth.size:
        raise ShapeError(
            f"{metric}: preds and labels must have as many elements, got shapes "
            f"{list(scores.shape)} and {list(truth.shape)}"
        )
    if np.isnan(scores).any():
        raise ArgumentError(f"{metric}: preds has a NaN; look at what the model returns")
    unknown = truth[~np.isin(truth, (0, 1))]
    if unknown.size:
        first = unknown.flat[0].item()
        raise ArgumentError(
            f"{metric}: labels must be 0 or 1, got {first!r} ({type(first).__name__})"
        )
    return scores.ravel(), truth.ravel() == 1


class _Shares(Metric):
    """What precision and recall have in common: 0.5 and more counts as positive.

    Parameters
    ----------
    name : str

    Raises
    ------
    ArgumentError, NotATensorError, DTypeError, ShapeError
    """

    _kind = ""

    def __init__(self, name: str | None = None, *args: Any, **kwargs: Any) -> None:
        self._name = _named(type(self).__name__, name, self._kind)
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Count a batch.

        Parameters
        ----------
        preds : Tensor or ndarray
            Probabilities of the positive class, 0.5 and more counts as positive.
        labels : Tensor or ndarray
            As many: 1 for the positive class, 0 for the other.
        """
        scores, truth = _binary(f"{type(self).__name__}.update", preds, labels)
        self._count(scores >= 0.5, truth)

    def _count(self, found: Array, truth: Array) -> None:
        """Add those of a batch, of which it is known which are found positive, and which are."""
        raise NotImplementedError

    def name(self) -> str:
        """What it is called."""
        return self._name


class Precision(_Shares):
    """Of what is found positive, the share that is: ``tp / (tp + fp)``.

    Attributes
    ----------
    tp, fp : int
        True and false positives so far.

    Examples
    --------
    >>> import numpy as np
    >>> from autograd_engine.metric import Precision
    >>> precision = Precision()
    >>> precision.update(np.array([0.1, 0.5, 0.6, 0.7]), np.array([0, 1, 1, 0]))
    >>> round(precision.accumulate(), 3)
    0.667
    """

    _kind = "precision"

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        super().__init__(name)

    def _count(self, found: Array, truth: Array) -> None:
        self.tp += int((found & truth).sum())
        self.fp += int((found & ~truth).sum())

    def reset(self) -> None:
        """Forget all batches."""
        self.tp = self.fp = 0

    def accumulate(self) -> float:
        """The precision of all batches; 0 where nothing was found positive."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0


class Recall(_Shares):
    """Of what is positive, the share that is found: ``tp / (tp + fn)``.

    Attributes
    ----------
    tp, fn : int
        True positives and false negatives so far.

    Examples
    --------
    >>> import numpy as np
    >>> from autograd_engine.metric import Recall
    >>> recall = Recall()
    >>> recall.update(np.array([0.1, 0.5, 0.6, 0.7]), np.array([1, 0, 1, 1]))
    >>> round(recall.accumulate(), 3)
    0.667
    """

    _kind = "recall"

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        super().__init__(name)

    def _count(self, found: Array, truth: Array) -> None:
        self.tp += int((found & truth).sum())
        self.fn += int((~found & truth).sum())

    def reset(self) -> None:
        """Forget all batches."""
        self.tp = self.fn = 0

    def accumulate(self) -> float:
        """The recall of all batches; 0 where nothing was positive."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0


class Auc(Metric):
    """The area under the ROC curve of a classifier of two classes.

    Scores are counted in bins, and the curve is straight between them.

    Parameters
    ----------
    curve : {"ROC"}
    num_thresholds : int
        There are so many bins, and one for a score of 1.
    name : str

    Raises
    ------
    ArgumentError, NotATensorError, DTypeError, ShapeError

    Examples
    --------
    >>> import numpy as np
    >>> from autograd_engine.metric import Auc
    >>> auc = Auc()
    >>> scores = np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3], [0.2, 0.8]])
    >>> auc.update(scores, np.array([[0], [0], [1], [1]]))
    >>> auc.accumulate()
    0.75
    """

    def __init__(
        self,
        curve: str = "ROC",
        num_thresholds: int = 4095,
        name: str = "auc",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if curve != "ROC":
            raise ArgumentError(f"Auc: curve must be 'ROC', got {curve!r}")
        self._num_thresholds = int_at_least("Auc", "num_thresholds", num_thresholds, 1, MOST)
        self._name = _named("Auc", name, "auc")
        in_memory("Auc: num_thresholds", [num_thresholds], self.reset)

    def update(self, preds: Any, labels: Any) -> None:
        """Count a batch.

        Parameters
        ----------
        preds : Tensor or ndarray
            ``[N, 2]``: probabilities of the negative and the positive class; or ``[N, 1]`` or
            ``[N]``, of the positive class.
        labels : Tensor or ndarray
            ``[N]`` or ``[N, 1]``: 1 for the positive class, 0 for the other.
        """
        scores = _array("Auc.update", "preds", preds)
        if scores.ndim == 2 and scores.shape[1] == 2:
            scores = scores[:, 1]
        elif scores.ndim != 1 and scores.shape[1:] != (1,):
            raise ShapeError(
                f"Auc.update: preds must be [N, 2], [N, 1] or [N], got {list(scores.shape)}"
            )
        flat, truth = _binary("Auc.update", scores, labels)
        if flat.size and not (flat.min() >= 0 and flat.max() <= 1):
            bad = flat[(flat < 0) | (flat > 1)][0]
            raise ArgumentError(
                f"Auc.update: preds must be probabilities, from 0 to 1, got {bad}: apply softmax "
                "or sigmoid"
            )
        bins = np.multiply(flat, self._num_thresholds, dtype=np.float64).astype(np.int64)
        size = self._num_thresholds + 1
        self._stat_pos += np.bincount(bins[truth], minlength=size)
        self._stat_neg += np.bincount(bins[~truth], minlength=size)

    def reset(self) -> None:
        """Forget all batches."""
        self._stat_pos = np.zeros(self._num_thresholds + 1, np.int64)
        self._stat_neg = np.zeros(self._num_thresholds + 1, np.int64)

    def accumulate(self) -> float:
        """The area of all batches; 0 where all labels are alike."""
        up, right = (c[::-1].astype(np.float64) for c in (self._stat_pos, self._stat_neg))
        everything = up.sum() * right.sum()
        # Each bin adds a trapezoid, as wide as it has negatives.
        return float((right * (up.cumsum() - up / 2)).sum() / everything) if everything else 0.0

    def name(self) -> str:
        """What it is called."""
        return self._name


def accuracy(
    input: Any,
    label: Any,
    k: int = 1,
    correct: Any = None,
    total: Any = None,
    name: str | None = None,
) -> Any:
    """The share of rows of `input` whose label is among the `k` largest scores.

    Parameters
    ----------
    input : Tensor or Variable
        ``[N, classes]``
    label : Tensor or Variable
        ``[N]`` or ``[N, 1]`` integers.
    k : int
    correct, total : Tensor or Variable, optional
        One integer each: given how many rows there are whose label is, and how many there are.
    name : str, optional
        Accepted for the reference's sake.

    Returns
    -------
    Tensor or Variable
        float32 ``[]``

    Raises
    ------
    NotATensorError, ArgumentError, DTypeError, ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scores = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]])
    >>> paddle.metric.accuracy(scores, paddle.to_tensor([[1], [1]])).item()
    0.5
    """
    return counted(input, label, k, correct, total)
