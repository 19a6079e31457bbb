"""Types on images: convolutions, pooling, padding, resampling, normalisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import autograd_engine.nn.functional as F  # noqa: N812 - the usual name
from autograd_engine.core.spec import along
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.functional.normalization import standardized
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import spec_of
from autograd_engine.static.operator_types.declaring import OneOf, declare
from autograd_engine.tensor import public as paddle

_LAYOUT = OneOf("NCHW", "NHWC", "AnyLayout", "NCDHW", "NDHWC", "NCL", "NLC", "NC")
_ANY_LAYOUT = OneOf("AnyLayout", *_LAYOUT.words)
_ALGORITHM = OneOf("EXPLICIT", "SAME", "VALID")


def _layout(data_format: str, default: str = "NCHW") -> str:
    return default if data_format in ("AnyLayout", "") else data_format


def _padding(algorithm: str, paddings: list[int]) -> Any:
    return paddings if algorithm == "EXPLICIT" else algorithm


# --- convolutions


def _conv(function: Callable[..., Any], default: str) -> Callable[..., Any]:
    def call(x: Any, w: Any, bias: Any, *, data_format: str, **attrs: Any) -> Any:
        return function(
            x,
            w,
            bias,
            attrs["strides"],
            _padding(attrs["padding_algorithm"], attrs["paddings"]),
            attrs["dilations"],
            attrs["groups"],
            _layout(data_format, default),
        )

    return call


_Convolutions: TypeAlias = tuple[tuple[str, Callable[..., Any], int, str], ...]
_CONV: _Convolutions = (
    ("conv2d", F.conv2d, 2, "NCHW"),
    ("depthwise_conv2d", F.conv2d, 2, "NCHW"),
    ("conv3d", F.conv3d, 3, "NCDHW"),
)
for _name, _function, _axes, _format in _CONV:
    declare(
        _name,
        "Input Filter Bias? -> Output",
        _conv(_function, _format),
        strides=[1] * _axes,
        paddings=[0] * _axes,
        padding_algorithm=_ALGORITHM,
        dilations=[1] * _axes,
        groups=1,
        data_format=OneOf(_format, *_LAYOUT.words),
    )


def _conv_transpose(function: Callable[..., Any], default: str) -> Callable[..., Any]:
    def call(x: Any, w: Any, bias: Any, *, data_format: str, **attrs: Any) -> Any:
        return function(
            x,
            w,
            bias,
            stride=attrs["strides"],
            padding=_padding(attrs["padding_algorithm"], attrs["paddings"]),
            output_padding=attrs["output_padding"] or 0,
            dilation=attrs["dilations"],
            groups=attrs["groups"],
            output_size=attrs["output_size"] or None,
            data_format=_layout(data_format, default),
        )

    return call


_TRANSPOSED: _Convolutions = (
    ("conv2d_transpose", F.conv2d_transpose, 2, "NCHW"),
    ("depthwise_conv2d_transpose", F.conv2d_transpose, 2, "NCHW"),
    ("conv3d_transpose", F.conv3d_transpose, 3, "NCDHW"),
)
for _name, _function, _axes, _format in _TRANSPOSED:
    declare(
        _name,
        "Input Filter Bias? -> Output",
        _conv_transpose(_function, _format),
        strides=[1] * _axes,
        paddings=[0] * _axes,
        output_padding=[],
        output_size=[],
        padding_algorithm=_ALGORITHM,
        dilations=[1] * _axes,
        groups=1,
        data_format=OneOf(_format, *_LAYOUT.words),
    )


# --- pooling


def _pool(axes: int, largest: Callable[..., Any], mean: Callable[..., Any]) -> Callable[..., Any]:
    spatial = tuple(range(2, 2 + axes))

    def call(
        x: Any,
        *,
        ksize: list[int],
        pooling_type: str,
        global_pooling: bool,
        adaptive: bool,
        exclusive: bool,
        ceil_mode: bool,
        padding_algorithm: str,
        strides: list[int],
        paddings: list[int],
        data_format: str,
        **_: Any,
    ) -> Any:
        layout = _layout(data_format, "NCHW" if axes == 2 else "NCDHW")
        average = pooling_type == "avg"
        if global_pooling or (adaptive and set(ksize) == {1}):
            over = spatial if layout[1] == "C" else tuple(a - 1 for a in spatial)
            return (paddle.mean if average else paddle.amax)(x, list(over), keepdim=True)
        if adaptive:
            return _adaptive(axes, average)(x, ksize)
        padding = _padding(padding_algorithm, paddings)
        if average:
            return mean(x, ksize, strides, padding, ceil_mode, exclusive, data_format=layout)
        return largest(x, ksize, strides, padding, ceil_mode=ceil_mode, data_format=layout)

    return call


def _adaptive(axes: int, average: bool) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(F, f"adaptive_{'avg' if average else 'max'}_pool{axes}d")
    return found


for _name, _axes, _largest, _mean in (
    ("pool2d", 2, F.max_pool2d, F.avg_pool2d),
    ("pool3d", 3, F.max_pool3d, F.avg_pool3d),
):
    declare(
        _name,
        "X -> Out",
        _pool(_axes, _largest, _mean),
        ksize=list,
        strides=[1] * _axes,
        paddings=[0] * _axes,
        ceil_mode=False,
        exclusive=True,
        data_format=_ANY_LAYOUT,
        pooling_type=OneOf("max", "avg"),
        global_pooling=False,
        adaptive=False,
        padding_algorithm=_ALGORITHM,
    )


def _max_pool_with_index(
    x: Any,
    *,
    ksize: list[int],
    strides: list[int],
    paddings: list[int],
    global_pooling: bool,
    adaptive: bool,
    **_: Any,
) -> Any:
    if adaptive or global_pooling:
        return F.adaptive_max_pool2d(x, 1 if global_pooling else ksize, return_mask=True)
    return F.max_pool2d(x, ksize, strides, paddings, return_mask=True)


declare(
    "max_pool2d_with_index",
    "X -> Out Mask",
    _max_pool_with_index,
    ksize=list,
    strides=[1, 1],
    paddings=[0, 0],
    global_pooling=False,
    adaptive=False,
)


# --- padding

_MODES = {"edge": "replicate"}


def _pad2d(
    x: Any, given: Any, *, paddings: list[int], pad_value: float, mode: str, data_format: str
) -> Any:
    if len(paddings) != 4:
        raise ArgumentError(f"pad2d: paddings must be four numbers, got {paddings}")
    top, bottom, left, right = paddings
    return F.pad(x, [left, right, top, bottom], _MODES.get(mode, mode), pad_value, data_format)


declare(
    "pad",
    "X -> Out",
    lambda x, *, paddings, pad_value: F.pad(x, paddings, value=pad_value, pad_from_left_axis=True),
    paddings=list,
    pad_value=0.0,
)
declare(
    "pad2d",
    "X Paddings? -> Out",
    _pad2d,
    paddings=list,
    pad_value=0.0,
    mode="constant",
    data_format="NCHW",
)
declare(
    "pad3d",
    "X Paddings? -> Out",
    lambda x, given, *, paddings, mode, value, data_format: F.pad(
        x, paddings if given is None else given, mode, value, data_format
    ),
    paddings=[],
    mode="constant",
    value=0.0,
    data_format="NCDHW",
)


# --- resampling


def _resample(mode: str) -> Callable[..., Any]:
    def call(
        x: Any,
        size_given: Any,
        listed: Any,
        scale_given: Any,
        *,
        out_d: int,
        out_h: int,
        out_w: int,
        scale: Any,
        interp_method: str,
        align_corners: bool,
        align_mode: int,
        data_layout: str,
    ) -> Any:
        size: Any = [n for n in (out_d, out_h, out_w) if n > 0]
        size = size_given if size_given is not None else listed or size
        factors = [s for s in (scale if isinstance(scale, list) else [scale]) if s > 0]
        factor = scale_given if scale_given is not None else factors
        if factor is not None and not isinstance(factor, list):
            size, factor = None, factor
        elif factor:
            size, factor = None, factor if len(factor) > 1 else factor[0]
        else:
            factor = None
        if mode == "nearest" and align_corners:
            return _nearest_between_corners(x, size, factor, _layout(data_layout))
        return F.interpolate(
            x,
            size,
            factor,
            mode,
            align_corners,
            align_mode if mode == "bilinear" else 0,
            _layout(data_layout),
        )

    return call


def _nearest_between_corners(x: Any, size: Any, factor: Any, layout: str) -> Any:
    """The nearest elements where the corners of `x` are those of the result."""
    first = 2 if layout[1] == "C" else 1
    plane = x.shape[first : first + x.ndim - 2]
    if isinstance(factor, (int, float)):
        factor = [factor] * len(plane)
    given = size if factor is None else factor
    numbers = isinstance(given, list) and all(isinstance(n, (int, float)) for n in given)
    if not numbers or min(plane, default=0) < 0:
        raise ArgumentError(
            "nearest_interp: with align_corners=True the sizes of X and out_h, out_w must be "
            "known; use align_corners=False"
        )
    if len(given) != len(plane):
        raise ArgumentError(
            f"nearest_interp: X of shape {list(x.shape)} takes {len(plane)} sizes or scales (out_d "
            f"is that of images with depth), got {given}"
        )
    counts = given if factor is None else [int(n * s) for n, s in zip(plane, factor, strict=True)]
    if min(counts, default=0) < 1:
        raise ArgumentError(f"nearest_interp: the sizes must be at least 1, got {counts}")
    for axis, (n, count) in enumerate(zip(plane, counts, strict=True), first):
        step = (n - 1) / (count - 1) if count > 1 else 0.0
        places = np.floor(np.float32(step) * np.arange(count) + 0.5).astype("int64")
        x = paddle.index_select(x, paddle.assign(places), axis)
    return x


for _name in ("bilinear", "nearest", "bicubic"):
    for _suffix, _scale in (("", 0.0), ("_v2", [])):
        if _name == "bicubic" and not _suffix:
            continue
        declare(
            f"{_name}_interp{_suffix}",
            "X OutSize? SizeTensor?* Scale? -> Out",
            _resample(_name),
            data_layout=_LAYOUT,
            out_d=0,
            out_h=0,
            out_w=0,
            scale=_scale,
            interp_method=_name,
            align_corners=True,
            align_mode=1,
        )
declare(
    "pixel_shuffle",
    "X -> Out",
    lambda x, *, upscale_factor, data_format: F.pixel_shuffle(x, upscale_factor, data_format),
    upscale_factor=1,
    data_format="NCHW",
)
declare(
    "shuffle_channel",
    "X -> Out",
    lambda x, *, group: F.channel_shuffle(x, group),
    group=1,
)
declare(
    "temporal_shift",
    "X -> Out",
    lambda x, *, seg_num, shift_ratio, data_format: F.temporal_shift(
        x, seg_num, shift_ratio, data_format=data_format
    ),
    seg_num=int,
    shift_ratio=0.25,
    data_format="NCHW",
)
declare(
    "unfold",
    "X -> Y",
    lambda x, *, kernel_sizes, strides, paddings, dilations: F.unfold(
        x, kernel_sizes, strides, paddings, dilations
    ),
    kernel_sizes=list,
    strides=list,
    paddings=list,
    dilations=list,
)
declare(
    "grid_sampler",
    "X Grid -> Output",
    lambda x, grid, *, mode, padding_mode, align_corners: F.grid_sample(
        x, grid, mode, padding_mode, align_corners
    ),
    mode="bilinear",
    padding_mode="zeros",
    align_corners=True,
)
declare(
    "affine_grid",
    "Theta OutputShape? -> Output",
    lambda theta, given, *, output_shape, align_corners: F.affine_grid(
        theta, output_shape if given is None else given, align_corners
    ),
    output_shape=[],
    align_corners=True,
)


# --- normalisation


def _batch_norm(
    x: Any,
    scale: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    momentum_given: Any,
    *,
    is_test: bool,
    momentum: float,
    epsilon: float,
    data_layout: str,
    use_global_stats: bool,
    trainable_statistics: bool,
) -> Any:
    layout = _layout(data_layout)
    layout = (
        layout
        if x.ndim == 4
        else {"C": "NCL", "H": "NLC"}[layout[1]]
        if x.ndim == 3
        else (layout if x.ndim == 5 else "NC")
    )
    if use_global_stats or (is_test and not trainable_statistics):
        y = F.batch_norm(x, mean, variance, scale, bias, False, momentum, epsilon, layout)
        return y, mean, variance
    channel = 1 if layout[1] == "C" else x.ndim - 1
    axes = tuple(a for a in range(x.ndim) if a != channel)
    y, of_batch, spread = standardized(x, scale, bias, axes, epsilon, along(x.ndim, channel))
    return (
        y,
        ops.running_statistic(mean, of_batch, momentum=momentum),
        ops.running_statistic(variance, spread, momentum=momentum),
    )


def _affine(y: Any, scale: Any, bias: Any, channel: int) -> Any:
    shape = along(y.ndim, channel)
    if scale is not None:
        y = y * ops.reshape(scale, shape=shape)
    return y if bias is None else y + ops.reshape(bias, shape=shape)


for _name in ("batch_norm", "sync_batch_norm"):
    declare(
        _name,
        "X Scale? Bias? Mean Variance MomentumTensor? -> "
        "Y MeanOut VarianceOut SavedMean~ SavedVariance~ ReserveSpace~",
        _batch_norm,
        is_test=False,
        momentum=0.9,
        epsilon=1e-5,
        data_layout=_LAYOUT,
        use_global_stats=False,
        trainable_statistics=False,
    )


def _layer_norm(x: Any, scale: Any, bias: Any, *, epsilon: float, begin_norm_axis: int) -> Any:
    if not 0 < begin_norm_axis < x.ndim:
        raise ArgumentError(
            f"layer_norm: begin_norm_axis must be 1 to {x.ndim - 1}, got {begin_norm_axis}"
        )
    axes = tuple(range(begin_norm_axis, x.ndim))
    sizes = spec_of(x).shape[begin_norm_axis:]
    scale, bias = (
        v if v is None or v.ndim == len(sizes) else ops.reshape(v, shape=sizes)
        for v in (scale, bias)
    )
    y, mean, variance = standardized(x, scale, bias, axes, epsilon)
    return y, paddle.squeeze(mean, list(axes)), paddle.squeeze(variance, list(axes))


declare(
    "layer_norm",
    "X Scale? Bias? -> Y Mean Variance",
    _layer_norm,
    epsilon=1e-5,
    begin_norm_axis=1,
)
declare(
    "group_norm",
    "X Scale? Bias? -> Y Mean~ Variance~",
    lambda x, scale, bias, *, epsilon, groups, data_layout: F.group_norm(
        x, groups, epsilon, scale, bias, _layout(data_layout)
    ),
    epsilon=1e-5,
    groups=int,
    data_layout=_LAYOUT,
)
declare(
    "instance_norm",
    "X Scale? Bias? -> Y SavedMean~ SavedVariance~",
    lambda x, scale, bias, *, epsilon: F.instance_norm(x, weight=scale, bias=bias, eps=epsilon),
    epsilon=1e-5,
)
declare(
    "lrn",
    "X -> Out MidOut~",
    lambda x, *, n, k, alpha, beta, data_format: F.local_response_norm(
        x, n, alpha * n, beta, k, _layout(data_format)
    ),
    n=5,
    k=2.0,
    alpha=1e-4,
    beta=0.75,
    data_format=_ANY_LAYOUT,
)


def _affine_channel(x: Any, scale: Any, bias: Any, *, data_layout: str) -> Any:
    return _affine(x, scale, bias, 1 if _layout(data_layout)[1] == "C" else x.ndim - 1)


declare("affine_channel", "X Scale Bias -> Out", _affine_channel, data_layout=_ANY_LAYOUT)
