"""What carries a gradient: the same in a program as of Tensors, for every function."""

from __future__ import annotations

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import DTypeError, NotDifferentiableError
from tests.functions.case import Case
from tests.functions.cases import family
from tests.functions.harness import SEED, cases, flat, operands_in, wanted
from tests.over import over


@over("case", cases(lambda case: case.static), by=family)
def test_results_stop_the_gradient_in_both_modes_alike(case: Case):
    arrays = operands_in(case, "float64")
    for opened in ([], wanted(case), wanted(case)[:1]):
        paddle.seed(SEED)
        tensors = [paddle.to_tensor(a, stop_gradient=k not in opened) for k, a in enumerate(arrays)]
        try:
            eager = [getattr(v, "stop_gradient", None) for v in flat(case.call(*tensors))]
        except (DTypeError, NotDifferentiableError):  # through complex values
            continue
        with static.program_guard(static.Program(), static.Program()):
            variables = [static.data(f"x{k}", a.shape, a.dtype) for k, a in enumerate(arrays)]
            for k in opened:
                variables[k].stop_gradient = False
            results = flat(case.call(*variables))
        assert [getattr(v, "stop_gradient", None) for v in results] == eager, opened


def test_what_is_set_afterwards_is_for_what_follows():
    with static.program_guard(static.Program(), static.Program()):
        x = static.data("x", [2, 3])
        y = x * 2.0
        assert y.stop_gradient
        y.stop_gradient = False
        x.stop_gradient = False
        z = y * 3.0
        assert not z.stop_gradient
        assert not (x * 2.0).stop_gradient
        assert (z > 0.0).stop_gradient
        assert z.detach().stop_gradient


@pytest.mark.parametrize("opened", [False, True])
def test_control_flow_hands_on_what_stops(opened):
    with static.program_guard(static.Program(), static.Program()):
        x = static.data("x", [1])
        other = static.data("other", [1])
        other.stop_gradient = not opened
        pred = paddle.sum(x) > 0.0
        chosen = static.nn.cond(pred, lambda: x * 2.0, lambda: other * 3.0)
        assert chosen.stop_gradient is not opened
        case = static.nn.case([(pred, lambda: x * 2.0)], lambda: other * 3.0)
        assert case.stop_gradient is not opened
        index = paddle.argmax(x)
        switched = static.nn.switch_case(index, [lambda: x * 2.0, lambda: other * 3.0])
        assert switched.stop_gradient is not opened
        i = paddle.zeros([1], "int64")
        count, looped = static.nn.while_loop(
            lambda i, v: i < 3, lambda i, v: (i + 1, v * other), [i, x]
        )
        assert count.stop_gradient
        assert looped.stop_gradient is not opened


def test_a_direction_goes_through_what_stops_gradients_as_data_does():
    def derivative(function):
        main = static.Program()
        with static.program_guard(main):
            x = static.data("x", [1])
            tangent = static.forward_grad(function(x), x)
            assert x.stop_gradient
        return static.Executor().run(main, {"x": np.float32([3.0])}, [tangent])[0].item()

    assert derivative(lambda x: x * x) == 6.0
    assert derivative(lambda x: x.detach() * x) == 3.0
    assert derivative(lambda x: (x * x).detach() * x) == 9.0
    assert derivative(lambda x: paddle.floor(x) * x) == 3.0
    assert derivative(lambda x: static.nn.cond(x > 0.0, lambda: x * x, lambda: x)) == 6.0
    i = lambda: paddle.zeros([1], "int64")  # noqa: E731
    assert (
        derivative(
            lambda x: static.nn.while_loop(
                lambda i, v: i < 2, lambda i, v: (i + 1, v * x), [i(), x]
            )[1]
        )
        == 27.0
    )


LEAVES = {
    "full": lambda: paddle.full([], -2.0),
    "ones": lambda: paddle.ones([2]),
    "to_tensor": lambda: paddle.to_tensor([1.0, 2.0]),
    "linspace": lambda: paddle.linspace(0.5, 1.0, 2),
    "rand": lambda: paddle.rand([2]),
    "data": lambda: static.data("d", [2]),
    "made of data": lambda: static.data("d", [2]) * 2.0,
    "global": lambda: static.create_global_var([2], 3.0, "float32", persistable=True),
    "detached": lambda: static.create_parameter([2], "float32").detach(),
}
WAYS = {
    "operator": lambda a, pred, index: a * 3.0,
    "cond": lambda a, pred, index: static.nn.cond(pred, lambda: a * 3.0, lambda: -a),
    "other branch": lambda a, pred, index: static.nn.cond(
        pred, lambda: a * 3.0, lambda: paddle.zeros(a.shape)
    ),
    "case": lambda a, pred, index: static.nn.case([(pred, lambda: a * 3.0)], lambda: -a),
    "switch_case": lambda a, pred, index: static.nn.switch_case(
        index.astype("int32"), [lambda: -a, lambda: a * 3.0]
    ),
    "nested": lambda a, pred, index: static.nn.cond(
        pred, lambda: static.nn.cond(pred, lambda: a * 3.0, lambda: a), lambda: -a
    ),
    "loop": lambda a, pred, index: static.nn.while_loop(
        lambda i, v: i < 1.0, lambda i, v: (i + 1.0, v * 3.0), [paddle.zeros([]), a]
    )[1],
}


@pytest.mark.parametrize("way", WAYS)
def test_all_leaves_that_want_a_gradient_get_one(way):
    for name, make in LEAVES.items():
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            a = make()
            a.stop_gradient = False
            closed = make() if name != "data" and name != "made of data" else paddle.ones([2])
            index = paddle.ones([]) + 0.0
            out = WAYS[way](a, index > 0.0, index) + closed
            pairs = static.append_backward(paddle.sum(out))
        assert pairs == []
        assert not main.global_block().has_var(closed.grad_name)
        executor = static.Executor()
        executor.run(startup)
        feed = {"d": np.float32([1.0, 2.0])} if main.global_block().has_var("d") else {}
        (found,) = executor.run(main, feed, [a.grad_name])
        np.testing.assert_array_equal(found, np.full(a.shape, 3.0, "float32"), name)


def test_leaves_of_a_gradient_are_not_leaves():
    with static.program_guard(static.Program()) as _:
        x = static.data("x", [2])
        x.stop_gradient = False
        (first,) = static.gradients(x * x, x)
        count = paddle.ones([2], "int64")
        count.stop_gradient = False
        static.append_backward(paddle.sum(first * first * count.astype("float32")))
        block = static.default_main_program().global_block()
        assert block.has_var(x.grad_name)
        assert not block.has_var(count.grad_name)
        assert not [n for n in block.vars if n.startswith("full_like") and n.endswith("@GRAD")]
