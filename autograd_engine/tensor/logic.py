"""Comparisons, logic, and operations on bits. None of them has a gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.checks import as_number
from autograd_engine.core.dtypes import COMPLEX, FLOATS, INTEGERS
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "allclose",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "eq",
    "equal",
    "equal_all",
    "ge",
    "greater",
    "greater_equal",
    "greater_than",
    "gt",
    "is_complex",
    "is_floating_point",
    "is_integer",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "le",
    "less",
    "less_equal",
    "less_than",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "ne",
    "not_equal",
]


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x == y, elementwise with broadcasting; ``x == y`` is the same.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.equal(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([1, 3, 3])).tolist()
    [True, False, True]
    """
    return ops.equal(x, y)


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x != y, elementwise with broadcasting."""
    return ops.not_equal(x, y)


def greater_than(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x > y, elementwise with broadcasting."""
    return ops.greater_than(x, y)


def greater_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x >= y, elementwise with broadcasting."""
    return ops.greater_equal(x, y)


def less_than(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x < y, elementwise with broadcasting."""
    return ops.less_than(x, y)


def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x <= y, elementwise with broadcasting."""
    return ops.less_equal(x, y)


# The reference's other names for the six.
eq, ne, gt, ge, lt, le = equal, not_equal, greater_than, greater_equal, less_than, less_equal
greater, less = greater_than, less_than


def equal_all(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether `x` and `y` have the same shape and equal elements, as a 0-d bool.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.equal_all(paddle.ones([2]), paddle.ones([2])).item()
    True
    >>> paddle.equal_all(paddle.ones([2]), paddle.ones([3])).item()
    False
    """
    return ops.equal_all(x, y)


