"""`py_func`: functions of the user's inside programs."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import (
    ArgumentError,
    BuildError,
    DTypeError,
    ModeError,
    NotATensorError,
    NotDifferentiableError,
    ShapeError,
)

X = np.array([[1.5, -2.0], [0.25, 4.0]], np.float32)


@pytest.fixture
def main() -> Iterator[static.Program]:
    program = static.Program()
    with static.program_guard(program, static.Program()):
        yield program


def data(name: str = "x", dtype: str = "float32") -> Any:
    x = static.data(name, [-1, 2], dtype)
    x.stop_gradient = dtype != "float32"
    return x


def out(name: str, shape: Any = (-1, 2), dtype: str = "float32") -> Any:
    block = static.default_main_program().current_block()
    return block.create_var(name=name, shape=list(shape), dtype=dtype)


def run(program: static.Program, fetches: Any = None, **feed: Any) -> Any:
    return static.Executor().run(program, feed=feed or {"x": X}, fetch_list=fetches)


# --- values


def test_a_function(main: static.Program) -> None:
    x = data()
    y = out("y")
    assert static.py_func(np.tanh, x, y) is y
    assert static.nn.py_func is static.py_func
    z = y * 2.0
    found = run(main, [y, z])
    np.testing.assert_array_equal(found[0], np.tanh(X))
    np.testing.assert_array_equal(found[1], 2 * np.tanh(X))
    assert [op.type for op in main.global_block().ops][:1] == ["py_func"]
    assert run(main, ["y"], x=X[:1])[0].shape == (1, 2)


def test_several_inputs_and_outputs(main: static.Program) -> None:
    x, n = data(), data("n", "int64")
    outs = [out("total"), out("count", [], "int64")]

    def both(a: Any, b: Any) -> Any:
        return [a + b.astype("float32"), int(b.size)]

    assert static.py_func(both, [x, n], outs) is outs
    found = run(main, outs, x=X, n=np.ones((2, 2), "int64"))
    np.testing.assert_array_equal(found[0], X + 1)
    assert (found[1].dtype, found[1].tolist()) == (np.int64, 4)


def test_without_outputs_it_runs_each_time_in_its_place(main: static.Program) -> None:
    seen: list[str] = []
    x = data()
    static.py_func(lambda a: seen.append(f"x {a.shape}"), x, None)
    y = x * 2.0
    static.py_func(lambda: seen.append("nothing"), None, None)
    static.py_func(lambda a: seen.append(f"y {a[0, 0]}"), y, None)
    for fetches in (None, [x], [y]):
        run(main, fetches)
        assert seen == ["x (2, 2)", "nothing", "y 3.0"]
        seen.clear()


def test_without_inputs(main: static.Program) -> None:
    count = iter(range(10))
    y = static.py_func(lambda: np.float32(next(count)), None, out("y", []))
    assert [run(main, [y])[0].item() for _ in range(3)] == [0.0, 1.0, 2.0]


def test_python_numbers_take_the_declared_dtype(main: static.Program) -> None:
    static.py_func(lambda x: [[1, 2.5]], data(), [out("y", [1, 2])])
    with pytest.raises(ShapeError):  # a list is one value for each output
        run(main)
    with static.program_guard(static.Program()):
        y = static.py_func(lambda x: ([[1, 2.5]],), data(), out("y", [1, 2]))
        (found,) = run(static.default_main_program(), [y])
    assert (found.dtype, found.tolist()) == (np.float32, [[1.0, 2.5]])


def test_what_a_function_keeps_does_not_change_values(main: static.Program) -> None:
    buffer = np.zeros((2, 2), np.float32)

    def filled(a: Any) -> Any:
        buffer[:] = a
        return buffer

    x = data()
    y = static.py_func(filled, x, out("y"))
    z = static.py_func(filled, x * 2.0, out("z"))
    found = run(main, [y, z])
    np.testing.assert_array_equal(found[0], X)
    np.testing.assert_array_equal(found[1], 2 * X)


def test_operands_cannot_be_written(main: static.Program) -> None:
    def careless(a: Any) -> Any:
        a *= 2.0
        return a

    static.py_func(careless, data(), out("y"))
    fed = X.copy()
    with pytest.raises(ValueError, match="read-only") as caught:
        run(main, x=fed)
    assert "x = x.copy()" in caught.value.__notes__[0]
    np.testing.assert_array_equal(fed, X)


def test_a_persistable_output_is_kept_between_runs(main: static.Program) -> None:
    steps = static.create_global_var([], 0.0, "float32", persistable=True, name="steps")
    before = steps * 1.0
    counted = main.global_block().create_var("counted", [], "float32", persistable=True)
    static.py_func(lambda n: n + np.float32(1), before, counted)
    scope, exe = static.Scope(), static.Executor()
    exe.run(static.default_startup_program(), scope=scope)
    exe.run(main, scope=scope)
    assert np.array(scope.find_var("counted").get_tensor()) == 1.0


def test_in_a_branch(main: static.Program) -> None:
    x = data()
    pick = static.data("pick", [], "bool")
    calls: list[int] = []

    def tanh(a: Any) -> Any:
        calls.append(1)
        return np.tanh(a)

    def branch() -> Any:
        return static.py_func(tanh, x, out("inside"), lambda a, y, dy: dy * (1 - y * y))

    y = static.nn.cond(pick, branch, lambda: x * 2.0)
    (g,) = static.gradients([y], [x])
    found = run(main, [y, g], x=X, pick=np.array(False))
    assert not calls
    np.testing.assert_array_equal(found[1], np.full_like(X, 2))
    found = run(main, [y, g], x=X, pick=np.array(True))
    assert calls == [1]
    np.testing.assert_allclose(found[1], 1 - np.tanh(X) ** 2, rtol=1e-6)


# --- gradients


def test_a_gradient(main: static.Program) -> None:
    x = data()
    y = static.py_func(np.tanh, x, out("y"), lambda x, y, dy: dy * (1 - y * y))
    (g,) = static.gradients([y * 3.0], [x])
    (h,) = static.gradients([paddle.tanh(x) * 3.0], [x])
    found = run(main, [g, h])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_what_backward_gets(main: static.Program) -> None:
    seen: list[Any] = []

    def backward(*arrays: Any) -> Any:
        seen.append([a.tolist() for a in arrays])
        assert not any(a.flags.writeable for a in arrays)
        return arrays[-1] * 2, None

    def forward(a: Any, b: Any) -> Any:
        return a + b, a - b

    def built(skip: Any) -> Any:
        a, b = data("a"), data("b")
        _, v = static.py_func(forward, [a, b], [out("u"), out("v")], backward, skip(a, b))
        return static.gradients([v * 5.0], [a, b])

    feed = {"a": np.ones((1, 2), "float32"), "b": np.zeros((1, 2), "float32")}
    gradients = built(lambda a, b: None)
    found = run(main, gradients, **feed)
    assert found[0].tolist() == [[10, 10]]
    assert found[1].tolist() == [[0, 0]]
    one, zero, five = [[1.0, 1.0]], [[0.0, 0.0]], [[5.0, 5.0]]
    assert seen == [[one, zero, one, one, zero, five]]  # what nothing is computed from has zeros
    for skip, expected in (
        (lambda a, b: a, [zero, one, one]),
        (lambda a, b: [a, b], [one, one]),
        (lambda a, b: (b, "u"), [one, one]),
        (lambda a, b: [a, b, "u", "v"], []),
    ):

        def chosen(a: Any, b: Any, skip: Any = skip) -> Any:
            block = static.default_main_program().global_block()
            named = skip(a, b)
            if isinstance(named, (list, tuple)):
                return [block.var(v) if isinstance(v, str) else v for v in named]
            return named

        seen.clear()
        with static.program_guard(static.Program()):
            run(static.default_main_program(), built(chosen), **feed)
        assert seen == [[*expected, zero, five]]


def test_without_backward_no_gradient_flows(main: static.Program) -> None:
    x = data()
    y = static.py_func(np.tanh, x, out("y"))
    assert static.gradients([y * 2.0], [x]) == [None]
    g, h = static.gradients([y * 2.0 + x], [x, y])
    found = run(main, [g, h])
    np.testing.assert_array_equal(found[0], np.ones_like(X))
    np.testing.assert_array_equal(found[1], np.full_like(X, 2))


def test_a_network_trains_through_it() -> None:
    def losses(custom: bool) -> list[float]:
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            start = paddle.nn.initializer.Constant(0.3)
            h = static.nn.fc(data(), 2, weight_attr=paddle.ParamAttr(initializer=start))
            if custom:
                h = static.py_func(lambda x: x * x, h, out("h"), lambda x, y, dy: 2 * x * dy)
            else:
                h = h * h
            loss = paddle.mean(h)
            paddle.optimizer.SGD(0.05).minimize(loss)
        scope, exe = static.Scope(), static.Executor()
        exe.run(startup, scope=scope)
        return [
            exe.run(main, feed={"x": X}, fetch_list=[loss], scope=scope)[0].item() for _ in range(5)
        ]

    assert losses(True) == pytest.approx(losses(False), rel=1e-6)
    assert losses(True)[-1] < losses(True)[0]


def test_there_is_no_second_derivative(main: static.Program) -> None:
    x = data()
    y = static.py_func(np.tanh, x, out("y"), lambda x, y, dy: dy * (1 - y * y))  # here
    (g,) = static.gradients([y], [x])
    with pytest.raises(NotDifferentiableError, match=r"test_py_func.py:\d+ .*# here.*no second"):
        static.gradients([g], [x])
    np.testing.assert_allclose(run(main, [g])[0], 1 - np.tanh(X) ** 2, rtol=1e-5)


# --- mistakes


def test_an_exception_comes_through(main: static.Program) -> None:
    class MyError(Exception):
        pass

    def broken(a: Any) -> Any:
        raise MyError("mine")

    x = data()
    y = static.py_func(broken, x, out("y"))
    with pytest.raises(MyError, match="mine") as caught:
        run(main, [y])
    assert type(caught.value) is MyError
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "broken"
    assert "in the py_func of test_py_func.py" in caught.value.__notes__[0]


def test_an_exception_of_backward_comes_through(main: static.Program) -> None:
    def broken(x: Any, y: Any, dy: Any) -> Any:
        return {}["missing"]

    x = data()
    y = static.py_func(np.tanh, x, out("y"), broken)
    (g,) = static.gradients([y], [x])
    with pytest.raises(KeyError, match="missing"):
        run(main, [g])


@pytest.mark.parametrize(
    ("function", "error", "hint"),
    [
        (lambda a: a.T[:1], ShapeError, r"returned shape \[1, 2\] for y, which is .*\[2, 2\]"),
        (lambda a: a.astype("float64"), DTypeError, r"float64 for y, .* use .astype\('float32'\)"),
        (lambda a: None, NotATensorError, "returned None for y; return an ndarray"),
        (lambda a: (a, a), ArgumentError, r"returned 2 values for 1 \(y\); return one for each"),
        (lambda a: "text", NotATensorError, "returned a str for y; return an ndarray"),
        (lambda a: ([[1], [2, 3]],), NotATensorError, "returned a list for y; return an ndarray"),
        (lambda a: 1.0, ShapeError, r"returned shape \[\] for y"),
    ],
)
def test_results_are_held_to_what_is_declared(
    main: static.Program, function: Any, error: type[Exception], hint: str
) -> None:
    static.py_func(function, data(), out("y", [2, 2]))  # this very line
    with pytest.raises(error, match=hint) as caught:
        run(main)
    assert "# this very line" in str(caught.value)
    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("function", "error", "hint"),
    [
        (lambda x, y, g: g[:1], ShapeError, r"returned shape \[1, 2\] as the gradient of x"),
        (lambda x, y, g: g.astype("float64"), DTypeError, "float64 as the gradient of x"),
        (lambda x, y, g: (g, g), ArgumentError, r"returned 2 values for 1 \(x\)"),
    ],
)
def test_gradients_are_held_to_the_inputs(
    main: static.Program, function: Any, error: type[Exception], hint: str
) -> None:
    x = data()
    y = static.py_func(np.tanh, x, out("y"), function)
    (g,) = static.gradients([y], [x])
    with pytest.raises(error, match=hint):
        run(main, [g])


def test_bad_arguments(main: static.Program) -> None:
    x = data()
    y = out("y")
    with pytest.raises(TypeError, match="func must be a function, got None"):
        static.py_func(None, x, y)
    with pytest.raises(TypeError, match="backward_func must be a function, got an int"):
        static.py_func(np.tanh, x, y, 3)
    with pytest.raises(NotATensorError, match="x must be a Variable"):
        static.py_func(np.tanh, 3.0, y)
    with pytest.raises(NotATensorError, match=r"out\[1\] must be a Variable"):
        static.py_func(np.tanh, x, [y, "z"])
    with pytest.raises(ArgumentError, match=r"x is fed, .*current_block\(\)\.create_var\("):
        static.py_func(np.tanh, x, x)
    with pytest.raises(ArgumentError, match="y is named twice"):
        static.py_func(np.tanh, x, [y, y])
    with pytest.raises(ArgumentError, match="names z, and what backward_func gets"):
        static.py_func(np.tanh, x, y, lambda *a: a[0], [out("z")])
    with static.program_guard(static.Program()):
        other = data()
    with pytest.raises(BuildError, match="y belongs to another program"):
        static.py_func(np.tanh, other, y)
    assert not main.global_block().ops


def test_in_eager_mode() -> None:
    x = paddle.to_tensor(X)
    with pytest.raises(ModeError, match=r"paddle.autograd.PyLayer or paddle.autograd.defop"):
        static.py_func(np.tanh, x, x)
