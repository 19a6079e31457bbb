"""`Print` and `Assert`: what they do when a program runs, and on Tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import (
    ArgumentError,
    AssertFailedError,
    DTypeError,
    ExecutionError,
    NotATensorError,
    ShapeError,
)

X = np.array([[1.5, -2.0], [0.25, 4.0]], np.float32)


@pytest.fixture
def main() -> Iterator[static.Program]:
    program = static.Program()
    with static.program_guard(program, static.Program()):
        yield program


def data(name: str = "x", shape: tuple[int, ...] = (-1, 2), dtype: str = "float32") -> Any:
    x = static.data(name, shape, dtype)
    x.stop_gradient = False
    return x


def run(program: static.Program, fetches: Any = None, **feed: Any) -> Any:
    return static.Executor().run(program, feed=feed or {"x": X}, fetch_list=fetches)


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The variables that were printed, in order."""
    out = capsys.readouterr().out
    return [line.removeprefix("Variable: ") for line in out.splitlines() if line[:1] == "V"]


# --- Print


def test_what_is_printed(main: static.Program, capsys: pytest.CaptureFixture[str]) -> None:
    x = data()
    y = static.Print(x, message="hello", summarize=3)
    (g,) = static.gradients([y * 2.0], [x])
    found = run(main, [y, g])
    np.testing.assert_array_equal(found[0], X)
    np.testing.assert_array_equal(found[1], np.full_like(X, 2.0))
    # As PaddlePaddle 2.6.2 prints it, but for the digits of the elements and the dots.
    assert capsys.readouterr().out == (
        "Variable: x\n"
        "  - message: hello\n"
        "  - lod: {}\n"
        "  - place: Place(cpu)\n"
        "  - shape: [2, 2]\n"
        "  - layout: NCHW\n"
        "  - dtype: float32\n"
        "  - data: [1.5 -2.0 0.25 ...]\n"
        "Variable: x@GRAD\n"
        "  - message: hello\n"
        "  - lod: {}\n"
        "  - place: Place(cpu)\n"
        "  - shape: [2, 2]\n"
        "  - layout: NCHW\n"
        "  - dtype: float32\n"
        "  - data: [2.0 2.0 2.0 ...]\n"
    )


def test_lines_that_are_left_out(main: static.Program, capsys: pytest.CaptureFixture[str]) -> None:
    static.Print(
        data("n", (-1,), "int64"),
        summarize=-1,
        print_tensor_name=False,
        print_tensor_type=False,
        print_tensor_shape=False,
        print_tensor_layout=False,
        print_tensor_lod=False,
    )
    run(main, n=np.arange(30))
    assert capsys.readouterr().out == (
        f"  - place: Place(cpu)\n  - data: [{' '.join(map(str, range(30)))}]\n"
    )


@pytest.mark.parametrize(
    ("phase", "names"),
    [("forward", ["x"]), ("backward", ["x@GRAD"]), ("both", ["x", "x@GRAD"])],
)
def test_phases(
    main: static.Program, capsys: pytest.CaptureFixture[str], phase: str, names: list[str]
) -> None:
    x = data()
    (g,) = static.gradients([paddle.exp(static.Print(x, print_phase=phase))], [x])
    np.testing.assert_array_equal(run(main, [g])[0], np.exp(X))
    assert shown(capsys) == names


def test_it_is_printed_whatever_is_fetched(
    main: static.Program, capsys: pytest.CaptureFixture[str]
) -> None:
    x = data()
    y = x * 2.0
    static.Print(static.Print(y) * 3.0)
    (g,) = static.gradients([static.Print(x) * 2.0], [x])
    for fetches in (None, [x], [y], [g]):
        run(main, fetches)
        assert len(shown(capsys)) == 4  # three values and a gradient


def test_the_order_is_that_of_the_program(
    main: static.Program, capsys: pytest.CaptureFixture[str]
) -> None:
    x = data()
    for k in range(20):
        static.Print(x + float(k), message=str(k), print_tensor_name=False)
    run(main)
    out = capsys.readouterr().out.splitlines()
    assert [line for line in out if "message" in line] == [f"  - message: {k}" for k in range(20)]


def test_so_many_times_only(main: static.Program, capsys: pytest.CaptureFixture[str]) -> None:
    x = data()
    y = static.Print(x, first_n=2)
    static.Print(x, first_n=1)
    static.gradients([y], [x])
    for expected in (["x", "x", "x@GRAD"], ["x", "x@GRAD"], [], []):
        run(main)
        assert shown(capsys) == expected


