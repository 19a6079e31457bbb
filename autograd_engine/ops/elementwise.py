"""Elementwise arithmetic: one kernel and one derivative a row."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import COMPLEX, FLOAT32, real_dtype, rounded, widened
from autograd_engine.core.spec import Array, Spec
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.conjugates import cast_back, conj, is_complex
from autograd_engine.ops.infer import broadcast, cast, no_bools, same
from autograd_engine.ops.kernels.elementwise import rounded_alike
from autograd_engine.ops.registry.forms import ELEMENTWISE
from autograd_engine.ops.registry.opdef import NONDIFF, OpDef, defop
from autograd_engine.ops.registry.pullback import handed_on
from autograd_engine.ops.registry.work import each_element, nothing


def _unary(name: str, kernel: Any, **options: Any) -> OpDef:
    return defop(name, rounded_alike(kernel, name), **{**ELEMENTWISE, **options})


def _binary(name: str, kernel: Any, **options: Any) -> OpDef:
    row: dict[str, Any] = {"infer": broadcast(name), "dtypes": "common", "tangent": "elementwise"}
    return defop(name, rounded_alike(kernel), inputs="x y", broadcasts=0, **{**row, **options})


# --- arithmetic. On ndarrays the operators are NumPy's ufuncs, reached by a shorter way.

_binary(
    "add",
    operator.add,
    tangent="linear",
    symbolic=True,
    nan_hint="infinity minus infinity is NaN: mask with a large finite number such as -1e9",
    types="elementwise_add",
).vjp(
    x=handed_on,
    y=handed_on,
)
_binary(
    "subtract",
    operator.sub,
    infer=no_bools("subtract", broadcast("subtract"), "x ^ y"),
    takes="ifc",
    tangent="linear",
    symbolic=True,
    nan_hint="infinity minus infinity is NaN: mask with a large finite number such as -1e9",
    types="elementwise_sub minus",
).vjp(
    x=handed_on,
    y=lambda xp, g: -g,
)
_binary(
    "multiply",
    operator.mul,
    symbolic=True,
    nan_hint="0 times infinity is NaN: select with paddle.where, not by a product with a mask",
    zero_gradient="multiplied_by_zero",
    types="elementwise_mul",
).vjp(
    x=lambda xp, g, y: g * y,
    y=lambda xp, g, x: g * x,
)
_binary(
    "divide",
    operator.truediv,
    dtypes="floating",
    hint="keep the divisor away from 0",
    nan_hint="keep the divisor away from 0: x / paddle.where(y == 0.0, 1.0, y), or y + 1e-12",
    types="elementwise_div reciprocal",
).vjp(
    x=lambda xp, g, y: g / y,
    y=lambda xp, g, y, out: -(g * out / y),
)


_power = rounded_alike(np.power)


def _pow(x: Array, y: Array) -> Array:
    try:
        return np.asarray(_power(x, y))
    except ValueError as error:  # integers to a negative power, the only case that NumPy refuses
        raise ArgumentError(
            f"pow: {x.dtype.name} values have no {x.dtype.name} negative powers: "
            "use x.astype('float32') ** y"
        ) from error


def _where_both_are_0(xp: Any, x: Any, y: Any) -> Any:
    return xp.cast_like(xp.logical_and(xp.equal(x, 0.0), xp.equal(y, 0.0)), x)


# x**y: where both are 0 the base is taken as 1, so that 0 * 0**-1 is 0 and not NaN; where x is 0
# the logarithm is taken of 1, so that x**y * log(x) is 0, its limit for y > 0. A product of complex
# numbers rounds otherwise with its factors exchanged, which NumPy does where it writes the result
# over the right one; over the left one it is the same.
_binary(
    "pow",
    _pow,
    dtypes="numeric",
    hint="an exponent below 1 has an infinite derivative at 0: keep the base away from 0",
    amp="high",
    types="elementwise_pow",
).vjp(
    x=lambda xp, g, x, y: xp.pow(x + _where_both_are_0(xp, x, y), y - 1.0) * y * g,
    y=lambda xp, g, x, out: xp.log(x + xp.cast_like(xp.equal(x, 0.0), x)) * out * g,
)
_unary(
    "negative",
    operator.neg,
    infer=no_bools("negative", same, "~x"),
    takes="ifc",
    dtypes="any",
    tangent="linear",
    elementwise=True,
    symbolic=True,
).vjp(x=lambda xp, g: -g)
_unary("square", np.square, dtypes="numeric", amp="high").vjp(x=lambda xp, g, x: g * (2.0 * x))
_unary("abs", np.absolute, infer=lambda x: Spec(x.shape, real_dtype(x.dtype)), dtypes="any").vjp(
    x=lambda xp, g, x: g * conj(xp, xp.sgn(x) if is_complex(x) else xp.sign(x))
)
defop(
    "sign",
    np.sign,
    takes="ifc",
    inputs="x",
    infer=no_bools("sign", same, "x"),
    elementwise=True,
).nondiff()


def _sgn_x(xp: Any, g: Any, x: Any, out: Any) -> Any:
    """A complex z is turned by what moves it across z / abs(z) alone; 0 stays 0.

    With s = z / r, ds = (dz - s Re(conj(s) dz)) / r. Of real values s does not change.
    """
    if not is_complex(x):
        return xp.zeros_like(x)
    along = xp.cast_like(xp.real_part(g * out), x) * xp.conj(out)
    zero = xp.equal(out, 0.0)
    across = xp.where(zero, 0.0, g - along)
    return across / xp.where(zero, 1.0, xp.cast_like(xp.abs(x), x))


_unary(
    "sgn",
    np.sign,
    dtypes="any",
    infer=no_bools("sgn", same, "x"),
    takes="ifc",
    tangent=None,
    elementwise=True,
).vjp(x=_sgn_x)

# --- exponentials and logarithms

_unary(
    "exp",
    np.exp,
    hint="clip its operand, or subtract the maximum first (logsumexp, log_softmax)",
    amp="high",
).vjp(x=lambda xp, g, out: g * out)
_unary("expm1", np.expm1, amp="high").vjp(x=lambda xp, g, out: g * (out + 1.0))
_unary(
    "log",
    np.log,
    hint="keep it away from 0: log(clip(x, min=1e-12)), or use log_softmax or log1p",
    amp="high",
).vjp(x=lambda xp, g, x: g / x)
_unary("log2", np.log2, hint="keep it away from 0: clip(x, min=1e-12)", amp="high").vjp(
    x=lambda xp, g, x: g / x / math.log(2.0)
)
_unary("log10", np.log10, hint="keep it away from 0: clip(x, min=1e-12)", amp="high").vjp(
    x=lambda xp, g, x: g / x / math.log(10.0)
)
_unary("log1p", np.log1p, hint="keep it above -1", amp="high").vjp(x=lambda xp, g, x: g / (x + 1.0))
_unary(
    "sqrt",
    np.sqrt,
    hint="keep it away from 0: sqrt(x + 1e-12)",
    nan_hint="keep its operand above 0: sqrt(clip(x, min=0.0)), or x + 1e-12",
).vjp(x=lambda xp, g, out: g / (2.0 * out))
_binary(
    "logaddexp", np.logaddexp, dtypes="floating", takes="bif", work=each_element(4), amp="high"
).vjp(
    x=lambda xp, g, x, y: g * xp.sigmoid(x - y),
    y=lambda xp, g, x, y: g * xp.sigmoid(y - x),
)

# --- trigonometry. 1 + x^2 may overflow; it is hypot(x, 1)^2, divided by in two steps.

_unary("sin", np.sin).vjp(x=lambda xp, g, x: g * xp.cos(x))
_unary("cos", np.cos).vjp(x=lambda xp, g, x: -(g * xp.sin(x)))
_unary("tan", np.tan, amp="high").vjp(x=lambda xp, g, out: g * (out * out + 1.0))
_unary(
    "asin", np.arcsin, hint="keep it inside (-1, 1): clip(x, -1 + 1e-6, 1 - 1e-6)", amp="high"
).vjp(x=lambda xp, g, x: g / _sqrt_1_less_square(xp, x))
_unary(
    "acos", np.arccos, hint="keep it inside (-1, 1): clip(x, -1 + 1e-6, 1 - 1e-6)", amp="high"
).vjp(x=lambda xp, g, x: -(g / _sqrt_1_less_square(xp, x)))
_unary("atan", np.arctan).vjp(
    x=lambda xp, g, x: (
        g / ((x - 1j) * (x + 1j)) if is_complex(x) else _over_square(g, xp.hypot(x, 1.0))
    )
)
_unary("sinh", np.sinh, amp="high").vjp(x=lambda xp, g, x: g * xp.cosh(x))
_unary("cosh", np.cosh, amp="high").vjp(x=lambda xp, g, x: g * xp.sinh(x))
_unary("tanh", np.tanh, zero_gradient="saturated").vjp(x=lambda xp, g, out: g * (1.0 - out * out))
_unary("asinh", np.arcsinh).vjp(
    x=lambda xp, g, x: (
        g / _sqrt_1_less_square(xp, _times_i(xp, x)) if is_complex(x) else g / xp.hypot(x, 1.0)
    )
)
_unary("acosh", np.arccosh).vjp(x=lambda xp, g, x: g / xp.sqrt(x - 1.0) / xp.sqrt(_and_1(x)))
_unary("atanh", np.arctanh, amp="high").vjp(x=lambda xp, g, x: g / ((1.0 - x) * (x + 1.0)))


def _sqrt_1_less_square(xp: Any, x: Any) -> Any:
    """``sqrt(1 - x^2)``, on a cut of the side that the sign of a zero says."""
    if is_complex(x):
        return xp.sqrt(-(x - 1.0)) * xp.sqrt(_and_1(x))
    return xp.sqrt((1.0 - x) * (x + 1.0))


def _and_1(x: Any) -> Any:
    """``x + 1``. A sum of complex numbers loses the sign of a zero: (-2 - 0j) + 1 is -1 + 0j."""
    return -(-x - 1.0) if is_complex(x) else x + 1.0


def _times_i(xp: Any, x: Any) -> Any:
    """``i x``, with the signs of its zeros, which a product loses."""
    return xp.to_complex(-xp.imag_part(x), xp.real_part(x))


def _over_square(g: Any, r: Any) -> Any:
    return g / r / r


def _never_zero(xp: Any, r: Any) -> Any:
    """`r`, but 1 where it is 0: what is divided by it is 0 there, and stays 0."""
    return r + xp.cast_like(xp.equal(r, 0.0), r)


# The length of (x, y), and its angle: both have the gradient 0 at the origin.
_binary("hypot", np.hypot, dtypes="floating", takes="bif").vjp(
    x=lambda xp, g, x, out: g * (x / _never_zero(xp, out)),
    y=lambda xp, g, y, out: g * (y / _never_zero(xp, out)),
)


def _angle_slopes(xp: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """(y, x) / (x^2 + y^2), by parts of the larger of both, whose squares stay in range."""
    size = xp.maximum(xp.abs(x), xp.abs(y))
    size = xp.where(xp.less_than(size, math.inf), size, 1.0)
    size = _never_zero(xp, size)
    u, v = x / size, y / size
    square = _never_zero(xp, u * u + v * v)
    return v / square / size, u / square / size


_binary("atan2", np.arctan2, dtypes="floating", takes="bif").vjp(
    x=lambda xp, g, x, y: g * _angle_slopes(xp, x, y)[0],
    y=lambda xp, g, x, y: -(g * _angle_slopes(xp, x, y)[1]),
)

# --- order. At a tie both sides of maximum and minimum get half.

_binary(
    "maximum",
    np.maximum,
    takes="bif",
    zero_gradient="not_chosen",
    types="elementwise_max elementwise_fmax",
).vjp(
    x=lambda xp, g, x, y: g * xp.greater_than(x, y) + 0.5 * g * xp.equal(x, y),
    y=lambda xp, g, x, y: g * xp.less_than(x, y) + 0.5 * g * xp.equal(x, y),
)
_binary(
    "minimum",
    np.minimum,
    takes="bif",
    zero_gradient="not_chosen",
    types="elementwise_min elementwise_fmin",
).vjp(
    x=lambda xp, g, x, y: g * xp.less_than(x, y) + 0.5 * g * xp.equal(x, y),
    y=lambda xp, g, x, y: g * xp.greater_than(x, y) + 0.5 * g * xp.equal(x, y),
)


def _where(condition: Array, x: Array, y: Array) -> Array:
    return np.where(condition, x, y)


def _infer_where(condition: Spec, x: Spec, y: Spec) -> Spec:
    values = broadcast("where")(x, y)
    return Spec(broadcast("where")(condition, values).shape, values.dtype)


# `where` with 0 and not a product with the mask: 0 * inf would be NaN.
defop(
    "where",
    _where,
    inputs="condition x y",
    infer=_infer_where,
    broadcasts=0,
    dtypes="common",
    untyped="condition",
    tangent="linear",
    zero_gradient="other_branch",
).vjp(
    condition=NONDIFF,
    x=lambda xp, g, condition: xp.where(condition, g, 0.0),
    y=lambda xp, g, condition: xp.where(condition, 0.0, g),
)


# --- dtype


def _cast(x: Array, *, dtype: str) -> Array:
    if x.dtype in COMPLEX:
        cast(x, np.dtype(dtype))
    wanted = np.dtype(dtype)
    return widened(x) if wanted is FLOAT32 else rounded(x, wanted)


defop(
    "cast",
    _cast,
    inputs="x",
    infer=lambda x, *, dtype: cast(x, np.dtype(dtype)),
    casts=True,
    halves="as they are",
    tangent="linear",
    elementwise=True,
    work=nothing,
).vjp(x=lambda xp, g, x_like: cast_back(xp, g, x_like))
defop(
    "assign",
    np.copy,
    inputs="x",
    infer=same,
    tangent="linear",
    elements="ordered",
    elementwise=True,
).vjp(x=handed_on)
# What a rule hands on: see docs/design/table.md, "a cotangent is a value of its own".
defop(
    "alias",
    lambda x: x,
    inputs="x",
    infer=same,
    tangent="linear",
    result="view",
    elements="ordered",
    elementwise=True,
).vjp(x=handed_on)
