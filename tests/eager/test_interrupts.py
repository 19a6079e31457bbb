"""Ctrl-C at any moment: gradients and parameters are as before or complete, modes are restored."""

import ast
import contextlib
import functools
import itertools
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import PyLayer, defop, recompute, saved_tensors_hooks
from autograd_engine.core.locations import PACKAGE_DIR
from autograd_engine.core.random_generator import _own
from autograd_engine.eager.grad_mode import grad_mode, modes as overrides
from autograd_engine.eager.graph_cuts import in_user_code
from autograd_engine.errors import GraphFreedError
from autograd_engine.ops.registry.strong_zeros import zeros_are_strong
from autograd_engine.program import mode
from tests.eager.layers import Cube
from tests.tiers import by_default

# A file that an interrupt leaves open is closed by the collector, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
F = paddle.nn.functional
X = np.array([0.5, -1.5, 2.0])
LIBRARY = (PACKAGE_DIR, contextlib.__file__)


def leaf(value: Any) -> Any:
    return paddle.to_tensor(value, dtype="float64", stop_gradient=False)


def modes() -> tuple[Any, ...]:
    """Everything that belongs to a thread or a task and that a block sets for its time."""
    return (
        grad_mode.enabled,
        grad_mode.recorder,
        grad_mode.inference,
        grad_mode.anomaly,
        in_user_code.watch,
        zeros_are_strong(),
        _own.generator,
        _own.replays,
        mode.guarded.get(),
        paddle.static.default_main_program(),
        tuple(np.geterr().items()),
    )


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """A failure here is no failure of what comes next."""
    yield
    in_user_code.watch = None
    overrides.reset()
    _own.generator, _own.replays = None, False


class Moments:
    """Raises KeyboardInterrupt at the k-th moment at which a signal could be handled.

    The interpreter looks for signals when a Python function is entered and when one written in C
    has returned. What has been entered to undo something is let through: of ``with`` blocks and
    ``finally`` the interpreter itself does not promise more.
    """

    def __init__(self, at: int) -> None:
        self.left = at
        self.fired = False
        self.where = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if event in ("call", "c_return") and ours(frame.f_code) and not undoing(frame):
            self.moment(frame, event)

    def moment(self, frame: FrameType, event: str) -> None:
        self.left -= 1
        if self.left < 0 and not self.fired:
            self.fired = True
            self.where = f"{frame.f_code.co_qualname} line {frame.f_lineno} ({event})"
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def set(self) -> Iterator[None]:
        before = sys.getprofile()
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(before)


class Lines(Moments):
    """Raises it before the k-th line, whether or not a signal could be handled there."""

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "call":
            return self if ours(frame.f_code) and not undoing(frame) else None
        if event == "line" and frame.f_lineno not in undoing_lines(frame.f_code.co_filename):
            self.moment(frame, event)
        return self

    @contextlib.contextmanager
    def set(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self)
        try:
            yield
        finally:
            sys.settrace(before)


def ours(code: CodeType) -> bool:
    # What is raised in an expression that is being closed goes nowhere.
    return code.co_filename.startswith(PACKAGE_DIR) and code.co_name != "<genexpr>"


