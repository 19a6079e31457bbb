"""What operators say of themselves: roles, the variables of a role, scopes, devices, attributes."""

from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine.static import append_backward

pytestmark = pytest.mark.usefixtures("static_mode")

static = paddle.static


def ops() -> list[Any]:
    return list(static.default_main_program().global_block().ops)


def op(kind: str) -> Any:
    (found,) = [o for o in ops() if o.type == kind]
    return found


def net() -> Any:
    x = static.data("x", [None, 4], "float32")
    return paddle.mean(static.nn.fc(x, 3, activation="tanh", name="h"))


# --- op_role


def test_roles_of_a_training_program() -> None:
    paddle.optimizer.SGD(0.1).minimize(net())
    assert [(o.type, o.op_role) for o in ops()] == [
        ("matmul", 0),
        ("add", 0),
        ("tanh", 0),
        ("mean", 256),
        ("full", 257),
        ("mean_grad", 1),
        ("tanh_grad", 1),
        ("add_grad", 1),
        ("matmul_grad", 1),
        ("sgd", 2),
        ("sgd", 2),
    ]


def test_a_loss_of_unknown_size_starts_with_a_loss_role_too() -> None:
    x = static.data("x", [None])
    w = static.create_parameter([1], "float32")
    append_backward(x * w)
    assert (op("multiply").op_role, op("full_like").op_role) == (256, 257)


def test_gradients_know_no_loss() -> None:
    x = static.data("x", [3])
    x.stop_gradient = False
    static.gradients(paddle.tanh(x), x)
    assert [o.op_role for o in ops()] == [0, 1, 1]


def test_a_loss_without_gradients_is_one_all_the_same() -> None:
    loss = net()
    assert append_backward(loss, []) == []
    assert op("mean").op_role == 256


def test_a_failing_call_marks_nothing() -> None:
    loss = net()
    text = repr(static.default_main_program())
    with pytest.raises(ValueError, match="no element"):
        paddle.optimizer.SGD(0.1).minimize(loss, no_grad_set=_failing())
    assert repr(static.default_main_program()) == text


def _failing() -> Any:
    class Names(list):
        def __iter__(self) -> Any:
            raise ValueError("no element")

    return Names(["x"])


def test_what_fails_after_the_backward_half_takes_the_marks_back() -> None:
    loss = net()
    text = repr(static.default_main_program())
    sgd = paddle.optimizer.SGD(0.1)

    def fail(pairs: Any) -> None:
        assert op("mean").op_role == 256
        raise ZeroDivisionError

    sgd.apply_gradients = fail  # type: ignore[method-assign, assignment]
    with pytest.raises(ZeroDivisionError):
        sgd.minimize(loss)
    assert repr(static.default_main_program()) == text
    assert op("mean").op_role == 0


def test_clones_keep_roles() -> None:
    paddle.optimizer.SGD(0.1).minimize(net())
    main = static.default_main_program()
    copied = main.clone().global_block().ops
    assert [(o.op_role, o.op_role_var, o.op_namescope) for o in copied] == [
        (o.op_role, o.op_role_var, o.op_namescope) for o in ops()
    ]
    tested = main.clone(for_test=True).global_block().ops
    assert [o.op_role for o in tested] == [0, 0, 0, 256]


# --- op_role_var


def test_the_operator_that_writes_a_gradient_names_it() -> None:
    append_backward(net())
    assert op("add_grad").op_role_var == ["h.b_0", "h.b_0@GRAD"]
    assert op("matmul_grad").op_role_var == ["h.w_0", "h.w_0@GRAD"]
    others = [o for o in ops() if o.type not in ("add_grad", "matmul_grad")]
    assert all(o.op_role_var == [] for o in others)


def test_the_sum_names_it_and_not_its_parts() -> None:
    w = static.create_parameter([2], "float32", name="w")
    append_backward(paddle.sum(w * w))
    assert op("add_n").op_role_var == [w.name, f"{w.name}@GRAD"]
    assert op("multiply_grad").op_role_var == []


def test_one_operator_that_writes_two_gradients() -> None:
    w, b = (static.create_parameter([2], "float32", name=n) for n in "wb")
    append_backward(paddle.sum(w * b))
    named = op("multiply_grad").op_role_var
    pairs = {(named[k], named[k + 1]) for k in (0, 2)}
    assert pairs == {(v.name, f"{v.name}@GRAD") for v in (w, b)}


