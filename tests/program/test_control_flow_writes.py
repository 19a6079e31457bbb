"""What branches and loops write: counters, running statistics, parameters that are trained."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import BuildError
from autograd_engine.testing.modes import same_bits

nn = static.nn


@pytest.fixture
def programs():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), static.scope_guard(static.Scope()):
        yield main, startup


def data(name: str, *shape: int) -> Any:
    x = static.data(name, list(shape), "float64")
    x.stop_gradient = False
    return x


def counter() -> Any:
    return paddle.zeros([], "int64")


def weight(*shape: int, value: float = 1.0) -> Any:
    constant = paddle.nn.initializer.Constant(value)
    return static.create_parameter(list(shape), "float64", default_initializer=constant)


def in_scope(var: Any) -> np.ndarray:
    return np.array(static.global_scope().find_var(var.name).get_tensor())


class TestLoops:
    def test_a_variable_of_the_code_around_is_carried(self, programs):
        x = data("x")
        c = x * 1.0

        def body(i, v):
            paddle.increment(c)
            return [i + 1, v * c]

        _, v = nn.while_loop(lambda i, v: i < 3, body, [counter(), x])
        y = v * c  # x (x + 1) (x + 2) (x + 3) (x + 3)
        [g] = static.gradients(y, x)
        assert static.Executor().run(programs[0], {"x": np.float64(1.0)}, [c, y, g]) == [4, 96, 224]

    def test_running_statistics_of_each_iteration(self, programs):
        x = data("x", 4, 2)
        a = np.random.default_rng(0).normal(size=(4, 2))
        names = {"moving_mean_name": "mean", "moving_variance_name": "variance"}
        _, y = nn.while_loop(
            lambda i, v: i < 3,
            lambda i, v: [i + 1, nn.batch_norm(v * 2.0, momentum=0.5, **names)],
            [counter(), x],
        )
        executor = static.Executor()
        executor.run(programs[1])
        executor.run(programs[0], {"x": a}, [y])
        mean, variance = np.zeros(2), np.ones(2)
        for _ in range(3):
            a = a * 2.0
            mean, variance = mean * 0.5 + a.mean(0) * 0.5, variance * 0.5 + a.var(0) * 0.5
            a = (a - a.mean(0)) / np.sqrt(a.var(0) + 1e-5)
        kept = programs[0].global_block().vars
        np.testing.assert_allclose(in_scope(kept["mean"]), mean, atol=1e-12)
        np.testing.assert_allclose(in_scope(kept["variance"]), variance, rtol=1e-12)

    def test_a_training_inside_one_run_has_the_bits_of_many_runs(self):
        inputs = np.random.default_rng(0).normal(size=(8, 3))
        results = []
        for steps in (1, 20):
            main, startup = static.Program(), static.Program()
            with static.program_guard(main, startup), static.scope_guard(static.Scope()):
                x, w = data("x", 8, 3), weight(3, 1)
                clip = paddle.nn.ClipGradByGlobalNorm(1.0)
                adam = paddle.optimizer.Adam(0.1, grad_clip=clip, weight_decay=0.01)

                def step(i, _, x=x, w=w, adam=adam):
                    loss = paddle.mean((paddle.matmul(x, w) - 2.0) ** 2.0)
                    adam.minimize(loss)
                    return [i + 1, loss]

                start = [counter(), paddle.zeros([], "float64")]
                _, loss = nn.while_loop(lambda i, _, n=steps: i < n, step, start)
                executor = static.Executor()
                executor.run(startup)
                for _ in range(20 // steps):
                    [value] = executor.run(main, {"x": inputs}, [loss])
                results.append((value, in_scope(w)))
        for one, many in zip(*results, strict=True):
            same_bits(one, many)

    def test_functions_that_are_called_again_leave_one_of_each(self, programs):
        """The size of what the loop carries changes, so the body is called twice."""
        x = data("x", 2, 2)
        outer = paddle.mean(nn.fc(x, 1))
        momentum = paddle.optimizer.Momentum(0.1)
        calls = []

        def body(i, v):
            calls.append(v)
            momentum.minimize(outer)
            return [i + 1, paddle.concat([v, nn.fc(v[:2], 2)])]

        _, y = nn.while_loop(lambda i, v: i < 2, body, [counter(), x])
        main, startup = programs
        assert len(calls) == 2
        assert len(main.all_parameters()) == 4
        assert len(startup.global_block().vars) == 4 + 1 + 2  # a learning rate, and two velocities
        assert list(main.supplies) == [n for n in startup.global_block().vars if "rate" in n]
        executor = static.Executor()
        executor.run(startup)
        before = in_scope(main.all_parameters()[1])
        [value] = executor.run(main, {"x": np.ones((2, 2))}, [y])
        assert value.shape == (6, 2)
        # The gradient is 1 both times: -0.1, and then -0.19.
        np.testing.assert_allclose(in_scope(main.all_parameters()[1]), before - 0.29)


class TestUpdatesInBranches:
    def test_gradients_are_accumulated(self, programs):
        x, step = data("x", 4, 2), static.data("step", [], "int64")
        w = weight(2, 1)
        loss = paddle.mean(paddle.matmul(x, w))
        [(_, g)] = static.append_backward(loss, [w])
        total = static.create_global_var([2, 1], 0.0, "float64", persistable=True)
        paddle.assign(total + g, output=total)
        sgd = paddle.optimizer.SGD(0.1)

        def update():
            sgd.apply_gradients([(w, total)])
            paddle.assign(paddle.zeros_like(total), output=total)

        nn.cond(step % 3 == 2, update)
        main, startup = programs
        executor = static.Executor()
        executor.run(startup)
        rng, want, gathered = np.random.default_rng(0), np.ones((2, 1)), np.zeros((2, 1))
        for k in range(7):
            a = rng.normal(size=(4, 2))
            executor.run(main, {"x": a, "step": np.int64(k)}, [loss])
            gathered = gathered + a.mean(0)[:, None]
            if k % 3 == 2:
                want, gathered = want - 0.1 * gathered, np.zeros((2, 1))
            np.testing.assert_allclose(in_scope(w), want, rtol=1e-12)
            np.testing.assert_allclose(in_scope(total), gathered, rtol=1e-12)

    @pytest.mark.parametrize("inside", [False, True])
    def test_minimize_in_a_branch(self, programs, inside):
        x, w = data("x"), weight(value=2.0)
        adam = paddle.optimizer.SGD(0.5)
        outer = x * w

        def train():
            loss = x * w if inside else outer
            adam.minimize(loss)
            return loss * 1.0

        y = nn.cond(x > 0.0, train, lambda: outer * 0.0)
        main, startup = programs
        executor = static.Executor()
        executor.run(startup)
        for value, result, left in ((-1.0, 0.0, 2.0), (3.0, 6.0, 0.5), (-1.0, 0.0, 0.5)):
            assert executor.run(main, {"x": np.float64(value)}, [y]) == [result]
            assert in_scope(w) == left

    def test_moving_averages(self, programs):
        x, w = data("x"), weight(value=8.0)
        average = static.ExponentialMovingAverage(0.5)
        nn.cond(x > 0.0, average.update)
        main, startup = programs
        executor = static.Executor()
        executor.run(startup)
        for value, want in ((-1.0, 0.0), (1.0, 4.0), (-1.0, 4.0), (1.0, 6.0)):
            executor.run(main, {"x": np.float64(value)}, [])
            kept = next(
                v for n, v in main.global_block().vars.items() if n.startswith(w.name + "_e")
            )
            assert in_scope(kept) == want

    def test_inference_updates_nothing(self, programs):
        x, w = data("x"), weight(value=2.0)
        pairs = static.append_backward(x * w)
        adam = paddle.optimizer.Adam(0.1)
        nn.cond(x > 0.0, lambda: adam.apply_gradients(pairs) and None)

        def returning():
            adam.apply_gradients(pairs)
            return x * w

        y = nn.cond(x > 1.0, returning, lambda: x)
        main, startup = programs
        test = main.clone(for_test=True)
        types = [op.type for block in test.blocks for op in block.ops]
        assert types.count("cond") == 1
        assert "adam" not in types
        executor = static.Executor()
        executor.run(startup)
        for _ in range(2):
            assert executor.run(test, {"x": np.float64(2.0)}, [y.name]) == [4.0]
        assert executor.run(main, {"x": np.float64(2.0)}, [y]) != [4.0]

    def test_a_gradient_from_a_branch_that_is_over(self, programs):
        x, w = data("x"), weight()
        made = []

        def branch():
            made.extend(static.append_backward(x * w))
            return x * 1.0

        nn.cond(x > 0.0, branch, lambda: x)
        before = [repr(p) for p in programs]
        with pytest.raises(BuildError, match="return the gradient from the branch, or update in"):
            paddle.optimizer.SGD(0.1).apply_gradients(made)
        assert [repr(p) for p in programs] == before


def test_a_failure_anywhere_leaves_both_programs_as_they_were():
    """Of everything that functions can do, something fails."""

    def build(fails_at: int) -> bool:
        calls = []

        def tick() -> None:
            calls.append(None)
            if len(calls) == fails_at:
                raise KeyError("mine")

        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            x, i, c = data("x", 2, 2), counter(), counter()
            loss = paddle.mean(nn.fc(x, 1))
            adam = paddle.optimizer.Adam(0.1)

            def branch(v: Any) -> Any:
                tick()
                paddle.increment(c)
                u = nn.batch_norm(nn.fc(v, 2))
                tick()
                adam.minimize(loss)
                tick()
                [g] = static.gradients(paddle.sum(u), v)
                tick()
                return u + g + x

            def body(i: Any, v: Any) -> list[Any]:
                w = nn.cond(paddle.sum(v) > 0.0, lambda: branch(v), lambda: v * 2.0)
                tick()
                return [i + 1, paddle.concat([w, w])]

            def state() -> list[Any]:
                versions = {n: v.version for n, v in main.global_block().vars.items()}
                return [repr(main), repr(startup), versions, list(main.supplies), main.num_blocks]

            before = state()
            try:
                nn.while_loop(lambda i, v: i < 2, body, [i, x])
            except KeyError:
                assert state() == before
                return True
            return False

    last = 1
    while build(last):
        last += 1
    assert last > 10


def test_a_tuple_is_as_good_as_a_list(programs):
    x = data("x")
    a, b = nn.cond(x > 0.0, lambda: [x, (x * 2.0,)], lambda: (x * 3.0, [x]))
    _, (c, d) = nn.while_loop(
        lambda i, pair: i < 1, lambda i, pair: (i + 1, pair[::-1]), [counter(), (a, b[0])]
    )
    run = static.Executor().run
    assert run(programs[0], {"x": np.float64(1.0)}, [a, b[0], c, d]) == [1.0, 2.0, 2.0, 1.0]
    assert run(programs[0], {"x": np.float64(-1.0)}, [a, b[0], c, d]) == [-3.0, -1.0, -1.0, -3.0]


def test_what_did_not_run_adds_nothing_not_even_to_a_negative_zero(programs):
    x = data("x", 2)
    h = x * 2.0

    def branch():
        u = h * 3.0
        return nn.cond(paddle.sum(x) > 100.0, lambda: paddle.sum(u), lambda: 0.0)

    y = nn.cond(paddle.sum(x) < 100.0, branch, lambda: 0.0)
    [g] = static.gradients(y + paddle.sum(x * -0.0), x)
    [value] = static.Executor().run(programs[0], {"x": np.ones(2)}, [g])
    same_bits(value, np.array([-0.0, -0.0]))


def test_loops_inside_each_other_are_planned_in_time_that_does_not_multiply(programs):
    """What a variable influences shows after as many rounds as there are loop variables."""
    x = data("x", 2)

    def nested(depth, v):
        if not depth:
            return paddle.sin(v) * x

        def body(i, a, b, c):
            return [i + 1, b, c, nested(depth - 1, a)]

        one = paddle.ones([2], "float64")
        return nn.while_loop(lambda i, *_: i < 1, body, [counter(), one, one, one])[1] + v

    y = nested(9, x * 1.0)
    start = time.process_time()
    [g] = static.gradients(y, x)
    assert time.process_time() - start < 10.0  # four times as long for each level is 60
    assert static.Executor().run(programs[0], {"x": np.ones(2)}, [g])[0].tolist() == [1.0, 1.0]
