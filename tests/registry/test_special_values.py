"""Infinities, NaN, signed zeros, denormals, and arguments far out: stable operations do not warn.

Warnings are errors here, so a test without `np.errstate` also says that nothing warns.
"""

import math

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY

from .harness import (
    differentiable,
    directions,
    eager_orders,
    gradient,
    kernel,
    same_bits,
    static_orders,
    tensors,
)
from .samples import SAMPLES

INF, NAN = math.inf, math.nan
FAR = [1e4, 80.0, 1.0, 1e-6, 0.0, -0.0, -1e-6, -1.0, -80.0, -1e4]


def value_and_gradient(name, values, dtype, *, cotangent=None, **attrs):
    x = np.asarray(values, dtype)
    g = np.ones(x.shape, dtype) if cotangent is None else np.asarray(cotangent, dtype)
    (out,) = kernel(REGISTRY[name], [x], attrs)
    (grad,) = gradient(REGISTRY[name], [x], attrs, [0], [g])
    assert (out.dtype, grad.dtype) == (x.dtype, x.dtype)
    return out, grad


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


SATURATING = {
    # value, and what the gradient tends to at minus and plus infinity
    "sigmoid": (sigmoid, 0.0, 0.0),
    "tanh": (math.tanh, 0.0, 0.0),
    "erf": (math.erf, 0.0, 0.0),
    "relu": (lambda x: max(x, 0.0), 0.0, 1.0),
}
TOLERANCE = {"float32": 1e-6, "float64": 1e-14, "float16": 2e-3}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SATURATING)
def test_far_out(name, dtype):
    reference, below, above = SATURATING[name]
    tiny = float(np.finfo(dtype).smallest_subnormal)
    values = [*FAR, tiny, -tiny]
    out, grad = value_and_gradient(name, values, dtype)
    expected = [reference(v) for v in values]
    np.testing.assert_allclose(out, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    assert np.isfinite(grad).all()
    np.testing.assert_array_equal(grad[[0, 9]], [above, below])
    np.testing.assert_allclose(grad[[1, 8]], [above, below], atol=1e-34)


@pytest.mark.parametrize("name", ["sigmoid", "tanh", "relu"])
def test_far_out_in_float16(name):
    reference, below, above = SATURATING[name]
    out, grad = value_and_gradient(name, FAR, "float16")
    expected = [reference(float(v)) for v in np.asarray(FAR, np.float16)]
    np.testing.assert_allclose(out, expected, rtol=TOLERANCE["float16"], atol=1e-7)
    np.testing.assert_array_equal(grad[[0, 1, 8, 9]], [above, above, below, below])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["sigmoid", "tanh", "erf", "relu"])
