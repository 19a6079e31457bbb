"""What long programs cost to build, differentiate, compile and run: 10k and 100k operators.

Nothing is asserted about time but that it follows the length; figures and the ratios between the
two lengths are printed at the end, each measured in a process of its own.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.conftest import TABLES

LENGTHS = (10_000, 100_000)
STEPS = ("build", "differentiate", "first run", "run", "memory (MB)", "peak (MB)")


def measure(length: int) -> dict[str, float]:
    """Seconds of each step, for a program of `length` operators and its gradients."""
    import resource
    import time

    import numpy as np

    import autograd_engine as paddle

    static = paddle.static

    def chain(count: int) -> tuple[object, object]:
        main = static.Program()
        with static.program_guard(main, static.Program()):
            x = static.data("x", [None, 4])
            x.stop_gradient = False
            y = x
            for _ in range(count // 10):
                a = paddle.tanh(y)
                b = a * y
                c = paddle.exp(b + a) * 0.5 - b
                y = paddle.tanh(paddle.sin(c) * a + c)
            return main, paddle.mean(y)

    def differentiate(loss: object) -> None:
        with static.program_guard(loss.block.program, static.Program()):  # type: ignore[attr-defined]
            static.append_backward(loss)

    def resident() -> float:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / 2**20

    paddle.enable_static()
    differentiate(chain(100)[1])
    before, times = resident(), [time.perf_counter()]
    main, loss = chain(length)
    times.append(time.perf_counter())
    differentiate(loss)
    times.append(time.perf_counter())
    grown = resident() - before
    exe, feed = static.Executor(), {"x": np.full((2, 4), 0.1, "float32")}
    for _ in range(2):
        exe.run(main, feed, [loss, "x@GRAD"])
        times.append(time.perf_counter())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    steps = [stop - start for start, stop in itertools.pairwise(times)]
    return dict(zip(STEPS, [*steps, grown, peak], strict=True))


def append(length: int) -> float:
    """Seconds that it takes to append so many operators by their types."""
    import time

    import autograd_engine as paddle

    main = paddle.static.Program()
    block = main.global_block()
    x = block.create_var("x", [-1, 8], "float32")
    bias = block.create_var("bias", [8], "float32", persistable=True)
    types = (
        ("elementwise_add", {"Y": bias}, {"axis": 1}),
        ("relu", {}, {}),
        ("scale", {}, {"scale": 0.5, "bias": 0.1}),
        ("softmax", {}, {"axis": -1}),
    )
    start = time.process_time()
    with paddle.static.program_guard(main):
        for k in range(length):
            kind, others, attrs = types[k % len(types)]
            out = block.create_var()
            block.append_op(kind, {"X": x, **others}, {"Out": out}, attrs)
            x = out
    return time.process_time() - start


def test_operators_are_appended_by_their_types() -> None:
    append(100)  # loads the table
    taken = append(10_000)
    TABLES.append(f"10,000 operators appended by their types: {taken:.2f} s")
    assert taken < 5.0


def test_time_and_memory_follow_the_length() -> None:
    pytest.importorskip("resource")
    found = {}
    for length in LENGTHS:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.micro.test_programs", str(length)],
            cwd=Path(__file__).resolve().parents[2],
            capture_output=True,
            text=True,
            check=True,
        )
        found[length] = json.loads(done.stdout)
    short, long = (found[length] for length in LENGTHS)
    width = max(map(len, STEPS))
    lines = [f"programs of {LENGTHS[0]:,} and {LENGTHS[1]:,} operators, and their gradients"]
    for step in STEPS:
        ratio = f"x {long[step] / short[step]:5.1f}"
        lines.append(f"  {step:{width}}  {short[step]:9.2f}  {long[step]:9.2f}  {ratio}")
    TABLES.append("\n".join(lines))
    for step in ("build", "differentiate", "first run"):
        assert long[step] < 25 * short[step]  # ten times the length


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
