"""What each case of the reference's static mode does here: arguments, results, names, values.

A test is one row of a table of cases, observed by running Paddle 2.6.2 ("the reference" below).
Where it crashes, or computes what is not the gradient, the test says what happens here instead.
"""

import re
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import BuildError, ModeError, NotATensorError, ShapeError
from autograd_engine.static import append_backward, gradients

pytestmark = pytest.mark.usefixtures("static_mode", "fresh_names")

static = paddle.static
F = paddle.nn.functional


@pytest.fixture
def fresh_names() -> Any:
    with paddle.utils.unique_name.guard():
        yield


def block() -> Any:
    return static.default_main_program().global_block()


def names(pairs: Any) -> list[tuple[str, str]]:
    return [(p.name, g.name) for p, g in pairs]


def left(pairs: Any) -> list[str]:
    assert all(g.name == f"{p.name}@GRAD" for p, g in pairs)
    return [p.name for p, _ in pairs]


def called(grads: Any) -> list[str | None]:
    return [None if g is None else g.name for g in grads]


def net() -> tuple[Any, Any, Any]:
    """(x, hidden, loss) with the parameters h.w_0, h.b_0, p.w_0, p.b_0."""
    x = static.data("x", [None, 4], "float32")
    hidden = static.nn.fc(x, 3, activation="tanh", name="h")
    return x, hidden, paddle.mean(static.nn.fc(hidden, 1, name="p"))


def open_data(name: str = "x", shape: Any = (2, 3), dtype: str = "float32") -> Any:
    x = static.data(name, list(shape), dtype)
    x.stop_gradient = False
    return x


def run(fetches: Any, **feed: Any) -> list[Any]:
    exe = static.Executor()
    exe.run(static.default_startup_program())
    return exe.run(feed=feed, fetch_list=list(fetches))


EVERY = ["h.w_0", "h.b_0", "p.w_0", "p.b_0"]

# --- 1.1 loss


@pytest.mark.parametrize("loss", [None, "loss", 3, np.ones(1), [], [1.0]])
def test_loss_of_another_kind(loss: Any) -> None:
    """The reference raises TypeError, its documents say AssertionError: it is both."""
    for kind in (TypeError, AssertionError):
        with pytest.raises(kind, match=r"append_backward: loss must be a Variable of a static pr"):
            append_backward(loss)


def test_loss_in_eager_mode() -> None:
    """A call without a program: as the reference, an AssertionError; the hint names the way out."""
    paddle.disable_static()
    with pytest.raises(AssertionError, match=r"call \.backward\(\) on the result"):
        append_backward(paddle.ones([1]))


@pytest.mark.parametrize("shape", [(2, 1), (1, 1), (1,), ()])
def test_loss_of_any_known_shape(shape: Any) -> None:
    x = open_data(shape=shape)
    append_backward(x * 3.0)
    (grad,) = run(["x@GRAD"], x=np.ones(shape, "float32"))
    assert grad.shape == shape
    assert (grad == 3.0).all()


def test_loss_of_an_unknown_size() -> None:
    """The reference runs and returns garbage (2.3e+31 was seen); the seed is ones here."""
    x = open_data(shape=(None, 1))
    append_backward(x * 3.0)
    (grad,) = run(["x@GRAD"], x=np.ones((5, 1), "float32"))
    assert grad.tolist() == [[3.0]] * 5


def test_loss_of_another_program() -> None:
    """The loss says which program the backward half goes to, not the guard."""
    other = static.Program()
    with static.program_guard(other, static.Program()):
        *_, loss = net()
    before = len(other.global_block().ops)
    assert left(append_backward(loss)) == EVERY
    assert len(other.global_block().ops) > before
    assert not block().ops


def test_loss_with_stop_gradient() -> None:
    *_, loss = net()
    loss.stop_gradient = True
    assert append_backward(loss) == []


def test_minimize_wants_one_element() -> None:
    _, hidden, _ = net()
    sgd = paddle.optimizer.SGD(0.1)
    with pytest.raises(ShapeError, match=r"has shape \[\?, 3\].*did you forget paddle\.mean\?"):
        sgd.minimize(hidden)
    with pytest.raises(AssertionError, match="loss must be a Variable of a program"):
        sgd.minimize("loss")


