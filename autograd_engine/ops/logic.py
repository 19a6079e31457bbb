"""Comparisons, logic, and operations on bits: results that are bools or integers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import BOOL, EXACT, INTEGERS
from autograd_engine.core.spec import Array, Like, Spec
from autograd_engine.errors import DTypeError
from autograd_engine.ops.infer import broadcast, compare
from autograd_engine.ops.registry.opdef import OpDef, defop
from autograd_engine.ops.registry.work import each_read


def _comparison(name: str, kernel: Any, takes: str = "bifc") -> OpDef:
    return defop(
        name, kernel, inputs="x y", infer=compare(name), broadcasts=0, dtypes="common", takes=takes
    ).nondiff()


def _test(name: str, kernel: Any) -> OpDef:
    return defop(
        name, kernel, inputs="x", infer=lambda x: Spec(x.shape, BOOL), elementwise=True
    ).nondiff()


# On ndarrays the operators are NumPy's ufuncs, reached by a shorter way.
_comparison("equal", operator.eq)
_comparison("not_equal", operator.ne)
_comparison("greater_than", operator.gt, takes="bif")
_comparison("greater_equal", operator.ge, takes="bif")
_comparison("less_than", operator.lt, takes="bif")
_comparison("less_equal", operator.le, takes="bif")

_comparison("logical_and", np.logical_and)
_comparison("logical_or", np.logical_or)
_comparison("logical_xor", np.logical_xor)
_test("logical_not", np.logical_not)

_test("isnan", np.isnan)
_test("isinf", np.isinf)
_test("isfinite", np.isfinite)
_test("isreal", np.isreal)


def _isclose(x: Array, y: Array, *, rtol: float, atol: float, equal_nan: bool) -> Array:
    return np.asarray(np.isclose(x, y, rtol, atol, equal_nan))


def _equal_all(x: Array, y: Array) -> Array:
    return np.asarray(np.array_equal(x, y))


# Kernels, because infinity minus infinity would have to be kept from happening; and because the
# shapes that equal_all compares may not be known before.
_comparison("isclose", _isclose)
defop(
    "equal_all",
    _equal_all,
    inputs="x y",
    infer=lambda x, y: Spec((), BOOL),
    dtypes="common",
    work=each_read(),
).nondiff()


# --- bits


def _bits(name: str, spec: Like, *, bools: bool = True) -> None:
    if spec.dtype not in (EXACT if bools else INTEGERS):
        raise DTypeError(
            f"{name}: takes {'integers or bools' if bools else 'integers'}, got "
            f"{spec.dtype.name}; use x.astype('int64')"
            + (", or the logical operation" if bools else "")
        )


def _bitwise(name: str, kernel: Any, *, bools: bool = True) -> OpDef:
    met = broadcast(name)

    def infer(x: Spec, y: Spec) -> Spec:
        _bits(name, x, bools=bools)
        _bits(name, y, bools=bools)
        return met(x, y)

    options: Any = {"broadcasts": 0, "dtypes": "common", "takes": "bi" if bools else "i"}
    return defop(name, kernel, inputs="x y", infer=infer, **options).nondiff()


def _infer_not(x: Spec) -> Spec:
    _bits("bitwise_not", x)
    return x


_bitwise("bitwise_and", operator.and_)
_bitwise("bitwise_or", operator.or_)
_bitwise("bitwise_xor", operator.xor)
defop(
    "bitwise_not", operator.invert, takes="bi", inputs="x", infer=_infer_not, elementwise=True
).nondiff()


def _shift(name: str, kernel: Any) -> Any:
    def shift(x: Array, y: Array) -> Array:
        _bits(name, x, bools=False)  # of two bools NumPy makes int8
        return np.asarray(kernel(x, y))

    return shift


def _logical_right_shift(x: Array, y: Array) -> Any:
    """Zeros come in from the left, whatever the sign."""
    unsigned = x.dtype.str.replace("i", "u")
    return np.right_shift(x.astype(unsigned), y.astype(unsigned)).astype(x.dtype)


for _name, _kernel in (
    ("bitwise_left_shift", np.left_shift),
    ("bitwise_right_shift", np.right_shift),
    ("logical_right_shift", _logical_right_shift),
):
    _bitwise(_name, _shift(_name, _kernel), bools=False)
