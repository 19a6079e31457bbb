"""The BLAS that NumPy has loaded, found by its symbols and tried before it is trusted.

Wheels of NumPy bring an OpenBLAS whose names carry a prefix, a suffix or both; other builds link
one with plain names. Where none is found (MKL, Accelerate), products are left to NumPy.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

__all__ = ["Blas", "find_blas"]

_AFFIXES: Final = (("scipy_", "64_"), ("", "64_"), ("scipy_", ""), ("", ""))
_ROW_MAJOR, _PLAIN, _TRANSPOSED = 101, 111, 112
_SET_CALLBACK: Final = "openblas_set_threads_callback_function"
_OWN_THREADS: Final = 1  # what OpenBLAS calls parallel by pthreads
_MOST_THREADS: Final = re.compile(r"\bMAX_THREADS=(\d+)")
# 1 in its lower half, negative as a whole: see `_is_wide`.
_ONE_OR_NEGATIVE: Final = -(1 << 32) + 1


@dataclass(frozen=True)
class Blas:
    """Addresses of functions with the interface of CBLAS.

    Attributes
    ----------
    sgemm, dgemm, sgemv, dgemv : int
    wide : bool
        Whether its integers have 64 bits.
    get_threads, set_threads : int
        0 where the library does not let itself be told.
    set_callback : int
        The function by which others run what it splits; 0 where there is none, or where its threads
        are not its own.
    run_jobs, allocate : int
        What asks its own threads, and where memory for a job comes from.
    most_threads : int
        How many its threads can be.
    identity : str
        Which library, of which version, for which processor.
    """

    path: str
    wide: bool
    sgemm: int
    dgemm: int
    sgemv: int
    dgemv: int
    get_threads: int
    set_threads: int
    set_callback: int
    run_jobs: int
    allocate: int
    most_threads: int
    identity: str


@functools.cache
def find_blas() -> Blas | None:
    """The BLAS of this process; None where there is none with these functions."""
    for path in _libraries():
        library = _already_loaded(path)
        if library is not None:
            found = _in(library, path)
            if found is not None:
                return found
    return None


def _libraries() -> Iterator[str]:
    """Files that may be it: what NumPy brings, then what the process has loaded."""
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".libs", package / ".dylibs"):
        for pattern in ("*openblas*", "*blas*"):
            yield from sorted(str(path) for path in folder.glob(pattern))
    seen = set()
    with contextlib.suppress(OSError), open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            path = line[line.find("/") :].rstrip("\n") if "/" in line else ""
            if "blas" in os.path.basename(path) and path not in seen:
                seen.add(path)
                yield path
    ending = "dylib" if sys.platform == "darwin" else "so"
    for name in ("libopenblas", "libcblas"):
        yield from sorted(
            str(path) for path in (Path(sys.prefix) / "lib").glob(f"{name}*.{ending}*")
        )


def _already_loaded(path: str) -> ctypes.CDLL | None:
    """The library if NumPy (or another package) has loaded it: a second BLAS is never loaded."""
    try:
        return ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except (AttributeError, OSError):
        return None


def _in(library: Any, path: str) -> Blas | None:
    for prefix, suffix in _AFFIXES:

        def function(name: str, prefix: str = prefix, suffix: str = suffix) -> Any:
            return getattr(library, prefix + name + suffix, None)

        kinds = ("cblas_sgemm", "cblas_dgemm", "cblas_sgemv", "cblas_dgemv", "cblas_ddot")
        functions = [function(name) for name in kinds]
        if any(found is None for found in functions):
            continue
        wide = _is_wide(functions[-1])
        if wide is None or not _works(functions, wide):
            continue
        get, put = (function(f"openblas_{verb}_num_threads") for verb in ("get", "set"))
        told = get is not None and put is not None
        identity = _identity(function, path, wide)
        most = _MOST_THREADS.search(identity)
        # Releases before 0.3.31 export it without prefix and suffix.
        callback = function(_SET_CALLBACK) or getattr(library, _SET_CALLBACK, None)
        run_jobs = getattr(library, "exec_blas", None)
        allocate = getattr(library, "blas_memory_alloc", None)
        asks = told and None not in (callback, run_jobs, allocate, most)
        return Blas(
            path,
            wide,
            sgemm=_address(functions[0]),
            dgemm=_address(functions[1]),
            sgemv=_address(functions[2]),
            dgemv=_address(functions[3]),
            get_threads=_address(get) if told else 0,
            set_threads=_address(put) if told else 0,
            set_callback=_address(callback) if asks and _has_own_threads(function, library) else 0,
            run_jobs=_address(run_jobs) if asks else 0,
            allocate=_address(allocate) if asks else 0,
            most_threads=int(most[1]) if most else 0,
            identity=identity,
        )
    return None


def _has_own_threads(function: Callable[[str], Any], library: Any) -> bool:
    """Neither those of OpenMP nor, by a callback, somebody else's."""
    kind = function("openblas_get_parallel")
    try:
        asked = ctypes.c_void_p.in_dll(library, "openblas_threads_callback_").value
    except ValueError:
        return False
    return kind is not None and kind() == _OWN_THREADS and not asked


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _identity(function: Callable[[str], Any], path: str, wide: bool) -> str:
    words = [os.path.basename(path), "64-bit integers" if wide else "32-bit integers"]
    for name in ("openblas_get_config", "openblas_get_corename"):
        found = function(name)
        if found is not None:
            found.restype = ctypes.c_char_p
            words.append((found() or b"").decode(errors="replace").strip())
    return ", ".join(words)


