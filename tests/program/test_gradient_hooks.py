"""`Variable.register_hook`, in programs and under `to_static`, against hooks of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import BuildError, NotDifferentiableError
from autograd_engine.program.mode import guarded
from autograd_engine.testing.modes import same_bits

A = np.random.default_rng(9).normal(size=(2, 3))


def one(x: Any, w: Any) -> Any:
    """On results: of several uses, before and after it is registered."""
    y = paddle.sin(x) * w
    before = y * x
    y.register_hook(lambda g: g * w + 1.0)
    y.register_hook(lambda g: None)
    y.register_hook(paddle.tanh)
    y.register_hook(lambda g: g * 100.0).remove()
    return paddle.sum(before + y * y)


def chained(x: Any, w: Any) -> Any:
    y = x * w
    y.register_hook(lambda g: g * y)
    z = paddle.exp(y)
    z.register_hook(lambda g: paddle.clip(g, -0.5, 0.5) * z)
    return paddle.sum(z * z + y)


def many(x: Any, w: Any) -> Any:
    for _ in range(3):
        x = paddle.tanh(x * w)
        x.register_hook(lambda g: g * 2.0)
    return paddle.sum(x)


FUNCTIONS: list[Callable[[Any, Any], Any]] = [one, chained, many]


@pytest.fixture(autouse=True)
def programs() -> Iterator[Any]:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        yield main


def data(name: str, *shape: int) -> Any:
    x = static.data(name, list(shape), "float64")
    x.stop_gradient = False
    return x


def orders(function: Callable[..., Any], x: Any, w: Any, grad: Callable[..., Any]) -> list[Any]:
    found, target = [], function(x, w)
    for _ in range(2):
        grads = grad(target, [x, w])
        found += grads
        target = paddle.sum(grads[0] * grads[1])
    return found


def on_tensors(function: Callable[..., Any]) -> list[np.ndarray]:
    with guarded.replaced(False):
        leaves = [paddle.to_tensor(a, stop_gradient=False) for a in A]
        found = orders(function, *leaves, lambda y, xs: paddle.grad(y, xs, create_graph=True))
        return [g.numpy() for g in found]


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_programs_have_the_bits_of_tensors(backend: str) -> None:
    wrong = []
    for function in FUNCTIONS:
        main = static.Program()
        with static.program_guard(main):
            found = orders(function, data("x", 3), data("w", 3), static.gradients)
        feed = {"x": A[0], "w": A[1]}
        names = [g.name for g in found]
        texts = static.Program.parse_from_string(main.to_string()), main.clone(), main
        for program in texts:
            got = static.Executor(backend=backend).run(program, feed, names)
            for value, wanted in zip(got, on_tensors(function), strict=True):
                close = np.allclose(value, wanted, rtol=1e-12)
                if not close or (backend == "numpy" and not np.array_equal(value, wanted)):
                    wrong.append((function.__name__, value, wanted))
    assert not wrong


def test_under_to_static() -> None:
    wrong = []
    with guarded.replaced(False):
        for function in FUNCTIONS:
            traced = paddle.jit.to_static(function)
            for _ in range(2):
                leaves = [paddle.to_tensor(a, stop_gradient=False) for a in A]
                traced(*leaves).backward()
                got = [leaf.grad.numpy() for leaf in leaves]
                again = [paddle.to_tensor(a, stop_gradient=False) for a in A]
                got += orders(traced, *again, lambda y, xs: paddle.grad(y, xs, create_graph=True))
                expected = on_tensors(function)
                for value, wanted in zip(got, expected[:2] + expected, strict=True):
                    value = getattr(value, "numpy", lambda v=value: v)()
                    if not np.allclose(value, wanted, rtol=1e-12):
                        wrong.append((function.__name__, value, wanted))
    assert not wrong


def test_a_training_step_with_what_the_hook_finds_outside() -> None:
    results = []
    with guarded.replaced(False):
        for wrap in (paddle.jit.to_static, lambda f: f):
            paddle.seed(0)
            net, factor = paddle.nn.Linear(3, 2), paddle.to_tensor(10.0)
            sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())

            def step(x: Any, net: Any = net, factor: Any = factor, sgd: Any = sgd) -> Any:
                hidden = net(x)
                hidden.register_hook(lambda g: g * factor)
                loss = paddle.sum(hidden * hidden)
                loss.backward()
                sgd.step()
                sgd.clear_grad()
                return loss

            run = wrap(step)
            for k in range(3):
                factor.set_value(np.float32(k))
                run(paddle.ones([1, 3]))
            results.append([p.numpy() for p in net.parameters()])
    for traced, eager in zip(*results, strict=True):
        same_bits(traced, eager)


def test_parameters_loops_and_clones(programs: Any) -> None:
    x = data("x", 3)
    x.register_hook(lambda g: g * 3.0)

    def body(i: Any, v: Any) -> list[Any]:
        made = v * x
        made.register_hook(lambda g: g * v)
        return [i + 1, made]

    _, v = static.nn.while_loop(lambda i, _: i < 2, body, [paddle.zeros([], "int64"), x * 1.0])
    copy = programs.clone()
    (g,) = static.gradients(paddle.sum(v), x)
    with static.program_guard(copy):
        (again,) = static.gradients(
            paddle.sum(copy.global_block().var(v.name)), copy.global_block().var("x")
        )
    a = A[0]
    # v1 = x x, v2 = v1 x: the cotangent of v2 is v1, that of v1 is x x v1, each as hooks leave it.
    second = a * a
    first = (second * a) * a
    expected = 3.0 * (second * (a * a) + first * a + first * a)
    for program, fetch in ((programs, g), (copy, again)):
        found = static.Executor().run(program, {"x": a}, [fetch])[0]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    with guarded.replaced(False):
        leaf = paddle.to_tensor(a, stop_gradient=False)
        values = programs.run_eagerly({"x": leaf}, [v.name])
        values[v.name].sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), expected, rtol=1e-12)


def test_a_hook_outside_is_met_from_inside() -> None:
    """By gradients that are asked for in a branch, and in a loop."""
    x = data("x", 3)
    x.register_hook(lambda g: g * 10.0)

    def ask() -> Any:
        return static.gradients(paddle.sum(x * x), x)[0] * 1.0

    found = static.nn.cond(paddle.sum(x) < 1e9, ask, lambda: x)
    start = [paddle.zeros([], "int64"), x * 0.0]
    _, total = static.nn.while_loop(lambda i, _: i < 2, lambda i, t: [i + 1, t + ask()], start)
    main = static.default_main_program()
    got = static.Executor().run(main, {"x": A[0]}, [found, total])
    np.testing.assert_allclose(got, [20.0 * A[0], 40.0 * A[0]])


def test_bad_input(programs: Any) -> None:
    x, k = data("x", 3), static.data("k", [3])
    y = x * 2.0
    state = static.create_global_var([3], 0.0, "float64")

    def branching(g: Any) -> Any:
        return static.nn.cond(paddle.sum(x) > 0.0, lambda: g, lambda: g * 2.0)

    def writing(g: Any) -> Any:
        return paddle.assign(g, output=state)

    text, count = repr(programs), len(programs.blocks)
    refused: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: k.register_hook(paddle.tanh), NotDifferentiableError, "stops gradients"),
        (lambda: y.register_hook(3), TypeError, "register_hook"),  # type: ignore[arg-type]
        (lambda: y.register_hook(lambda: 1), TypeError, "register_hook"),  # type: ignore[misc,arg-type]
        (lambda: y.register_hook(lambda g: 1.0), TypeError, "return a Variable or None, got float"),
        (lambda: y.register_hook(lambda g: g[:2]), ValueError, r"returned shape \[2\]"),
        (lambda: y.register_hook(lambda g: g.astype("float32")), TypeError, "float32"),
        (lambda: y.register_hook(branching), BuildError, "can hold no branch and no loop"),
        (lambda: y.register_hook(writing), BuildError, "write no variable"),
        (lambda: y.register_hook(lambda g: 1 / 0), ZeroDivisionError, "division"),
    ]
    wrong = []
    for call, error, hint in refused:
        try:
            with pytest.raises(error, match=hint):
                call()
        except BaseException as failure:
            wrong.append((hint, failure))
        if (repr(programs), len(programs.blocks)) != (text, count):
            wrong.append((hint, "left something"))
    assert not wrong

    def inside() -> Any:
        with pytest.raises(BuildError, match="of another block than the one that is built"):
            y.register_hook(paddle.tanh)
        return y

    static.nn.cond(paddle.sum(x) > 0.0, inside, lambda: y)
