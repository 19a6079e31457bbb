"""A process that forks while other threads compile, run, trace, draw and differentiate."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from tests.forked import Elsewhere, forks, in_child

pytestmark = [forks, pytest.mark.usefixtures("all_blas_threads")]
ROOT = Path(__file__).parents[2]
compiled = pytest.mark.skipif(
    not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")),
    reason="no C compiler on PATH",
)
Stay = Callable[[], None]


def staying() -> tuple[list[Stay], Callable[[Any], Any]]:
    """A function for programs, and a list of what it is to do once."""
    once: list[Stay] = []

    def same(x: Any) -> Any:
        if once:
            once.pop()()
        return x

    return once, same


@pytest.mark.parametrize("seed", [0, 5])
def test_in_the_middle_of_a_run(seed: int) -> None:
    """It has claimed what it writes, and draws from the stream of the program."""
    once, same = staying()
    main, startup = static.Program(), static.Program()
    main.random_seed = seed
    with static.program_guard(main, startup):
        w = static.create_parameter([2], "float32", is_bias=True)
        x = main.global_block().create_var(name="x", shape=[2], dtype="float32")
        static.nn.py_func(same, paddle.rand([2]), x)
        paddle.optimizer.SGD(0.5).minimize(paddle.sum(w * w) + paddle.sum(w) + paddle.sum(x))
    exe, scope = static.Executor(backend="numpy"), static.Scope()
    exe.run(startup, scope=scope)

    def values() -> list[float]:
        found = scope.find_var(w.name)
        assert found is not None
        return np.asarray(found.get_tensor()).tolist()  # type: ignore[no-any-return]

    def run(stay: Stay) -> None:
        once.append(stay)
        exe.run(main, scope=scope, fetch_list=[x])

    def goes_on() -> bool:
        once.clear()
        before = values() == [0.0, 0.0]
        exe.run(main, scope=scope, fetch_list=[x])
        return before and values() == [-0.5, -0.5]

    with Elsewhere(run):
        assert in_child(goes_on)
    assert values() == [-0.5, -0.5]


@compiled
def test_while_the_compiler_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    slow, slowly = tmp_path / "slow", tmp_path / "slowly"
    slow.write_text(f'#!/bin/sh\n[ -e {slowly} ] && sleep 1\nexec {real} "$@"\n')
    slow.chmod(0o700)
    monkeypatch.setenv("CC", str(slow))
    monkeypatch.setenv("AUTOGRAD_ENGINE_CACHE", str(tmp_path / "cache"))
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [3], "float32")
        y = paddle.tanh(x) * 3.0 + x
    given = np.array([0.0, 1.0, 2.0], "float32")
    expected = np.tanh(given) * 3 + given
    other = static.Program()  # for which the compiler is tried, and the runtime is made
    with static.program_guard(other):
        z = static.data("x", [3], "float32") * 2.0
    static.Executor(backend="native").prepare(other, ["x"], [z])(given)
    exe = static.Executor(backend="native")
    step = exe.prepare(main, ["x"], [y])
    slowly.touch()
    thread = threading.Thread(target=step, args=(given,))
    thread.start()
    time.sleep(0.5)

    def gives_the_same() -> bool:
        slowly.unlink(missing_ok=True)
        fine = np.allclose(step(given)[0], expected, rtol=1e-6)
        return fine and np.allclose(exe.run(main, {"x": given}, [y])[0], expected, rtol=1e-6)

    try:
        assert in_child(gives_the_same, 60)
    finally:
        thread.join(60)
    np.testing.assert_allclose(step(given)[0], expected, rtol=1e-6)


@compiled
def test_while_three_threads_run_native_programs() -> None:
    """Of one program, which draws and trains, for several sizes."""
    main, startup = static.Program(), static.Program()
    main.random_seed = 3
    with static.program_guard(main, startup):
        x = static.data("x", [None, 50], "float32")
        w = static.create_parameter([50, 50], "float32")
        y = paddle.nn.functional.dropout(paddle.tanh(paddle.matmul(x, w)), 0.3)
        loss = paddle.mean(paddle.tanh(y) + x)
        paddle.optimizer.SGD(0.01).minimize(loss)
    exe, scope = static.Executor(backend="native"), static.Scope()
    exe.run(startup, scope=scope)
    feeds = [{"x": np.ones((n, 50), "float32")} for n in (100, 200, 300)]
    for feed in feeds:
        for _ in range(4):
            exe.run(main, feed, [loss], scope=scope)
    stop = threading.Event()

    def runs(feed: Any) -> Callable[[], None]:
        def many() -> None:
            while not stop.is_set():
                exe.run(main, feed, [loss], scope=scope)

        return many

    def runs_all() -> bool:
        return all(np.isfinite(exe.run(main, f, [loss], scope=scope)[0]) for f in feeds)

    threads = [threading.Thread(target=runs(feed)) for feed in feeds]
    for thread in threads:
        thread.start()
    try:
        for k in range(5):
            time.sleep(0.01 * k)
            assert in_child(runs_all)
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)


def test_a_change_of_a_program_that_another_thread_was_making() -> None:
    """It is not made in the child: half of it would be a program that nobody has written."""
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [2], "float32")
        p = static.data("p", [], "bool")
        y = x * 2.0
    text = str(main)

    def build(stay: Stay) -> None:
        def branch() -> Any:
            z = paddle.tanh(y)
            stay()
            return z

        with static.program_guard(main):
            static.nn.cond(p, branch, lambda: y)

    def is_as_it_was() -> bool:
        if str(main) != text or len(main.blocks) != 1:
            return False
        with static.program_guard(main):
            z = y + 1.0
        feed = {"x": np.ones(2, "float32")}
        return bool((static.Executor(backend="numpy").run(main, feed, [z])[0] == 3).all())

    with Elsewhere(build):
        assert in_child(is_as_it_was)
    assert "tanh" in str(main)


def test_while_another_thread_traces() -> None:
    once, same = staying()

    @paddle.jit.to_static
    def f(x: Any) -> Any:
        same(None)
        return x * 2.0 + 1.0

    def trace(stay: Stay) -> None:
        once.append(stay)
        f(paddle.ones([2]))

    untraced = {name: vars(paddle.Tensor).get(name) for name in ("backward", "grad", "shape")}

    def traces() -> bool:
        once.clear()
        now = {name: vars(paddle.Tensor).get(name) for name in untraced}
        return now == untraced and f(paddle.ones([2])).tolist() == [3.0, 3.0]

    with Elsewhere(trace):
        assert {name: vars(paddle.Tensor).get(name) for name in untraced} != untraced
        assert in_child(traces)


def test_while_another_thread_draws() -> None:
    """NumPy holds a lock of the generator while it draws."""
    paddle.seed(3)
    stop = threading.Event()

    def draws() -> None:
        while not stop.is_set():
            paddle.randn([300_000])

    thread = threading.Thread(target=draws)
    thread.start()
    try:
        for _ in range(5):
            time.sleep(0.01)
            assert in_child(lambda: paddle.rand([3]).shape == [3])
    finally:
        stop.set()
        thread.join(30)


def test_while_another_thread_recomputes() -> None:
    once, same = staying()
    calls = []

    def segment(x: Any) -> Any:
        calls.append(1)
        same(None)
        return paddle.tanh(paddle.tanh(x))

    x = paddle.to_tensor([0.5], stop_gradient=False)
    y = paddle.autograd.recompute(segment, x)
    expected = (1 - np.tanh(0.5) ** 2) * (1 - np.tanh(np.tanh(0.5)) ** 2)

    def differentiate(stay: Stay) -> None:
        once.append(stay)
        y.backward(retain_graph=True)

    def has_the_gradient() -> bool:
        once.clear()
        y.backward()
        return np.allclose(np.asarray(x.grad), expected, rtol=1e-5)

    with Elsewhere(differentiate):
        assert len(calls) == 2
        assert in_child(has_the_gradient)
    np.testing.assert_allclose(np.asarray(x.grad), expected, rtol=1e-5)


def test_while_another_thread_imports() -> None:
    """Python does not renew the lock of a module under way: the fork waits for those of ours."""
    code = """
        import os, signal, sys, threading, time
        import autograd_engine as paddle
        from importlib.machinery import PathFinder, SourceFileLoader

        late = "autograd_engine.optimizer.lbfgs"
        assert late not in sys.modules
        inside = threading.Event()

        class Slow(SourceFileLoader):
            def exec_module(self, module):
                inside.set()
                time.sleep(1)
                super().exec_module(module)

        class Find:
            @staticmethod
            def find_spec(name, path=None, target=None):
                if name == late:
                    spec = PathFinder.find_spec(name, path, target)
                    spec.loader = Slow(spec.name, spec.origin)
                    return spec

        sys.meta_path.insert(0, Find)
        thread = threading.Thread(target=__import__, args=(late,))
        thread.start()
        inside.wait()
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)
            paddle.optimizer.LBFGS
            os._exit(0)
        thread.join()
        sys.exit(os.waitpid(pid, 0)[1] != 0)
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
