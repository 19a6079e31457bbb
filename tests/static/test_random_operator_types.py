"""Random programs in Paddle 2.6's operator types: the same bits however they are built and kept."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

import autograd_engine as paddle
from autograd_engine.program.mode import guarded
from tests.static.operator_type_programs import (
    ARRAY,
    LEAVES,
    WIDTH,
    ByFunction,
    ByType,
    Steps,
    feeds,
    loss_of,
    steps,
    values_of,
)

static = paddle.static
few = settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[
        Phase.generate
    ],  # a failure is short enough as it is, and takes long to be made shorter
)
many = settings(few, max_examples=400)


def built(given: Steps, appended: bool, backward: bool = False, rows: int | None = None) -> Any:
    """A program, and the names of its last value, its loss, and gradients of two orders."""
    main = static.Program()
    with static.program_guard(main, static.Program()), paddle.unique_name.guard():
        leaves = [static.data(name, [rows, WIDTH], "float32") for name in LEAVES]
        for x in leaves:
            x.stop_gradient = False
        b: Any = ByType() if appended else ByFunction()
        values = values_of(b, leaves, given)
        loss = loss_of(b, values)
        if backward:
            pairs = static.append_backward(loss, parameter_list=leaves)
            by_name = {x.name: g for x, g in pairs}
            first = [by_name.get(name) for name in LEAVES]
        else:
            first = static.gradients(loss, leaves)
        second = [None] * len(LEAVES)
        squares = [paddle.sum(g * g) for g in first if g is not None and not g.stop_gradient]
        if squares:
            second = static.gradients(paddle.add_n(squares), leaves)
    found = [values[-1], loss, *first, *second]
    return main, [None if v is None else v.name for v in found]


def run(main: Any, names: list[str | None], feed: Any, backend: str = "numpy") -> list[Any]:
    fetched = iter(static.Executor(backend=backend).run(main, feed, [n for n in names if n]))
    return [next(fetched) if n else None for n in names]


def eagerly(given: Steps, feed: Any) -> list[Any]:
    with guarded.replaced(False):
        leaves = [paddle.to_tensor(feed[name], stop_gradient=False) for name in LEAVES]
        b = ByFunction()
        values = values_of(b, leaves, given)
        loss = loss_of(b, values)
        first = paddle.grad(loss, leaves, create_graph=True, allow_unused=True)
        squares = [paddle.sum(g * g) for g in first if g is not None and not g.stop_gradient]
        second: Any = [None] * len(LEAVES)
        if squares:
            target = paddle.add_n(squares)
            if not target.stop_gradient:
                second = paddle.grad(target, leaves, allow_unused=True)
        return [None if v is None else v.numpy() for v in (values[-1], loss, *first, *second)]


def same(found: list[Any], wanted: list[Any], digits: int | None = None) -> None:
    """The same bits; with `digits`, as many of the largest element."""
    for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
        if a is None or b is None:  # a gradient that is zero by its structure may be either
            assert a is None or not a.any(), k
            assert b is None or not b.any(), k
        elif digits is None:
            np.testing.assert_array_equal(a, b, err_msg=f"fetch {k}", strict=True)
        else:
            near = 10.0**-digits * float(np.max(np.abs(b), initial=1.0))
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=near, err_msg=f"fetch {k}")


def check_however_built(given: Steps, backward: bool) -> None:
    """Appended, by functions, from a file, a copy: one program; eagerly the same bits."""
    feed = feeds(3, len(given))
    appended, names = built(given, True, backward)
    wanted = run(appended, names, feed)
    functions, others = built(given, False, backward)
    found = run(functions, others, feed)
    first = 2 + len(LEAVES)
    same(found[:first], wanted[:first])
    same(found[first:], wanted[first:], digits=5)  # see the design: a call is one operator
    again = static.Program.parse_from_string(appended.to_string())
    assert str(again) == str(appended)
    for program in (again, appended.clone()):
        same(run(program, names, feed), wanted)
    of_tensors, arrays = eagerly(given, feed), any(step[0] == ARRAY for step in given)
    same(of_tensors[:first], found[:first], 5 if arrays else None)
    same(of_tensors[first:], found[first:], 5)


def check_open_sizes(given: Steps) -> None:
    """Two feeds of other sizes through one program, as eagerly; in native code, too."""
    main, names = built(given, True)
    executor = static.Executor(backend="native")
    for rows in (3, 5, 1):
        feed = feeds(rows, rows)
        wanted = run(main, names, feed)
        same(wanted, eagerly(given, feed), digits=4)
        fetched = iter(executor.run(main, feed, [n for n in names if n]))
        same([next(fetched) if n else None for n in names], wanted, digits=4)


def check_rewriting(given: Steps, places: list[int]) -> None:
    """What is taken out and put back, and what is put in and taken out, leaves what there was."""
    feed = feeds(4, 1)
    main, names = built(given, True)
    wanted = run(main, names, feed)
    main = built_forward(given)
    block = main.global_block()
    for place in places:
        at = place % len(block.ops)
        op = block.ops[at]
        if op.type in ("while", "conditional_block") or op.appended is None:
            continue
        read = {slot: op.input(slot) for slot in op.input_names if op.input(slot)}
        written = {slot: op.output(slot) for slot in op.output_names}
        attrs = {name: op.attr(name) for name in op.appended.attrs}
        text, extra = str(main), block.create_var(name="extra")
        block._insert_op(at, "scale", {"X": "x"}, {"Out": extra}, {"scale": 2.0})
        block._remove_op(at)
        block._remove_var("extra")
        assert str(main) == text
        block._remove_op(at)
        block._insert_op(at, op.type, read, written, attrs)
    with static.program_guard(main, static.Program()):
        leaves = [block.var(name) for name in LEAVES]
        first = static.gradients(block.var(names[1]), leaves)
    found = run(main, [*names[:2], *(None if g is None else g.name for g in first)], feed)
    same(found, wanted[: 2 + len(LEAVES)])


def built_forward(given: Steps) -> Any:
    main = static.Program()
    with static.program_guard(main, static.Program()), paddle.unique_name.guard():
        leaves = [static.data(name, [None, WIDTH], "float32") for name in LEAVES]
        for x in leaves:
            x.stop_gradient = False
        b = ByType()
        loss_of(b, values_of(b, leaves, given))
    return main


PLACES = st.lists(st.integers(0, 99), min_size=1, max_size=4)


@few
@given(steps(8), st.booleans())
def test_programs_are_the_same_however_they_are_built(given: Steps, backward: bool) -> None:
    check_however_built(given, backward)


@settings(few, max_examples=12)
@given(steps(6))
def test_one_program_takes_any_size(given: Steps) -> None:
    check_open_sizes(given)


@few
@given(steps(8), PLACES)
def test_rewriting_leaves_what_there_was(given: Steps, places: list[int]) -> None:
    check_rewriting(given, places)


@pytest.mark.thorough
@many
@given(steps(14), st.booleans())
def test_many_programs_however_they_are_built(given: Steps, backward: bool) -> None:
    check_however_built(given, backward)


@pytest.mark.thorough
@settings(many, max_examples=80)
@given(steps(12))
def test_many_programs_of_any_size(given: Steps) -> None:
    check_open_sizes(given)


@pytest.mark.thorough
@many
@given(steps(14), PLACES)
def test_much_rewriting(given: Steps, places: list[int]) -> None:
    check_rewriting(given, places)
