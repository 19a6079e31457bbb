"""Forward and backward with kernels in C and without, by the number of elements.

Run with ``python -m pytest benchmarks/micro/test_kernels.py -q``. Eager mode, float32, one thread:
the ratio of processor time in the fastest of rounds that take turns in one process. Beside other
libraries the same functions are in ``test_sweep.py``. Nothing is asserted about time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import autograd_engine as paddle
import autograd_engine.nn.functional as F
from autograd_engine.compiler.native import runtime
from autograd_engine.compiler.native.toolchain.compiler import find_toolchain
from benchmarks.conftest import TABLES

SIZES: Final = (8, 64, 128, 1000)
ROUNDS: Final = 9
FUNCTIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "clip": lambda x: paddle.clip(x, -0.5, 0.5),
    "elu": F.elu,
    "erf": paddle.erf,
    "exp": paddle.exp,
    "gelu": F.gelu,
    "hardswish": F.hardswish,
    "leaky_relu": F.leaky_relu,
    "mish": F.mish,
    "relu": F.relu,
    "selu": F.selu,
    "sigmoid": F.sigmoid,
    "silu": F.silu,
    "softmax": F.softmax,
    "softplus": F.softplus,
    "tanh": paddle.tanh,
    "where": lambda x: paddle.where(x > 0.0, x, 0.1 * x),
}
FOUND: dict[str, dict[int, float]] = {}


def step_of(name: str, n: int) -> Callable[[], None]:
    random = np.random.default_rng(0)
    x = paddle.to_tensor(random.standard_normal((n, n)).astype("f"), stop_gradient=False)
    g = paddle.to_tensor(random.standard_normal((n, n)).astype("f"))
    function = FUNCTIONS[name]

    def step() -> None:
        function(x).backward(g)
        x.clear_grad(False)

    return step


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ratio(name: str) -> None:
    if find_toolchain() is None:
        pytest.skip("there is no compiler")
    threads = runtime.threads()
    runtime.set_threads(1)
    for n in SIZES:
        step = step_of(name, n)
        best = {True: math.inf, False: math.inf}
        calls = max(1, min(200, 200_000 // (n * n)))
        for _ in range(ROUNDS):
            for on in best:
                paddle.set_flags({"FLAGS_compiled_kernels": on})
                step()
                start = time.process_time()
                for _ in range(calls):
                    step()
                best[on] = min(best[on], time.process_time() - start)
        FOUND.setdefault(name, {})[n] = best[True] / best[False]
    paddle.set_flags({"FLAGS_compiled_kernels": True})
    runtime.set_threads(threads)


def test_table() -> None:
    """Last, so that all of them have run."""
    if not FOUND:
        pytest.skip("no ratio was measured")
    lines = [
        "| time with C / without | " + " | ".join(f"{n} x {n}" for n in SIZES) + " |",
        "|---" * (len(SIZES) + 1) + "|",
    ]
    for name, ratios in FOUND.items():
        cells = " | ".join(f"{ratios[n]:.2f}" for n in SIZES)
        lines.append(f"| {name} | {cells} |")
    TABLES.append("\n".join(lines))
