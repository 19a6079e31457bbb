"""The standard's elementwise functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from autograd_engine.interop.numpy_protocol.array_ufunc import UFUNCS, direct
from autograd_engine.interop.numpy_protocol.elementwise import _clip, _imag, _real
from autograd_engine.interop.numpy_protocol.operands import as_tensor
from autograd_engine.tensor import public as paddle

# The standard's name -> ours, or NumPy's ufunc of another name.
_UNARY: Final[dict[str, Callable[..., Any]]] = {
    **direct(
        "abs acos acosh asin asinh atan atanh ceil conj cos cosh exp expm1 floor isfinite isinf "
        "isnan log log10 log1p log2 logical_not negative positive reciprocal round sign signbit "
        "sin sinh sqrt square tan tanh trunc"
    ),
    "bitwise_invert": paddle.bitwise_not,
    "imag": _imag,
    "real": _real,
}

_BINARY: Final[dict[str, Callable[..., Any]]] = {
    **direct(
        "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor "
        "copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp "
        "logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal remainder "
        "subtract"
    ),
    "pow": UFUNCS["power"],
}


def _unary(name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
    def function(x: Any, /) -> Any:
        return ours(as_tensor(x))

    return _named(function, name)


def _binary(name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
    def function(x1: Any, x2: Any, /) -> Any:
        return ours(x1, x2)

    return _named(function, name)


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}`` of the array API standard."
    return function


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """`x` between `min` and `max`, which broadcast."""
    return _clip(x, min, max)


globals().update({name: _unary(name, ours) for name, ours in _UNARY.items()})
globals().update({name: _binary(name, ours) for name, ours in _BINARY.items()})

__all__ = ["clip", *_UNARY, *_BINARY]
