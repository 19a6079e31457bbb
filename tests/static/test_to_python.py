"""`Program.to_python`: text that does what the program does, and says what that is."""

import ast
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, BuildError
from tests.golden.programs import PROGRAMS, Built, build

static = paddle.static
F = paddle.nn.functional

pytestmark = pytest.mark.usefixtures("static_mode")


def made_by(function: Callable[[], tuple[dict[str, Any], list[Any]]]) -> Built:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        feed, fetches = function()
    return Built(main, startup, feed, fetches)


def run_text(text: str, scope: Any, feed: dict[str, Any], name: str = "program") -> list[Any]:
    """Execute the text as a module of its own, with what the program would read."""
    space: dict[str, Any] = {"__name__": "generated"}
    exec(compile(text, "<to_python>", "exec"), space)
    values = [feed[n] if n in feed else scope.find_var(n).value for n in space["INPUTS"]]
    results = space[name](*values)
    return list(zip(space["OUTPUTS"], results, strict=True))


def agree(built: Built, exe: Any, fetches: list[Any] | None = None) -> str:
    """The text computes the bits that the executor computes, fetches and updates; the text."""
    exe.run(built.startup)
    scope = static.global_scope()
    wanted = built.fetches if fetches is None else fetches
    text = str(built.main.to_python(wanted))
    paddle.seed(11)
    from_text = run_text(text, scope, built.feed)
    paddle.seed(11)
    fetched = exe.run(built.main, feed=built.feed, fetch_list=wanted)
    for (name, value), expected in zip(from_text, fetched, strict=False):
        same(name, value, expected)
    assert len(from_text) >= len(fetched)
    for name, value in from_text[len(fetched) :]:
        same(name, value, scope.find_var(name).value)
    return text


def same(name: str, value: Any, expected: Any) -> None:
    value, expected = np.asarray(value), np.asarray(expected)
    assert (value.shape, value.dtype) == (expected.shape, expected.dtype), name
    assert value.tobytes() == expected.tobytes(), name


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_has_the_bits_of_the_executor(name: str, exe: Any) -> None:
    text = agree(build(name), exe)
    ast.parse(text)
    assert "_grad(" not in text, "a gradient operator is left"


@pytest.mark.parametrize("name", PROGRAMS)
def test_lines_are_of_a_width_that_can_be_read(name: str, exe: Any) -> None:
    built = build(name)
    code = [
        line.partition("  # ")[0]
        for line in built.main.to_python(built.fetches).splitlines()
        if not line.lstrip().startswith("#")
    ]
    assert max(map(len, code)) <= 120


