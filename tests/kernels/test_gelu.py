"""gelu and its slope against math.erfc, element by element, in both tails."""

import math

import numpy as np
import pytest

from autograd_engine.ops.kernels.gelu import gelu

DTYPES = pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
EPS = {np.float16: 1e-3, np.float32: 1.2e-7, np.float64: 2.3e-16}


def phi(x):
    """The normal distribution function and density at the values of an array."""
    below = np.array([0.5 * math.erfc(-v * math.sqrt(0.5)) for v in x.tolist()])
    return below, np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


@pytest.mark.parametrize(
    ("start", "stop"), [(-12.9, -6), (-6, -2.5), (-2.5, 0), (0, 2.5), (2.5, 14)]
)
def test_relative_error_in_single(start, stop):
    """Down to where x Phi(x) is denormal. The slope crosses 0, so its error is that of Phi."""
    x = np.linspace(start, stop, 20_001).astype(np.float32)
    true, density = phi(x.astype(np.float64))
    out, slope = gelu(x)
    np.testing.assert_allclose(out, x * true, rtol=5 * EPS[np.float32], atol=1e-38)
    scale = true + np.abs(x) * density
    assert (np.abs(slope - (true + x * density)) / scale).max() <= 5 * EPS[np.float32]


@DTYPES
def test_absolute_error(dtype):
    x = np.linspace(-8, 8, 4_001).astype(dtype)
    true, density = phi(x.astype(np.float64))
    out, slope = gelu(x)
    np.testing.assert_allclose(out, x * true, rtol=4 * EPS[dtype], atol=8 * EPS[dtype])
    np.testing.assert_allclose(slope, true + x * density, rtol=4 * EPS[dtype], atol=4 * EPS[dtype])


@DTYPES
def test_special_values(dtype):
    big = np.finfo(dtype).max
    x = np.array([-np.inf, -big, -60, 60, big, np.inf, np.nan, 0.0, -0.0], dtype)
    with np.errstate(all="raise"):
        out, slope = gelu(x)
    np.testing.assert_array_equal(out, np.array([0, 0, 0, 60, big, np.inf, np.nan, 0, 0], dtype))
    np.testing.assert_array_equal(slope[:7], np.array([0, 0, 0, 1, 1, 1, np.nan], dtype))
    np.testing.assert_allclose(slope[7:], 0.5, rtol=EPS[dtype])


@DTYPES
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3), (2, 0, 3), (1, 4, 1, 2)])
def test_shape_and_dtype_are_kept(dtype, shape):
    x = np.linspace(-4, 4, math.prod(shape)).astype(dtype).reshape(shape)
    for value in gelu(x):
        assert type(value) is np.ndarray
        assert (value.shape, value.dtype) == (shape, dtype)
        assert not np.may_share_memory(x, value)


@DTYPES
def test_the_value_does_not_depend_on_the_place(dtype):
    """Nor on the neighbours: blocks, their tails and strides change no bit."""
    x = np.linspace(-5, 5, 70_001).astype(dtype)
    x.flags.writeable = False
    whole = gelu(x)
    for part, of in zip(gelu(x[::-3]), whole, strict=True):
        np.testing.assert_array_equal(part, of[::-3])
    for part, of in zip(gelu(x[1:].reshape(70, 1000).T), whole, strict=True):
        np.testing.assert_array_equal(part, of[1:].reshape(70, 1000).T)
    for k in (0, 20_000, 32_767, 32_768, 40_000, 70_000):
        for n in (1, 3, 8, 17):
            for part, of in zip(gelu(x[k : k + n]), whole, strict=True):
                np.testing.assert_array_equal(part, of[k : k + n])
