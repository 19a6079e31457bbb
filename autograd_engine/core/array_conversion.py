"""What users pass for an array, as an ndarray."""

from __future__ import annotations

import math
import sys
from typing import Any, NoReturn

import numpy as np

from autograd_engine.core.above import above
from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.core.dtypes import (
    COMPLEX,
    INTEGERS,
    DTypeLike,
    can_cast,
    get_default_numpy_dtype,
    holds_numbers,
    iinfo,
    is_own,
    to_numpy,
)
from autograd_engine.core.operand import Operand
from autograd_engine.core.spec import Array
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError

__all__ = ["in_dtype", "to_array"]


def to_array(data: Any, dtype: DTypeLike | None, function: str = "to_tensor") -> Array:
    """A fresh ndarray of `data`: Python floats get the default dtype, ndarrays keep theirs."""
    if isinstance(data, Operand):
        array = np.array(_values(data))
    else:
        if isinstance(data, (list, tuple)):
            data = _unwrapped(data, function)
        elif _is_foreign_bfloat16(data):  # some libraries make no ndarray of it
            data = above.imported(function, data)._data
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
    if not holds_numbers(array.dtype, wide=True):
        _refuse(function, data, array)
    return in_dtype(function, array, array.dtype if dtype is None else to_numpy(dtype))


def _is_foreign_bfloat16(data: Any) -> bool:
    if not hasattr(data, "__dlpack__") or isinstance(data, (np.ndarray, np.generic)):
        return False
    return str(getattr(data, "dtype", "")).endswith("bfloat16")


def _refuse(function: str, data: Any, array: Array) -> NoReturn:
    for value in array.ravel().tolist():
        if isinstance(value, SymbolicNumber):
            value.refuse(function)
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
    if dtype == np.uint64 and not is_own(dtype):  # what NumPy takes for 2**63 and more
        dtype = np.dtype(np.int64)
    if array.dtype == dtype and is_own(array.dtype):
        return array
    chosen = to_numpy(dtype)
    if array.dtype in COMPLEX and chosen not in COMPLEX:
        raise DTypeError(
            f"{function}: complex values cannot become {chosen.name}; take their real parts first"
        )
    if chosen in INTEGERS and array.size and not can_cast(array.dtype, chosen, "safe"):
        limits = iinfo(chosen)
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


def _whole(value: Any) -> Any:
    """A Python int, or the infinity or NaN that has none."""
    number = value.item()
    return math.trunc(number) if math.isfinite(number) else number


def _unwrapped(data: Any, function: str) -> Any:
    """Tensors in nested lists as arrays."""
    if isinstance(data, (list, tuple)):
        return [_unwrapped(d, function) for d in data]
    if not isinstance(data, Operand):
        return data
    values = _values(data)
    if function == "to_tensor" and not getattr(data, "stop_gradient", True):
        above.listed(sys._getframe())
    return values


def _values(operand: Any) -> Array:
    values: Array | None = getattr(operand, "_data", None)
    if values is None:
        raise NotATensorError(
            f"the variable {operand.name} of a program has no value yet; use paddle.stack or "
            "paddle.concat, or what computes with it"
        )
    return values


def _holds_numpy(data: Any) -> bool:
    """Whether it has a dtype of its own, or the first element of its lists does."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(getattr(data, "dtype", None), np.dtype)
