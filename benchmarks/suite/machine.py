"""Which cores and threads a process may use, and what it runs on.

PyTorch's products of matrices are those of MKL, which takes a slow path on processors that are not
Intel's. With ``BENCHMARKS_MKL=freed`` processes are started with the one function preloaded that
MKL asks who made the processor; other commands get it by
``LD_PRELOAD=$(python -m benchmarks.suite.machine)``.
"""

from __future__ import annotations

import functools
import os
import platform
import subprocess
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

__all__ = ["MKL", "describe", "environment", "freed_mkl", "pin"]

MKL: Final = "BENCHMARKS_MKL"

_POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_PACKAGES = ("numpy", "torch", "jax", "autograd")


def environment(cores: int) -> dict[str, str]:
    """Variables that libraries read when they are imported: as many threads as cores.

    OpenBLAS takes the code for the processor at hand, whatever it is told outside: that for another
    one takes up to twice the time.
    """
    found = dict(os.environ)
    found.pop("OPENBLAS_CORETYPE", None)
    found.update(dict.fromkeys(_POOLS, str(cores)))
    found["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no pool of compilers beside the measurement
    found["JAX_PLATFORMS"] = "cpu"
    if cores == 1:
        flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        found["XLA_FLAGS"] = f"{found.get('XLA_FLAGS', '')} {flags}".strip()
    if found.get(MKL) == "freed":
        found["LD_PRELOAD"] = f"{freed_mkl()} {found.get('LD_PRELOAD', '')}".strip()
    return found


@functools.cache
def freed_mkl() -> Path:
    """A shared library that tells MKL to take its fast path on any processor.

    Raises
    ------
    RuntimeError
        Without a C compiler.
    """
    compiler = _compilers()
    if not compiler:
        raise RuntimeError(f"{MKL}=freed needs a C compiler: none of $CC, cc, gcc, clang runs")
    folder = Path(tempfile.mkdtemp(prefix="freed-mkl-"))
    source, library = folder / "freed.c", folder / "freed.so"
    source.write_text("int mkl_serv_intel_cpu_true(void) { return 1; }\n")
    name = next(iter(compiler))
    subprocess.run([name, "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library


def pin(cores: int) -> None:
    """Let this process run on the last `cores` cores of those that it has."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[-cores:]))


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _compilers() -> dict[str, str]:
    """The first lines of what C compilers say of themselves, by their names."""
    found = {}
    for name in filter(None, (os.environ.get("CC"), "cc", "gcc", "clang")):
        try:
            done = subprocess.run([name, "--version"], capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0 and done.stdout:
            found[name] = done.stdout.splitlines()[0]
    return found


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def describe() -> dict[str, str]:
    """Processor, compiler and versions, as they stand in a report."""
    found = {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "compiler": next(iter(_compilers().values()), "none"),
        "MKL": os.environ.get(MKL, "as installed"),
    }
    return found | {p: v for p in _PACKAGES if (v := _version(p))}


if __name__ == "__main__":
    print(freed_mkl())