# --- 1.2 parameter_list


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("by_name", [True, False])
def test_parameter_list_keeps_the_order_given(kind: Any, by_name: bool) -> None:
    *_, loss = net()
    chosen = ["p.b_0", "h.w_0", "p.b_0"]
    wanted = kind(chosen if by_name else [block().var(n) for n in chosen])
    assert left(append_backward(loss, wanted)) == chosen


def test_parameter_list_as_a_set() -> None:
    *_, loss = net()
    assert sorted(left(append_backward(loss, {"p.b_0", block().var("h.w_0")}))) == [
        "h.w_0",
        "p.b_0",
    ]


@pytest.mark.parametrize("bad", ["h.w_0", {"h.w_0": 1}, 3])
def test_parameter_list_of_another_kind(bad: Any) -> None:
    *_, loss = net()
    with pytest.raises(TypeError, match="parameter_list must be a list, tuple or set"):
        append_backward(loss, bad)


@pytest.mark.parametrize("entry", [3, np.ones(2), None])
def test_parameter_list_entries_of_another_kind(entry: Any) -> None:
    *_, loss = net()
    with pytest.raises(TypeError, match=r"parameter_list\[1\] must be a Variable or a name"):
        append_backward(loss, ["h.w_0", entry])


def test_parameter_list_with_an_unknown_name() -> None:
    *_, loss = net()
    with pytest.warns(UserWarning, match="names 'nope', which is no variable of this program"):
        assert append_backward(loss, ["nope"]) == []


@pytest.mark.parametrize("chosen", [[], ["x"]], ids=["none", "closed data"])
def test_parameter_list_of_nothing(chosen: Any) -> None:
    *_, loss = net()
    assert append_backward(loss, chosen) == []


def test_parameter_list_with_a_variable_that_is_no_parameter() -> None:
    x = open_data()
    assert names(append_backward(paddle.mean(paddle.tanh(x)), [x])) == [("x", "x@GRAD")]


def test_parameters_that_the_loss_does_not_depend_on_are_left_out() -> None:
    _, hidden, _ = net()
    assert left(append_backward(paddle.mean(hidden), ["h.w_0", "p.w_0"])) == ["h.w_0"]


# --- 1.3 no_grad_set


@pytest.mark.parametrize("kind", [set, list, tuple])
@pytest.mark.parametrize("by_name", [True, False])
def test_no_grad_set_cuts_what_is_before(kind: Any, by_name: bool) -> None:
    _, hidden, loss = net()
    assert left(append_backward(loss, no_grad_set=kind([hidden.name if by_name else hidden]))) == [
        "p.w_0",
        "p.b_0",
    ]


@pytest.mark.parametrize("bad", ["h.w_0", frozenset({"h.w_0"})])
def test_no_grad_set_of_another_kind(bad: Any) -> None:
    *_, loss = net()
    with pytest.raises(TypeError, match="no_grad_set must be a set, list or tuple"):
        append_backward(loss, no_grad_set=bad)


def test_no_grad_set_members_of_another_kind() -> None:
    *_, loss = net()
    with pytest.raises(TypeError, match=r"no_grad_set.*int"):
        append_backward(loss, no_grad_set=[3])


def test_no_grad_set_of_nothing() -> None:
    *_, loss = net()
    assert left(append_backward(loss, no_grad_set=set())) == EVERY


def test_no_grad_set_with_the_loss() -> None:
    *_, loss = net()
    assert append_backward(loss, no_grad_set={loss}) == []


def test_no_grad_set_goes_before_parameter_list() -> None:
    *_, loss = net()
    assert left(append_backward(loss, ["h.w_0", "p.w_0"], no_grad_set={"h.w_0"})) == ["p.w_0"]


@pytest.mark.parametrize(("what", "value"), [("stop_gradient", True), ("trainable", False)])
def test_a_closed_parameter_is_left_out_also_where_it_is_listed(what: str, value: bool) -> None:
    *_, loss = net()
    setattr(block().var("h.w_0"), what, value)
    assert left(append_backward(loss, EVERY)) == EVERY[1:]


# --- 1.4 repeated calls, naming


def test_asked_again_the_gradient_is_the_same() -> None:
    """The reference appends all again, as `grad/grad/h.w_0@GRAD`; the documents' comments win."""
    *_, loss = net()
    first = append_backward(loss)
    count = len(block().ops)
    again = append_backward(loss)
    assert [g for _, g in again] == [g for _, g in first]
    assert len(block().ops) == count


