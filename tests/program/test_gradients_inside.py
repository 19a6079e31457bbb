"""Gradients taken inside branches and loops, of what is computed around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import BuildError
from autograd_engine.program.mode import guarded
from autograd_engine.testing.modes import same_bits

nn = static.nn


@pytest.fixture(autouse=True)
def programs() -> Iterator[Any]:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), static.scope_guard(static.Scope()):
        yield main, startup


def data(name: str, *shape: int) -> Any:
    x = static.data(name, list(shape), "float64")
    x.stop_gradient = False
    return x


def weight(value: Any) -> Any:
    array = np.asarray(value, "float64")
    initial = paddle.nn.initializer.Assign(array)
    return static.create_parameter(list(array.shape), "float64", default_initializer=initial)


def counter() -> Any:
    return paddle.zeros([], "int64")


def in_scope(var: Any) -> np.ndarray:
    return np.array(static.global_scope().find_var(var.name).get_tensor())


def eagerly(function: Callable[..., Any], *arrays: Any) -> Any:
    """What it makes of leaves of these values."""
    with guarded.replaced(False):
        return function(*(paddle.to_tensor(a, "float64", stop_gradient=False) for a in arrays))


def runs(fetches: Any, feeds: list[dict[str, Any]], backend: str | None = None) -> list[Any]:
    executor = static.Executor(backend=backend) if backend else static.Executor()
    executor.run(static.default_startup_program())
    main = static.default_main_program()
    return [executor.run(main, feed, fetches) for feed in feeds]


class Random:
    """A scalar function of `values`, drawn from operations on arrays of three elements."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def more(self, values: list[Any], count: int) -> list[Any]:
        found = list(values)
        for _ in range(count):
            x, y = (found[k] for k in self.rng.integers(len(found), size=2))
            kind = self.rng.integers(6)
            if kind == 0:
                found.append(x * y)
            elif kind == 1:
                found.append(paddle.tanh(x + y))
            elif kind == 2:
                found.append(paddle.sin(x) - y)
            elif kind == 3:
                found.append(paddle.concat([x[1:], y[:1]]))
            elif kind == 4:
                found.append(paddle.sum(x) * 0.25 + y)
            else:
                found.append(x / (1.5 + y * y))
        return found


def drawn(seed: int) -> tuple[Callable[[list[Any]], list[Any]], Callable[[list[Any]], Any]]:
    """What is computed outside, and the loss that is computed inside of it."""

    def outside(values: list[Any]) -> list[Any]:
        return Random(seed).more(values, 5)

    def loss(values: list[Any]) -> Any:
        return paddle.sum(Random(seed + 1000).more(values, 5)[-1])

    return outside, loss


ARRAYS = np.random.default_rng(7).normal(size=(2, 3))


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_random_functions_have_the_bits_of_eager_mode(backend: str) -> None:
    """A branch, a loop, and a branch in a loop, each with a part outside."""
    different = []
    for seed in range(12):
        outside, loss = drawn(seed)

        def by_leaves(*leaves: Any, outside: Any = outside, loss: Any = loss) -> list[Any]:
            found = paddle.grad(loss(outside(list(leaves))), list(leaves), allow_unused=True)
            return [np.zeros(3) if g is None else g.numpy() for g in found]

        expected = eagerly(by_leaves, *ARRAYS)
        for how in ("branch", "loop", "both", "outer branch"):
            with static.program_guard(static.Program(), static.Program()):
                inputs = [data("x", 3), data("y", 3)]
                found = _asked(how, inputs, outside, loss)
                [got] = runs(found, [{"x": ARRAYS[0], "y": ARRAYS[1]}], backend)
            for g, wanted in zip(got, expected, strict=True):
                if not np.array_equal(g, wanted):
                    different.append((seed, how, g, wanted))
    assert not different