def _tolerance(function: str, argument: str, value: Any) -> float:
    value = as_number(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{function}: {argument} must be a number, got {value!r}")
    if not value >= 0:
        raise ArgumentError(f"{function}: {argument} must not be negative, got {value}")
    return float(value)


def _near(function: str, x: Any, y: Any, rtol: Any, atol: Any, equal_nan: Any) -> Any:
    rtol, atol = _tolerance(function, "rtol", rtol), _tolerance(function, "atol", atol)
    return ops.isclose(x, y, rtol=rtol, atol=atol, equal_nan=bool(equal_nan))


def isclose(
    x: Any,
    y: Any,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> Tensor:
    """Where ``|x - y| <= atol + rtol * |y|``, elementwise with broadcasting.

    Parameters
    ----------
    x, y : Tensor or Variable
        Infinities are close to themselves only.
    rtol, atol : float
        Not negative.
    equal_nan : bool
        Whether NaN is close to NaN.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, float("nan")])
    >>> paddle.isclose(x, x).tolist()
    [True, False]
    >>> paddle.isclose(x, x + 0.5, rtol=1.0, equal_nan=True).tolist()
    [True, True]
    """
    return _near("isclose", x, y, rtol, atol, equal_nan)


def allclose(
    x: Any,
    y: Any,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> Tensor:
    """Whether `isclose` holds for all elements, as a 0-d bool.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.allclose(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 2.000001])).item()
    True
    """
    near = _near("allclose", x, y, rtol, atol, equal_nan)
    return ops.all(near, axis=tuple(range(spec_of(near).ndim)))


def isnan(x: Any, name: str | None = None) -> Tensor:
    """Where `x` is NaN; integers never are.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.isnan(paddle.to_tensor([1.0, float("nan"), float("inf")])).tolist()
    [False, True, False]
    """
    return ops.isnan(x)


def isinf(x: Any, name: str | None = None) -> Tensor:
    """Where `x` is plus or minus infinity.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.isinf(paddle.to_tensor([1.0, float("nan"), float("-inf")])).tolist()
    [False, False, True]
    """
    return ops.isinf(x)


def isfinite(x: Any, name: str | None = None) -> Tensor:
    """Where `x` is neither NaN nor an infinity.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.isfinite(paddle.to_tensor([1.0, float("nan"), float("inf")])).tolist()
    [True, False, False]
    """
    return ops.isfinite(x)


def _real(function: str, x: Any) -> Any:
    x = as_operand(function, x)
    if spec_of(x).dtype in COMPLEX:
        raise DTypeError(
            f"{function}: complex numbers have no sign, got {spec_of(x).dtype.name}; use isinf(x)"
        )
    return x


def isposinf(x: Any, name: str | None = None) -> Tensor:
    """Where `x` is plus infinity."""
    return ops.equal(_real("isposinf", x), math.inf)


def isneginf(x: Any, name: str | None = None) -> Tensor:
    """Where `x` is minus infinity."""
    return ops.equal(_real("isneginf", x), -math.inf)


def isreal(x: Any, name: str | None = None) -> Tensor:
    """Where the imaginary part is 0: everywhere, unless `x` is complex."""
    return ops.isreal(x)


# --- logic


def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where both hold, elementwise with broadcasting; a number holds unless it is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.logical_and(paddle.to_tensor([True, True]), paddle.to_tensor([0, 2])).tolist()
    [False, True]
    """
    return ops.logical_and(x, y)


def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where either holds, elementwise with broadcasting."""
    return ops.logical_or(x, y)


def logical_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where exactly one of the two holds, elementwise with broadcasting."""
    return ops.logical_xor(x, y)


def logical_not(x: Any, name: str | None = None) -> Tensor:
    """Where x does not hold."""
    return ops.logical_not(x)


# --- bits


@atomic
def bitwise_and(x: Any, y: Any, out: Any = None, name: str | None = None) -> Tensor:
    """The bits set in both, of integers or bools; ``x & y`` is the same.

    Parameters
    ----------
    x, y : Tensor or Variable
        Integers or bools; shapes broadcast.
    out : Tensor, optional
        Takes the result as its value, and is returned.

    Raises
    ------
    DTypeError
        For floats.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.bitwise_and(paddle.to_tensor([6, 5]), paddle.to_tensor([3, 4])).tolist()
    [2, 4]
    """
    return ops.bitwise_and(x, y)


@atomic
def bitwise_or(x: Any, y: Any, out: Any = None, name: str | None = None) -> Tensor:
    """The bits set in either, of integers or bools; ``x | y`` is the same."""
    return ops.bitwise_or(x, y)


@atomic
def bitwise_xor(x: Any, y: Any, out: Any = None, name: str | None = None) -> Tensor:
    """The bits set in exactly one, of integers or bools; ``x ^ y`` is the same."""
    return ops.bitwise_xor(x, y)


@atomic
def bitwise_not(x: Any, out: Any = None, name: str | None = None) -> Tensor:
    """All bits the other way round, of integers or bools; ``~x`` is the same.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.bitwise_not(paddle.to_tensor([0, 5])).tolist()
    [-1, -6]
    >>> (~paddle.to_tensor([True, False])).tolist()
    [False, True]
    """
    return ops.bitwise_not(x)


bitwise_invert = bitwise_not


@atomic
def bitwise_left_shift(
    x: Any, y: Any, is_arithmetic: bool = True, out: Any = None, name: str | None = None
) -> Tensor:
    """The bits of `x` moved left by `y`, zeros coming in; ``x << y`` is the same.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.bitwise_left_shift(paddle.to_tensor([1, 3]), paddle.to_tensor([4, 1])).tolist()
    [16, 6]
    """
    return ops.bitwise_left_shift(x, y)


@atomic
def bitwise_right_shift(
    x: Any, y: Any, is_arithmetic: bool = True, out: Any = None, name: str | None = None
) -> Tensor:
    """The bits of `x` moved right by `y`; ``x >> y`` is the same.

    Parameters
    ----------
    x, y : Tensor or Variable
        Integers; shapes broadcast.
    is_arithmetic : bool
        Copies of the sign bit come in; zeros with False.
    out : Tensor, optional
        Takes the result as its value, and is returned.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([-8], dtype="int8")
    >>> paddle.bitwise_right_shift(x, paddle.to_tensor([1], dtype="int8")).tolist()
    [-4]
    >>> paddle.bitwise_right_shift(x, paddle.to_tensor([1], dtype="int8"), False).tolist()
    [124]
    """
    shift = ops.bitwise_right_shift if is_arithmetic else ops.logical_right_shift
    return shift(x, y)


# --- what a dtype is


def _dtype(function: str, x: Any) -> np.dtype[Any]:
    return spec_of(as_operand(function, x)).dtype


def is_complex(x: Any) -> bool:
    """Whether the dtype of `x` is complex."""
    return _dtype("is_complex", x) in COMPLEX


def is_floating_point(x: Any) -> bool:
    """Whether the dtype of `x` is floating.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.is_floating_point(paddle.ones([1])), paddle.is_integer(paddle.ones([1]))
    (True, False)
    """
    return _dtype("is_floating_point", x) in FLOATS


def is_integer(x: Any) -> bool:
    """Whether the dtype of `x` is one of integers; bool is none."""
    return _dtype("is_integer", x) in INTEGERS
