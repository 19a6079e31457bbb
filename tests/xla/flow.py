"""Branches and loops through XLA, beside NumPy; run in a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from tests.program import test_control_flow_gradients as flow
from tests.program.test_control_flow_gradients import Random, in_a_program
from tests.xla.steps import Feeds, Training, data, outcomes

nn = static.nn
F = paddle.nn.functional
Build = Callable[..., Any]

X = np.array([0.5, 1.0, 2.0])


def runs(backend: str, program: Any, feeds: Feeds, fetches: list[Any], times: int = 3) -> Any:
    """(what each run returns, the report), where nothing is left to the straight-line function."""
    executor = static.Executor(backend=backend)
    step = executor.prepare(program, feed=list(feeds), fetch_list=fetches)
    found = [step(feeds) for _ in range(times)]
    if backend == "jax":
        assert "run by jax" in repr(step), executor.explain(program, feeds, fetches).reasons
    return found


def same(build: Build, feeds: Feeds, rtol: float = 1e-12) -> list[Any]:
    """What a function of variables returns, and its gradients: by XLA as by NumPy.

    Of what it returns the first is differentiated, and the squares of its gradients again.
    """
    found = []
    for backend in ("numpy", "jax"):
        paddle.seed(3)
        main = static.Program()
        with static.program_guard(main, static.Program()), paddle.utils.unique_name.guard():
            inputs = [data(k, list(v.shape), str(v.dtype)) for k, v in feeds.items()]
            for x in inputs:
                x.stop_gradient = False
            made = build(*inputs)
            fetches = list(made) if isinstance(made, (list, tuple)) else [made]
            value = fetches[0].sum()
            for _ in range(2):
                grads = [g for g in static.gradients(value, inputs[0]) if g is not None]
                if not grads:
                    break
                fetches += grads
                value = (grads[0] * grads[0]).sum()
        found.append(runs(backend, main, feeds, fetches))
    for expected, results in zip(*found, strict=True):
        for a, b in zip(expected, results, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(b, a, rtol, 1e-12)
    last: list[Any] = found[1][-1]
    return last


def iterated(trips: Any, body: Build, x: Any) -> Any:
    """``x = body(i, x)`` for so many iterations, or while a condition on (i, x) holds."""
    goes_on = trips if callable(trips) else lambda i, v: i < trips
    start = [paddle.zeros([], "int64"), x]
    return nn.while_loop(goes_on, lambda i, v: [i + 1, body(i, v)], start)


# --- branches


def gradients_of_branches_not_taken_are_no_gradients() -> None:
    def build(x: Any) -> Any:
        root = paddle.sqrt(x)  # whose derivative at 0 is infinite
        return nn.cond(x.sum() < 0, lambda: root * 2, lambda: x * 3)

    _, slope, _ = same(build, {"x": np.array([0.0, 1.0, 2.0])})
    assert slope.tolist() == [3.0, 3.0, 3.0]


def nothing_stays_nothing() -> None:
    for f in (
        flow.root_in_a_branch_of_a_branch,
        flow.root_in_a_branch_that_nobody_reads,
        flow.root_in_a_loop_of_no_iteration,
        flow.root_in_a_branch_that_no_iteration_takes,
        flow.root_of_what_a_loop_hands_to_nobody,
    ):
        for array in same(f, {"x": np.array([0.0, 1.0, 2.0])}):
            assert np.isfinite(array).all()


def strong_zeros_stay_zeros() -> None:
    def build(x: Any) -> Any:
        return paddle.where(x > 0, paddle.sqrt(x), x)

    with paddle.strong_zeros():
        _, slope, _ = same(build, {"x": np.array([-1.0, 0.0, 4.0])})
    assert slope.tolist() == [1.0, 1.0, 0.25]


def cases_and_switches() -> None:
    def build(x: Any) -> Any:
        total = x.sum()
        pairs = [(total < 1, lambda: x * 2), (total < 3.6, lambda: paddle.sin(x))]
        branches = {1: lambda: x, 3: lambda: x * x, 5: lambda: x + 1}
        chosen = nn.switch_case(paddle.cast(total, "int32"), branches)
        return nn.case(pairs, lambda: paddle.exp(x)) * chosen

    for shift in (0.0, -1.0, 1.0):
        same(build, {"x": X + shift})


# --- loops


def loops_of_no_iteration_of_one_and_of_many() -> None:
    for trips in (0, 1, 2, 40):
        same(lambda x, n=trips: iterated(n, lambda i, v: paddle.sin(v) * x, x)[1], {"x": X})


def newtons_method_and_two_derivatives() -> None:
    def build(a: Any) -> Any:
        (root,) = nn.while_loop(
            lambda r: paddle.abs(r * r - a) > 1e-12, lambda r: [(r + a / r) / 2.0], [a * 1.0]
        )
        return root

    root, slope, _ = same(build, {"a": np.array(2.0)}, rtol=1e-9)
    np.testing.assert_allclose([root, slope], [2.0**0.5, 0.5 / 2.0**0.5], rtol=1e-12)


def loops_that_need_more_memory_than_they_had() -> None:
    def below(i: Any, v: Any) -> Any:
        return (i < 100) & (v.sum() < 1e9)

    def inner(i: Any, v: Any) -> Any:
        def goes_on(j: Any, w: Any) -> Any:
            return (j < 20 * i) & (w.sum() < 1e9)

        return iterated(goes_on, lambda j, w: paddle.sin(w) + 0.1 * v, v)[1]

    same(lambda x: iterated(below, lambda i, v: paddle.sin(v) * x, x)[1], {"x": X})
    nested = lambda x: iterated(lambda i, v: (i < 4) & (v.sum() < 1e9), inner, x)[1]  # noqa: E731
    same(nested, {"x": X})


def sizes_that_change_and_indices_that_must_be_known() -> None:
    def build(x: Any) -> Any:
        _, longer = iterated(2, lambda i, v: paddle.concat([v, x]), x)
        _, read = iterated(3, lambda i, v: v + x[i] * v, x)
        return longer.sum() * read

    same(build, {"x": X})


def random_numbers_in_branches_and_loops() -> None:
    def body(i: Any, v: Any) -> Any:
        return v * F.dropout(v, 0.5) * 0.5 + paddle.rand([3], "float64")

    def build(x: Any) -> Any:
        before = paddle.rand([3], "float64")
        _, a = iterated(3, body, x)
        _, b = iterated(lambda i, v: (i < 40) & (v.sum() < 1e9), body, x)  # drawn twice
        c = nn.cond(b.sum() > 0, lambda: paddle.rand([3], "float64"), lambda: x)
        return a + b + c, before, paddle.rand([3], "float64")

    same(build, {"x": X})


def dtypes_stay() -> None:
    def build(x: Any) -> Any:
        start = [paddle.zeros([], "int32"), paddle.cast(x, "float32"), paddle.cast(x, "int16")]
        made = nn.while_loop(
            lambda i, v, w, b: i < 4,
            lambda i, v, w, b: [i + 1, v * 2, w + 1, paddle.logical_not(b)],
            [*start, x > 1],
        )
        floats = made[1]
        half = nn.cond(
            x.sum() > 0, lambda: x.astype("float16"), lambda: floats.astype("float16")
        )
        return floats, half, *made

    same(build, {"x": X})


def gradients_inside_of_loops() -> None:
    def body(i: Any, v: Any) -> Any:
        y = nn.cond(v.sum() > 1, lambda: paddle.sin(v), lambda: v * v)
        (slope,) = static.gradients(y.sum(), v)
        return v - 0.1 * slope

    same(lambda x: iterated(3, body, x)[1], {"x": X})


def arrays_of_tensors() -> None:
    def build(x: Any) -> Any:
        def body(i: Any, v: Any, array: Any) -> list[Any]:
            array = paddle.tensor.array_write(v, i, array)
            return [i + 1, paddle.sin(v) * x, array]

        start = [paddle.zeros([1], "int64"), x, paddle.tensor.create_array("float64")]
        _, v, array = nn.while_loop(lambda i, v, array: i < 4, body, start)
        third = paddle.tensor.array_read(array, paddle.full([1], 2, "int64"))
        return third * v, paddle.tensor.array_length(array)

    same(build, {"x": X})


def arrays_of_tensors_whose_places_depend_on_values() -> None:
    def build(x: Any) -> Any:
        def fill(i: Any, v: Any, array: Any) -> list[Any]:
            array = paddle.tensor.array_write(v * x, i, array)
            return [i + 1, paddle.sin(v) * x, array]

        def total(j: Any, s: Any, array: Any) -> list[Any]:
            return [j + 1, s + paddle.tensor.array_read(array, j) ** 2, array]

        def below(i: Any, v: Any, array: Any) -> Any:
            return (i < 40) & (v.sum() < 1e9)  # more than it has memory for at first

        zero = paddle.zeros([1], "int64")
        empty = paddle.tensor.create_array("float64")
        _, v, array = nn.while_loop(below, fill, [zero, x, empty])
        length = paddle.tensor.array_length(array)
        _, s, _ = nn.while_loop(lambda j, s, array: j < length, total, [zero, x * 0.0, array])
        third = paddle.tensor.array_read(array, paddle.full([1], 2, "int64"))
        return s * v + third, length

    *_, length, _, _ = same(build, {"x": X}, rtol=1e-9)
    assert length.tolist() == [40]


def places_of_arrays_are_checked() -> None:
    def build() -> Any:
        x, k = data("x", [3], "float64"), data("k", [1], "int64")
        array = paddle.tensor.array_write(x, k)
        return paddle.tensor.array_read(array, k * (k < 3).astype("int64")).sum()

    training = Training(build, {"x": X, "k": np.array([2])}, "jax")
    assert training.losses(3).tolist() == [3.5, 3.5, 3.5]
    training.feeds = {"x": X, "k": np.array([4])}
    with pytest.raises(paddle.errors.ExecutionError, match=r"flow\.py:.*nothing was written"):
        training.losses(1)


def a_gradient_that_was_given() -> None:
    def build(x: Any) -> Any:
        y = nn.static_pylayer(paddle.tanh, [x], lambda g: g * (1 - paddle.tanh(x) ** 2))
        return y * y

    same(build, {"x": X})


# --- what is out of order


def checks_inside_of_blocks_are_of_what_runs() -> None:
    def by_branch(x: Any, k: Any, table: Any) -> Any:
        return nn.cond(x.sum() > 0, lambda: F.embedding(k, table).sum(), lambda: table.sum())

    def by_iterations(x: Any, k: Any, table: Any) -> Any:
        def body(i: Any, v: Any) -> Any:
            return v + F.embedding(k, table).sum()

        return iterated(3, body, x.sum())[1]

    def until(x: Any, k: Any, table: Any) -> Any:
        def body(i: Any, v: Any) -> Any:
            return v + F.embedding(k, table).sum() ** 2 + 1

        return iterated(lambda i, v: v < x.sum() + 4, body, x.sum())[1]

    fine = {"x": np.ones([4], "f"), "k": np.array([1, 2])}
    out = {"x": np.ones([4], "f"), "k": np.array([1, 7])}
    for value in (by_branch, by_iterations, until):

        def build(value: Build = value) -> Any:
            table = paddle.create_parameter([5, 3], "float32")
            loss = value(data("x", [4]), data("k", [2], "int64"), table)
            paddle.optimizer.SGD(0.001).minimize(loss)
            return loss

        by_numpy, by_xla = (Training(build, fine, backend) for backend in ("numpy", "jax"))
        expected, losses = by_numpy.losses(3), by_xla.losses(3)
        before = by_xla.state()
        by_xla.feeds = out
        with pytest.raises(paddle.errors.ExecutionError, match=r"flow\.py:.*7 is out of range"):
            by_xla.losses(1)
        for name, array in by_xla.state().items():
            np.testing.assert_array_equal(array, before[name])
        if value is by_branch:
            for training in (by_numpy, by_xla):
                training.feeds = {**out, "x": -out["x"]}
            expected, losses = (
                np.append(a, t.losses(1)) for a, t in ((expected, by_numpy), (losses, by_xla))
            )
        by_numpy.feeds = by_xla.feeds = fine
        expected, losses = (
            np.append(a, t.losses(3)) for a, t in ((expected, by_numpy), (losses, by_xla))
        )
        np.testing.assert_allclose(losses, expected, rtol=1e-5)
        assert "run by jax" in repr(by_xla.step)


def training_goes_on_where_a_loop_got_more_memory() -> None:
    def build() -> Any:
        n = data("n", [], "int64")
        w = paddle.create_parameter([3], "float32")
        _, v = iterated(lambda i, v: i < n, lambda i, v: paddle.tanh(v * w + 0.1), w * 1.0)
        loss = (v * v).sum()
        paddle.optimizer.Adam(0.01).minimize(loss)
        return loss

    found = []
    for backend in ("numpy", "jax"):
        training = Training(build, {"n": np.array(3)}, backend)
        losses, most = [], 1
        for n in (3, 0, 33, 100, 5):
            training.feeds = {"n": np.array(n)}
            losses += list(training.losses(2))
            if backend == "jax":  # the text is of what runs now
                most = max(most, n)
                rows = max(32, 1 << (most - 1).bit_length())
                assert f"tensor<{rows}x3x" in training.report().source
        found.append(losses)
        if backend == "jax":
            assert "run by jax" in repr(training.step)
            ((limit),) = training.step.binding.compiled.limits.values()
            assert limit == 128
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)


def printed(build: Callable[[], Any], feeds: Feeds, backend: str) -> Any:
    """(lines that a run prints, what it returns)"""
    main = static.Program()
    with static.program_guard(main, static.Program()), paddle.utils.unique_name.guard():
        fetches = build()
    executor, text = static.Executor(backend=backend), io.StringIO()
    with contextlib.redirect_stdout(text):
        found = executor.prepare(main, list(feeds), fetches)(feeds)
        report = executor.explain(main, feeds, fetches)
    assert report.backend == ("jax" if backend == "jax" else "python"), report.reasons
    return text.getvalue().splitlines(), found


def what_is_printed_is_printed_once_and_in_order() -> None:
    """In loops, in branches, of gradients; also where a loop needs more memory than it had."""

    def body(i: Any, v: Any) -> Any:
        return static.Print(paddle.tanh(v), first_n=3, message="within")

    def build() -> Any:
        x, n = data("x", [3], "float64"), data("n", [], "int64")
        x.stop_gradient = False
        shown = static.Print(x, message="before")
        y = iterated(lambda i, v: i < n, body, shown)[1]
        y = nn.cond(y.sum() > 0, lambda: static.Print(y, message="positive"), lambda: y * 2)
        return [y, *static.gradients(y.sum(), x)]

    feeds = {"x": X, "n": np.array(40)}
    (lines, expected), (found, results) = (printed(build, feeds, b) for b in ("numpy", "jax"))
    assert len(lines) == 80  # of ten that are told
    named = [line for line in lines if "data" not in line]
    assert [line for line in found if "data" not in line] == named
    np.testing.assert_allclose(results, expected, 1e-12)


def what_is_asserted_is_checked() -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = data("x", [3], "float64")
        static.Assert(paddle.all(x > 0), [static.Print(x)])
        y = (x * 2).sum()
    executor, text = static.Executor(backend="jax"), io.StringIO()
    step = executor.prepare(main, ["x"], [y])
    with contextlib.redirect_stdout(text):
        assert step(X)[0] == 7.0
        with pytest.raises(AssertionError, match=r"flow\.py.*failed: the condition is False"):
            step(X - 1)
        assert step(X)[0] == 7.0
    assert executor.explain(main, {"x": X}, [y]).backend == "jax"
    assert text.getvalue().count("data: [") == 3


def what_has_an_effect_in_its_place_is_named() -> None:
    def build() -> Any:
        x = data("x", [3], "float64")
        out = static.default_main_program().current_block().create_var(
            name="out", dtype="float64", shape=[3]
        )
        return nn.py_func(lambda v: v, x, out).sum()

    by_xla = Training(build, {"x": X}, "jax")
    assert by_xla.losses(3).tolist() == [3.5, 3.5, 3.5]
    assert any("py_func" in r and "flow.py" in r for r in by_xla.report().reasons)


def what_numpy_computes_in_a_loop_is_shown() -> None:
    def build() -> Any:
        ids = data("ids", [3], "int64")  # of a range that is known only then
        return iterated(3, lambda i, v: paddle.histogram(v, 3), ids)[1].sum()

    feeds = {"ids": np.array([2, 4, 7])}
    by_numpy, by_xla = (Training(build, feeds, backend) for backend in ("numpy", "jax"))
    np.testing.assert_allclose(by_xla.losses(3), by_numpy.losses(3))
    (back,) = by_xla.report().called_back()
    assert back.operation == "histogram"
    assert "flow.py" in back.line


# --- loops that are written out


def unrolled(build: Build, feeds: Feeds) -> tuple[str, Any]:
    """(the loops that were found, a step): a function and its gradients agree with NumPy."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        inputs = [data(k, list(v.shape), str(v.dtype)) for k, v in feeds.items()]
        for x in inputs:
            x.stop_gradient = x.dtype == paddle.int64
        made = build(*inputs)
        fetches = list(made) if isinstance(made, tuple) else [made]
        wanted = [x for x in inputs if not x.stop_gradient]
        fetches += static.gradients(sum(v.sum() for v in fetches), wanted)
    executor = static.Executor(backend="jax")
    step = executor.prepare(main, feed=list(feeds), fetch_list=fetches)
    expected = static.Executor(backend="numpy").run(main, feeds, fetches)
    for a, b in zip(step(feeds), expected, strict=True):
        np.testing.assert_allclose(a, b, 1e-12, 1e-12)
    assert "run by jax" in repr(step)
    return str(executor.explain(main, feeds, fetches).facts.get("loops", "")), step


