"""What users pass for an array, a shape or a number, as ndarrays, tuples and Python numbers."""

from __future__ import annotations

import math
import sys
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dtypes import (
    DTYPES,
    DTypeLike,
    get_default_numpy_dtype,
    to_numpy,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError
from autograd_engine.program.ir.program import Variable

__all__ = [
    "MOST",
    "count",
    "deviation",
    "held",
    "in_dtype",
    "number",
    "probability",
    "real",
    "shape_of",
    "span",
    "to_array",
]

Array = NDArray[Any]
MOST: Final = sys.maxsize // 16  # elements of an array, whatever its dtype
_LIKE: Final = {
    "rand": "rand_like",
    "uniform": "rand_like",
    "randn": "randn_like",
    "standard_normal": "randn_like",
    "normal": "randn_like",
    "randint": "randint_like",
}


def to_array(data: Any, dtype: DTypeLike | None, function: str = "to_tensor") -> Array:
    """A fresh ndarray of `data`: Python floats get the default dtype, ndarrays keep theirs."""
    if isinstance(data, Tensor):
        array = np.array(data._data)
    else:
        if isinstance(data, (list, tuple)):
            data = _unwrapped(data)
        try:
            array = np.array(data)
        except ValueError:
            raise ArgumentError(
                f"{function}: the lists are not rectangular: {data!r:.200}; all lists at one depth "
                "must have one length"
            ) from None
        if dtype is None and not isinstance(data, (np.ndarray, np.generic)):
            if array.dtype == np.float64 and not _holds_numpy(data):
                with np.errstate(over="ignore"):
                    array = array.astype(get_default_numpy_dtype())
            elif array.dtype == np.complex128 and not _holds_numpy(data):
                array = array.astype(np.complex64)
    if array.dtype.kind not in "biufc":
        _refuse(function, data, array)
    return in_dtype(function, array, array.dtype if dtype is None else to_numpy(dtype))


def _refuse(function: str, data: Any, array: Array) -> NoReturn:
    if array.size and all(isinstance(v, (bool, int, float)) for v in array.ravel().tolist()):
        raise ArgumentError(
            f"{function}: {data!r:.200} holds an integer that does not fit int64; give a floating "
            "dtype, and floats"
        )
    raise DTypeError(
        f"{function}: cannot make a tensor of {type(data).__name__} (NumPy makes it "
        f"{array.dtype}); pass numbers, nested lists of numbers, or an ndarray"
    )


def in_dtype(function: str, array: Array, dtype: np.dtype[Any]) -> Array:
    """`array` in `dtype`, refused where integers of it cannot hold the values."""
    if dtype == np.uint64 and not _is_dtype(dtype):  # what NumPy takes for 2**63 and more
        dtype = np.dtype(np.int64)
    if array.dtype == dtype and _is_dtype(array.dtype):
        return array
    chosen = to_numpy(dtype)
    if array.dtype.kind == "c" and chosen.kind != "c":
        raise DTypeError(
            f"{function}: complex values cannot become {chosen.name}; take their real parts first"
        )
    if chosen.kind in "iu" and array.size and not np.can_cast(array.dtype, chosen, "safe"):
        limits = np.iinfo(chosen)
        low, high = array.min(), array.max()
        # Of floats the whole part is kept; a NaN fails both comparisons.
        if not (_whole(low) >= limits.min and _whole(high) <= limits.max):
            bad = high if _whole(low) >= limits.min else low
            raise ArgumentError(
                f"{function}: {bad} does not fit {chosen.name}, which holds {limits.min} to "
                f"{limits.max}; choose another dtype"
            )
    with np.errstate(over="ignore"):  # to float16: infinity is what rounding gives
        return array.astype(chosen, copy=False)


def _is_dtype(dtype: np.dtype[Any]) -> bool:
    return dtype.isnative and dtype.name in DTYPES


def _whole(value: Any) -> Any:
    """A Python int, or the infinity or NaN that has none."""
    number = value.item()
    return math.trunc(number) if math.isfinite(number) else number


def _unwrapped(data: Any) -> Any:
    """Tensors in nested lists as arrays."""
    if isinstance(data, (list, tuple)):
        return [_unwrapped(d) for d in data]
    if isinstance(data, Variable):
        raise NotATensorError(
            f"the list holds the variable {data.name} of a program, which has no value yet; use "
            "paddle.stack or paddle.concat"
        )
    return data._data if isinstance(data, Tensor) else data


def _holds_numpy(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))


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
    if math.prod(map(int, sizes)) > MOST:
        raise ArgumentError(
            f"{function}: shape {list(sizes)} has more elements than an array can have"
        )
    return tuple(int(d) for d in sizes)


def count(function: str, argument: str, value: Any) -> int:
    """A non-negative int."""
    value = number(function, argument, value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{function}: {argument} must be an int, got {value!r}")
    if not 0 <= value <= MOST:
        raise ArgumentError(f"{function}: {argument} must be 0 to {MOST}, got {value}")
    return value


def number(function: str, argument: str, value: Any) -> Any:
    """A Python number; arrays of one element count as one."""
    if isinstance(value, (np.generic, np.ndarray, Tensor)) and value.size == 1:
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(f"{function}: {argument} must be a number, got {type(value).__name__}")
    return value


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
        raise TypeError(f"{function}: {argument} must be a real number, got {value}")
    if not math.isfinite(value):
        raise ArgumentError(f"{function}: {argument} must be finite, got {value}")
    return float(value)


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
