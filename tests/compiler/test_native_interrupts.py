"""Ctrl-C ends a native run that takes long, whatever its loops are; the next run is whole."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autograd_engine as paddle

pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")),
        reason="no C compiler on PATH",
    ),
    pytest.mark.skipif(sys.platform == "win32", reason="no timer that sends signals"),
]
ROOT = Path(__file__).parents[2]
INTERRUPTED = """
import signal, sys, time
import numpy as np
import autograd_engine as paddle
from autograd_engine.compiler.native import runtime

static, x = paddle.static, np.ones(1, "float32")
LOOPS = {  # days of each, by how they are written in C
    "stretches": ([2**50], paddle.sum),
    "stretches of a function": ([2**50], lambda y: paddle.mean(paddle.exp(y))),
    "short rows": ([2**48, 4], lambda y: paddle.sum(y, axis=0)),
    "rows": ([2**40, 4096], lambda y: paddle.max(y, axis=0)),
    "few long rows": ([2, 2**49], lambda y: paddle.sum(y, axis=1)),
    "loops in loops": ([2, 3, 2**48], lambda y: paddle.sum(y, axis=[0, 2])),
}

def stop(number, frame):
    if frame.f_code.co_name.startswith("run") and "native" in frame.f_code.co_filename:
        raise KeyboardInterrupt

def step_of(shape, reduce):
    main = static.Program()
    with static.program_guard(main):
        y = reduce(paddle.full(shape, 0.5) * static.data("x", [1]))
    return static.Executor(backend="native").prepare(main, ["x"], [y])

signal.signal(signal.SIGALRM, stop)
for threads in (1, 2):
    runtime.set_threads(threads)
    for name, (shape, reduce) in LOOPS.items():
        step = step_of(shape, reduce)
        signal.setitimer(signal.ITIMER_REAL, 0.03, 0.03)
        for again in range(2):
            try:
                step(x)
            except KeyboardInterrupt:
                print("stopped", name, threads, flush=True)
        signal.setitimer(signal.ITIMER_REAL, 0)
        short = step_of([2, 3, 8], reduce)
        assert np.allclose(short(x)[0], reduce(paddle.full([2, 3, 8], 0.5)).numpy()), name
"""


def test_ctrl_c_ends_long_loops() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("stopped") == 2 * 2 * 6, done.stdout


def test_slices_change_no_sum() -> None:
    """A loop that takes long is run in slices: of whole stretches, and of whole rows."""
    static, rng = paddle.static, np.random.default_rng(0)
    for shape, axis in (([3 * 2**22 + 5], None), ([2**21, 5], 0), ([2, 2**22 + 3], 1)):
        x = rng.standard_normal(shape, dtype="float32")
        main = static.Program()
        with static.program_guard(main):
            y = paddle.sum(paddle.tanh(static.data("x", shape)), axis=axis)
        (found,) = static.Executor(backend="native").prepare(main, ["x"], [y])(x)
        expected = np.tanh(x).sum(axis, dtype="float64")
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=0.5)