def test_two_losses_have_gradients_of_their_own() -> None:
    """Values are independent, and so are names: the reference's `grad/grad/w@GRAD`."""
    x = open_data(shape=(2,))
    append_backward(paddle.sum(x * 2.0))
    (second,) = gradients(paddle.sum(x * 5.0), x)
    assert second.name == "grad/grad/x@GRAD"
    got = run(["x@GRAD", second], x=np.ones(2, "float32"))
    assert [g.tolist() for g in got] == [[2.0, 2.0], [5.0, 5.0]]


def test_contributions_to_a_variable_used_often() -> None:
    """`w@GRAD@RENAME@block0@0`, 1, 2, then one sum; the mark of the parameter is on the sum."""
    x = static.data("x", [2, 2])
    w = static.create_parameter([2, 2], "float32", name="w")
    loss = paddle.mean(paddle.matmul(x, w) * w + w)
    append_backward(loss)
    backward = [op for op in block().ops if op.role == "backward"]
    parts = [n for op in backward for n in op.output_arg_names if n.startswith("w@GRAD@RENAME")]
    assert sorted(parts) == [f"w@GRAD@RENAME@block0@{k}" for k in range(3)]
    (total,) = [op for op in backward if "w@GRAD" in op.output_arg_names]
    assert sorted(total.input_arg_names) == sorted(parts)
    assert total.attr("op_role_var") == ["w", "w@GRAD"]
    assert all(op.attr("op_role_var") == [] for op in backward if op is not total)


def test_a_square_has_two_contributions() -> None:
    x = open_data(shape=(2,))
    gradients(x * x, x)
    assert {"x@GRAD@RENAME@block0@0", "x@GRAD@RENAME@block0@1"} <= set(block().vars)


def test_an_output_that_nobody_uses_counts_as_zeros() -> None:
    x = open_data(shape=(2, 4))
    first, _ = paddle.split(x, 2, axis=1)
    (grad,) = gradients(first, x)
    (value,) = run([grad], x=np.ones((2, 4), "float32"))
    assert value.tolist() == [[1.0, 1.0, 0.0, 0.0]] * 2


def test_only_operators_on_the_way_are_differentiated() -> None:
    _, hidden, loss = net()
    paddle.exp(hidden)
    append_backward(loss, ["p.w_0"])
    types = [op.type for op in block().ops if op.role == "backward"]
    assert not {"tanh_grad", "exp_grad"} & set(types)


def test_new_variables_are_listed_by_name() -> None:
    *_, loss = net()
    before = len(block().vars)
    append_backward(loss)
    new = list(block().vars)[before:]
    assert new == sorted(new)
    assert "h.w_0@GRAD" in new


# --- 1.5 roles


def test_roles_of_a_training_program() -> None:
    *_, loss = net()
    paddle.optimizer.SGD(0.1).minimize(loss)
    ops = block().ops
    roles = {op.attr("op_role") for op in ops}
    assert roles == {0, 1, 2, 256, 257}
    assert [op.attr("op_role") for op in ops if loss.name in op.output_arg_names] == [256]
    updates = [op for op in ops if op.type == "sgd"]
    assert [op.attr("op_role_var") for op in updates] == [[n, f"{n}@GRAD"] for n in sorted(EVERY)]
    assert [op.attr("op_namescope") for op in updates] == [
        "/optimizer/",
        "/optimizer_1/",
        "/optimizer_2/",
        "/optimizer_3/",
    ]


# --- 1.6 callbacks


def test_callbacks_of_another_kind() -> None:
    *_, loss = net()
    with pytest.raises(TypeError, match=r"callbacks must be a list or tuple.*write \[callback\]"):
        append_backward(loss, callbacks=print)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="3 in callbacks is not callable"):
        append_backward(loss, callbacks=[3])  # type: ignore[list-item]


def test_callbacks_are_called_by_keyword() -> None:
    *_, loss = net()
    with pytest.raises(TypeError, match=r"is called as callback\(block, context\)"):
        append_backward(loss, callbacks=[lambda a, b: None])


