"""Processors that this machine can pass for, and what is run as if on them.

OpenBLAS, NumPy and the C compiler each choose code for the processor at hand, and each can be told
to take that of another one, as long as this one can execute it.
"""

from __future__ import annotations

import os
import platform
from typing import NamedTuple

from .machine import processor_flags, this_machine

__all__ = ["ENVIRONMENTS", "Environment", "why_not"]

# Files whose tests compare bits, or products and functions with other ways to compute them.
BITS = (
    "tests/modes/test_layouts_agree.py",
    "tests/modes/test_modes_agree.py",
    "tests/registry/test_bits.py",
    "tests/registry/test_large.py",
    "tests/functions/test_numerics_sweep.py",
    "tests/compiler/test_planned_bits.py",
    "tests/compiler/test_planned_layouts.py",
    "tests/jit/test_trainings.py",
    "tests/jit/test_training_steps.py",
    "tests/program/test_control_flow_gradients.py",
    "tests/program/test_golden.py",
    "tests/program/test_random_programs.py",
)
NATIVE = (
    "tests/compiler/test_native_chains.py",
    "tests/compiler/test_native_gradients.py",
    "tests/compiler/test_native_maths.py",
    "tests/compiler/test_native_ops.py",
    "tests/compiler/test_native_training.py",
)

# Levels of NumPy's dispatch, and what stands for each in older releases. All above one that is
# switched off must be off as well.
_ABOVE_AVX512 = ("AVX512_SPR",)
_AVX512_ICL = (*_ABOVE_AVX512, "AVX512_ICL", "AVX512_CNL", "AVX512_CLX")
_AVX512 = (*_AVX512_ICL, "AVX512_SKX", "AVX512CD", "AVX512F", "X86_V4")
_AVX2 = (*_AVX512, "AVX2", "FMA3", "X86_V3")

_AVX2_FLAGS = frozenset(["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"])
_AVX512_FLAGS = _AVX2_FLAGS | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


class Environment(NamedTuple):
    """A processor to pass for.

    `core` is what OpenBLAS is asked for, `without` are features that NumPy is not to use, and
    `march` is what the C compiler writes for. `needs` are flags of the processor at hand.
    """

    name: str
    tests: tuple[str, ...]
    core: str = ""
    without: tuple[str, ...] = ()
    march: str = ""
    needs: frozenset[str] = frozenset()

    def variables(self) -> dict[str, str]:
        """The environment of a process that passes for it."""
        found = dict(os.environ)
        for name in ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "AUTOGRAD_ENGINE_CFLAGS"):
            found.pop(name, None)
        if self.core:
            found["OPENBLAS_CORETYPE"] = self.core
        if without := [f for f in self.without if f in this_machine()["dispatch"]]:
            found["NPY_DISABLE_CPU_FEATURES"] = " ".join(without)
        if self.march:
            found["AUTOGRAD_ENGINE_CFLAGS"] = f"-march={self.march}"
        return found


def _blas(core: str, needs: frozenset[str] = frozenset()) -> Environment:
    return Environment(f"openblas-{core.lower()}", BITS, core, needs=needs)


ENVIRONMENTS = {
    e.name: e
    for e in (
        # Two whole processors, which `.ci/run` passes for.
        Environment("avx2", BITS, "Haswell", _AVX512, needs=_AVX2_FLAGS),
        Environment("avx512", BITS, "SkylakeX", needs=_AVX512_FLAGS),
        _blas("Cooperlake", _AVX512_FLAGS | {"avx512_bf16"}),
        _blas("Sapphirerapids", _AVX512_FLAGS | {"avx512_bf16"}),
        _blas("Zen", _AVX2_FLAGS),
        _blas("Haswell", _AVX2_FLAGS),
        _blas("Sandybridge", frozenset({"avx"})),
        _blas("Nehalem"),
        _blas("Prescott"),
        Environment("numpy-avx512-icl", BITS, without=_ABOVE_AVX512, needs=_AVX512_FLAGS),
        Environment("numpy-avx512", BITS, without=_AVX512_ICL, needs=_AVX512_FLAGS),
        Environment("numpy-avx2", BITS, without=_AVX512, needs=_AVX2_FLAGS),
        Environment("numpy-sse", BITS, without=_AVX2),
        Environment("native-x86-64-v2", NATIVE, march="x86-64-v2"),
        Environment("native-x86-64-v3", NATIVE, march="x86-64-v3", needs=_AVX2_FLAGS),
        Environment("native-x86-64-v4", NATIVE, march="x86-64-v4", needs=_AVX512_FLAGS),
    )
}


def why_not(environment: Environment) -> str:
    """Why this machine cannot pass for it; empty if it can."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return f"this processor is a {platform.machine()}"
    missing = environment.needs - processor_flags()
    if missing:
        return f"this processor has no {', '.join(sorted(missing))}"
    if environment.core and not this_machine()["core"]:
        return "NumPy's BLAS is not an OpenBLAS that says which code it takes"
    if environment.without and not set(environment.without) & set(this_machine()["features"]):
        return "NumPy has no such code here"
    return ""
