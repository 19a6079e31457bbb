"""Metrics of a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.checks import MOST, int_at_least
from autograd_engine.core.dtypes import FLOATS, INTEGERS
from autograd_engine.core.spec import Spec, format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program import mode
from autograd_engine.program.atomic_call import checked
from autograd_engine.program.builder import assigned
from autograd_engine.program.ir.program import Variable, default_main_program
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.creation import zeros
from autograd_engine.tensor.joining import concat
from autograd_engine.tensor.order import topk
from autograd_engine.tensor.reduction import any as any_of, mean, sum as sum_of
from autograd_engine.tensor.scatter import scatter_nd_add

__all__ = ["accuracy", "auc"]


@checked
def accuracy(input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None) -> Any:
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
    >>> accuracy(scores, paddle.to_tensor([[1], [1]])).item()
    0.5
    """
    input, label = as_operand("accuracy", input, "input"), as_operand("accuracy", label, "label")
    if spec_of(input).ndim != 2:
        raise ArgumentError(
            f"accuracy: input must be [N, classes], got {format_shape(spec_of(input).shape)}"
        )
    rows, shape = spec_of(input).shape[0], spec_of(label).shape
    if not may_equal(shape, (rows,)) and not may_equal(shape, (rows, 1)):
        raise ShapeError(
            f"accuracy: label must be [{rows}] or [{rows}, 1], a class for each row of input; got "
            f"{format_shape(shape)}"
        )
    _require_classes("accuracy", label)
    if len(shape) == 1:
        label = ops.unsqueeze(label, axis=(1,))
    for name, counter in (("correct", correct), ("total", total)):
        wanted = Tensor if isinstance(input, Tensor) else Variable
        if counter is not None and not isinstance(counter, wanted):
            raise NotATensorError(
                f"accuracy: {name} must be a {wanted.__name__} that is given the count, got "
                f"{type(counter).__name__}: leave it out, or make it with "
                + ("paddle.zeros" if wanted is Tensor else "paddle.static.create_global_var")
            )
    _, best = topk(input, k)
    hits = any_of(ops.equal(best, label), axis=1)
    for counter, flags in ((correct, hits), (total, ops.equal(hits, hits))):
        if counter is not None:
            spec = spec_of(counter)
            value = ops.cast(sum_of(flags), dtype=spec.dtype.name)
            value = ops.reshape(value, shape=(1,) * len(spec.shape))
            if isinstance(counter, Tensor):
                counter.set_value(value)
            else:
                assigned(value, counter)
    return mean(ops.cast(hits, dtype="float32"))


def _require_classes(function: str, label: Any) -> None:
    dtype = spec_of(label).dtype
    if dtype not in INTEGERS:
        raise DTypeError(
            f"{function}: label must hold integers, got {dtype.name}: declare it with dtype='int64'"
        )


