"""`detect_anomaly`: the first NaN or infinity, with everything that explains it in the error."""

import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import (
    PyLayer,
    detect_anomaly,
    is_anomaly_enabled,
    recompute,
    saved_tensors_hooks,
    set_detect_anomaly,
)
from autograd_engine.errors import AnomalyError, ArgumentError

F = paddle.nn.functional
INF = float("inf")
NAN = float("nan")


def leaf(value: Any, dtype: str = "float32") -> Any:
    return paddle.to_tensor(value, dtype=dtype, stop_gradient=False)


def const(value: Any) -> Any:
    return paddle.to_tensor(value, dtype="float32")


def anomaly(function: Any) -> str:
    """What is said, and that it is both kinds of error that it should be."""
    with pytest.raises(AnomalyError) as caught, detect_anomaly():
        function()
    assert isinstance(caught.value, FloatingPointError)
    assert isinstance(caught.value, RuntimeError)
    assert "test_anomaly.py:" in str(caught.value)
    return str(caught.value)


# --- forward


@pytest.mark.parametrize(
    ("function", "parts"),
    [
        (lambda: paddle.log(leaf([1.0, 0.0])), ["log at", "-infinity", "x = 0", "[1]", "clip("]),
        (lambda: paddle.log(leaf([1.0, -1.0])), ["made NaN", "1 of 2 elements", "x = -1"]),
        (lambda: paddle.exp(leaf([1.0, 90.0, 100.0])), ["2 of 3", "[1]", "x = 90", "logsumexp"]),
        (lambda: leaf([[1.0]]) / const([[0.0, 2.0]]), ["divide", "[0, 0]", "y = 0", "divisor"]),
        (lambda: leaf([1e38, 0.0]) * 10.0, ["multiply", "x = 1e+38, y = 10"]),
        (
            lambda: leaf([[1e38, 1.0]]) @ leaf([[1e38], [1.0]]),
            ["matmul", "x has shape [1, 2] and values from 1 to 1e+38"],
        ),
        (lambda: leaf([3e38, 3e38]).sum(), ["sum at", "the one element"]),
        (lambda: paddle.exp(leaf([20.0], "float16")), ["infinity", "65504", "float32"]),
        (lambda: paddle.log(paddle.split(leaf([1.0, 0.0]), 2)[1]), ["log at", "-infinity"]),
    ],
)
def test_what_an_operation_makes_of_finite_numbers(function: Any, parts: list[str]) -> None:
    text = anomaly(function)
    for part in ("though all that it was given is finite", *parts):
        assert part in text


def test_the_line_is_the_users() -> None:
    def lossy(x: Any) -> Any:
        return paddle.log(x)  # the culprit

    text = anomaly(lambda: lossy(leaf([0.0])) * 2.0)
    assert "return paddle.log(x)  # the culprit" in text


@pytest.mark.parametrize(
    "function",
    [
        lambda x: paddle.where(const([1.0, 0.0]) > 0.5, x, const([-INF, -INF])),
        lambda x: paddle.masked_fill(x, paddle.to_tensor([True, False]), -INF),
        lambda x: x + const([0.0, -INF]),
        lambda x: F.softmax(x + const([0.0, -INF])),
        lambda x: F.log_softmax(x + const([0.0, -INF])),
        lambda x: paddle.logsumexp(x + const([0.0, -INF])),
        lambda x: paddle.concat([x, const([INF])]),
        lambda x: paddle.stack([x, const([INF, INF])]).max(),
        lambda x: (x + const([0.0, -INF])).reshape([2, 1]).T[0],
        lambda x: paddle.minimum(x, const([INF, INF])),
        lambda x: paddle.clip(x, min=0.0, max=INF),
        lambda x: x.astype("int64"),
        lambda x: x.sum() + paddle.to_tensor(INF),
    ],
)
def test_infinity_that_was_put_in_may_pass(function: Any) -> None:
    with detect_anomaly():
        function(leaf([1.0, 2.0]))