def undoing(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_filename.startswith(LIBRARY):
        if frame.f_code.co_name == "__exit__":
            return True
        frame = frame.f_back
    return False


@functools.cache
def undoing_lines(filename: str) -> frozenset[int]:
    """Lines of ``finally`` and of ``with``, which are come to again when the block ends."""
    found: set[int] = set()
    if not filename.endswith(".py"):
        return frozenset()
    for node in ast.walk(ast.parse(Path(filename).read_text())):
        if isinstance(node, ast.Try):
            for part in node.finalbody:
                found.update(range(part.lineno, (part.end_lineno or part.lineno) + 1))
        elif isinstance(node, ast.With):
            found.update(range(node.lineno, node.body[0].lineno))
    return frozenset(found)


Prepare = Callable[[], tuple[Callable[[], Any], Callable[[str, bool], None]]]


def sweep(prepare: Prepare, kinds: Sequence[type[Moments]] = (Moments, Lines)) -> int:
    """Interrupt `run` at every moment in turn, and `check` what is left; the number of moments."""
    run, check = prepare()
    run()  # what is generated at first use is there
    check("warm", False)
    total = 0
    for kind in kinds:
        for k in itertools.count():
            run, check = prepare()
            before = modes()
            moments = kind(k)
            try:
                with moments.set():
                    run()
            except KeyboardInterrupt:
                pass
            assert modes() == before, moments.where
            check(moments.where, moments.fired)
            if not moments.fired:
                total += k
                break
    return total


def same(got: Any, right: Any) -> bool:
    return got is not None and np.allclose(got.numpy(), right, rtol=1e-9, atol=1e-12)


# --- a backward pass


square = defop("squared_here", lambda x: x * x, tangent="elementwise")
square.vjp(x=lambda xp, g, x: g * 2.0 * x)


def everything(x: Any, w: Any) -> Any:
    """A small graph with one node of each kind."""
    h = x * w
    h.register_hook(lambda g: g * 1.0)
    h.retain_grads()
    a, b = paddle.split(h, [1, 2])
    with saved_tensors_hooks(lambda t: t.numpy(), paddle.to_tensor):
        c = paddle.exp(a) * a
    d = recompute(lambda t: paddle.sin(t) * t, b)
    e = h[1] * h[2] + (h + h).sum()
    return (Cube.apply(h) + square(h)).sum() + c.sum() + d.sum() + e


def value(x: Any, w: Any) -> Any:
    h = x * w
    b = h[1:]
    return (
        (h**3 + h**2).sum()
        + (np.exp(h[:1]) * h[:1]).sum()
        + (np.sin(b) * b).sum()
        + h[1] * h[2]
        + 2 * h.sum()
    )


def differences(function: Callable[[Any], Any], at: Any) -> Any:
    out = np.zeros_like(at)
    for k in range(at.size):
        step = np.zeros_like(at)
        step[k] = 1e-6
        out[k] = (function(at + step) - function(at - step)) / 2e-6
    return out


W = np.array([1.0, 0.5, -0.75])
GX = differences(lambda a: value(a, W), X)
GW = differences(lambda a: value(X, a), W)


def close(got: Any, right: Any) -> bool:
    return got is not None and np.allclose(got.numpy(), right, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("retain", by_default([True, False], 1))
def test_a_backward_pass_that_is_interrupted_anywhere(retain: bool) -> None:
    seen = set()

    def prepare() -> Any:
        x, w = leaf(X), leaf(W)
        x.grad = paddle.to_tensor(np.ones(3))
        post: list[int] = []
        x.register_post_accumulate_grad_hook(lambda t: post.append(1))
        loss = everything(x, w)

        def check(where: str, fired: bool) -> None:
            outcome = []
            for t, old, new in ((x, np.ones(3), 1 + GX), (w, None, GW)):
                as_before = t.grad is None if old is None else same(t.grad, old)
                assert as_before or close(t.grad, new), where
                outcome.append(as_before)
            seen.add((fired, *outcome))
            x.grad, w.grad = None, None
            refused = None
            try:
                loss.backward()
            except GraphFreedError as error:
                refused = str(error)
            if refused is None:
                assert close(x.grad, GX), where
                assert close(w.grad, GW), where
            else:
                assert not retain, where
                assert "test_interrupts.py" in refused, where
                assert (x.grad, w.grad) == (None, None), where

        return lambda: loss.backward(retain_graph=retain), check

    kinds = (Moments,) if retain else (Moments, Lines)
    assert sweep(prepare, kinds) > 50
    assert (True, True, True) in seen
    assert (False, False, False) in seen


def test_a_freed_graph_says_that_the_pass_was_interrupted() -> None:
    x = leaf(X)
    h = x * x
    loss = (h * 2.0).sum()

    def interrupt(_: Any) -> None:
        raise KeyboardInterrupt

    h.register_hook(interrupt)
    with pytest.raises(KeyboardInterrupt):
        loss.backward()
    assert x.grad is None
    with pytest.raises(GraphFreedError, match="which was interrupted"):
        loss.backward()
    h2 = (h * 3.0).sum()
    with pytest.raises(KeyboardInterrupt):
        h2.backward()
    # What the pass did not come to is whole.
    (g,) = paddle.grad(x * x, x)
    assert g.tolist() == (2 * X).tolist()


@pytest.mark.parametrize("place", ["hook", "leaf hook", "rule", "layer", "unpack", "recompute"])
def test_an_interrupt_in_code_of_the_users(place: str) -> None:
    armed = [False]

    def touch(*_: Any) -> None:
        if armed[0]:
            raise KeyboardInterrupt

    class Layer(PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            touch() if place == "layer" else None
            return g * 2.0

    def rule(xp: Any, g: Any) -> Any:
        touch() if place == "rule" else None
        return g * 3.0

    def unpack(t: Any) -> Any:
        touch() if place == "unpack" else None
        return t

    def segment(t: Any) -> Any:
        touch() if place == "recompute" else None
        return t * t

    three = defop("three_here", lambda x: x * 3.0).vjp(x=rule)
    x, w = leaf(X), leaf(W)
    with saved_tensors_hooks(lambda t: t, unpack):
        h = x * w
    h = recompute(segment, Layer.apply(three(h)))
    if place == "hook":
        h.register_hook(touch)
    if place == "leaf hook":
        x.register_hook(touch)
    y = h.sum()
    before = modes()
    armed[0] = True
    with pytest.raises(KeyboardInterrupt):
        y.backward(retain_graph=True)
    assert modes() == before
    assert (x.grad, w.grad) == (None, None)
    armed[0] = False
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 72 * X * W * W)
    np.testing.assert_allclose(w.grad.numpy(), 72 * X * X * W)


def test_a_recorded_pass_that_is_interrupted_anywhere() -> None:
    def prepare() -> Any:
        x = leaf(X)
        loss = (paddle.exp(x) * x).sum() + Cube.apply(x).sum()
        got: list[Any] = []

        def run() -> None:
            (g,) = paddle.grad(loss, x, create_graph=True)
            got.append(paddle.grad(g.sum(), x)[0])

        def check(where: str, fired: bool) -> None:
            assert x.grad is None, where
            got.clear()
            run()
            right = np.exp(X) * (X + 2) + 6 * X
            assert same(got[0], right), where

        return run, check

    assert sweep(prepare, (Moments,)) > 50


# --- writes


def test_writes_in_place_that_are_interrupted_anywhere() -> None:
    def ways() -> Iterator[tuple[str, Any, Any]]:
        yield "add_", lambda t: t.add_(paddle.to_tensor(W)), lambda a: a + W
        yield "exp_", lambda t: t.exp_(), np.exp
        yield "setitem", lambda t: t.__setitem__(0, t[1] * 2.0), _assigned
        yield "set_value", lambda t: t.set_value(W), lambda a: W + 0 * a
        yield "zero_", lambda t: t.zero_(), lambda a: 0 * a

    for _, way, plain in ways():

        def prepare(way: Any = way, plain: Any = plain) -> Any:
            x = leaf(X)
            t = x * 2.0
            before = t.numpy()

            def check(where: str, fired: bool) -> None:
                assert before.tolist() == (X * 2).tolist(), where
                old, new = np.array_equal(t.numpy(), X * 2), np.allclose(t.numpy(), plain(X * 2))
                assert old or new, where
                after = differences(lambda a: ((plain(a * 2) if new else a * 2) ** 2).sum(), X)
                if not t.stop_gradient:
                    (t * t).sum().backward()
                if x.grad is None:
                    assert np.allclose(after, 0.0), where
                else:
                    assert close(x.grad, after), where

            return lambda: way(t), check

        sweep(prepare)


def _assigned(a: Any) -> Any:
    a = a.copy()
    a[0] = a[1] * 2.0
    return a


@pytest.mark.parametrize(
    "name", ["SGD", "Momentum", "Adam", "rows by SGD", "rows by Adam", "large Adam"]
)
def test_a_step_of_an_optimizer_that_is_interrupted_anywhere(name: str) -> None:
    """Each parameter is as before or updated, and its state belongs to it."""
    sparse = name.startswith("rows")
    start = np.arange(6.0).reshape(3, 2) + 1.0
    if name == "large Adam":  # which writes in place
        start = np.linspace(1.0, 2.0, 8200).reshape(-1, 2)
    factory: Any = getattr(paddle.optimizer, name.rpartition(" ")[2])
    options = {"lazy_mode": True} if name == "rows by Adam" else {}
    ids = paddle.to_tensor([0, 2, 0])

    def fresh() -> tuple[list[Any], Any]:
        params = [leaf(start), leaf(-start)]
        return params, factory(learning_rate=0.1, parameters=params, **options)

    def gradients(params: list[Any]) -> None:
        for p in params:
            p.grad = None
            if sparse:
                e = F.embedding(ids, p, sparse=True)
                (e * e).sum().backward()
            else:
                (p * p * p).sum().backward()

    def steps(count: int) -> list[Any]:
        params, optimizer = fresh()
        values = [[p.numpy().copy() for p in params]]
        for _ in range(count):
            gradients(params)
            optimizer.step()
            values.append([p.numpy().copy() for p in params])
        return values

    right = steps(3)

    def prepare() -> Any:
        params, optimizer = fresh()
        gradients(params)
        optimizer.step()
        gradients(params)

        def check(where: str, fired: bool) -> None:
            # Each goes on from where it is, and arrives where it does undisturbed.
            for k, p in enumerate(params):
                done = next((n for n in (1, 2) if np.array_equal(p.numpy(), right[n][k])), None)
                assert done is not None, where
                others = [q for q in params if q is not p]
                for q in others:
                    q.grad = None
                if done == 1:
                    gradients([p])
                    optimizer.step()
                    assert np.array_equal(p.numpy(), right[2][k]), where
                gradients([p])
                optimizer.step()
                assert np.array_equal(p.numpy(), right[3][k]), where
                p.grad = None

        return optimizer.step, check

    assert sweep(prepare) > 4


def test_a_training_step_that_is_interrupted_anywhere() -> None:
    """Forward, backward, step and clearing: afterwards the same step works."""

    def prepare() -> Any:
        w, b = leaf(np.ones((3, 2))), leaf(np.zeros(2))
        sgd = paddle.optimizer.SGD(learning_rate=0.1, parameters=[w, b])
        x = paddle.to_tensor(X.reshape(1, 3))

        def run() -> None:
            paddle.tanh(F.linear(x, w, b)).sum().backward()
            sgd.step()
            sgd.clear_grad(set_to_zero=False)

        def check(where: str, fired: bool) -> None:
            for t in (w, b):
                t.grad = None
            values = w.numpy().copy(), b.numpy().copy()
            paddle.tanh(F.linear(x, w, b)).sum().backward()
            slope = 1 - np.tanh(X.reshape(1, 3) @ values[0] + values[1]) ** 2
            assert same(w.grad, X.reshape(3, 1) * slope), where
            assert same(b.grad, slope[0]), where

        return run, check

    assert sweep(prepare) > 50


# --- signals, at random


def run_script(text: str, seconds: float = 60.0) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timer signals")
def test_signals_at_random_moments() -> None:
    """The script's own handling of interrupts is outside of what they can hit."""
    out = run_script(
        """
        import random, signal, time
        import numpy as np
        import autograd_engine as paddle
        from autograd_engine.eager.grad_mode import grad_mode, modes
        from autograd_engine.errors import GraphFreedError

        class Stop(KeyboardInterrupt):
            pass

        armed = False
        def handler(*_):
            global armed
            if armed:
                armed = False
                raise Stop
        signal.signal(signal.SIGALRM, handler)
        random.seed(0)
        X = np.linspace(-1.0, 1.0, 8)

        def build(x, w):
            h = x
            for _ in range(20):
                h = paddle.tanh(h * w) + x
            return (h * h).sum()

        def right():
            x = paddle.to_tensor(X, stop_gradient=False)
            w = paddle.to_tensor(X + 2.0, stop_gradient=False)
            build(x, w).backward()
            return x.grad.numpy().copy(), w.grad.numpy().copy()

        gx, gw = right()
        begin = time.perf_counter()
        for _ in range(5):
            right()
        each = (time.perf_counter() - begin) / 5
        hits = finished = refused = again = 0
        end = time.monotonic() + 4.0
        while time.monotonic() < end:
            x = paddle.to_tensor(X, stop_gradient=False)
            w = paddle.to_tensor(X + 2.0, stop_gradient=False)
            loss = build(x, w)
            try:
                try:
                    armed = True
                    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, each))
                    loss.backward()
                finally:
                    armed = False
                    signal.setitimer(signal.ITIMER_REAL, 0)
                finished += 1
            except Stop:
                hits += 1
            armed = False
            assert grad_mode.enabled is True
            for t, g in ((x, gx), (w, gw)):
                assert t.grad is None or t.grad.numpy().tobytes() == g.tobytes()
                t.grad = None
            try:
                loss.backward()
            except GraphFreedError:
                refused += 1
                assert x.grad is None and w.grad is None
            else:
                again += 1
                assert x.grad.numpy().tobytes() == gx.tobytes()
                assert w.grad.numpy().tobytes() == gw.tobytes()
        print(hits, finished, refused, again)
        """
    )
    hits, _, refused, _ = map(int, out.split())
    assert hits > 20
    assert refused > 20


def test_an_exception_in_one_thread_leaves_the_others_alone() -> None:
    x = leaf(X)
    y = (x * x).sum()
    failed: list[BaseException] = []

    def elsewhere() -> None:
        z = leaf(X)
        h = z * z
        h.register_hook(lambda g: 1 / 0)
        try:
            with paddle.no_grad(), paddle.enable_grad():
                h.sum().backward()
        except ZeroDivisionError as error:
            failed.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    y.backward()
    assert failed
    assert x.grad.tolist() == (2 * X).tolist()
