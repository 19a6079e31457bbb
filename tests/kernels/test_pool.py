"""Pooling kernels against loops over the windows, and adjoint to each other."""

from types import SimpleNamespace

import numpy as np
import pytest

from autograd_engine.ops.kernels import pool
from autograd_engine.ops.kernels.pool import (
    adaptive_avg_pool,
    adaptive_avg_pool_input,
    adaptive_max_pool,
    avg_pool,
    avg_pool_input,
    last_writes,
    max_pool,
    max_pool_gather,
    max_pool_scatter,
)
from autograd_engine.ops.kernels.windows import window_count

PLAIN = {"kernel": (2, 2), "stride": (2, 2), "padding": ((0, 0), (0, 0)), "ceil_mode": False}
ASYMMETRIC = ((1, 0), (0, 2))

# name: shape of x, what differs from PLAIN
CASES = {
    "plain": ((2, 3, 6, 4), {}),
    "rest is dropped": ((2, 2, 7, 5), {}),
    "ceil": ((2, 2, 7, 5), {"ceil_mode": True}),
    "overlap": ((2, 2, 6, 7), {"kernel": (3, 2), "stride": (1, 1)}),
    "gaps": ((1, 2, 9, 8), {"stride": (4, 3)}),
    "padding": (
        (2, 2, 5, 6),
        {"kernel": (2, 3), "stride": (2, 1), "padding": ASYMMETRIC},
    ),
    "padding and ceil": (
        (2, 2, 6, 6),
        {"kernel": (3, 3), "padding": ((1, 1), (0, 2)), "ceil_mode": True},
    ),
    # The window that would start in the padding at the end is dropped.
    "ceil past the end": (
        (1, 2, 4, 4),
        {"stride": (3, 3), "padding": ((1, 1), (1, 1)), "ceil_mode": True},
    ),
    "whole plane": ((2, 3, 5, 4), {"kernel": (5, 4), "stride": (1, 1)}),
    "kernel wider than the plane": (
        (1, 2, 2, 1),
        {"kernel": (3, 3), "stride": (1, 1), "padding": ((2, 1), (1, 2))},
    ),
    "kernel past the plane on one side": (
        (1, 2, 2, 3),
        {"kernel": (5, 6), "stride": (3, 1), "padding": ((0, 4), (0, 5)), "ceil_mode": True},
    ),
    "single elements": ((2, 2, 3, 3), {"kernel": (1, 1), "stride": (1, 1)}),
    "more offsets than a byte counts": ((1, 1, 18, 17), {"kernel": (17, 16), "stride": (1, 1)}),
}
EVERY_CASE = pytest.mark.parametrize("case", CASES)
BOTH_MEANS = pytest.mark.parametrize("exclusive", [True, False])


def windows(size, kernel, stride, padding, ceil_mode):
    """Starts of the windows along one axis, found by stepping."""
    before, after = padding
    starts, start = [], -before
    while start + kernel <= size + after:
        starts.append(start)
        start += stride
    if ceil_mode and start - stride + kernel < size + after and start < size:
        starts.append(start)
    return starts


def loops(x, kernel, stride, padding, ceil_mode, exclusive=True):
    """Maximum, index of the maximum and mean of every window, in float64."""
    _, _, h, w = x.shape
    rows, columns = (
        windows(x.shape[2 + a], kernel[a], stride[a], padding[a], ceil_mode) for a in (0, 1)
    )
    shape = (*x.shape[:2], len(rows), len(columns))
    largest, index, mean = np.zeros(shape), np.zeros(shape, int), np.zeros(shape)
    for n, c, p, q in np.ndindex(*shape):
        r, s = rows[p], columns[q]
        inside = [
            (i, j)
            for i in range(max(r, 0), min(r + kernel[0], h))
            for j in range(max(s, 0), min(s + kernel[1], w))
        ]
        values = [float(x[n, c, i, j]) for i, j in inside]
        # max() keeps the first of equal values; NaN ranks above everything.
        best = max(range(len(values)), key=lambda k: (np.isnan(values[k]), values[k]))
        if np.isnan(values).any():
            best = int(np.isnan(values).argmax())
        largest[n, c, p, q] = values[best]
        index[n, c, p, q] = inside[best][0] * w + inside[best][1]
        padded = (min(r + kernel[0], h + padding[0][1]) - r) * (
            min(s + kernel[1], w + padding[1][1]) - s
        )
        mean[n, c, p, q] = sum(values) / (len(inside) if exclusive else padded)
    return largest, index, mean


def sample(case, dtype=np.float64, seed=0):
    shape, changes = CASES[case]
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype), PLAIN | changes


def spec(a):
    return SimpleNamespace(shape=a.shape, dtype=a.dtype)