def test_an_attention_mask_goes_through_both_ways() -> None:
    x, v = leaf([[1.0, 2.0, 3.0]]), leaf([[1.0], [2.0], [3.0]])
    with detect_anomaly():
        mask = paddle.to_tensor([[False, False, True]])
        weights = F.softmax(paddle.masked_fill(x, mask, -INF))
        (weights @ v).sum().backward()
    assert np.isfinite(x.grad.numpy()).all()
    assert x.grad.numpy()[0, 2] == 0.0


@pytest.mark.parametrize(
    ("function", "parts"),
    [
        (lambda x: F.softmax(x + const([-INF, -INF])), ["softmax", "masked everywhere"]),
        (lambda x: (x + const([INF, 0.0])) * const([0.0, 1.0]), ["multiply", "x = inf, y = 0"]),
        (lambda x: (x + INF) - (x + INF), ["subtract", "x = inf, y = inf", "infinity minus"]),
        (lambda x: paddle.sin(x * INF), ["sin", "x = inf"]),
    ],
)
def test_nan_made_of_infinity_is_an_anomaly(function: Any, parts: list[str]) -> None:
    text = anomaly(lambda: function(leaf([1.0, 2.0])))
    for part in ("made NaN of infinity in 'x'", *parts):
        assert part in text


def test_new_infinity_beside_one_that_was_put_in() -> None:
    text = anomaly(lambda: paddle.exp(leaf([1.0, 100.0]) + const([INF, 0.0])))
    assert "exp at" in text
    assert "1 of 2 elements, the first at [1], where x = 100" in text


def test_nan_that_comes_in_is_said_to_come_in() -> None:
    text = anomaly(lambda: leaf([1.0, 2.0]) * const([1.0, NAN]))
    assert "multiply at" in text
    assert "was given NaN in 'y' (1 of 2 elements, the first at [1])" in text
    assert "in the data" in text
    with detect_anomaly():  # selecting around it is fine
        paddle.where(paddle.to_tensor([True, False]), leaf([1.0, 2.0]), const([NAN, 0.0]))


def test_only_what_is_recorded_is_looked_at() -> None:
    with detect_anomaly():
        paddle.log(const([0.0]))
        with paddle.no_grad():
            paddle.log(leaf([0.0]))


# --- backward


@pytest.mark.parametrize(
    ("function", "parts"),
    [
        (lambda x: paddle.sqrt(x), ["sqrt with respect to 'x'", "infinity", "out = 0", "1e-12"]),
        (
            lambda x: paddle.where(x > 0.0, paddle.sqrt(x), x),
            ["sqrt with respect to 'x'", "made NaN", "strong_zeros()", "where(ok, f(where("],
        ),
        (lambda x: paddle.pow(x, 0.5), ["pow", "infinity"]),
        (lambda x: x / const([1e-30, 1.0]) * 1e-10, ["divide", "infinity", "overflows float32"]),
        (lambda x: paddle.sqrt(paddle.split(x, 2)[0]) + x[1], ["sqrt with respect to 'x'"]),
    ],
)
@pytest.mark.parametrize("how", ["backward", "grad", "create_graph", "hooks", "recompute"])
def test_what_a_rule_makes_of_a_finite_gradient(function: Any, parts: list[str], how: str) -> None:
    x = leaf([0.0, 1.0])
    call = lambda x: function(x).sum() * 1e20  # noqa: E731
    if how == "hooks":
        with saved_tensors_hooks(lambda t: t, lambda t: t):
            loss = call(x)
    else:
        loss = recompute(call, x) if how == "recompute" else call(x)
    if how in ("grad", "create_graph"):
        text = anomaly(lambda: paddle.grad(loss, x, create_graph=how == "create_graph"))
    else:
        text = anomaly(loss.backward)
    for part in ("the backward pass at", "of a finite gradient", *parts):
        assert part in text
    assert x.grad is None


def test_both_lines_are_named() -> None:
    x = leaf([0.0])
    y = paddle.sqrt(x)  # forward line
    with pytest.raises(AnomalyError) as caught, detect_anomaly():
        y.backward()  # backward line
    assert "# forward line" in str(caught.value)
    assert "# backward line" in str(caught.value)


