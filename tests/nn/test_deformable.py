"""The layers of deformable convolutions: eagerly, and in programs."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, ShapeError

F = paddle.nn.functional


def test_what_does_not_move_is_a_convolution():
    paddle.seed(1)
    layer = paddle.vision.ops.DeformConv2D(4, 6, [3, 2], 2, [1, 0], groups=2)
    x, offset = paddle.randn([2, 4, 5, 6]), paddle.zeros([2, 12, 3, 3])
    expected = F.conv2d(x, layer.weight, layer.bias, 2, [1, 0], groups=2)
    np.testing.assert_allclose(layer(x, offset).numpy(), expected.numpy(), atol=1e-5)
    halved = layer(x, offset, paddle.full([2, 6, 3, 3], 0.5))
    np.testing.assert_allclose(halved.numpy(), 0.5 * expected.numpy(), atol=1e-5)


def test_in_a_program_it_has_parameters_of_its_own():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [None, 2, 5, 5])
        offset = paddle.static.data("offset", [None, 18, 3, 3])
        out = paddle.static.nn.deform_conv2d(x, offset, None, 4, 3)
    names = {p.name: p.shape for p in main.all_parameters()}
    assert names == {"deformable_conv_0.w_0": (4, 2, 3, 3), "deformable_conv_0.b_0": (4,)}
    exe = paddle.static.Executor()
    exe.run(startup)
    rng = np.random.default_rng(0)
    feed = {
        "x": rng.normal(size=(3, 2, 5, 5)).astype("float32"),
        "offset": rng.normal(size=(3, 18, 3, 3)).astype("float32"),
    }
    weight = paddle.static.global_scope().find_var("deformable_conv_0.w_0").get_tensor()
    expected = paddle.vision.ops.deform_conv2d(
        paddle.to_tensor(feed["x"]),
        paddle.to_tensor(feed["offset"]),
        paddle.to_tensor(np.array(weight)),
    )
    (got,) = exe.run(main, feed, [out])
    np.testing.assert_allclose(got, expected.numpy(), atol=1e-5)


def test_what_it_does_not_take():
    deform = paddle.vision.ops.deform_conv2d
    x, weight = paddle.ones([1, 3, 4, 4]), paddle.ones([2, 3, 2, 2])
    with pytest.raises(ShapeError, match=r"offset must be \[1, 8, 3, 3\], got \[1, 8, 4, 4\]"):
        deform(x, paddle.zeros([1, 8, 4, 4]), weight)
    with pytest.raises(ShapeError, match=r"mask must be \[1, 4, 3, 3\], got \[1, 8, 3, 3\]"):
        deform(x, paddle.zeros([1, 8, 3, 3]), weight, mask=paddle.ones([1, 8, 3, 3]))
    with pytest.raises(ArgumentError, match="deformable_groups=2 must divide 3 channels"):
        deform(x, paddle.zeros([1, 16, 3, 3]), weight, deformable_groups=2)
    with pytest.raises(ShapeError, match="does not fit x"):
        deform(x, paddle.zeros([1, 50, 1, 1]), paddle.ones([2, 3, 5, 5]))
    with pytest.raises(ArgumentError, match="groups=2 must divide in_channels, 3"):
        paddle.vision.ops.DeformConv2D(3, 4, 3, groups=2)
