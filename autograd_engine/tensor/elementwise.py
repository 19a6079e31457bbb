"""Arithmetic, order, powers, exponentials and trigonometry, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast as _cast, overload

from autograd_engine.core.dtypes import COMPLEX, INEXACT, INTEGERS, DTypeLike, to_numpy
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.inplace import rebind
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError, ShapeError
from autograd_engine.ops.infer import index_dtype
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.builder import append_write
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import factor, times
from autograd_engine.tensor.sorting import nonzero

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "add_n",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cast",
    "clip",
    "cos",
    "cosh",
    "deg2rad",
    "divide",
    "exp",
    "expm1",
    "fmax",
    "fmin",
    "heaviside",
    "hypot",
    "increment",
    "lerp",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "maximum",
    "minimum",
    "multiplex",
    "multiply",
    "neg",
    "negative",
    "positive",
    "pow",
    "rad2deg",
    "reciprocal",
    "rsqrt",
    "scale",
    "sgn",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "stanh",
    "subtract",
    "tan",
    "tanh",
    "where",
]


_ACTIVATIONS = ("relu", "sigmoid", "tanh")
_ONE = 1  # the default of alpha, known by identity


def add(x: Any, y: Any, name: str | None = None, *, alpha: float = 1) -> Tensor:
    """x + alpha * y, elementwise with broadcasting; ``x + y`` is the same for alpha 1.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.add(paddle.to_tensor([1.0, 2.0]), 1.0).tolist()
    [2.0, 3.0]
    """
    return ops.add(x, y if alpha is _ONE else times(y, alpha))


def subtract(x: Any, y: Any, name: str | None = None, *, alpha: float = 1) -> Tensor:
    """x - alpha * y, elementwise with broadcasting."""
    return ops.subtract(x, y if alpha is _ONE else times(y, alpha))


def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, elementwise with broadcasting."""
    return ops.multiply(x, y)


def divide(x: Any, y: Any, name: str | None = None, *, rounding_mode: str | None = None) -> Tensor:
    """x / y, elementwise with broadcasting; integers give the default float dtype.

    Parameters
    ----------
    x, y : Tensor or number
    rounding_mode : {None, "trunc", "floor"}
        Round the quotient towards zero, or down. What is rounded has no gradient, and "floor"
        keeps integers integers.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.divide(paddle.to_tensor([-3.0]), 2.0, rounding_mode="floor").tolist()
    [-2.0]
    """
    if rounding_mode not in (None, "trunc", "floor"):
        raise ArgumentError(
            f"divide: rounding_mode must be None, 'trunc' or 'floor', got {rounding_mode!r}"
        )
    if rounding_mode == "floor":
        return ops.floor_divide(x, y)
    quotient = ops.divide(x, y)
    return quotient if rounding_mode is None else ops.trunc(quotient)


def reciprocal(x: Any, name: str | None = None) -> Tensor:
    """1 / x; infinite at 0, as its gradient is."""
    return ops.divide(1.0, x)


@atomic
def lerp(x: Any, y: Any, weight: Any, name: str | None = None) -> Tensor:
    """x + weight * (y - x): from x at weight 0 to y at weight 1, elementwise with broadcasting.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.lerp(paddle.to_tensor([0.0, 10.0]), paddle.to_tensor([1.0, 20.0]), 0.5).tolist()
    [0.5, 15.0]
    """
    return ops.add(x, ops.multiply(weight, ops.subtract(y, x)))


