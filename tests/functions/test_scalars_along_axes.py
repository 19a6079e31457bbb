"""A 0-d array has one element to look along: axis 0 and -1 are the same, and no other is taken."""

import inspect

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ShapeError

F = paddle.nn.functional
X = 3.0

# What is asked for besides the operand and the axis.
MORE = {
    "gumbel_softmax": {"hard": True},
    "kthvalue": {"k": 1},
    "nanquantile": {"q": 0.5},
    "quantile": {"q": 0.5},
    "topk": {"k": 1},
    "unfold": {"size": 1, "step": 1},
    "vecdot": {"y": X},
}
# They cut, join, turn or index what lies along an axis: a 0-d array has none of these, as in NumPy.
NEEDS_AN_AXIS = (
    "chunk",
    "concat",
    "cosine_similarity",
    "cross",
    "cumulative_trapezoid",
    "diff",
    "gather",
    "glu",
    "index_add",
    "index_fill",
    "index_select",
    "matrix_norm",
    "maxout",
    "normalize",
    "put_along_axis",
    "renorm",
    "repeat_interleave",
    "roll",
    "scatter_add",
    "scatter_reduce",
    "select_scatter",
    "softmax_with_cross_entropy",
    "split",
    "split_with_sizes",
    "take_along_axis",
    "tensor_split",
    "trapezoid",
    "unbind",
    "unflatten",
    "unique",
    "unique_consecutive",
    "unstack",
    "cross_entropy",
)
# The axis is one of the result, or names which elements are drawn alike.
OF_THE_RESULT = ["dropout", "squeeze", "stack", "unsqueeze"]


def along_axes():
    """Functions with an argument `axis` or `dim`, and its name."""
    found = {}
    for module in (paddle, F, paddle.linalg):
        for name in dir(module):
            function = getattr(module, name)
            if name.startswith("_") or name.endswith("_") or not inspect.isfunction(function):
                continue
            parameters = inspect.signature(function).parameters
            named = [a for a in ("axis", "dim") if a in parameters]
            if named and next(iter(parameters)) not in ("shape", "axis"):
                found[name] = function, named[0]
    return found


ALONG = along_axes()
TAKING = sorted({*ALONG} - {*NEEDS_AN_AXIS, *OF_THE_RESULT})


def call(name, x, axis):
    function, argument = ALONG[name]
    paddle.seed(0)
    out = function(x, **{argument: axis}, **MORE.get(name, {}))
    return list(out) if isinstance(out, (list, tuple)) else [out]


def values(out):
    return [np.asarray(v.numpy()) for v in out]


@pytest.mark.parametrize("name", TAKING)
def test_minus_one_is_zero(name):
    x = paddle.to_tensor(X)
    first, last = values(call(name, x, 0)), values(call(name, x, -1))
    line = values(call(name, paddle.to_tensor([X]), 0))
    for a, b, c in zip(first, last, line, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.shape == (() if name != "unfold" else (1,))
        np.testing.assert_array_equal(a, c.reshape(a.shape))
    for axis in (1, -2):
        with pytest.raises(ShapeError, match=rf"{axis}.*0-d"):
            call(name, x, axis)


@pytest.mark.parametrize("name", TAKING)
def test_in_programs_and_gradients(name):
    x = paddle.to_tensor(X, stop_gradient=False)
    out = call(name, x, -1)[0]
    with paddle.static.program_guard(paddle.static.Program()):
        v = paddle.static.data("x", [], "float32")
        v.stop_gradient = False
        made = call(name, v, -1)[0]
        fetched = [made, *paddle.static.gradients(made, v)] if not out.stop_gradient else [made]
        found = paddle.static.Executor().run(v.block.program, {"x": np.float32(X)}, fetched)
    if name not in ("gumbel_softmax",):  # drawn anew
        np.testing.assert_array_equal(found[0], out.numpy())
    if not out.stop_gradient:
        out.sum().backward()
        np.testing.assert_array_equal(found[1], x.grad.numpy())