def _is_wide(ddot: Any) -> bool | None:
    """Whether a length has 64 bits, by a dot product that both kinds survive.

    The length is 1 in its lower 32 bits and negative in all 64: a library with short integers
    multiplies the first elements, one with long integers sees nothing to do and gives 0.
    """
    left, right = (ctypes.c_double * 1)(3.0), (ctypes.c_double * 1)(5.0)
    ddot.restype = ctypes.c_double
    ddot.argtypes = [
        ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64,
    ]  # fmt: skip
    result = ddot(_ONE_OR_NEGATIVE, left, 1, right, 1)
    return {15.0: False, 0.0: True}.get(result)


def _works(functions: list[Any], wide: bool) -> bool:
    """Whether products of small integers are exact, transposed and into memory with NaN in it."""
    integer = ctypes.c_int64 if wide else ctypes.c_int32
    for gemm, gemv, dtype in (
        (functions[0], functions[2], np.dtype(np.float32)),
        (functions[1], functions[3], np.dtype(np.float64)),
    ):
        for transposed in (False, True):
            if not _multiplies(gemm, gemv, dtype, integer, transposed):
                return False
    return True


def _multiplies(gemm: Any, gemv: Any, dtype: np.dtype[Any], integer: Any, transposed: bool) -> bool:
    real = ctypes.c_float if dtype.itemsize == 4 else ctypes.c_double
    pointer, code = ctypes.c_void_p, ctypes.c_int
    gemm.restype = gemv.restype = None
    gemm.argtypes = [
        code, code, code, integer, integer, integer, real, pointer, integer, pointer, integer,
        real, pointer, integer,
    ]  # fmt: skip
    gemv.argtypes = [
        code, code, integer, integer, real, pointer, integer, pointer, integer, real, pointer,
        integer,
    ]  # fmt: skip
    m, n, k = 3, 5, 4
    a = (np.arange(m * k, dtype=dtype) - 4).reshape((k, m) if transposed else (m, k))
    b = (np.arange(k * n, dtype=dtype) % 7 - 2).reshape(k, n)
    c, y = np.full((m, n), np.nan, dtype), np.full(m, np.nan, dtype)
    op, left = (_TRANSPOSED, a.T) if transposed else (_PLAIN, a)
    gemm(
        _ROW_MAJOR, op, _PLAIN, m, n, k, 2.0, a.ctypes.data, a.shape[1], b.ctypes.data, n, 0.0,
        c.ctypes.data, n,
    )  # fmt: skip
    gemv(_ROW_MAJOR, op, *a.shape, 2.0, a.ctypes.data, a.shape[1], b.ctypes.data, n, 0.0,
         y.ctypes.data, 1)  # fmt: skip
    exact = 2 * np.einsum("ik,kj->ij", left.astype(np.int64), b.astype(np.int64))
    return bool((c == exact).all() and (y == exact[:, 0]).all())
