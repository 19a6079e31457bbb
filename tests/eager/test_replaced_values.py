"""What becomes of gradients when the values of a tensor are replaced."""

import copy

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, NoHistoryWarning


def leaf(values, dtype="float32"):
    return paddle.to_tensor(np.array(values, dtype), stop_gradient=False)


def test_a_result_that_is_given_other_values_is_a_constant():
    x = leaf([1.0])
    h = x * 3.0
    used_before = h * h
    h.set_value(np.array([100.0], "float32"))
    assert h.stop_gradient
    with pytest.warns(NoHistoryWarning, match=r"perhaps: cut by set_value\(\)"):
        (h * h).sum().backward()
    assert x.grad is None
    used_before.sum().backward()
    assert x.grad.tolist() == [18.0]  # of the h that was: 2 * 3 * 3


def test_assign_to_an_output_takes_over_the_history():
    x = leaf([1.0, 2.0])
    h = x * 3.0
    paddle.assign(x * x * 10.0, output=h)
    assert h.tolist() == [10.0, 40.0]
    h.sum().backward()
    assert x.grad.tolist() == [20.0, 40.0]


def test_assign_to_a_leaf_does_not_lose_a_history_silently():
    x, w = leaf([1.0]), leaf([5.0])
    with pytest.raises(ArgumentError, match="leaf that requires a gradient"):
        paddle.assign(x * 2.0, output=w)
    with paddle.no_grad():
        paddle.assign(x * 2.0, output=w)
    assert w.tolist() == [2.0]
    (w * w).sum().backward()
    assert w.grad.tolist() == [4.0]


def test_deepcopy_of_a_leaf_is_a_leaf_of_its_own():
    x = leaf([1.0, 2.0])
    x.name = "x"
    (x * x).sum().backward()
    other = copy.deepcopy(x)
    assert (other.tolist(), other.grad.tolist(), other.name) == ([1.0, 2.0], [2.0, 4.0], "x")
    other.sum().backward()
    assert other.grad.tolist() == [3.0, 5.0]
    assert x.grad.tolist() == [2.0, 4.0]


def test_deepcopy_of_a_parameter_is_a_parameter():
    w = paddle.create_parameter([2])
    assert type(copy.deepcopy(w)) is type(w)


def test_deepcopy_of_a_result_is_refused():
    y = leaf([1.0]) * 2.0
    with pytest.raises(ArgumentError, match=r"multiply at .*detach"):
        copy.deepcopy(y)
    assert copy.deepcopy(y.detach()).tolist() == [2.0]
