"""Convolution, pooling, resampling and normalisation beyond single calls."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError

F = paddle.nn.functional
RNG = np.random.default_rng(8)


def run(build, x, shape):
    """The result of `build` in a program that knows of x only `shape`, and its gradient in x."""
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        variable = paddle.static.data("x", shape, str(x.dtype))
        variable.stop_gradient = False
        out = build(variable)
        (gradient,) = paddle.static.gradients([paddle.sum(out * out)], [variable])
    return paddle.static.Executor().run(program, feed={"x": x}, fetch_list=[out, gradient])


def eager(build, x):
    tensor = paddle.to_tensor(x, stop_gradient=False)
    out = build(tensor)
    (gradient,) = paddle.grad(paddle.sum(out * out), [tensor])
    return out.numpy(), gradient.numpy()


WEIGHT = RNG.standard_normal((3, 2, 2, 2))
ANY_SIZE = {
    "conv2d": lambda x: F.conv2d(x, WEIGHT, stride=2, padding=1),
    "same": lambda x: F.conv2d(x, WEIGHT, padding="SAME"),
    "max_pool2d": lambda x: F.max_pool2d(x, 2, 1, ceil_mode=True),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "lp_pool2d": lambda x: F.lp_pool2d(x, 2, 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, [3, None]),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, 2),
    "size": lambda x: F.interpolate(x, size=[3, 7], mode="bicubic"),
    "scale": lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"),
    "fraction": lambda x: F.interpolate(x, scale_factor=1.3),
    "unfold": lambda x: F.unfold(x, 2),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "group_norm": lambda x: F.group_norm(x, 2),
    "instance_norm": lambda x: F.instance_norm(x),
    "local_response_norm": lambda x: F.local_response_norm(x, 2, alpha=1.0),
    "last": lambda x: F.avg_pool2d(x, 2, data_format="NHWC"),
}


@pytest.mark.parametrize("name", ANY_SIZE)
def test_sizes_may_be_unknown(name):
    x = RNG.standard_normal((2, 2, 5, 4))
    values = run(ANY_SIZE[name], x, [None, 2, None, None])
    for value, expected in zip(values, eager(ANY_SIZE[name], x), strict=True):
        np.testing.assert_array_equal(value, expected)


MUST_BE_KNOWN = {
    "conv2d_transpose": lambda x: F.conv2d_transpose(x, WEIGHT.swapaxes(0, 1)),
    "max_unpool2d": lambda x: F.max_unpool2d(x, paddle.zeros_like(x).astype("int64"), 2),
    "grid_sample": lambda x: F.grid_sample(x, np.zeros((2, 1, 1, 2))),
    "area": lambda x: F.interpolate(x, scale_factor=2, mode="area"),
    "same": lambda x: F.max_pool2d(x, 2, padding="SAME"),
}


@pytest.mark.parametrize("name", MUST_BE_KNOWN)
def test_where_a_size_must_be_known_the_error_says_so(name):
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [None, 2, None, 4], "float64")
        with pytest.raises(ShapeError, match="declare it"):
            MUST_BE_KNOWN[name](x)


@pytest.mark.parametrize("name", MUST_BE_KNOWN)
def test_the_batch_need_not_be_known(name):
    x = RNG.standard_normal((2, 2, 4, 4))
    values = run(MUST_BE_KNOWN[name], x, [None, 2, 4, 4])
    for value, expected in zip(values, eager(MUST_BE_KNOWN[name], x), strict=True):
        np.testing.assert_array_equal(value, expected)


def test_output_size_makes_up_for_an_unknown_size():
    x = RNG.standard_normal((1, 2, 3, 3))

    def build(v):
        return F.conv2d_transpose(v, WEIGHT.swapaxes(0, 1), output_size=[4, 4])

    value, _ = run(build, x, [None, 2, None, None])
    np.testing.assert_array_equal(value, build(paddle.to_tensor(x)).numpy())


# --- dtypes


@pytest.mark.parametrize("training", [True, False])
def test_normalisation_keeps_float16_beside_float32_parameters(training):
    x = paddle.to_tensor(RNG.standard_normal((4, 3)).astype(np.float16), stop_gradient=False)
    ones, zeros = paddle.ones([3]), paddle.zeros([3])
    out = F.batch_norm(x, zeros, ones, ones, zeros, training=training)
    assert out.dtype == x.dtype
    (g,) = paddle.grad(out, [x])
    assert g.dtype == x.dtype
    assert zeros.dtype == paddle.float32
    assert F.layer_norm(x, 3, ones, zeros).dtype == x.dtype
    assert F.rms_norm(x, 3, ones)[0].dtype == x.dtype


def test_sums_of_float16_are_taken_in_float32():
    x = paddle.full([1, 1, 64, 64], 60000.0, "float16")
    assert F.avg_pool2d(x, 64).item() == 60000.0
    assert F.adaptive_avg_pool2d(x, 1).item() == 60000.0
    assert F.interpolate(x, size=[1, 1], mode="bilinear").item() == 60000.0
    small = paddle.full([1, 1, 1, 4], 300.0, "float16")
    assert F.lp_pool2d(small, 2, [1, 4]).item() == 600.0
    assert F.local_response_norm(small, 1, alpha=1.0, beta=0.5).tolist() == [[[[1.0] * 4]]]
    assert F.rms_norm(small, 4)[0].tolist() == [[[[1.0] * 4]]]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.max_pool2d(x, 2),
        lambda x: F.avg_pool2d(x, 2),
        lambda x: F.adaptive_max_pool2d(x, 2),
        lambda x: F.interpolate(x, size=[1, 1]),
        lambda x: F.local_response_norm(x, 1),
    ],
)
def test_integers_are_refused(call):
    with pytest.raises(DTypeError, match=r"astype\('float32'\)"):
        call(paddle.ones([1, 1, 2, 2], "int64"))


# --- values


def test_the_transpose_is_the_adjoint():
    for stride, padding, dilation, groups in [(1, 0, 1, 1), (2, 1, 1, 2), (3, 1, 2, 1)]:
        x = RNG.standard_normal((2, 4, 9, 8))
        w = RNG.standard_normal((6, 4 // groups, 3, 2))
        how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        y = F.conv2d(x, w, **how).numpy()
        g = RNG.standard_normal(y.shape)
        back = F.conv2d_transpose(g, w, output_size=[9, 8], **how).numpy()
        np.testing.assert_allclose(np.vdot(back, x), np.vdot(g, y), rtol=1e-11)


def test_same_padding_of_a_transpose_multiplies_the_size():
    """Paddle 3.3 gives [1, 1, 9, 9] for this call."""
    out = F.conv2d_transpose(
        paddle.ones([1, 1, 5, 5]), paddle.ones([1, 1, 3, 3]), stride=2, padding="SAME"
    )
    assert list(out.shape) == [1, 1, 9, 9]


def test_an_infinity_spreads_no_further_than_a_filter():
    x = np.ones((1, 1, 1, 8), np.float32)
    x[..., 0] = np.inf
    for how in ({"mode": "bilinear"}, {"mode": "nearest"}, {"mode": "area"}):
        out = F.interpolate(paddle.to_tensor(x), size=[1, 4], **how).numpy()
        assert np.isfinite(out[..., 1:]).all()
        assert not np.isfinite(out[..., 0]).any()


def test_positions_that_are_no_numbers_count_as_outside():
    x = paddle.to_tensor(np.ones((1, 1, 2, 2), np.float32), stop_gradient=False)
    at = np.array([[[[np.nan, 0.0], [np.inf, 0.0], [-1e30, 1e30], [0.3, 0.2]]]], np.float32)
    grid = paddle.to_tensor(at, stop_gradient=False)
    for mode in ("bilinear", "nearest"):
        out = F.grid_sample(x, grid, mode=mode)
        np.testing.assert_allclose(out.numpy().ravel(), [0.0, 0.0, 0.0, 1.0], rtol=1e-6)
    gx, gg = paddle.grad(F.grid_sample(x, grid), [x, grid])
    assert np.isfinite(gx.numpy()).all()
    assert np.isfinite(gg.numpy()).all()


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_normalisation_of_small_and_large_numbers(scale):
    x = paddle.to_tensor((RNG.standard_normal((2, 4, 3)) * scale).astype(np.float32))
    wide = x.numpy().astype(np.float64)
    mean, var = wide.mean((1, 2), keepdims=True), wide.var((1, 2), keepdims=True)
    expected = (wide - mean) / np.sqrt(var + 1e-12)
    np.testing.assert_allclose(F.group_norm(x, 1, 1e-12).numpy(), expected, rtol=2e-4, atol=1e-5)


def test_max_unpool_undoes_max_pool():
    x = RNG.standard_normal((2, 3, 6, 5))
    out, index = F.max_pool2d(paddle.to_tensor(x), 2, return_mask=True)
    back = F.max_unpool2d(out, index, 2, output_size=[2, 3, 6, 5]).numpy()
    assert back.shape == x.shape
    np.testing.assert_array_equal(back[back != 0], x[back != 0])
    assert (back != 0).sum() == out.numpy().size


def test_an_affine_identity_samples_the_image_itself():
    x = RNG.standard_normal((2, 3, 4, 5))
    theta = np.tile(np.eye(2, 3), (2, 1, 1))
    for align in (True, False):
        grid = F.affine_grid(paddle.to_tensor(theta), [2, 3, 4, 5], align)
        out = F.grid_sample(paddle.to_tensor(x), grid, align_corners=align).numpy()
        np.testing.assert_allclose(out, x, rtol=1e-12, atol=1e-12)


def test_empty_batches():
    x = paddle.zeros([0, 2, 4, 4])
    w = paddle.ones([2, 3, 2, 2])
    assert list(F.conv2d_transpose(x, w).shape) == [0, 3, 5, 5]
    assert list(F.max_pool2d(x, 2).shape) == [0, 2, 2, 2]
    assert list(F.interpolate(x, size=[3, 3], mode="bicubic").shape) == [0, 2, 3, 3]
    assert list(F.group_norm(x, 2).shape) == [0, 2, 4, 4]
    assert list(F.grid_sample(x, paddle.zeros([0, 1, 1, 2])).shape) == [0, 2, 1, 1]
    assert list(F.fold(F.unfold(x, 2), [4, 4], 2).shape) == [0, 2, 4, 4]


# --- what is refused

IMAGE = np.zeros((1, 2, 4, 4), np.float32)
KERNEL = np.zeros((2, 1, 2, 2), np.float32)
INDEX = np.zeros((1, 2, 4, 4), np.int64)
REFUSED = {
    "conv1d x": (lambda: F.conv1d(IMAGE, KERNEL), ShapeError, r"x must be \[N, C, L\]"),
    "conv3d padding": (
        lambda: F.conv3d(IMAGE[None], KERNEL[None], padding=[1, 2]),
        ArgumentError,
        "1, 3 or 6 ints",
    ),
    "conv2d channels padded": (
        lambda: F.conv2d(IMAGE, KERNEL, padding=[[0, 0], [1, 1], [0, 0], [0, 0]]),
        ArgumentError,
        "N and C cannot be padded",
    ),
    "transpose channels": (
        lambda: F.conv2d_transpose(IMAGE, KERNEL[:1]),
        ShapeError,
        "x has 2 channels, weight takes 1",
    ),
    "transpose output_padding": (
        lambda: F.conv2d_transpose(IMAGE, KERNEL, output_padding=1),
        ArgumentError,
        "below the stride",
    ),
    "transpose output_size": (
        lambda: F.conv2d_transpose(IMAGE, KERNEL, output_size=7),
        ArgumentError,
        r"between \[5, 5\]",
    ),
    "transpose both": (
        lambda: F.conv2d_transpose(IMAGE, KERNEL, stride=2, output_size=8, output_padding=1),
        ArgumentError,
        "not both",
    ),
    "transpose padding": (
        lambda: F.conv2d_transpose(IMAGE, KERNEL, padding=3),
        ShapeError,
        "pad less",
    ),
    "fractional": (lambda: F.fractional_max_pool2d(IMAGE, 99), ShapeError, "has no 99 bins"),
    "fractional u": (
        lambda: F.fractional_max_pool2d(IMAGE, 1, random_u=1.0),
        ArgumentError,
        "random_u must be between 0 and 1",
    ),
    "adaptive": (lambda: F.adaptive_avg_pool2d(IMAGE, [1, 2, 3]), ArgumentError, "or 2 of them"),
    "lp": (lambda: F.lp_pool2d(IMAGE, 0, 2), ArgumentError, "norm_type must be positive"),
    "unpool shape": (
        lambda: F.max_unpool2d(IMAGE, INDEX[:, :1], 2),
        ShapeError,
        "must have the shape of x",
    ),
    "unpool dtype": (lambda: F.max_unpool2d(IMAGE, IMAGE, 2), DTypeError, "integers"),
    "unpool index": (lambda: F.max_unpool2d(IMAGE, INDEX + 64, 2), IndexError, "use 0 to 63"),
    "unpool size": (
        lambda: F.max_unpool2d(IMAGE, INDEX, 2, output_size=[20, 8]),
        ArgumentError,
        "within the stride",
    ),
    "interpolate mode": (
        lambda: F.interpolate(IMAGE, size=2, mode="linear"),
        ArgumentError,
        r"\['nearest', 'bilinear', 'bicubic', 'area'\]",
    ),
    "interpolate none": (lambda: F.interpolate(IMAGE), ArgumentError, "one of size and scale"),
    "interpolate both": (
        lambda: F.interpolate(IMAGE, size=2, scale_factor=2),
        ArgumentError,
        "one of size and scale",
    ),
    "interpolate corners": (
        lambda: F.interpolate(IMAGE, size=2, align_corners=True),
        ArgumentError,
        "no meaning with mode 'nearest'",
    ),
    "interpolate scale": (
        lambda: F.interpolate(IMAGE, scale_factor=0.1),
        ShapeError,
        "leaves nothing of 4",
    ),
    "interpolate factor": (
        lambda: F.interpolate(IMAGE, scale_factor=-1),
        ArgumentError,
        "a positive number",
    ),
    "fold": (lambda: F.fold(IMAGE[0], [4, 4], 2), ShapeError, r"multiple of 4, 3 \* 3"),
    "unfold": (lambda: F.unfold(IMAGE, 5), ShapeError, "does not fit"),
    "grid": (lambda: F.grid_sample(IMAGE, IMAGE), ShapeError, r"\[N, OH, OW, 2\]"),
    "grid mode": (
        lambda: F.grid_sample(IMAGE, IMAGE[..., :2], mode="bicubic"),
        ArgumentError,
        "'bilinear' or 'nearest'",
    ),
    "affine": (lambda: F.affine_grid(IMAGE[0], [2, 1, 2, 2]), ShapeError, r"\[2, 2, 3\]"),
    "group": (lambda: F.group_norm(IMAGE, 3), ArgumentError, "must divide 2 channels"),
    "instance": (lambda: F.instance_norm(IMAGE[0, 0]), ShapeError, "with pixels"),
    "instance statistics": (
        lambda: F.instance_norm(IMAGE, use_input_stats=False),
        ArgumentError,
        "needs running_mean",
    ),
    "batch statistics": (
        lambda: F.batch_norm(IMAGE, None, None),
        ArgumentError,
        "use training=True",
    ),
    "response": (lambda: F.local_response_norm(IMAGE, 0), ArgumentError, "a positive int"),
    "layout": (
        lambda: F.max_pool3d(IMAGE[None], 2, data_format="NHWC"),
        ArgumentError,
        "'NCDHW' or 'NDHWC'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name):
    call, error, hint = REFUSED[name]
    with pytest.raises(error, match=hint):
        call()
