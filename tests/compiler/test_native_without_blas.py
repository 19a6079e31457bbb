"""Where no BLAS can be called from C, NumPy multiplies matrices between parts of the C code."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.compiler.native import function as native
from autograd_engine.compiler.native.toolchain.compiler import find_toolchain
from autograd_engine.nn import functional

static = paddle.static

pytestmark = pytest.mark.skipif(find_toolchain() is None, reason="there is no C compiler")


def _losses(backend: str) -> tuple[list[float], str]:
    rng = np.random.default_rng(0)
    feed = {
        "x": rng.standard_normal((8, 1, 12, 12)).astype("float32"),
        "y": rng.integers(0, 3, 8),
    }
    main, start = static.Program(), static.Program()
    with paddle.unique_name.guard(), static.program_guard(main, start):
        paddle.seed(1)
        x, y = static.data("x", [8, 1, 12, 12], "float32"), static.data("y", [8], "int64")
        h = functional.max_pool2d(functional.relu(static.nn.conv2d(x, 4, 3)), 2)
        loss = functional.cross_entropy(static.nn.fc(h, 3), y)
        paddle.optimizer.Adam(0.01).minimize(loss)
    scope = static.Scope()
    with static.scope_guard(scope):
        executor = static.Executor(backend=backend)
        executor.run(start)
        step = executor.prepare(main, feed=["x", "y"], fetch_list=[loss])
        losses = [float(step(feed["x"], feed["y"])[0]) for _ in range(5)]
        return losses, str(executor.explain(main, feed, [loss]))


def test_numpy_multiplies_between_parts_of_c(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = _losses("numpy")
    toolchain = find_toolchain()
    assert toolchain is not None
    runtime = dataclasses.replace(native.get_runtime(toolchain), blas=None)
    monkeypatch.setattr(native, "get_runtime", lambda _: runtime)
    losses, report = _losses("native")
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert "native" in report
    assert "no BLAS that C could call" in report
