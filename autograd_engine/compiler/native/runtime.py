"""The runtime that generated libraries are bound to: a pool of threads, and matrix products.

It is C itself (``c/runtime*.c``), compiled and cached like everything generated, and loaded once in
a process.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from autograd_engine.compiler.native.toolchain.blas import Blas, find_blas
from autograd_engine.compiler.native.toolchain.compiler import CompileError, Toolchain
from autograd_engine.compiler.native.toolchain.library_cache import load
from autograd_engine.core.locks import renewed_lock
from autograd_engine.errors import ArgumentError

__all__ = [
    "Runtime",
    "default_threads",
    "get_runtime",
    "header",
    "raise_pending",
    "set_threads",
    "threads",
]

_THREADS: Final = "OMP_NUM_THREADS"
_QUOTA: Final = "/sys/fs/cgroup/cpu.max"


@dataclass(frozen=True)
class Runtime:
    """The runtime of this process.

    Attributes
    ----------
    address : int
        Of the table that the `ae_bind` of a library takes.
    blas : Blas or None
        What its products call; without one they are plain loops, and NumPy is the better choice.
    """

    library: ctypes.CDLL
    address: int
    blas: Blas | None

    def bind(self, library: ctypes.CDLL) -> None:
        """Give a generated library the table."""
        library.ae_bind.restype = None
        library.ae_bind(ctypes.c_void_p(self.address))

    @property
    def threads(self) -> int:
        """How many threads a region may run on."""
        return int(self.library.ae_runtime_get_threads())

    @property
    def workers(self) -> int:
        """How many threads the pool has started, beside those of Python."""
        return int(self.library.ae_runtime_workers())

    def set_threads(self, count: int) -> None:
        self.library.ae_runtime_set_threads(ctypes.c_int(count))

    def set_python(self) -> None:
        """Let long loops look for signals."""
        names = "GILState_Ensure GILState_Release Err_CheckSignals Err_Fetch Err_Restore"
        functions = [getattr(ctypes.pythonapi, f"Py{name}") for name in names.split()]
        addresses = [ctypes.cast(function, ctypes.c_void_p) for function in functions]
        self.library.ae_runtime_set_python(*addresses)

    def raise_pending(self) -> None:
        """Raise what a signal made of a run that was given up, if one did."""
        address = ctypes.cast(self.library.ae_runtime_raise, ctypes.c_void_p).value
        assert address is not None
        ctypes.PYFUNCTYPE(ctypes.c_int)(address)()  # after which Python looks for an exception

    def run_jobs_of_blas(self) -> None:
        """Have the pool run what the BLAS splits, for NumPy too, if the BLAS lets it.

        Its own threads go on to factor matrices, and have numbers and memory of their own: so there
        is to be room for as many again.
        """
        blas = self.blas
        if blas is None or not blas.set_callback:
            return
        threads = ctypes.CFUNCTYPE(ctypes.c_int)(blas.get_threads)()
        if 1 < threads <= blas.most_threads // 2:
            self.library.ae_runtime_run_jobs_of_blas(
                ctypes.c_void_p(blas.set_callback),
                ctypes.c_void_p(blas.run_jobs),
                ctypes.c_void_p(blas.allocate),
                ctypes.c_int(blas.most_threads),
            )

    def set_blas(self, blas: Blas | None) -> None:
        """Which BLAS the products call; None for plain loops."""
        names = ("sgemm", "dgemm", "sgemv", "dgemv", "get_threads", "set_threads")
        addresses = [getattr(blas, name) if blas else 0 for name in names]
        self.library.ae_runtime_set_blas(
            ctypes.c_int(bool(blas and blas.wide)), *(ctypes.c_void_p(each) for each in addresses)
        )


@functools.cache
def _text(name: str) -> str:
    folder = resources.files("autograd_engine.compiler.native") / "c"
    return (folder / name).read_text(encoding="utf-8")


def header(later_unit: bool = False) -> str:
    """What a generated source starts with.

    Parameters
    ----------
    later_unit : bool
        For all but the first of the sources that become one library: those share its table.
    """
    return ("#define AE_LATER_UNIT\n" if later_unit else "") + _text("runtime.h")


def runtime_source() -> str:
    """The runtime as one C text."""
    parts = ["#define _GNU_SOURCE", "#define AE_IS_RUNTIME", _text("runtime.h")]
    parts += [_text("runtime_pool.c"), _text("runtime_blas.c")]
    for real, suffix in (("float", "f32"), ("double", "f64")):
        parts += [f"#define REAL {real}", f"#define NAME(name) name##_{suffix}"]
        parts += [_text("runtime_products.c"), _text("runtime_tiles.c")]
        parts += [_text("runtime_gemm.c"), "#undef REAL", "#undef NAME"]
    return "\n".join([*parts, _text("runtime.c")])


_lock = renewed_lock()
_runtime: list[Runtime] = []
_wanted: list[int] = []


def get_runtime(toolchain: Toolchain) -> Runtime:
    """The runtime, compiled with ``toolchain`` if the process has none yet (`CompileError`)."""
    with _lock:
        if not _runtime:
            _runtime.append(_build(toolchain))
        return _runtime[0]


def _build(toolchain: Toolchain) -> Runtime:
    library: Any = load(runtime_source(), toolchain.with_flags("-O2"), "the runtime")
    library.ae_runtime_table.restype = ctypes.c_void_p
    address = library.ae_runtime_table()
    if not address:
        raise CompileError("the runtime has no table")
    runtime = Runtime(library, address, find_blas())
    runtime.set_blas(runtime.blas)
    runtime.set_python()
    runtime.run_jobs_of_blas()
    runtime.set_threads(_wanted[0] if _wanted else default_threads())
    return runtime


def raise_pending() -> None:
    """Raise what the handler of a signal raised while native code ran, and ended it."""
    _runtime[0].raise_pending()


def threads() -> int:
    """How many threads native code runs on (or will, when the first of it runs)."""
    with _lock:
        if _runtime:
            return _runtime[0].threads
        return _wanted[0] if _wanted else default_threads()


def set_threads(count: int) -> None:
    """Run native code on ``count`` threads, from the next region on.

    Raises
    ------
    ArgumentError
        ``count`` is no int, or less than 1.

    Examples
    --------
    >>> before = threads()
    >>> set_threads(1)
    >>> threads()
    1
    >>> set_threads(before)
    """
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise ArgumentError(f"a number of threads is an int from 1 on, got {count!r}")
    with _lock:
        _wanted[:] = [count]
        if _runtime:
            _runtime[0].set_threads(count)


def default_threads() -> int:
    """As many as there are processors for this process, and no more than OMP_NUM_THREADS says."""
    most = _processors()
    first = os.environ.get(_THREADS, "").partition(",")[0].strip()
    if first.isdigit() and int(first) > 0:
        most = min(most, int(first))
    return most


def _processors() -> int:
    if hasattr(os, "process_cpu_count"):
        count = os.process_cpu_count() or 1
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    try:
        with open(_QUOTA, encoding="ascii") as file:
            quota, period = file.read().split()
        return max(1, min(count, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):  # no such file, or no limit
        return max(1, count)
