"""Callbacks of `append_backward`: when they are called, and with what."""

from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine.static import append_backward

pytestmark = pytest.mark.usefixtures("static_mode")


def main() -> Any:
    return paddle.static.default_main_program()


def net() -> Any:
    x = paddle.static.data("x", [None, 4], "float32")
    hidden = paddle.static.nn.fc(x, 3, activation="tanh", name="h")
    return paddle.mean(hidden * hidden)


class Recorder:
    def __init__(self) -> None:
        self.types: list[str] = []
        self.contexts: list[Any] = []
        self.maps: list[dict[str, Any]] = []
        self.blocks: list[Any] = []

    def __call__(self, block: Any, context: Any) -> None:
        self.types.append(context["__current_op_desc__"].type())
        self.contexts.append(context)
        self.maps.append({k: v for k, v in context.items() if k != "__current_op_desc__"})
        self.blocks.append(block)


def test_once_for_each_gradient_operator_in_order_but_not_for_the_seed() -> None:
    loss, record = net(), Recorder()
    before = len(main().global_block().ops)
    append_backward(loss, callbacks=[record])
    appended = [op.type for op in main().global_block().ops[before:]]
    assert appended[0] == "full"
    assert record.types == appended[1:]
    assert "add_n" in record.types
    assert "tanh_grad" in record.types


def test_every_callback_each_time() -> None:
    calls: list[str] = []

    def first(block: Any, context: Any) -> None:
        calls.append("first")

    def second(block: Any, context: Any) -> None:
        calls.append("second")

    append_backward(net(), callbacks=(first, second))
    assert calls[:4] == ["first", "second", "first", "second"]
    assert calls.count("first") == calls.count("second")


def test_the_block_is_that_of_the_operator() -> None:
    loss, record = net(), Recorder()
    append_backward(loss, callbacks=[record])
    assert all(b is main().global_block() for b in record.blocks)


def test_the_context_is_one_dict_with_the_whole_map_from_the_first_call_on() -> None:
    loss, record = net(), Recorder()
    pairs = append_backward(loss, callbacks=[record])
    assert all(c is record.contexts[0] for c in record.contexts)
    assert type(record.contexts[0]) is dict
    assert all(m == record.maps[0] for m in record.maps)
    first = record.maps[0]
    assert first[f"{loss.name}@GRAD"] == loss.name
    for p, g in pairs:
        assert first[g.name] == p.name


def test_the_map_holds_every_gradient_that_is_appended() -> None:
    loss, record = net(), Recorder()
    before = set(main().global_block().vars)
    append_backward(loss, callbacks=[record])
    made = set(main().global_block().vars) - before
    assert {n for n in made if "@RENAME@" not in n} <= set(record.maps[0])


def test_the_map_holds_what_earlier_calls_have_appended() -> None:
    """A new operator may read a gradient that is there: its variable is asked for all the same."""
    loss, record = net(), Recorder()
    append_backward(loss, ["h.b_0"])

    def look(block: Any, context: Any) -> None:
        for name in context["__current_op_desc__"].input_arg_names():
            if name.endswith("@GRAD"):
                assert context[name] in block.vars

    append_backward(loss, callbacks=[look, record])
    assert record.types == ["add_grad", "matmul_grad"]
    assert record.maps[0]["h.tmp_1@GRAD"] == "h.tmp_1"


def test_the_description_of_the_operator() -> None:
    found: dict[str, Any] = {}

    def look(block: Any, context: Any) -> None:
        desc = context["__current_op_desc__"]
        found.setdefault(
            desc.type(),
            (
                desc.input_arg_names(),
                desc.output_arg_names(),
                desc.has_attr("axis"),
                desc.has_attr("nope"),
                desc.attr("axis") if desc.has_attr("axis") else None,
            ),
        )

    loss = net()
    append_backward(loss, callbacks=[look])
    _, outputs, has_axis, has_nope, axis = found["mean_grad"]
    assert len(outputs) == 1
    assert outputs[0].endswith("@GRAD")
    assert (has_axis, has_nope, axis) == (True, False, (0, 1))
    inputs, outputs, *_ = found["tanh_grad"]
    assert inputs == ["h.tmp_2", "h.tmp_2@GRAD"]
    assert outputs == ["h.tmp_1@GRAD"]


def test_an_unknown_attribute_is_a_key_error_that_lists_the_known_ones() -> None:
    def look(block: Any, context: Any) -> None:
        context["__current_op_desc__"].attr("nope")

    with pytest.raises(KeyError, match="has no attribute 'nope'; it has"):
        append_backward(net(), callbacks=[look])


def test_called_by_keyword() -> None:
    with pytest.raises(TypeError, match=r"is called as callback\(block, context\)"):
        append_backward(net(), callbacks=[lambda a, b: None])


def test_nothing_appended_nothing_called() -> None:
    loss, record = net(), Recorder()
    append_backward(loss)
    append_backward(loss, callbacks=[record])
    assert record.types == []


@pytest.mark.parametrize("after", [0, 1, 3])
def test_an_exception_leaves_the_program_as_it_was(after: int) -> None:
    loss = net()
    text, version = repr(main()), dict(main().global_block().emitted)
    calls = 0

    def fail(block: Any, context: Any) -> None:
        nonlocal calls
        calls += 1
        if calls > after:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        append_backward(loss, callbacks=[fail])
    assert repr(main()) == text
    assert main().global_block().emitted == version
    names = [g.name for _, g in append_backward(loss)]
    assert names == ["h.w_0@GRAD", "h.b_0@GRAD"]


def test_a_failure_of_the_second_order_leaves_the_first_as_it_was() -> None:
    """Differentiating again writes gradient operators out; a failing callback undoes that too."""
    x = paddle.static.data("x", [2])
    x.stop_gradient = False
    (first,) = paddle.static.gradients(paddle.sum(paddle.tanh(x)), x)
    loss = paddle.sum(first)
    text = repr(main())

    def fail(block: Any, context: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        append_backward(loss, [x], callbacks=[fail])
    assert repr(main()) == text


@pytest.mark.parametrize("bad", [print, "x", 3, {"a": 1}])
def test_callbacks_must_be_a_list_or_tuple(bad: Any) -> None:
    with pytest.raises(TypeError, match=r"callbacks must be a list or tuple of callables"):
        append_backward(net(), callbacks=bad)


def test_a_member_that_cannot_be_called() -> None:
    with pytest.raises(ValueError, match="3 in callbacks is not callable"):
        append_backward(net(), callbacks=[3])


def test_a_callback_may_mark_the_program_it_is_given() -> None:
    """It sees the operator at the end of the block when it is called."""
    seen = []

    def look(block: Any, context: Any) -> None:
        seen.append(block.ops[-1].type == context["__current_op_desc__"].type())

    append_backward(net(), callbacks=[look])
    assert seen
    assert all(seen)
