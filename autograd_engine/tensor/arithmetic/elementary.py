"""Roots, exponentials and logarithms."""

from __future__ import annotations

from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.namespace import ops

__all__ = [
    "exp",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "rsqrt",
    "sqrt",
]


def sqrt(x: Any, name: str | None = None) -> Tensor:
    """Square root; the gradient at 0 is infinite."""
    return ops.sqrt(x)


def rsqrt(x: Any, name: str | None = None) -> Tensor:
    """1 / sqrt(x)"""
    return 1.0 / ops.sqrt(x)


def exp(x: Any, name: str | None = None) -> Tensor:
    """e to the power of x."""
    return ops.exp(x)


def expm1(x: Any, name: str | None = None) -> Tensor:
    """exp(x) - 1, exact near 0 where the difference would cancel.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.expm1(paddle.to_tensor([1e-20], dtype="float64")).tolist()
    [1e-20]
    """
    return ops.expm1(x)


def log(x: Any, name: str | None = None) -> Tensor:
    """Natural logarithm."""
    return ops.log(x)


def log2(x: Any, name: str | None = None) -> Tensor:
    """Logarithm to base 2."""
    return ops.log2(x)


def log10(x: Any, name: str | None = None) -> Tensor:
    """Logarithm to base 10."""
    return ops.log10(x)


def log1p(x: Any, name: str | None = None) -> Tensor:
    """log(1 + x), exact near 0 where the sum would round.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.log1p(paddle.to_tensor([1e-20], dtype="float64")).tolist()
    [1e-20]
    """
    return ops.log1p(x)


def logaddexp(x: Any, y: Any, name: str | None = None) -> Tensor:
    """log(exp(x) + exp(y)), elementwise with broadcasting, without overflow.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.logaddexp(paddle.to_tensor([1000.0]), paddle.to_tensor([0.0])).tolist()
    [1000.0]
    """
    return ops.logaddexp(x, y)
