"""What calls generated for several outputs, conditions and casts record is what `apply` records."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.eager.generated_calls import general_calls

F = paddle.nn.functional
IMAGES = np.random.default_rng(0).permutation(48).reshape(1, 3, 4, 4).astype("float32")
ROWS = IMAGES.reshape(6, 8)

CALLS = {
    "both outputs": (ROWS, lambda x: sum(paddle.topk(x, 2)[0] * 2.0)),
    "moments": (ROWS, lambda x: F.layer_norm(x, 8)),
    "a slope beside the value": (ROWS / 20.0, F.gelu),
    "pooled": (IMAGES, lambda x: F.max_pool2d(x, 2)),
    "a number on the right": (ROWS, lambda x: paddle.where(x > 20.0, x, -0.0)),
    "a number on the left": (ROWS, lambda x: paddle.where(x > 20.0, 3, x)),
    "a condition that broadcasts": (ROWS, lambda x: paddle.where(x[0] > 20.0, x, x * x)),
    "cast": (ROWS, lambda x: x.astype("float64") * 3.0),
    "an integer beside integers": (ROWS, lambda x: x * (x.astype("int64") != 5).astype("float32")),
}


def bits(values, function, general):
    """Value, gradient and gradient of the gradient."""
    block = general_calls(lambda: None, lambda: None) if general else contextlib.nullcontext()
    with block:
        x = paddle.to_tensor(values, stop_gradient=False)
        y = function(x)
        (first,) = paddle.grad((y * y).sum(), x, create_graph=True)
        (second,) = paddle.grad((first * first).sum(), x)
        return [(v.dtype, v.numpy().tobytes()) for v in (y, first, second)]


def test_bits_are_those_of_the_general_way():
    for name, (values, function) in CALLS.items():
        assert bits(values, function, False) == bits(values, function, True), name


def test_one_of_several_outputs_lives_alone():
    x = paddle.to_tensor(ROWS, stop_gradient=False)
    values, indices = paddle.topk(x, 2)
    assert indices.stop_gradient
    assert not values.stop_gradient
    del indices
    values.sum().backward()
    assert x.grad.numpy().sum() == 12.0
    with pytest.raises(RuntimeError, match="freed by an earlier backward pass"):
        values.sum().backward()


def test_a_cotangent_that_does_not_fit_is_refused_or_cast():
    x = paddle.to_tensor(ROWS, stop_gradient=False)
    (x * 2.0).backward(paddle.ones([6, 8], "float64"))
    assert x.grad.dtype == paddle.float32
    with pytest.raises(ValueError, match="has shape"):
        (x * 2.0).backward(paddle.ones([8]))