def test_callbacks_once_per_gradient_operator_and_one_context() -> None:
    *_, loss = net()
    seen: list[tuple[int, str, str]] = []
    contexts: list[Any] = []

    def first(block: Any, context: Any) -> None:
        seen.append((block.idx, "first", context["__current_op_desc__"].type()))
        contexts.append(context)

    def second(block: Any, context: Any) -> None:
        seen.append((block.idx, "second", context["__current_op_desc__"].type()))

    append_backward(loss, callbacks=[first, second])
    made = [op.type for op in block().ops if op.attr("op_role") == 1]
    assert [t for _, who, t in seen if who == "first"] == made
    assert [who for _, who, _ in seen] == ["first", "second"] * len(made)
    assert all(c is contexts[0] for c in contexts)
    assert {k: v for k, v in contexts[0].items() if k in ("h.w_0@GRAD", "mean_0.tmp_0@GRAD")} == {
        "h.w_0@GRAD": "h.w_0",
        "mean_0.tmp_0@GRAD": "mean_0.tmp_0",
    }


def test_callbacks_see_operators_inside_of_a_branch_first() -> None:
    x = open_data(shape=(2,))
    y = static.nn.cond(paddle.sum(x) > 0, lambda: x * x, lambda: paddle.tanh(x))
    where: list[tuple[int, str]] = []
    append_backward(
        paddle.sum(y),
        callbacks=[
            lambda block, context: where.append((block.idx, context["__current_op_desc__"].type()))
        ],
    )
    inside = [k for k, (idx, _) in enumerate(where) if idx > 0]
    (outside,) = [k for k, (idx, kind) in enumerate(where) if (idx, kind) == (0, "cond_grad")]
    assert inside
    assert max(inside) < outside


# --- 1.7 checkpoints


@pytest.mark.parametrize("by_name", [True, False])
def test_checkpoints_change_neither_the_kind_of_result_nor_its_values(by_name: bool) -> None:
    """The reference returns a tuple of two lists then, and knows no names."""
    _, hidden, loss = net()
    other = static.default_main_program().clone()
    plain = append_backward(other.global_block().var(loss.name))
    pairs = append_backward(loss, checkpoints=[hidden.name if by_name else hidden])
    assert isinstance(pairs, list)
    assert left(pairs) == left(plain) == EVERY
    exe = static.Executor()
    exe.run(static.default_startup_program())
    feed = {"x": np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)}
    want = exe.run(other, feed, [g for _, g in plain])
    have = exe.run(feed=feed, fetch_list=[g for _, g in pairs])
    assert [a.tobytes() for a in have] == [a.tobytes() for a in want]


# --- 1.8 control flow


@pytest.mark.parametrize(
    ("sign", "by_x", "by_w"),
    [(1.0, [2.0, 2.0], [1.0, 2.0]), (-1.0, [-4.0, -8.0], [1.0, 4.0])],
)
def test_cond_and_its_gradient(sign: float, by_x: Any, by_w: Any) -> None:
    """The branch that is not taken contributes zeros."""
    x, w = open_data(shape=(2,)), open_data("w", (2,))
    y = static.nn.cond(paddle.sum(x) > 0, lambda: x * w, lambda: x * x * w)
    grads = gradients(paddle.sum(y), [x, w])
    values = np.array([1.0, 2.0], "float32") * np.float32(sign)
    got = run(grads, x=values, w=np.array([2.0, 2.0], "float32"))
    assert [g.tolist() for g in got] == [by_x, by_w]


def test_while_loop_and_its_gradient() -> None:
    """w * x three times."""
    x, w = open_data(shape=(2,)), open_data("w", (2,))
    i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
    _, y = static.nn.while_loop(lambda i, v: i < n, lambda i, v: [i + 1, v * w], [i, x])
    grads = gradients(paddle.sum(y), [x, w])
    got = run([y, *grads], x=np.array([1, 2], "float32"), w=np.array([2, 2], "float32"))
    assert [g.tolist() for g in got] == [[8.0, 16.0], [8.0, 8.0], [12.0, 24.0]]


def test_the_second_order_goes_through_a_loop() -> None:
    """The reference has no rule for `while_grad`."""
    x = open_data(shape=(1,))
    i, n = paddle.full([1], 0, "int64"), paddle.full([1], 2, "int64")
    _, y = static.nn.while_loop(lambda i, v: i < n, lambda i, v: [i + 1, v * x], [i, x])
    (first,) = gradients(y, x)  # x ** 3
    (second,) = gradients(first, x)
    got = run([first, second], x=np.array([2.0], "float32"))
    assert [g.tolist() for g in got] == [[12.0], [12.0]]


