"""`testing.assert_same`: the user's functions, bit for bit in all modes."""

import numpy as np
import pytest

import autograd_engine as paddle
import autograd_engine.nn.functional as F  # noqa: N812
from autograd_engine import static
from autograd_engine.errors import GradientCheckError
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.testing import assert_same

rng = np.random.default_rng(0)
X = rng.normal(size=(5, 3))
W = paddle.to_tensor(rng.normal(size=(3, 4)), stop_gradient=False)
TABLE = paddle.to_tensor(rng.normal(size=(7, 3)), stop_gradient=False)


def in_place(x):
    y = x * 2.0
    y[0] = y[1] * x[2]
    y.exp_()
    return {"y": y, "x": (x, y.sum())}


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda x: F.gelu(x @ W), (X,)),
        (lambda x, y: paddle.tanh(x * y) * x, (X, X[:1])),
        (lambda x: F.softmax(F.dropout(x @ W, 0.4)), (X,)),
        (lambda x: (x * W.T[0, :3]).sum() * x, (X,)),
        (lambda i: F.embedding(i, TABLE).tanh() @ W, (np.array([1, 3, 1, 0]),)),
        (lambda x: np.tanh(x) * W[0, 0] + x.detach(), (X,)),
        (in_place, (X,)),
    ],
)
def test_functions_that_are_the_same(function, inputs):
    assert_same(function, *inputs, order=3)


def test_state_is_left_as_it_was():
    mean, variance = paddle.zeros([4], "float64"), paddle.ones([4], "float64")
    x = paddle.to_tensor(X)
    assert_same(lambda x: F.batch_norm(x @ W, mean, variance, training=True), x)
    assert not mean.numpy().any()
    assert W.grad is None
    assert x.stop_gradient


def test_control_flow():
    def f(x):
        return static.nn.cond(x.sum() > 0.0, lambda: x @ W, lambda: (x * x) @ W)

    assert_same(f, np.abs(X))
    assert_same(f, -np.abs(X))


def test_a_difference_is_shown_with_the_first_operation():
    def f(x):
        return paddle.tanh(x) * (1.0 if paddle.in_dynamic_mode() else 1.0 + 3e-16)

    with pytest.raises(GradientCheckError) as caught:
        assert_same(f, X)
    text = str(caught.value)
    assert "f differs between eager mode and to_static" in text
    assert "units in the last place apart" in text
    assert "at [0, 0]" in text
    assert "the first operation that differs is multiply of test_assert_same.py" in text


def test_a_difference_in_a_gradient_only():
    def f(x):
        return x * 2.0 if paddle.in_dynamic_mode() else x + x.detach()

    with pytest.raises(
        GradientCheckError, match=r"the gradient of order 1 with respect to input 0"
    ):
        assert_same(f, X)


def test_what_cannot_be_traced_and_what_has_nothing_to_differentiate():
    with pytest.raises(GradientCheckError, match=r"cannot be traced.*item\(\)"):
        assert_same(lambda x: x * x.sum().item(), X)
    with pytest.raises(ValueError, match="pass floating Tensors"):
        assert_same(lambda x: x + 1, np.array([1, 2]))
    with pytest.raises(ValueError, match="order must be 1, 2 or 3"):
        assert_same(lambda x: x, X, order=4)


def test_unknown_sizes_are_left_out_when_that_is_said_only():
    def rows(x):
        return sum(x[k] for k in range(x.shape[0]))

    with pytest.raises(GradientCheckError, match=r"first sizes are unknown.*unknown_sizes=False"):
        assert_same(rows, X)
    assert_same(rows, X, unknown_sizes=False)

    def raises(x):
        if not paddle.in_dynamic_mode() and x.shape[0] == -1:
            raise ValueError("mine")
        return x * 2.0

    with pytest.raises(GradientCheckError, match="mine"):
        assert_same(raises, X)


def test_it_does_not_pass_where_there_is_nothing_to_compare():
    for nothing in (lambda x: 1.0, lambda x: x.detach(), lambda x: None):
        with pytest.raises(ValueError, match="no Tensor that a gradient flows from"):
            assert_same(nothing, X)


@pytest.mark.parametrize("order", [1, 2])
def test_a_kernel_that_is_another_one_in_programs(monkeypatch, order):
    """Flat calls hold the kernel that they were generated with; programs ask the table."""
    np.tanh(paddle.to_tensor(X))
    row = REGISTRY["tanh"]
    kernel = row.kernel
    assert_same(lambda x: paddle.tanh(x @ W), X, order=order)
    monkeypatch.setattr(row, "kernel", lambda x: np.nextafter(kernel(x), 2.0))
    with pytest.raises(GradientCheckError, match="differs between eager mode and to_static"):
        assert_same(lambda x: paddle.tanh(x @ W), X, order=order)


def test_a_gradient_that_is_there_eagerly_only():
    def f(x, y):
        return x * 2.0 + y * 0.0 if paddle.in_dynamic_mode() else x * 2.0 + y.detach() * 0.0

    with pytest.raises(GradientCheckError, match=r"with respect to input 1 .* eagerly only"):
        assert_same(f, X, X)
