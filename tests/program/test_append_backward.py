"""`static.append_backward`: arguments, results, callbacks, names, and asking again."""

import sys
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import NotATensorError
from autograd_engine.static import append_backward

pytestmark = pytest.mark.usefixtures("static_mode")

F = paddle.nn.functional


def main() -> Any:
    return paddle.static.default_main_program()


def op_types() -> list[str]:
    return [op.type for op in main().global_block().ops]


def names(pairs: list[tuple[Any, Any]]) -> list[tuple[str, str]]:
    return [(p.name, g.name) for p, g in pairs]


def net() -> tuple[Any, Any, Any]:
    """(x, hidden, loss) with the parameters h.w_0, h.b_0, p.w_0, p.b_0."""
    x = paddle.static.data("x", [None, 4], "float32")
    hidden = paddle.static.nn.fc(x, 3, activation="tanh", name="h")
    out = paddle.static.nn.fc(hidden, 1, name="p")
    return x, hidden, paddle.mean(out)


def parameter(name: str, value: Any, **options: Any) -> Any:
    attr = paddle.ParamAttr(name=name, initializer=paddle.nn.initializer.Assign(value), **options)
    shape = list(np.shape(value))
    return paddle.static.create_parameter(shape, "float32", attr=attr)


def run(fetches: Any, feed: dict[str, Any] | None = None, *, start: bool = True) -> list[Any]:
    exe = paddle.static.Executor()
    if start:
        exe.run(paddle.static.default_startup_program())
    return exe.run(feed=feed, fetch_list=fetches)


ALL = [(n, f"{n}@GRAD") for n in ("h.w_0", "h.b_0", "p.w_0", "p.b_0")]


def test_all_parameters_in_order_of_creation() -> None:
    *_, loss = net()
    pairs = append_backward(loss)
    assert names(pairs) == ALL
    assert all(g.shape == p.shape and g.dtype == p.dtype for p, g in pairs)


# --- parameter_list


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("by_name", [True, False])
def test_parameter_list_keeps_the_order_given(kind: Any, by_name: bool) -> None:
    *_, loss = net()
    wanted = ["p.w_0", "h.w_0"]
    block = main().global_block()
    chosen = kind(wanted if by_name else map(block.var, wanted))
    assert names(append_backward(loss, parameter_list=chosen)) == [ALL[2], ALL[0]]


def test_parameter_list_may_be_a_set() -> None:
    *_, loss = net()
    assert sorted(names(append_backward(loss, {"p.w_0", "h.w_0"}))) == [ALL[0], ALL[2]]


def test_parameter_list_mixes_names_and_variables() -> None:
    *_, loss = net()
    first = main().global_block().var("h.b_0")
    assert names(append_backward(loss, [first, "p.b_0"])) == [ALL[1], ALL[3]]


def test_duplicates_give_duplicate_pairs() -> None:
    *_, loss = net()
    assert names(append_backward(loss, ["p.w_0", "p.w_0"])) == [ALL[2], ALL[2]]


def test_unknown_names_are_skipped() -> None:
    *_, loss = net()
    with pytest.warns(UserWarning, match="parameter_list names 'nope'.* gets no gradient"):
        assert names(append_backward(loss, ["nope", "p.w_0"])) == [ALL[2]]


def test_an_empty_parameter_list_asks_for_nothing() -> None:
    *_, loss = net()
    assert append_backward(loss, []) == []


def test_only_what_is_asked_for_is_computed() -> None:
    *_, loss = net()
    append_backward(loss, ["p.b_0"])
    assert not main().global_block().has_var("h.w_0@GRAD")
    assert "tanh_grad" not in op_types()


def test_unreachable_parameters_are_left_out() -> None:
    _, hidden, _ = net()
    assert names(append_backward(paddle.mean(hidden))) == ALL[:2]


def test_a_data_variable_is_returned_once_it_is_open() -> None:
    x, _, loss = net()
    assert append_backward(loss, [x]) == []
    x.stop_gradient = False
    assert names(append_backward(loss, [x])) == [("x", "x@GRAD")]


def test_frozen_parameters_are_left_out_even_if_listed() -> None:
    frozen = parameter("frozen", [1.0, 2.0], trainable=False)
    free = parameter("free", [1.0, 2.0])
    loss = paddle.sum(frozen * free)
    assert names(append_backward(loss, ["frozen", "free"])) == [("free", "free@GRAD")]


@pytest.mark.parametrize("bad", ["h.w_0", {"h.w_0": 1}, 3, np.ones(2), frozenset(["h.w_0"])])
def test_parameter_list_must_be_a_collection(bad: Any) -> None:
    *_, loss = net()
    with pytest.raises(TypeError, match="parameter_list must be a list, tuple or set"):
        append_backward(loss, bad)