def test_switch_case_and_nested_cond() -> None:
    x = open_data(shape=(1,))
    k = static.data("k", [1], "int64")
    y = static.nn.switch_case(k, {0: lambda: x + 1.0, 1: lambda: x * x, 2: lambda: x * 5.0})
    z = static.nn.cond(
        paddle.sum(y) > 0,
        lambda: static.nn.cond(paddle.sum(y) > 10, lambda: y * 3.0, lambda: y),
        lambda: -y,
    )
    (grad,) = gradients(z, x)
    found = [run([grad], x=np.array([3.0], "float32"), k=np.array([n]))[0].item() for n in range(3)]
    assert found == [1.0, 6.0, 15.0]


def test_control_flow_refuses_what_it_cannot_take() -> None:
    x = open_data(shape=(1,))
    with pytest.raises(TypeError, match="cond: the condition must be a bool Variable"):
        static.nn.cond("yes", lambda: x, lambda: x)
    with pytest.raises(ValueError, match="cond: "):
        static.nn.cond(paddle.sum(x) > 0, lambda: x, lambda: (x, x))
    with pytest.raises(TypeError, match=r"while_loop: .*bool"):
        static.nn.while_loop(lambda v: paddle.sum(v), lambda v: [v], [x])
    assert static.nn.cond(paddle.sum(x) > 0, lambda: None, lambda: None) is None


def test_a_variable_has_no_truth() -> None:
    """The reference's is silently True."""
    x = open_data()
    with pytest.raises(ModeError, match=r"paddle\.static\.nn\.cond"):
        bool(x)


# --- 1.9 printing, clone


def test_a_program_prints_its_variables_and_operators() -> None:
    net()
    text = str(static.default_main_program())
    assert text == repr(static.default_main_program())
    assert text.startswith(
        "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1\n"
        "    var x : LOD_TENSOR.shape(-1, 4).dtype(float32).stop_gradient(True)\n"
        "    persist trainable param h.w_0 : LOD_TENSOR.shape(4, 3).dtype(float32)"
        ".stop_gradient(False)\n"
    )
    # Types and slots are those of the table of operations here.
    assert (
        "\n    {out=['h.tmp_0']} = matmul(inputs={x=['x'], y=['h.w_0']}, op_device = , "
        "op_namescope = /, op_role = 0, op_role_var = [], transpose_x = False, "
        "transpose_y = False)\n"
    ) in text


def test_clone_for_test_has_no_backward_half() -> None:
    *_, loss = net()
    append_backward(loss)
    clone = static.default_main_program().clone(for_test=True)
    assert not [n for n in clone.global_block().vars if "@GRAD" in n]
    roles = [op.attr("op_role") for op in clone.global_block().ops]
    assert set(roles) == {0, 256}


def test_what_a_program_does_not_have() -> None:
    program = static.Program()
    with pytest.raises(IndexError, match="7"):
        program.block(7)
    with pytest.raises(ValueError, match="zz"):
        program.global_block().var("zz")
    with pytest.raises(ValueError, match="random_seed"):
        program.random_seed = "a"  # type: ignore[assignment]


# --- 1.10 names


def test_names_of_layers() -> None:
    x = static.data("x", [None, 4])
    assert static.nn.fc(x, 2, activation="relu").name == "fc_0.tmp_2"
    static.nn.fc(x, 2, name="my_fc")
    static.nn.fc(x, 2, name="my_fc")
    static.nn.fc([x, x], 2, bias_attr=False)
    assert [p.name for p in block().all_parameters()] == [
        "fc_0.w_0",
        "fc_0.b_0",
        "my_fc.w_0",
        "my_fc.b_0",
        "my_fc.w_1",
        "my_fc.b_1",
        "fc_1.w_0",
        "fc_1.w_1",
    ]


def test_a_shared_name_is_one_parameter() -> None:
    x = static.data("x", [None, 4])
    y = static.nn.fc(x, 4, weight_attr=paddle.ParamAttr(name="W"), bias_attr=False)
    y = static.nn.fc(y, 4, weight_attr=paddle.ParamAttr(name="W"), bias_attr=False)
    assert left(append_backward(paddle.mean(y))) == ["W"]
    with pytest.raises(ValueError, match=r"'W' has been created before.*\[4, 4\].*\[4, 5\]"):
        static.nn.fc(x, 5, weight_attr=paddle.ParamAttr(name="W"))


