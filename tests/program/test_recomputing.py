"""Checkpoints: values that a backward half computes again, and what that must not change."""

import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.static import append_backward

pytestmark = pytest.mark.usefixtures("static_mode")

static, F = paddle.static, paddle.nn.functional


def main() -> Any:
    return static.default_main_program()


def ops() -> list[Any]:
    return list(main().global_block().ops)


def copies() -> list[str]:
    return [name for name in main().global_block().vars if ".subprog_" in name]


def deep(depth: int, every: int, width: int = 64, layer: Any = None) -> tuple[Any, list[Any]]:
    """(loss, checkpoints) of a chain of layers; a checkpoint after every so many."""
    h = static.data("x", [None, width])
    checkpoints = []
    for k in range(depth):
        h = static.nn.fc(h, width, activation="tanh") if layer is None else layer(h)
        if k % every == every - 1 and k < depth - 1:
            checkpoints.append(h)
    return paddle.mean(h * h), checkpoints


def in_a_program(build: Callable[[], tuple[Any, list[Any]]], recomputes: bool, **feed: Any) -> Any:
    """(gradients, peak) of a program of its own with parameters of its own."""
    paddle.seed(7)
    with (
        static.program_guard(static.Program(), static.Program()),
        static.scope_guard(static.Scope()),
        paddle.unique_name.guard(),
    ):
        loss, checkpoints = build()
        pairs = append_backward(loss, checkpoints=checkpoints if recomputes else None)
        exe = static.Executor()
        exe.run(static.default_startup_program())
        fetches = [loss, *(g for _, g in pairs)]
        paddle.seed(11)
        values = exe.run(feed=feed, fetch_list=fetches)
        tracemalloc.start()
        exe.run(feed=feed, fetch_list=fetches)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return values, peak


def rows(count: int, width: int = 64) -> Any:
    return np.random.default_rng(0).standard_normal((count, width)).astype("float32")


def assert_same_bits(build: Callable[[], tuple[Any, list[Any]]], **feed: Any) -> float:
    """Gradients are the same bits; the peak with checkpoints as a part of that without."""
    kept, most = in_a_program(build, False, **feed)
    again, least = in_a_program(build, True, **feed)
    assert [v.tobytes() for v in again] == [v.tobytes() for v in kept]
    return least / most


# --- what it is for


def test_the_peak_is_well_below_and_the_bits_are_the_same() -> None:
    """36 layers keep 36 arrays; with a checkpoint every 6, 5 checkpoints and one segment."""
    assert assert_same_bits(lambda: deep(36, 6), x=rows(2048)) < 0.45


@pytest.mark.thorough
def test_more_layers_save_more() -> None:
    few = assert_same_bits(lambda: deep(9, 3), x=rows(1024))
    many = assert_same_bits(lambda: deep(49, 7), x=rows(1024))
    assert many < few < 1.0


def test_a_segment_is_computed_right_before_its_own_backward() -> None:
    """So no copy of one segment lives while another is differentiated."""
    loss, checkpoints = deep(12, 3)
    append_backward(loss, checkpoints=checkpoints)
    alive: dict[str, list[int]] = {}
    for k, op in enumerate(ops()):
        for name in (*op.input_arg_names, *op.output_arg_names):
            if ".subprog_" in name:
                alive.setdefault(name.rsplit("_", 1)[1], []).append(k)
    spans = sorted((min(at), max(at)) for at in alive.values())
    assert list(alive) == ["2", "1", "0"]
    assert all(end < start for (_, end), (start, _) in itertools.pairwise(spans))


# --- which values, under which names


def test_names_roles_and_places_of_what_is_computed_again() -> None:
    loss, checkpoints = deep(4, 2)
    forward = ops()
    append_backward(loss, checkpoints=checkpoints)
    again = [op for op in ops() if any(".subprog_" in n for n in op.output_arg_names)]
    # The first segment is two layers; the last value of it is the checkpoint.
    assert [op.type for op in again] == ["matmul", "add", "tanh"]
    assert [op.output_arg_names for op in again] == [[f"fc_0.tmp_{k}.subprog_0"] for k in range(3)]
    assert all((op.role, op.op_role) == ("backward", 1) for op in again)
    assert [op.location for op in again] == [op.location for op in forward[:3]]
    first = ops().index(again[0])
    assert ops()[first : first + 3] == again
    assert "fc_0.tmp_2.subprog_0" in ops()[first + 3].input_arg_names
    assert len(copies()) == 3