@pytest.mark.parametrize("bad", [1, np.ones(2), None])
def test_an_entry_of_another_kind_is_named(bad: Any) -> None:
    *_, loss = net()
    with pytest.raises(TypeError, match=r"parameter_list\[1\] must be a Variable or a name"):
        append_backward(loss, ["h.w_0", bad])


def test_a_bare_variable_is_told_to_be_put_in_a_list() -> None:
    *_, loss = net()
    w = main().global_block().var("h.w_0")
    with pytest.raises(TypeError, match=r"got Parameter; write \[h\.w_0\]"):
        append_backward(loss, w)


def test_a_parameter_of_another_program_is_refused() -> None:
    """Its name may stand for something else here: a pair of both would be neither's."""
    *_, loss = net()
    block = main().global_block()
    with (
        paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()),
        paddle.unique_name.guard(),
    ):
        *_, other = net()
        with pytest.raises(ValueError, match=r"parameter_list\[0\]: h.w_0 belongs to another pro"):
            append_backward(other, [block.var("h.w_0")])
        with pytest.raises(ValueError, match=r"or a name, 'h\.w_0'"):
            append_backward(other, no_grad_set=[block.var("h.w_0")])
        assert names(append_backward(other, ["h.w_0"])) == ALL[:1]
    assert names(append_backward(loss)) == ALL


@pytest.mark.parametrize("listed", [None, ["h.w_0", "h.b_0"]], ids=["default", "listed"])
@pytest.mark.parametrize("how", ["stop_gradient", "trainable"])
def test_a_parameter_that_is_closed_later_is_left_out(how: str, listed: Any) -> None:
    *_, loss = net()
    setattr(main().global_block().var("h.w_0"), how, how == "stop_gradient")
    assert ALL[0] not in names(append_backward(loss, listed))
    assert ALL[1] in names(append_backward(loss, listed))
    assert not main().global_block().has_var("h.w_0@GRAD")


# --- no_grad_set


@pytest.mark.parametrize("kind", [set, list, tuple])
@pytest.mark.parametrize("by_name", [True, False])
def test_no_grad_set_cuts_what_lies_behind(kind: Any, by_name: bool) -> None:
    _, hidden, loss = net()
    cut = kind([hidden.name if by_name else hidden])
    assert names(append_backward(loss, no_grad_set=cut)) == ALL[2:]


def test_no_grad_set_wins_over_parameter_list() -> None:
    *_, loss = net()
    pairs = append_backward(loss, ["h.w_0", "p.w_0"], no_grad_set={"h.w_0"})
    assert names(pairs) == [ALL[2]]


def test_unknown_names_and_the_empty_set_cut_nothing() -> None:
    *_, loss = net()
    with pytest.warns(UserWarning, match="no_grad_set names 'nope'.* stops no gradient"):
        assert names(append_backward(loss, no_grad_set={"nope"})) == ALL
    assert names(append_backward(loss, no_grad_set=set())) == ALL


def test_cutting_the_loss_leaves_nothing() -> None:
    *_, loss = net()
    assert append_backward(loss, no_grad_set={loss}) == []


def test_a_variable_with_stop_gradient_cuts_by_itself() -> None:
    _, hidden, loss = net()
    hidden.stop_gradient = True
    assert names(append_backward(loss)) == ALL[2:]


def test_a_closed_loss_has_no_gradients() -> None:
    *_, loss = net()
    loss.stop_gradient = True
    assert append_backward(loss) == []


@pytest.mark.parametrize("bad", ["h", 3, {"h": 1}, frozenset(["h"])])
def test_no_grad_set_must_be_a_collection(bad: Any) -> None:
    *_, loss = net()
    with pytest.raises(TypeError, match="no_grad_set must be a set, list or tuple"):
        append_backward(loss, no_grad_set=bad)


def test_a_member_of_another_kind_is_refused() -> None:
    *_, loss = net()
    with pytest.raises(TypeError, match="a member of no_grad_set must be a Variable or a name"):
        append_backward(loss, no_grad_set={3})
    with pytest.raises(TypeError, match=r"got int as no_grad_set\[1\]"):
        append_backward(loss, no_grad_set=["h.w_0", 3])


def test_a_partial_cut_gives_another_value_under_another_name() -> None:
    """x * y + x: without the way through the product the gradient of x is 1, not y + 1."""
    x, y = parameter("x", [2.0]), parameter("y", [3.0])
    product = x * y
    loss = paddle.sum(product + x)
    whole = dict(append_backward(loss, ["x"]))[x]
    cut = dict(append_backward(loss, ["x"], no_grad_set={product}))[x]
    assert whole.name == "x@GRAD"
    assert cut is not whole
    assert [v.tolist() for v in run([whole, cut])] == [[4.0], [1.0]]


# --- distop_context


