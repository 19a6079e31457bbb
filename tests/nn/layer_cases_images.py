"""Layers of the table: padding, resampling, convolution, pooling.

The reprs are those that Paddle 3.3 prints.
"""

from __future__ import annotations

import autograd_engine as paddle
from tests.nn.layer_case import case, floats, given, positive

F = paddle.nn.functional

SPACES = {1: (5,), 2: (4, 5), 3: (3, 4, 3)}
LAYOUTS = {1: "NCL", 2: "NCHW", 3: "NCDHW"}
LAST = {1: "NLC", 2: "NHWC", 3: "NDHWC"}

IMAGES = floats(2, 4, 4, 5)

# --- padding

for n, space in SPACES.items():
    layout, images = LAYOUTS[n], floats(2, 3, *space)
    ones, around = [1] * (2 * n), list(range(2 * n))
    kinds = {"Circular": "circular", "Reflection": "reflect", "Replication": "replicate"}
    for kind, mode in {**kinds, "Zero": "constant"}.items():
        case(
            f"{kind}Pad{n}D(1)",
            f"{kind}Pad{n}D(padding={ones}, mode={mode}, value=0.0, data_format={layout})",
            lambda _, x, p=ones, m=mode: F.pad(x, p, m),
            images,
        )
        case(
            f"{kind}Pad{n}D({around}, '{LAST[n]}')",
            f"{kind}Pad{n}D(padding={around}, mode={mode}, value=0.0, data_format={LAST[n]})",
            lambda _, x, p=around, m=mode, d=LAST[n]: F.pad(x, p, m, data_format=d),
            floats(2, *(7,) * n, 3),
        )
    case(
        f"ConstantPad{n}D(1, -1.0, '{LAST[n]}')",
        f"ConstantPad{n}D(padding={ones}, mode=constant, value=-1.0, data_format={LAST[n]})",
        lambda _, x, p=ones, d=LAST[n]: F.pad(x, p, "constant", -1.0, d),
        images,
    )
    case(
        f"Pad{n}D({around}, value=0.5)",
        f"Pad{n}D(padding={around}, mode=constant, value=0.5, data_format={layout})",
        lambda _, x, p=around: F.pad(x, p, value=0.5),
        images,
    )
    case(
        f"ConstantPad{n}D({around}, 2.0, name='c')",
        f"ConstantPad{n}D(padding={around}, mode=constant, value=2.0, data_format={layout}, "
        "name=c)",
        lambda _, x, p=around: F.pad(x, p, "constant", 2.0),
        images,
    )
    case(
        f"Pad{n}D(1, 'replicate', data_format='{LAST[n]}')",
        f"Pad{n}D(padding={ones}, mode=replicate, value=0.0, data_format={LAST[n]})",
        lambda _, x, p=ones, d=LAST[n]: F.pad(x, p, "replicate", data_format=d),
        images,
    )
case(
    "Pad2D((1, 0, 2, 1), value=2.0)",
    "Pad2D(padding=(1, 0, 2, 1), mode=constant, value=2.0, data_format=NCHW)",
    lambda _, x: F.pad(x, [1, 0, 2, 1], value=2.0),
    IMAGES,
)
case(
    "ZeroPad2D([1, 2])",
    "ZeroPad2D(padding=[1, 2], mode=constant, value=0.0, data_format=NCHW)",
    lambda _, x: F.pad(x, [1, 2, 0, 0]),
    IMAGES,
)

# --- resampling

