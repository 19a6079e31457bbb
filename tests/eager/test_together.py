"""Everything that concerns the tape, in one another: values and derivatives of the plain function.

The model is a chain of two stages and a product of matrices. Each pair of features is put around
both stages, one inside the other, and both ways round. References: the function written in NumPy,
differentiated by complex steps, and differences of those.
"""

from __future__ import annotations

import copy
import functools
import gc
import pickle
import threading
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import autograd
from autograd_engine.core.random_generator import own_generator
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.graph_cuts import in_user_code
from autograd_engine.ops.registry.strong_zeros import zeros_are_strong
from tests.eager.features import FEATURES, Feature, Stage
from tests.over import over
from tests.tiers import by_default

N = 3
X = np.array([0.3, -0.7, 1.1])
V = np.array([1.0, 0.5, -2.0])
W = np.array([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6]])


def first(x: Any) -> Any:
    return x * x * 0.5 + x


def second(x: Any) -> Any:
    return paddle.sin(x) * x


def model(one: Stage = first, two: Stage = second) -> Stage:
    """The vector-valued function, [3] to [2]."""

    def run(x: Any) -> Any:
        return paddle.exp(paddle.matmul(paddle.to_tensor(W, x.dtype), two(one(x))) * 0.3)

    return run


def loss_of(f: Stage) -> Stage:
    return lambda x: f(x).sum()


# --- references


def values(x: Any) -> Any:
    u = x * x * 0.5 + x
    return np.exp(W @ (np.sin(u) * u) * 0.3)


def complex_steps(x: Any) -> Any:
    """The Jacobian, [2, 3]."""
    return np.stack([values(x + 1e-30j * e).imag / 1e-30 for e in np.eye(N)], axis=1)


def differences(function: Callable[[Any], Any], x: Any, v: Any, h: float) -> Any:
    """The derivative along v, to the fourth order of h."""
    a, b, c, d = (function(x + k * h * v) for k in (-2, -1, 1, 2))
    return (a - 8 * b + 8 * c - d) / (12 * h)


def gradient(x: Any) -> Any:
    return complex_steps(x).sum(0)


VALUE = values(X)
JACOBIAN = complex_steps(X)
GRADIENT = gradient(X)
HESSIAN = np.stack([differences(gradient, X, e, 1e-3) for e in np.eye(N)])
# The derivative of V'H V, a third derivative.
THIRD = differences(lambda x: differences(gradient, x, V, 2e-3), X, V, 2e-3)


def leaf() -> Any:
    return paddle.to_tensor(X.copy(), stop_gradient=False)


@functools.cache
def plain_bits() -> tuple[bytes, bytes]:
    x = leaf()
    y = model()(x)
    y.sum().backward()
    return y.numpy().tobytes(), x.grad.numpy().tobytes()


def near(actual: Any, expected: Any, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=tolerance, atol=tolerance)


# --- what reads the graph

Consumer = Callable[[Stage, bool, Path], None]
CONSUMERS: list[Consumer] = []


def consumer(use: Consumer) -> Consumer:
    CONSUMERS.append(use)
    return use


def first_order(x: Any, exact: bool) -> None:
    near(x.grad, GRADIENT, 1e-12)
    assert not exact or x.grad.numpy().tobytes() == plain_bits()[1], "other bits"


@consumer
def backward(f: Stage, exact: bool, _: Path) -> None:
    x = leaf()
    y = f(x)
    near(y, VALUE, 1e-13)
    assert not exact or y.numpy().tobytes() == plain_bits()[0]
    y.sum().backward()
    first_order(x, exact)


@consumer
def backward_twice(f: Stage, exact: bool, _: Path) -> None:
    x = leaf()
    loss = loss_of(f)(x)
    loss.backward(retain_graph=True)
    first_order(x, exact)
    loss.backward()
    near(x.grad, 2 * GRADIENT, 1e-12)
    with pytest.raises(RuntimeError, match="freed by an earlier backward pass"):
        loss.backward()
    near(x.grad, 2 * GRADIENT, 1e-12)


@consumer
def recorded_backward(f: Stage, exact: bool, _: Path) -> None:
    x = leaf()
    loss_of(f)(x).backward(create_graph=True)
    first_order(x, exact)
    g, x.grad = x.grad, None
    (g * paddle.to_tensor(V)).sum().backward()
    near(x.grad, HESSIAN @ V)
    x.grad = None


