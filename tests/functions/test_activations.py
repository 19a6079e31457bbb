"""Activations far out, at special values, in every dtype, and with wrong arguments."""

import math

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError

F = paddle.nn.functional
INF, NAN = math.inf, math.nan
FAR = [-1e4, -300.0, -80.0, -1.0, 1.0, 80.0, 300.0, 1e4]
DTYPES = ["float16", "float32", "float64"]


def orders(function, values, dtype):
    """Value, gradient and second derivative, elementwise."""
    x = paddle.to_tensor(np.asarray(values, dtype), stop_gradient=False)
    y = function(x)
    (first,) = paddle.grad(y, x, paddle.ones_like(y), create_graph=True)
    second = None
    if not first.stop_gradient:
        (second,) = paddle.grad(first, x, paddle.ones_like(first), allow_unused=True)
    found = [y, first] if second is None else [y, first, second]
    assert all(v.numpy().dtype == dtype for v in found)
    return [v.numpy() for v in found]


# name: value far below, value far above (None: x), gradient there
ENDS = {
    "relu": (0.0, None, 0.0, 1.0),
    "relu6": (0.0, 6.0, 0.0, 0.0),
    "elu": (-1.0, None, 0.0, 1.0),
    "celu": (-1.0, None, 0.0, 1.0),
    "silu": (0.0, None, 0.0, 1.0),
    "swish": (0.0, None, 0.0, 1.0),
    "mish": (0.0, None, 0.0, 1.0),
    "gelu": (0.0, None, 0.0, 1.0),
    "hardswish": (0.0, None, 0.0, 1.0),
    "hardsigmoid": (0.0, 1.0, 0.0, 0.0),
    "hardtanh": (-1.0, 1.0, 0.0, 0.0),
    "softplus": (0.0, None, 0.0, 1.0),
    "sigmoid": (0.0, 1.0, 0.0, 0.0),
    "tanh": (-1.0, 1.0, 0.0, 0.0),
    "log_sigmoid": (None, 0.0, 1.0, 0.0),
    "hardshrink": (None, None, 1.0, 1.0),
    "thresholded_relu": (0.0, None, 0.0, 1.0),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ENDS)
def test_far_out_nothing_overflows(name, dtype):
    below, above, slope_below, slope_above = ENDS[name]
    y, first, *rest = orders(getattr(F, name), FAR, dtype)
    x = np.asarray(FAR, dtype)
    assert all(np.isfinite(v).all() for v in (y, first, *rest))
    assert y[0] == (x[0] if below is None else below)
    assert y[-1] == (x[-1] if above is None else above)
    assert (first[0], first[-1]) == (slope_below, slope_above)
    assert all((r[0], r[-1]) == (0.0, 0.0) for r in rest)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gelu_by_tanh_far_out(dtype):
    y, first, second = orders(lambda x: F.gelu(x, approximate=True), FAR, dtype)
    assert (y[0], y[-1], first[0], first[-1]) == (0.0, np.asarray(1e4, dtype), 0.0, 1.0)
    assert np.isfinite(second).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_derivative_of_erf_where_the_square_is_no_float16(dtype):
    x = np.asarray([-6e4, -300.0, 300.0, 6e4], dtype)
    _, first, second = orders(paddle.erf, x, dtype)
    assert not first.any()
    assert not second.any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_arguments_keep_their_digits(dtype):
    """exp(x) - 1 and log(1 + exp(-x)) cancel where they are written like that."""
    x = np.asarray([-1e-6, -1e-3], dtype)
    expected = [math.expm1(v) for v in x.tolist()]
    np.testing.assert_allclose(F.elu(paddle.to_tensor(x)).numpy(), expected, rtol=1e-6)
    y = F.log_sigmoid(paddle.to_tensor(np.asarray([40.0, 15.0], dtype))).numpy()
    np.testing.assert_allclose(y, [-math.exp(-40.0), -math.log1p(math.exp(-15.0))], rtol=1e-6)


PIECEWISE = [
    "relu6", "leaky_relu", "elu", "celu", "selu", "hardtanh", "hardsigmoid", "hardshrink",
    "softshrink", "thresholded_relu", "softplus", "log_sigmoid", "mish", "silu",
]  # fmt: skip


@pytest.mark.parametrize("name", PIECEWISE)
def test_nan_stays_nan(name):
    y = getattr(F, name)(paddle.to_tensor([NAN, 1.5])).numpy()
    assert np.isnan(y).tolist() == [True, False]


@pytest.mark.parametrize("name", [n for n in ENDS if n not in ("silu", "swish", "gelu", "mish")])
def test_integers_become_floats(name):
    if name == "relu":  # keeps integers, as it always did
        return
    y = getattr(F, name)(paddle.to_tensor([-1, 2]))
    expected = getattr(F, name)(paddle.to_tensor([-1.0, 2.0]))
    np.testing.assert_array_equal(y.numpy(), expected.numpy(), strict=True)