def loops_that_are_written_out_are_loops() -> None:
    def build(x: Any, w: Any) -> Any:
        h, before = paddle.zeros([3, 4], "float64"), x[0]
        states = []
        for t in range(12):
            gates = F.sigmoid(x[t] + h @ w) * x[-1 - t, :, :]
            h, before = paddle.tanh(gates + before) * 0.5 + paddle.cos(h * (0.1 * t)), h
            h = h + x[t : t + 2].sum(0)
            states.append(h)
        return paddle.stack(states), states[3]

    rng = np.random.default_rng(0)
    feeds = {"x": rng.standard_normal((14, 3, 4)), "w": rng.standard_normal((4, 4)) / 4}
    loops, _ = unrolled(build, feeds)
    assert re.fullmatch(r"1[0-2] rounds of \d+, (9|1[0-2]) rounds of \d+", loops)


def rounds_look_up_rows_and_check_their_places() -> None:
    def build(table: Any, ids: Any) -> Any:
        y = table[0]
        for t in range(10):
            row = paddle.gather(table, ids[:, t])[0]
            y = paddle.tanh(y * row) + 0.1 * paddle.sin(y) - y * row * 0.3 + paddle.cos(row)
        return y

    rng = np.random.default_rng(1)
    feeds: Feeds = {"table": rng.standard_normal((5, 3)), "ids": rng.integers(0, 5, (2, 10))}
    loops, step = unrolled(build, feeds)
    assert "rounds" in loops
    feeds["ids"][1, 7] = 5
    with pytest.raises(paddle.errors.ExecutionError, match=r"flow\.py:.*index 5 is out of range"):
        step(feeds)