@consumer
def some_inputs(f: Stage, exact: bool, _: Path) -> None:
    x, w, unused = leaf(), paddle.to_tensor(2.0, dtype="float64", stop_gradient=False), leaf()
    y = f(x)
    got, none = paddle.grad(y * w, [x, unused], allow_unused=True)
    near(got, 2 * GRADIENT, 1e-12)
    assert none is None
    (at_y,) = paddle.grad((y * y).sum(), y)  # an input between: nothing before it is read
    near(at_y, 2 * VALUE, 1e-12)
    assert x.grad is None
    assert w.grad is None


@consumer
def third_order(f: Stage, _: bool, __: Path) -> None:
    x, v = leaf(), paddle.to_tensor(V)
    (g,) = paddle.grad(f(x).sum(), x, create_graph=True)
    (h,) = paddle.grad((g * v).sum(), x, create_graph=True)
    (t,) = paddle.grad((h * v).sum(), x)
    near(g, GRADIENT, 1e-12)
    near(h, HESSIAN @ V)
    near(t, THIRD, 1e-6)


@consumer
def products(f: Stage, _: bool, __: Path) -> None:
    x, v = paddle.to_tensor(X), paddle.to_tensor(V)
    value, pulled = autograd.vjp(f, x)
    near(value, VALUE, 1e-12)
    near(pulled, GRADIENT, 1e-12)
    value, pushed = autograd.jvp(f, x, v)
    near(value, VALUE, 1e-12)
    near(pushed, JACOBIAN @ V, 1e-12)
    value, product = autograd.hvp(loss_of(f), x, v)
    near(value, VALUE.sum(), 1e-12)
    near(product, HESSIAN @ V)


@consumer
def matrices(f: Stage, _: bool, __: Path) -> None:
    x = paddle.to_tensor(X)
    for mode in ("forward", "reverse"):
        near(autograd.jacobian(f, x, mode=mode), JACOBIAN, 1e-12)
    near(autograd.hessian(loss_of(f), x), HESSIAN)


@consumer
def matrices_of_tensors(f: Stage, _: bool, __: Path) -> None:
    x = leaf()
    y = f(x)
    near(autograd.jacobian(y, x)[:], JACOBIAN, 1e-12)
    near(autograd.jacobian(y, x)[1], JACOBIAN[1], 1e-12)
    near(autograd.hessian(y.sum(), x)[:], HESSIAN)


@consumer
def modes_in_modes(f: Stage, _: bool, __: Path) -> None:
    x, v = paddle.to_tensor(X), paddle.to_tensor(V)

    def along(x: Any) -> Any:
        return autograd.jvp(loss_of(f), x, v, create_graph=True)[1]

    value, second = autograd.jvp(along, x, v)
    near(value, GRADIENT @ V, 1e-12)
    near(second, V @ HESSIAN @ V)
    near(autograd.vjp(along, x)[1], HESSIAN @ V)
    x.stop_gradient = False
    product = autograd.hvp(loss_of(f), x, v, create_graph=True)[1]
    (third,) = paddle.grad((product * v).sum(), x)
    near(third, THIRD, 1e-6)
    rows = autograd.jacobian(f, x, create_graph=True, chunk_size=1)
    (curved,) = paddle.grad((rows * v).sum(), x)
    near(curved, HESSIAN @ V)


@consumer
def checks(f: Stage, _: bool, __: Path) -> None:
    def repeated(x: Any) -> Any:
        paddle.seed(0)
        return f(x)

    assert paddle.testing.gradcheck(repeated, [leaf()])


@consumer
def looking(f: Stage, exact: bool, directory: Path) -> None:
    x = leaf()
    loss = loss_of(f)(x)
    assert paddle.graph(loss).dot.startswith("digraph")
    assert str(autograd.saved_report(loss))
    assert str(paddle.explain(x, loss))
    loss.backward(dump_backward_graph_path=str(directory))
    first_order(x, exact)
    assert len(list(directory.iterdir())) == 3


@consumer
def copies(f: Stage, exact: bool, _: Path) -> None:
    x = leaf()
    loss_of(f)(x).backward()
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        other.grad = None
        loss_of(f)(other).backward()
        first_order(other, exact)
    first_order(x, exact)


