"""The error function against math.erf, element by element."""

import math

import numpy as np
import pytest

from autograd_engine.ops.kernels.erf import erf

DTYPES = pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])


def errors(x):
    """Distance of erf(x) from math.erf, in units in the last place of the true value."""
    true = np.array([math.erf(v) for v in x.tolist()])
    return np.abs(erf(x).astype(np.float64) - true) / np.spacing(np.abs(true).astype(x.dtype))


@DTYPES
@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, 0.5), (0.5, 0.8), (0.8, 1.2), (1.2, 2), (2, 4), (3.8, 6.1), (6, 30)],
)
def test_within_two_units_in_the_last_place(dtype, start, stop):
    """math.erf is itself within 1 unit of the true value in float64."""
    x = np.linspace(start, stop, 20_001).astype(dtype)
    assert errors(x).max() <= (3 if dtype == np.float64 else 2)


@DTYPES
def test_small_arguments_keep_their_relative_accuracy(dtype):
    """erf(x) is 2 x / sqrt(pi) for small x, down to the denormals."""
    low = math.log10(float(np.finfo(dtype).smallest_subnormal))
    x = np.logspace(low, -2, 5_000).astype(dtype)
    assert errors(x).max() <= 2


def test_against_digits_of_the_true_value():
    """Abramowitz and Stegun, table 7.1, and erfc(3), erfc(5) from the continued fraction."""
    x = np.array([0.5, 1.0, 1.5, 2.0])
    true = [0.520499877813046538, 0.842700792949714869, 0.966105146475310727, 0.995322265018952734]
    np.testing.assert_allclose(erf(x), true, rtol=3e-16)
    tail = 1 - erf(np.array([3.0, 5.0]))
    np.testing.assert_allclose(tail, [2.20904969985854414e-5, 1.53745979442803e-12], atol=2.3e-16)


@DTYPES
def test_special_values(dtype):
    x = np.array([np.inf, -np.inf, np.nan, -np.nan, np.finfo(dtype).max], dtype)
    with np.errstate(all="raise"):
        y = erf(x)
    np.testing.assert_array_equal(y, np.array([1, -1, np.nan, np.nan, 1], dtype))


@DTYPES
def test_no_float_error_is_raised(dtype):
    info = np.finfo(dtype)
    x = np.array([info.smallest_subnormal, info.tiny, info.eps, 1, 5, 50, info.max], dtype)
    with np.errstate(all="raise"):
        y = erf(np.concatenate([x, -x]))
    assert np.isfinite(y).all()


@DTYPES
def test_sign_of_zero(dtype):
    y = erf(np.array([0.0, -0.0], dtype))
    np.testing.assert_array_equal(y, [0, 0])
    np.testing.assert_array_equal(np.signbit(y), [False, True])


@DTYPES
def test_odd_bit_for_bit(dtype):
    x = np.linspace(0, 7, 5_000).astype(dtype)
    np.testing.assert_array_equal(erf(-x), -erf(x))


@DTYPES
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3), (2, 0, 3), (1, 4, 1, 2)])
def test_shape_and_dtype_are_kept(dtype, shape):
    x = np.linspace(-2, 2, math.prod(shape)).astype(dtype).reshape(shape)
    y = erf(x)
    assert type(y) is np.ndarray
    assert y.shape == shape
    assert y.dtype == dtype
    assert not np.may_share_memory(x, y)
    expected = np.array([math.erf(v) for v in x.reshape(-1).tolist()]).reshape(shape)
    np.testing.assert_allclose(y, expected, rtol=2 * np.finfo(dtype).eps)


@DTYPES
def test_the_value_does_not_depend_on_the_place(dtype):
    """Blocks, the tail of a block and strides change no bit, and nothing is written to x."""
    x = np.linspace(-5, 5, 70_001).astype(dtype)
    x.flags.writeable = False
    y = erf(x)
    np.testing.assert_array_equal(erf(x[::-3]), y[::-3])
    np.testing.assert_array_equal(erf(x[1:].reshape(70, 1000).T), y[1:].reshape(70, 1000).T)
    for k in (0, 16_383, 32_768, 70_000):
        assert erf(x[k : k + 1]) == y[k]


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.complex128])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(TypeError, match=f"got {np.dtype(dtype)}; convert it first"):
        erf(np.ones(3, dtype))
