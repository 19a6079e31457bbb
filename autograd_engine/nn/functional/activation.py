"""Activation functions."""

from __future__ import annotations

import math
from typing import Any

from autograd_engine.dtypes import DTypeLike, to_numpy
from autograd_engine.namespace import ops
from autograd_engine.spec import normalize_axis
from autograd_engine.tensor.operand import as_operand, spec_of

__all__ = ["gelu", "leaky_relu", "log_softmax", "relu", "sigmoid", "softmax", "tanh"]


def relu(x: Any, name: str | None = None) -> Any:
    """max(x, 0); the gradient at 0 is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> relu(paddle.to_tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return ops.relu(x)


def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> Any:
    """x where x >= 0, else negative_slope * x; the gradient at 0 is 1."""
    return ops.where(ops.less_than(x, 0.0), x * negative_slope, x)


def sigmoid(x: Any, name: str | None = None) -> Any:
    """1 / (1 + exp(-x)), without overflow at either end."""
    return ops.sigmoid(x)


def tanh(x: Any, name: str | None = None) -> Any:
    """Hyperbolic tangent."""
    return ops.tanh(x)


def gelu(x: Any, approximate: bool = False, name: str | None = None) -> Any:
    """x times the normal distribution function at x, or its approximation by tanh.

    Hendrycks and Gimpel 2016.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> gelu(paddle.to_tensor([0.0])).tolist()
    [0.0]
    """
    if not approximate:
        return ops.gelu(x)
    inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * (x * ops.square(x)))
    return 0.5 * x * (1.0 + ops.tanh(inner))


def _along(name: str, x: Any, axis: int, dtype: DTypeLike | None) -> Any:
    x = as_operand(name, x)
    if dtype is not None:
        x = ops.cast(x, dtype=to_numpy(dtype).name)
    if spec_of(x).ndim == 0:
        return ops.reshape(_along(name, ops.reshape(x, shape=(1,)), 0, None), shape=())
    return getattr(ops, name)(x, axis=normalize_axis(name, axis, spec_of(x).ndim))


def softmax(x: Any, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """exp(x) / sum(exp(x)) along `axis`, computed without overflow.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> softmax(paddle.to_tensor([1000.0, 1000.0])).tolist()
    [0.5, 0.5]
    """
    return _along("softmax", x, axis, dtype)


def log_softmax(
    x: Any, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """log(softmax(x)) along `axis`, computed without overflow or log(0)."""
    return _along("log_softmax", x, axis, dtype)