SHOWN = "align_corners=False, align_mode=0, data_format=None"
case(
    "Upsample([3, 7])",
    f"Upsample(size=[3, 7], mode=nearest, {SHOWN})",
    lambda _, x: F.interpolate(x, [3, 7]),
    IMAGES,
)
case(
    "Upsample(scale_factor=2, mode='bilinear')",
    f"Upsample(scale_factor=2, mode=bilinear, {SHOWN})",
    lambda _, x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    IMAGES,
)
case(
    "Upsample(size=[4], mode='linear', align_mode=1, data_format='NCW', name='u')",
    "Upsample(size=[4], mode=linear, align_corners=False, align_mode=1, data_format=NCW, name=u)",
    lambda _, x: F.interpolate(x, [4], mode="linear", align_mode=1),
    floats(2, 3, 5),
)
case(
    "Upsample(size=[5, 3, 4], mode='trilinear', align_corners=True)",
    "Upsample(size=[5, 3, 4], mode=trilinear, align_corners=True, align_mode=0, data_format=None)",
    lambda _, x: F.interpolate(x, [5, 3, 4], mode="trilinear", align_corners=True),
    floats(1, 2, 3, 4, 3),
)
case(
    "UpsamplingNearest2D(scale_factor=2)",
    "UpsamplingNearest2D(scale_factor=2, data_format=NCHW)",
    lambda _, x: F.interpolate(x, scale_factor=2),
    IMAGES,
)
case(
    "UpsamplingBilinear2D([6, 4], data_format='NHWC')",
    "UpsamplingBilinear2D(size=[6, 4], data_format=NHWC)",
    lambda _, x: F.interpolate(x, [6, 4], mode="bilinear", align_corners=True, data_format="NHWC"),
    IMAGES,
)
case(
    "PixelShuffle(2)",
    "PixelShuffle(upscale_factor=2)",
    lambda _, x: F.pixel_shuffle(x, 2),
    IMAGES,
)
case(
    "PixelShuffle(2, 'NHWC')",
    "PixelShuffle(upscale_factor=2, data_format=NHWC)",
    lambda _, x: F.pixel_shuffle(x, 2, "NHWC"),
    floats(2, 3, 2, 4),
)
case(
    "PixelUnshuffle(2, name='p')",
    "PixelUnshuffle(downscale_factor=2, name=p)",
    lambda _, x: F.pixel_unshuffle(x, 2),
    floats(2, 3, 4, 6),
)
case(
    "ChannelShuffle(2)",
    "ChannelShuffle(groups=2)",
    lambda _, x: F.channel_shuffle(x, 2),
    IMAGES,
)
case(
    "ChannelShuffle(5, 'NHWC')",
    "ChannelShuffle(groups=5, data_format=NHWC)",
    lambda _, x: F.channel_shuffle(x, 5, "NHWC"),
    IMAGES,
)
case(
    "Unfold([2, 2])",
    "Unfold(kernel_size=[2, 2], dilation=1, padding=0, stride=1)",
    lambda _, x: F.unfold(x, 2),
    IMAGES,
)
case(
    "Unfold(3, 1, [1, 0, 1, 2], 2)",
    "Unfold(kernel_size=3, dilation=1, padding=[1, 0, 1, 2], stride=2)",
    lambda _, x: F.unfold(x, 3, 2, [1, 0, 1, 2]),
    IMAGES,
)
case(
    "Fold([4, 6], [2, 2], strides=2)",
    "Fold(kernel_size=[2, 2], dilation=1, padding=0, stride=2)",
    lambda _, x: F.fold(x, [4, 6], 2, 2),
    floats(2, 8, 6),
)

case(
    "Upsample(scale_factor=1.5, mode='bicubic', recompute_scale_factor=True)",
    f"Upsample(scale_factor=1.5, mode=bicubic, {SHOWN})",
    lambda _, x: F.interpolate(x, scale_factor=1.5, mode="bicubic", recompute_scale_factor=True),
    IMAGES,
    known=True,
    paddle="nothing",  # it has no such argument in its function
)
case(
    "UpsamplingNearest2D([3, 7], data_format='NHWC')",
    "UpsamplingNearest2D(size=[3, 7], data_format=NHWC)",
    lambda _, x: F.interpolate(x, [3, 7], data_format="NHWC"),
    IMAGES,
)
case(
    "UpsamplingBilinear2D(scale_factor=[2, 1.5])",
    "UpsamplingBilinear2D(scale_factor=[2, 1.5], data_format=NCHW)",
    lambda _, x: F.interpolate(x, scale_factor=[2, 1.5], mode="bilinear", align_corners=True),
    IMAGES,
)
case(
    "PixelUnshuffle(2, 'NHWC')",
    "PixelUnshuffle(downscale_factor=2, data_format=NHWC)",
    lambda _, x: F.pixel_unshuffle(x, 2, "NHWC"),
    floats(2, 4, 6, 3),
)
case(
    "Unfold([2, 1], dilations=[2, 1])",
    "Unfold(kernel_size=[2, 1], dilation=[2, 1], padding=0, stride=1)",
    lambda _, x: F.unfold(x, [2, 1], dilations=[2, 1]),
    IMAGES,
)
case(
    "Fold([4, 5], [2, 1], [2, 1], [1, 0])",
    "Fold(kernel_size=[2, 1], dilation=[2, 1], padding=[1, 0], stride=1)",
    lambda _, x: F.fold(x, [4, 5], [2, 1], 1, [1, 0], [2, 1]),
    floats(2, 4, 20),
)

