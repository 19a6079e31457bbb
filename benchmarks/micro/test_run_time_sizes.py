"""What sizes that only the run knows cost, beside the same program with sizes that are written.

All programs run in one process, in turns; the ratio within each round is taken, and the median is
printed with its quartiles: `python -m benchmarks.micro.test_run_time_sizes`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle

BATCH, STEPS, WIDTH = 8, 32, 64
RUNS, ROUNDS = 30, 21
MOST = 1.3


def attention(x: Any, b: Any, t: Any) -> Any:
    """Two layers with a causal mask, as they are written with the sizes of their input."""
    rng = np.random.default_rng(0)
    for _ in range(2):
        weights = [
            paddle.to_tensor(rng.standard_normal((WIDTH, WIDTH)).astype("float32") * WIDTH**-0.5)
            for _ in range(4)
        ]
        q, k, v = (
            paddle.reshape(x @ w, [b, t, 4, WIDTH // 4]).transpose([0, 2, 1, 3])
            for w in weights[:3]
        )
        mask = paddle.triu(paddle.full([t, t], -1e9), 1)
        shares = paddle.nn.functional.softmax(q @ k.transpose([0, 1, 3, 2]) * 0.25 + mask, -1)
        y = paddle.reshape((shares @ v).transpose([0, 2, 1, 3]), [b, t, WIDTH])
        x = x + y @ weights[3] + paddle.cast(paddle.arange(t), "float32").unsqueeze(-1) / t
    return x


KINDS = ("written", "of the input", "fed")


def built(kind: str, backend: str) -> Callable[[], Any]:
    static = paddle.static
    main = static.Program()
    feed = {"x": np.random.default_rng(1).standard_normal((BATCH, STEPS, WIDTH)).astype("float32")}
    with static.program_guard(main, static.Program()):
        shape = [BATCH, STEPS, WIDTH] if kind == "written" else [None, None, WIDTH]
        x = static.data("x", shape, "float32")
        x.stop_gradient = False
        if kind == "written":
            sizes: Any = BATCH, STEPS
        elif kind == "fed":
            sizes = static.data("b", [], "int64"), static.data("t", [], "int64")
            feed |= {"b": np.asarray(BATCH), "t": np.asarray(STEPS)}
        else:
            sizes = paddle.unbind(paddle.shape(x))[:2]
        loss = attention(x, *sizes).mean()
        (g,) = static.gradients([loss], [x])
    exe = static.Executor(backend=backend)
    return lambda: exe.run(main, feed, [loss, g])


def ratios(backend: str) -> dict[str, list[float]]:
    """What each kind takes of the time of the first, by rounds."""
    runs = {kind: built(kind, backend) for kind in KINDS}
    expected = [run() for run in runs.values() for _ in range(4)]  # the third run is compiled
    for made in expected:
        for a, b in zip(made, expected[0], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    found: dict[str, list[float]] = {kind: [] for kind in KINDS[1:]}
    for k in range(ROUNDS):
        seconds = {}
        for kind in KINDS if k % 2 else KINDS[::-1]:
            start = time.perf_counter()
            for _ in range(RUNS):
                runs[kind]()
            seconds[kind] = time.perf_counter() - start
        for kind, times in found.items():
            times.append(seconds[kind] / seconds["written"])
    return found


def test_sizes_of_the_run_cost_little() -> None:
    for backend in ("native", "numpy"):
        for times in ratios(backend).values():
            assert statistics.median(times) < MOST


if __name__ == "__main__":
    for name in ("native", "numpy"):
        for sizes, times in ratios(name).items():
            low, middle, high = statistics.quantiles(times, n=4)
            print(f"{name}, sizes {sizes}: {middle:.2f} ({low:.2f} to {high:.2f})")
