"""What bits and times depend on: the processor, and what libraries choose for it."""

from __future__ import annotations

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
from typing import Any

import numpy as np

__all__ = ["about", "described", "processor_flags", "this_machine"]

# Names that NumPy and OpenBLAS listen to.
TOLD = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")

_REPORT = """
import json
from numpy._core import _multiarray_umath as umath
try:
    from threadpoolctl import threadpool_info
    blas = next((d for d in threadpool_info() if d["user_api"] == "blas"), {})
except ImportError:
    blas = {}
print(json.dumps({
    "dispatch": umath.__cpu_dispatch__,
    "features": [n for n in umath.__cpu_dispatch__ if umath.__cpu_features__.get(n)],
    "blas": f"{blas.get('internal_api', 'a BLAS unknown to threadpoolctl')} {blas.get('version')}",
    "core": blas.get("architecture", ""),
    "threads": blas.get("num_threads", 0),
}))
"""


def about(variables: dict[str, str]) -> dict[str, Any]:
    """What NumPy and its BLAS choose in a process with these environment variables."""
    command = [sys.executable, "-W", "ignore", "-c", _REPORT]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@functools.cache
def this_machine() -> dict[str, Any]:
    """What NumPy and its BLAS choose when nobody tells them."""
    return about({k: v for k, v in os.environ.items() if k not in TOLD})


@functools.cache
def _processor() -> dict[str, str]:
    """What the system says of the first processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            text, *_ = file.read().split("\n\n")
    except OSError:
        return {}
    pairs = [line.partition(":") for line in text.splitlines()]
    return {name.strip(): value.strip() for name, _, value in pairs}


def processor_flags() -> frozenset[str]:
    """What the processor can do, in the words of Linux; empty on other systems."""
    return frozenset(_processor().get("flags", "").split())


def described() -> list[str]:
    """Lines for the head of a report."""
    name = _processor().get("model name") or platform.processor() or platform.machine()
    chosen = about(dict(os.environ))
    levels = " ".join(chosen["features"]) or "its baseline"
    told = ", ".join(f"{n}={os.environ[n]}" for n in TOLD if os.environ.get(n))
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC", ""), "cc", "gcc"))), None)
    blas = f"{chosen['blas']}, {chosen['core'] or 'unknown code'}"
    said = "none on PATH"
    if compiler is not None:
        done = subprocess.run([compiler, "--version"], capture_output=True, text=True)
        said = f"{compiler}: {done.stdout.partition(chr(10))[0]}"
    return [
        f"processor: {name}, {os.cpu_count()} cores",
        f"NumPy {np.__version__}: {levels}" + (f" ({told})" if told else ""),
        f"BLAS: {blas}, {chosen['threads']} threads for all workers",
        f"C compiler: {said}",
    ]