def _asked(how: str, inputs: list[Any], outside: Any, loss: Any) -> list[Any]:
    def ask(values: list[Any]) -> list[Any]:
        found = static.gradients(loss(values), inputs)
        return [paddle.zeros([3], "float64") if g is None else g * 1.0 for g in found]

    always = paddle.sum(inputs[0]) < 1e9
    nothing = [x * 0.0 for x in inputs]
    if how == "branch":
        values = outside(inputs)
        made: list[Any] = nn.cond(always, lambda: ask(values), lambda: nothing)
        return made
    if how == "outer branch":  # two levels of which each computes a part
        made = nn.cond(
            always,
            lambda: (lambda values: nn.cond(always, lambda: ask(values), lambda: nothing))(
                outside(inputs)
            ),
            lambda: nothing,
        )
        return made
    values = outside(inputs)

    def body(i: Any, *_: Any) -> list[Any]:
        if how == "loop":
            return [i + 1, *ask(values)]
        return [i + 1, *nn.cond(i > 0, lambda: ask(values), lambda: nothing)]

    return nn.while_loop(lambda i, *_: i < 2, body, [counter(), *nothing])[1:]


def test_sums_of_half_precision_are_rounded_once() -> None:
    """Also those of which a part arises inside, and a part outside."""
    x = static.data("x", [64], "float16")
    x.stop_gradient = False
    h = paddle.tanh(x)

    def ask() -> Any:
        (g,) = static.gradients(paddle.sum(h * h * x + x * h), x)
        return g * 1.0

    inside = nn.cond(paddle.sum(x) < 1e4, ask, lambda: x * 0.0)
    (outside,) = static.gradients(paddle.sum(h * h * x + x * h), x)
    half = np.random.default_rng(0).normal(size=64).astype("float16")
    [found] = runs([inside, outside], [{"x": half}])
    same_bits(found[0], found[1])


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_every_second_step_trains(backend: str, programs: Any) -> None:
    """A part of the loss is computed outside; the updates have the bits of eager mode."""
    steps = np.random.default_rng(1).normal(size=(6, 4, 2))
    x, k, w = data("x", 4, 2), static.data("k", [], "int64"), weight([[0.5], [-1.0]])
    hidden = paddle.tanh(paddle.matmul(x, w))
    momentum = paddle.optimizer.Momentum(0.1)

    def train() -> Any:
        loss = paddle.mean((hidden - paddle.sum(w)) ** 2.0)
        momentum.minimize(loss)
        return loss

    loss = nn.cond(k % 2 == 0, train, lambda: paddle.zeros([], "float64"))
    feeds = [{"x": a, "k": np.int64(n)} for n, a in enumerate(steps)]
    losses = [found[0] for found in runs([loss], feeds, backend)]

    def train_eagerly(p: Any) -> Any:
        optimizer = paddle.optimizer.Momentum(0.1, parameters=[p])
        for n, a in enumerate(steps):
            if n % 2:
                assert losses[n] == 0.0
                continue
            made = paddle.tanh(paddle.matmul(paddle.to_tensor(a), p))
            expected = paddle.mean((made - paddle.sum(p)) ** 2.0)
            expected.backward()
            optimizer.step()
            optimizer.clear_grad()
            same_bits(losses[n], expected.numpy())
        return p.numpy()

    same_bits(in_scope(w), eagerly(train_eagerly, [[0.5], [-1.0]]))


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_several_updates_in_one_run_differentiate_what_was_computed_before_them(
    backend: str,
) -> None:
    """The square outside keeps the parameter it was computed of, as the tape does."""
    w = weight([1.0, -2.0, 0.5])
    x = data("x", 3)
    before = paddle.sin(w * w * x)

    def body(i: Any) -> Any:
        paddle.optimizer.SGD(0.1).minimize(paddle.sum((before - w) ** 2.0))
        return i + 1

    nn.while_loop(lambda i: i < 4, body, [counter()])
    runs([], [{"x": ARRAYS[0]}], backend)

    def train_eagerly(p: Any) -> Any:
        change: Any = 0.0
        first = paddle.sin(p * p * paddle.to_tensor(ARRAYS[0]))
        for _ in range(4):
            now = (p - change).detach()
            now.stop_gradient = False
            by_first, by_now = paddle.grad(paddle.sum((first - now) ** 2.0), [p, now])
            change = change + 0.1 * (by_now + by_first)
        return (p - change).numpy()

    expected = eagerly(train_eagerly, [1.0, -2.0, 0.5])
    np.testing.assert_allclose(in_scope(w), expected, rtol=1e-12)