# --- convolution

CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
BACK = {1: F.conv1d_transpose, 2: F.conv2d_transpose, 3: F.conv3d_transpose}
for n, space in SPACES.items():
    layout, images = LAYOUTS[n], floats(2, 4, *space)
    three, two = [3] * n, [2] * n
    case(
        f"Conv{n}D(4, 6, 3)",
        f"Conv{n}D(4, 6, kernel_size={three}, data_format={layout})",
        lambda layer, x, f=CONV[n]: f(x, layer.weight, layer.bias),
        images,
    )
    case(
        f"Conv{n}D(4, 6, 3, stride=2, padding=1, dilation={two}, groups=2)",
        f"Conv{n}D(4, 6, kernel_size={three}, stride={two}, padding=1, dilation={two}, groups=2, "
        f"data_format={layout})",
        lambda layer, x, f=CONV[n]: f(x, layer.weight, layer.bias, 2, 1, 2, 2),
        floats(2, 4, *[7] * n),
    )
    case(
        f"Conv{n}D(4, 2, 3, padding=1, padding_mode='reflect', bias=False)",
        f"Conv{n}D(4, 2, kernel_size={three}, padding=1, padding_mode=reflect, "
        f"data_format={layout})",
        lambda layer, x, f=CONV[n], p=[1] * (2 * n): f(F.pad(x, p, "reflect"), layer.weight),
        images,
    )
    case(
        f"Conv{n}DTranspose(4, 6, 3)",
        f"Conv{n}DTranspose(4, 6, kernel_size={three}, data_format={layout})",
        lambda layer, x, f=BACK[n]: f(x, layer.weight, layer.bias),
        images,
        known=True,
    )
    case(
        f"Conv{n}DTranspose(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2, "
        "bias_attr=False)",
        f"Conv{n}DTranspose(4, 6, kernel_size={three}, stride={two}, padding=1, output_padding=1, "
        f"groups=2, data_format={layout})",
        lambda layer, x, f=BACK[n]: f(
            x, layer.weight, stride=2, padding=1, output_padding=1, groups=2
        ),
        images,
        known=True,
    )
    case(
        f"Conv{n}D(3, 2, 2, data_format='{LAST[n]}')",
        f"Conv{n}D(3, 2, kernel_size={two}, data_format={LAST[n]})",
        lambda layer, x, f=CONV[n], d=LAST[n]: f(x, layer.weight, layer.bias, data_format=d),
        floats(2, *[3] * n, 3),
    )
    case(
        f"Conv{n}DTranspose(3, 2, 2, dilation=2, data_format='{LAST[n]}')",
        f"Conv{n}DTranspose(3, 2, kernel_size={two}, dilation={two}, data_format={LAST[n]})",
        lambda layer, x, f=BACK[n], d=LAST[n]: f(
            x, layer.weight, layer.bias, dilation=2, data_format=d
        ),
        floats(2, *[3] * n, 3),
        known=True,
    )