def test_gradients_know_no_parameters() -> None:
    loss = net()
    w = static.default_main_program().global_block().var("h.w_0")
    static.gradients(loss, [w])
    assert all(o.op_role_var == [] for o in ops())


def test_asking_again_names_it_once() -> None:
    loss = net()
    append_backward(loss)
    append_backward(loss, ["h.w_0"])
    assert op("matmul_grad").op_role_var == ["h.w_0", "h.w_0@GRAD"]


def test_updates_name_what_they_take() -> None:
    paddle.optimizer.Adam(0.1).minimize(net())
    named = [o.op_role_var for o in ops() if o.op_role == 2]
    assert named == [[p, f"{p}@GRAD"] for p in ("h.b_0", "h.w_0")]


def test_a_gradient_that_is_written_out_keeps_its_name() -> None:
    x = static.data("x", [2])
    w = static.create_parameter([2], "float32", name="w")
    ((_, grad),) = append_backward(paddle.sum(paddle.tanh(w * x)))
    append_backward(paddle.sum(grad * grad))
    (first, *_) = [o for o in ops() if grad.name in o.output_arg_names]
    assert not first.type.endswith("_grad")
    assert first.op_role_var == [w.name, grad.name]


# --- in callbacks


def test_callbacks_read_roles_before_parameters_are_known() -> None:
    seen: dict[str, Any] = {}

    def look(block: Any, context: Any) -> None:
        desc = context["__current_op_desc__"]
        assert {"op_role", "op_role_var", "op_namescope", "op_device"} <= set(desc.attr_names())
        assert desc.has_attr("op_role_var")
        seen[desc.type()] = [desc.attr(n) for n in ("op_role", "op_role_var", "op_namescope")]
        kept.append(desc)

    kept: list[Any] = []
    with static.name_scope("net"):
        loss = net()
    append_backward(loss, callbacks=[look])
    assert seen["matmul_grad"] == [1, [], "/net/"]
    assert kept[-1].attr("op_role_var") == ["h.w_0", "h.w_0@GRAD"]


# --- scopes and devices


def test_scopes_nest_and_are_numbered() -> None:
    x = static.data("x", [2])
    with static.name_scope("a"):
        paddle.tanh(x)
        for _ in range(2):
            with static.name_scope("b"):
                paddle.tanh(x)
        paddle.tanh(x)
    with static.name_scope("a"):
        paddle.tanh(x)
    paddle.tanh(x)
    assert [o.op_namescope for o in ops()] == ["/a/", "/a/b/", "/a/b_1/", "/a/", "/a_1/", "/"]


def test_each_program_counts_its_own_scopes() -> None:
    for _ in range(2):
        with static.program_guard(static.Program()), static.name_scope("a"):
            paddle.tanh(static.data("x", [2]))
            assert [o.op_namescope for o in ops()] == ["/a/"]


def test_gradient_operators_are_in_the_scope_of_what_they_differentiate() -> None:
    with static.name_scope("net"):
        loss = net()
    with static.name_scope("elsewhere"):
        append_backward(loss)
    scopes = {o.type: o.op_namescope for o in ops()}
    assert {scopes[t] for t in ("tanh", "tanh_grad", "matmul", "matmul_grad")} == {"/net/"}


def test_updates_are_in_scopes_of_their_own() -> None:
    paddle.optimizer.SGD(0.1).minimize(net())
    assert [o.op_namescope for o in ops() if o.op_role == 2] == ["/optimizer/", "/optimizer_1/"]


def test_a_scope_ends_with_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), static.name_scope("a"):
        raise ZeroDivisionError
    paddle.tanh(static.data("x", [2]))
    assert ops()[0].op_namescope == "/"


@pytest.mark.parametrize("bad", ["", None, 3])
def test_a_scope_has_a_name(bad: Any) -> None:
    with (
        pytest.raises(ValueError, match=r"prefix must be a name.*name_scope\('encoder'\)"),
        static.name_scope(bad),
    ):
        pass


def test_devices() -> None:
    x = static.data("x", [2])
    for device in ("cpu", "", None):
        with static.device_guard(device):
            paddle.tanh(x)
    paddle.tanh(x)
    assert [o.op_device for o in ops()] == ["cpu", "", "", ""]
    assert "op_device = cpu" in repr(ops()[0])