@pytest.mark.parametrize("given", [object(), {}, 0])
def test_distributed_programs_are_refused(given: Any) -> None:
    *_, loss = net()
    text = repr(main())
    with pytest.raises(ValueError, match=r"distop_context=.*; leave it out"):
        append_backward(loss, distop_context=given)
    assert repr(main()) == text
    assert names(append_backward(loss, distop_context=None)) == ALL


# --- the loss


@pytest.mark.parametrize("shape", [[None, 1], [2, 1], [1, 1], [1], [2, 3], [None, None]], ids=str)
def test_a_loss_that_is_no_scalar_starts_with_ones(shape: list[int | None]) -> None:
    x = paddle.static.data("x", shape)
    w = parameter("w", [3.0])
    ((_, grad),) = append_backward(x * w)
    value = np.arange(np.prod([d or 2 for d in shape]), dtype="float32")
    value = value.reshape([d or 2 for d in shape])
    assert run([grad], {"x": value})[0].tolist() == [value.sum()]


def test_an_unknown_size_beside_a_known_one() -> None:
    x = paddle.static.data("x", [None, 1])
    w = parameter("w", [3.0])
    ((_, grad),) = append_backward(x * w)
    for rows in (1, 4, 0):
        (value,) = run([grad], {"x": np.ones((rows, 1), "float32")})
        assert value.tolist() == [rows]


def test_the_loss_decides_which_program_is_extended() -> None:
    *_, loss = net()
    other = paddle.static.Program()
    with paddle.static.program_guard(other):
        assert names(append_backward(loss)) == ALL
    assert other.global_block().ops == []


@pytest.mark.parametrize("bad", [None, "loss", 3, np.ones(1), [], ["loss"]], ids=repr)
def test_a_loss_that_is_none(bad: Any) -> None:
    for kind in (TypeError, AssertionError):
        with pytest.raises(kind, match="loss must be a Variable of a static program, got"):
            append_backward(bad)


def test_a_loss_of_integers_has_no_gradients() -> None:
    *_, loss = net()
    assert append_backward(paddle.cast(loss, "int64")) == []


def test_an_eager_loss_is_told_what_to_call() -> None:
    with pytest.raises(NotATensorError, match=r"call \.backward\(\) on the result"):
        append_backward(paddle.Tensor(1.0, stop_gradient=False))


def test_it_works_without_enable_static_on_a_variable() -> None:
    """A Variable says by itself which program is meant; only making one needs the mode."""
    *_, loss = net()
    paddle.disable_static()
    assert names(append_backward(loss)) == ALL


# --- what is appended


def test_the_seed_comes_first_and_has_the_shape_of_the_loss() -> None:
    *_, loss = net()
    before = len(op_types())
    append_backward(loss)
    seed = main().global_block().ops[before]
    assert seed.type == "full"
    assert (seed.attrs["shape"], seed.attrs["value"]) == ((), 1.0)
    assert seed.output_arg_names == [f"{loss.name}@GRAD"]
    assert all(t.endswith("_grad") for t in op_types()[before + 1 :])


def test_one_gradient_operator_for_each_operator_on_the_way() -> None:
    *_, loss = net()
    forward = op_types()
    append_backward(loss)
    appended = op_types()[len(forward) + 1 :]
    assert appended == [f"{t}_grad" for t in reversed(forward)]


def test_roles() -> None:
    *_, loss = net()
    count = len(op_types())
    append_backward(loss)
    roles = [op.role for op in main().global_block().ops]
    assert roles == ["forward"] * count + ["backward"] * (len(roles) - count)


def test_contributions_are_numbered_and_summed_once() -> None:
    w = parameter("w", [2.0])
    loss = paddle.sum(w * w + w)
    ((_, grad),) = append_backward(loss)
    sums = [op for op in main().global_block().ops if op.type == "add_n"]
    assert [op.output_arg_names for op in sums] == [["w@GRAD"]]
    assert sorted(sums[0].input_arg_names) == [f"w@GRAD@RENAME@block0@{i}" for i in range(3)]
    assert run([grad])[0].tolist() == [5.0]


def test_the_sum_comes_before_what_reads_it() -> None:
    w = parameter("w", [0.5])
    h = paddle.tanh(w)
    append_backward(paddle.sum(h * h))
    types = op_types()
    assert types.index("add_n") < types.index("tanh_grad")
    block = main().global_block()
    assert f"{h.name}@GRAD" in block.ops[types.index("tanh_grad")].input_arg_names


def test_new_variables_are_listed_by_name() -> None:
    *_, loss = net()
    before = list(main().global_block().vars)
    append_backward(loss)
    after = list(main().global_block().vars)
    assert after[: len(before)] == before
    assert after[len(before) :] == sorted(after[len(before) :])


def test_variables_that_no_gradient_reaches_get_none() -> None:
    *_, loss = net()
    append_backward(loss)
    assert not main().global_block().has_var("x@GRAD")