@consumer
def threads(f: Stage, exact: bool, _: Path) -> None:
    """Each draws from a generator of its own, so that nobody draws between what recompute draws."""
    leaves = [leaf(), leaf()]
    failed: list[BaseException] = []

    def work(x: Any) -> None:
        try:
            with own_generator(np.random.default_rng(0)):
                loss_of(f)(x).backward()
        except BaseException as error:
            failed.append(error)

    running = [threading.Thread(target=work, args=(x,)) for x in leaves]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failed, failed
    for x in leaves:
        first_order(x, exact)


# --- pairs


def pair_of(a: Feature, b: Feature) -> Stage:
    return model(a.wrap(b.wrap(first)), b.wrap(a.wrap(second)))


def state() -> tuple[Any, ...]:
    """What features set for a while."""
    mode = grad_mode.enabled, grad_mode.recorder, grad_mode.inference, grad_mode.anomaly
    return *mode, in_user_code.watch, zeros_are_strong(), np.geterr()


def run(a: Feature, b: Feature, use: Consumer, directory: Path) -> None:
    before = state()
    try:
        with ExitStack() as scope:
            scope.enter_context(a.around())
            scope.enter_context(b.around())
            use(pair_of(a, b), a.exact and b.exact, directory)
    except BaseException as error:
        error.add_note(f"{use.__name__} of {a.name} with {b.name}")
        raise
    assert state() == before


NONE = Feature("nothing", lambda stage: stage)
EVERY = [backward, recorded_backward, some_inputs, third_order, products]
SOME = [use for use in CONSUMERS if use not in EVERY]


@over("use", CONSUMERS)
@over("a", [NONE, *FEATURES], ids=[f.name for f in (NONE, *FEATURES)], by=str)
def test_one_feature(a: Feature, use: Consumer, tmp_path: Path) -> None:
    run(a, NONE, use, tmp_path / use.__name__)


@pytest.mark.parametrize("a", by_default(FEATURES, FEATURES[::6]), ids=lambda f: f.name)
def test_two_features(a: Feature, tmp_path: Path) -> None:
    """Each pair with the first consumers, and with one of the others in turn."""
    start = FEATURES.index(a)
    for k, b in enumerate(FEATURES[start:]):
        for use in (*EVERY, SOME[(start + k) % len(SOME)]):
            run(a, b, use, tmp_path / str(k))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("a", FEATURES, ids=lambda f: f.name)
def test_other_dtypes(a: Feature, dtype: str) -> None:
    found = []
    for f in (a, NONE):
        x = paddle.to_tensor(X, dtype, stop_gradient=False)
        with f.around():
            y = pair_of(f, f)(x)
            y.sum().backward()
        assert (y.dtype, x.grad.dtype) == (x.dtype, x.dtype)
        found.append((y.numpy(), x.grad.numpy()))
    for value, plain in zip(*found, strict=True):
        np.testing.assert_allclose(value, plain, rtol=0, atol=32 * np.finfo(dtype).eps)
        assert not a.exact or value.tobytes() == plain.tobytes()


# --- afterwards


class Failed(Exception):
    pass


@pytest.mark.parametrize("a", FEATURES, ids=lambda f: f.name)
def test_a_failure_inside_leaves_no_mode_behind(a: Feature, tmp_path: Path) -> None:
    def fails(x: Any) -> Any:
        raise Failed

    def fails_later(x: Any) -> Any:
        y = x * 1.0
        if not y.stop_gradient:
            y.register_hook(fails)
        return y

    before = state()
    for stage in (fails, fails_later):
        x = leaf()
        with pytest.raises(Failed), a.around():
            loss_of(model(a.wrap(stage)))(x).backward()
        assert state() == before
        assert x.grad is None
    run(a, NONE, backward, tmp_path)


@pytest.mark.parametrize("a", FEATURES, ids=lambda f: f.name)
def test_nothing_stays_alive(a: Feature) -> None:
    """Neither with a pass nor without one, and without the garbage collector."""
    x = leaf()
    f = pair_of(a, a)
    gc.disable()
    try:
        with a.around():
            f(x)  # makes what is made once
            y = f(x)
            z = f(x)
            z.sum().backward()
        dropped = [weakref.ref(v._data) for v in (y, z)]
        grad = weakref.ref(x.grad)
        owner = weakref.ref(x)
        del y, z, x
        assert [ref() for ref in dropped] == [None, None]
        assert (owner(), grad()) == (None, None)
    finally:
        gc.enable()