def test_gradient_operators_read_the_copies() -> None:
    loss, checkpoints = deep(4, 2)
    append_backward(loss, checkpoints=checkpoints)
    backward = [op for op in ops() if op.role == "backward"]
    read = {name for op in backward for name in op.input_arg_names}
    assert "fc_0.tmp_2.subprog_0" in read
    assert "fc_0.tmp_2" not in read
    assert checkpoints[0].name in read


def test_what_is_behind_the_last_checkpoint_is_kept() -> None:
    loss, checkpoints = deep(6, 2)
    append_backward(loss, checkpoints=checkpoints)
    assert {name.split(".")[0] for name in copies()} == {"fc_0", "fc_2"}


@pytest.mark.parametrize("kind", [list, tuple, set])
@pytest.mark.parametrize("by_name", [True, False])
def test_checkpoints_by_variable_or_name(kind: Any, by_name: bool) -> None:
    loss, checkpoints = deep(6, 2)
    chosen = kind(c.name if by_name else c for c in checkpoints)
    pairs = append_backward(loss, checkpoints=chosen)
    assert type(pairs) is list
    assert [g.name for _, g in pairs] == [f"{p.name}@GRAD" for p, _ in pairs]
    assert len(pairs) == 12
    assert len(copies()) == 6


@pytest.mark.parametrize("empty", [None, [], (), set()])
def test_no_checkpoints_keep_everything(empty: Any) -> None:
    loss, _ = deep(4, 2)
    append_backward(loss, checkpoints=empty)
    assert copies() == []


def test_nothing_else_is_left_behind() -> None:
    loss, checkpoints = deep(4, 2)
    append_backward(loss, checkpoints=checkpoints)
    assert main().num_blocks == 1
    read = {name for op in ops() for name in op.input_arg_names}
    assert set(copies()) <= read


def test_parameters_and_data_as_checkpoints_change_nothing() -> None:
    loss, _ = deep(4, 2)
    append_backward(loss, checkpoints=["x", "fc_0.w_0"])
    assert copies() == []


# --- what is kept besides


def test_random_numbers_are_drawn_once() -> None:
    def layer(h: Any) -> Any:
        return F.dropout(paddle.tanh(h * 1.25), 0.5)

    def build() -> Any:
        w = static.create_parameter([64], "float32")
        return deep(9, 3, layer=lambda h: layer(h * w))

    assert assert_same_bits(build, x=rows(64)) < 1.0
    loss, checkpoints = build()
    append_backward(loss, checkpoints=checkpoints)
    assert [op.type for op in ops()].count("dropout_mask") == 9
    assert copies()


def test_connections_that_skip_checkpoints() -> None:
    def build() -> Any:
        h = static.data("x", [None, 64])
        before: list[Any] = []
        checkpoints = []
        for k in range(16):
            h = static.nn.fc(h, 64, activation="tanh")
            if k >= 5:
                h = h + before[k - 5] * 0.5
            before.append(h)
            if k in (3, 7, 11):
                checkpoints.append(h)
        return paddle.mean(h), checkpoints

    assert assert_same_bits(build, x=rows(256)) < 1.0


def test_a_value_that_two_segments_read_is_kept() -> None:
    x = static.data("x", [4])
    w = static.create_parameter([4], "float32")
    early = paddle.tanh(x * w)
    middle = paddle.exp(early)
    late = paddle.tanh(paddle.tanh(middle) * early)
    append_backward(paddle.sum(paddle.exp(late)), checkpoints=[middle, late])
    assert f"{early.name}.subprog_0" not in copies()


def test_what_others_read_off_the_way_is_no_reason_to_keep_it() -> None:
    loss, checkpoints = deep(4, 2)
    hidden = main().global_block().var("fc_0.tmp_2")
    paddle.sum(hidden * 2.0)  # built later, of no concern to the loss
    append_backward(loss, checkpoints=checkpoints)
    assert f"{hidden.name}.subprog_0" in copies()