@checked
def auc(
    input: Any,
    label: Any,
    curve: str = "ROC",
    num_thresholds: int = 2**12 - 1,
    topk: int = 1,
    slide_steps: int = 1,
    ins_tag_weight: Any = None,
) -> tuple[Any, Any, list[Any]]:
    """Area under the ROC curve, over all runs and over the last ones.

    Scores are counted in `num_thresholds` + 1 bins, and the curve is straight between them.

    Parameters
    ----------
    input : Variable
        ``[N, 2]`` (or ``[N, 1]``): scores from 0 to 1; the last column is that of the positive
        class.
    label : Variable
        ``[N]`` or ``[N, 1]``: 1 for the positive class, 0 for the other.
    curve : {"ROC"}
    num_thresholds : int
    topk : int
        Accepted for the reference's sake.
    slide_steps : int
        How many runs the second result looks back; 0 for all.
    ins_tag_weight : None
        Weights are not supported.

    Returns
    -------
    (Variable, Variable, list of Variable)
        float64 ``[]``: the area over all runs, and over the last ones. The counts that they are
        computed from, which are kept between runs: of the last ones for the positive and the
        negative class, and of all.

    Raises
    ------
    NotATensorError, ArgumentError, DTypeError, ShapeError, ModeError

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main, startup = paddle.static.Program(), paddle.static.Program()
    >>> with paddle.static.program_guard(main, startup):
    ...     scores = paddle.static.data("scores", [None, 2])
    ...     label = paddle.static.data("label", [None, 1], "int64")
    ...     area, area_of_batch, counts = paddle.static.auc(scores, label)
    >>> exe = paddle.static.Executor()
    >>> exe.run(startup)
    []
    >>> scores = np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3], [0.2, 0.8]], "float32")
    >>> exe.run(main, {"scores": scores, "label": np.array([[0], [0], [1], [1]])}, [area])
    [array(0.75)]
    """
    _check_auc(input, label, curve, num_thresholds, slide_steps, ins_tag_weight)
    positive = ops.reshape(ops.cast(label, dtype="int64"), shape=(-1,))
    scores = input if input.spec.shape[-1] == 1 else input[:, -1]
    bins = ops.cast(ops.reshape(scores, shape=(-1, 1)) * float(num_thresholds), dtype="int64")
    size = num_thresholds + 1
    window = max(slide_steps, 1)
    prefix = unique_name.generate("auc")
    recent: list[Any] = []
    overall: list[Any] = []
    for ones in (positive, 1 - positive):
        counts = scatter_nd_add(zeros([size], "int64"), bins, ones)
        counts = ops.reshape(counts, shape=(1, size))
        for kept, rows in ((recent, window), (overall, 1)):
            state = _counts(f"{prefix}.stat", (rows, size))
            if kept is recent and slide_steps:
                assigned(concat([state[1:], counts]) if rows > 1 else counts, state)
            else:
                assigned(state + counts, state)
            kept.append(state)
    return _area(*overall), _area(*recent), [*recent, *overall]


def _check_auc(
    input: Any, label: Any, curve: Any, num_thresholds: Any, slide_steps: Any, weight: Any
) -> None:
    mode.require_static("paddle.static.auc")
    for name, value in (("input", input), ("label", label)):
        if not isinstance(value, Variable):
            raise NotATensorError(f"auc: {name} must be a Variable, got {type(value).__name__}")
    if input.spec.dtype not in FLOATS:
        raise DTypeError(f"auc: input must be floating, got {input.dtype.name}: cast it first")
    _require_classes("auc", label)
    shape, given = input.spec.shape, label.spec.shape
    if len(shape) != 2 or shape[1] not in (1, 2):
        raise ShapeError(f"auc: input must be [N, 2] or [N, 1], got {format_shape(shape)}")
    if not may_equal(given, shape[:1]) and not may_equal(given, (shape[0], 1)):
        raise ShapeError(
            f"auc: label must be [N] or [N, 1], with one label for each row of input "
            f"{format_shape(shape)}; got {format_shape(given)}"
        )
    if curve != "ROC":
        raise ArgumentError(f"auc: curve must be 'ROC', got {curve!r}")
    bins = int_at_least("auc", "num_thresholds", num_thresholds, 1, MOST)
    int_at_least("auc", "slide_steps", slide_steps, 0, MOST // (bins + 1))
    if weight is not None:
        raise ArgumentError("auc: ins_tag_weight is not supported; leave it out")


def _counts(key: str, shape: tuple[int, ...]) -> Variable:
    from autograd_engine.nn.parameters import persistable_variable

    spec = Spec(shape, np.dtype("int64"))
    block = default_main_program().global_block()
    return persistable_variable(block, unique_name.generate(key), spec, 0)


def _area(positive: Any, negative: Any) -> Any:
    """From counts by score, one row for each run."""
    up, right = (
        ops.flip(ops.cast(sum_of(counts, axis=0), dtype="float64"), axis=(0,))
        for counts in (positive, negative)
    )
    height = ops.cumsum(up, axis=0)
    area, everything = sum_of(right * (height - up * 0.5)), sum_of(up) * sum_of(right)
    possible = ops.greater_than(everything, 0.0)
    return ops.where(possible, area / ops.where(possible, everything, 1.0), 0.0)
