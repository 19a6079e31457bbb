"""Metrics of a program."""

from __future__ import annotations

from typing import Any

from autograd_engine.errors import ArgumentError
from autograd_engine.namespace import ops
from autograd_engine.tensor.operand import as_operand, spec_of
from autograd_engine.tensor.reduction import any as any_of
from autograd_engine.tensor.reduction import mean, topk

__all__ = ["accuracy"]


def accuracy(input: Any, label: Any, k: int = 1, name: str | None = None) -> Any:
    """The share of rows of `input` whose label is among the `k` largest scores.

    Parameters
    ----------
    input : Tensor or Variable
        ``[N, classes]``
    label : Tensor or Variable
        ``[N]`` or ``[N, 1]`` integers.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scores = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]])
    >>> accuracy(scores, paddle.to_tensor([[1], [1]])).item()
    0.5
    """
    input, label = as_operand("accuracy", input, "input"), as_operand("accuracy", label, "label")
    if spec_of(input).ndim != 2:
        raise ArgumentError("accuracy: input must be [N, classes]")
    if spec_of(label).ndim == 1:
        label = ops.unsqueeze(label, axis=(1,))
    _, best = topk(input, k)
    hits = any_of(ops.equal(best, label), axis=1)
    return mean(ops.cast(hits, dtype="float32"))
