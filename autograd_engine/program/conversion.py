"""What users pass for a shape or a number, as tuples and Python numbers."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import MOST, as_int, as_number, is_int, require_possible
from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.core.dtypes import COMPLEX, FLOATS, INEXACT
from autograd_engine.eager.grad_mode import is_grad_enabled
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, NotDifferentiableError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import spec_of
from autograd_engine.program.symbolic_number import numbers_in

__all__ = [
    "as_factor",
    "carries_gradient",
    "count",
    "detached",
    "deviation",
    "held",
    "number",
    "plain",
    "probability",
    "real",
    "shape_of",
    "span",
]

_INT: Final = frozenset((int,))


def shape_of(shape: Any, function: str) -> tuple[int, ...]:
    """Sizes as a tuple of ints, of which some may be symbolic."""
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    elif isinstance(shape, Variable):
        shape = numbers_in(shape)
    sizes = tuple(shape) if isinstance(shape, (list, tuple, np.ndarray)) else (shape,)
    if _INT.issuperset(map(type, sizes)):
        usual = min(sizes, default=0) >= 0 and max(sizes, default=0) <= MOST
        if usual and math.prod(sizes) <= MOST:
            return sizes
    else:
        sizes = tuple([as_number(d) for d in sizes])
    for d in sizes:
        if not is_int(d) or (not isinstance(d, SymbolicNumber) and d < 0):
            raise ArgumentError(f"{function}: shape {shape!r} must hold non-negative ints")
    require_possible(function, sizes)
    return tuple([as_int(d) for d in sizes])


def count(function: str, argument: str, value: Any) -> int:
    """A non-negative int, which may be symbolic."""
    value = number(function, argument, value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentTypeError(f"{function}: {argument} must be an int, got {value!r}")
    if isinstance(value, SymbolicNumber):
        checked: int = value.within(f"{function}: {argument}", f"0 to {MOST}", 0, MOST)
        return checked
    if not 0 <= value <= MOST:
        raise ArgumentError(f"{function}: {argument} must be 0 to {MOST}, got {value}")
    return value


def number(function: str, argument: str, value: Any) -> Any:
    """A Python number; arrays of one element count as one."""
    found = as_number(value)
    if not isinstance(found, (bool, int, float, complex)):
        more = ", whose gradient would be lost: pass its .item()" if carries_gradient(value) else ""
        raise ArgumentTypeError(
            f"{function}: {argument} must be a number, got {type(value).__name__}{more}"
        )
    return found


def detached(value: Any) -> Any:
    """`value` for reading its number, by who gives the result its history."""
    return value.detach() if isinstance(value, (Tensor, Variable)) else value


def carries_gradient(*values: Any) -> bool:
    """Whether one of them is an array of floats whose gradient would be lost with its number."""
    return any(
        not v.stop_gradient and spec_of(v).dtype in INEXACT
        for v in values
        if isinstance(v, (Tensor, Variable))
    ) and bool(is_grad_enabled())


def as_factor(value: Any, dtype: np.dtype[Any]) -> Any:
    """A number as it is; an array of one element, with its history, as one of no axes."""
    if not isinstance(value, (Tensor, Variable)):
        return value
    return ops.cast(ops.reshape(value, shape=()), dtype=dtype.name)


def held(function: str, argument: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """`value`, which an array of this dtype can hold (rounded)."""
    if isinstance(value, SymbolicNumber) or (value.__class__ is float and dtype in FLOATS):
        return value
    try:
        if dtype in COMPLEX or not isinstance(value, complex):
            with np.errstate(over="ignore"):
                np.asarray(value, dtype)
            return value
    except (OverflowError, ValueError):
        pass
    raise ArgumentError(
        f"{function}: {argument} {value!r} does not fit {dtype.name}; choose another dtype"
    )


def real(function: str, argument: str, value: Any) -> float:
    """A finite number as a float, or a symbolic one."""
    value = number(function, argument, value)
    if isinstance(value, SymbolicNumber):
        return value  # type: ignore[return-value]
    if isinstance(value, complex):
        raise ArgumentTypeError(f"{function}: {argument} must be a real number, got {value}")
    if not math.isfinite(value):
        raise ArgumentError(f"{function}: {argument} must be finite, got {value}")
    return float(value)


def plain(function: str, argument: str, value: Any) -> float:
    """A finite number as a float; refused where it carries a gradient, which would be lost."""
    if carries_gradient(value):
        raise NotDifferentiableError(
            f"{function}: there is no gradient with respect to {argument}; pass {argument}.item()"
        )
    return real(function, argument, value)


def span(function: str, low: Any, high: Any) -> tuple[float, float]:
    """Both ends of an interval, in order."""
    low, high = real(function, "min", low), real(function, "max", high)
    symbolic = isinstance(low, SymbolicNumber) or isinstance(high, SymbolicNumber)
    if not symbolic and not low <= high:
        raise ArgumentError(f"{function}: min ({low}) must not be above max ({high})")
    return low, high


def deviation(function: str, std: Any) -> float:
    """A standard deviation: a number that is not negative."""
    given = real(function, "std", std)
    if isinstance(given, SymbolicNumber):
        checked: float = given.within(f"{function}: std", "0 or more", 0)
        return checked
    if given < 0:
        raise ArgumentError(f"{function}: std must not be negative, got {given}")
    return given


def probability(function: str, argument: str, p: Any) -> float:
    """A number in [0, 1]."""
    p = number(function, argument, p)
    if isinstance(p, SymbolicNumber):
        checked: float = p.within(f"{function}: {argument}", "in [0, 1]", 0, 1)
        return checked
    if isinstance(p, complex) or not 0 <= p <= 1:
        raise ArgumentError(f"{function}: {argument} must be in [0, 1], got {p}")
    return float(p)
