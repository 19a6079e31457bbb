"""What is asked about a NumPy dtype: its family, its limits, its counterparts.

A family is a set, and `x.dtype in FLOATS` the way to ask, in code that runs in each call and in all
other: it takes 20 ns, where `x.dtype.kind == "f"` takes 33 and a function that asks so 49, and it
holds of dtypes for which NumPy has no kind. `kind` is for tables by family. One dtype is asked for
by `dtype == FLOAT32`.

The sets take dtypes of either byte order and long doubles, which arrays of users may have; dtypes
of other things (texts, times, objects) are in none. `_declare` fills them all: a dtype that NumPy
does not have is one more call of it, and lines in `finfo`, `result_type` and `can_cast` where NumPy
does not know its limits, what it promotes to, or what becomes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Set as AbstractSet
from typing import Any, Final, TypeAlias

import numpy as np

from autograd_engine.errors import MissingLibraryError

__all__ = [
    "APART",
    "BLAS_REALS",
    "BOOL",
    "BOOLS",
    "COMPLEX",
    "COMPLEX128",
    "COMPLEX64",
    "EXACT",
    "FLOAT16",
    "FLOAT32",
    "FLOAT64",
    "FLOATS",
    "HALVES",
    "INEXACT",
    "INT32",
    "INT64",
    "INTEGERS",
    "NUMBERS",
    "NUMBERS_AND_BOOLS",
    "REALS",
    "REALS_AND_BOOLS",
    "SIGNED",
    "UINT64",
    "UNSIGNED",
    "WIDE_FLOATS",
    "accumulation_dtype",
    "bfloat16",
    "can_cast",
    "complex_dtype",
    "family",
    "finfo",
    "iinfo",
    "instead",
    "instead_of_complex",
    "kind",
    "real_dtype",
    "result_type",
    "short_name",
]

_Dtype: TypeAlias = np.dtype[Any]

BOOL: Final = np.dtype(np.bool_)
INT32: Final = np.dtype(np.int32)
INT64: Final = np.dtype(np.int64)
UINT64: Final = np.dtype(np.uint64)
FLOAT16: Final = np.dtype(np.float16)
FLOAT32: Final = np.dtype(np.float32)
FLOAT64: Final = np.dtype(np.float64)
COMPLEX64: Final = np.dtype(np.complex64)
COMPLEX128: Final = np.dtype(np.complex128)

_KINDS: Final[dict[_Dtype, str]] = {}
_FAMILIES: Final[list[tuple[str, set[_Dtype]]]] = []


def _family(kinds: str) -> AbstractSet[_Dtype]:
    members: set[_Dtype] = set()
    _FAMILIES.append((kinds, members))
    return members


BOOLS: Final = _family("b")
SIGNED: Final = _family("i")
UNSIGNED: Final = _family("u")
INTEGERS: Final = _family("iu")
EXACT: Final = _family("biu")  # integers and bools
FLOATS: Final = _family("f")
COMPLEX: Final = _family("c")
INEXACT: Final = _family("fc")
REALS: Final = _family("iuf")
REALS_AND_BOOLS: Final = _family("biuf")
NUMBERS: Final = _family("iufc")
NUMBERS_AND_BOOLS: Final = _family("biufc")
HALVES: Final = _family("h")  # floats of 16 bits
WIDE_FLOATS: Final = _family("w")  # those of more
APART: Final = _family("hc")  # those with which rules compute in a way of their own
BLAS_REALS: Final[AbstractSet[_Dtype]] = frozenset({FLOAT32, FLOAT64})  # those of C code as well


def family(kinds: str) -> AbstractSet[_Dtype]:
    """The dtypes of these kinds, "b", "i", "f" or "c", of which some may be declared later."""
    kinds = kinds.replace("i", "iu")
    for taken, members in _FAMILIES:
        if set(taken) == set(kinds):
            return members
    found = _family(kinds)
    for dtype, kind in _KINDS.items():
        if kind in kinds:
            found.add(dtype)  # type: ignore[attr-defined]
    return found


def _declare(dtype: _Dtype, kinds: str) -> None:
    """Put a dtype, of either byte order, into its families: "b", "i", "u", "fw", "fh" or "c"."""
    for each in (dtype, dtype.newbyteorder("S")):
        _KINDS[each] = kinds[0]
        for taken, members in _FAMILIES:
            if any(k in taken for k in kinds):
                members.add(each)


for _code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?":
    _kind = np.dtype(_code).kind
    _declare(np.dtype(_code), "fh" if _code == "e" else "fw" if _kind == "f" else _kind)


class _Bfloat16:
    """The dtype bfloat16, which ml_dtypes adds to NumPy: imported when it is asked for."""

    def __init__(self) -> None:
        self._dtype: _Dtype | None = None

    def __call__(self) -> _Dtype:
        if self._dtype is None:
            try:
                import ml_dtypes
            except ImportError:
                raise MissingLibraryError(
                    "bfloat16 is a dtype of the ml_dtypes package, which is not installed: "
                    'pip install "autograd-engine[bfloat16]"'
                ) from None
            dtype: _Dtype = np.dtype(ml_dtypes.bfloat16)
            _declare(dtype, "fh")
            self._dtype = dtype
        return self._dtype

    def known(self, dtype: _Dtype) -> bool:
        """Whether it is this one, which arrays have that others made."""
        if self._dtype is None and dtype.name == "bfloat16":
            self()
        return dtype == self._dtype

    def loaded(self, operands: Iterable[Any]) -> bool:
        """Whether it is among dtypes and arrays."""
        own = self._dtype
        return own is not None and any(getattr(v, "dtype", v) == own for v in operands)


bfloat16: Final = _Bfloat16()


def kind(dtype: _Dtype) -> str:
    """``"b"``, ``"i"``, ``"u"``, ``"f"`` or ``"c"``; NumPy's letter for what holds no numbers."""
    return _KINDS.get(dtype) or dtype.kind