def test_unused_outputs_of_an_operator_count_as_zeros() -> None:
    w = parameter("w", [1.0, 2.0, 3.0])
    first, _, last = paddle.split(w, 3)
    ((_, grad),) = append_backward(paddle.sum(first * 5.0 + last))
    assert run([grad])[0].tolist() == [5.0, 0.0, 1.0]


# --- asking again


def test_asking_again_returns_the_same_variables_and_appends_nothing() -> None:
    *_, loss = net()
    first = append_backward(loss)
    count, text = len(op_types()), repr(main())
    for _ in range(3):
        again = append_backward(loss)
        assert all(g is h for (_, g), (_, h) in zip(first, again, strict=True))
    assert (len(op_types()), repr(main())) == (count, text)


def test_asking_for_more_appends_only_the_rest() -> None:
    *_, loss = net()
    (first,) = append_backward(loss, ["p.w_0"])
    count = len(op_types())
    pairs = append_backward(loss)
    assert dict(pairs)[first[0]] is first[1]
    assert names(pairs) == ALL
    assert op_types()[count:].count("mean_grad") == 0


def test_another_loss_gets_names_of_its_own() -> None:
    w = parameter("w", [2.0])
    (_, first), (_, second), (_, third) = (
        append_backward(paddle.sum(w * factor))[0] for factor in (1.0, 10.0, 100.0)
    )
    assert [g.name for g in (first, second, third)] == [
        "w@GRAD",
        "grad/grad/w@GRAD",
        "grad/grad/grad/w@GRAD",
    ]
    assert [v.tolist() for v in run([first, second, third])] == [[1.0], [10.0], [100.0]]


def test_values_after_asking_twice_with_two_losses_are_independent() -> None:
    w = parameter("w", [3.0])
    shared = w * w
    one, two = paddle.sum(shared), paddle.sum(shared * 2.0)
    gradients = [append_backward(loss)[0][1] for loss in (one, two, one, two)]
    assert gradients[0] is gradients[2]
    assert gradients[1] is gradients[3]
    assert [v.tolist() for v in run(gradients[:2])] == [[6.0], [12.0]]


def test_gradients_after_an_update_are_of_what_the_forward_read() -> None:
    """The update writes w after the forward has read it: the gradient is still 2 w of then."""
    w = parameter("w", [3.0])
    loss = paddle.sum(w * w)
    paddle.optimizer.SGD(0.5).minimize(loss)
    other = paddle.sum(loss * 10.0)
    ((_, grad),) = append_backward(other)
    value, updated = run([grad, w])
    assert value.tolist() == [60.0]
    assert updated.tolist() == [0.0]


def test_a_forward_built_after_an_update_reads_the_new_value() -> None:
    w = parameter("w", [3.0])
    paddle.optimizer.SGD(0.5).minimize(paddle.sum(w * w))
    loss = paddle.sum(w * w * w)
    pairs = append_backward(loss)
    value = run([g for _, g in pairs])[0]
    assert value.tolist() == [0.0]


def test_a_loss_of_values_before_and_after_an_update() -> None:
    """Each version has a gradient of its own; that of the newest is the parameter's."""
    w = parameter("w", [3.0])
    before = paddle.sum(w * w)
    paddle.optimizer.SGD(0.5).minimize(before)
    ((_, grad),) = append_backward(before + paddle.sum(w * 5.0))
    assert run([grad])[0].tolist() == [5.0]


def test_shared_parameters_add_up() -> None:
    x = paddle.static.data("x", [None, 4])
    for _ in range(2):
        x = paddle.static.nn.fc(x, 4, weight_attr="W", bias_attr=False)
    pairs = append_backward(paddle.mean(x))
    assert names(pairs) == [("W", "W@GRAD")]


def test_a_program_of_ten_thousand_operators() -> None:
    x = paddle.static.data("x", [2])
    w = parameter("w", [1.0, 1.0])
    h = w
    for _ in range(5000):
        h = (h + x) * w
    ((_, grad),) = append_backward(paddle.sum(h))
    assert len(op_types()) > 20_000
    assert run([grad], {"x": np.zeros(2, "float32")})[0].tolist() == [5001.0, 5001.0]


def test_planning_is_linear_in_the_operands_of_a_sum():
    """Each operand of a variadic operation asks whether its gradient exists."""

    def calls(n):
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            x = paddle.static.data("x", [2], "float32")
            x.stop_gradient = False
            total = paddle.stack([paddle.add_n([x * 2.0] * n)] * n)
            counted = 0

            def count(*_):
                nonlocal counted
                counted += 1

            sys.setprofile(count)
            try:
                paddle.static.gradients(total, x)
            finally:
                sys.setprofile(None)
        return counted

    calls(20)  # compiles
    assert calls(160) < 2.6 * calls(80)
