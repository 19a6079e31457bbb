"""Gradients of branches and loops at several orders, against eager mode and differences."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.testing.modes import same_bits
from tests.tiers import by_default

nn = static.nn
Value = Any
Function = Callable[..., Value]
UNARY = (
    paddle.tanh,
    paddle.sin,
    lambda v: v * 0.5,
    lambda v: v * v,
    lambda v: paddle.exp(v * 0.1),
)
BINARY = (lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - b * 0.5)


class Random:
    """Functions of nested branches and loops, which run in either mode."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def term(self, depth: int) -> Callable[[list[Value]], Value]:
        kinds = [self.unary, self.binary, self.binary]
        if depth:
            kinds += [self.branch, self.counted, self.until]
        return self.rng.choice(kinds)(depth)

    def pick(self) -> Callable[[list[Value]], Value]:
        k = self.rng.randrange(12)
        return lambda values: values[k % len(values)]

    def unary(self, depth: int) -> Callable[[list[Value]], Value]:
        f, a = self.rng.choice(UNARY), self.term(depth - 1) if depth else self.pick()
        return lambda values: f(a(values))

    def binary(self, depth: int) -> Callable[[list[Value]], Value]:
        f, a = self.rng.choice(BINARY), self.pick()
        b = self.term(depth - 1) if depth else self.pick()
        return lambda values: f(a(values), b(values))

    def branch(self, depth: int) -> Callable[[list[Value]], Value]:
        a, b, p = self.term(depth - 1), self.term(depth - 1), self.pick()
        limit = self.rng.uniform(-1.0, 1.0)
        return lambda values: nn.cond(
            paddle.sum(p(values)) > limit, lambda: a(values), lambda: b(values)
        )

    def counted(self, depth: int) -> Callable[[list[Value]], Value]:
        a, b, start = self.term(depth - 1), self.term(depth - 1), self.pick()
        trips = self.rng.randrange(4)

        def loop(values: list[Value]) -> Value:
            out = nn.while_loop(
                lambda i, v: i < trips,
                lambda i, v: [i + 1, paddle.tanh(a([v, *values]))],
                [paddle.zeros([], "int64"), start(values)],
            )
            return out[1] * b(values)

        return loop

    def until(self, depth: int) -> Callable[[list[Value]], Value]:
        a, b = self.term(depth - 1), self.term(depth - 1)
        p, q, limit = self.pick(), self.pick(), self.rng.uniform(0.5, 2.0)

        def loop(values: list[Value]) -> Value:
            def goes_on(i: Value, u: Value, v: Value) -> Value:
                return paddle.logical_and(i < 4, paddle.sum(v * v) < limit)

            def body(i: Value, u: Value, v: Value) -> tuple[Value, ...]:
                return i + 1, paddle.sin(a([u, *values])), u * 0.5 + paddle.tanh(b([v, *values]))

            start = [paddle.zeros([], "int64"), p(values), q(values)]
            _, u, v = nn.while_loop(goes_on, body, start)
            return u + v * 0.25

        return loop

    def function(self) -> Function:
        a, b = self.term(3), self.term(3)

        def f(x: Value, w: Value) -> Value:
            y = a([x, w, x * w])
            return paddle.sum(y * b([y, x, w]))

        return f


def squares(grads: list[Value]) -> Value:
    found = None
    for g in grads:
        if g is not None:
            term = paddle.sum(g * g)
            found = term if found is None else found + term
    return found


def eagerly(f: Function, arrays: list[np.ndarray], orders: int) -> list[list[Any]]:
    xs = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    value, out = f(*xs), []
    for _ in range(orders):
        if value is None or value.stop_gradient:
            out.append([None] * len(xs))
            continue
        grads = paddle.grad(value, xs, create_graph=True, allow_unused=True)
        out.append([None if g is None else g.numpy() for g in grads])
        value = squares(grads)
    return out


