"""`static_pylayer`: gradients that the user writes."""

from __future__ import annotations

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError

layer = static.nn.static_pylayer


@pytest.fixture
def xw():
    with static.program_guard(static.Program(), static.Program()), paddle.unique_name.guard():
        x, w = (static.data(name, [2], "float64") for name in "xw")
        x.stop_gradient = w.stop_gradient = False
        yield x, w


FEED = {"x": np.array([0.3, 0.4]), "w": np.array([2.0, 3.0])}


def run(variables):
    return static.Executor().run(static.default_main_program(), FEED, list(variables))


def test_the_gradient_is_the_one_that_is_given(xw):
    x, _ = xw
    y = layer(lambda a: a * a, [x], lambda g: g * 7.0)
    [g] = static.gradients(y, x)
    value, grad = run([y, g])
    np.testing.assert_allclose(value, FEED["x"] ** 2)
    assert grad.tolist() == [7.0, 7.0]


def test_nests_several_inputs_and_what_is_not_asked_for(xw):
    x, w = xw
    out = layer(
        lambda a, b: {"p": a * b, "s": (a + b,)},
        [x, w],
        lambda gp, gs: (gp * w + gs, gp * x * 10.0),
    )
    [gx] = static.gradients(out["p"], x)
    [gw] = static.gradients(out["s"][0], w)
    both = static.gradients([out["p"], out["s"][0]], [x, w])
    got = run([gx, gw, *both])
    np.testing.assert_allclose(got[0], FEED["w"])
    np.testing.assert_allclose(got[1], np.zeros(2))
    np.testing.assert_allclose(got[2], FEED["w"] + 1.0)
    np.testing.assert_allclose(got[3], FEED["x"] * 10.0)


def test_higher_orders_differentiate_what_is_given(xw):
    x, w = xw
    y = layer(lambda a: paddle.sin(a) * w, [x], lambda g: g * paddle.cos(x) * w)
    [first] = static.gradients(paddle.sum(y * y), x)
    [second] = static.gradients(first, x)
    [third] = static.gradients(second, x)
    a, b = FEED["x"], FEED["w"]
    got = run([first, second, third])
    np.testing.assert_allclose(got[0], b * b * np.sin(2 * a))
    np.testing.assert_allclose(got[1], 2 * b * b * np.cos(2 * a))
    np.testing.assert_allclose(got[2], -4 * b * b * np.sin(2 * a))


def test_inside_a_loop_and_with_a_branch_inside(xw):
    x, _ = xw

    def backward(g):
        return static.nn.cond(paddle.sum(g) > 3.0, lambda: g * 0.5, lambda: g * 2.0)

    _, y = static.nn.while_loop(
        lambda i, v: i < 3,
        lambda i, v: (i + 1, layer(lambda a: a + 1.0, [v], backward)),
        [paddle.zeros([], "int64"), x],
    )
    [g] = static.gradients(y, x)
    assert run([g])[0].tolist() == [2.0, 2.0]  # 1 -> 2 -> 1 -> 2


def test_without_a_backward_there_is_no_gradient(xw):
    x, _ = xw
    y = layer(lambda a: a * 2.0, [x])
    assert y.stop_gradient
    assert static.gradients(y + x * 0.0, x)[0] is not None
    assert static.gradients(y, x) == [None]


def test_the_gradient_joins_others_in_order(xw):
    x, _ = xw
    y = layer(lambda a: a * 2.0, [x], lambda g: g * 2.0) + paddle.sin(x)
    [g] = static.gradients(y, x)
    np.testing.assert_allclose(run([g])[0], 2.0 + np.cos(FEED["x"]))


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (lambda x, w: (1, [x], None), TypeError, "forward_fn must be callable"),
        (lambda x, w: (lambda a: a, [x], 1), TypeError, "backward_fn must be callable"),
        (lambda x, w: (lambda a: a, x, None), TypeError, "inputs must be a list"),
        (lambda x, w: (lambda a: a, [], None), TypeError, "one at least"),
        (lambda x, w: (lambda a, b: a, [x, x], None), ArgumentError, r"paddle\.assign\(x\)"),
        (lambda x, w: (lambda a: None, [x], None), ArgumentError, "must return one Variable"),
        (lambda x, w: (lambda a: a, [x], lambda g: (g, g)), ArgumentError, "return one for each"),
        (lambda x, w: (lambda a: a, [x], lambda g: None), ArgumentError, "0 gradients for 1"),
        (lambda x, w: (lambda a: a, [x], lambda g: paddle.sum(g)), ShapeError, "must be equal"),
        (
            lambda x, w: (lambda a: a, [x], lambda g: paddle.cast(g, "float32")),
            DTypeError,
            "cast it",
        ),
    ],
)
def test_refused(xw, arguments, error, text):
    before = repr(static.default_main_program())
    with pytest.raises(error, match=text):
        layer(*arguments(*xw))
    assert repr(static.default_main_program()) == before
