"""Elementwise arithmetic: one kernel and one derivative a row."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.errors import ArgumentError
from autograd_engine.kernels.erf import erf as erf_kernel
from autograd_engine.ops.infer import broadcast, compare, same
from autograd_engine.registry import NONDIFF, OpDef, defop
from autograd_engine.spec import Spec

Array = NDArray[Any]


def _unary(name: str, kernel: Any, dtypes: str = "floating") -> OpDef:
    return defop(name, kernel, inputs="x", infer=same, dtypes=dtypes)


def _binary(name: str, kernel: Any, dtypes: str = "common") -> OpDef:
    return defop(name, kernel, inputs="x y", infer=broadcast(name), broadcasts=0, dtypes=dtypes)


def _comparison(name: str, kernel: Any) -> OpDef:
    return defop(name, kernel, inputs="x y", infer=compare(name), dtypes="common").nondiff()


# --- arithmetic. On ndarrays the operators are NumPy's ufuncs, reached by a shorter way.

_binary("add", operator.add).vjp(
    x=lambda xp, g: g,
    y=lambda xp, g: g,
)
_binary("subtract", operator.sub).vjp(
    x=lambda xp, g: g,
    y=lambda xp, g: -g,
)
_binary("multiply", operator.mul).vjp(
    x=lambda xp, g, y: g * y,
    y=lambda xp, g, x: g * x,
)
_binary("divide", operator.truediv, dtypes="floating").vjp(
    x=lambda xp, g, y: g / y,
    y=lambda xp, g, y, out: -(g * out / y),
)


def _pow(x: Array, y: Array) -> Array:
    try:
        return np.asarray(np.power(x, y))
    except ValueError as error:  # integers to a negative power, the only case that NumPy refuses
        raise ArgumentError(
            f"pow: {x.dtype.name} values have no {x.dtype.name} negative powers: "
            "use x.astype('float32') ** y"
        ) from error


def _where_both_are_0(xp: Any, x: Any, y: Any) -> Any:
    return xp.cast_like(xp.logical_and(xp.equal(x, 0.0), xp.equal(y, 0.0)), x)


# x**y: where both are 0 the base is taken as 1, so that 0 * 0**-1 is 0 and not NaN; where x is 0
# the logarithm is taken of 1, so that x**y * log(x) is 0, its limit for y > 0.
_binary("pow", _pow).vjp(
    x=lambda xp, g, x, y: g * (y * xp.pow(x + _where_both_are_0(xp, x, y), y - 1.0)),
    y=lambda xp, g, x, out: g * (out * xp.log(x + xp.cast_like(xp.equal(x, 0.0), x))),
)
_unary("negative", operator.neg, dtypes="any").vjp(x=lambda xp, g: -g)
_unary("square", np.square, dtypes="any").vjp(x=lambda xp, g, x: g * (2.0 * x))
_unary("abs", np.absolute, dtypes="any").vjp(x=lambda xp, g, x: g * xp.sign(x))
_unary("sign", np.sign, dtypes="any").vjp(x=NONDIFF)
_unary("floor", np.floor).vjp(x=NONDIFF)

# --- exponentials, logarithms, trigonometry

_unary("exp", np.exp).vjp(x=lambda xp, g, out: g * out)
_unary("log", np.log).vjp(x=lambda xp, g, x: g / x)
_unary("sqrt", np.sqrt).vjp(x=lambda xp, g, out: g / (2.0 * out))
_unary("sin", np.sin).vjp(x=lambda xp, g, x: g * xp.cos(x))
_unary("cos", np.cos).vjp(x=lambda xp, g, x: -(g * xp.sin(x)))
_unary("tanh", np.tanh).vjp(x=lambda xp, g, out: g * (1.0 - out * out))
_unary("erf", erf_kernel).vjp(x=lambda xp, g, x: g * (2.0 / math.sqrt(math.pi) * xp.exp(-(x * x))))

# --- order. At a tie both sides of maximum and minimum get half.

_binary("maximum", np.maximum).vjp(
    x=lambda xp, g, x, y: g * xp.greater_than(x, y) + 0.5 * g * xp.equal(x, y),
    y=lambda xp, g, x, y: g * xp.less_than(x, y) + 0.5 * g * xp.equal(x, y),
)
_binary("minimum", np.minimum).vjp(
    x=lambda xp, g, x, y: g * xp.less_than(x, y) + 0.5 * g * xp.equal(x, y),
    y=lambda xp, g, x, y: g * xp.greater_than(x, y) + 0.5 * g * xp.equal(x, y),
)
_comparison("equal", operator.eq)
_comparison("not_equal", operator.ne)
_comparison("greater_than", operator.gt)
_comparison("greater_equal", operator.ge)
_comparison("less_than", operator.lt)
_comparison("less_equal", operator.le)
_comparison("logical_and", np.logical_and)
_comparison("logical_or", np.logical_or)
defop(
    "logical_not", np.logical_not, inputs="x", infer=lambda x: Spec(x.shape, np.dtype(np.bool_))
).nondiff()


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
).vjp(
    condition=NONDIFF,
    x=lambda xp, g, condition: xp.where(condition, g, 0.0),
    y=lambda xp, g, condition: xp.where(condition, 0.0, g),
)


# --- dtype


def _cast(x: Array, *, dtype: str) -> Array:
    return x.astype(dtype)


defop(
    "cast",
    _cast,
    inputs="x",
    infer=lambda x, *, dtype: Spec(x.shape, np.dtype(dtype)),
    casts=True,
).vjp(x=lambda xp, g, x_like: xp.cast_like(g, x_like))
defop("assign", np.copy, inputs="x", infer=same).vjp(x=lambda xp, g: g)
