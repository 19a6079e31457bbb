"""The dtypes of the engine, their names, and how dtypes combine."""

from __future__ import annotations

import threading
from typing import Any, Final, TypeAlias

import numpy as np

from autograd_engine.errors import ArgumentTypeError, DTypeError

__all__ = [
    "DType",
    "DTypeLike",
    "as_dtype",
    "common_dtype",
    "get_default_dtype",
    "holds_numbers",
    "python_number",
    "set_default_dtype",
    "to_numpy",
]

_ScalarType: TypeAlias = type[np.generic]


class DType:
    """A dtype as users see it: ``paddle.float32``.

    It compares equal to the NumPy dtype and to the name, so ``x.dtype == "float32"`` holds, and
    ``np.dtype(paddle.float32)`` works.
    """

    __slots__ = ("dtype", "name")

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self.dtype: Final[np.dtype[Any]] = np.dtype(name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        if isinstance(other, (str, type, np.dtype)):
            named = _numpy_dtype(other)
            return named is not None and bool(self.dtype == named)  # for NumPy None is float64
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"paddle.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (as_dtype, (self.name,))

    @property
    def is_floating(self) -> bool:
        return self.dtype.kind == "f"

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def kind(self) -> str:
        """NumPy's letter for what it holds: ``"f"``, ``"i"``, ``"u"``, ``"b"`` or ``"c"``."""
        return self.dtype.kind

    @property
    def char(self) -> str:
        """NumPy's letter for the dtype, as code that takes any array asks for it."""
        return self.dtype.char

    @property
    def type(self) -> _ScalarType:
        """NumPy's type of a scalar, as code that takes any array asks for it."""
        return self.dtype.type


DTypeLike: TypeAlias = "DType | str | np.dtype[Any] | type"

_NAMES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
DTYPES: Final[dict[str, DType]] = {name: DType(name) for name in _NAMES}
_BY_NUMPY: Final[dict[np.dtype[Any], DType]] = {d.dtype: d for d in DTYPES.values()}


def _names_of_numpy() -> dict[str, np.dtype[Any]]:
    """What NumPy calls the dtypes of the engine: names, letters, and codes with a byte order."""
    named = {n: np.dtype(t) for n, t in np.sctypeDict.items() if np.dtype(t) in _BY_NUMPY}
    codes = [*np.typecodes["All"], *(d.str[1:] for d in _BY_NUMPY)]
    for code in codes:
        if np.dtype(code) in _BY_NUMPY:
            named |= {order + code: np.dtype(order + code) for order in ("", "=", "<", ">", "|")}
    return named


_OF_NAME: Final = _names_of_numpy()


def _numpy_dtype(dtype: Any) -> np.dtype[Any] | None:
    """The NumPy dtype that is meant, None if none of the engine's is.

    A name is looked up: `np.dtype` reads any other text as the fields of a structure, and raises
    what its parser raises.
    """
    if isinstance(dtype, str):
        return _OF_NAME.get(dtype)
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except Exception:  # of a type with an attribute `dtype` NumPy asks that, which may do anything
        return None
    return found


BOOL: Final = np.dtype(np.bool_)
INT64: Final = np.dtype(np.int64)
FLOAT32: Final = np.dtype(np.float32)


def as_dtype(dtype: DTypeLike) -> DType:
    """The engine's dtype for a name, a NumPy dtype, a Python type or a DType.

    Raises
    ------
    DTypeError
        For anything that names no supported dtype.

    Examples
    --------
    >>> as_dtype("float32")
    paddle.float32
    """
    if isinstance(dtype, DType):
        return dtype
    if dtype is None:  # NumPy would take it for float64
        raise DTypeError(f"None is no dtype; use one of {', '.join(_NAMES)}")
    named = _numpy_dtype(dtype)
    found = None if named is None else _BY_NUMPY.get(named.newbyteorder("="))
    if found is None:
        size = isinstance(dtype, int) and not isinstance(dtype, bool)
        raise DTypeError(
            f"{dtype!r:.80} is no dtype of this engine; use one of {', '.join(_NAMES)}"
            f"{' (the sizes of a shape go into one list, [2, 3])' if size else ''}"
        )
    return found


def to_numpy(dtype: DTypeLike) -> np.dtype[Any]:
    """The NumPy dtype for anything `as_dtype` takes."""
    return as_dtype(dtype).dtype


class _Default(threading.local):
    dtype: np.dtype[Any] = FLOAT32


_default = _Default()


def get_default_numpy_dtype() -> np.dtype[Any]:
    return _default.dtype


def get_default_dtype() -> str:
    """Name of the floating dtype that Python floats get; ``"float32"`` unless set.

    Examples
    --------
    >>> get_default_dtype()
    'float32'
    """
    return _default.dtype.name


def set_default_dtype(d: DTypeLike) -> None:
    """Set the floating dtype that Python floats and new parameters get, for this thread.

    Raises
    ------
    ArgumentError
        When `d` is no floating dtype.
    """
    dtype = as_dtype(d)
    if not dtype.is_floating:
        raise ArgumentTypeError(
            f"set_default_dtype takes float16, float32 or float64; got {dtype.name}"
        )
    _default.dtype = dtype.dtype


def common_dtype(dtypes: list[np.dtype[Any]], *, floating: bool = False) -> np.dtype[Any]:
    """Dtype in which arrays of these dtypes meet.

    Floats promote among themselves; an integer or bool beside a float takes the float's dtype;
    integers promote as NumPy's do. With `floating`, integers alone become the default float.
    """
    if dtypes and dtypes[0].kind in "fc" and all(d is dtypes[0] for d in dtypes):
        return dtypes[0]  # the common case, without asking NumPy
    inexact = [d for d in dtypes if d.kind in "fc"]
    common = np.result_type(*inexact) if inexact else np.result_type(*dtypes)
    if floating and common.kind not in "fc":
        return get_default_numpy_dtype()
    return common


def python_number(value: np.generic) -> bool | int | float | complex | None:
    """The number that a NumPy scalar holds, None for one that holds text, bytes or a time."""
    if value.dtype.kind not in "biufc":
        return None
    number: Any = value.item()
    if isinstance(number, np.generic):  # of a long double there is no Python number
        return float(number) if value.dtype.kind == "f" else complex(number)
    found: bool | int | float | complex = number
    return found


def holds_numbers(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of it may stand beside tensors: those of long doubles are too wide."""
    return dtype.kind in "biufc" and dtype.char not in "gG"


def scalar_dtype(value: bool | int | float | complex, dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """Dtype that a Python scalar takes beside arrays of `dtypes`: scalars are weak."""
    common = common_dtype(dtypes) if dtypes else None
    if isinstance(value, bool):
        return common if common is not None else BOOL
    if isinstance(value, int):
        return _holding(value, common if common is not None and common.kind != "b" else INT64)
    if isinstance(value, float):
        return common if common is not None and common.kind in "fc" else get_default_numpy_dtype()
    if common is not None and common.kind == "c":
        return common
    wide = common is not None and common == np.float64
    return np.dtype(np.complex128 if wide else np.complex64)


def _holding(value: int, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """`dtype`; a DTypeError where it is one of integers and cannot hold `value`."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            wider = "int64" if -(2**63) <= value < 2**63 and dtype != INT64 else "float64"
            raise DTypeError(
                f"the number {value} stands beside integers of {dtype.name} and takes their dtype, "
                f"which holds {limits.min} to {limits.max}: use x.astype({wider!r}) first"
            )
    return dtype
