"""Rounding, remainders, and the parts of floating-point numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import COMPLEX, FLOATS, finfo, instead_of_complex
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "ceil",
    "copysign",
    "floor",
    "floor_divide",
    "floor_mod",
    "frac",
    "frexp",
    "gcd",
    "lcm",
    "ldexp",
    "mod",
    "nan_to_num",
    "nextafter",
    "remainder",
    "round",
    "signbit",
    "trunc",
]


def floor(x: Any, name: str | None = None) -> Tensor:
    """The largest whole number not above x; no gradient."""
    return ops.floor(x)


def ceil(x: Any, name: str | None = None) -> Tensor:
    """The smallest whole number not below x; no gradient."""
    return ops.ceil(x)


def trunc(input: Any, name: str | None = None) -> Tensor:
    """The whole number next to x on the side of 0; no gradient."""
    return ops.trunc(input)


@atomic
def round(x: Any, decimals: int = 0, name: str | None = None) -> Tensor:
    """The nearest number with `decimals` decimals, halves to even; no gradient.

    Parameters
    ----------
    x : Tensor
    decimals : int
        Negative ones round to tens, hundreds and so on.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.round(paddle.to_tensor([0.5, 1.5, -1.6])).tolist()
    [0.0, 2.0, -2.0]
    >>> paddle.round(paddle.to_tensor([1234.0]), decimals=-2).tolist()
    [1200.0]
    """
    if not isinstance(decimals, (int, np.integer)) or isinstance(decimals, bool):
        raise ArgumentError(f"round: decimals must be an int, got {decimals!r}")
    return ops.round(x, decimals=int(decimals))


def frac(x: Any, name: str | None = None) -> Tensor:
    """x - trunc(x), with the sign of x; the gradient is 1 everywhere.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.frac(paddle.to_tensor([1.25, -1.25])).tolist()
    [0.25, -0.25]
    """
    return ops.subtract(x, ops.trunc(x))


def remainder(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x - floor(x / y) * y, which has the sign of y; ``x % y`` is the same.

    Parameters
    ----------
    x, y : Tensor or number
        They broadcast; integers keep their dtype.

    Returns
    -------
    Tensor
        The gradient is 1 for x and -floor(x / y) for y, at the jumps, too.

    Raises
    ------
    ArgumentError
        Where an integer is to be divided by 0; floats give NaN there.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.remainder(paddle.to_tensor([5, -5]), 3).tolist()
    [2, 1]
    """
    return ops.remainder(x, y)


mod = remainder
floor_mod = remainder


def floor_divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """floor(x / y), elementwise with broadcasting; no gradient. ``x // y`` is the same.

    Integers keep their dtype, and cannot be divided by 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.floor_divide(paddle.to_tensor([5, -5]), 3).tolist()
    [1, -2]
    """
    return ops.floor_divide(x, y)


def gcd(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Greatest common divisor of integers, elementwise with broadcasting; 0 of two zeros.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.gcd(paddle.to_tensor([12, -8]), paddle.to_tensor(20)).tolist()
    [4, 4]
    """
    return ops.gcd(x, y)


def lcm(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Least common multiple of integers, elementwise with broadcasting; 0 beside a zero.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.lcm(paddle.to_tensor([4, -6]), paddle.to_tensor(10)).tolist()
    [20, 30]
    """
    return ops.lcm(x, y)


def signbit(x: Any, name: str | None = None) -> Tensor:
    """Where the sign of x is minus, as that of -0.0 is."""
    return ops.signbit(x)


@atomic
def copysign(x: Any, y: Any, name: str | None = None) -> Tensor:
    """abs(x) with the sign of y, elementwise with broadcasting.

    The gradient for x is 1 or -1, and 0 where x is 0; y has none.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.copysign(paddle.to_tensor([1.0, -2.0]), paddle.to_tensor([-0.0, 3.0])).tolist()
    [-1.0, 2.0]
    """
    if isinstance(y, (bool, int, float)):
        size = _size("copysign", x)
        return -size if math.copysign(1.0, y) < 0.0 else size
    y = as_operand("copysign", y, "y")
    if isinstance(x, (bool, int, float)) and spec_of(y).dtype in FLOATS:
        x = np.array(x, spec_of(y).dtype)
    size = _size("copysign", x)
    return ops.where(ops.signbit(y), -size, size)


def _size(function: str, x: Any) -> Any:
    x = as_operand(function, x)
    dtype = spec_of(x).dtype
    if dtype in COMPLEX:
        raise DTypeError(f"{function}: x must be real, got {dtype.name}{instead_of_complex(dtype)}")
    return ops.abs(x)


def nextafter(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The floating-point number next to x in the direction of y; no gradient.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nextafter(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
    [1.0000001192092896]
    """
    return ops.nextafter(x, y)


@atomic
def ldexp(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * 2**y, elementwise with broadcasting; integers give the default float dtype.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.ldexp(paddle.to_tensor([0.5, 3.0]), paddle.to_tensor([4, 1])).tolist()
    [8.0, 6.0]
    """
    x = as_operand("ldexp", x)
    if spec_of(x).dtype not in FLOATS:
        x = ops.multiply(x, 1.0)  # the default float
    if isinstance(y, (int, float)):
        return ops.multiply(x, 2.0**y)
    y = as_operand("ldexp", y, "y")
    if spec_of(y).dtype not in FLOATS:
        y = ops.cast_like(y, x)
    return ops.multiply(x, ops.pow(2.0, y))


def frexp(x: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Mantissa and exponent: x is mantissa * 2**exponent, with 0.5 <= abs(mantissa) < 1.

    Returns
    -------
    mantissa, exponent : Tensor
        Both of the shape and dtype of x. The exponent has no gradient; that of the mantissa takes
        it as constant.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> mantissa, exponent = paddle.frexp(paddle.to_tensor([8.0, -3.0]))
    >>> mantissa.tolist(), exponent.tolist()
    ([0.5, -0.75], [4.0, 2.0])
    """
    mantissa, exponent = ops.frexp(x)
    return mantissa, exponent


@atomic
def nan_to_num(
    x: Any,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    name: str | None = None,
) -> Tensor:
    """x with numbers in place of NaN and infinities; the gradient is 0 where x was replaced.

    Parameters
    ----------
    x : Tensor
    nan : float
    posinf, neginf : float, optional
        The largest and the smallest number of the dtype if not given.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([float("nan"), float("inf"), 1.0])
    >>> paddle.nan_to_num(x, posinf=9.0).tolist()
    [0.0, 9.0, 1.0]
    """
    x = as_operand("nan_to_num", x)
    dtype = spec_of(x).dtype
    if dtype not in FLOATS:
        return ops.assign(x)
    limits = finfo(dtype)
    upper = float(limits.max) if posinf is None else posinf
    lower = float(limits.min) if neginf is None else neginf
    out = ops.where(ops.not_equal(x, x), nan, x)
    out = ops.where(ops.equal(x, math.inf), upper, out)
    return ops.where(ops.equal(x, -math.inf), lower, out)