def instead_of_complex(dtype: _Dtype) -> str:
    """The end of an error about a dtype: what to write where it is complex, else nothing."""
    return "; use paddle.real, paddle.imag or paddle.abs" if dtype in COMPLEX else ""


def instead(dtype: _Dtype, name: str, wanted: str = "float32") -> str:
    """The end of an error about an operand: what to write in its place."""
    return instead_of_complex(dtype) or f"; use {name}.astype({wanted!r})"


def short_name(dtype: _Dtype) -> str:
    """What names in C end in: ``"f32"`` for float32, ``"i64"`` for int64.

    Examples
    --------
    >>> [short_name(np.dtype(t)) for t in ("float64", "int8", "bool", "complex64")]
    ['f64', 'i8', 'b8', 'c64']
    """
    return f"{kind(dtype)}{8 * dtype.itemsize}"


def finfo(dtype: Any) -> Any:
    """The limits of floats, or of the parts of complex numbers: `eps`, `tiny`, `max`, `bits`."""
    if bfloat16.loaded((dtype,)):
        import ml_dtypes

        return ml_dtypes.finfo(bfloat16())  # type: ignore[no-untyped-call]
    return np.finfo(dtype)


def iinfo(dtype: Any) -> Any:
    """The limits of integers: `min`, `max` and `bits`."""
    return np.iinfo(dtype)


def result_type(*operands: Any) -> _Dtype:
    """The dtype in which dtypes and arrays meet, where numbers of Python are weak.

    NumPy has none for bfloat16 beside integers or numbers of Python. Beside float16 it is float32.
    """
    if not bfloat16.loaded(operands):
        return np.result_type(*operands)
    own = bfloat16()
    dtypes = [getattr(v, "dtype", v) for v in operands]
    inexact = [d for d in dtypes if d.__class__ is complex or d in INEXACT]
    others = [d for d in inexact if d != own]
    return np.result_type(FLOAT32, *others) if others else own


def can_cast(given: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether arrays of one dtype may become the other: "safe" or "same_kind"."""
    return np.can_cast(given, to, casting)


def accumulation_dtype(dtype: _Dtype) -> _Dtype:
    """The dtype that sums of elements are added up in: 2048 + 1 is 2048 in float16."""
    return FLOAT32 if dtype in HALVES else dtype


_PARTS: Final[dict[_Dtype, _Dtype]] = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}


def real_dtype(dtype: _Dtype) -> _Dtype:
    """The dtype of the parts of complex numbers; that of real ones is their own.

    Examples
    --------
    >>> real_dtype(np.dtype("complex64")), real_dtype(np.dtype("int64"))
    (dtype('float32'), dtype('int64'))
    """
    return _PARTS.get(dtype, dtype)


def complex_dtype(dtype: _Dtype) -> _Dtype:
    """The dtype of complex numbers with parts of a floating dtype, or of complex ones themselves.

    Examples
    --------
    >>> complex_dtype(np.dtype("float16")), complex_dtype(np.dtype("float64"))
    (dtype('complex64'), dtype('complex128'))
    """
    single = dtype in HALVES or dtype in (FLOAT32, COMPLEX64)
    return COMPLEX64 if single else COMPLEX128
