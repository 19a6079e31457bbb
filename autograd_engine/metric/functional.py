"""Measures of one batch."""

from __future__ import annotations

from typing import Any

from autograd_engine.static.metric import accuracy as counted

__all__ = ["accuracy"]


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