def test_strong_zeros_help_as_is_said() -> None:
    x = leaf([0.0, 1.0])
    y = paddle.where(x > 0.0, paddle.sqrt(x), x).sum()
    with detect_anomaly(), paddle.strong_zeros():
        y.backward()
    assert x.grad.tolist() == [1.0, 0.5]


def test_gradients_that_were_there_stay() -> None:
    x, w = leaf([0.0]), leaf([1.0])
    w.grad = const([7.0])
    y = paddle.sqrt(x) * w
    anomaly(lambda: (y + 3.0 * w).backward())
    assert x.grad is None
    assert w.grad.tolist() == [7.0]


def test_a_second_order() -> None:
    x = leaf([0.0], "float64")
    (first,) = paddle.grad((x**1.5).sum(), x, create_graph=True)
    assert first.tolist() == [0.0]
    assert "of a finite gradient" in anomaly(first.backward)


def test_a_cotangent_of_the_users() -> None:
    y = leaf([1.0, 2.0]) * 2.0
    text = anomaly(lambda: y.backward(const([1.0, NAN])))
    assert "was given a cotangent of multiply" in text
    assert "grad_tensors" in text
    x = leaf([1.0])
    assert "of the leaf" in anomaly(lambda: x.backward(const([INF])))


@pytest.mark.parametrize("where", ["leaf", "node"])
@pytest.mark.parametrize("style", ["returns", "writes"])
def test_a_hook_is_named(where: str, style: str) -> None:
    def spoil(g: Any) -> Any:
        if style == "returns":
            return g / 0.0
        g.divide_(const([0.0]))
        return None

    x = leaf([1.0])
    y = x * 2.0
    (x if where == "leaf" else y).register_hook(spoil)
    loss = y * 1.0
    text = anomaly_anywhere(loss.backward)
    assert "spoil, a hook on the gradient of" in text
    assert "made infinity" in text
    assert x.grad is None


def anomaly_anywhere(function: Any) -> str:
    with pytest.raises(AnomalyError) as caught, detect_anomaly():
        function()
    return str(caught.value)


def test_a_sum_that_overflows() -> None:
    x = leaf([1e-3])
    y = x * 1.0
    loss = y * 2e38 + y * 2e38
    text = anomaly(loss.backward)
    assert "their sum is not" in text
    assert "scale the loss" in text


def test_a_layer_of_the_users() -> None:
    class Broken(PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any, spoil: bool) -> Any:
            ctx.save_for_backward(x)
            return paddle.log(x) if spoil else x * 2.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensor()
            return g / x

    x = leaf([0.0, 1.0])
    assert "Broken at" in anomaly(lambda: Broken.apply(x, True))
    y = Broken.apply(x, False)
    text = anomaly(lambda: y.sum().backward())
    assert "Broken with respect to 'x'" in text
    y = Broken.apply(x, False)
    text = anomaly(lambda: paddle.grad(y.sum(), x, create_graph=True))
    assert "Broken with respect to 'x'" in text


def test_forward_mode() -> None:
    x = leaf([0.0, 1.0])
    text = anomaly(lambda: paddle.autograd.jvp(paddle.sqrt, x))
    assert "jvp: sqrt at" in text
    assert "tangent" in text
    text = anomaly(lambda: paddle.autograd.jvp(paddle.log, x))
    assert "log at" in text
    assert "-infinity" in text


@pytest.mark.parametrize("create_graph", [False, True])
def test_many_gradients_at_once(create_graph: bool) -> None:
    x = leaf([1.0, 0.0, 4.0])
    for function in (
        lambda: paddle.autograd.jacobian(paddle.sqrt, x, create_graph=create_graph),
        lambda: paddle.autograd.jacobian(lambda x: paddle.sqrt(x) * x[:2].sum(), x),
    ):
        text = anomaly(function)
        assert "sqrt with respect to 'x'" in text
        assert "at [1]: gradient" in text
        assert "out = 0" in text


