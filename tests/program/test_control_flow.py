"""Branches and loops: what they compute, what they take, and what they refuse."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import ArgumentError, BuildError, DTypeError, ModeError, ShapeError


@pytest.fixture
def program():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.unique_name.guard():
        yield main


def run(program, feed, fetch, startup=None):
    with static.scope_guard(static.Scope()):
        executor = static.Executor()
        if startup is not None:
            executor.run(startup)
        return executor.run(program, feed, fetch)


def data(name, shape=(), dtype="float64"):
    x = static.data(name, list(shape), dtype)
    x.stop_gradient = False
    return x


class TestCond:
    def test_one_branch_runs(self, program):
        x = data("x", [3])
        ran = []
        y = static.nn.cond(paddle.sum(x) > 0.0, lambda: x * 2.0, lambda: x - 1.0)
        assert run(program, {"x": np.ones(3)}, [y])[0].tolist() == [2.0, 2.0, 2.0]
        assert run(program, {"x": -np.ones(3)}, [y])[0].tolist() == [-2.0, -2.0, -2.0]
        assert ran == []

    def test_a_branch_that_does_not_run_raises_nothing(self, program):
        x = data("x", [None])
        rows = static.data("rows", [None], "int64")
        y = static.nn.cond(
            paddle.sum(x) > 0.0, lambda: paddle.sum(paddle.gather(x, rows)), lambda: paddle.sum(x)
        )
        outside = {"x": -np.ones(2), "rows": np.array([7])}
        assert run(program, outside, [y])[0] == -2.0

    def test_any_nest(self, program):
        pair = namedtuple("pair", "a b")
        x = data("x")

        def branch(k):
            return lambda: {"p": pair(x * k, [x + k, None]), "q": (k, "text"), "same": 7}

        out = static.nn.cond(x > 0.0, branch(2.0), branch(3.0))
        assert isinstance(out["p"], pair)
        assert out["p"].b[1] is None
        assert out["q"][1] == "text"
        assert out["same"] == 7
        fetched = run(program, {"x": np.float64(-1.0)}, [out["p"].a, out["p"].b[0], out["q"][0]])
        assert [float(v) for v in fetched] == [-3.0, 2.0, 3.0]

    def test_nothing_returned(self, program):
        x = data("x")
        assert static.nn.cond(x > 0.0, lambda: None, lambda: None) is None
        assert static.nn.cond(x > 0.0) is None

    def test_dtypes_meet(self, program):
        x = data("x", dtype="float32")
        n = static.data("n", [], "int64")
        y = static.nn.cond(x > 0.0, lambda: x, lambda: n)
        assert y.dtype == paddle.float32
        assert run(program, {"x": np.float32(-1), "n": np.int64(5)}, [y])[0] == 5.0

    def test_sizes_that_differ_are_unknown(self, program):
        x = data("x", [2, 3])
        y = static.nn.cond(paddle.sum(x) > 0.0, lambda: x, lambda: x[:1])
        assert y.shape == (-1, 3)
        assert run(program, {"x": -np.ones((2, 3))}, [y])[0].shape == (1, 3)

    def test_parameters_made_inside_are_the_programs(self):
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup), paddle.unique_name.guard():
            x = data("x", [None, 2], "float32")
            y = static.nn.cond(
                paddle.sum(x) > 0.0, lambda: static.nn.fc(x, 3), lambda: static.nn.fc(x, 3)
            )
            pairs = static.append_backward(paddle.mean(y))
        names = [p.name for p in main.all_parameters()]
        assert names == ["fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"]
        assert [p.name for p, _ in pairs] == names
        grads = run(main, {"x": np.ones((4, 2), "float32")}, [g for _, g in pairs], startup)
        np.testing.assert_allclose(grads[1], np.full(3, 1.0 / 3.0), rtol=1e-6)
        assert not np.any(grads[2])
        assert not np.any(grads[3])

    def test_a_running_statistic_is_written_by_the_branch_that_runs(self):
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup), paddle.unique_name.guard():
            x = data("x", [4, 2], "float32")
            p = static.data("p", [], "bool")
            static.nn.cond(p, lambda: static.nn.batch_norm(x), lambda: x)
        [mean] = [v.name for v in main.list_vars() if v.persistable and v.name.endswith("w_1")]
        feed = np.arange(8, dtype="float32").reshape(4, 2)
        with static.scope_guard(static.Scope()) as _, static.scope_guard(static.Scope()):
            executor = static.Executor()
            executor.run(startup)
            executor.run(main, {"x": feed, "p": np.bool_(False)})
            before = np.array(static.global_scope().find_var(mean).get_tensor())
            executor.run(main, {"x": feed, "p": np.bool_(True)})
            after = np.array(static.global_scope().find_var(mean).get_tensor())
        assert not before.any()
        np.testing.assert_allclose(after, 0.1 * feed.mean(0), rtol=1e-5)

    def test_dropout_inside(self, program):
        program.random_seed = 3
        x = data("x", [1000])
        y = static.nn.cond(
            paddle.sum(x) > 0.0, lambda: paddle.nn.functional.dropout(x, 0.5), lambda: x
        )
        [g] = static.gradients(y, x)
        value, grad = run(program, {"x": np.ones(1000)}, [y, g])
        np.testing.assert_array_equal(value, grad)
        assert 300 < np.count_nonzero(value) < 700

    def test_an_array_is_a_constant_of_its_branch(self, program):
        x = data("x", [2])
        ones = np.ones(2)
        y = static.nn.cond(paddle.sum(x) > 0.0, lambda: x + ones, lambda: x - ones)
        z = y * ones
        assert run(program, {"x": np.ones(2)}, [z])[0].tolist() == [2.0, 2.0]

    @pytest.mark.parametrize("tensor", [True, False])
    def test_eagerly(self, tensor):
        x = paddle.to_tensor(3.0, stop_gradient=False)
        pred = paddle.to_tensor(True) if tensor else True
        y = static.nn.cond(pred, lambda: (x * 2.0, None), lambda: 1 / 0)
        assert y[0].item() == 6.0
        assert y[1] is None

    def test_case_takes_the_first_that_holds(self, program):
        x = data("x")
        pairs = [(x < 1.0, lambda: x + 1.0), (x < 2.0, lambda: x + 2.0), (x < 3.0, lambda: x + 3.0)]
        with_default = static.nn.case(pairs, default=lambda: x * 0.0)
        without = static.nn.case(pairs)
        for value, want, last in (
            (0.5, 1.5, 1.5),
            (1.5, 3.5, 3.5),
            (2.5, 5.5, 5.5),
            (9.0, 0.0, 12.0),
        ):
            assert run(program, {"x": np.float64(value)}, [with_default, without]) == [want, last]

    @pytest.mark.parametrize("form", ["dict", "pairs", "functions"])
    def test_switch_case(self, program, form):
        x = data("x")
        i = static.data("i", [], "int32")
        functions = [lambda: x, lambda: x * 2.0, lambda: x * 3.0]
        given = {
            "dict": dict(enumerate(functions)),
            "pairs": list(enumerate(functions)),
            "functions": functions,
        }[form]
        y = static.nn.switch_case(i, given, default=lambda: x * 0.0)
        z = static.nn.switch_case(i, given)
        feed = {"x": np.float64(1.0)}
        got = [run(program, {**feed, "i": np.int32(k)}, [y, z]) for k in (0, 1, 2, 3, -1)]
        assert got == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [0.0, 3.0], [0.0, 3.0]]


class TestWhile:
    def test_as_often_as_the_data_say(self, program):
        x = data("x")
        n, y = static.nn.while_loop(
            lambda n, y: y < 100.0, lambda n, y: (n + 1, y * y), [paddle.zeros([], "int64"), x]
        )
        assert run(program, {"x": np.float64(2.0)}, [n, y]) == [3, 256.0]
        assert run(program, {"x": np.float64(200.0)}, [n, y]) == [0, 200.0]

    def test_a_size_may_change(self, program):
        x = data("x", [2])
        _, y = static.nn.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, paddle.concat([y, y * 2.0])),
            [paddle.zeros([], "int64"), x],
        )
        assert y.shape == (-1,)
        [g] = static.gradients(y, x)
        value, grad = run(program, {"x": np.ones(2)}, [y, g])
        assert value.shape == (16,)
        assert grad.tolist() == [27.0, 27.0]

    def test_in_place_counters(self, program):
        i = paddle.zeros([1], "int64")
        total = paddle.zeros([1], "float32")

        def body(i, total):
            total = total + paddle.cast(i, "float32")
            return [paddle.increment(i), total]

        _, total = static.nn.while_loop(lambda i, t: i < 5, body, [i, total])
        assert run(program, {}, [total])[0].tolist() == [10.0]

    def test_nests_and_numbers(self, program):
        x = data("x")
        out = static.nn.while_loop(
            lambda i, s: i < 3,
            lambda i, s: [i + 1, {"a": s["a"] * x, "b": (s["b"][0] + 1.0,)}],
            [0, {"a": x, "b": (0.5,)}],
        )
        assert run(program, {"x": np.float64(2.0)}, [out[1]["a"], out[1]["b"][0]]) == [16.0, 3.5]

    def test_loops_and_branches_inside_each_other(self, program):
        x = data("x", [2])

        def inner(i, y):
            return static.nn.cond(
                paddle.sum(y) > 3.0,
                lambda: y * 0.5,
                lambda: static.nn.while_loop(
                    lambda j, z: j < i + 1, lambda j, z: (j + 1, z + x), [i * 0, y]
                )[1],
            )

        _, y = static.nn.while_loop(
            lambda i, y: i < 4, lambda i, y: (i + 1, inner(i, y)), [paddle.zeros([], "int64"), x]
        )
        value = feed = np.array([0.25, 0.5])
        for i in range(4):
            value = value * 0.5 if value.sum() > 3.0 else value + (i + 1) * feed
        np.testing.assert_allclose(run(program, {"x": feed}, [y])[0], value)

    def test_eagerly(self):
        x = paddle.to_tensor(2.0, stop_gradient=False)
        i, y = static.nn.while_loop(
            lambda i, y: i < 3, lambda i, y: [i + 1, y * x], [paddle.to_tensor(0), x]
        )
        y.backward()
        assert (i.item(), y.item(), x.grad.item()) == (3, 16.0, 32.0)

    def test_one_variable_need_not_be_in_a_list(self, program):
        x = data("x")
        [y] = static.nn.while_loop(lambda y: y < 10.0, lambda y: y * 2.0, [x])
        assert run(program, {"x": np.float64(3.0)}, [y]) == [12.0]

    def test_nothing_is_kept_without_a_gradient(self, program):
        x = data("x", [200_000])
        _, y = static.nn.while_loop(
            lambda i, y: i < 50,
            lambda i, y: (i + 1, paddle.tanh(y)),
            [paddle.zeros([], "int64"), x],
        )
        loss = paddle.sum(y)
        static.gradients(loss, x)
        import tracemalloc

        executor, feed = static.Executor(), {"x": np.ones(200_000)}
        executor.run(program, feed, [loss])
        tracemalloc.start()
        executor.run(program, feed, [loss])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 6 * 1_600_000

    def test_what_is_kept_goes_as_the_gradient_advances(self, program):
        n = 100_000
        x = data("x", [n])
        _, y = static.nn.while_loop(
            lambda i, y: i < 30,
            lambda i, y: (i + 1, paddle.sin(y)),
            [paddle.zeros([], "int64"), x],
        )
        [g] = static.gradients(paddle.sum(y), x)
        import tracemalloc

        executor, feed = static.Executor(), {"x": np.ones(n)}
        executor.run(program, feed, [g])
        tracemalloc.start()
        executor.run(program, feed, [g])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 36 * 8 * n  # one of each iteration, and a few


class TestRefused:
    def test_python_asks_for_a_value(self, program):
        x = data("x")
        for asks in (lambda: 1 if x > 0.0 else 2, lambda: x > 0.0 and x < 1.0, lambda: not x):
            with pytest.raises(
                ModeError, match=r"static\.nn\.cond\(pred, true_fn, false_fn\)"
            ) as e:
                asks()
            assert "while_loop" in str(e.value)
            assert "logical_and" in str(e.value)

    def test_a_condition_that_is_no_bool_of_one_element(self, program):
        x = data("x", [2])
        with pytest.raises(DTypeError, match="such as x > 0"):
            static.nn.cond(x, lambda: x, lambda: x)
        with pytest.raises(ShapeError, match=r"paddle\.all or paddle\.any"):
            static.nn.cond(x > 0.0, lambda: x, lambda: x)
        with pytest.raises(TypeError, match="bool Variable or Tensor"):
            static.nn.cond("yes", lambda: x, lambda: x)
        with pytest.raises(TypeError, match="true_fn must be callable"):
            static.nn.cond(paddle.sum(x) > 0.0, x, lambda: x)
        with pytest.raises(DTypeError, match="what cond returns must be a bool"):
            static.nn.while_loop(lambda y: paddle.sum(y), lambda y: y, [x])
        assert len(program.blocks) == 1

    def test_a_condition_whose_size_shows_when_it_runs(self, program):
        x = data("x", [None])
        y = static.nn.cond(x > 0.0, lambda: x, lambda: x)
        assert run(program, {"x": np.ones(1)}, [y])[0].tolist() == [1.0]
        with pytest.raises(paddle.errors.ExecutionError, match="2 elements"):
            run(program, {"x": np.ones(2)}, [y])

    def test_branches_that_do_not_match(self, program):
        x = data("x", [2])
        p = paddle.sum(x) > 0.0
        with pytest.raises(ArgumentError, match="both must return the same structure"):
            static.nn.cond(p, lambda: x, lambda: (x, x))
        with pytest.raises(ArgumentError, match="both must return the same structure"):
            static.nn.cond(p, lambda: x, lambda: None)
        with pytest.raises(ShapeError, match="as many dimensions"):
            static.nn.cond(p, lambda: x, lambda: paddle.sum(x))

    def test_what_is_made_inside_stays_inside(self, program):
        x = data("x", [2])
        kept = []

        def branch():
            kept.append(x * 2.0)
            return kept[0]

        static.nn.cond(paddle.sum(x) > 0.0, branch, lambda: x)
        with pytest.raises(BuildError, match="return it from the function that makes it"):
            kept[0] + 1.0

    def test_a_body_that_returns_something_else(self, program):
        x = data("x", [2])
        i = paddle.zeros([], "int64")
        for body, error, text in (
            (lambda i, x: i + 1, ArgumentError, "2 loop variables"),
            (lambda i, x: (i + 1, x, x), ArgumentError, "2 loop variables"),
            (lambda i, x: (i + 1, None), ArgumentError, "same structure"),
            (lambda i, x: (i + 1.5, x), DTypeError, "start it as float"),
            (lambda i, x: (i + 1, paddle.sum(x)), ShapeError, "as many dimensions"),
        ):
            before = repr(program)
            with pytest.raises(error, match=text):
                static.nn.while_loop(lambda i, x: i < 3, body, [i, x])
            assert repr(program) == before

    def test_arguments(self, program):
        x = data("x")
        with pytest.raises(TypeError, match="body must be callable"):
            static.nn.while_loop(lambda x: x > 0.0, None, [x])
        with pytest.raises(TypeError, match="loop_vars must be a list"):
            static.nn.while_loop(lambda x: x > 0.0, lambda x: x, x)
        with pytest.raises(ArgumentError, match="loop_vars is empty"):
            static.nn.while_loop(lambda: x > 0.0, lambda: x, [])
        with pytest.raises(TypeError, match=r"list of \(pred, function\)"):
            static.nn.case(x)
        with pytest.raises(ArgumentError, match="pred_fn_pairs is empty"):
            static.nn.case([])
        with pytest.raises(DTypeError, match="must be an integer"):
            static.nn.switch_case(x, [lambda: x])
        with pytest.raises(ArgumentError, match="branch_fns is empty"):
            static.nn.switch_case(paddle.zeros([], "int64"), [])
        with pytest.raises(ArgumentError, match="is there twice"):
            static.nn.switch_case(paddle.zeros([], "int64"), [(1, lambda: x), (1, lambda: x)])

    def test_an_error_inside_leaves_the_program_as_it_was(self, program):
        x = data("x", [2])
        before = repr(program), len(program.blocks)

        def fails():
            static.nn.fc(paddle.reshape(x, [1, 2]), 3)
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            static.nn.while_loop(lambda x: paddle.sum(x) > 0.0, lambda x: fails(), [x])
        p = paddle.sum(x)
        q = p > 0.0
        with pytest.raises(KeyError, match="mine"):
            static.nn.cond(q, lambda: x, fails)
        assert len(program.blocks) == before[1]
        assert not program.all_parameters()
        assert program.current_block() is program.global_block()

    def test_an_error_at_run_time_names_the_line_inside(self, program):
        x = data("x", [None])
        rows = static.data("rows", [None], "int64")
        y = static.nn.cond(
            paddle.sum(x) > 0.0,
            lambda: paddle.gather(x, rows),
            lambda: x,
        )
        with pytest.raises(paddle.errors.ExecutionError, match=r"gather.*test_control_flow\.py"):
            run(program, {"x": np.ones(2), "rows": np.array([9])}, [y])