def test_gradients_of_any_order_pass(
    main: static.Program, capsys: pytest.CaptureFixture[str]
) -> None:
    x = data()
    y = static.Print(x) ** 3.0
    (first,) = static.gradients([y], [x])
    (second,) = static.gradients([first], [x])
    (third,) = static.gradients([second], [x])
    found = run(main, [first, second, third])
    for value, expected in zip(found, (3 * X**2, 6 * X, np.full_like(X, 6)), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-6)
    assert "x@GRAD@GRAD" not in shown(capsys)[:2]


def test_bits_of_a_training_do_not_change() -> None:
    def trained(printing: bool) -> Any:
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            x = data()
            h = static.nn.fc(x, 3, activation="tanh", weight_attr=_weights())
            h = static.Print(h) if printing else h
            paddle.optimizer.SGD(0.1).minimize(paddle.mean(h * h))
        scope, exe = static.Scope(), static.Executor()
        exe.run(startup, scope=scope)
        for _ in range(3):
            exe.run(main, feed={"x": X}, scope=scope)
        return [np.array(scope.find_var(p.name).get_tensor()) for p in main.all_parameters()]

    for a, b in zip(trained(True), trained(False), strict=True):
        np.testing.assert_array_equal(a, b)


def _weights() -> Any:
    values = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    return paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(values))


def test_print_on_tensors(capsys: pytest.CaptureFixture[str]) -> None:
    x = paddle.to_tensor(X, stop_gradient=False)
    x.name = "x"
    y = static.Print(x)
    assert shown(capsys) == ["x"]
    (y * y).sum().backward()
    assert shown(capsys) == ["x@GRAD"]
    np.testing.assert_array_equal(x.grad.numpy(), 2 * X)
    z = static.Print(x, print_phase="backward")
    (g,) = paddle.grad((z**3.0).sum(), x, create_graph=True)
    (h,) = paddle.grad(g.sum(), x)
    np.testing.assert_allclose(h.numpy(), 6 * X, rtol=1e-6)


def test_print_inside_a_branch_and_a_loop(
    main: static.Program, capsys: pytest.CaptureFixture[str]
) -> None:
    x = data()
    pick = static.data("pick", [1], "bool")
    static.nn.cond(pick, lambda: static.Print(x, message="yes"), lambda: x * 2.0)

    def body(i: Any, v: Any) -> Any:
        return i + 1, static.Print(v + 1.0, message="step")

    static.nn.while_loop(lambda i, v: i < 3, body, [paddle.zeros([1], "int64"), x])
    exe = static.Executor()
    exe.run(main, feed={"x": X, "pick": np.array([True])})
    out = capsys.readouterr().out
    assert out.count("message: yes") == 1
    assert out.count("message: step") == 3
    exe.run(main, feed={"x": X, "pick": np.array([False])})
    assert "message: yes" not in capsys.readouterr().out


def test_the_gradient_of_a_loop_prints_gradients(
    main: static.Program, capsys: pytest.CaptureFixture[str]
) -> None:
    x = data()

    def body(i: Any, v: Any) -> Any:
        return i + 1, static.Print(v * v)

    _, y = static.nn.while_loop(lambda i, v: i < 3, body, [paddle.zeros([1], "int64"), x])
    (g,) = static.gradients([y], [x])
    for fetches in ([g], None):
        run(main, fetches)
        names = shown(capsys)
        assert [name.endswith("@GRAD") for name in names] == [False] * 3 + [True] * 3


def test_what_is_computed_again_is_not_printed_again(
    main: static.Program, capsys: pytest.CaptureFixture[str]
) -> None:
    x = data()
    h = paddle.tanh(x)
    y = paddle.exp(static.Print(paddle.exp(paddle.sin(h)), print_phase="forward"))
    static.append_backward(paddle.mean(paddle.tanh(y)), checkpoints=[h, y])
    run(main)
    assert len(shown(capsys)) == 1


def test_a_report_of_memory_has_no_effects(
    main: static.Program, capsys: pytest.CaptureFixture[str]
) -> None:
    x = data()
    y = static.Print(x) * 2.0
    static.Assert(paddle.all(y > 1e9))
    calls: list[int] = []

    def function(a: Any) -> Any:
        calls.append(1)
        return a

    static.py_func(function, y, main.global_block().create_var("z", [-1, 2]))
    assert static.memory_report(main, {"x": [8, 2]}).peak_bytes > 0
    assert not calls
    assert capsys.readouterr().out == ""
    with pytest.raises(AssertFailedError):
        run(main)