def test_through_branches_and_loops_that_are_outside() -> None:
    """What they kept for the gradient is read inside, in each iteration again."""
    x = data("x", 3)
    _, powers = nn.while_loop(
        lambda i, v: i < 3, lambda i, v: [i + 1, paddle.tanh(v) * x], [counter(), x * 1.0]
    )
    chosen = nn.cond(paddle.sum(x) > 100.0, lambda: powers * 0.0, lambda: powers * x)

    def body(i: Any, total: Any) -> Any:
        g, = static.gradients(paddle.sum(chosen * powers), x)  # fmt: skip
        return [i + 1, total + g]

    _, total = nn.while_loop(lambda i, _: i < 2, body, [counter(), paddle.zeros([3], "float64")])
    [[found]] = runs([total], [{"x": ARRAYS[0]}])

    def twice(leaf: Any) -> Any:
        v = leaf * 1.0
        for _ in range(3):
            v = paddle.tanh(v) * leaf
        (g,) = paddle.grad(paddle.sum(v * leaf * v), leaf)
        return (g + g).numpy()

    same_bits(found, eagerly(twice, ARRAYS[0]))


@pytest.mark.parametrize("order", [1, 2])
def test_an_inner_optimisation_is_differentiated_from_outside(order: int) -> None:
    """Gradient descent on an inner loss, whose target is computed outside of the loop."""
    x = data("x", 3)

    def inner(v: Any, goal: Any) -> Any:
        return paddle.sum((v * v - goal) ** 2.0)

    goal = paddle.exp(x)

    def body(i: Any, v: Any) -> Any:
        g, = static.gradients(inner(v, goal), v)  # fmt: skip
        return [i + 1, v - 0.05 * g]

    _, v = nn.while_loop(lambda i, _: i < 5, body, [counter(), x * 0.0 + 1.0])
    found = paddle.sum(v)
    for _ in range(order):
        (g,) = static.gradients(found, x)
        found = paddle.sum(g * g) if order == 2 else g
    [[got]] = runs([g], [{"x": ARRAYS[1]}])

    def unrolled(leaf: Any) -> Any:
        w, target = leaf * 0.0 + 1.0, paddle.exp(leaf)
        for _ in range(5):
            (g,) = paddle.grad(inner(w, target), w, create_graph=True)
            w = w - 0.05 * g
        expected = paddle.sum(w)
        for _ in range(order):
            (h,) = paddle.grad(expected, leaf, create_graph=True)
            expected = paddle.sum(h * h)
        return h.numpy()

    np.testing.assert_allclose(got, eagerly(unrolled, ARRAYS[1]), rtol=1e-12)


def test_second_order_inside() -> None:
    x = data("x", 3)
    y = paddle.sin(x)

    def ask() -> Any:
        (g,) = static.gradients(paddle.sum(y * y * x), x)
        (h,) = static.gradients(paddle.sum(g * y), x)
        return h * 1.0

    found = nn.cond(paddle.sum(x) < 1e9, ask, lambda: x * 0.0)
    _, again = nn.while_loop(lambda i, _: i < 1, lambda i, _: [i + 1, ask()], [counter(), x * 0.0])
    [got] = runs([found, again], [{"x": ARRAYS[0]}])

    def second(leaf: Any) -> Any:
        z = paddle.sin(leaf)
        (g,) = paddle.grad(paddle.sum(z * z * leaf), leaf, create_graph=True)
        return paddle.grad(paddle.sum(g * z), leaf)[0].numpy()

    for value in got:
        np.testing.assert_allclose(value, eagerly(second, ARRAYS[0]), rtol=1e-12)


