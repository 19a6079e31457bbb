"""The standard's dtypes, what they promote to, and what this namespace can do."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.core.dtypes import (
    BOOLS,
    COMPLEX,
    DTYPES,
    FLOATS,
    INTEGERS,
    NUMBERS,
    SIGNED,
    UNSIGNED,
    DType,
    as_dtype,
    can_cast as _can_cast,
    common_dtype,
    finfo as _finfo,
    get_default_dtype,
    iinfo as _iinfo,
    scalar_dtype,
)
from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol.operands import as_tensor

__all__ = [
    "__array_namespace_info__",
    "astype",
    "bool",
    "can_cast",
    "complex128",
    "complex64",
    "finfo",
    "float32",
    "float64",
    "iinfo",
    "int16",
    "int32",
    "int64",
    "int8",
    "isdtype",
    "result_type",
    "uint8",
]

bool = DTYPES["bool"]
int8 = DTYPES["int8"]
int16 = DTYPES["int16"]
int32 = DTYPES["int32"]
int64 = DTYPES["int64"]
uint8 = DTYPES["uint8"]
float32 = DTYPES["float32"]
float64 = DTYPES["float64"]
complex64 = DTYPES["complex64"]
complex128 = DTYPES["complex128"]

_KINDS: Final = {
    "bool": BOOLS,
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGERS,
    "real floating": FLOATS,
    "complex floating": COMPLEX,
    "numeric": NUMBERS,
}
_ALL: Final = {
    d.name: d
    for d in (bool, int8, int16, int32, int64, uint8, float32, float64, complex64, complex128)
}


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    """`x` in another dtype."""
    at_cpu("astype", device)
    return as_tensor(x).astype(dtype)


def at_cpu(function: str, device: Any) -> None:
    """Refuse a device that is not there."""
    if device is not None and str(device).lower() not in ("cpu", "place(cpu)"):
        raise ArgumentError(f"{function}: device {device!r} is not there; every tensor is on 'cpu'")


def _dtype_of(value: Any) -> np.dtype[Any]:
    return as_dtype(getattr(value, "dtype", value)).dtype


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether every value of one dtype (or of an array's) has a place in another."""
    return _can_cast(_dtype_of(from_), _dtype_of(to), "safe")


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a dtype is of a kind: a name of the standard, a dtype, or a tuple of such."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return as_dtype(dtype).dtype in _KINDS[kind]
    if isinstance(kind, str):
        raise ArgumentError(f"isdtype: {kind!r} is no kind; use one of {', '.join(_KINDS)}")
    return as_dtype(dtype) == as_dtype(kind)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype in which arrays, dtypes and Python numbers meet."""
    numbers = (int, float, complex)  # bool is an int
    known = [_dtype_of(v) for v in arrays_and_dtypes if not isinstance(v, numbers)]
    if not known:
        raise ArgumentError("result_type: give one array or dtype at least")
    common = common_dtype(known)
    for value in arrays_and_dtypes:
        if isinstance(value, numbers):
            common = common_dtype([common, scalar_dtype(value, [common])])
    return as_dtype(common)


class FloatInfo(NamedTuple):
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IntInfo(NamedTuple):
    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: Any, /) -> FloatInfo:
    """Limits of a floating dtype, of an array's or, for a complex one, of its parts."""
    dtype = _dtype_of(type)
    info = _finfo(dtype)
    return FloatInfo(
        bits=int(info.bits),
        eps=float(info.eps),
        max=float(info.max),
        min=float(info.min),
        smallest_normal=float(info.smallest_normal),
        dtype=as_dtype(info.dtype),
    )


def iinfo(type: Any, /) -> IntInfo:
    """Limits of an integer dtype, or of an array's."""
    dtype = _dtype_of(type)
    info = _iinfo(dtype)
    return IntInfo(int(info.bits), int(info.max), int(info.min), as_dtype(dtype))


class _Info:
    """What the namespace can do; see the standard."""

    def capabilities(self) -> dict[str, Any]:
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": 64,
        }

    def default_device(self) -> str:
        return "cpu"

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        at_cpu("default_dtypes", device)
        floating = as_dtype(get_default_dtype())
        wide = floating == float64
        return {
            "real floating": floating,
            "complex floating": complex128 if wide else complex64,
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        at_cpu("dtypes", device)
        if kind is None:
            return dict(_ALL)
        return {name: d for name, d in _ALL.items() if isdtype(d, kind)}

    def devices(self) -> list[str]:
        return ["cpu"]


def __array_namespace_info__() -> _Info:  # noqa: N807 - the standard's name
    """The namespace's own description."""
    return _Info()