def test_running_statistics_are_written_once() -> None:
    def build() -> Any:
        h = static.data("x", [None, 8])
        checkpoints = []
        for k in range(6):
            h = F.relu(static.nn.batch_norm(static.nn.fc(h, 8)))
            if k in (1, 3):
                checkpoints.append(h)
        return paddle.mean(h * h), checkpoints

    assert_same_bits(build, x=rows(16, 8))
    loss, checkpoints = build()
    append_backward(loss, checkpoints=checkpoints)
    written = [r.var.name for op in ops() for r in op.results if r.var.persistable]
    assert len(written) == 12
    assert len(set(written)) == 12


def test_branches_and_loops_are_not_run_again() -> None:
    """What they return is kept, and what is around them is computed again."""

    def build() -> Any:
        h = static.data("x", [None, 8])
        w = static.create_parameter([8], "float32")
        checkpoints = []
        for k in range(6):
            h = static.nn.fc(h, 8, activation="tanh")
            if k == 1:
                h = static.nn.cond(paddle.sum(h) > 0, lambda h=h: paddle.exp(h) * w, lambda h=h: -h)
            if k == 2:
                count = paddle.full([], 0, "int64")
                _, h = static.nn.while_loop(
                    lambda n, v: n < 3, lambda n, v: [n + 1, paddle.tanh(v * w)], [count, h]
                )
            if k in (1, 3):
                checkpoints.append(h)
        return paddle.mean(h * h), checkpoints

    assert_same_bits(build, x=rows(16, 8))
    loss, checkpoints = build()
    append_backward(loss, checkpoints=checkpoints)
    types = [op.type for op in ops()]
    assert (types.count("cond"), types.count("while")) == (1, 1)
    assert copies()


# --- with callbacks, again, and with others


def test_callbacks_see_each_operator_once_in_order() -> None:
    loss, checkpoints = deep(6, 2)
    before, seen = len(ops()), []

    def look(block: Any, context: Any) -> None:
        desc = context["__current_op_desc__"]
        seen.append((desc.type(), desc.output_arg_names()))
        assert block.ops[-1].output_arg_names == desc.output_arg_names()

    append_backward(loss, checkpoints=checkpoints, callbacks=[look])
    assert seen == [(op.type, op.output_arg_names) for op in ops()[before + 1 :]]
    assert any(".subprog_" in name for _, names in seen for name in names)


def test_a_failing_callback_leaves_no_copy_behind() -> None:
    loss, checkpoints = deep(6, 2)
    text = repr(main())

    def fail(block: Any, context: Any) -> None:
        if any(".subprog_1" in n for n in context["__current_op_desc__"].output_arg_names()):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        append_backward(loss, checkpoints=checkpoints, callbacks=[fail])
    assert repr(main()) == text


def test_asking_again_appends_nothing() -> None:
    loss, checkpoints = deep(6, 2)
    first = append_backward(loss, checkpoints=checkpoints)
    text = repr(main())
    for again in (checkpoints, None, checkpoints[:1]):
        pairs = append_backward(loss, checkpoints=again)
        assert all(g is h for (_, g), (_, h) in zip(first, pairs, strict=True))
    assert repr(main()) == text


def test_another_loss_computes_its_own_copies() -> None:
    loss, checkpoints = deep(6, 2)
    other = paddle.exp(loss)
    first = [g for _, g in append_backward(loss, checkpoints=checkpoints)]
    count = len(copies())
    second = [g for _, g in append_backward(paddle.sum(other), checkpoints=checkpoints)]
    assert len(copies()) == 2 * count
    exe = static.Executor()
    exe.run(static.default_startup_program())
    values = exe.run(feed={"x": rows(4)}, fetch_list=[other, *first, *second])
    for g, h in zip(values[1 : len(first) + 1], values[len(first) + 1 :], strict=True):
        np.testing.assert_allclose(h, values[0] * g, rtol=1e-4, atol=1e-7)


def test_training_has_the_same_bits() -> None:
    def train(recomputes: bool) -> list[bytes]:
        paddle.seed(3)
        with (
            static.program_guard(static.Program(), static.Program()),
            static.scope_guard(static.Scope()),
            paddle.unique_name.guard(),
        ):
            loss, checkpoints = deep(
                9, 3, 8, lambda h: F.dropout(static.nn.fc(h, 8, activation="tanh"), 0.25)
            )
            sgd = paddle.optimizer.Momentum(0.1)
            sgd.apply_gradients(append_backward(loss, checkpoints=checkpoints * recomputes))
            exe = static.Executor()
            exe.run(static.default_startup_program())
            return [exe.run(feed={"x": rows(16, 8)}, fetch_list=[loss])[0].tobytes() for _ in "123"]

    assert train(True) == train(False)