def test_through_iterations_before_is_refused(programs: Any) -> None:
    """What a loop carries is a value of this iteration: where it comes from is not known there."""
    x, w = data("x", 3), weight([1.0, 2.0, 3.0])
    s = paddle.assign(x * w)
    s.stop_gradient = False
    text = repr(programs[0])

    def carried(i: Any, v: Any) -> Any:
        paddle.optimizer.SGD(0.1).minimize(paddle.sum(v * w))
        return [i + 1, v * 2.0]

    def written(i: Any) -> Any:
        static.gradients(paddle.sum(s * w), w)
        paddle.assign(s * 2.0, output=s)
        return i + 1

    hint = r"inside a loop, .*inside.py:\d+ .*minimize.* depends on .*detach\(\)"
    with pytest.raises(BuildError, match=hint):
        nn.while_loop(lambda i, v: i < 2, carried, [counter(), x * w])
    hint = r"^(while_loop: )?inside a loop, .*inside.py:\d+ \(static.gradients.* carries .*detach"
    with pytest.raises(BuildError, match=hint):
        nn.while_loop(lambda i: i < 2, written, [counter()])
    more = counter() < 2
    loop = nn.control_flow.While(more)

    def block() -> None:
        with loop.block():
            paddle.assign(written(counter()) < 2, output=more)

    with pytest.raises(BuildError, match=hint):
        block()
    kept = [line for line in repr(programs[0]).splitlines() if line not in text.splitlines()]
    assert len(programs[0].blocks) == 1
    assert not any("while" in line or "GRAD" in line for line in kept)

    def cut(i: Any, v: Any) -> Any:
        v = v.detach()
        (g,) = static.gradients(paddle.sum(v * w), w)
        return [i + 1, v * 2.0 + g * 0.0]

    _, v = nn.while_loop(lambda i, v: i < 2, cut, [counter(), x * w])
    [[found]] = runs([v], [{"x": np.ones(3)}])
    np.testing.assert_allclose(found, [4.0, 8.0, 12.0])


def test_an_error_inside_leaves_the_blocks_around_as_they_were(programs: Any) -> None:
    x, w = data("x", 3), weight([1.0, 2.0, 3.0])
    hidden = paddle.tanh(x * w)
    text, operators = repr(programs[0]), len(programs[0].global_block().ops)

    def fail(**_: Any) -> None:
        raise ZeroDivisionError

    def body(i: Any) -> Any:
        with pytest.raises(ZeroDivisionError):
            static.append_backward(paddle.sum(hidden * w), callbacks=[fail])
        assert len(programs[0].global_block().ops) == operators + 1  # the counter
        raise KeyError

    with pytest.raises(KeyError):
        nn.while_loop(lambda i: i < 2, body, [counter()])
    assert repr(programs[0]).startswith(text.splitlines()[0])
    assert len(programs[0].blocks) == 1
    assert not [v for v in programs[0].list_vars() if "BEFORE" in v.name or "GRAD" in v.name]


def test_a_file_holds_it_and_inference_leaves_it_out(programs: Any) -> None:
    x, w = data("x", 3), weight([1.0, 2.0, 3.0])
    hidden = paddle.tanh(x * w)

    def body(i: Any) -> Any:
        paddle.optimizer.Adam(0.1).minimize(paddle.sum(hidden * w))
        return i + 1

    nn.while_loop(lambda i: i < 3, body, [counter()])
    main, startup = programs
    found = []
    for program in (main, static.Program.parse_from_string(main.to_string()), main.clone()):
        with static.scope_guard(static.Scope()):
            executor = static.Executor()
            executor.run(startup)
            executor.run(program, {"x": ARRAYS[0]})
            found.append(in_scope(w))
    same_bits(found[1], found[0])
    same_bits(found[2], found[0])
    assert not np.array_equal(found[0], [1.0, 2.0, 3.0])
    executor.run(startup)
    executor.run(main.clone(for_test=True), {"x": ARRAYS[0]}, [hidden.name])
    same_bits(in_scope(w), np.array([1.0, 2.0, 3.0]))