def in_a_program(
    f: Function, arrays: list[np.ndarray], orders: int
) -> tuple[static.Program, list[Value], list[list[Value]]]:
    """(program, what is differentiated at each order, its gradients)"""
    program = static.Program()
    with static.program_guard(program, static.Program()):
        xs = [static.data(f"x{k}", a.shape, str(a.dtype)) for k, a in enumerate(arrays)]
        for x in xs:
            x.stop_gradient = False
        value, values, grads = f(*xs), [], []
        for _ in range(orders):
            found = [None] * len(xs) if value is None else static.gradients(value, xs)
            values.append(value)
            grads.append(found)
            value = squares(found)
    return program, values, grads


def fetched(program: static.Program, arrays: list[np.ndarray], variables: list[Value]) -> list[Any]:
    feed = {f"x{k}": a for k, a in enumerate(arrays)}
    asked = [v for v in variables if v is not None]
    values = iter(static.Executor().run(program, feed, asked))
    return [None if v is None else next(values) for v in variables]


def differences(run: Callable[[list[np.ndarray]], float], arrays: list[np.ndarray]) -> list[Any]:
    found = []
    for k, a in enumerate(arrays):
        out = np.zeros(a.shape)
        for index in np.ndindex(a.shape):
            moved = [v.copy() for v in arrays]
            moved[k][index] += 1e-6
            above = run(moved)
            moved[k][index] -= 2e-6
            out[index] = (above - run(moved)) / 2e-6
        found.append(out)
    return found


@pytest.mark.parametrize("seed", by_default(range(40), 10))
def test_random_functions_have_the_bits_of_eager_mode(seed):
    f = Random(seed).function()
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=3), rng.normal(size=3)]
    want = eagerly(f, arrays, 2)
    program, _, grads = in_a_program(f, arrays, 2)
    got = [fetched(program, arrays, g) for g in grads]
    for have, expected in zip([*got[0], *got[1]], [*want[0], *want[1]], strict=True):
        # What did not run has no gradient eagerly, and zeros in a program.
        if expected is None:
            assert have is None or not have.any()
        else:
            same_bits(np.zeros(3) if have is None else have, expected)


@pytest.mark.parametrize("seed", by_default(range(100, 108), 2))
def test_third_order_of_random_functions_against_differences(seed):
    f = Random(seed).function()
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=2), rng.normal(size=2)]
    program, values, grads = in_a_program(f, arrays, 3)
    for value, found in zip(values, grads, strict=True):
        if value is None or all(g is None for g in found):
            continue
        want = differences(lambda xs, v=value: float(fetched(program, xs, [v])[0]), arrays)
        for have, expected in zip(fetched(program, arrays, found), want, strict=True):
            have = np.zeros(2) if have is None else have
            np.testing.assert_allclose(have, expected, rtol=2e-5, atol=2e-5)


def loop_of(body: Function, trips: int = 3) -> Function:
    def f(x: Value, w: Value) -> Value:
        out = nn.while_loop(
            lambda i, z: i < trips, lambda i, z: [i + 1, body(z, w)], [paddle.zeros([], "int64"), x]
        )
        return paddle.sum(paddle.sin(out[1]))

    return f


@pytest.mark.parametrize("trips", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "body",
    [
        lambda z, w: z * w,
        lambda z, w: paddle.sin(z) * w,
        lambda z, w: paddle.sin(z),
        lambda z, w: z + 0.0 * w,
        lambda z, w: w * 1.0,
    ],
    ids=["product", "sine", "without-capture", "sum", "forgets"],
)
def test_four_orders_of_a_loop(body, trips):
    f = loop_of(body, trips)
    rng = np.random.default_rng(trips)
    arrays = [rng.normal(size=2), rng.normal(size=2)]
    program, values, grads = in_a_program(f, arrays, 4)
    for value, found in zip(values, grads, strict=True):
        if value is None:
            continue
        want = differences(lambda xs, v=value: float(fetched(program, xs, [v])[0]), arrays)
        # Differences of large values are off by as much as these are large.
        off = 2e-5 * max(1.0, *(float(np.abs(g).max()) for g in want))
        for have, expected in zip(fetched(program, arrays, found), want, strict=True):
            have = np.zeros(2) if have is None else have
            np.testing.assert_allclose(have, expected, rtol=2e-5, atol=off)