@EVERY_CASE
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_maximum(case, dtype):
    x, attrs = sample(case, dtype)
    out, index = max_pool(x, **attrs)
    largest, place, _ = loops(x, **attrs)
    assert out.dtype == dtype
    assert index.dtype == np.int64
    assert out.flags.c_contiguous
    assert index.flags.c_contiguous
    np.testing.assert_array_equal(out, largest)
    np.testing.assert_array_equal(index, place)


@EVERY_CASE
def test_first_of_equal_elements(case):
    shape, changes = CASES[case]
    x = np.random.default_rng(3).integers(0, 3, shape).astype(np.float32)
    out, index = max_pool(x, **PLAIN | changes)
    largest, place, _ = loops(x, **PLAIN | changes)
    np.testing.assert_array_equal(out, largest)
    np.testing.assert_array_equal(index, place)


@EVERY_CASE
def test_last_of_increasing_elements(case):
    shape, changes = CASES[case]
    x = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    _, index = max_pool(x, **PLAIN | changes)
    np.testing.assert_array_equal(index, loops(x, **PLAIN | changes)[1])


def test_few_elements_have_the_maxima_of_many(monkeypatch):
    """The cases above are small, and all read as rows: here they go axis by axis too."""
    rng = np.random.default_rng(4)
    for case, (shape, changes) in CASES.items():
        attrs = PLAIN | changes
        for values in ([0.0, 1.0, 2.0], [0.0, np.nan, np.inf, -np.inf]):
            x = rng.choice(values, shape)
            few = max_pool(x, **attrs)
            with monkeypatch.context() as patch:
                patch.setattr(pool, "_FEW", -1)
                many = max_pool(x, **attrs)
            for a, b in zip(few, many, strict=True):
                assert a.dtype == b.dtype
                np.testing.assert_array_equal(a, b, case)


@EVERY_CASE
def test_nan_and_infinities(case):
    """Padding is no element: a window of -inf has its index in the plane. NaN beats +inf."""
    shape, changes = CASES[case]
    x = np.random.default_rng(4).choice([-np.inf, -np.inf, -np.inf, np.nan, np.inf], shape)
    out, index = max_pool(x, **PLAIN | changes)
    largest, place, _ = loops(x, **PLAIN | changes)
    np.testing.assert_array_equal(out, largest)
    np.testing.assert_array_equal(index, place)
    x[...] = -np.inf
    out, index = max_pool(x, **PLAIN | changes)
    np.testing.assert_array_equal(index, loops(x, **PLAIN | changes)[1])
    assert (out == -np.inf).all()


@EVERY_CASE
def test_scatter_and_gather_are_adjoint(case):
    x, attrs = sample(case)
    _, index, _ = loops(x, **attrs)
    g = np.random.default_rng(1).standard_normal(index.shape)
    expected, picked = np.zeros_like(x), np.zeros_like(g)
    for n, c, p, q in np.ndindex(*index.shape):
        place = divmod(index[n, c, p, q], x.shape[3])
        expected[(n, c, *place)] += g[n, c, p, q]
        picked[n, c, p, q] = x[(n, c, *place)]
    scattered = max_pool_scatter(g, index, spec(x))
    np.testing.assert_allclose(scattered, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(max_pool_gather(x, index), picked)
    assert np.vdot(scattered, x) == pytest.approx(np.vdot(g, picked), rel=1e-12)


@EVERY_CASE
@BOTH_MEANS
def test_mean(case, exclusive):
    x, attrs = sample(case)
    out = avg_pool(x, exclusive=exclusive, **attrs)
    _, _, mean = loops(x, exclusive=exclusive, **attrs)
    assert out.shape == mean.shape
    assert out.flags.c_contiguous
    np.testing.assert_allclose(out, mean, rtol=1e-13, atol=1e-14)


@EVERY_CASE
@BOTH_MEANS
def test_mean_adjoint(case, exclusive):
    x, attrs = sample(case)
    _, _, mean = loops(x, exclusive=exclusive, **attrs)
    g = np.random.default_rng(1).standard_normal(mean.shape)
    gx = avg_pool_input(g, spec(x), exclusive=exclusive, **attrs)
    assert gx.shape == x.shape
    assert gx.flags.c_contiguous
    assert np.vdot(gx, x) == pytest.approx(np.vdot(g, mean), rel=1e-11)
    k = (0, -1, -1, 0)
    unit = np.zeros_like(x)
    unit[k] = 1
    _, _, column = loops(unit, exclusive=exclusive, **attrs)
    assert gx[k] == pytest.approx(np.vdot(g, column), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float16, 1e-3)])