def rounds_write_at_places() -> None:
    def build(x: Any) -> Any:
        y, out = x[0], paddle.zeros([12, 3], "float64")
        for t in range(12):
            y = paddle.tanh(y + x[t]) * y + 0.1 * paddle.sin(y) - paddle.cos(x[t] * y)
            out = paddle.static.setitem(out, (11 - t, slice(None)), y)
        return out * x

    rng = np.random.default_rng(2)
    assert "rounds" in unrolled(build, {"x": rng.standard_normal((12, 3))})[0]


def no_gradient_comes_through_rounds_as_none() -> None:
    """Infinite derivatives in a loop behind which only a branch that is not taken reads on."""

    def build(x: Any) -> Any:
        y = x - x  # of which the root is infinitely steep
        for _ in range(12):
            y = paddle.sqrt(y) * x + paddle.abs(y) * y * 0.1 + y * paddle.sin(x) - y * 0.3
        return nn.cond(x.sum() < 0, lambda: y.sum() * x, lambda: x * 3)

    with np.errstate(all="ignore"):
        taken, gradient = same(build, {"x": X})[:2]
    assert taken.tolist() == [1.5, 3.0, 6.0]
    assert gradient.tolist() == [3.0] * 3


def what_xla_cannot_have_in_a_loop_is_written_out() -> None:
    def build(x: Any) -> Any:
        y = x
        for t in range(12):  # the sizes of what is padded are numbers of the program
            y = paddle.tanh(paddle.roll(y, t, 0)) * y + 0.1 * paddle.sin(y) * paddle.cos(y) + y
        return y

    assert unrolled(build, {"x": X})[0] == ""