case(
    "Conv2D(5, 6, (3, 2), stride=2, padding='SAME', data_format='NHWC')",
    "Conv2D(5, 6, kernel_size=[3, 2], stride=[2, 2], padding=SAME, data_format=NHWC)",
    lambda layer, x: F.conv2d(x, layer.weight, layer.bias, 2, "SAME", data_format="NHWC"),
    floats(2, 4, 6, 5),
    known=True,
)
case(
    "Conv2D(4, 6, 3, padding=[1, 2], bias_attr=False)",
    "Conv2D(4, 6, kernel_size=[3, 3], padding=[1, 2], data_format=NCHW)",
    lambda layer, x: F.conv2d(x, layer.weight, padding=[1, 2]),
    IMAGES,
)
case(
    "Conv1D(3, 6, 3, padding=[1, 2], padding_mode='circular', data_format='NLC')",
    "Conv1D(3, 6, kernel_size=[3], padding=[1, 2], padding_mode=circular, data_format=NLC)",
    lambda layer, x: F.conv1d(
        F.pad(x, [1, 2], "circular", data_format="NLC"),
        layer.weight,
        layer.bias,
        data_format="NLC",
    ),
    floats(2, 5, 3),
    paddle="cannot be made",  # it takes one int
)

# --- pooling

MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
MEAN = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
BINS = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
MOST = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
UNPOOL = {1: F.max_unpool1d, 2: F.max_unpool2d, 3: F.max_unpool3d}
INDICES = {1: [0, 3], 2: [[0, 3], [9, 14]], 3: [[[0, 3], [9, 14]], [[32, 35], [57, 62]]]}
for n, space in SPACES.items():
    images = floats(2, 3, *space)
    case(
        f"MaxPool{n}D(2)",
        f"MaxPool{n}D(kernel_size=2, stride=None, padding=0)",
        lambda _, x, f=MAX[n]: f(x, 2),
        images,
    )
    case(
        f"MaxPool{n}D(3, 2, 1, True, True)",
        f"MaxPool{n}D(kernel_size=3, stride=2, padding=1)",
        lambda _, x, f=MAX[n]: f(x, 3, 2, 1, True, True),
        images,
    )
    case(
        f"AvgPool{n}D(2)",
        f"AvgPool{n}D(kernel_size=2, stride=None, padding=0)",
        lambda _, x, f=MEAN[n]: f(x, 2),
        images,
    )
    case(
        f"AvgPool{n}D(3, stride=1, padding=1, exclusive=False, ceil_mode=True, name='a')",
        f"AvgPool{n}D(kernel_size=3, stride=1, padding=1)",
        lambda _, x, f=MEAN[n]: f(x, 3, 1, 1, exclusive=False, ceil_mode=True),
        images,
    )
    case(
        f"AdaptiveAvgPool{n}D(2)",
        f"AdaptiveAvgPool{n}D(output_size=2)",
        lambda _, x, f=BINS[n]: f(x, 2),
        images,
    )
    case(
        f"AdaptiveMaxPool{n}D(3, True)",
        f"AdaptiveMaxPool{n}D(output_size=3, return_mask=True)",
        lambda _, x, f=MOST[n]: f(x, 3, True),
        images,
    )
    case(
        f"AdaptiveMaxPool{n}D(2)",
        f"AdaptiveMaxPool{n}D(output_size=2, return_mask=False)",
        lambda _, x, f=MOST[n]: f(x, 2),
        images,
    )
    case(
        f"MaxUnPool{n}D(2)",
        f"MaxUnPool{n}D(output_size=None)",
        lambda _, x, i, f=UNPOOL[n]: f(x, i, 2),
        floats(1, 1, *[2] * n),
        given([[INDICES[n]]]),
        known=True,
    )
    case(
        f"MaxUnPool{n}D(3, 2, 1, output_size={[4] * n})",
        f"MaxUnPool{n}D(output_size={[4] * n})",
        lambda _, x, i, f=UNPOOL[n], s=[4] * n: f(x, i, 3, 2, 1, output_size=s),
        floats(1, 1, *[2] * n),
        given([[INDICES[n]]]),
        known=True,
        paddle="all" if n > 1 else "nothing",  # it takes no size of one axis
    )
