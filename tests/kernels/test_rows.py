"""Kernels along rows against NumPy in float64, whatever the size of rows and blocks."""

import numpy as np
import pytest

from autograd_engine.kernels import rows
from autograd_engine.namespace import raw

SHAPES = [(3, 4), (1, 1), (40, 700), (700, 40), (3, 5_000), (20, 4_096), (300, 1_000), (2, 300_001)]
SIZES = pytest.mark.parametrize("shape", SHAPES, ids=str)
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def random(*shapes, dtype, seed=3):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(s).astype(dtype) for s in shapes]


def close(actual, expected, dtype, scale=8):
    assert actual.dtype == dtype
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(
        actual, expected, rtol=scale * eps, atol=scale * eps * np.abs(expected).max()
    )


@SIZES
@DTYPES
def test_sums(shape, dtype):
    (x,) = random(shape, dtype=dtype)
    expected = x.astype(np.longdouble).sum(axis=1)
    size = np.abs(x).sum(axis=1).max()
    for found in (rows.row_sums(x), raw.sum(x, axis=(1,))):
        assert found.dtype == dtype
        assert np.abs(found - expected).max() <= 4 * np.finfo(dtype).eps * size
    total = raw.sum(x, axis=(0, 1))
    assert abs(total - expected.sum()) <= 4 * np.finfo(dtype).eps * np.abs(x).sum()
    mean = raw.mean(x, axis=(1,), keepdims=True)
    np.testing.assert_array_equal(mean[:, 0], raw.sum(x, axis=(1,)) / dtype(shape[1]))


def test_sums_of_many_equal_values_do_not_drift():
    """Ones added up one by one in float32 would stop at 2^24."""
    x = np.ones((1, 1 << 25), np.float32)
    assert raw.sum(x, axis=(0, 1)) == 1 << 25
    assert raw.sum(x, axis=(1,))[0] == 1 << 25


@SIZES
@DTYPES
def test_softmax(shape, dtype):
    x, g = random(shape, shape, dtype=dtype)
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(axis=1, keepdims=True))
    out = e / e.sum(axis=1, keepdims=True)
    close(raw.softmax(x, axis=1), out, dtype)
    expected = out * (g - (g * out).sum(axis=1, keepdims=True))
    close(raw.softmax_adjoint(g, out.astype(dtype), axis=1), expected, dtype)


@SIZES
@DTYPES
def test_standardize(shape, dtype):
    x, g = random(shape, shape, dtype=dtype)
    x += dtype(10)
    wide = x.astype(np.float64)
    s = np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
    out = (wide - wide.mean(axis=1, keepdims=True)) / s
    found = raw.standardize(x, axis=(1,), epsilon=1e-5)
    close(found[0], out, dtype, 64)  # 10 is subtracted
    close(found[1], wide.mean(axis=1, keepdims=True), dtype)
    close(found[2], wide.var(axis=1, keepdims=True), dtype, 32)
    expected = g - g.mean(axis=1, keepdims=True) - out * (g * out).mean(axis=1, keepdims=True)
    variance = wide.var(axis=1, keepdims=True).astype(dtype)
    dx = raw.standardize_adjoint(g, out.astype(dtype), variance, axis=(1,), epsilon=1e-5)
    close(dx, expected / s, dtype, 16)


@DTYPES
def test_a_row_has_the_same_bits_in_any_block(dtype):
    x, g = random((700, 1_000), (700, 1_000), dtype=dtype)
    for array in (x, g):
        array.flags.writeable = False
    out = raw.softmax(x, axis=1)
    dx = raw.softmax_adjoint(g, out, axis=1)
    for k in (0, 261, 262, 263, 699):
        one = slice(k, k + 1)
        np.testing.assert_array_equal(raw.softmax(x[one], axis=1), out[one])
        np.testing.assert_array_equal(raw.softmax_adjoint(g[one], out[one], axis=1), dx[one])
    spread = np.repeat(x, 2, axis=1)[:, ::2]
    np.testing.assert_array_equal(raw.softmax(spread, axis=1), out)


def test_the_size_of_buffers_is_restored():
    x = np.zeros((100, 1_000), np.float32)
    x[50, 3] = np.inf
    before = np.getbufsize()
    raw.standardize(np.ones_like(x), axis=(1,), epsilon=1.0)
    with pytest.raises(FloatingPointError), np.errstate(invalid="raise"):
        raw.softmax(x, axis=1)
    assert np.getbufsize() == before
