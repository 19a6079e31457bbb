"""NumPy's ufuncs on Tensors and Variables: ``np.sin(t)``, ``array * t``, ``np.add.reduce(t)``.

Each ufunc is our public function of the same meaning, so it is recorded, or appended to a program,
and dtypes combine as they do for our operators.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autograd_engine.core.dtypes import NUMBERS_AND_BOOLS
from autograd_engine.core.operand import OPERATORS, Operand
from autograd_engine.eager.tensor import Parameter, Tensor
from autograd_engine.errors import ArgumentError, NotDifferentiableError, ShapeError
from autograd_engine.interop.numpy_protocol.operands import (
    UNSET,
    as_tensor,
    as_tensors,
    carries_gradient,
    deliver,
    floating,
    given,
    no_counterpart,
    of_values,
    operand,
    operands_in,
    pick,
    refuse_writing,
)
from autograd_engine.nn import functional
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import NUMBERS
from autograd_engine.tensor import public as paddle

__all__ = ["OF_SCIPY", "UFUNCS", "array_ufunc", "direct", "reduce_with"]

_TAKEN: Final = (Operand, *NUMBERS, list, tuple)
_LN2: Final = math.log(2.0)


def _either_sign(x: Any) -> Any:
    """1 or -1, a constant: the sign that x has, and 1 for zero."""
    return paddle.where(paddle.less_than(x, 0), -1, 1).astype(x.dtype)


def _cbrt(x: Any) -> Any:
    x = floating(x)
    sign = _either_sign(x)
    return sign * paddle.pow(sign * x, 1.0 / 3.0)


def _fmod(x: Any, y: Any) -> Any:
    x, y = as_tensors(x, y)
    sign = _either_sign(x)
    return sign * paddle.remainder(sign * x, paddle.abs(y))


def _modf(x: Any) -> tuple[Any, Any]:
    whole = paddle.trunc(floating(x))
    return paddle.where(paddle.isinf(x), paddle.zeros_like(whole), x - whole), whole


def _frexp(x: Any) -> tuple[Any, Any]:
    mantissa, exponent = paddle.frexp(x)
    return mantissa, exponent.astype("int32")


def _matvec(x1: Any, x2: Any) -> Any:
    return paddle.squeeze(paddle.matmul(x1, paddle.unsqueeze(x2, -1)), -1)


def _vecmat(x1: Any, x2: Any) -> Any:
    return paddle.squeeze(paddle.matmul(paddle.unsqueeze(paddle.conj(x1), -2), x2), -2)


def _vecdot(x1: Any, x2: Any) -> Any:
    x, y = as_tensors(x1, x2)
    return paddle.sum(paddle.conj(x) * y, axis=-1)


def _xlogy(x: Any, y: Any) -> Any:
    """x log y, and 0 for x = 0 where y has no logarithm."""
    x, y = (floating(v) for v in as_tensors(x, y))
    nothing = paddle.logical_and(x == 0, y <= 0)
    product = x * paddle.log(paddle.where(nothing, paddle.ones_like(y), y))
    return paddle.where(nothing, paddle.zeros_like(product), product)


def _betaln(a: Any, b: Any) -> Any:
    """The logarithm of |B(a, b)|."""
    a, b = as_tensors(a, b)
    return paddle.gammaln(a) + paddle.gammaln(b) - paddle.gammaln(a + b)


def _double(x: Any) -> Any:
    x = x if isinstance(x, (Operand, list, tuple)) else np.asarray(x)
    return as_tensor(x).astype("float64")


def _float_power(x1: Any, x2: Any) -> Any:
    return paddle.pow(_double(x1), _double(x2))


def direct(names: str) -> dict[str, Callable[..., Any]]:
    """Functions of ours by these names, which NumPy has too."""
    return {name: getattr(paddle, name) for name in names.split()}


# By the ufunc's own name (``np.abs.__name__`` is "absolute").
UFUNCS: Final[dict[str, Callable[..., Any]]] = {
    **direct(
        "add subtract multiply divide floor_divide remainder negative positive sin cos tan sinh "
        "cosh tanh exp expm1 log log10 log1p log2 logaddexp sqrt square reciprocal floor ceil "
        "trunc sign signbit heaviside hypot copysign nextafter maximum minimum fmax fmin gcd lcm "
        "equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor "
        "logical_not bitwise_and bitwise_or bitwise_xor isfinite isinf isnan deg2rad rad2deg matmul"
    ),
    "absolute": paddle.abs,
    "fabs": paddle.abs,
    "arccos": paddle.acos,
    "arccosh": paddle.acosh,
    "arcsin": paddle.asin,
    "arcsinh": paddle.asinh,
    "arctan": paddle.atan,
    "arctan2": paddle.atan2,
    "arctanh": paddle.atanh,
    "cbrt": _cbrt,
    "conjugate": paddle.conj,
    "degrees": paddle.rad2deg,
    "divmod": lambda x1, x2: (paddle.floor_divide(x1, x2), paddle.remainder(x1, x2)),
    "exp2": lambda x: 2.0 ** floating(x),
    "float_power": _float_power,
    "fmod": _fmod,
    "frexp": _frexp,
    "invert": paddle.bitwise_not,
    "ldexp": paddle.ldexp,
    "left_shift": paddle.bitwise_left_shift,
    "logaddexp2": lambda x1, x2: paddle.logaddexp(*(x * _LN2 for x in as_tensors(x1, x2))) / _LN2,
    "matvec": _matvec,
    "modf": _modf,
    "power": paddle.pow,
    "radians": paddle.deg2rad,
    "right_shift": paddle.bitwise_right_shift,
    "rint": paddle.round,
    "vecdot": _vecdot,
    "vecmat": _vecmat,
}

# Piecewise constant, or made of integers: there is no gradient to lose, so NumPy computes them.
_OF_VALUES: Final = frozenset({"bitwise_count", "spacing"})


class _Plain(dict[Any, Any]):
    """Ufuncs that are called without more arguments; None for what is not NumPy's, or not ours.

    An operator between an ndarray and a tensor comes here too, and is the same operation.
    """

    def __missing__(self, ufunc: Any) -> Any:
        name = str(ufunc.__name__)
        function = UFUNCS.get(name) if getattr(np, name, None) is ufunc else None
        if function is not None and name in OPERATORS.values():
            function = getattr(ops, name)
        self[ufunc] = function
        return function


_PLAIN: Final = _Plain()
_CLASSES: Final = frozenset(
    {Tensor, Parameter, Variable, np.ndarray, np.float64, np.float32, np.int64, bool, int, float}
)

OF_SCIPY: Final[dict[str, Callable[..., Any]]] = {
    **{name: UFUNCS[name] for name in ("cbrt", "exp2", "expm1", "log1p")},  # its own, not NumPy's
    "betaln": _betaln,
    "erf": paddle.erf,
    "erfinv": paddle.erfinv,
    "expit": functional.sigmoid,
    "gammainc": paddle.gammainc,
    "gammaincc": paddle.gammaincc,
    "gammaln": paddle.gammaln,
    "i0": paddle.i0,
    "i0e": paddle.i0e,
    "i1": paddle.i1,
    "i1e": paddle.i1e,
    "log_expit": functional.log_sigmoid,
    "logit": paddle.logit,
    "psi": paddle.digamma,
    "round": paddle.round,
    "xlogy": _xlogy,
}


def array_ufunc(self: Any, ufunc: Any, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
    """What ``ufunc.method(*inputs, **kwargs)`` is, where an input or ``out=`` is one of ours."""
    if method == "__call__" and not kwargs:  # an operator, or a plain call
        function = _PLAIN[ufunc]
        if function is not None and _CLASSES.issuperset([v.__class__ for v in inputs]):
            left = inputs[0]
            if (
                left.__class__ is np.ndarray
                and self.__class__ is Tensor
                and left.dtype in NUMBERS_AND_BOOLS
            ):
                # A copy, as for any ndarray beside a tensor: the caller may go on writing to it.
                return function(Tensor._wrap(np.array(left)), *inputs[1:])
            return function(*inputs)
    if not all(isinstance(v, _TAKEN) for v in inputs):
        return NotImplemented
    out = kwargs.pop("out", None)
    if not all(o is None or isinstance(o, (Operand, np.ndarray)) for o in out or ()):
        return NotImplemented
    name = _name(ufunc)
    if method == "__call__":
        return _call(ufunc, name, inputs, out, kwargs)
    name = f"{name}.{method}"
    if method in ("reduce", "accumulate"):
        return deliver(name, _folded(ufunc, name, method, inputs, kwargs), out)
    if method == "outer":
        first, second = as_tensors(*inputs)
        spread = paddle.reshape(first, [*first.shape, *[1] * second.ndim])
        return _call(ufunc, name, (spread, second), out, kwargs)
    instead = "paddle.index_add, or x[i] = v" if method == "at" else "paddle.split and a reduction"
    raise NotDifferentiableError(
        f"{name} has no counterpart on tensors: use {instead}; or {name} on t.numpy(), where no "
        "gradient is needed (a copy of it, to write)"
    )


def _name(ufunc: Any) -> str:
    name = ufunc.__name__
    known = getattr(np, name, None) is ufunc
    return f"np.{name}" if known else str(name)


def _function(ufunc: Any, name: str) -> Callable[..., Any] | None:
    own = str(ufunc.__name__)
    if name.startswith("np."):
        return UFUNCS.get(own)
    of_scipy = getattr(sys.modules.get("scipy.special"), own, None)
    return OF_SCIPY.get(own) if of_scipy is ufunc else None


def _call(ufunc: Any, name: str, inputs: tuple[Any, ...], out: Any, kwargs: dict[str, Any]) -> Any:
    for layout in ("order", "subok"):  # how memory is laid out is nobody's business here
        kwargs.pop(layout, None)
    casting = str(kwargs.pop("casting", "same_kind"))
    where, dtype = kwargs.pop("where", True), kwargs.pop("dtype", None)
    if kwargs:  # axes, axis and keepdims of products; signature
        raise ArgumentError(
            f"{name}: {', '.join(kwargs)} of a ufunc is not taken on tensors; move axes with "
            "paddle.moveaxis, and cast operands with .astype"
        )
    function = _function(ufunc, name)
    if function is None and ufunc.__name__ not in _OF_VALUES and carries_gradient(inputs):
        no_counterpart(name)
    if where is not True and (out is None or any(o is None for o in out)):
        raise ArgumentError(
            f"{name}: where= without out= leaves the other elements undefined; use "
            f"paddle.where(mask, {name}(t), other), or pass out="
        )
    if function is None:
        old = {} if where is True else {"where": where, "out": tuple(np.array(o) for o in out)}
        return deliver(name, of_values(name, ufunc, inputs, old), out, casting)
    values = [operand(v) for v in inputs]
    if dtype is not None:
        values = [as_tensor(v).astype(dtype) for v in values]
    if where is not True:
        return _masked(name, function, values, where, out, casting)
    if out is not None and carries_gradient(values) and not operands_in(out):
        refuse_writing(name, *values)
    return deliver(name, function(*values), out, casting)


def _masked(
    name: str, function: Callable[..., Any], values: list[Any], where: Any, out: Any, casting: str
) -> Any:
    """Elements outside of the mask are neither computed nor differentiated, as with NumPy."""
    if len(out) != 1:
        raise ArgumentError(f"{name}: where= takes one output; use paddle.where on each of them")
    old = as_tensor(out[0])
    if out[0].__class__ is np.ndarray and carries_gradient(values):
        refuse_writing(name)
    mask, _, *parts = pick(where, old, *values)
    result = paddle.masked_scatter(old, mask, function(*parts).astype(old.dtype))
    return deliver(name, result, out, casting)


# --- reductions


# name of the ufunc -> the reduction, and what an element that is left out counts as
_REDUCTIONS: Final[dict[str, tuple[Callable[..., Any], Any]]] = {
    "add": (paddle.sum, 0),
    "multiply": (paddle.prod, 1),
    "maximum": (paddle.max, None),
    "minimum": (paddle.min, None),
    "logical_and": (paddle.all, True),
    "logical_or": (paddle.any, False),
    "logaddexp": (paddle.logsumexp, -math.inf),
}
_RUNNING: Final[dict[str, Callable[..., Any]]] = {
    "add": lambda x, axis: paddle.cumsum(x, axis=axis),
    "multiply": lambda x, axis: paddle.cumprod(x, dim=axis),
    "maximum": lambda x, axis: paddle.cummax(x, axis=axis)[0],
    "minimum": lambda x, axis: paddle.cummin(x, axis=axis)[0],
    "logaddexp": lambda x, axis: paddle.logcumsumexp(x, axis=axis),
}


def reduce_with(
    name: str,
    ufunc: str,
    x: Any,
    *,
    axis: Any = None,
    dtype: Any = None,
    keepdims: Any = False,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    """The reduction of `x` by the ufunc of this name, with NumPy's arguments."""
    function, neutral = _REDUCTIONS[ufunc]
    x = as_tensor(x)
    if dtype is not None:
        x = x.astype(dtype)
    elif ufunc.startswith("logical"):
        x = x.astype("bool")
    starts = given(initial)
    if where is not True and where is not UNSET:
        if neutral is None and not starts:
            raise ArgumentError(
                f"{name}: where= may leave nothing over, so it needs initial=; or use "
                "paddle.masked_select first"
            )
        x = paddle.where(
            as_tensor(where).astype("bool"), x, initial if neutral is None else neutral
        )
    keepdim = keepdims is not UNSET and bool(keepdims)
    if axis == () or (axis is None and not x.ndim):
        result = x
    elif neutral is None and starts and 0 in x.shape:
        total = paddle.sum(x, axis=axis, keepdim=keepdim)  # for its shape
        result = paddle.full_like(total, initial)
    else:
        result = function(x, axis=axis, keepdim=keepdim)
    return UFUNCS[ufunc](result, initial) if starts else result


def _folded(
    ufunc: Any, name: str, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``ufunc.reduce`` or ``ufunc.accumulate``; the axis is the first one if none is named."""
    own = ufunc.__name__
    known: Any = _REDUCTIONS if method == "reduce" else _RUNNING
    if own not in known or not name.startswith("np."):
        if carries_gradient(inputs[0]):
            no_counterpart(name)
        return of_values(name, getattr(ufunc, method), inputs, kwargs)
    if method == "reduce":
        return reduce_with(name, own, inputs[0], **{"axis": 0, **kwargs})
    x = as_tensor(inputs[0])
    if not x.ndim:
        raise ShapeError(f"{name}: takes one dimension or more, got a 0-d array")
    if kwargs.get("dtype") is not None:
        x = x.astype(kwargs["dtype"])
    return _RUNNING[own](x, kwargs.get("axis", 0))