def test_at_infinity_and_nan(name, dtype):
    _, below, above = SATURATING[name]
    limits = {"sigmoid": (0.0, 1.0), "tanh": (-1.0, 1.0), "erf": (-1.0, 1.0), "relu": (0.0, INF)}
    out, grad = value_and_gradient(name, [-INF, INF], dtype)
    np.testing.assert_array_equal(out, limits[name])
    np.testing.assert_array_equal(grad, [below, above])
    out, _ = value_and_gradient(name, [NAN, 1.0], dtype)
    assert np.isnan(out).tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_softmax_far_out(dtype):
    x = [[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4], [0.0, -0.0, 0.0], [-INF, 0.0, 0.0]]
    u = directions([np.zeros((4, 3))], seed=70)[0]
    third = 1.0 / 3.0
    expected = np.asarray([[1, 0, 0], [third] * 3, [third] * 3, [0, 0.5, 0.5]])
    out, grad = value_and_gradient("softmax", x, dtype, cotangent=u, axis=1)
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(out, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(grad.sum(axis=1), 0.0, atol=4 * tolerance)
    assert grad[3, 0] == 0.0
    logarithms, grad = value_and_gradient("log_softmax", x, dtype, cotangent=u, axis=1)
    np.testing.assert_allclose(logarithms[0], [0.0, -2e4, -1e4], rtol=tolerance)
    assert logarithms[3, 0] == -INF
    np.testing.assert_allclose(np.exp(logarithms), expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(grad.sum(axis=1), 0.0, atol=8 * tolerance)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_what_has_no_softmax(name):
    """Nothing to normalise by: NaN in that row only, where NumPy warns of inf - inf."""
    with np.errstate(invalid="ignore"):
        x = [[-INF, -INF], [INF, 0.0], [NAN, 0.0], [1.0, 1.0]]
        out, _ = value_and_gradient(name, x, "float32", axis=1)
    assert np.isnan(out).any(axis=1).tolist() == [True, True, True, False]
    out, grad = value_and_gradient(name, np.zeros((2, 0)), "float32", axis=1)
    assert (out.shape, grad.shape) == ((2, 0), (2, 0))


def test_means_of_nothing():
    """NaN, as its definition 0 / 0 says, without a warning; the sum is 0."""
    x = paddle.to_tensor(np.zeros((2, 0), np.float32))
    assert np.isnan(ops.mean(x, axis=(1,)).numpy()).all()
    assert ops.sum(x, axis=(1,)).tolist() == [0.0, 0.0]
    for name in ("max", "min"):
        with pytest.raises(ValueError, match="zero-size"):
            getattr(ops, name)(x, axis=(1,))


def test_where_lets_nothing_through_from_the_other_side():
    """0, and not the product of a mask with an infinity."""
    op = REGISTRY["where"]
    operands = [np.asarray([True, False, True]), np.full(3, INF), np.full(3, NAN)]
    for cotangent in (INF, NAN):
        u = np.full(3, cotangent)
        gx, gy = gradient(op, operands, {}, [1, 2], [u])
        assert gx.tolist()[1] == 0.0
        assert gy.tolist()[0] == gy.tolist()[2] == 0.0


ODD = ["negative", "sin", "tanh", "erf", "floor", "assign", "ceil", "trunc", "round", "expm1"]
ODD += ["log1p", "tan", "asin", "atan", "sinh", "asinh", "atanh", "erfinv"]


@pytest.mark.parametrize("name", [*ODD, "sqrt"])
def test_the_sign_of_zero_is_kept(name):
    (out,) = kernel(REGISTRY[name], [np.asarray([0.0, -0.0], np.float32)], {})
    flips = name == "negative"
    np.testing.assert_array_equal(out, [0.0, 0.0])
    assert np.signbit(out).tolist() == [flips, not flips]


POWERS = [
    # x, y, the gradient in x, the gradient in y
    (0.0, 2.0, 0.0, 0.0),
    (0.0, 1.0, 1.0, 0.0),
    (0.0, 0.0, 0.0, 0.0),
    (3.0, 0.0, 0.0, math.log(3.0)),
]


@pytest.mark.parametrize(("x", "y", "gx", "gy"), POWERS)
def test_powers_at_zero(x, y, gx, gy):
    found = gradient(REGISTRY["pow"], [np.asarray(x), np.asarray(y)], {}, [0, 1], [np.ones(())])
    np.testing.assert_allclose([g.item() for g in found], [gx, gy], rtol=1e-15)


def test_whole_powers_of_negative_numbers():
    """The logarithm, which NumPy warns of, is taken only where the exponent wants a gradient."""
    x, y = np.asarray([-2.0, -1.5]), np.asarray([3.0, 2.0])
    (g,) = gradient(REGISTRY["pow"], [x, y], {}, [0], [np.ones(2)])
    np.testing.assert_allclose(g, [12.0, -3.0], rtol=1e-15)


KINKS = {
    # No differences can be taken here: which of the subgradients comes out is a choice.
    "relu": ([[0.0]], [0.0]),
    "abs": ([[0.0]], [0.0]),
    "maximum": ([[1.0], [1.0]], [1.5, 1.5]),
    "minimum": ([[1.0], [1.0]], [1.5, 1.5]),
}


@pytest.mark.parametrize("name", KINKS)
def test_kinks(name):
    operands, expected = KINKS[name]
    arrays = [np.asarray(o) for o in operands]
    found = gradient(REGISTRY[name], arrays, {}, range(len(arrays)), [np.full(1, 3.0)])
    assert [g.item() for g in found] == expected


def test_hypot_is_convex_at_the_origin():
    """Its derivative jumps from -1 to 1 there: the second is none of a falling one."""
    x = paddle.to_tensor([0.0], stop_gradient=False)
    (first,) = paddle.grad(paddle.hypot(x, paddle.zeros_like(x)), x, create_graph=True)
    (second,) = paddle.grad(first, x)
    assert first.item() == 0.0
    assert 0.0 <= second.item() < INF


@pytest.mark.parametrize("name", ["max", "min"])
def test_elements_that_tie_share(name):
    x = np.asarray([[2.0, 2.0, 2.0, 2.0], [1.0, 1.0, 5.0, 5.0]])
    attrs = {"axis": (1,), "keepdims": False}
    (g,) = gradient(REGISTRY[name], [x], attrs, [0], [np.asarray([1.0, 1.0])])
    second = [0.0, 0.0, 0.5, 0.5] if name == "max" else [0.5, 0.5, 0.0, 0.0]
    assert g.tolist() == [[0.25] * 4, second]


def test_max_pool_takes_the_first_of_a_tie():
    attrs = {"kernel": (2, 2), "stride": (2, 2), "padding": ((0, 0), (0, 0)), "ceil_mode": False}
    x = np.ones((1, 1, 2, 2))
    (g,) = gradient(REGISTRY["max_pool"], [x], attrs, [0], [np.ones((1, 1, 1, 1))])
    assert g.ravel().tolist() == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "x", "value", "slope"),
    [("log", 0.0, -INF, INF), ("sqrt", 0.0, 0.0, INF), ("log", INF, INF, 0.0)],
)
def test_poles(name, x, value, slope):
    """NumPy warns of these itself; the engine adds nothing, and hides nothing."""
    with np.errstate(divide="ignore"):
        out, grad = value_and_gradient(name, [x], "float64")
    assert (out.item(), grad.item()) == (value, slope)
    if math.isinf(slope):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            value_and_gradient(name, [x], "float64")


