"""Graphs that are deep or wide: nothing recurses, forward, backward, or when memory is freed."""

import gc
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import PyLayer, recompute
from autograd_engine.eager.tape import Node
from tests.tiers import by_default

MILLION = 1_000_000


def leaf(value: Any) -> Any:
    return paddle.to_tensor(value, dtype="float64", stop_gradient=False)


# Python 3.13 frees objects inside objects by recursion, down to 10,000 levels whatever the stack
# is: lists inside lists end the process as well in less than this.
SMALL = 256 if sys.version_info < (3, 13) else 1024


def in_a_small_thread(function: Callable[[], None]) -> None:
    """With a small stack (in kB), and no more Python frames than the call itself needs."""
    failed: list[BaseException] = []

    def run() -> None:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(150)
        try:
            function()
        except BaseException as error:
            failed.append(error)
        finally:
            sys.setrecursionlimit(limit)

    before = threading.stack_size(SMALL * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    if failed:
        raise failed[0]


def printed(script: str) -> str:
    """What a script prints in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def without_the_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def chain(x: Any, length: int) -> Any:
    y = x
    for _ in range(length):
        y = y * 1.0
    return y


@pytest.mark.thorough
def test_a_million_operations() -> None:
    """In a process of its own, which gives their 260 MB back."""
    script = f"""
        import gc, sys, threading
        import autograd_engine as paddle
        def run():
            sys.setrecursionlimit(150)
            x = y = paddle.to_tensor(2.0, stop_gradient=False)
            for _ in range({MILLION // 2}):
                y = -(y * 1.0)
            y.backward()
            print(x.grad.item())
        gc.disable()
        threading.stack_size({SMALL * 1024})
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        """
    assert printed(script) == "1.0"


def test_a_deep_graph_is_freed_without_a_backward_pass() -> None:
    def run() -> None:
        x = leaf(2.0)
        y = paddle.exp(x)
        saved = weakref.ref(y._data)
        y = chain(y, MILLION // 4)
        assert saved() is not None
        del y
        assert saved() is None

    with without_the_collector():
        in_a_small_thread(run)


@pytest.mark.parametrize("ending", ["backward", "retained", "error"])
def test_what_a_deep_graph_saved_goes_with_it(ending: str) -> None:
    x = leaf(np.zeros(3))

    def boom(_: Any) -> None:
        raise RuntimeError("stop")

    with without_the_collector():
        h = x * 1.0
        y = h
        saved = []
        for _ in range(20_000):
            y = paddle.tanh(y)
            saved.append(weakref.ref(y._data))
        if ending == "error":
            h.register_hook(boom)
            with pytest.raises(RuntimeError):
                y.sum().backward()
        else:
            y.sum().backward(retain_graph=ending == "retained")
        del y, h
        assert not any(ref() is not None for ref in saved)


def test_second_order_of_a_deep_graph() -> None:
    def run() -> None:
        x = leaf(1.5)
        y = chain(x * x * x, 50_000)
        (g,) = paddle.grad(y, x, create_graph=True)
        (h,) = paddle.grad(g, x, create_graph=True)
        assert (g.item(), h.item()) == (6.75, 9.0)
        del y, g
        (third,) = paddle.grad(h, x)
        assert third.item() == 6.0
        del h

    with without_the_collector():
        in_a_small_thread(run)


def test_many_leaves() -> None:
    def run() -> None:
        leaves = [leaf(float(k)) for k in range(20_000)]
        total = paddle.stack(leaves).sum()
        for x in leaves:
            total = total + x
        total.backward()
        assert all(x.grad.item() == 2.0 for x in leaves)
        total = paddle.add_n(leaves)
        total.backward()
        assert leaves[-1].grad.item() == 3.0

    in_a_small_thread(run)


def test_one_value_with_many_readers() -> None:
    def run() -> None:
        x = leaf(np.ones(2))
        h = x * 2.0
        total = paddle.add_n([h * float(k) for k in range(50_000)])
        total.backward()
        assert x.grad.tolist() == [2.0 * sum(range(50_000))] * 2

    in_a_small_thread(run)


class Twice(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 1.0


def test_deep_chains_of_operations_with_several_outputs_and_of_layers() -> None:
    def run() -> None:
        for step in (
            lambda y: paddle.split(y, 2)[0].expand([2]),
            lambda y: sum(paddle.unbind(y)).reshape([1]).expand([2]) * 0.5,
            Twice.apply,
            lambda y: recompute(lambda t: t * 1.0, y),
            lambda y: y[:],
        ):
            x = leaf([1.0, 1.0])
            y = x
            for _ in range(3_000):
                y = step(y)
            y.sum().backward(retain_graph=True)
            assert x.grad.numpy().sum() == 2.0
            (g,) = paddle.grad(y.sum(), x, create_graph=True)
            assert g.numpy().sum() == 2.0
            del y, g

    with without_the_collector():
        in_a_small_thread(run)


def test_a_row_of_writes_in_place() -> None:
    def run() -> None:
        x = leaf(np.ones(4))
        y = x * 1.0
        for k in range(20_000):
            y[k % 4] = y[(k + 1) % 4]
        y.sum().backward()
        assert x.grad.numpy().sum() == 4.0

    in_a_small_thread(run)


def test_a_hooked_chain() -> None:
    def run() -> None:
        x = leaf(1.0)
        y = x
        seen = []
        for _ in range(20_000):
            y = y * 1.0
            y.register_hook(seen.append)
        y.backward()
        assert len(seen) == 20_000
        assert x.grad.item() == 1.0

    with without_the_collector():
        in_a_small_thread(run)


# --- memory does not grow


def growth(step: Callable[[], Any], rounds: int = 30) -> int:
    """How many more tensors and nodes, which hold the arrays, there are after `rounds`."""

    def count() -> int:
        return sum(issubclass(type(o), (paddle.Tensor, Node)) for o in gc.get_objects())

    for _ in range(5):
        step()
    with without_the_collector():
        before = count()
        for _ in range(rounds):
            step()
        return count() - before


def _model() -> tuple[Any, Any]:
    w = leaf(np.ones((3, 2)))
    return w, paddle.optimizer.Adam(learning_rate=0.1, parameters=[w])


DATA = np.arange(12.0).reshape(4, 3)


def _penalty() -> Callable[[], None]:
    w, adam = _model()

    def step() -> None:
        x = leaf(DATA)
        y = paddle.tanh(x @ w)
        (g,) = paddle.grad(y.sum(), x, create_graph=True)
        ((g * g).sum() + y.sum()).backward()
        adam.step()
        adam.clear_grad()

    return step


def _hooks() -> Callable[[], None]:
    w, adam = _model()

    def step() -> None:
        y = leaf(DATA) @ w
        y.retain_grads()
        y.register_hook(lambda g: g * 2.0)
        handle = w.register_hook(lambda g: g * 0.5)
        paddle.tanh(y).sum().backward()
        assert y.grad is not None
        handle.remove()
        adam.step()
        adam.clear_grad(set_to_zero=False)

    return step


def _exceptions() -> Callable[[], None]:
    w, _ = _model()

    def boom(_: Any) -> None:
        raise RuntimeError("stop")

    def step() -> None:
        y = paddle.exp(leaf(DATA) @ w * 0.01)
        y.register_hook(boom)
        with suppress(RuntimeError):
            y.sum().backward()
        with suppress(ValueError):
            (y @ y).sum()

    return step


def _layers() -> Callable[[], None]:
    w, adam = _model()

    def step() -> None:
        y = Twice.apply(w)
        z = recompute(lambda t: paddle.tanh(t) * t, y)
        (g,) = paddle.grad(z.sum(), w, create_graph=True)
        ((g * g).sum() + paddle.split(y, 3)[1].sum()).backward()
        adam.step()
        adam.clear_grad()

    return step


def _higher() -> Callable[[], None]:
    def step() -> None:
        x = leaf([0.3, 0.4])
        y = paddle.sin(x).sum()
        for _ in range(4):
            (g,) = paddle.grad(y, x, create_graph=True)
            x.grad = g.detach()
            y = g.sum()
        paddle.autograd.hessian(lambda t: (t * t * t).sum(), x)

    return step


def _kept_loss() -> Callable[[], None]:
    w, adam = _model()
    losses: list[Any] = [None]

    def step() -> None:
        loss = paddle.tanh(paddle.to_tensor(DATA) @ w).sum()
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses[0] = loss

    return step


def _in_place() -> Callable[[], None]:
    state = paddle.zeros([4, 2], dtype="float64")
    w, _ = _model()

    def step() -> None:
        state[0] = 1.0
        h = state + paddle.to_tensor(DATA) @ w
        h.exp_()
        h[1] = h[0]
        h.mean().backward()
        w.grad = None

    return step


@pytest.mark.parametrize(
    "loop", by_default([_penalty, _hooks, _exceptions, _layers, _higher, _kept_loss, _in_place], 2)
)
def test_a_loop_needs_no_collector(loop: Callable[[], Callable[[], None]]) -> None:
    assert growth(loop()) <= 3  # not for each round


def test_at_exit_and_with_a_low_limit() -> None:
    """A deep graph that is alive when the interpreter ends."""
    script = """
        import sys
        import autograd_engine as paddle
        x = paddle.to_tensor([1.0], stop_gradient=False)
        y = x
        for _ in range(200_000):
            y = y * 1.0
        sys.setrecursionlimit(100)
        y.backward(retain_graph=True)
        print(x.grad.item())
        """
    assert printed(script) == "1.0"
