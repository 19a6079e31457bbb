"""What users pass for a shape or a number, as tuples and Python numbers."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import MOST, as_number, require_possible
from autograd_engine.eager.grad_mode import is_grad_enabled
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, NotDifferentiableError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.ir.program import Variable

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

_LIKE: Final = {
    "rand": "rand_like",
    "uniform": "rand_like",
    "randn": "randn_like",
    "standard_normal": "randn_like",
    "normal": "randn_like",
    "randint": "randint_like",
}


def shape_of(shape: Any, function: str) -> tuple[int, ...]:
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    sizes = tuple(shape) if isinstance(shape, (list, tuple, np.ndarray)) else (shape,)
    sizes = tuple(d.item() if isinstance(d, Tensor) and d.size == 1 else d for d in sizes)
    for d in sizes:
        if isinstance(d, Variable):
            raise ArgumentError(
                f"{function}: shape holds the variable {d.name}, and a program must know its "
                f"shapes when it is built; use {_LIKE.get(function, 'full_like')} to take the "
                "shape of another variable"
            )
        if not isinstance(d, (int, np.integer)) or isinstance(d, bool) or d < 0:
            raise ArgumentError(f"{function}: shape {shape!r} must hold non-negative ints")
    require_possible(function, sizes)
    return tuple(int(d) for d in sizes)


def count(function: str, argument: str, value: Any) -> int:
    """A non-negative int."""
    value = number(function, argument, value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentTypeError(f"{function}: {argument} must be an int, got {value!r}")
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
    return value.detach() if isinstance(value, Tensor) else value


def carries_gradient(*values: Any) -> bool:
    """Whether one of them is a Tensor of floats whose gradient would be lost with its number."""
    return any(
        isinstance(v, Tensor) and not v._stop and v._data.dtype.kind == "f" for v in values
    ) and bool(is_grad_enabled())


def as_factor(value: Any, dtype: np.dtype[Any]) -> Any:
    """A number as it is; a Tensor of one element, with its history, as one of no axes."""
    if not isinstance(value, Tensor):
        return value
    return ops.cast(ops.reshape(value, shape=()), dtype=dtype.name)


def held(function: str, argument: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """`value`, which an array of this dtype can hold (rounded)."""
    try:
        if dtype.kind == "c" or not isinstance(value, complex):
            with np.errstate(over="ignore"):
                np.asarray(value, dtype)
            return value
    except (OverflowError, ValueError):
        pass
    raise ArgumentError(
        f"{function}: {argument} {value!r} does not fit {dtype.name}; choose another dtype"
    )


def real(function: str, argument: str, value: Any) -> float:
    """A finite number as a float."""
    value = number(function, argument, value)
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
    if not low <= high:
        raise ArgumentError(f"{function}: min ({low}) must not be above max ({high})")
    return low, high


def deviation(function: str, std: Any) -> float:
    """A standard deviation: a number that is not negative."""
    given = real(function, "std", std)
    if given < 0:
        raise ArgumentError(f"{function}: std must not be negative, got {given}")
    return given


def probability(function: str, argument: str, p: Any) -> float:
    """A number in [0, 1]."""
    p = number(function, argument, p)
    if isinstance(p, complex) or not 0 <= p <= 1:
        raise ArgumentError(f"{function}: {argument} must be in [0, 1], got {p}")
    return float(p)