@pytest.mark.parametrize("bad", ["gpu", "gpu:0", "tpu", 0])
def test_there_is_no_other_device(bad: Any) -> None:
    with (
        pytest.raises(ValueError, match=r"programs run on the CPU; write device_guard\('cpu'\)"),
        static.device_guard(bad),
    ):
        pass


# --- operators, blocks and programs as the reference spells them


def test_an_operator_by_names() -> None:
    x = static.data("x", [None, 4])
    w = static.create_parameter([4, 3], "float32", name="w")
    paddle.matmul(x, w, transpose_y=False)
    found = ops()[0]
    assert found.type == "matmul"
    assert found.input_arg_names == ["x", w.name]
    assert found.output_arg_names == ["matmul_0.tmp_0"]
    assert (found.input("x"), found.input("y"), found.input("nope")) == (["x"], [w.name], [])
    assert (found.output("out"), found.output("nope")) == (["matmul_0.tmp_0"], [])
    assert found.attr("transpose_y") is False
    assert (found.has_attr("transpose_x"), found.has_attr("nope")) == (True, False)
    assert set(found.attr_names) == set(found.all_attrs())
    assert found.all_attrs()["op_role"] == 0


def test_a_number_among_the_operands_is_an_attribute() -> None:
    static.data("x", [2]) * 3.0
    assert ops()[0].attr("y") == 3.0


def test_an_unknown_attribute_lists_the_known_ones() -> None:
    paddle.tanh(static.data("x", [2]))
    with pytest.raises(KeyError, match="tanh has no attribute 'axis'; it has op_device, op_name"):
        ops()[0].attr("axis")


def test_attributes_are_a_copy() -> None:
    paddle.mean(static.data("x", [2]))
    ops()[0].all_attrs()["axis"] = None
    assert ops()[0].attr("axis") is not None


def test_descriptions_say_the_same() -> None:
    descriptions: list[Any] = []
    append_backward(
        net(),
        callbacks=[lambda block, context: descriptions.append(context["__current_op_desc__"])],
    )
    for desc, operator in zip(descriptions, ops()[5:], strict=True):
        assert desc.type() == operator.type
        assert desc.input_arg_names() == operator.input_arg_names
        assert desc.output_arg_names() == operator.output_arg_names
        assert all(desc.input(n) == operator.input(n) for n in desc.input_names())
        assert all(desc.output(n) == operator.output(n) for n in desc.output_names())
        assert desc.attr_names() == operator.attr_names
        assert all(desc.attr(n) == operator.attr(n) for n in desc.attr_names())
        assert repr(desc) == repr(operator)


def test_create_var() -> None:
    block = static.default_main_program().global_block()
    var = block.create_var(name="v", shape=[-1, 3], dtype="float64", persistable=True)
    assert (var.shape, var.dtype, var.persistable) == ((-1, 3), "float64", True)
    assert block.var("v") is var
    assert block.create_var(name="v", shape=[None, 3], dtype="float64") is var
    assert block.create_var(shape=[2]).name != block.create_var(shape=[2]).name
    assert block.create_var(shape=[2]).dtype == "float32"
    assert var.grad_name == "v@GRAD"


@pytest.mark.parametrize(
    ("arguments", "kind", "hint"),
    [
        ({"name": "v", "shape": [2]}, ValueError, "created before.*Give it another name"),
        ({"name": "v", "shape": [3], "dtype": "int64"}, ValueError, "created before"),
        ({"name": 3}, TypeError, "name must be a non-empty str"),
        ({"shape": 3}, TypeError, "create_var: shape must be a list or tuple"),
        ({"shape": [-2]}, ValueError, "None or -1 for unknown ones"),
    ],
)
def test_create_var_refuses(arguments: Any, kind: Any, hint: str) -> None:
    block = static.default_main_program().global_block()
    block.create_var(name="v", shape=[3])
    with pytest.raises(kind, match=hint):
        block.create_var(**arguments)


def test_blocks_by_number() -> None:
    main = static.default_main_program()
    assert main.block(0) is main.global_block()
    assert main.num_blocks == 1
    with pytest.raises(IndexError, match="there is no block 7; this program has 1"):
        main.block(7)


def test_all_variables_of_a_program() -> None:
    append_backward(net())
    main = static.default_main_program()
    assert [v.name for v in main.list_vars()] == list(main.global_block().vars)