def test_names_of_created_parameters() -> None:
    """As observed: each call counts as a layer, unless it is given a name."""
    made = [
        static.create_parameter([2], "float32"),
        static.create_parameter([2], "float32", is_bias=True),
        static.create_parameter([2], "float32", name="nn"),
        static.create_parameter([2], "float32", attr=paddle.ParamAttr(name="qq")),
        static.create_parameter([2], "float32"),
    ]
    assert [p.name for p in made] == [
        "create_parameter_0.w_0",
        "create_parameter_1.b_0",
        "nn",
        "qq",
        "create_parameter_3.w_0",
    ]


def test_names_are_counted_and_a_guard_counts_anew() -> None:
    x = static.data("x", [None, 4])
    assert paddle.tanh(x).name == "tanh_0.tmp_0"
    with paddle.utils.unique_name.guard("pre_"):
        assert static.nn.fc(x, 2).name == "pre_pre_fc_0.tmp_1"  # the layer's prefix and its own
    assert paddle.tanh(x).name == "tanh_1.tmp_0"


def test_initial_values_of_layers() -> None:
    x = static.data("x", [None, 50])
    static.nn.fc(x, 50)
    w, b = run(["fc_0.w_0", "fc_0.b_0"], x=np.ones((1, 50), "float32"))
    limit = np.sqrt(6 / 100)
    assert 0.9 * limit < abs(w).max() <= limit
    assert not b.any()


# --- 2 gradients


@pytest.mark.parametrize("kind", [lambda v: v, lambda v: [v], lambda v: (v,)])
def test_gradients_returns_a_list(kind: Any) -> None:
    x = open_data()
    grads = gradients(kind(paddle.tanh(x)), kind(x))
    assert isinstance(grads, list)
    assert called(grads) == ["x@GRAD"]


def test_several_targets_are_summed() -> None:
    x = open_data(shape=(1,))
    (grad,) = gradients([x * 2.0, x * x], x)
    assert run([grad], x=np.array([3.0], "float32"))[0].tolist() == [8.0]


def test_a_target_before_another_one_counts() -> None:
    """d(h + h * h) / dh = 1 + 2 h. The reference forgets the ones that start at h."""
    x = open_data(shape=(1,))
    h = x * 1.0
    grads = gradients([h * h, h], [h, x])
    assert [g.tolist() for g in run(grads, x=np.array([3.0], "float32"))] == [[7.0], [7.0]]


def test_none_for_what_no_target_depends_on() -> None:
    """One entry each; the reference returns [] if all of them are None."""
    x, other = open_data(), open_data("other")
    y = paddle.tanh(x)
    assert called(gradients(y, [x, other])) == ["x@GRAD", None]
    assert gradients(y, [other]) == [None]
    assert gradients(y, x, no_grad_set={x}) == [None]
    assert gradients(paddle.argmax(x), x) == [None]
    x.stop_gradient = True
    assert gradients(y, x) == [None]


def test_a_target_that_is_an_input_has_ones() -> None:
    """The reference makes them and returns []."""
    x = open_data()
    (grad,) = gradients(x, x)
    assert run([grad], x=np.zeros((2, 3), "float32"))[0].tolist() == [[1.0] * 3] * 2


def test_intermediates_and_leaves() -> None:
    x = open_data()
    h = paddle.tanh(x)
    assert called(gradients(paddle.exp(h), [h, x])) == ["tanh_0.tmp_0@GRAD", "x@GRAD"]


@pytest.mark.parametrize("bad", [None, "x", 3, [None], ["x"]])
def test_targets_and_inputs_of_another_kind(bad: Any) -> None:
    x = open_data()
    with pytest.raises(TypeError, match="gradients: targets must be a Variable"):
        gradients(bad, x)
    with pytest.raises(TypeError, match="gradients: inputs must be a Variable"):
        gradients(paddle.tanh(x), bad)


def test_no_targets_and_no_inputs() -> None:
    x = open_data()
    with pytest.raises(BuildError, match="targets is empty; give one Variable"):
        gradients([], x)
    assert gradients(paddle.tanh(x), []) == []


def test_target_gradients_are_used_as_they_are() -> None:
    x, g = open_data(shape=(2,)), static.data("g", [2])
    y = x * 3.0
    feed = {"x": np.ones(2, "float32"), "g": np.array([1.0, 10.0], "float32")}
    assert run(gradients(y, x, g), **feed)[0].tolist() == [3.0, 30.0]
    assert run(gradients([y, x * 2.0], x, [g, None]), **feed)[0].tolist() == [5.0, 32.0]


