"""The mistakes that users of such systems report most: each says what to type instead."""

import re
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import (
    DTypeError,
    FeedError,
    GraphFreedError,
    NotDifferentiableError,
    RegistryError,
    ShapeError,
)


def leaf(*values: float) -> Any:
    return paddle.to_tensor(list(values), dtype="float32", stop_gradient=False)


def line_of(marker: str) -> int:
    with open(__file__, encoding="utf-8") as file:
        found = [n for n, text in enumerate(file, 1) if text.rstrip().endswith(f"# {marker}")]
    assert len(found) == 1, marker
    return found[0]


def at(marker: str) -> str:
    return f"test_error_texts.py:{line_of(marker)}"


def test_a_second_backward_names_both_lines_and_the_operation() -> None:
    x = leaf(1.0, 2.0)
    loss = (x * x).sum()  # computed
    loss.backward()  # freed
    with pytest.raises(GraphFreedError) as raised:
        loss.backward()
    text = str(raised.value)
    assert at("freed") in text
    assert "loss.backward()" in text
    assert f"sum of {at('computed')}" in text or f"sum, {at('computed')}" in text
    assert "retain_graph=True" in text
    assert "compute" in text
    assert x.grad.tolist() == [2.0, 4.0]  # of the first pass alone


def test_a_write_after_use_gives_the_right_gradient() -> None:
    x = leaf(3.0)
    y = x * 2.0
    z = y * y
    y.add_(paddle.to_tensor([1.0]))
    z.sum().backward()
    assert x.grad.tolist() == [24.0]  # d(4 x^2): of the values that z was computed from


def test_a_write_that_would_lose_a_leaf_says_what_to_write() -> None:
    x = leaf(3.0)
    with pytest.raises(NotDifferentiableError, match=r"add_: .*leaf .*use x = paddle\.add"):
        x.add_(paddle.to_tensor([1.0]))
    with pytest.raises(NotDifferentiableError, match=r"no_grad\(\)"):
        x[0] = 1.0


@pytest.mark.parametrize("how", ["not retained", "detach", "not connected", "index"])
def test_a_gradient_that_is_none_is_explained(how: str) -> None:
    x, w = leaf(0.0, 1.0), leaf(1.0, 2.0)
    if how == "not retained":
        y = x * w  # multiplied
        y.sum().backward()
        found = paddle.explain(y)
        assert f"made by multiply at {at('multiplied')}" in str(found)
        assert "not retained" in str(found)
        assert "retain_grads()" in str(found)
    elif how == "detach":
        found = paddle.explain(x, (x.detach() * w).sum())  # detached
        assert f"cut by detach() at {at('detached')}" in str(found)
    elif how == "not connected":
        found = paddle.explain(x, (w * w).sum())
        assert "not connected to the loss" in str(found)
    else:
        i = x.astype("int64")  # made whole
        found = paddle.explain(x, paddle.gather(w, i).sum())
        assert f"cut by the cast to integers at {at('made whole')}" in str(found)
        assert "gather" in str(found)


def test_an_input_that_nothing_leads_to() -> None:
    x, w = leaf(1.0), leaf(2.0)
    with pytest.raises(NotDifferentiableError, match="allow_unused=True") as raised:
        paddle.grad((w * w).sum(), x)
    assert "inputs[0]" in str(raised.value)


def test_a_loss_that_is_no_scalar_is_seeded_with_ones_and_explain_says_so() -> None:
    x = paddle.ones([32, 10])
    x.stop_gradient = False
    loss = x * 2.0
    note = "\n".join(paddle.explain(x, loss).notes)
    assert "the loss has shape [32, 10]" in note
    assert "ones of shape (32, 10)" in note
    assert ".mean()" in note
    loss.backward()
    assert np.array_equal(x.grad.numpy(), np.full((32, 10), 2.0, "float32"))


def test_functions_of_numpy_record() -> None:
    x = leaf(0.5, 1.0)
    y = np.sin(x)
    assert isinstance(y, paddle.Tensor)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos([0.5, 1.0]), rtol=1e-6)


@pytest.mark.usefixtures("static_mode")
def test_a_wrong_feed_names_the_axis() -> None:
    x = paddle.static.data("x", [None, 3])
    y = paddle.sum(x)
    exe = paddle.static.Executor()
    with pytest.raises(FeedError) as raised:
        exe.run(feed={"x": np.ones((2, 4), "float32")}, fetch_list=[y])
    assert str(raised.value).startswith(
        "feed 'x' has shape (2, 4); the program declares [?, 3]: axis 1 must be 3"
    )


def test_an_integer_leaf() -> None:
    with pytest.raises(DTypeError) as raised:
        paddle.to_tensor([1, 2]).requires_grad_()
    text = str(raised.value)
    assert re.search(r"requires_grad=True needs a float\w* dtype", text)
    assert "got int64" in text
    assert "dtype='float32'" in text


def test_an_operation_without_a_rule() -> None:
    def kernel(x: Any, y: Any) -> Any:
        return x * y

    product = paddle.autograd.defop("texts_product", kernel)
    product.vjp(x=lambda xp, g, y: g * y)
    with pytest.raises((RegistryError, NotDifferentiableError)) as raised:
        product(leaf(1.0), leaf(2.0)).sum().backward()
    text = str(raised.value)
    assert "texts_product" in text  # which operation
    assert "'y'" in text  # which input
    assert "texts_product.vjp(y=lambda xp, g, ...: ...)" in text  # how to register
    assert "NONDIFF" in text


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: paddle.nn.Sequential(paddle.nn.functional.relu),
            r"takes layers, got function: .*nn\.ReLU\(\)",
        ),
    ],
)
def test_calls_in_the_manner_of_another_library_are_translated(call: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        call()


def test_features_that_do_not_fit_a_layer_are_counted() -> None:
    layer = paddle.nn.Linear(3, 2)
    says = r"linear: x \[4, 5\] has 5 features, but weight \[3, 2\] is \[in, out\] and takes 3"
    for x in (paddle.ones([4, 5]), np.ones((4, 5), "float32")):
        with pytest.raises(ShapeError, match=says):
            layer(x)
    for scalar in (paddle.ones([]), 2.0):
        with pytest.raises(ShapeError, match="0-d"):
            layer(scalar)
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        x = paddle.static.data("x", [None, 5])
        with pytest.raises(ShapeError, match=r"linear: x \[\?, 5\] has 5 features"):
            paddle.nn.Linear(3, 2)(x)
