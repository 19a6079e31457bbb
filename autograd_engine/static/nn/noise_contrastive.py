"""Noise-contrastive estimation: a loss over the label and a few classes that are drawn."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from autograd_engine.core.checks import positive_int
from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import Array, format_shape, may_equal
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import as_integers
from autograd_engine.nn.initializer import XavierUniform
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import checked
from autograd_engine.program.ir.program import Variable
from autograd_engine.static.nn.parameters import floating, layer, one_of

__all__ = ["nce"]


def _distribution(sampler: str, classes: int, custom: Any) -> Array:
    """Of the classes that are drawn."""
    if sampler == "uniform":
        return np.full(classes, 1.0 / classes)
    if sampler == "log_uniform":
        return np.asarray(np.diff(np.log(np.arange(1, classes + 2))) / np.log(classes + 1))
    try:
        given = np.asarray(custom, np.float64)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape != (classes,) or not np.all(given >= 0) or not np.isclose(given.sum(), 1.0):
        raise ArgumentError(
            f"nce: custom_dist must be {classes} probabilities that add up to 1, got {custom!r:.80}"
        )
    return given


@checked
def nce(
    input: Any,
    label: Any,
    num_total_classes: int,
    sample_weight: Any = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    num_neg_samples: int | None = None,
    name: str | None = None,
    sampler: str = "uniform",
    custom_dist: Any = None,
    seed: int = 0,
    is_sparse: bool = False,
) -> Variable:
    """How well the labels are told from classes that are drawn (Gutmann and Hyvarinen 2010).

    With s the sigmoid of the score ``input . weight[c] + bias[c]`` of a class c, S classes drawn
    and q = S times the probability of drawing c, the loss of a label is ``-log(s / (s + q))`` and
    that of a class drawn ``-log(q / (s + q))``; their sum is divided by S + 1.

    Parameters
    ----------
    input : Variable
        Floating, ``[N, D]``.
    label : Variable
        Integers, ``[N, labels]``.
    num_total_classes : int
    sample_weight : Variable, optional
        ``[N, 1]``
    param_attr, bias_attr : ParamAttr, str, Initializer, optional
        Of the weight ``[classes, D]`` and the bias ``[classes, 1]``; ``bias_attr=False`` for none.
    num_neg_samples : int, optional
        S, drawn anew for each row; 10 by default.
    sampler : {"uniform", "log_uniform", "custom_dist"}
        "log_uniform": class c with probability proportional to ``log((c + 2) / (c + 1))``.
    custom_dist : sequence of float, optional
        A probability for each class.
    seed : int
        0: `paddle.seed` says what is drawn.
    is_sparse : bool
        Accepted for the reference's sake.

    Returns
    -------
    Variable
        ``[N, 1]``

    Raises
    ------
    NotATensorError, DTypeError, ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 8])
    ...     label = paddle.static.data("label", [None, 1], "int64")
    ...     paddle.static.nn.nce(x, label, num_total_classes=100).shape
    (-1, 1)
    """
    where = "nce"
    floating(where, "input", input)
    label = as_integers(where, label, "label")
    have, labels = input.spec.shape, label.spec.shape
    if any(len(s) != 2 or isinstance(s[1], Dim) for s in (have, labels)):
        raise ShapeError(
            f"{where}: input must be [N, width] and label [N, labels], of known width, got "
            f"{format_shape(have)} and {format_shape(labels)}"
        )
    classes = positive_int(where, "num_total_classes", num_total_classes)
    drawn = positive_int(
        where, "num_neg_samples", 10 if num_neg_samples is None else num_neg_samples
    )
    one_of(where, "sampler", sampler, ("uniform", "log_uniform", "custom_dist"))
    chances = _distribution(sampler, classes, custom_dist).astype(input.spec.dtype)
    if seed:
        raise ArgumentError(f"{where}: seed must be 0; call paddle.seed({seed!r}) before the run")
    with layer(where, name, input.spec.dtype) as made:
        weight = made.weight((classes, int(have[1])), param_attr, XavierUniform())
        bias = made.bias(bias_attr, classes, 1)
        # A row of chances for each of the input, however many there are.
        first = ops.getitem(input, key=(slice(None), slice(0, 1)))
        rows = ops.full_like(first, value=0.0) + chances
        noise = ops.multinomial(rows, num_samples=drawn, replacement=True)
        named = ops.concat(ops.cast(label, dtype="int64"), noise, axis=1)
        each = ops.gather(weight, named, axis=0)
        scores = ops.sum(each * ops.unsqueeze(input, axis=(1,)), axis=(2,), keepdims=False)
        if bias is not None:
            scores = scores + ops.squeeze(ops.gather(bias, named, axis=0), axis=(2,))
        expected = ops.gather(chances, named, axis=0) * float(drawn)
        told = ops.log(ops.sigmoid(scores) + expected)
        labelled = (slice(None), slice(0, int(labels[1])))
        others = (slice(None), slice(int(labels[1]), None))
        known = ops.log_sigmoid(ops.getitem(scores, key=labelled))
        noisy = ops.log(ops.getitem(expected, key=others))
        total = ops.sum(told, axis=(1,), keepdims=True)
        for part in (known, noisy):
            total = total - ops.sum(part, axis=(1,), keepdims=True)
        if sample_weight is not None:
            floating(where, "sample_weight", sample_weight)
            if not may_equal(sample_weight.spec.shape, (have[0], 1)):
                raise ShapeError(
                    f"{where}: sample_weight must be [N, 1], got "
                    f"{format_shape(sample_weight.spec.shape)}"
                )
            total = total * sample_weight
        return cast(Variable, total / (drawn + 1.0))