def test_a_recorded_backward_pass() -> None:
    x = leaf([0.0])
    y = paddle.sqrt(x)  # forward line
    assert "# forward line" in anomaly(lambda: y.backward(create_graph=True))
    assert x.grad is None


def test_a_sound_pass_has_the_same_bits() -> None:
    x = leaf(np.linspace(0.1, 1, 12).reshape(3, 4))
    w = leaf(np.linspace(-1, 1, 16).reshape(4, 4))

    def loss() -> Any:
        a, b = paddle.split(F.softmax(x @ w), 2, axis=1)
        return (paddle.log(a) * b[:, ::1]).sum() + x[0].sum() + x[1].sum()

    plain = paddle.grad(loss(), [x, w])
    with detect_anomaly():
        watched = paddle.grad(loss(), [x, w], create_graph=True)
    for a, b in zip(plain, watched, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


# --- the mode


def test_one_of_the_two_alone() -> None:
    with detect_anomaly(check_inf=False):
        paddle.exp(leaf([100.0]))
        with pytest.raises(AnomalyError, match="NaN"):
            paddle.log(leaf([-1.0]))
    with detect_anomaly(check_nan=False):
        paddle.log(leaf([-1.0]))
        with pytest.raises(AnomalyError, match="infinity"):
            paddle.exp(leaf([100.0]))
    with warnings.catch_warnings(), detect_anomaly(False, False):
        paddle.exp(leaf([100.0]))


def test_it_nests_and_ends() -> None:
    assert not is_anomaly_enabled()
    with detect_anomaly():
        with detect_anomaly(check_inf=False):
            paddle.exp(leaf([100.0]))
        with pytest.raises(AnomalyError):
            paddle.exp(leaf([100.0]))
        assert is_anomaly_enabled()
    assert not is_anomaly_enabled()
    with np.errstate(all="ignore"):
        paddle.exp(leaf([100.0]))
    with pytest.warns(RuntimeWarning, match="overflow"):
        paddle.exp(leaf([100.0]))


def test_as_a_decorator_and_on_a_generator() -> None:
    @detect_anomaly()
    def function() -> None:
        paddle.log(leaf([0.0]))

    @detect_anomaly()
    def values() -> Iterator[bool]:
        yield is_anomaly_enabled()

    with pytest.raises(AnomalyError):
        function()
    for enabled in values():
        assert enabled
        assert not is_anomaly_enabled()


def test_for_the_rest_of_the_thread() -> None:
    set_detect_anomaly(True)
    try:
        seen: list[bool] = []
        thread = threading.Thread(target=lambda: seen.append(is_anomaly_enabled()))
        thread.start()
        thread.join()
        assert is_anomaly_enabled()
        assert seen == [False]
        with pytest.raises(AnomalyError):
            paddle.log(leaf([0.0]))
        with saved_tensors_hooks(lambda t: t, lambda t: t), pytest.raises(AnomalyError):
            paddle.log(leaf([0.0]))
        set_detect_anomaly(True, check_inf=False)
        paddle.log(leaf([0.0]))
    finally:
        set_detect_anomaly(False)
    assert not is_anomaly_enabled()
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        paddle.log(leaf([0.0]))


def test_the_flag_of_the_reference() -> None:
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        assert paddle.get_flags("FLAGS_check_nan_inf") == {"FLAGS_check_nan_inf": 1}
        with pytest.raises(AnomalyError):
            paddle.log(leaf([0.0]))
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": 0})
    assert not is_anomaly_enabled()


def test_inside_a_recomputed_function() -> None:
    @detect_anomaly()
    def function(x: Any) -> Any:
        return paddle.log(x)

    with pytest.raises(AnomalyError, match="log at"):
        recompute(function, leaf([0.0]))
    with detect_anomaly():
        y = recompute(lambda x: paddle.exp(paddle.sin(x)), leaf([0.5]))
    y.backward()


def test_bad_arguments() -> None:
    with pytest.raises(ArgumentError, match="check_nan must be True or False"):
        detect_anomaly(1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="mode must be True or False"):
        set_detect_anomaly("on")  # type: ignore[arg-type]