def scalars(*names: str) -> list[Value]:
    out = []
    for name in names:
        x = static.data(name, [], "float64")
        x.stop_gradient = False
        out.append(x)
    return out


@pytest.mark.parametrize("order", [1, 2])
def test_a_branch_that_did_not_run_spoils_nothing(order):
    program = static.Program()
    with static.program_guard(program):
        [x] = scalars("x")
        log, h = paddle.log(x), x * 3.0
        g = nn.cond(x > 1.0, lambda: log, lambda: h * h)
        for _ in range(order):
            [g] = static.gradients(g, x)
    executor = static.Executor()
    # A gradient operator is quiet about what it masks, operators that users could write are not.
    with np.errstate(divide="ignore", invalid="ignore" if order == 2 else "raise"):
        assert executor.run(program, {"x": np.float64(0.0)}, [g]) == [(0.0, 18.0)[order - 1]]
    assert executor.run(program, {"x": np.float64(2.0)}, [g]) == [(0.5, -0.25)[order - 1]]


def test_what_a_loop_does_not_use_again_spoils_nothing():
    """The last root is not used, and its derivative is infinite."""
    program = static.Program()
    with static.program_guard(program):
        [x] = scalars("x")
        out = nn.while_loop(
            lambda i, s, r: i < 2,
            lambda i, s, r: [i + 1, s + x * x, paddle.sqrt(x - x)],
            [paddle.zeros([], "int64"), x, x],
        )
        [g] = static.gradients(out[1], x)
    with np.errstate(divide="ignore"):
        assert static.Executor().run(program, {"x": np.float64(3.0)}, [g]) == [13.0]


def test_a_gradient_that_is_zero_has_a_derivative():
    program = static.Program()
    with static.program_guard(program):
        [x] = scalars("x")
        h = x * 2.0
        y = nn.cond(x > -1.0, lambda: h * h, lambda: x * 0.0)
        [first] = static.gradients(y, x)
        [second] = static.gradients(first, x)
    assert static.Executor().run(program, {"x": np.float64(0.0)}, [first, second]) == [0.0, 8.0]


def test_without_an_iteration_the_gradient_is_zero():
    program = static.Program()
    with static.program_guard(program):
        x, w = scalars("x", "w")
        y = loop_of(lambda z, w: z * w, 0)(x, w)
        grads = static.gradients(y, [x, w])
    got = static.Executor().run(program, {"x": np.float64(0.0), "w": np.float64(2.0)}, grads)
    assert got == [1.0, 0.0]
    assert not np.signbit(got[1])


def test_asked_again_nothing_is_appended():
    program = static.Program()
    with static.program_guard(program):
        x, w = scalars("x", "w")
        y = nn.cond(x > 0.0, lambda: x * w, lambda: loop_of(lambda z, w: z * w)(x, w))
        first = static.gradients(y, [x, w])
        count = [len(b.ops) for b in program.blocks]
        again = static.gradients(y, [x, w])
        one = static.gradients(y, x)
    assert [v.name for v in again] == [v.name for v in first]
    assert one[0] is first[0]
    assert [len(b.ops) for b in program.blocks] == count


def test_callbacks_are_called_inside_first():
    program = static.Program()
    seen = []
    with static.program_guard(program):
        x, w = scalars("x", "w")
        y = nn.cond(x > 0.0, lambda: x * w, lambda: paddle.sin(x))

        def callback(block, context):
            desc = context["__current_op_desc__"]
            seen.append((block.idx, desc.type(), dict(context)))

        static.append_backward(y, [x], callbacks=[callback])
    names = [(idx, kind) for idx, kind, _ in seen]
    assert names[-1] == (0, "cond_grad")
    assert {idx for idx, _ in names[:-1]} == {3, 4}
    assert program.block(3).forward_idx == 1
    assert seen[0][2]["x@GRAD"] == "x"