# --- the same bits in every mode, whatever the values

SPECIAL = [0.0, -0.0, 1.5, -2.0, INF, -INF, NAN, 1e-42, -1e-42, 3e38]
ELEMENTWISE = sorted(
    name
    for name, samples in SAMPLES.items()
    if (samples[0].label, samples[0].attrs) == ("plain", {})
    and REGISTRY[name].inputs in [("x",), ("x", "y")]
    and name not in ("matmul", "distances", "logical_not")
    and not REGISTRY[name].multiple
    and differentiable(REGISTRY[name], samples[0].operands)
)


def test_elementwise_is_no_empty_list():
    assert {"add", "pow", "tanh", "maximum", "square"} <= set(ELEMENTWISE)


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_special_values_have_the_same_bits_in_every_mode(name, unknown):
    op = REGISTRY[name]
    values = np.asarray(SPECIAL, np.float32)
    operands = [values.reshape(-1, 1), values][: len(op.inputs)]
    positions = differentiable(op, operands)
    with np.errstate(all="ignore"):
        cotangents = [np.roll(kernel(op, operands, {})[0], 1)]
        tangents = [np.roll(operands[k], 3) for k in positions]
        expected = eager_orders(
            op, operands, {}, positions, cotangents, tangents, create_graph=True
        )
        results = static_orders(op, operands, {}, positions, cotangents, tangents, unknown=unknown)
        raw = gradient(op, operands, {}, positions, cotangents)
    for group, wanted in zip(results, expected, strict=True):
        for result, value in zip(group, wanted, strict=True):
            same_bits(result, value)
    for result, value in zip(raw, expected[1], strict=True):
        same_bits(result, value)


def test_scalars_of_numpy_never_come_out():
    """0-d results are arrays in every mode, though NumPy's arithmetic turns them into scalars."""
    for name in ("add", "exp", "sum", "sigmoid"):
        op = REGISTRY[name]
        sample = next(s for s in SAMPLES[name] if s.label == "0-d")
        out = getattr(ops, name)(*tensors(sample.cast(np.float32)), **sample.attrs)
        assert type(out.numpy()) is np.ndarray
        positions = differentiable(op, sample.operands)
        attrs = op.complete_attrs(sample.attrs)
        grads = gradient(op, sample.cast(np.float32), attrs, positions, [np.ones((), np.float32)])
        assert all(type(g) is np.ndarray for g in grads)


def test_each_nan_is_a_value_of_its_own():
    x = paddle.to_tensor([1.0, NAN, 2.0, NAN, 1.0])
    for found, axis in (
        (paddle.unique(x, True, True, True), None),
        (paddle.unique(x, True, True, True, 0), 0),
    ):
        values, first, where, counts = (v.tolist() for v in found)
        assert values[:2] == [1.0, 2.0]
        assert np.isnan(values[2:]).tolist() == [True, True]
        assert (first, where, counts) == ([0, 2, 1, 3], [0, 2, 1, 3, 0], [2, 1, 1, 1]), axis
