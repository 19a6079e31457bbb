"""Rounding, remainders, and the parts of floating-point numbers. Integers stay integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dtypes import BOOL, BOOLS, EXACT, HALVES, INTEGERS
from autograd_engine.core.spec import Array, Spec
from autograd_engine.errors import ArgumentError, DTypeError
from autograd_engine.ops.infer import broadcast, index_dtype, no_bools, same
from autograd_engine.ops.registry.opdef import NONDIFF, OpDef, defop
from autograd_engine.ops.registry.pullback import handed_on


def _round(x: Array, *, decimals: int = 0) -> Array:
    """To the nearest, halves to even."""
    if x.dtype in EXACT and decimals >= 0:
        return x.copy()
    if decimals == 0:
        return np.asarray(np.rint(x))
    if x.dtype in HALVES:  # the power of ten leaves the range of float16 early
        return _round(x.astype(np.float32), decimals=decimals).astype(x.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        out = np.asarray(np.round(x, decimals))
    # So large that the product with a power of ten overflows: there is nothing to round.
    return np.where(np.isfinite(out), out, x)


defop("floor", np.floor, real=True, inputs="x", infer=same, elementwise=True).nondiff()
defop("ceil", np.ceil, real=True, inputs="x", infer=same, elementwise=True).nondiff()
defop("trunc", np.trunc, real=True, inputs="x", infer=same, elementwise=True).nondiff()
defop("round", _round, inputs="x", infer=same, elementwise=True).nondiff()


# --- division with remainder, x = floor_divide(x, y) y + remainder(x, y), which has the sign of y


def check_divisor(op: str, y: Array) -> None:
    """Raise ArgumentError unless integers can be divided by all of `y`."""
    if np.any(np.equal(y, 0)):
        raise ArgumentError(
            f"{op}: integers cannot be divided by 0, and y holds one; replace it, or use "
            "x.astype('float32')"
        )


def _dividing(name: str, ufunc: Any, types: str) -> OpDef:
    def kernel(x: Array, y: Array) -> Array:
        if x.dtype in BOOLS:
            raise DTypeError(f"{name}: takes numbers, got bools; use x.astype('int64')")
        if x.dtype in INTEGERS:
            check_divisor(name, y)
        return np.asarray(ufunc(x, y))

    infer = no_bools(name, broadcast(name), "integers")
    options: Any = {"broadcasts": 0, "dtypes": "common", "real": True, "tangent": "elementwise"}
    options["symbolic"] = True
    return defop(name, kernel, inputs="x y", infer=infer, types=types, **options)


_dividing("remainder", np.remainder, "elementwise_mod").vjp(
    x=handed_on,
    y=lambda xp, g, x, y: -(g * xp.floor_divide(x, y)),
)
_dividing("floor_divide", np.floor_divide, "elementwise_floordiv").nondiff()


def _of_integers(name: str, ufunc: Any) -> OpDef:
    def infer(x: Spec, y: Spec) -> Spec:
        index_dtype(name, "x", x)
        index_dtype(name, "y", y)
        return broadcast(name)(x, y)

    return defop(name, ufunc, inputs="x y", infer=infer, broadcasts=0, dtypes="common").nondiff()


_of_integers("gcd", np.gcd)
_of_integers("lcm", np.lcm)

# --- parts of a floating-point number


def _frexp(x: Array) -> tuple[Array, Array]:
    mantissa, exponent = np.frexp(x)
    return np.asarray(mantissa), np.asarray(exponent).astype(x.dtype)


defop(
    "frexp",
    _frexp,
    real=True,
    inputs="x",
    outputs="mantissa exponent",
    nondiff_outputs="exponent",
    infer=lambda x: (Spec(x.shape, x.dtype), Spec(x.shape, x.dtype)),
    dtypes="floating",
    elementwise=True,
).vjp(x=lambda xp, g_mantissa, exponent: g_mantissa * xp.pow(2.0, -exponent))
defop(
    "signbit",
    np.signbit,
    real=True,
    inputs="x",
    infer=lambda x: Spec(x.shape, BOOL),
    elementwise=True,
).nondiff()
defop(
    "nextafter",
    np.nextafter,
    real=True,
    inputs="x y",
    infer=broadcast("nextafter"),
    broadcasts=0,
    dtypes="floating",
).vjp(x=NONDIFF, y=NONDIFF)
