"""Ufuncs of NumPy's made of loops in C.

`frompyfunc` takes functions of Python alone. What NumPy's own ufuncs are made with is the C
interface that its extensions import, a table of functions in a capsule, whose places are part of
NumPy's binary interface. So a loop of ours costs a call what one of NumPy's does, and broadcasting,
gaps between elements, ``out``, memory that overlaps and Python's lock are what they are there.
"""

from __future__ import annotations

import ctypes
import functools
import re
from typing import Any, Final

import numpy as np

__all__ = ["made_ufunc"]

_TYPE, _PLAIN, _GENERAL = 0, 1, 31  # places in the table
_NONE: Final = -1  # no identity
_POINTERS: Final = [ctypes.c_void_p] * 3
_COUNTS: Final = [ctypes.c_int] * 4
_TEXTS: Final = [ctypes.c_char_p] * 2

_OPERAND: Final = re.compile(r"(\??)\(")
_CORE: Final = re.compile(r"\(\w")

# What ufuncs point to, and do not hold themselves.
_kept: Final[list[Any]] = []


@functools.cache
def _table() -> Any:
    """The table of functions, None where there is none that we know."""
    capsule = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    capsule = getattr(capsule, "_UFUNC_API", None)
    if capsule is None:
        return None
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.argtypes, name.restype = [ctypes.py_object], ctypes.c_char_p
    pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    table = ctypes.cast(pointer(capsule, name(capsule)), ctypes.POINTER(ctypes.c_void_p))
    return table if table[_TYPE] == id(np.ufunc) else None


def made_ufunc(name: str, loop: Any, signature: str, dtype: np.dtype[Any]) -> np.ufunc | None:
    """A ufunc of one loop; None where this NumPy does not let us make one.

    Parameters
    ----------
    name : str
    loop : function of a library
        ``void loop(char **args, const npy_intp *dims, const npy_intp *steps, void *data)``.
    signature : str
        Core dimensions, ``"(n),()->(n)"``; without any it goes element by element. An operand of
        another dtype has the character of that in front: ``"?(),()->()"``.
    dtype : np.dtype
        That of all other operands and results.
    """
    table = _table()
    if table is None:
        return None
    inputs, _, outputs = signature.partition("->")
    counts = inputs.count("("), outputs.count("(")
    loops = (ctypes.c_void_p * 1)(ctypes.cast(loop, ctypes.c_void_p).value)
    data = (ctypes.c_void_p * 1)(None)
    chars = [found or dtype for found in _OPERAND.findall(signature)]
    kinds = ctypes.create_string_buffer(bytes([np.dtype(each).num for each in chars]))
    text, core = name.encode(), signature.replace("?", "").encode()
    _kept.extend((loops, data, kinds, text, core))
    addresses = [ctypes.addressof(v) for v in (loops, data, kinds)]
    given = [*addresses, 1, *counts, _NONE, text, b"", 0]
    plain = not _CORE.search(signature)
    types = [*_POINTERS, *_COUNTS, *_TEXTS, ctypes.c_int, *([] if plain else [ctypes.c_char_p])]
    make = ctypes.PYFUNCTYPE(ctypes.py_object, *types)(table[_PLAIN if plain else _GENERAL])
    found: np.ufunc = make(*given) if plain else make(*given, core)
    return found
