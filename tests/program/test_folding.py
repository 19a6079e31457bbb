"""Sums of many cotangents need no more memory than a few of them."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static

pytestmark = pytest.mark.usefixtures("static_mode")

SIZE = 256


def recurrent(steps: int, checkpoints: bool = False) -> tuple[Any, Any, Any]:
    """(program, gradient of the weight, the parts that it is the sum of)"""
    main = static.Program()
    with static.program_guard(main, static.Program()), paddle.utils.unique_name.guard():
        h = static.data("x", [4, SIZE], "float32")
        w = static.data("w", [SIZE, SIZE], "float32")
        w.stop_gradient = False
        states = []
        for _ in range(steps):
            h = paddle.tanh(h @ w)
            states.append(h)
        kept = states[7::8] if checkpoints else None
        ((_, gradient),) = static.append_backward(paddle.mean(h), [w], checkpoints=kept)
    parts = [v for v in main.list_vars() if v.name.startswith("w@GRAD@RENAME")]
    return main, gradient, parts


def feed() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(4, SIZE)), rng.normal(size=(SIZE, SIZE)) / np.sqrt(SIZE)
    return {"x": x.astype("float32"), "w": w.astype("float32")}


def peak(main: Any, fetches: list[Any], exe: Any) -> int:
    exe.run(main, feed(), fetches)
    arrays = feed()
    tracemalloc.start()
    try:
        exe.run(main, arrays, fetches)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_weight_of_many_steps_needs_a_few_arrays_of_its_size(exe: Any) -> None:
    weight = SIZE * SIZE * 4
    main, gradient, parts = recurrent(40)
    assert len(parts) == 40
    assert peak(main, [gradient], exe) < 6 * weight
    report = static.memory_report(main, feed(), [gradient])
    assert report.peak_bytes is not None
    assert report.peak_bytes < 7 * weight  # what is fed is counted


@pytest.mark.parametrize("checkpoints", [False, True])
def test_the_bits_are_those_of_the_tape(checkpoints: bool, exe: Any) -> None:
    main, gradient, _ = recurrent(40, checkpoints)
    (got,) = exe.run(main, feed(), [gradient])
    paddle.disable_static()
    arrays = feed()
    h, w = paddle.to_tensor(arrays["x"]), paddle.to_tensor(arrays["w"], stop_gradient=False)
    for _ in range(40):
        h = paddle.tanh(h @ w)
    h.mean().backward()
    np.testing.assert_array_equal(got, w.grad.numpy())


def test_parts_that_are_asked_for_are_there(exe: Any) -> None:
    main, gradient, parts = recurrent(5)
    (alone,) = exe.run(main, feed(), [gradient])
    total, *found = exe.run(main, feed(), [gradient, *parts])
    expected = found[0]
    for part in found[1:]:
        expected = expected + part
    np.testing.assert_array_equal(total, expected)
    np.testing.assert_array_equal(alone, total)


def test_a_program_keeps_its_one_sum() -> None:
    main, gradient, parts = recurrent(5)
    before = str(main)
    static.Executor().run(main, feed(), [gradient])
    assert str(main) == before
    (total,) = [op for op in main.global_block().ops if op.type == "add_n"]
    assert [o.var.name for o in total.operands] == [v.name for v in parts]


def test_sums_that_arrive_in_another_order_are_folded_in_theirs(exe: Any) -> None:
    """The last operand of the sum is there before the others."""
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [3], "float32")
        x.stop_gradient = False
        late = paddle.sin(x)
        y = paddle.exp(x) * paddle.tanh(x) + late * x * x
        (g,) = static.gradients(y, x)
    value = np.float32([0.3, -1.7, 2.9])
    (got,) = exe.run(main, {"x": value}, [g])
    paddle.disable_static()
    t = paddle.to_tensor(value, stop_gradient=False)
    kept = paddle.sin(t)
    z = paddle.exp(t) * paddle.tanh(t) + kept * t * t
    (expected,) = paddle.grad(z, t)
    np.testing.assert_array_equal(got, expected.numpy())


def test_steps_are_of_the_lines_that_their_parts_come_from() -> None:
    main, gradient, _ = recurrent(5)
    timeline = static.memory_report(main, feed(), [gradient]).timeline
    steps = [m.operator for m in timeline if m.operator and m.operator.type == "add_n"]
    assert len(steps) == 4
    assert ["h @ w" in step.location.text for step in steps] == [True, True, True, False]
    assert "append_backward" in steps[-1].location.text