def test_a_failure_in_a_callback_leaves_the_program_as_it_was():
    program = static.Program()
    with static.program_guard(program):
        x, w = scalars("x", "w")
        _, y = nn.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, nn.cond(y > 0.0, lambda: paddle.sin(y) * w, lambda: y)),
            [paddle.zeros([], "int64"), x],
        )
        before = repr(program)
        calls = []

        def callback(block, context):
            calls.append(block)
            if len(calls) == 4:
                raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            static.append_backward(y, [x], callbacks=[callback])
        assert repr(program) == before
        [g] = static.gradients(y, x)
    assert np.isfinite(
        static.Executor().run(program, {"x": np.float64(1.0), "w": np.float64(1)}, [g])
    )


def test_no_grad_set_reaches_inside():
    program = static.Program()
    made = []
    with static.program_guard(program):
        [x] = scalars("x")

        def branch():
            made.append(paddle.sin(x))
            return made[0] + x * 2.0

        y = nn.cond(x > 0.0, branch, lambda: x)
        [g] = static.gradients(y, x, no_grad_set={made[0].name})
    assert static.Executor().run(program, {"x": np.float64(1.0)}, [g]) == [2.0]


def test_a_training_that_branches_and_loops_has_the_bits_of_eager_mode():
    """A network run for a number of steps that its input decides, trained for 20 steps."""
    rng = np.random.default_rng(0)
    first, inputs = rng.normal(size=(4, 4)) * 0.5, rng.normal(size=(20, 8, 4))

    def network(x, w):
        _, h = nn.while_loop(
            lambda i, h: paddle.logical_and(i < 6, paddle.mean(h * h) < 0.6),
            lambda i, h: (i + 1, paddle.tanh(paddle.matmul(h, w) + x)),
            [paddle.zeros([], "int64"), x * 0.1],
        )
        loss = paddle.mean((h - 0.5) * (h - 0.5))
        return nn.cond(loss > 0.3, lambda: loss * 2.0 + paddle.sum(w * w) * 0.01, lambda: loss)

    w = paddle.create_parameter([4, 4], "float64", attr=paddle.nn.initializer.Assign(first))
    adam = paddle.optimizer.Adam(0.05, parameters=[w])
    losses = []
    for x in inputs:
        loss = network(paddle.to_tensor(x), w)
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(loss.numpy())
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), static.scope_guard(static.Scope()):
        x = static.data("x", [None, 4], "float64")
        p = static.create_parameter(
            [4, 4], "float64", default_initializer=paddle.nn.initializer.Assign(first)
        )
        loss = network(x, p)
        paddle.optimizer.Adam(0.05).minimize(loss)
        executor = static.Executor()
        executor.run(startup)
        for x, want in zip(inputs, losses, strict=True):
            same_bits(executor.run(main, {"x": x}, [loss])[0], want)
        same_bits(np.array(static.global_scope().find_var(p.name).get_tensor()), w.numpy())