# --- random programs


def agrees(seed: int, orders: int) -> None:
    f = Random(seed).function()
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=3), rng.normal(size=3)]
    program, values, grads = in_a_program(f, arrays, orders)
    fetches = [v for v in (*values, *(g for found in grads for g in found)) if v is not None]
    feeds = {f"x{k}": a for k, a in enumerate(arrays)}
    by_numpy, by_xla = (runs(b, program, feeds, fetches) for b in ("numpy", "jax"))
    for a, b in zip(by_numpy[-1], by_xla[-1], strict=True):
        np.testing.assert_allclose(b, a, 1e-7, 1e-9 * max(1.0, np.abs(a).max()), err_msg=str(seed))


def some_random_functions() -> None:
    for seed in (1, 8, 12):
        agrees(seed, 2)
    agrees(8, 3)


def random_programs_of_two_orders() -> None:
    for seed in (2, 7, 16):
        agrees(seed, 2)


TESTS = {
    f.__name__: f
    for f in (
        gradients_of_branches_not_taken_are_no_gradients,
        nothing_stays_nothing,
        strong_zeros_stay_zeros,
        cases_and_switches,
        loops_of_no_iteration_of_one_and_of_many,
        newtons_method_and_two_derivatives,
        loops_that_need_more_memory_than_they_had,
        sizes_that_change_and_indices_that_must_be_known,
        random_numbers_in_branches_and_loops,
        dtypes_stay,
        gradients_inside_of_loops,
        arrays_of_tensors,
        arrays_of_tensors_whose_places_depend_on_values,
        places_of_arrays_are_checked,
        a_gradient_that_was_given,
        checks_inside_of_blocks_are_of_what_runs,
        training_goes_on_where_a_loop_got_more_memory,
        what_is_printed_is_printed_once_and_in_order,
        what_is_asserted_is_checked,
        what_has_an_effect_in_its_place_is_named,
        what_numpy_computes_in_a_loop_is_shown,
        loops_that_are_written_out_are_loops,
        rounds_look_up_rows_and_check_their_places,
        rounds_write_at_places,
        no_gradient_comes_through_rounds_as_none,
        what_xla_cannot_have_in_a_loop_is_written_out,
        some_random_functions,
        random_programs_of_two_orders,
    )
}

if __name__ == "__main__":
    paddle.enable_static()
    print(json.dumps(outcomes(TESTS, sys.argv[1:])))
