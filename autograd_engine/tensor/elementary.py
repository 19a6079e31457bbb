"""Roots, exponentials and logarithms."""

from __future__ import annotations

import math
from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "deg2rad",
    "exp",
    "expm1",
    "hypot",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "rad2deg",
    "rsqrt",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "stanh",
    "tan",
    "tanh",
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


def sin(x: Any, name: str | None = None) -> Tensor:
    """Sine of x in radians."""
    return ops.sin(x)


def cos(x: Any, name: str | None = None) -> Tensor:
    """Cosine of x in radians."""
    return ops.cos(x)


def tan(x: Any, name: str | None = None) -> Tensor:
    """Tangent of x in radians."""
    return ops.tan(x)


def asin(x: Any, name: str | None = None) -> Tensor:
    """Inverse of `sin`, for x from -1 to 1; the gradient at both ends is infinite."""
    return ops.asin(x)


def acos(x: Any, name: str | None = None) -> Tensor:
    """Inverse of `cos`, for x from -1 to 1; the gradient at both ends is -inf."""
    return ops.acos(x)


def atan(x: Any, name: str | None = None) -> Tensor:
    """Inverse of `tan`, from -pi / 2 to pi / 2."""
    return ops.atan(x)


def atan2(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Angle of the point with the abscissa y and the ordinate x: atan(x / y) in its quadrant.

    Parameters
    ----------
    x, y : Tensor or number
        They broadcast.

    Returns
    -------
    Tensor
        From -pi to pi. At the origin both gradients are 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.atan2(paddle.to_tensor([1.0, 0.0]), paddle.to_tensor([0.0, 1.0])).tolist()
    [1.5707963705062866, 0.0]
    """
    return ops.atan2(x, y)


def hypot(x: Any, y: Any, name: str | None = None) -> Tensor:
    """sqrt(x * x + y * y) without overflow; both gradients are 0 at the origin.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.hypot(paddle.to_tensor([3.0, 3e30]), paddle.to_tensor([4.0, 4e30])).tolist()
    [5.0, 4.9999999241216036e+30]
    """
    return ops.hypot(x, y)


def sinh(x: Any, name: str | None = None) -> Tensor:
    """Hyperbolic sine."""
    return ops.sinh(x)


def cosh(x: Any, name: str | None = None) -> Tensor:
    """Hyperbolic cosine."""
    return ops.cosh(x)


def tanh(x: Any, name: str | None = None) -> Tensor:
    """Hyperbolic tangent."""
    return ops.tanh(x)


@atomic
def stanh(
    x: Any, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None
) -> Tensor:
    """scale_b * tanh(scale_a * x).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.stanh(paddle.to_tensor([0.0, 100.0])).tolist()
    [0.0, 1.71589994430542]
    """
    return ops.multiply(ops.tanh(ops.multiply(x, scale_a)), scale_b)


def asinh(x: Any, name: str | None = None) -> Tensor:
    """Inverse of `sinh`."""
    return ops.asinh(x)


def acosh(x: Any, name: str | None = None) -> Tensor:
    """Inverse of `cosh`, for x from 1 up; the gradient at 1 is infinite."""
    return ops.acosh(x)


def atanh(x: Any, name: str | None = None) -> Tensor:
    """Inverse of `tanh`, for x from -1 to 1; infinite at both ends, as the gradient is."""
    return ops.atanh(x)


def deg2rad(x: Any, name: str | None = None) -> Tensor:
    """Degrees to radians."""
    return ops.multiply(x, math.pi / 180.0)


def rad2deg(x: Any, name: str | None = None) -> Tensor:
    """Radians to degrees."""
    return ops.multiply(x, 180.0 / math.pi)


def sinc(x: Any, name: str | None = None) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0; smooth there, at every order.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.sinc(paddle.to_tensor([0.0, 0.5])).tolist()
    [1.0, 0.6366197466850281]
    """
    return ops.sinc(x)
