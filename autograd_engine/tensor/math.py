"""Arithmetic, elementwise functions and comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine.dtypes import DTypeLike, to_numpy
from autograd_engine.errors import ArgumentError
from autograd_engine.namespace import ops
from autograd_engine.tensor.operand import as_operand

__all__ = [
    "abs",
    "add",
    "add_n",
    "cast",
    "clip",
    "cos",
    "divide",
    "equal",
    "erf",
    "exp",
    "floor",
    "greater_equal",
    "greater_than",
    "less_equal",
    "less_than",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "maximum",
    "minimum",
    "multiply",
    "neg",
    "not_equal",
    "pow",
    "rsqrt",
    "scale",
    "sign",
    "sin",
    "sqrt",
    "square",
    "subtract",
    "tanh",
    "where",
]

_ACTIVATIONS = ("relu", "sigmoid", "tanh")


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """x + y, elementwise with broadcasting; ``x + y`` is the same.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.add(paddle.to_tensor([1.0, 2.0]), 1.0).tolist()
    [2.0, 3.0]
    """
    return ops.add(x, y)


def subtract(x: Any, y: Any, name: str | None = None) -> Any:
    """x - y, elementwise with broadcasting."""
    return ops.subtract(x, y)


def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """x * y, elementwise with broadcasting."""
    return ops.multiply(x, y)


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y, elementwise with broadcasting; integers give the default float dtype."""
    return ops.divide(x, y)


def pow(x: Any, y: Any, name: str | None = None) -> Any:
    """x to the power of y, elementwise with broadcasting.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> (paddle.to_tensor([1.0, 2.0]) ** 3).tolist()
    [1.0, 8.0]
    """
    if isinstance(y, (int, float)) and not isinstance(y, bool) and y == 2:
        return ops.square(x)
    return ops.pow(x, y)


def neg(x: Any, name: str | None = None) -> Any:
    """-x"""
    return ops.negative(x)


def square(x: Any, name: str | None = None) -> Any:
    """x * x"""
    return ops.square(x)


def sqrt(x: Any, name: str | None = None) -> Any:
    """Square root; the gradient at 0 is infinite."""
    return ops.sqrt(x)


def rsqrt(x: Any, name: str | None = None) -> Any:
    """1 / sqrt(x)"""
    return 1.0 / ops.sqrt(x)


def exp(x: Any, name: str | None = None) -> Any:
    """e to the power of x."""
    return ops.exp(x)


def log(x: Any, name: str | None = None) -> Any:
    """Natural logarithm."""
    return ops.log(x)


def sin(x: Any, name: str | None = None) -> Any:
    """Sine of x in radians."""
    return ops.sin(x)


def cos(x: Any, name: str | None = None) -> Any:
    """Cosine of x in radians."""
    return ops.cos(x)


def tanh(x: Any, name: str | None = None) -> Any:
    """Hyperbolic tangent."""
    return ops.tanh(x)


def erf(x: Any, name: str | None = None) -> Any:
    """Error function, 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x."""
    return ops.erf(x)


def abs(x: Any, name: str | None = None) -> Any:
    """Absolute value; the gradient at 0 is 0."""
    return ops.abs(x)


def sign(x: Any, name: str | None = None) -> Any:
    """-1, 0 or 1; no gradient."""
    return ops.sign(x)


def floor(x: Any, name: str | None = None) -> Any:
    """The largest whole number not above x; no gradient."""
    return ops.floor(x)


def maximum(x: Any, y: Any, name: str | None = None) -> Any:
    """The larger of x and y; where they tie, each gets half of the gradient."""
    return ops.maximum(x, y)


def minimum(x: Any, y: Any, name: str | None = None) -> Any:
    """The smaller of x and y; where they tie, each gets half of the gradient."""
    return ops.minimum(x, y)


def clip(
    x: Any, min: float | None = None, max: float | None = None, name: str | None = None
) -> Any:
    """x limited to [min, max]; the gradient is 1 on both edges.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.clip(paddle.to_tensor([-1.0, 0.5, 2.0]), 0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    out = x
    if min is not None:
        out = ops.where(ops.less_than(out, min), min, out)
    if max is not None:
        out = ops.where(ops.greater_than(out, max), max, out)
    return ops.assign(x) if out is x else out


def scale(
    x: Any,
    scale: float = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Any:
    """scale * x + bias, or scale * (x + bias).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.scale(paddle.to_tensor([1.0]), scale=2.0, bias=1.0).tolist()
    [3.0]
    """
    if act is not None and act not in _ACTIVATIONS:
        raise ArgumentError(f"scale: act must be one of {', '.join(_ACTIVATIONS)}, got {act!r}")
    out = x * scale + bias if bias_after_scale else (x + bias) * scale
    return out if act is None else getattr(ops, act)(out)


def add_n(inputs: Any, name: str | None = None) -> Any:
    """Sum of several arrays of one shape.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.add_n([paddle.ones([2]), paddle.ones([2])]).tolist()
    [2.0, 2.0]
    """
    values: Sequence[Any] = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if not values:
        raise ArgumentError("add_n: inputs is empty; give one array at least")
    values = [as_operand("add_n", v, f"inputs[{k}]") for k, v in enumerate(values)]
    return ops.add_n(*values)


def cast(x: Any, dtype: DTypeLike) -> Any:
    """x in another dtype; ``x.astype(dtype)`` is the same.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.cast(paddle.to_tensor([1.7]), "int64").tolist()
    [1]
    """
    return ops.cast(x, dtype=to_numpy(dtype).name)


def where(condition: Any, x: Any, y: Any, name: str | None = None) -> Any:
    """x where `condition` holds, else y.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.where(paddle.to_tensor([True, False]), 1.0, 2.0).tolist()
    [1.0, 2.0]
    """
    return ops.where(condition, x, y)


def equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Where x == y."""
    return ops.equal(x, y)


def not_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Where x != y."""
    return ops.not_equal(x, y)


def greater_than(x: Any, y: Any, name: str | None = None) -> Any:
    """Where x > y."""
    return ops.greater_than(x, y)


def greater_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Where x >= y."""
    return ops.greater_equal(x, y)


def less_than(x: Any, y: Any, name: str | None = None) -> Any:
    """Where x < y."""
    return ops.less_than(x, y)


def less_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Where x <= y."""
    return ops.less_equal(x, y)


def logical_and(x: Any, y: Any, name: str | None = None) -> Any:
    """Where both hold."""
    return ops.logical_and(x, y)


def logical_or(x: Any, y: Any, name: str | None = None) -> Any:
    """Where either holds."""
    return ops.logical_or(x, y)


def logical_not(x: Any, name: str | None = None) -> Any:
    """Where x does not hold."""
    return ops.logical_not(x)