def test_dtype_is_kept(dtype, tolerance):
    x, attrs = sample("padding and ceil", dtype)
    out = avg_pool(x, exclusive=False, **attrs)
    _, _, mean = loops(x, exclusive=False, **attrs)
    np.testing.assert_allclose(out, mean, rtol=tolerance, atol=tolerance)
    gx = avg_pool_input(out, x, exclusive=False, **attrs)
    _, index = max_pool(x, **attrs)
    scattered, gathered = max_pool_scatter(out, index, x), max_pool_gather(x, index)
    assert out.dtype == gx.dtype == scattered.dtype == gathered.dtype == dtype
    expected = avg_pool_input(out.astype(float), x, exclusive=False, **attrs)
    np.testing.assert_allclose(gx, expected, rtol=2 * tolerance, atol=tolerance)


def test_float16_is_summed_in_float32():
    """Ones added to 2048 one by one in float16 are all lost."""
    x = np.ones((1, 1, 64, 64), np.float16)
    x[0, 0, 0, 0] = 2048
    attrs = PLAIN | {"kernel": (64, 64)}
    assert avg_pool(x, exclusive=True, **attrs)[0, 0, 0, 0] == np.float16((2048 + 4095) / 4096)
    index = np.zeros(x.shape, np.int64)
    assert max_pool_scatter(x, index, x)[0, 0, 0, 0] == np.float16(2048 + 4095)


@pytest.mark.parametrize("empty", [(0, 3), (2, 0)])
def test_empty_batch_or_no_channels(empty):
    x = np.zeros((*empty, 5, 6))
    attrs = PLAIN | {"padding": ASYMMETRIC, "kernel": (3, 3)}
    shape = (*empty, 2, 3)
    out, index = max_pool(x, **attrs)
    assert out.shape == index.shape == shape
    assert max_pool_scatter(out, index, x).shape == x.shape
    assert max_pool_gather(x, index).shape == shape
    assert avg_pool(x, exclusive=True, **attrs).shape == shape
    assert avg_pool_input(out, x, exclusive=True, **attrs).shape == x.shape


def test_strides_of_the_inputs_do_not_matter():
    x, attrs = sample("padding and ceil")

    def awkward(a):
        """Same values, reversed and with gaps in memory."""
        buffer = np.zeros([2 * s for s in a.shape], a.dtype)
        view = buffer[::-2, 1::2, ::2, ::-2]
        view[...] = a
        return view

    out, index = max_pool(awkward(x), **attrs)
    largest, place, mean = loops(x, **attrs)
    np.testing.assert_array_equal(out, largest)
    np.testing.assert_array_equal(index, place)
    np.testing.assert_allclose(avg_pool(awkward(x), exclusive=True, **attrs), mean, rtol=1e-12)
    np.testing.assert_array_equal(max_pool_gather(awkward(x), awkward(index)), largest)
    np.testing.assert_array_equal(
        max_pool_scatter(awkward(out), awkward(index), x), max_pool_scatter(out, index, x)
    )
    np.testing.assert_array_equal(
        avg_pool_input(awkward(mean), x, exclusive=True, **attrs),
        avg_pool_input(mean, x, exclusive=True, **attrs),
    )