class TestForwardMode:
    def function(self, x):
        _, y = nn.while_loop(
            lambda i, v: i < 3,
            lambda i, v: (
                i + 1,
                nn.cond(paddle.sum(v) > 1.0, lambda: paddle.sin(v) * x, lambda: v * v),
            ),
            [paddle.zeros([], "int64"), x * 2.0],
        )
        return y * x

    def test_against_differences_and_differentiated(self):
        program = static.Program()
        with static.program_guard(program):
            x, t = static.data("x0", [2], "float64"), static.data("x1", [2], "float64")
            x.stop_gradient = False
            y = self.function(x)
            tangent = static.forward_grad(y, x, t)
            value = paddle.sum(tangent * tangent)
            [g] = static.gradients(value, x)
        a, d = np.array([0.7, 0.4]), np.array([2.0, 3.0])

        def at(point, variable):
            return fetched(program, [point, d], [variable])[0]

        step = 1e-6 * d
        want = (at(a + step, y) - at(a - step, y)) / 2e-6
        np.testing.assert_allclose(at(a, tangent), want, rtol=1e-7)
        [want, _] = differences(lambda v: float(at(v[0], value)), [a, d])
        np.testing.assert_allclose(at(a, g), want, rtol=1e-6)

    def test_along_the_gradient_of_a_loop(self):
        """Forward over reverse mode, reverse over reverse, and a version that is written again."""
        program = static.Program()
        with static.program_guard(program):
            x, t = static.data("x0", [2], "float64"), static.data("x1", [2], "float64")
            x.stop_gradient = False
            y = paddle.assign(self.function(x))
            squared = y * y
            paddle.assign(x, output=y)
            [g] = static.gradients(squared, x)
            along = static.forward_grad(g, x, t)
            [back] = static.gradients(g, x, t)
        got = fetched(program, [np.array([0.7, 0.4]), np.array([2.0, 3.0])], [along, back])
        np.testing.assert_allclose(got[0], got[1], rtol=1e-12)


def root_in_a_branch_not_taken(x: Value) -> Value:
    root = paddle.sqrt(x)
    return nn.cond(x.sum() < 0, lambda: root * x, lambda: x * x) * x


def root_in_a_branch_of_a_branch(x: Value) -> Value:
    inverse = 1.0 / (x * x)
    inner = lambda: nn.cond(x.max() > 5, lambda: inverse, lambda: x * x)  # noqa: E731
    return nn.cond(x.sum() < 0, lambda: paddle.sqrt(x) * x, inner) * x


def root_in_a_branch_that_nobody_reads(x: Value) -> Value:
    y = nn.cond(x.sum() > 0, lambda: paddle.sqrt(x), lambda: x)
    return nn.cond(x.sum() < 0, lambda: y * 2.0, lambda: x * 3.0)


def root_in_a_loop_of_no_iteration(x: Value) -> Value:
    root = paddle.sqrt(x)
    start = [paddle.zeros([], "int64"), x]
    return nn.while_loop(lambda i, v: i < 0, lambda i, v: [i + 1, v * root], start)[1]


def root_in_a_branch_that_no_iteration_takes(x: Value) -> Value:
    root = paddle.sqrt(x)

    def body(i: Value, v: Value) -> list[Value]:
        return [i + 1, nn.cond(v.sum() < 0, lambda: v * root, lambda: v + x)]

    return nn.while_loop(lambda i, v: i < 3, body, [paddle.zeros([], "int64"), x])[1]


def root_of_what_a_loop_hands_to_nobody(x: Value) -> Value:
    body = lambda i, v: [i + 1, paddle.sqrt(v)]  # noqa: E731
    y = nn.while_loop(lambda i, v: i < 2, body, [paddle.zeros([], "int64"), x])[1]
    return nn.cond(x.sum() < 0, lambda: y * 2.0, lambda: x * 3.0)


@pytest.mark.parametrize(
    "f",
    [
        root_in_a_branch_not_taken,
        root_in_a_branch_of_a_branch,
        root_in_a_branch_that_nobody_reads,
        root_in_a_loop_of_no_iteration,
        root_in_a_branch_that_no_iteration_takes,
        root_of_what_a_loop_hands_to_nobody,
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_gradient_times_infinity_is_none(f):
    """At 0, where the derivatives of these are infinite and nothing has gone through them."""
    g = lambda x: paddle.sum(f(x))  # noqa: E731
    arrays = [np.array([0.0, 1.0, 2.0])]
    program, _, grads = in_a_program(g, arrays, 2)
    for (expected,), found in zip(eagerly(g, arrays, 2), grads, strict=True):
        (have,) = fetched(program, arrays, found)
        np.testing.assert_array_equal(have, np.zeros(3) if expected is None else expected)
        assert np.isfinite(have).all()