def test_target_gradients_that_do_not_fit() -> None:
    """Of another dtype, too: the reference takes them."""
    x = open_data()
    y = paddle.tanh(x)
    with pytest.raises(ShapeError, match=r"tanh_0\.tmp_0 has shape \[2, 3\], its gradient"):
        gradients(y, x, static.data("g", [3, 2]))
    with pytest.raises(TypeError, match=r"is float32, its gradient .* float64; cast it"):
        gradients(y, x, static.data("d", [2, 3], "float64"))
    with pytest.raises(ValueError, match=r"2 entries for 1 targets; give one each, None for ones"):
        gradients(y, x, [None, None])


def test_three_orders_of_a_cube() -> None:
    """12, 12 and 6, as observed."""
    x = open_data(shape=(1,))
    made = [x * x * x]
    for _ in range(3):
        made += gradients(made[-1], x)
    got = run(made[1:], x=np.array([2.0], "float32"))
    assert [g.item() for g in got] == [12.0, 12.0, 6.0]


@pytest.mark.parametrize(
    "function",
    [
        F.softmax,
        F.log_softmax,
        F.gelu,
        paddle.logsumexp,
        lambda x: paddle.cumsum(x, axis=-1),
        lambda x: paddle.roll(x, 1, 1),
        lambda x: paddle.stack([x, x]),
        lambda x: F.dropout(x, 0.4, training=False),
    ],
)
def test_a_second_order_that_the_reference_has_no_rule_for(function: Any) -> None:
    x = open_data()
    y = function(x)
    (first,) = gradients(paddle.sum(y * y), x)
    (second,) = gradients(paddle.sum(first * first), x)
    values = np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)
    (got,) = run([second], x=values)
    step, size = np.float32(1e-2), []
    for k in range(6):
        e = np.zeros(6, "float32")
        e[k] = step
        ends = [run([first], x=values + s * e.reshape(2, 3))[0] for s in (1, -1)]
        size.append(((ends[0] ** 2).sum() - (ends[1] ** 2).sum()) / (2 * step))
    np.testing.assert_allclose(got.ravel(), size, rtol=2e-2, atol=2e-2)


def test_gradients_have_the_dtype_of_the_input() -> None:
    x = open_data(shape=(2,))
    (grad,) = gradients(paddle.cast(x, "float64") * 2.0, x)
    assert grad.dtype == "float32"


def test_eager_functions_are_refused() -> None:
    x = open_data()
    with pytest.raises(AssertionError, match="static"):
        paddle.grad(paddle.tanh(x), x)
    with pytest.raises(AssertionError, match=re.compile("static|program")):
        paddle.autograd.backward(paddle.tanh(x))


# --- 4 executor and optimizers (rows of feeds and fetches: test_executor.py)


def test_startup_returns_nothing_and_values_come_as_arrays() -> None:
    *_, loss = net()
    exe = static.Executor()
    assert exe.run(static.default_startup_program()) == []
    feed = {"x": np.ones((2, 4), "float32"), "nobody": np.ones(1)}
    got = exe.run(feed=feed, fetch_list=[loss, "h.w_0", loss])
    assert [type(g) for g in got] == [np.ndarray] * 3
    assert got[0].shape == ()
    assert exe.run(feed=feed) == []


def test_main_before_startup() -> None:
    *_, loss = net()
    with pytest.raises(RuntimeError, match=r"run\(.*startup"):
        static.Executor().run(feed={"x": np.ones((2, 4), "float32")}, fetch_list=[loss])


@pytest.mark.parametrize(
    ("feed", "kind", "hint"),
    [
        ({}, ValueError, "'x'"),
        ({"x": np.ones((5, 3), "float32")}, ValueError, r"\[5, 3\]|\(5, 3\)"),
        ({"x": np.ones((4,), "float32")}, ValueError, "'x'"),
        ({"x": np.ones((5, 4))}, ValueError, r"float64.*\.astype\('float32'\)"),
        (3, TypeError, "feed"),
    ],
)
def test_feeds_that_do_not_fit(feed: Any, kind: Any, hint: str) -> None:
    *_, loss = net()
    exe = static.Executor()
    exe.run(static.default_startup_program())
    with pytest.raises(kind, match=hint):
        exe.run(feed=feed, fetch_list=[loss])


