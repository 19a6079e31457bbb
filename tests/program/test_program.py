"""Programs, blocks and variables: building, naming, printing."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import BuildError, ModeError, NotATensorError

pytestmark = pytest.mark.usefixtures("static_mode")

F = paddle.nn.functional
static = paddle.static


def op_types() -> list[str]:
    return [op.type for op in static.default_main_program().global_block().ops]


# --- data


def test_data_is_a_closed_float32_variable() -> None:
    x = static.data(name="x", shape=[None, 13])
    assert (x.name, x.shape, x.dtype, x.ndim) == ("x", (-1, 13), "float32", 2)
    assert x.stop_gradient
    assert static.data("y", [-1, 2], "int64").shape == (-1, 2)


def test_the_same_declaration_again_is_the_same_variable() -> None:
    assert static.data("x", [None, 2]) is static.data("x", [-1, 2], "float32")


@pytest.mark.parametrize(("shape", "dtype"), [([None, 3], "float32"), ([None, 2], "int64")])
def test_another_declaration_of_a_name_is_refused(shape: Any, dtype: str) -> None:
    static.data("x", [None, 2])
    with pytest.raises(BuildError, match=r"'x' has been created before.*Give it another name"):
        static.data("x", shape, dtype)


@pytest.mark.parametrize(
    ("arguments", "kind", "hint"),
    [
        ({"name": 3, "shape": [1]}, TypeError, "name must be a non-empty str, got 3"),
        ({"name": "", "shape": [1]}, TypeError, "name must be a non-empty str"),
        ({"name": "x", "shape": 3}, TypeError, "shape must be a list or tuple, got int"),
        ({"name": "x", "shape": "ab"}, TypeError, "shape must be a list or tuple, got str"),
        ({"name": "x", "shape": [1.5]}, ValueError, "None or -1 for unknown ones"),
        ({"name": "x", "shape": [-2]}, ValueError, "None or -1 for unknown ones"),
        ({"name": "x", "shape": [True]}, ValueError, "None or -1 for unknown ones"),
        ({"name": "x", "shape": [1], "dtype": "real"}, TypeError, "no dtype of this engine"),
    ],
)
def test_wrong_declarations(arguments: Any, kind: Any, hint: str) -> None:
    with pytest.raises(kind, match=hint):
        static.data(**arguments)
    assert not static.default_main_program().global_block().vars


def test_data_in_eager_mode() -> None:
    paddle.disable_static()
    with pytest.raises(AssertionError, match=r"call paddle\.enable_static\(\) first"):
        static.data("x", [1])


def test_modes() -> None:
    assert not paddle.in_dynamic_mode()
    paddle.disable_static()
    assert paddle.in_dynamic_mode()
    with static.program_guard(static.Program()):
        assert not paddle.in_dynamic_mode()
        static.data("x", [1])
    assert paddle.in_dynamic_mode()


# --- programs


def test_program_guard_switches_and_restores() -> None:
    main, startup = static.Program(), static.Program()
    before = static.default_main_program(), static.default_startup_program()
    with static.program_guard(main, startup):
        assert static.default_main_program() is main
        assert static.default_startup_program() is startup
        static.nn.fc(static.data("x", [None, 2]), 1)
    with pytest.raises(ZeroDivisionError), static.program_guard(main, startup):
        raise ZeroDivisionError
    assert (static.default_main_program(), static.default_startup_program()) == before
    assert [p.name for p in main.all_parameters()] == ["fc_0.w_0", "fc_0.b_0"]
    assert len(startup.global_block().ops) == 2


@pytest.mark.parametrize("arguments", [(3,), (None,), ("main",)])
def test_program_guard_takes_programs(arguments: Any) -> None:
    with (
        pytest.raises(TypeError, match="main_program must be a Program"),
        static.program_guard(*arguments),
    ):
        pass
    with (
        pytest.raises(TypeError, match="startup_program must be a Program"),
        static.program_guard(static.Program(), 3),  # type: ignore[arg-type]
    ):
        pass


def test_blocks() -> None:
    program = static.default_main_program()
    assert (program.num_blocks, program.block(0)) == (1, program.global_block())
    with pytest.raises(IndexError):
        program.block(7)
    with pytest.raises(ValueError, match="var zz not in this block"):
        program.global_block().var("zz")


@pytest.mark.parametrize("seed", ["a", -1, 1.5, True])
def test_random_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(ValueError, match="random_seed must be a non-negative int"):
        static.default_main_program().random_seed = seed


def test_random_seed_gives_the_program_a_stream_of_its_own(exe: Any) -> None:
    def draws(seed: int) -> list[Any]:
        program = static.Program()
        program.random_seed = seed
        with static.program_guard(program):
            x = paddle.rand([3])
        return [exe.run(program, fetch_list=[x])[0].tolist() for _ in range(2)]

    first, again, other = draws(5), draws(5), draws(6)
    assert first == again
    assert first[0] != first[1]
    assert first != other


def test_variables_of_two_programs_do_not_mix() -> None:
    x = static.data("x", [2])
    with (
        static.program_guard(static.Program()),
        pytest.raises(BuildError, match="belong to different programs; build them under one"),
    ):
        _ = x + static.data("y", [2])


def test_operations_follow_their_operands() -> None:
    x = static.data("x", [2])
    with static.program_guard(static.Program()) as _:
        y = x * 2.0
        assert not static.default_main_program().global_block().ops
    assert y.block is x.block


# --- names


def test_names_of_temporaries() -> None:
    x = static.data("x", [None, 4])
    made = [
        paddle.tanh(x),
        F.relu(x),
        paddle.mean(x),
        paddle.sum(x),
        F.softmax(x),
        paddle.matmul(x, x, transpose_y=True),
        paddle.concat([x, x], axis=1),
        paddle.tanh(x),
    ]
    assert [v.name for v in made] == [
        "tanh_0.tmp_0",
        "relu_0.tmp_0",
        "mean_0.tmp_0",
        "sum_0.tmp_0",
        "softmax_0.tmp_0",
        "matmul_0.tmp_0",
        "concat_0.tmp_0",
        "tanh_1.tmp_0",
    ]


def test_square_error_cost_is_one_layer() -> None:
    x, y = static.data("x", [None, 1]), static.data("y", [None, 1])
    assert F.square_error_cost(x, y).name == "square_error_cost_0.tmp_1"


def test_names_run_on_across_programs_and_a_guard_starts_afresh() -> None:
    def build() -> str:
        with static.program_guard(static.Program(), static.Program()):
            return static.nn.fc(static.data("x", [None, 2]), 1).name

    assert [build(), build()] == ["fc_0.tmp_1", "fc_1.tmp_1"]
    with paddle.unique_name.guard():
        assert build() == "fc_0.tmp_1"
    with paddle.unique_name.guard("pre_"):
        assert build().startswith("pre_")
    assert build() == "fc_2.tmp_1"


# --- looking


def test_looking_at_a_program_does_not_change_it() -> None:
    x = static.data("x", [2])
    y = x * x + x
    text = repr(static.default_main_program())
    for op in static.default_main_program().global_block().ops:
        _ = op.inputs, op.outputs, op.input_arg_names, op.output_arg_names, repr(op)
    assert repr(static.default_main_program()) == text
    assert repr(y) in text


# --- what a variable cannot do


@pytest.mark.parametrize(
    "use",
    [
        bool,
        float,
        int,
        np.asarray,
        lambda v: v.numpy(),
        lambda v: v.item(),
        lambda v: v.tolist(),
    ],
)
def test_a_variable_has_no_value(use: Any) -> None:
    x = static.data("x", [])
    with pytest.raises(ModeError, match="the variable x has no value while the program is built"):
        use(x)
    assert op_types() == []


@pytest.mark.parametrize("use", [len, iter, list])
def test_a_variable_cannot_be_walked_over(use: Any) -> None:
    with pytest.raises(TypeError, match="the variable x"):
        use(static.data("x", [3]))


def test_comparisons_build_operators() -> None:
    x = static.data("x", [2])
    for y in (x == x, x != 1.0, x > 0):
        assert (y.dtype, y.stop_gradient) == ("bool", True)
    assert op_types() == ["equal", "not_equal", "greater_than"]
    assert hash(x) == hash(x)


def test_an_eager_tensor_among_variables_is_refused_with_the_way_out() -> None:
    x = static.data("x", [2])
    paddle.disable_static()
    t = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(NotATensorError, match=r"eager Tensor.*static\.data.*outside"):
        paddle.add(x, t)


@pytest.mark.parametrize("other", ["a", None, object()])
def test_what_is_no_number_is_refused(other: Any) -> None:
    x = static.data("x", [2])
    with pytest.raises(TypeError, match="must be a Variable, an ndarray or a number"):
        paddle.add(x, other)
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = x + other
    assert op_types() == []


def test_shapes_are_checked_when_the_program_is_built() -> None:
    x, y = static.data("x", [None, 3]), static.data("y", [None, 4])
    with pytest.raises(ValueError, match=r"\[\?, 3\] and \[\?, 4\] do not broadcast: axis -1"):
        _ = x + y
    with pytest.raises(ValueError, match=r"\[\?, 3\] @ \[4, \?\]"):
        paddle.matmul(x, paddle.static.data("z", [4, None]))
    assert op_types() == []


def test_what_an_operation_that_fails_has_prepared_is_undone() -> None:
    """Operands are made constants, and cast, before the shapes are looked at."""
    x, n = static.data("x", [2]), static.data("n", [3], "int64")
    with pytest.raises(ValueError, match="do not broadcast"):
        _ = x + n
    with pytest.raises(ValueError, match="do not broadcast"):
        _ = x + np.ones(3, "float32")
    assert op_types() == []
    assert list(static.default_main_program().global_block().vars) == ["x", "n"]


# --- constants


def test_arrays_of_the_users_become_constants(exe: Any) -> None:
    x = static.data("x", [2])
    mine = np.array([1.0, 2.0], "float32")
    results = [x + mine, mine * x, paddle.matmul(mine, x), paddle.concat([mine, x])]
    mine[:] = 99.0
    fetched = exe.run(feed={"x": np.array([3.0, 4.0], "float32")}, fetch_list=results)
    assert [v.tolist() for v in fetched] == [[4.0, 6.0], [3.0, 8.0], 11.0, [1.0, 2.0, 3.0, 4.0]]


def test_creation_adds_to_the_program(exe: Any) -> None:
    made = [
        paddle.zeros([2]),
        paddle.ones([2], "int64"),
        paddle.full([2], 7),
        paddle.arange(2),
        paddle.assign(np.array([5.0, 6.0])),
        paddle.assign([1, 2]),
    ]
    assert all(isinstance(v, static.Variable) and v.stop_gradient for v in made)
    assert [v.tolist() for v in exe.run(fetch_list=made)] == [
        [0.0, 0.0], [1, 1], [7.0, 7.0], [0, 1], [5.0, 6.0], [1, 2],
    ]  # fmt: skip


def test_labels_may_be_arrays(exe: Any) -> None:
    x = static.data("x", [2, 3])
    loss = F.cross_entropy(x, np.array([0, 2]))
    (value,) = exe.run(feed={"x": np.zeros((2, 3), "float32")}, fetch_list=[loss])
    np.testing.assert_allclose(value, np.log(3), rtol=1e-6)


@pytest.mark.parametrize("function", ["grad", "backward"])
def test_eager_functions_in_static_mode(function: str) -> None:
    call = {"grad": paddle.grad, "backward": paddle.autograd.backward}[function]
    x = static.data("x", [2])
    with pytest.raises(AssertionError, match=r"call paddle\.disable_static\(\) first"):
        call(*[x] * (2 if function == "grad" else 1))