@atomic
def increment(x: Any, value: float = 1.0, name: str | None = None) -> Tensor:
    """Add `value` to `x`, which then has the new value, and return it.

    Parameters
    ----------
    x : Tensor or Variable
        A counter, of any shape and dtype. A leaf that requires a gradient is refused, unless
        nothing is recorded. In a program, what is built later reads the new value.
    value : float
        What to add; a whole number where `x` holds integers.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> step = paddle.zeros([1])
    >>> paddle.increment(step).tolist(), step.tolist()
    ([1.0], [1.0])
    """
    if not isinstance(x, (Tensor, Variable)):
        raise NotATensorError(
            f"increment: argument 'x' must be a Tensor or a Variable, got {type(x).__name__}"
        )
    whole = spec_of(x).dtype in INTEGERS and float(value).is_integer()
    result = ops.add(x, int(value) if whole else value)
    if isinstance(x, Tensor):
        return rebind(x, result, "increment", "x + value")
    if result.dtype != x.dtype:
        raise DTypeError(
            f"increment: {x.name} is {x.dtype.name} and cannot take {result.dtype.name}; use a "
            "value without a fraction, or x + value"
        )
    append_write(x, result)
    return _cast(Any, x)


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x to the power of y, elementwise with broadcasting; bools count as int64.

    Of floats, the power of the number 2 is `square` and that of 0.5 is `sqrt`, as NumPy has it.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> (paddle.to_tensor([1.0, 2.0]) ** 3).tolist()
    [1.0, 8.0]
    """
    if isinstance(y, int):
        return ops.pow(x, y) if y != 2 else ops.square(x)
    short = isinstance(y, float) and (y == 2.0 or y == 0.5)
    if short and spec_of(as_operand("pow", x)).dtype in INEXACT:  # that of an integer is a float
        return ops.square(x) if y == 2.0 else ops.sqrt(x)
    return ops.pow(x, y)


def neg(x: Any, name: str | None = None) -> Tensor:
    """-x"""
    return ops.negative(x)


negative = neg


def positive(x: Any, name: str | None = None) -> Tensor:
    """+x, which is x: a copy through which gradients flow."""
    return ops.assign(x)


def square(x: Any, name: str | None = None) -> Tensor:
    """x * x"""
    return ops.square(x)


def abs(x: Any, name: str | None = None) -> Tensor:
    """Absolute value; the gradient at 0 is 0."""
    return ops.abs(x)


def sign(x: Any, name: str | None = None) -> Tensor:
    """-1, 0 or 1; no gradient."""
    return ops.sign(x)


def sgn(x: Any, name: str | None = None) -> Tensor:
    """`sign` for real numbers, x / abs(x) for complex ones, 0 where x is 0.

    No gradient by real numbers; by complex ones it is that of their direction, and 0 at 0.
    """
    x = as_operand("sgn", x)
    return ops.sgn(x) if spec_of(x).dtype in COMPLEX else ops.sign(x)


@atomic
def heaviside(x: Any, y: Any, name: str | None = None) -> Tensor:
    """0 where x is negative (or NaN), y where it is 0, 1 where it is positive.

    No gradient reaches x; y has that of the elements where x is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.heaviside(paddle.to_tensor([-2.0, 0.0, 3.0]), paddle.to_tensor(0.5)).tolist()
    [0.0, 0.5, 1.0]
    """
    x = as_operand("heaviside", x)
    return ops.where(ops.equal(x, 0), y, ops.cast_like(ops.greater_than(x, 0), x))


def maximum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The larger of x and y; where they tie, each gets half of the gradient. NaN wins."""
    return ops.maximum(x, y)


def minimum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The smaller of x and y; where they tie, each gets half of the gradient. NaN wins."""
    return ops.minimum(x, y)


def fmax(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The larger of x and y, or that which is not NaN; where they tie, x gets the gradient.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> nan = float("nan")
    >>> paddle.fmax(paddle.to_tensor([1.0, nan]), paddle.to_tensor([nan, 2.0])).tolist()
    [1.0, 2.0]
    """
    return _fold("fmax", ops.greater_equal, x, y)