OPTIMIZERS = {
    "SGD": lambda: paddle.optimizer.SGD(0.1),
    "Momentum": lambda: paddle.optimizer.Momentum(0.1, use_nesterov=True),
    "Adam": lambda: paddle.optimizer.Adam(0.1),
    "AdamW": lambda: paddle.optimizer.AdamW(0.1, weight_decay=0.1),
    "Adagrad": lambda: paddle.optimizer.Adagrad(0.1),
    "Adadelta": lambda: paddle.optimizer.Adadelta(0.1),
    "Adamax": lambda: paddle.optimizer.Adamax(0.1),
    "RMSProp": lambda: paddle.optimizer.RMSProp(0.1, centered=True, momentum=0.9),
    "Lamb": lambda: paddle.optimizer.Lamb(0.1),
    "decay and clip": lambda: paddle.optimizer.SGD(
        0.1,
        weight_decay=paddle.regularizer.L2Decay(0.1),
        grad_clip=paddle.nn.ClipGradByGlobalNorm(0.01),
    ),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_updates(name: str, exe: Any) -> None:
    def program() -> Any:
        x = static.data("x", [None, 3])
        loss = paddle.mean(paddle.square(static.nn.fc(x, 2)))
        OPTIMIZERS[name]().minimize(loss)
        return {"x": np.ones((2, 3), "float32")}, [loss]

    built = made_by(program)
    before = agree(built, exe)
    assert "# --- updates" in before


def test_three_steps_of_the_text_are_three_runs(exe: Any) -> None:
    built = build("mlp_and_adam")
    exe.run(built.startup)
    scope = static.global_scope()
    space: dict[str, Any] = {}
    exec(built.main.to_python(built.fetches), space)
    state = {n: scope.find_var(n).value for n in space["INPUTS"] if n not in built.feed}
    losses = []
    for _ in range(3):
        results = space["program"](*({**state, **built.feed}[n] for n in space["INPUTS"]))
        losses.append(results[0])
        state.update(zip(space["OUTPUTS"][1:], results[1:], strict=True))
    for loss in losses:
        same("loss", loss, exe.run(built.main, feed=built.feed, fetch_list=built.fetches)[0])
    for name, value in state.items():
        same(name, value, scope.find_var(name).value)


def test_a_program_with_its_own_seed_draws_the_same_numbers_in_each_run(exe: Any) -> None:
    built = build("dropout")
    exe.run(built.startup)
    scope = static.global_scope()
    space: dict[str, Any] = {}
    exec(built.main.to_python(built.fetches), space)
    for _ in range(3):
        values = [
            built.feed[n] if n in built.feed else scope.find_var(n).value for n in space["INPUTS"]
        ]
        (loss,) = exe.run(built.main, feed=built.feed, fetch_list=built.fetches)
        same("loss", space["program"](*values)[0], loss)


def test_it_says_where_lines_come_from_and_what_they_make(exe: Any) -> None:
    def program() -> Any:
        x = static.data("x", [None, 3])
        x.stop_gradient = False
        y = paddle.tanh(x * 2.0)  # the user's line
        return {"x": np.ones((2, 3), "float32")}, static.gradients(y, x)

    text = agree(made_by(program), exe)
    assert "    # y = paddle.tanh(x * 2.0)  # the user's line  (test_to_python.py:" in text
    assert re.search(r"= x \* 2\.0  # float32\[\?, 3\]", text)
    assert "    # --- forward\n" in text
    assert "    # --- backward\n" in text
    assert "'x',  # x: float32[?, 3], fed" in text
    assert re.search(r"    del \w+", text)
    # The rule of tanh, as the table has it: g * (1 - out * out).
    assert re.search(r"(\w+) = (\w+) \* \2  # .*\n(.*\n)?    \w+ = 1\.0 - \1", text)


def test_by_default_it_returns_what_nothing_reads(exe: Any) -> None:
    built = build("append_backward")
    space: dict[str, Any] = {}
    exec(built.main.to_python(), space)
    assert set(space["OUTPUTS"]) == {v.name for v in built.fetches}


def test_a_name_of_its_own(exe: Any) -> None:
    built = build("second_order")
    text = built.main.to_python(built.fetches, name="bend")
    results = run_text(text, static.global_scope(), built.feed, "bend")
    same("first", results[0][1], exe.run(built.main, built.feed, built.fetches)[0])


@pytest.mark.parametrize("name", ["", "2x", "for", "a b", None, 3])
def test_a_name_that_no_function_can_have(name: Any) -> None:
    with pytest.raises(ArgumentError, match="name must be a name that a Python function can have"):
        static.Program().to_python(name=name)


def test_looking_changes_nothing(exe: Any) -> None:
    built = build("mlp_and_adam")
    before = repr(built.main), built.main.version, paddle.unique_name.generate("x")
    built.main.to_python()
    after = repr(built.main), built.main.version, paddle.unique_name.generate("x")
    assert before[:2] == after[:2]
    assert (before[2], after[2]) == ("x_0", "x_1")


def test_awkward_names(exe: Any) -> None:
    """Names that are no names in Python, or that the text itself uses."""

    def program() -> Any:
        names = ["raw", "np", "slice", "for", "a-b", "a_b", "program", "INPUTS", "q\"'\\", "x\ny"]
        values = [static.data(n, [2]) for n in names]
        total = values[0][0:1]
        for v in values:
            total = total + paddle.where(v > 0.0, v, float("-inf") * v)
        return {n: np.ones(2, "float32") for n in names}, [total]

    agree(made_by(program), exe)


def test_numbers_keep_their_dtype(exe: Any) -> None:
    def program() -> Any:
        x = static.data("x", [2], "float16")
        n = static.data("n", [2], "int32")
        b = static.data("b", [2], "bool")
        return (
            {
                "x": np.array([1, 3], "float16"),
                "n": np.array([1, 3], "int32"),
                "b": np.ones(2, bool),
            },
            [
                x * 0.1,
                0.1 / x,
                n * 3,
                n * 0.5,
                b * 2,
                x + float("inf"),
                x * float("nan"),
                -x,
                n / 3,
            ],
        )

    agree(made_by(program), exe)


def test_constants_of_any_size_keep_their_bits(exe: Any) -> None:
    rng = np.random.default_rng(0)

    def program() -> Any:
        x = static.data("x", [3])
        small = np.array([0.1, np.nan, -0.0], "float32")
        large = rng.normal(size=(50, 3))
        key = np.array([2, 0])
        return {"x": np.ones(3, "float32")}, [x + small, x * large, x[key], x * np.zeros((0, 3))]

    built = made_by(program)
    text = agree(built, exe)
    assert "zlib.decompress" in text


def thrice(x: Any) -> Any:
    return x * 3.0


tripled = paddle.autograd.defop("tripled", thrice)
tripled.vjp(x=lambda xp, g: g * 3.0)


def test_an_operation_of_the_users_is_imported_by_its_name(exe: Any) -> None:
    def program() -> Any:
        x = static.data("x", [2])
        x.stop_gradient = False
        y = paddle.sum(paddle.exp(tripled(x)))
        return {"x": np.array([0.5, 1.0], "float32")}, [y, *static.gradients(y, x)]

    text = agree(made_by(program), exe)
    assert f"from {__name__} import tripled" in text


def test_an_operation_without_a_name_is_refused() -> None:
    def program() -> Any:
        op = paddle.autograd.defop("twice", lambda x: x * 2.0)
        op.vjp(x=lambda xp, g: g * 2.0)
        return {}, [op(static.data("x", [2]))]

    built = made_by(program)
    with pytest.raises(BuildError, match="define it with a name of its own at the top of a module"):
        built.main.to_python()
