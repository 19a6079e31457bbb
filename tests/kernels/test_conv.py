"""Convolution kernels against six nested loops, and adjoint to each other."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from autograd_engine.ops.kernels.conv import conv, conv_filter, conv_input
from autograd_engine.ops.kernels.windows import window_count

PLAIN = {"stride": (1, 1), "padding": ((0, 0), (0, 0)), "dilation": (1, 1), "groups": 1}
ASYMMETRIC = ((2, 0), (1, 3))

# name: shape of x, shape of w, what differs from PLAIN
CASES = {
    "plain": ((2, 3, 6, 5), (4, 3, 3, 2), {}),
    "stride": ((2, 2, 9, 8), (3, 2, 3, 3), {"stride": (2, 3)}),
    "padding": ((2, 2, 4, 5), (3, 2, 3, 2), {"padding": ASYMMETRIC}),
    "dilation": ((2, 2, 9, 7), (3, 2, 3, 2), {"dilation": (2, 3)}),
    "groups": ((2, 6, 5, 5), (4, 3, 2, 2), {"groups": 2}),
    "depthwise": ((2, 3, 6, 6), (3, 1, 3, 3), {"groups": 3, "padding": ((1, 1), (1, 1))}),
    "depth multiplier": ((2, 3, 5, 5), (6, 1, 2, 2), {"groups": 3}),
    "depthwise, all at once": (
        (2, 3, 11, 12),
        (6, 1, 3, 4),
        {"stride": (3, 2), "padding": ASYMMETRIC, "dilation": (2, 3), "groups": 3},
    ),
    "depthwise past the kernel": (
        (2, 2, 8, 9),
        (2, 1, 2, 2),
        {"stride": (3, 4), "padding": ((2, 3), (2, 2)), "groups": 2},
    ),
    "all at once": (
        (3, 4, 9, 10),
        (6, 2, 3, 2),
        {"stride": (3, 2), "padding": ASYMMETRIC, "dilation": (2, 3), "groups": 2},
    ),
    "pointwise": ((3, 4, 5, 6), (5, 4, 1, 1), {}),
    "pointwise groups": ((3, 4, 3, 3), (6, 2, 1, 1), {"groups": 2}),
    "pointwise stride": ((2, 3, 5, 6), (4, 3, 1, 1), {"stride": (2, 2)}),
    "pointwise padding": ((2, 3, 3, 3), (4, 3, 1, 1), {"padding": ASYMMETRIC}),
    "whole image": ((3, 2, 4, 5), (6, 2, 4, 5), {}),
    "stride past the kernel": ((2, 2, 8, 8), (3, 2, 2, 2), {"stride": (3, 4)}),
    "padding past the kernel": ((2, 2, 3, 3), (2, 2, 2, 2), {"padding": ((2, 3), (2, 2))}),
    "few filters": ((2, 8, 7, 7), (1, 8, 3, 3), {"padding": ((1, 1), (1, 1))}),
    "few filters, stride": ((2, 8, 9, 9), (1, 8, 3, 3), {"stride": (2, 2)}),
    "few filters, uneven padding": (
        (2, 8, 7, 7),
        (1, 8, 3, 4),
        {"padding": ((2, 0), (1, 2))},
    ),
    "many filters": ((2, 1, 7, 7), (9, 1, 3, 3), {}),
}
EVERY_CASE = pytest.mark.parametrize("case", CASES)


def loops(x, w, stride, padding, dilation, groups):
    """The definition, in float64."""
    (top, bottom), (left, right) = padding
    n, _, h, width = x.shape
    o, depth, kh, kw = w.shape
    oh = len(range(0, h + top + bottom - dilation[0] * (kh - 1), stride[0]))
    ow = len(range(0, width + left + right - dilation[1] * (kw - 1), stride[1]))
    y = np.zeros((n, o, oh, ow))
    for b, f, p, q in np.ndindex(*y.shape):
        first = f // (o // groups) * depth
        for k, i, j in np.ndindex(depth, kh, kw):
            row = p * stride[0] + i * dilation[0] - top
            column = q * stride[1] + j * dilation[1] - left
            if 0 <= row < h and 0 <= column < width:
                y[b, f, p, q] += float(x[b, first + k, row, column]) * float(w[f, k, i, j])
    return y


def sample(case, dtype=np.float64, seed=0):
    x_shape, w_shape, changes = CASES[case]
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(x_shape).astype(dtype)
    w = rng.standard_normal(w_shape).astype(dtype)
    return x, w, PLAIN | changes


def spec(a):
    return SimpleNamespace(shape=a.shape, dtype=a.dtype)


def close(actual, expected, tolerance=1e-12):
    assert actual.shape == expected.shape
    assert actual.flags.c_contiguous
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@EVERY_CASE
def test_value_is_the_definition(case):
    x, w, attrs = sample(case)
    close(conv(x, w, **attrs), loops(x, w, **attrs))


@EVERY_CASE
def test_adjoints(case):
    x, w, attrs = sample(case)
    y = loops(x, w, **attrs)
    g = np.random.default_rng(1).standard_normal(y.shape)
    inner = np.vdot(g, y)
    gx = conv_input(g, w, spec(x), **attrs)
    gw = conv_filter(g, x, spec(w), **attrs)
    assert gx.shape == x.shape
    assert gx.flags.c_contiguous
    assert gw.shape == w.shape
    assert gw.flags.c_contiguous
    assert np.vdot(gx, x) == pytest.approx(inner, rel=1e-11)
    assert np.vdot(gw, w) == pytest.approx(inner, rel=1e-11)


@EVERY_CASE
def test_adjoints_element_by_element(case):
    """Entry k of an adjoint is the inner product of g with the image of the k-th unit array."""
    x, w, attrs = sample(case)
    y = loops(x, w, **attrs)
    g = np.random.default_rng(1).standard_normal(y.shape)
    gx = conv_input(g, w, x, **attrs)
    gw = conv_filter(g, x, w, **attrs)
    corners = [0, -1]
    for k in itertools.product(*(corners[: min(s, 2)] for s in x.shape)):
        unit = np.zeros_like(x)
        unit[k] = 1
        assert gx[k] == pytest.approx(np.vdot(g, conv(unit, w, **attrs)), rel=1e-10, abs=1e-12)
    for k in itertools.product(*(corners[: min(s, 2)] for s in w.shape)):
        unit = np.zeros_like(w)
        unit[k] = 1
        assert gw[k] == pytest.approx(np.vdot(g, conv(x, unit, **attrs)), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float16, 4e-3)])
@pytest.mark.parametrize("case", ["all at once", "pointwise", "depthwise", "whole image"])
def test_dtype_is_kept(case, dtype, tolerance):
    x, w, attrs = sample(case, dtype)
    y = conv(x, w, **attrs)
    close(y, loops(x, w, **attrs), tolerance)
    x64, w64, g64 = (a.astype(np.float64) for a in (x, w, y))
    gx = conv_input(y, w, x, **attrs)
    gw = conv_filter(y, x, w, **attrs)
    assert y.dtype == gx.dtype == gw.dtype == dtype
    scale = 4 * tolerance
    np.testing.assert_allclose(gx, conv_input(g64, w64, x, **attrs), rtol=scale, atol=scale)
    np.testing.assert_allclose(gw, conv_filter(g64, x64, w, **attrs), rtol=scale, atol=scale)


@pytest.mark.parametrize("kernel", [1, 3])
def test_float16_is_summed_in_float32(kernel):
    """4096 + 1 + 1 ... stays at 4096 when every partial sum is rounded to float16."""
    channels = 1024 // kernel**2
    x = np.ones((1, channels, kernel, kernel), np.float16)
    w = np.ones((1, channels, kernel, kernel), np.float16)
    w[0, 0, 0, 0] = 4096
    total = 4096 + channels * kernel**2 - 1
    assert conv(x, w, **PLAIN)[0, 0, 0, 0] == np.float16(total)
    g = np.ones((1, 1, 1, 1), np.float16)
    many = np.ones((1024, 1, kernel, kernel), np.float16)
    many[0] = 4096
    gs = np.ones((1, 1024, 1, 1), np.float16)
    one = np.ones((1, 1, kernel, kernel), np.float16)
    assert (conv_input(gs, many, one, **PLAIN) == np.float16(4096 + 1023)).all()
    batch = np.ones((1024, 1, kernel, kernel), np.float16)
    batch[0] = 4096
    gs = np.broadcast_to(g, (1024, 1, 1, 1))
    assert (conv_filter(gs, batch, one, **PLAIN) == np.float16(4096 + 1023)).all()


def test_overlapping_windows_add_up_in_float32():
    """Ones added to 4096 one by one in float16 are all lost."""
    w = np.ones((1, 1, 1, 600), np.float16)
    g = np.ones((1, 1, 1, 600), np.float16)
    g[..., -1] = 4096
    like = SimpleNamespace(shape=(1, 1, 1, 1199), dtype=g.dtype)
    gx = conv_input(g, w, like, **PLAIN | {"stride": (2, 1)})
    assert gx[0, 0, 0, 599] == np.float16(4096 + 599)


@pytest.mark.parametrize("case", ["plain", "pointwise", "all at once", "few filters"])
def test_empty_batch(case):
    x, w, attrs = sample(case)
    y = loops(x, w, **attrs)
    none, no_y = x[:0], y[:0]
    assert conv(none, w, **attrs).shape == no_y.shape
    assert conv_input(no_y, w, none, **attrs).shape == none.shape
    np.testing.assert_array_equal(conv_filter(no_y, none, w, **attrs), np.zeros(w.shape))


@EVERY_CASE
def test_strides_of_the_inputs_do_not_matter(case):
    x, w, attrs = sample(case)
    y = conv(x, w, **attrs)

    def awkward(a):
        """Same values, reversed and with gaps in memory."""
        buffer = np.full([2 * s for s in a.shape], np.nan)
        view = buffer[::-2, 1::2, ::2, ::-2]
        view[...] = a
        return view

    close(conv(awkward(x), awkward(w), **attrs), y, 1e-13)
    close(conv_input(awkward(y), awkward(w), x, **attrs), conv_input(y, w, x, **attrs), 1e-13)
    close(conv_filter(awkward(y), awkward(x), w, **attrs), conv_filter(y, x, w, **attrs), 1e-12)


@pytest.mark.parametrize("groups", [1, 2])
def test_blocks_of_images_are_independent(groups):
    """A batch that is cut into several blocks, the last one shorter, equals image by image."""
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((8, 8, 24, 24)), rng.standard_normal((4, 8 // groups, 5, 5))
    attrs = PLAIN | {"groups": groups}
    y = conv(x, w, **attrs)
    gx, gw = conv_input(y, w, x, **attrs), conv_filter(y, x, w, **attrs)
    alone = [x[i : i + 1] for i in range(8)]
    ys = [conv(a, w, **attrs) for a in alone]
    close(y, np.concatenate(ys))
    close(
        gx,
        np.concatenate([conv_input(b, w, a, **attrs) for a, b in zip(alone, ys, strict=True)]),
        1e-10,
    )
    close(
        gw,
        np.sum([conv_filter(b, a, w, **attrs) for a, b in zip(alone, ys, strict=True)], axis=0),
        1e-9,
    )


@pytest.mark.parametrize("case", ["plain", "pointwise", "few filters", "stride"])
def test_inputs_are_neither_changed_nor_shared(case):
    x, w, attrs = sample(case)
    y = conv(x, w, **attrs)
    kept = [a.copy() for a in (x, w, y)]
    for a in (x, w, y):
        a.flags.writeable = False
    results = [
        conv(x, w, **attrs),
        conv_input(y, w, x, **attrs),
        conv_filter(y, x, w, **attrs),
    ]
    for result in results:
        assert result.flags.writeable
        assert not any(np.may_share_memory(result, a) for a in (x, w, y))
    for a, b in zip((x, w, y), kept, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("case", ["padding", "few filters", "plain", "stride"])
def test_nan_stays_where_the_definition_puts_it(case):
    x, w, attrs = sample(case)
    g = np.zeros(loops(x, w, **attrs).shape)
    g[0, 0, 0, 0] = np.nan
    (top, _), (left, _) = attrs["padding"]
    reached = np.zeros(x.shape, bool)
    reached[0, :, : w.shape[2] - top, : w.shape[3] - left] = True
    np.testing.assert_array_equal(np.isnan(conv_input(g, w, x, **attrs)), reached)
    x[0, 0, 0, 0] = np.nan
    y = conv(x, w, **attrs)
    np.testing.assert_array_equal(np.isnan(y), np.isnan(loops(x, w, **attrs)))


@pytest.mark.parametrize(("size", "kernel"), [(7, 1), (7, 3), (8, 3), (9, 5)])
@pytest.mark.parametrize(
    ("stride", "pad", "dilation"), [(1, 0, 1), (2, 3, 1), (3, 2, 2), (4, 1, 1)]
)
def test_output_size_counts_the_windows(size, kernel, stride, pad, dilation):
    starts = range(0, size + pad, stride)
    fitting = [s for s in starts if s + dilation * (kernel - 1) < size + pad]
    assert window_count(size, kernel, stride, (pad, 0), dilation) == len(fitting)


class Symbol:
    """A size that records arithmetic and can do nothing else."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Symbol(self.value + other)

    def __sub__(self, other):
        return Symbol(self.value - other)

    def __neg__(self):
        return Symbol(-self.value)

    def __floordiv__(self, other):
        return Symbol(self.value // other)

    __radd__ = __add__


def test_output_size_of_a_symbol():
    size = window_count(Symbol(28), 5, 2, (1, 2), 2)
    assert isinstance(size, Symbol)
    assert size.value == window_count(28, 5, 2, (1, 2), 2)


def test_errors_name_the_shapes():
    x = np.zeros((1, 4, 5, 5))
    with pytest.raises(ValueError, match=r"need 6 channels.*\(1, 4, 5, 5\)"):
        conv(x, np.zeros((2, 3, 2, 2)), **PLAIN | {"groups": 2})
    with pytest.raises(ValueError, match="divisible by 2"):
        conv(x, np.zeros((3, 2, 2, 2)), **PLAIN | {"groups": 2})
    with pytest.raises(ValueError, match="enlarge the padding"):
        conv(x, np.zeros((2, 4, 3, 3)), **PLAIN | {"dilation": (3, 1)})
    w, g = np.zeros((2, 4, 3, 3)), np.zeros((1, 2, 4, 3))
    with pytest.raises(ValueError, match=r"\(1, 2, 3, 3\).*\(1, 2, 4, 3\)"):
        conv_input(g, w, x, **PLAIN)
    with pytest.raises(ValueError, match=r"\(1, 2, 3, 3\).*\(1, 2, 4, 3\)"):
        conv_filter(g, x, w, **PLAIN)