@pytest.mark.parametrize("case", ["plain", "single elements"])
def test_inputs_are_neither_changed_nor_shared(case):
    x, attrs = sample(case)
    out, index = max_pool(x, **attrs)
    before = [a.copy() for a in (x, out, index)]
    for a in (x, out, index):
        a.flags.writeable = False
    results = [
        *max_pool(x, **attrs),
        max_pool_scatter(out, index, x),
        max_pool_gather(x, index),
        avg_pool(x, exclusive=True, **attrs),
        avg_pool_input(out, x, exclusive=True, **attrs),
    ]
    for result in results:
        assert result.flags.writeable
        assert not any(np.may_share_memory(result, a) for a in (x, out, index))
    for a, b in zip((x, out, index), before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("ceil_mode", [False, True])
def test_output_size_counts_the_windows(ceil_mode):
    for size, kernel, stride, before, after in np.ndindex(12, 5, 5, 4, 4):
        kernel, stride = kernel + 1, stride + 1
        if max(before, after) >= kernel or size + before + after < kernel:
            continue
        expected = len(windows(size, kernel, stride, (before, after), ceil_mode))
        counted = window_count(size, kernel, stride, (before, after), ceil_mode=ceil_mode)
        assert counted == expected, (size, kernel, stride, before, after)


class Symbol:
    """A size that can be added to, negated and divided, and not compared or cast."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Symbol(self.value + other)

    def __neg__(self):
        return Symbol(-self.value)

    def __floordiv__(self, other):
        return Symbol(self.value // other)


@pytest.mark.parametrize("ceil_mode", [False, True])
def test_output_size_of_a_symbol(ceil_mode):
    size = window_count(Symbol(28), 3, 2, (1, 0), ceil_mode=ceil_mode)
    assert isinstance(size, Symbol)
    assert size.value == window_count(28, 3, 2, (1, 0), ceil_mode=ceil_mode)


def test_errors_say_what_does_not_fit():
    x = np.zeros((1, 1, 3, 5))
    with pytest.raises(ValueError, match="window of 4 does not fit into 3 elements"):
        max_pool(x, **PLAIN | {"kernel": (4, 2)})
    with pytest.raises(ValueError, match="window of 2 does not fit into 0 elements"):
        max_pool(x[:, :, :0], **PLAIN | {"padding": ((1, 1), (0, 0))})
    with pytest.raises(ValueError, match="pad by less than 2"):
        avg_pool(x, exclusive=True, **PLAIN | {"padding": ((0, 0), (0, 2))})


# --- any number of axes, and bins


def test_three_axes_are_one_after_the_other():
    """The maximum over a box is that over its depth of those over its planes."""
    x = np.random.default_rng(5).permutation(240).astype(float).reshape(1, 2, 4, 5, 6)
    attrs = {"ceil_mode": True}
    box = {"kernel": (2, 3, 2), "stride": (1, 2, 3), "padding": ((1, 0), (1, 1), (0, 1))}
    out, index = max_pool(x, **box, **attrs)
    planes = x.transpose(0, 2, 1, 3, 4).reshape(4, 2, 5, 6)
    flat, _ = max_pool(planes, kernel=(3, 2), stride=(2, 3), padding=((1, 1), (0, 1)), **attrs)
    flat = flat.reshape(1, 4, 2, *flat.shape[2:]).transpose(0, 2, 1, 3, 4)
    deep = [np.maximum(flat[:, :, max(p - 1, 0)], flat[:, :, p]) for p in range(4)]
    np.testing.assert_array_equal(out, np.stack(deep, axis=2))
    np.testing.assert_array_equal(max_pool_gather(x, index), out)


def test_equal_elements_of_a_box_are_counted_by_depth_then_rows():
    x = np.zeros((1, 1, 3, 3, 3))
    _, index = max_pool(x, kernel=(2, 2, 2), stride=(1, 1, 1), padding=((0, 0),) * 3, ceil_mode=0)
    np.testing.assert_array_equal(index[0, 0], [[[0, 1], [3, 4]], [[9, 10], [12, 13]]])


@pytest.mark.parametrize(("n", "bins"), [(6, 3), (7, 3), (5, 4), (3, 5), (4, 4), (9, 1)])
def test_bins(n, bins):
    x = np.random.default_rng(6).standard_normal((2, 2, n))
    ends = [(p * n // bins, -(-(p + 1) * n // bins)) for p in range(bins)]
    mean = np.stack([x[..., a:b].mean(-1) for a, b in ends], axis=-1)
    np.testing.assert_allclose(adaptive_avg_pool(x, size=(bins,)), mean, rtol=1e-13)
    out, index = adaptive_max_pool(x, size=(bins,))
    np.testing.assert_array_equal(out, np.stack([x[..., a:b].max(-1) for a, b in ends], axis=-1))
    np.testing.assert_array_equal(
        index, np.stack([x[..., a:b].argmax(-1) + a for a, b in ends], axis=-1)
    )
    g = np.random.default_rng(7).standard_normal(mean.shape)
    gx = adaptive_avg_pool_input(g, spec(x), size=(bins,))
    assert np.vdot(gx, x) == pytest.approx(np.vdot(g, mean), rel=1e-12)


def test_an_infinity_stays_in_its_bin():
    x = np.arange(7.0).reshape(1, 1, 7)
    x[0, 0, 0] = np.inf
    np.testing.assert_array_equal(adaptive_avg_pool(x, size=(3,)), [[[np.inf, 3.0, 5.0]]])


def test_a_mean_of_large_float16_does_not_overflow():
    x = np.full((1, 1, 4, 4), 60000.0, np.float16)
    attrs = PLAIN | {"kernel": (4, 4)}
    assert avg_pool(x, exclusive=True, **attrs)[0, 0, 0, 0] == np.float16(60000.0)
    assert adaptive_avg_pool(x, size=(1, 3))[0, 0, 0, 2] == np.float16(60000.0)


def test_the_last_write_survives():
    index = np.array([[[1, 0, 1]], [[2, 2, 2]]])
    np.testing.assert_array_equal(
        last_writes(index, np.zeros((2, 1, 3))), [[[False, True, True]], [[False, False, True]]]
    )
    with pytest.raises(IndexError, match="index 3 is out of range; use 0 to 2"):
        last_writes(index + 1, np.zeros((2, 1, 3)))
