"""C functions by their names: compiled when they are first asked for, once for a machine.

A name is ``"<file>.<function>"``. A file of ``c/`` holds its functions for a dtype that is spelled
``real`` (``_fX`` at the end of names), so a library is made of a file and a dtype: who computes in
float32 waits for nothing else. The files ``row:<name>``, of elementwise rows, are generated from
the table (`elementwise`). Libraries are kept and loaded as those of compiled programs are.

Two kinds of functions are asked for. What a file says with ``AE_UFUNC(name_fX, "(n)->(n)")`` is a
ufunc. What ufuncs cannot be, for it takes numbers, is ``AE_FUNCTION name_fX(ae_array x, int64_t
n)``: it takes arrays as they are, in C order and of the sizes it is told, and checks nothing.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable
from importlib import resources
from typing import Any, Final

import numpy as np

from autograd_engine.compiler.kernels.elementwise import row_text
from autograd_engine.compiler.kernels.ufuncs import made_ufunc
from autograd_engine.compiler.native.c_code.scalars import suffix
from autograd_engine.compiler.native.emit.math_functions import NAMES, filled, needed
from autograd_engine.compiler.native.runtime import Runtime, get_runtime, header
from autograd_engine.compiler.native.toolchain.compiler import (
    CompileError,
    Toolchain,
    find_toolchain,
)
from autograd_engine.compiler.native.toolchain.library_cache import load, tell_of_compilers
from autograd_engine.core.locks import renewed_lock
from autograd_engine.ops.kernels.compiled import ROW

__all__ = ["compiled_function"]

# Each operation rounds, in the order of the text: a loop that fuses several has the bits of the
# loops that do one each.
_FLAGS: Final = ("-ffp-contract=off",)
_UFUNC: Final = re.compile(r'^AE_UFUNC\((\w+), "([^"]*)"\)', re.MULTILINE)
_FUNCTION: Final = re.compile(r"^AE_FUNCTION (\w+)\(([^)]*)\)", re.MULTILINE)
_INCLUDED: Final = re.compile(r'^#include "(\w+\.h)"$', re.MULTILINE)
_CALLED: Final = re.compile(r"\bae_(\w+)")
_ARGUMENTS: Final[dict[str, Any]] = {
    "ae_array": ctypes.py_object,
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "int": ctypes.c_int,
    "int64_t": ctypes.c_int64,
}

_lock = renewed_lock()
_libraries: dict[tuple[str, np.dtype[Any]], dict[str, Any]] = {}


def compiled_function(name: str, dtype: np.dtype[Any]) -> Callable[..., Any] | None:
    """The function of a name, for a dtype; None where none can be made."""
    file, _, function = name.partition(".")
    with _lock:
        found = _libraries.get((file, dtype))
        if found is None:
            found = _libraries[file, dtype] = _made(file, dtype)
    return found.get(function)


@functools.cache
def _tools() -> tuple[Toolchain, Runtime] | None:
    """What libraries are made with, decided once in a process."""
    toolchain = find_toolchain()
    if toolchain is None:
        tell_of_compilers()
        return None
    try:
        return toolchain.with_flags(*_FLAGS), get_runtime(toolchain)
    except CompileError:
        return None


def _made(file: str, dtype: np.dtype[Any]) -> dict[str, Any]:
    """The functions of a file."""
    tools = _tools()
    if tools is None:
        return {}
    toolchain, runtime = tools
    row = file.removeprefix(ROW)
    text = filled(_text(f"{file}.c") if row == file else row_text(row, dtype), dtype)
    if not text:
        return {}
    try:
        library = load(_source(text, dtype), toolchain, f"kernels for large arrays ({row})")
    except CompileError:
        return {}
    runtime.bind(library)
    return {**_ufuncs(row, text, library, dtype), **_functions(text, library, dtype)}


def _text(name: str) -> str:
    """The text of a file, and of those in this folder that it includes."""
    folder = resources.files("autograd_engine.compiler.kernels") / "c"
    text = (folder / name).read_text(encoding="utf-8")
    return _INCLUDED.sub(lambda found: _text(found[1]), text)


def _source(text: str, dtype: np.dtype[Any]) -> str:
    """The whole of a C source: what it calls stands before it."""
    common = filled(_text("kernels.h"), dtype)
    maths = needed(NAMES.intersection(_CALLED.findall(common + text)))
    head = f"#define AE_HEAD {object.__basicsize__}"
    return "\n".join([header(), head, maths, common, text])


def _ufuncs(row: str, text: str, library: ctypes.CDLL, dtype: np.dtype[Any]) -> dict[str, Any]:
    found = {}
    for name, signature in _UFUNC.findall(text):
        short = name.removesuffix(f"_{suffix(dtype)}")
        ufunc = made_ufunc(f"{row}_{short}", getattr(library, name), signature, dtype)
        if ufunc is not None:
            found[short] = ufunc
    return found


def _functions(text: str, library: ctypes.CDLL, dtype: np.dtype[Any]) -> dict[str, Any]:
    found = {}
    for name, parameters in _FUNCTION.findall(text):
        function = getattr(library, name)
        function.argtypes = [_ARGUMENTS[p.split()[-2]] for p in parameters.split(",")]
        function.restype = None
        found[name.removesuffix(f"_{suffix(dtype)}")] = function
    return found
