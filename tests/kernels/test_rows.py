"""Kernels along rows against NumPy in float64, whatever the size of rows and blocks."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.ops.kernels import rows
from autograd_engine.ops.registry.namespace import raw

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
    size = (1 << 24) + 1024
    x = np.ones((1, size), np.float32)
    assert raw.sum(x, axis=(0, 1)) == size
    assert raw.sum(x, axis=(1,))[0] == size


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
@pytest.mark.parametrize("width", [10, 1_000])
def test_a_row_has_the_same_bits_in_any_block(width, dtype):
    x, g = random((700, width), (700, width), dtype=dtype)
    for array in (x, g):
        array.flags.writeable = False
    out = raw.softmax(x, axis=1)
    dx = raw.softmax_adjoint(g, out, axis=1)
    log_out = raw.log_softmax(x, axis=1)
    log_dx = raw.log_softmax_adjoint(g, log_out, axis=1)
    for k in (0, 261, 262, 263, 699):
        one = slice(k, k + 1)
        np.testing.assert_array_equal(raw.softmax(x[one], axis=1), out[one])
        np.testing.assert_array_equal(raw.softmax_adjoint(g[one], out[one], axis=1), dx[one])
        np.testing.assert_array_equal(raw.log_softmax(x[one], axis=1), log_out[one])
        np.testing.assert_array_equal(
            raw.log_softmax_adjoint(g[one], log_out[one], axis=1), log_dx[one]
        )
    spread = np.repeat(x, 2, axis=1)[:, ::2]
    np.testing.assert_array_equal(raw.softmax(spread, axis=1), out)


def test_the_size_of_buffers_is_restored():
    x = np.zeros((100, 1_000), np.float32)
    x[50, 3] = np.inf
    before = np.getbufsize()
    paddle.set_flags({"FLAGS_compiled_kernels": False})
    raw.standardize(np.ones_like(x), axis=(1,), epsilon=1.0)
    with pytest.raises(FloatingPointError), np.errstate(invalid="raise"):
        raw.softmax(x, axis=1)
    paddle.set_flags({"FLAGS_compiled_kernels": True})
    assert np.getbufsize() == before


def far(dtype):
    """Rows whose exponentials overflow, vanish, or add up to hardly anything."""
    (x,) = random((9, 100), dtype=dtype)
    x += np.array([0, 300, -300, 1e4, -1e4, -18, 80, -80, 0], dtype)[:, None]
    x[8] = -np.inf
    x[8, 3] = -200.0
    return x


@DTYPES
def test_exponentials_that_overflow_or_vanish(dtype):
    x = far(dtype)
    wide = x.astype(np.float64)
    shifted = wide - wide.max(axis=1, keepdims=True)
    total = np.exp(shifted).sum(axis=1, keepdims=True)
    with np.errstate(all="raise"):
        out = raw.softmax(x, axis=1)
    close(out, np.exp(shifted) / total, dtype)


@DTYPES
def test_rows_do_not_depend_on_those_beside_them(dtype):
    x = far(dtype)
    out = raw.softmax(x, axis=1)
    for k in range(len(x)):
        np.testing.assert_array_equal(raw.softmax(x[k : k + 1], axis=1)[0], out[k])


@DTYPES
def test_what_is_no_number_stays_in_its_row(dtype):
    (x,) = random((4, 100), dtype=dtype)
    expected = raw.softmax(x, axis=1)
    x[1, 5], x[2, 7], x[3] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        out = raw.softmax(x, axis=1)
    np.testing.assert_array_equal(out[0], expected[0])
    assert np.isnan(out[[1, 3]]).all()
    assert np.isnan(out[2, 7])


@DTYPES
@pytest.mark.parametrize("size", [1 << 15, (1 << 15) + 1, (1 << 17) - 3])
def test_relu_of_many_is_that_of_each(size, dtype):
    (x,) = random((size,), dtype=dtype)
    x[:6] = [-0.0, 0.0, np.nan, np.inf, -np.inf, 1e-40]
    x[-6:] = x[:6]
    out = raw.relu(x)
    assert (
        out.tobytes()
        == np.concatenate(
            [
                raw.relu(x[:1000]),
                raw.relu(x[1000:2000]),
                *map(raw.relu, np.array_split(x[2000:], 64)),
            ]
        ).tobytes()
    )
    table = np.broadcast_to(x, (2, size)).T
    np.testing.assert_array_equal(raw.relu(table), np.stack([out, out], axis=1))
    assert not np.shares_memory(out, x)