def test_optimizers_hand_checkpoints_on() -> None:
    loss, checkpoints = deep(6, 2)
    _, pairs = paddle.optimizer.SGD(0.1).minimize(loss, checkpoints=checkpoints)
    assert len(pairs) == 12
    assert len(copies()) == 6
    with static.program_guard(static.Program(), static.Program()):
        loss, checkpoints = deep(6, 2)
        paddle.optimizer.SGD(0.1).backward(loss, checkpoints=[c.name for c in checkpoints])
        assert len(copies()) == 6


def test_an_eager_optimizer_says_what_to_use_instead() -> None:
    paddle.disable_static()
    w = paddle.create_parameter([1], "float32")
    loss = (w * w).sum()
    loss.backward()
    with pytest.raises(ValueError, match=r"checkpoints are variables of a program.*recompute"):
        paddle.optimizer.SGD(0.1, [w]).minimize(loss, checkpoints=[loss])


# --- higher order


def penalty(recomputes: bool) -> Any:
    """Gradients of a gradient penalty, by parameters and by an intermediate value."""
    paddle.seed(5)
    with (
        static.program_guard(static.Program(), static.Program()),
        static.scope_guard(static.Scope()),
        paddle.unique_name.guard(),
    ):
        x = static.data("x", [None, 8])
        x.stop_gradient = False
        h, values = x, []
        for _ in range(6):
            h = static.nn.fc(h, 8, activation="tanh")
            values.append(h)
        loss = paddle.mean(h * h)
        checkpoints = [values[1], values[3]]
        pairs = append_backward(loss, checkpoints=checkpoints if recomputes else None)
        by_w = pairs[0][1]
        goal = paddle.sum(paddle.square(by_w))
        second = [g for _, g in append_backward(goal)]
        second += static.gradients(goal, [values[0], values[2], x])
        cut = static.gradients(goal, [values[0]], no_grad_set={values[2]})
        exe = static.Executor()
        exe.run(static.default_startup_program())
        return exe.run(feed={"x": rows(4, 8)}, fetch_list=[by_w, *second, *cut])


def test_second_order_means_the_values_themselves() -> None:
    """A copy is no other value: gradients by it, and cuts at it, are those without checkpoints."""
    assert [v.tobytes() for v in penalty(True)] == [v.tobytes() for v in penalty(False)]


def test_checkpoints_of_the_second_order() -> None:
    def build() -> Any:
        loss, checkpoints = deep(6, 2, 8)
        (grad,) = static.gradients(loss, checkpoints[0])
        return paddle.sum(paddle.square(grad)), checkpoints

    assert_same_bits(build, x=rows(4, 8))


# --- wrong arguments


@pytest.mark.parametrize("bad", ["fc_0.tmp_2", 3, {"a": 1}, frozenset(["x"])], ids=repr)
def test_checkpoints_must_be_a_collection(bad: Any) -> None:
    loss, _ = deep(4, 2)
    with pytest.raises(TypeError, match="checkpoints must be a list, tuple or set of Variables"):
        append_backward(loss, checkpoints=bad)


def test_a_bare_variable_is_told_to_be_put_in_a_list() -> None:
    loss, (checkpoint,) = deep(4, 2)
    with pytest.raises(TypeError, match=rf"got Variable; write \[{checkpoint.name}\]"):
        append_backward(loss, checkpoints=checkpoint)


def test_an_entry_of_another_kind_is_named() -> None:
    loss, checkpoints = deep(4, 2)
    with pytest.raises(TypeError, match=r"checkpoints\[1\] must be a Variable or a name, got int"):
        append_backward(loss, checkpoints=[*checkpoints, 3])


def test_an_unknown_name() -> None:
    loss, _ = deep(4, 2)
    count = len(ops())
    with pytest.raises(ValueError, match="no variable 'nope' in this program; pass the Variable"):
        append_backward(loss, checkpoints=["nope"])
    assert len(ops()) == count


def test_a_variable_of_another_program() -> None:
    loss, _ = deep(4, 2)
    with static.program_guard(static.Program()):
        other = static.data("x", [2]) * 2.0
    with pytest.raises(ValueError, match=r"checkpoints\[0\]: .* belongs to another program"):
        append_backward(loss, checkpoints=[other])