def fmin(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The smaller of x and y, or that which is not NaN; where they tie, x gets the gradient."""
    return _fold("fmin", ops.less_equal, x, y)


def _fold(op: str, wins: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """x where it wins or ties, or where y is NaN; else y. Numbers stay numbers, of no dtype."""
    if not isinstance(y, (int, float)):
        y = as_operand(op, y, "y")
        return ops.where(ops.logical_or(wins(x, y), ops.not_equal(y, y)), x, y)
    x = as_operand(op, x)
    return ops.where(wins(x, y), x, y) if y == y else ops.assign(x)


@atomic
def clip(
    x: Any, min: float | None = None, max: float | None = None, name: str | None = None
) -> Tensor:
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


def _whole(value: Any) -> Any:
    return int(value) if value.__class__ is float and value.is_integer() else value


@atomic
def scale(
    x: Any,
    scale: Any = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Tensor:
    """scale * x + bias, or scale * (x + bias).

    Of integers it is integers where `scale` and `bias` are whole, floats else.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.scale(paddle.to_tensor([1.0]), scale=2.0, bias=1.0).tolist()
    [3.0]
    >>> paddle.scale(paddle.to_tensor([1]), scale=2.0).tolist()
    [2]
    """
    if act is not None and act not in _ACTIVATIONS:
        raise ArgumentError(f"scale: act must be one of {', '.join(_ACTIVATIONS)}, got {act!r}")
    x = as_operand("scale", x)
    scale, bias = factor("scale", "scale", scale, x), factor("scale", "bias", bias, x)
    if spec_of(x).dtype in INTEGERS:
        scale, bias = _whole(scale), _whole(bias)
    if type(bias) in (int, float) and not bias:
        out = x * scale
    else:
        out = x * scale + bias if bias_after_scale else (x + bias) * scale
    return out if act is None else getattr(ops, act)(out)


def add_n(inputs: Any, name: str | None = None) -> Tensor:
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


@atomic
def multiplex(inputs: Any, index: Any, name: str | None = None) -> Tensor:
    """Row i of the result is row i of ``inputs[index[i]]``.

    Parameters
    ----------
    inputs : sequence of Tensor
        Of one shape ``[n, ...]``.
    index : Tensor
        Integers of shape ``[n, 1]`` or ``[n]``, from 0 to ``len(inputs) - 1``.

    Raises
    ------
    IndexError
        When an index names no input.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> a = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> b = paddle.to_tensor([[5.0, 6.0], [7.0, 8.0]])
    >>> paddle.multiplex([a, b], paddle.to_tensor([[1], [0]])).tolist()
    [[5.0, 6.0], [3.0, 4.0]]
    """
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ArgumentError("multiplex: inputs must be a list of one Tensor or more")
    values = [as_operand("multiplex", v, f"inputs[{k}]") for k, v in enumerate(inputs)]
    index = as_operand("multiplex", index, "index")
    first, rows = spec_of(values[0]), spec_of(index)
    index_dtype("multiplex", "index", rows)
    fits = rows.ndim in (1, 2) and (rows.ndim == 1 or may_equal(rows.shape[1:], (1,)))
    if not first.ndim or not fits or not may_equal(rows.shape[:1], first.shape[:1]):
        raise ShapeError(
            f"multiplex: index must have one row for each row of {format_shape(first.shape)}, as "
            f"shape [n, 1] or [n]; got {format_shape(rows.shape)}"
        )
    column = ops.reshape(index, shape=(-1, *[1] * (first.ndim - 1)))
    lines = ops.unsqueeze(ops.expand_like(column, values[0]), axis=(0,))
    taken = ops.take_along_axis(ops.stack(*values, axis=0), lines, axis=0)
    return ops.squeeze(taken, axis=(0,))


def cast(x: Any, dtype: DTypeLike) -> Tensor:
    """x in another dtype; ``x.astype(dtype)`` is the same.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.cast(paddle.to_tensor([1.7]), "int64").tolist()
    [1]
    """
    return ops.cast(x, dtype=to_numpy(dtype).name)


# --- powers, exponentials, logarithms


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


# --- trigonometry


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


@atomic
def atan2(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Angle of the point with the abscissa y and the ordinate x: atan(x / y) in its quadrant.

    Parameters
    ----------
    x, y : Tensor or number
        They broadcast.

    Returns
    -------
    Tensor
        From -pi to pi, float64 where both are integers. At the origin both gradients are 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.atan2(paddle.to_tensor([1.0, 0.0]), paddle.to_tensor([0.0, 1.0])).tolist()
    [1.5707963705062866, 0.0]
    """
    if _of_integers(x) and _of_integers(y):
        x = ops.cast(as_operand("atan2", x), dtype="float64")
    return ops.atan2(x, y)


def _of_integers(value: Any) -> bool:
    """Whether it is an integer, or an array of integers; of a number its dtype is weak."""
    return isinstance(value, int) or getattr(getattr(value, "dtype", None), "kind", "f") in "iu"


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
    scale_a, scale_b = factor("stanh", "scale_a", scale_a), factor("stanh", "scale_b", scale_b)
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


# --- a choice of two


@overload
def where(condition: Any, x: None = None, y: None = None) -> tuple[Tensor, ...]: ...


@overload
def where(condition: Any, x: Any, y: Any, name: str | None = None) -> Tensor: ...


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """x where `condition` holds, else y; without both, the positions where it holds.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.where(paddle.to_tensor([True, False]), 1.0, 2.0).tolist()
    [1.0, 2.0]
    >>> [p.tolist() for p in paddle.where(paddle.to_tensor([True, False]))]
    [[0]]
    """
    if x is None and y is None:
        return nonzero(condition, as_tuple=True)
    if x is None or y is None:
        raise ArgumentError(
            f"where: {'x' if x is None else 'y'} is None: give both x and y, or neither to get "
            "positions"
        )
    return ops.where(condition, x, y)