case(
    "MaxPool2D([2, 3], stride=[1, 2], padding='SAME')",
    "MaxPool2D(kernel_size=[2, 3], stride=[1, 2], padding=SAME)",
    lambda _, x: F.max_pool2d(x, [2, 3], [1, 2], "SAME"),
    IMAGES,
    known=True,
)
case(
    "MaxPool2D(2, data_format='NHWC')",
    "MaxPool2D(kernel_size=2, stride=None, padding=0)",
    lambda _, x: F.max_pool2d(x, 2, data_format="NHWC"),
    IMAGES,
)
case(
    "AvgPool2D(2, divisor_override=3, data_format='NHWC')",
    "AvgPool2D(kernel_size=2, stride=None, padding=0)",
    lambda _, x: F.avg_pool2d(x, 2, divisor_override=3, data_format="NHWC"),
    IMAGES,
)
case(
    "AdaptiveAvgPool2D([3, None], data_format='NHWC')",
    "AdaptiveAvgPool2D(output_size=[3, None])",
    lambda _, x: F.adaptive_avg_pool2d(x, [3, None], "NHWC"),
    IMAGES,
)
case(
    "AdaptiveMaxPool2D((3, 2), return_mask=True)",
    "AdaptiveMaxPool2D(output_size=(3, 2), return_mask=True)",
    lambda _, x: F.adaptive_max_pool2d(x, (3, 2), True),
    IMAGES,
)
case(
    "FractionalMaxPool2D([3, None], random_u=0.3, return_mask=True)",
    "FractionalMaxPool2D(output_size=[3, None], return_mask=True)",
    lambda _, x: F.fractional_max_pool2d(x, [3, None], None, 0.3, True),
    IMAGES,
)
case(
    "FractionalMaxPool3D(2, 2, 0.7)",
    "FractionalMaxPool3D(output_size=2, return_mask=False)",
    lambda _, x: F.fractional_max_pool3d(x, 2, 2, 0.7),
    floats(1, 2, 3, 4, 5),
)
case(
    "MaxUnPool2D(2, stride=2, output_size=[5, 4])",
    "MaxUnPool2D(output_size=[5, 4])",
    lambda _, x, i: F.max_unpool2d(x, i, 2, 2, output_size=[5, 4]),
    floats(1, 1, 2, 2),
    given([[INDICES[2]]]),
    known=True,
)
case(
    "MaxPool3D(2, data_format='NDHWC')",
    "MaxPool3D(kernel_size=2, stride=None, padding=0)",
    lambda _, x: F.max_pool3d(x, 2, data_format="NDHWC"),
    floats(2, 4, 4, 4, 2),
)
case(
    "AvgPool3D(2, divisor_override=3, data_format='NDHWC')",
    "AvgPool3D(kernel_size=2, stride=None, padding=0)",
    lambda _, x: F.avg_pool3d(x, 2, divisor_override=3, data_format="NDHWC"),
    floats(2, 4, 4, 4, 2),
)
case(
    "AdaptiveAvgPool3D([2, None, 1], 'NDHWC')",
    "AdaptiveAvgPool3D(output_size=[2, None, 1])",
    lambda _, x: F.adaptive_avg_pool3d(x, [2, None, 1], "NDHWC"),
    floats(2, 3, 4, 3, 2),
)
case(
    "LPPool1D(2, 3, 2, 1, True, 'NLC')",
    "LPPool1D(norm_type=2.0, kernel_size=3, stride=2, padding=1)",
    lambda _, x: F.lp_pool1d(x, 2, 3, 2, 1, True, "NLC"),
    positive(2, 6, 3),
)
case(
    "LPPool2D(3, 3, 2, 1, True, 'NHWC')",
    "LPPool2D(norm_type=3.0, kernel_size=3, stride=2, padding=1)",
    lambda _, x: F.lp_pool2d(x, 3, 3, 2, 1, True, "NHWC"),
    positive(2, 6, 6, 3),
)
case(
    "LPPool1D(3, 2)",
    "LPPool1D(norm_type=3.0, kernel_size=2, stride=None, padding=0)",
    lambda _, x: F.lp_pool1d(x, 3, 2),
    positive(2, 3, 5),
)
case(
    "LPPool2D(2, 3)",
    "LPPool2D(norm_type=2.0, kernel_size=3, stride=3, padding=0)",
    lambda _, x: F.lp_pool2d(x, 2, 3),
    positive(2, 3, 6, 6),
)