def test_files_hold_both(main: static.Program, capsys: pytest.CaptureFixture[str]) -> None:
    x = data()
    y = static.Print(x * 2.0, message="kept")
    static.Assert(paddle.all(y > -100.0), [y])
    read = static.Program.parse_from_string(main.to_string())
    static.Executor().run(read, feed={"x": X})
    assert "message: kept" in capsys.readouterr().out
    with pytest.raises(AssertFailedError, match=r"test_effects\.py"):
        static.Executor().run(read, feed={"x": X * 100})


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        ({"input": 3.0}, NotATensorError, "input must be a Variable or a Tensor, got float"),
        ({"first_n": "1"}, TypeError, "first_n must be an int"),
        ({"summarize": None}, TypeError, "summarize must be an int"),
        ({"message": 3}, TypeError, "message must be a str"),
        ({"print_phase": "all"}, ArgumentError, "'forward', 'backward' or 'both', got 'all'"),
        ({"print_tensor_lod": 1}, ArgumentError, "print_tensor_lod must be True or False"),
    ],
)
def test_bad_arguments_of_print(
    arguments: dict[str, Any], error: type[Exception], hint: str
) -> None:
    with pytest.raises(error, match=hint):
        static.Print(**{"input": paddle.ones([1]), **arguments})


# --- Assert


def test_a_condition_that_holds(main: static.Program) -> None:
    x = data()
    made = static.Assert(paddle.all(x > -5.0), [x])
    assert isinstance(made, static.Operator)
    run(main)


def test_a_condition_that_does_not_hold(main: static.Program) -> None:
    x = data()
    y = x * 2.0
    positive = paddle.all(x > 0.0)
    static.Assert(positive, [x, y], summarize=2)  # this line
    with pytest.raises(AssertFailedError) as caught:
        run(main, [y])
    text = str(caught.value)
    assert text.splitlines() == [
        text.splitlines()[0],
        "  x: float32[2, 2] [1.5 -2.0 ...]",
        f"  {y.name}: float32[2, 2] [3.0 -4.0 ...]",
    ]
    assert text.startswith("Assert of test_effects.py:")
    assert "# this line) failed: the condition is False" in text
    assert isinstance(caught.value, (AssertionError, ExecutionError))
    run(main, x=np.ones((1, 2), np.float32))


def test_a_failing_condition_stops_before_what_follows(
    main: static.Program, capsys: pytest.CaptureFixture[str]
) -> None:
    x = data()
    static.Print(x, message="before")
    static.nn.Assert(paddle.all(x > 0.0))
    static.Print(x, message="after")
    with pytest.raises(AssertFailedError):
        run(main)
    out = capsys.readouterr().out
    assert "before" in out
    assert "after" not in out


def test_assert_in_a_branch(main: static.Program) -> None:
    x = data()
    check = static.data("check", [], "bool")

    def checked() -> Any:
        static.nn.control_flow.Assert(paddle.all(x > 0.0), [x])
        return x * 1.0

    y = static.nn.cond(check, checked, lambda: x * 2.0)
    run(main, [y], x=X, check=np.array(False))
    with pytest.raises(AssertFailedError, match=r"test_effects.py:\d+"):
        run(main, [y], x=X, check=np.array(True))
    with pytest.raises(AssertFailedError):
        run(main, None, x=X, check=np.array(True))


def test_assert_on_tensors() -> None:
    x = paddle.to_tensor(X)
    assert static.Assert(paddle.all(x > -5.0), [x]) is None
    with pytest.raises(AssertFailedError, match=r"float32\[2, 2\] \[1.5 -2.0 0.25 4.0\]"):
        static.Assert(paddle.all(x > 0.0), x)
    with pytest.raises(AssertFailedError, match="the condition is False"):
        static.Assert(False)


def test_bad_conditions(main: static.Program) -> None:
    x = data()
    with pytest.raises(DTypeError, match=r"cond must be a bool, got float32; compare"):
        static.Assert(x)
    with pytest.raises(ShapeError, match=r"must have one element: reduce it, as with paddle.all"):
        static.Assert(data("y", (2, 2)) > 0.0)
    with pytest.raises(NotATensorError, match="'cond' must be"):
        static.Assert("x > 0")
    with pytest.raises(TypeError, match="summarize must be an int"):
        static.Assert(paddle.all(x > 0.0), summarize=None)
    static.Assert(x > 0.0)
    with pytest.raises(ShapeError, match=r"Assert of test_effects.py:.* has shape \[2, 2\]"):
        run(main)
