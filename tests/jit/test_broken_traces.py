"""Ctrl-C and exceptions in the middle of a trace: all is as before, in this thread and others."""

import sys
import threading
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.eager.array_methods import Values
from autograd_engine.eager.generated_calls import _generated
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Tensor
from autograd_engine.jit import to_static
from autograd_engine.program.ir.program import Variable
from tests.eager.test_interrupts import Moments, modes

# A file that an interrupt leaves open is closed by the collector, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
F = paddle.nn.functional


def methods() -> list[dict[str, Any]]:
    return [dict(vars(cls)) for cls in (Tensor, Values, Variable)]


def codes() -> dict[Any, Any]:
    return {call: call.__code__ for call in list(_generated)}


def test_a_trace_that_is_interrupted_anywhere():
    w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    fired, step = 0, 0
    to_static(lambda x: (w * w) * x + x.exp())(x)
    before, calls = methods(), codes()
    while True:
        f = to_static(lambda x: (w * w) * x + x.exp())
        was, moments = modes(), Moments(step)
        try:
            with moments.set():
                f(x)
        except KeyboardInterrupt:
            fired += 1
        assert modes() == was, moments.where
        assert grad_mode.trace is None, moments.where
        assert methods() == before, moments.where
        assert {k: v for k, v in codes().items() if k in calls} == calls, moments.where
        g = to_static(lambda x: (w * w) * x + x.exp())
        types = [op.type for op in g.program(x).global_block().ops if op.role == "forward"]
        assert types == ["multiply", "multiply", "exp", "add"], moments.where
        np.testing.assert_allclose(f(x).numpy(), [9 + np.e, 32 + np.exp(2)], rtol=1e-6)
        if not moments.fired:
            break
        step += 41 if step > 400 else 17
    assert fired > 50


def test_what_is_half_exchanged_is_exchanged_whole_by_the_next_trace(monkeypatch):
    """An interrupt between two of the functions leaves none of them behind."""
    from autograd_engine.eager import generated_calls as calls

    w = paddle.to_tensor([3.0])
    x = paddle.to_tensor([2.0])
    before = codes()
    original = calls._short_code
    for one in list(_generated.values()):
        one._general = None
    left = [3]

    def interrupted(*given):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return original(*given)

    monkeypatch.setattr(calls, "_short_code", interrupted)
    f = to_static(lambda x: (w * w) * x)
    with pytest.raises(KeyboardInterrupt):
        f(x)
    assert {k: v for k, v in codes().items() if k in before} == before
    assert f(x).item() == 18.0
    w.set_value([1.0])
    assert f(x).item() == 2.0  # w * w is part of the program


@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_an_exception_of_the_users(error):
    w = paddle.to_tensor([3.0])
    x = paddle.to_tensor([2.0], stop_gradient=False)
    armed = [True]

    @to_static
    def f(x):
        w.add_(1.0)
        with paddle.no_grad():
            y = x * w
            if armed[0]:
                raise error("mine")
        return y * x

    was, before, calls = modes(), methods(), codes()
    with pytest.raises(error, match="mine"):
        f(x)
    assert (modes(), methods()) == (was, before)
    assert {k: v for k, v in codes().items() if k in calls} == calls
    assert w.item() == 3.0
    armed[0] = False
    assert f(x).item() == 16.0
    assert w.item() == 4.0


def test_threads_that_run_eagerly_while_others_trace():
    """Codes and methods are shared between threads; values and gradients are not affected."""

    def net(x, w):
        h = F.gelu(paddle.tanh(x @ w) * 1.5 + w[0])
        h[0] = h[1] * 2
        a, b = paddle.split(h, 2, axis=1)
        return (a * b).sum() + F.softmax(h).std()

    def leaves(i):
        r = np.random.default_rng(i)
        shapes = (3, 4), (4, 4)
        return [paddle.to_tensor(r.normal(size=s), stop_gradient=False) for s in shapes]

    def derived(y, x, w):
        gx, gw = paddle.grad(y, [x, w], create_graph=True)
        (gg,) = paddle.grad((gx * gx).sum() + gw.sum(), [x])
        assert float(y) == y.numpy() == y.detach().item()
        assert len(list(x)) == 3
        return [v.numpy().tobytes() for v in (y, gx, gw, gg)]

    def eagerly(i):
        x, w = leaves(i)
        return derived(net(x, w), x, w)

    def traced(i):
        x, w = leaves(i)
        return derived(to_static(lambda x: net(x, w))(x), x, w)

    want = [eagerly(i) for i in range(4)]
    wrong: list[Any] = []

    def repeat(run, times):
        try:
            for i in range(times):
                if run(i % 4) != want[i % 4]:
                    wrong.append((run, i))
        except BaseException as e:
            wrong.append(e)

    before, calls = methods(), codes()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        jobs = [(eagerly, 60), (traced, 20), (eagerly, 60), (traced, 20)]
        threads = [threading.Thread(target=repeat, args=job) for job in jobs]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong
    assert methods() == before
    assert {k: v for k, v in codes().items() if k in calls} == calls