def test_softplus_is_linear_from_its_threshold_on():
    x = paddle.to_tensor([1.9, 2.1])
    y = F.softplus(x, beta=2, threshold=4).numpy()
    np.testing.assert_allclose(y, [math.log1p(math.exp(3.8)) / 2, 2.1], rtol=1e-6)
    assert y[1] == x.numpy()[1]


def test_rrelu_draws_each_slope_from_the_interval():
    paddle.seed(1)
    y = F.rrelu(-paddle.ones([2000]), 0.2, 0.6).numpy()
    assert -0.6 <= y.min() < -0.59
    assert -0.21 < y.max() <= -0.2
    assert abs(y.mean() + 0.4) < 4 * (0.4 / 12**0.5) / 2000**0.5
    paddle.seed(1)
    np.testing.assert_array_equal(F.rrelu(-paddle.ones([2000]), 0.2, 0.6).numpy(), y)


def test_gumbel_softmax_samples_the_distribution():
    paddle.seed(2)
    logits = paddle.log(paddle.to_tensor([0.2, 0.5, 0.3]))
    hard = F.gumbel_softmax(logits + paddle.zeros([4000, 3]), hard=True).numpy()
    assert set(np.unique(hard)) == {0.0, 1.0}
    np.testing.assert_array_equal(hard.sum(1), np.ones(4000))
    np.testing.assert_allclose(hard.mean(0), [0.2, 0.5, 0.3], atol=4 * 0.5 / 4000**0.5)


def test_the_hard_sample_has_the_gradient_of_the_soft_one():
    u = paddle.to_tensor([[1.0, -2.0, 0.5]])
    found = []
    for hard in (False, True):
        x = paddle.to_tensor([[0.1, 0.2, -0.3]], stop_gradient=False)
        paddle.seed(3)
        found.append(paddle.grad(F.gumbel_softmax(x, 0.7, hard=hard), x, u)[0].numpy())
    assert found[0].any()
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("relu_", ()),
        ("elu_", (0.5,)),
        ("leaky_relu_", (0.2,)),
        ("hardtanh_", ()),
        ("thresholded_relu_", ()),
        ("tanh_", ()),
        ("softmax_", ()),
    ],
)
def test_in_place(name, arguments):
    values = [-2.0, 0.5, 3.0]
    expected = getattr(F, name[:-1])(paddle.to_tensor(values), *arguments).numpy()
    x = paddle.to_tensor(values)
    assert getattr(F, name)(x, *arguments) is x
    np.testing.assert_array_equal(x.numpy(), expected, strict=True)
    leaf = paddle.to_tensor(values, stop_gradient=False)
    with pytest.raises(RuntimeError, match="leaf that requires a gradient"):
        getattr(F, name)(leaf, *arguments)


def test_silu_in_place():
    x = paddle.to_tensor([1.0])
    assert F.silu(x, inplace=True) is x
    np.testing.assert_allclose(x.numpy(), [1.0 / (1.0 + math.exp(-1.0))], rtol=1e-6)


REFUSED = {
    "prelu weight": (lambda x: F.prelu(x, paddle.ones([2])), ShapeError, "one for each channel"),
    "prelu format": (lambda x: F.prelu(x, x[0], "CN"), ArgumentError, "data_format must be one"),
    "rrelu": (lambda x: F.rrelu(x, 0.5, 0.2), ArgumentError, "lower <= upper"),
    "rrelu str": (lambda x: F.rrelu(x, "a"), ArgumentError, "lower must be a number"),
    "celu": (lambda x: F.celu(x, 0.0), ArgumentError, "alpha must not be 0"),
    "selu": (lambda x: F.selu(x, scale=0.5), ArgumentError, "scale must be above 1"),
    "softplus": (lambda x: F.softplus(x, 0), ArgumentError, "beta must not be 0"),
    "softshrink": (lambda x: F.softshrink(x, -1.0), ArgumentError, "must not be negative"),
    "gelu": (lambda x: F.gelu(x, "erf"), ArgumentError, "'tanh' or 'none', got 'erf'"),
    "glu": (lambda x: F.glu(x), ShapeError, "known and even"),
    "glu axis": (lambda x: F.glu(x, 5), ShapeError, "axis 5 is out of range"),
    "maxout": (lambda x: F.maxout(x, 2), ShapeError, "multiple of groups"),
    "maxout groups": (lambda x: F.maxout(x, 0), ArgumentError, "groups must be a positive int"),
    "gumbel": (lambda x: F.gumbel_softmax(x, 0.0), ArgumentError, "temperature must be above 0"),
    "complex": (lambda x: F.mish(x.astype("complex64")), DTypeError, "takes real numbers"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_arguments(case):
    call, kind, hint = REFUSED[case]
    with pytest.raises(kind, match=hint):
        call(paddle.ones([2, 3]))


def test_an_axis_of_unknown_size_is_not_halved():
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2, None], "float32")
        with pytest.raises(ShapeError, match="known and even"):
            F.glu(x)