def test_fetches_that_are_not_there() -> None:
    *_, loss = net()
    exe = static.Executor()
    exe.run(static.default_startup_program())
    feed = {"x": np.ones((2, 4), "float32")}
    with pytest.raises((RuntimeError, ValueError), match="nope"):
        exe.run(feed=feed, fetch_list=["nope"])
    with pytest.raises(TypeError, match="int"):
        exe.run(feed=feed, fetch_list=[3])
    exe.close()
    with pytest.raises(RuntimeError, match="closed"):
        exe.run(feed=feed, fetch_list=[loss])


def test_minimize_returns_updates_and_pairs() -> None:
    """Pairs in the order of creation, updates in that of names; and the state has these names."""
    *_, loss = net()
    updates, pairs = paddle.optimizer.Adam(0.1).minimize(loss)
    assert left(pairs) == EVERY
    assert [op.type for op in updates] == ["adam"] * 4
    assert [op.attr("op_role_var")[0] for op in updates] == sorted(EVERY)
    kept = {v.name for v in block().program.list_vars() if v.persistable} - set(EVERY)
    assert kept == {"learning_rate_0"} | {
        f"{p}_{s}_0"
        for p in EVERY
        for s in ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")
    }
    assert block().var("learning_rate_0").shape == ()


def test_backward_and_apply_gradients() -> None:
    *_, loss = net()
    sgd = paddle.optimizer.SGD(0.1)
    pairs = sgd.backward(loss)
    assert left(pairs) == EVERY
    assert [op.type for op in sgd.apply_gradients(pairs)] == ["sgd"] * 4


def test_the_returned_gradient_is_that_of_the_loss() -> None:
    """The reference adds the decay to the variable in place, so that fetching it shows the sum."""
    x = static.data("x", [2])
    w = static.create_parameter([2], "float32", name="w")
    sgd = paddle.optimizer.SGD(0.5, weight_decay=paddle.regularizer.L2Decay(0.1))
    _, pairs = sgd.minimize(paddle.sum(x * w))
    exe = static.Executor()
    exe.run(static.default_startup_program())
    static.global_scope().find_var("w").get_tensor().set(np.array([1.0, 2.0], "float32"))
    grad, after = exe.run(feed={"x": np.array([3, 4], "float32")}, fetch_list=[pairs[0][1], "w"])
    assert grad.tolist() == [3.0, 4.0]
    np.testing.assert_allclose(after, [1 - 0.5 * 3.1, 2 - 0.5 * 4.2], rtol=1e-6)


def test_eager_minimize_takes_what_backward_left() -> None:
    """It runs no backward pass of its own."""
    paddle.disable_static()
    w = paddle.create_parameter([2])
    loss = (w * 3.0).sum()
    sgd = paddle.optimizer.SGD(0.1, parameters=[w])
    assert sgd.minimize(loss) == ([], [])
    loss.backward()
    updates, ((p, g),) = sgd.minimize(loss)
    assert updates == []
    assert p is w
    assert g.tolist() == [3.0, 3.0]


def test_optimizers_that_cannot_be_made() -> None:
    paddle.disable_static()
    with pytest.raises(ValueError, match="nothing to train: pass parameters="):
        paddle.optimizer.SGD(0.1)
    with pytest.raises(TypeError, match="learning_rate"):
        paddle.optimizer.SGD("fast", parameters=[])  # type: ignore[arg-type]


def test_data_is_declared_once() -> None:
    static.data("x", [None, 4])
    with pytest.raises(ValueError, match="x"):
        static.data("x", [None, 5])
    with pytest.raises(TypeError, match="name"):
        static.data(3, [2])  # type: ignore[arg-type]


def test_layers_check_their_input() -> None:
    x = static.data("x", [None, 4], "int64")
    with pytest.raises(TypeError, match="int64"):
        static.nn.fc(x, 2)
    with pytest.raises(TypeError, match="float32"):
        static.nn.embedding(static.data("f", [None, 2]), [4, 2])
    with pytest.raises(ValueError, match="nope"):
        static.nn.fc(static.data("g", [None, 2]), 2, activation="nope")
    with pytest.raises(ValueError, match=r"\?|-1|unknown"):
        static.nn.fc(static.data("u", [2, None]), 2)


def test_an_eager_tensor_in_a_program() -> None:
    x = static.data("x", [2, 2])
    paddle.disable_static()
    t = paddle.ones([2, 2])
    paddle.enable_static()
    with pytest.raises(NotATensorError, match="eager Tensor among Variables"):
        paddle.matmul(x, t)
