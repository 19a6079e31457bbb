"""The dtypes of the engine as users name them."""

from __future__ import annotations

import threading
from typing import Any, Final, TypeAlias

import numpy as np

from autograd_engine.core.dtypes.families import FLOAT32, FLOATS, bfloat16, kind
from autograd_engine.errors import ArgumentTypeError, DTypeError, MissingLibraryError

__all__ = [
    "DTYPES",
    "DType",
    "DTypeLike",
    "as_dtype",
    "get_default_dtype",
    "get_default_numpy_dtype",
    "is_own",
    "name_of",
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
        if name != "bfloat16":
            self.dtype = np.dtype(name)

    dtype: np.dtype[Any]

    def __getattr__(self, name: str) -> Any:
        if name != "dtype":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = self.dtype = bfloat16()  # the one that is not there from the beginning
        _BY_NUMPY[found] = self
        return found

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        if isinstance(other, str) and other == self.name:
            return True
        if isinstance(other, (str, type, np.dtype)) and (self is not _BFLOAT16 or _is_there()):
            named = _numpy_dtype(other)
            return named is not None and bool(self.dtype == named)  # for NumPy None is float64
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.dtype if self is not _BFLOAT16 or _is_there() else self.name)

    def __repr__(self) -> str:
        return f"paddle.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (as_dtype, (self.name,))

    @property
    def is_floating(self) -> bool:
        return self.dtype in FLOATS

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def kind(self) -> str:
        """NumPy's letter for what it holds: ``"f"``, ``"i"``, ``"u"``, ``"b"`` or ``"c"``."""
        return kind(self.dtype)

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
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
DTYPES: Final[dict[str, DType]] = {name: DType(name) for name in _NAMES}
_BFLOAT16: Final = DTYPES["bfloat16"]
_BY_NUMPY: Final[dict[np.dtype[Any], DType]] = {
    d.dtype: d for d in DTYPES.values() if d is not _BFLOAT16
}


def _is_there() -> bool:
    """Whether what bfloat16 needs is installed: a table of dtypes may name it where it is not."""
    try:
        return _BFLOAT16.dtype is not None
    except MissingLibraryError:
        return False


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
        return _BFLOAT16.dtype if dtype == "bfloat16" else _OF_NAME.get(dtype)
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except Exception:  # of a type with an attribute `dtype` NumPy asks that, which may do anything
        return None
    return found


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
    if named is not None and named not in _BY_NUMPY and bfloat16.known(named):
        return DTYPES[_BFLOAT16.dtype.name]
    found = None if named is None else _BY_NUMPY.get(named.newbyteorder("="))
    if found is None:
        size = isinstance(dtype, int) and not isinstance(dtype, bool)
        raise DTypeError(
            f"{dtype!r:.80} is no dtype of this engine; use one of {', '.join(_NAMES)}"
            f"{' (the sizes of a shape go into one list, [2, 3])' if size else ''}"
        )
    return found


def is_own(dtype: np.dtype[Any]) -> bool:
    """Whether tensors have this dtype: one of the engine's, in the byte order of this machine."""
    return dtype in _BY_NUMPY or bfloat16.known(dtype)


def to_numpy(dtype: DTypeLike) -> np.dtype[Any]:
    """The NumPy dtype for anything `as_dtype` takes."""
    return as_dtype(dtype).dtype


class _Default(threading.local):
    dtype: np.dtype[Any] = FLOAT32


_default = _Default()


def name_of(dtype: np.dtype[Any]) -> str:
    """``dtype.name``, which NumPy works out anew at each call, in microseconds."""
    found = _BY_NUMPY.get(dtype)
    return dtype.name if found is None else found.name


def get_default_numpy_dtype() -> np.dtype[Any]:
    return _default.dtype


def get_default_dtype() -> str:
    """Name of the floating dtype that Python floats get; ``"float32"`` unless set.

    Examples
    --------
    >>> get_default_dtype()
    'float32'
    """
    return name_of(_default.dtype)


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
            f"set_default_dtype takes float16, bfloat16, float32 or float64; got {dtype.name}"
        )
    _default.dtype = dtype.dtype
