"""How dtypes combine with one another and with the numbers of Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dtypes.families import (
    BOOL,
    BOOLS,
    COMPLEX,
    COMPLEX64,
    COMPLEX128,
    FLOAT64,
    FLOATS,
    INEXACT,
    INT64,
    INTEGERS,
    NUMBERS_AND_BOOLS,
    bfloat16,
    iinfo,
    result_type,
)
from autograd_engine.core.dtypes.named import get_default_numpy_dtype
from autograd_engine.errors import DTypeError

__all__ = ["common_dtype", "holds_numbers", "python_number", "scalar_dtype"]


def common_dtype(dtypes: list[np.dtype[Any]], *, floating: bool = False) -> np.dtype[Any]:
    """Dtype in which arrays of these dtypes meet.

    Floats promote among themselves; an integer or bool beside a float takes the float's dtype;
    integers promote as NumPy's do. With `floating`, integers alone become the default float.
    """
    if dtypes and dtypes[0] in INEXACT and all(d is dtypes[0] for d in dtypes):
        return dtypes[0]  # the common case, without asking NumPy
    inexact = [d for d in dtypes if d in INEXACT]
    common = result_type(*inexact) if inexact else result_type(*dtypes)
    if floating and common not in INEXACT:
        return get_default_numpy_dtype()
    return common


def python_number(value: np.generic) -> bool | int | float | complex | None:
    """The number that a NumPy scalar holds, None for one that holds text, bytes or a time."""
    if not holds_numbers(value.dtype, wide=True):
        return None
    number: Any = value.item()
    if isinstance(number, np.generic):  # of a long double there is no Python number
        return float(number) if value.dtype in FLOATS else complex(number)
    found: bool | int | float | complex = number
    return found


def holds_numbers(dtype: np.dtype[Any], *, wide: bool = False) -> bool:
    """Whether arrays of it may stand beside tensors: those of long doubles are too `wide`."""
    if dtype not in NUMBERS_AND_BOOLS:
        return bfloat16.known(dtype)
    return wide or dtype.type not in (np.longdouble, np.clongdouble)


def scalar_dtype(value: bool | int | float | complex, dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """Dtype that a Python scalar takes beside arrays of `dtypes`: scalars are weak."""
    common = common_dtype(dtypes) if dtypes else None
    if isinstance(value, bool):
        return common if common is not None else BOOL
    if isinstance(value, int):
        return _holding(value, common if common is not None and common not in BOOLS else INT64)
    if isinstance(value, float):
        return common if common is not None and common in INEXACT else get_default_numpy_dtype()
    if common is not None and common in COMPLEX:
        return common
    wide = common is not None and common == FLOAT64
    return COMPLEX128 if wide else COMPLEX64


def _holding(value: int, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """`dtype`; a DTypeError where it is one of integers and cannot hold `value`."""
    if dtype in INTEGERS:
        limits = iinfo(dtype)
        if not limits.min <= value <= limits.max:
            wider = "int64" if -(2**63) <= value < 2**63 and dtype != INT64 else "float64"
            raise DTypeError(
                f"the number {value} stands beside integers of {dtype.name} and takes their dtype, "
                f"which holds {limits.min} to {limits.max}: use x.astype({wider!r}) first"
            )
    return dtype
