"""Calls of the public functions of `vision`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.families import (
    conv as conv_loops,
    pool as pool_loops,
    resample as resample_loops,
)
from tests.registry.referencing import transpose_of
from tests.registry.sampling import integers, real, spaced

from .case import Case
from .peers import torch

F = paddle.nn.functional


def _tf() -> Any:
    return torch.nn.functional


def first(x: Any) -> Any:
    """Channels second, from channels last."""
    return np.moveaxis(x, -1, 1)


def last(x: Any) -> Any:
    return np.moveaxis(x, 1, -1)


# --- convolution


def conv(x: Any, w: Any, b: Any = None, stride: int = 1, padding: Any = 0, **how: Any) -> Any:
    axes = x.ndim - 2
    pads = ((padding, padding),) * axes if isinstance(padding, int) else padding
    out = conv_loops.conv(
        x, w, (stride,) * axes, pads, (how.get("dilation", 1),) * axes, how.get("groups", 1)
    )
    return out if b is None else out + b.reshape(1, -1, *[1] * axes)


def transposed(
    x: Any, w: Any, b: Any = None, stride: int = 1, padding: int = 0, extra: int = 0, **how: Any
) -> Any:
    """Each element of `x` adds the filter, times itself, to the result."""
    groups, dilation = how.get("groups", 1), how.get("dilation", 1)
    n, c, *size = x.shape
    depth, *kernel = w.shape[1:]
    full = [(s - 1) * stride + dilation * (k - 1) + 1 for s, k in zip(size, kernel, strict=True)]
    out = np.zeros((n, depth * groups, *[f + extra for f in full]))
    for i, k, *at in np.ndindex(x.shape):
        for o, *tap in np.ndindex(w.shape[1:]):
            place = [p * stride + t * dilation for p, t in zip(at, tap, strict=True)]
            out[(i, k // (c // groups) * depth + o, *place)] += x[(i, k, *at)] * w[(k, o, *tap)]
    cut = [slice(padding, f - padding + extra) for f in full]
    out = out[(slice(None), slice(None), *cut)]
    return out if b is None else out + b.reshape(1, -1, *[1] * len(size))


CONVOLUTIONS: dict[str, list[Case]] = {
    "nn.functional.conv1d": [
        Case(
            "plain",
            lambda x, w, b: F.conv1d(x, w, b),
            (real(1, 2, 4), real(3, 2, 2), real(3)),
            numpy=conv,
            torch=lambda x, w, b: _tf().conv1d(x, w, b),
        ),
        Case(
            "options",
            lambda x, w: F.conv1d(x, w, stride=2, padding=[1, 0], dilation=2, groups=2),
            (real(1, 2, 6), real(2, 1, 2)),
            numpy=lambda x, w: conv(x, w, stride=2, padding=((1, 0),), dilation=2, groups=2),
        ),
        Case(
            "last",
            lambda x, w: F.conv1d(x, w, padding="SAME", data_format="NLC"),
            (real(1, 4, 2), real(1, 2, 2)),
            numpy=lambda x, w: last(conv(first(x), w, padding=((0, 1),))),
        ),
    ],
    "nn.functional.conv2d": [
        Case(
            "plain",
            lambda x, w, b: F.conv2d(x, w, b),
            (real(1, 2, 3, 3), real(2, 2, 2, 2), real(2)),
            numpy=conv,
            torch=lambda x, w, b: _tf().conv2d(x, w, b),
        ),
        Case(
            "options",
            lambda x, w: F.conv2d(x, w, stride=2, padding=1, dilation=2, groups=2),
            (real(1, 2, 4, 3), real(2, 1, 2, 2)),
            numpy=lambda x, w: conv(x, w, stride=2, padding=1, dilation=2, groups=2),
            torch=lambda x, w: _tf().conv2d(x, w, stride=2, padding=1, dilation=2, groups=2),
        ),
        Case(
            "same",
            lambda x, w: F.conv2d(x, w, stride=2, padding="SAME"),
            (real(1, 1, 5, 4), real(1, 1, 3, 2)),
            numpy=lambda x, w: conv(x, w, stride=2, padding=((1, 1), (0, 0))),
            known=True,
        ),
        Case(
            "last",
            lambda x, w: F.conv2d(
                x, w, padding=[[0, 0], [1, 0], [0, 2], [0, 0]], data_format="NHWC"
            ),
            (real(1, 2, 2, 2), real(1, 2, 2, 2)),
            numpy=lambda x, w: last(conv(first(x), w, padding=((1, 0), (0, 2)))),
        ),
    ],
    "nn.functional.conv3d": [
        Case(
            "plain",
            lambda x, w: F.conv3d(x, w, padding=[0, 1, 0], stride=[1, 2, 1]),
            (real(1, 1, 2, 3, 2), real(2, 1, 2, 2, 1)),
            numpy=lambda x, w: conv_loops.conv(
                x, w, (1, 2, 1), ((0, 0), (1, 1), (0, 0)), (1, 1, 1), 1
            ),
            torch=lambda x, w: _tf().conv3d(x, w, padding=(0, 1, 0), stride=(1, 2, 1)),
        ),
        Case(
            "last",
            lambda x, w, b: F.conv3d(x, w, b, data_format="NDHWC"),
            (real(1, 2, 2, 2, 2), real(1, 2, 1, 2, 1), real(1)),
            numpy=lambda x, w, b: last(conv(first(x), w, b)),
        ),
    ],
    "nn.functional.conv1d_transpose": [
        Case(
            "plain",
            lambda x, w, b: F.conv1d_transpose(x, w, b, stride=2, padding=1, output_padding=1),
            (real(1, 2, 3), real(2, 1, 3), real(1)),
            numpy=lambda x, w, b: transposed(x, w, b, 2, 1, 1),
            torch=lambda x, w, b: _tf().conv_transpose1d(
                x, w, b, stride=2, padding=1, output_padding=1
            ),
            known=True,
        ),
        Case(
            "last",
            lambda x, w: F.conv1d_transpose(x, w, groups=2, dilation=2, data_format="NLC"),
            (real(1, 3, 2), real(2, 1, 2)),
            numpy=lambda x, w: last(transposed(first(x), w, groups=2, dilation=2)),
            known=True,
        ),
    ],
    "nn.functional.conv2d_transpose": [
        Case(
            "plain",
            lambda x, w, b: F.conv2d_transpose(x, w, b),
            (real(1, 2, 2, 2), real(2, 2, 2, 2), real(2)),
            numpy=transposed,
            torch=lambda x, w, b: _tf().conv_transpose2d(x, w, b),
            known=True,
        ),
        Case(
            "options",
            lambda x, w: F.conv2d_transpose(
                x, w, stride=2, padding=1, output_padding=1, dilation=2, groups=2
            ),
            (real(1, 2, 2, 2), real(2, 1, 2, 2)),
            numpy=lambda x, w: transposed(x, w, None, 2, 1, 1, groups=2, dilation=2),
            torch=lambda x, w: _tf().conv_transpose2d(
                x, w, stride=2, padding=1, output_padding=1, groups=2, dilation=2
            ),
            known=True,
        ),
        Case(
            "size",
            lambda x, w: F.conv2d_transpose(x, w, stride=2, output_size=[4, 5]),
            (real(1, 1, 2, 2), real(1, 1, 2, 3)),
            numpy=lambda x, w: transposed(x, w, None, 2, 0, 0),
            known=True,
        ),
    ],
    "nn.functional.conv3d_transpose": [
        Case(
            "plain",
            lambda x, w: F.conv3d_transpose(x, w, stride=2),
            (real(1, 1, 2, 1, 2), real(1, 2, 1, 2, 2)),
            numpy=lambda x, w: transposed(x, w, None, 2),
            torch=lambda x, w: _tf().conv_transpose3d(x, w, stride=2),
            known=True,
        ),
    ],
}

# --- pooling


def max_pool(x: Any, kernel: Any, stride: Any, padding: Any, ceil: bool = False) -> Any:
    return pool_loops.max_pool(x, kernel, stride, padding, ceil)


def avg_pool(x: Any, kernel: Any, stride: Any, padding: Any, **how: Any) -> Any:
    ceil, exclusive = how.pop("ceil", False), how.pop("exclusive", True)
    return pool_loops.avg_pool(x, kernel, stride, padding, ceil, exclusive, **how)


def unpooled(x: Any, index: Any, size: Any) -> Any:
    out = np.zeros((*x.shape[:2], *size))
    for at in np.ndindex(x.shape):
        out[at[:2]].flat[index[at]] = x[at]
    return out


def lp(x: Any, p: float, kernel: Any, stride: Any, padding: Any) -> Any:
    return pool_loops.avg_pool(x**p, kernel, stride, padding, False, True, 1.0) ** (1.0 / p)


POOLING: dict[str, list[Case]] = {
    "nn.functional.max_pool1d": [
        Case(
            "plain",
            lambda x: F.max_pool1d(x, 2, 1),
            (spaced(1, 2, 4),),
            numpy=lambda x: max_pool(x, (2,), (1,), ((0, 0),))[0],
            torch=lambda x: _tf().max_pool1d(x, 2, 1),
        ),
        Case(
            "mask",
            lambda x: F.max_pool1d(x, 3, 2, 1, return_mask=True, ceil_mode=True),
            (spaced(1, 1, 6),),
            numpy=lambda x: max_pool(x, (3,), (2,), ((1, 1),), True),
        ),
    ],
    "nn.functional.max_pool2d": [
        Case(
            "plain",
            lambda x: F.max_pool2d(x, 2),
            (spaced(1, 1, 4, 4),),
            numpy=lambda x: max_pool(x, (2, 2), (2, 2), ((0, 0),) * 2)[0],
            torch=lambda x: _tf().max_pool2d(x, 2),
        ),
        Case(
            "padding",
            lambda x: F.max_pool2d(x, [3, 2], [2, 1], [1, 0], ceil_mode=True),
            (spaced(1, 2, 4, 2),),
            numpy=lambda x: max_pool(x, (3, 2), (2, 1), ((1, 1), (0, 0)), True)[0],
            torch=lambda x: _tf().max_pool2d(x, (3, 2), (2, 1), (1, 0), ceil_mode=True),
        ),
        Case(
            "last-mask",
            lambda x: F.max_pool2d(x, 2, 1, return_mask=True, data_format="NHWC"),
            (spaced(1, 2, 3, 2),),
            numpy=lambda x: [last(v) for v in max_pool(first(x), (2, 2), (1, 1), ((0, 0),) * 2)],
        ),
    ],
    "nn.functional.max_pool3d": [
        Case(
            "plain",
            lambda x: F.max_pool3d(x, 2, 1),
            (spaced(1, 1, 2, 3, 3),),
            numpy=lambda x: max_pool(x, (2,) * 3, (1,) * 3, ((0, 0),) * 3)[0],
            torch=lambda x: _tf().max_pool3d(x, 2, 1),
        ),
    ],
    "nn.functional.avg_pool1d": [
        Case(
            "plain",
            lambda x: F.avg_pool1d(x, 2, 1),
            (real(1, 2, 4),),
            numpy=lambda x: avg_pool(x, (2,), (1,), ((0, 0),)),
            torch=lambda x: _tf().avg_pool1d(x, 2, 1),
        ),
        Case(
            "inclusive",
            lambda x: F.avg_pool1d(x, 3, 2, 1, exclusive=False, ceil_mode=True),
            (real(1, 1, 4),),
            numpy=lambda x: avg_pool(x, (3,), (2,), ((1, 1),), exclusive=False, ceil=True),
            torch=lambda x: _tf().avg_pool1d(x, 3, 2, 1, ceil_mode=True),
        ),
    ],
    "nn.functional.avg_pool2d": [
        Case(
            "plain",
            lambda x: F.avg_pool2d(x, 2),
            (real(1, 1, 4, 4),),
            numpy=lambda x: avg_pool(x, (2, 2), (2, 2), ((0, 0),) * 2),
            torch=lambda x: _tf().avg_pool2d(x, 2),
        ),
        Case(
            "exclusive",
            lambda x: F.avg_pool2d(x, 2, 1, 1),
            (real(1, 1, 3, 2),),
            numpy=lambda x: avg_pool(x, (2, 2), (1, 1), ((1, 1),) * 2),
            torch=lambda x: _tf().avg_pool2d(x, 2, 1, 1, count_include_pad=False),
        ),
        Case(
            "divisor-last",
            lambda x: F.avg_pool2d(x, 2, 1, divisor_override=3, data_format="NHWC"),
            (real(1, 2, 3, 2),),
            numpy=lambda x: last(avg_pool(first(x), (2, 2), (1, 1), ((0, 0),) * 2, divisor=3.0)),
        ),
    ],
    "nn.functional.avg_pool3d": [
        Case(
            "plain",
            lambda x: F.avg_pool3d(x, 2, 1, [1, 0, 0], exclusive=False),
            (real(1, 1, 2, 2, 3),),
            numpy=lambda x: avg_pool(
                x, (2,) * 3, (1,) * 3, ((1, 1), (0, 0), (0, 0)), exclusive=False
            ),
            torch=lambda x: _tf().avg_pool3d(x, 2, 1, (1, 0, 0)),
        ),
    ],
    "nn.functional.adaptive_avg_pool1d": [
        Case(
            "uneven",
            lambda x: F.adaptive_avg_pool1d(x, 3),
            (real(1, 2, 5),),
            numpy=lambda x: pool_loops.adaptive_avg_pool(x, (3,)),
            torch=lambda x: _tf().adaptive_avg_pool1d(x, 3),
        ),
    ],
    "nn.functional.adaptive_avg_pool2d": [
        Case(
            "uneven",
            lambda x: F.adaptive_avg_pool2d(x, [2, 3]),
            (real(1, 1, 3, 4),),
            numpy=lambda x: pool_loops.adaptive_avg_pool(x, (2, 3)),
            torch=lambda x: _tf().adaptive_avg_pool2d(x, (2, 3)),
        ),
        Case(
            "last",
            lambda x: F.adaptive_avg_pool2d(x, [None, 1], data_format="NHWC"),
            (real(1, 3, 2, 2),),
            numpy=lambda x: x.mean(axis=2, keepdims=True),
        ),
    ],
    "nn.functional.adaptive_avg_pool3d": [
        Case(
            "uneven",
            lambda x: F.adaptive_avg_pool3d(x, [2, 1, 2]),
            (real(1, 1, 3, 2, 2),),
            numpy=lambda x: pool_loops.adaptive_avg_pool(x, (2, 1, 2)),
            torch=lambda x: _tf().adaptive_avg_pool3d(x, (2, 1, 2)),
        ),
    ],
    "nn.functional.adaptive_max_pool1d": [
        Case(
            "uneven",
            lambda x: F.adaptive_max_pool1d(x, 3, return_mask=True),
            (spaced(1, 2, 5),),
            numpy=lambda x: pool_loops.adaptive_max_pool(x, (3,)),
        ),
    ],
    "nn.functional.adaptive_max_pool2d": [
        Case(
            "uneven",
            lambda x: F.adaptive_max_pool2d(x, [2, 3]),
            (spaced(1, 1, 3, 4),),
            numpy=lambda x: pool_loops.adaptive_max_pool(x, (2, 3))[0],
            torch=lambda x: _tf().adaptive_max_pool2d(x, (2, 3)),
        ),
    ],
    "nn.functional.adaptive_max_pool3d": [
        Case(
            "uneven",
            lambda x: F.adaptive_max_pool3d(x, 2),
            (spaced(1, 1, 3, 2, 2),),
            numpy=lambda x: pool_loops.adaptive_max_pool(x, (2, 2, 2))[0],
            torch=lambda x: _tf().adaptive_max_pool3d(x, 2),
        ),
    ],
    "nn.functional.lp_pool1d": [
        Case(
            "plain",
            lambda x: F.lp_pool1d(x, 3, 2),
            (real(1, 2, 4, low=0.4, high=2.0),),
            numpy=lambda x: lp(x, 3.0, (2,), (2,), ((0, 0),)),
            torch=lambda x: _tf().lp_pool1d(x, 3.0, 2),
        ),
    ],
    "nn.functional.lp_pool2d": [
        Case(
            "plain",
            lambda x: F.lp_pool2d(x, 2, 2, 1),
            (real(1, 1, 3, 3),),
            numpy=lambda x: lp(x, 2.0, (2, 2), (1, 1), ((0, 0),) * 2),
            torch=lambda x: _tf().lp_pool2d(x, 2.0, 2, 1),
        ),
        Case(
            "infinite",
            lambda x: F.lp_pool2d(x, float("inf"), 2, data_format="NHWC"),
            (spaced(1, 2, 4, 2),),
            numpy=lambda x: last(max_pool(first(x), (2, 2), (2, 2), ((0, 0),) * 2)[0]),
        ),
    ],
    "nn.functional.max_unpool1d": [
        Case(
            "plain",
            lambda x, i: F.max_unpool1d(x, i, 2),
            (real(1, 2, 2), integers([[1, 2], [0, 3]])),
            numpy=lambda x, i: unpooled(x, i, (4,)),
            torch=lambda x, i: _tf().max_unpool1d(x, i, 2),
            known=True,
        ),
    ],
    "nn.functional.max_unpool2d": [
        Case(
            "plain",
            lambda x, i: F.max_unpool2d(x, i, 2, output_size=[4, 5]),
            (real(1, 1, 2, 2), integers([[[1, 7], [15, 18]]])),
            numpy=lambda x, i: unpooled(x, i, (4, 5)),
            torch=lambda x, i: _tf().max_unpool2d(x, i, 2, output_size=(4, 5)),
            known=True,
        ),
        Case(
            "twice",
            lambda x, i: F.max_unpool2d(x, i, 3, 1),
            (real(1, 1, 2, 2), integers([[[5, 5], [9, 6]]])),
            numpy=lambda x, i: unpooled(x, i, (4, 4)),
            known=True,
        ),
    ],
    "nn.functional.max_unpool3d": [
        Case(
            "plain",
            lambda x, i: F.max_unpool3d(x, i, [1, 2, 2]),
            (real(1, 1, 1, 1, 2), integers([[[[5, 2]]]])),
            numpy=lambda x, i: unpooled(x, i, (1, 2, 4)),
            torch=lambda x, i: _tf().max_unpool3d(x, i, (1, 2, 2)),
            known=True,
        ),
    ],
}

# --- resampling


def resampled(x: Any, sizes: Any, mode: str, **how: Any) -> Any:
    plain = {"scale": None, "align_corners": False, "align_mode": 0, "antialias": False}
    for a, size in enumerate(sizes):
        scales = how.get("scale")
        given = {**how, "scale": scales[a]} if scales else how
        x = resample_loops.resample(x, axis=2 + a, mode=mode, size=size, **(plain | given))
    return x


def sampled(x: Any, grid: Any, pad: str, align: bool, nearest: bool = False) -> Any:
    """One position after the other, with the pixels around it looked up in a padded image."""
    size = x.shape[2:]
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for n, *at in np.ndindex(grid.shape[:-1]):
        place = []
        for c, s in zip(grid[(n, *at)][::-1], size, strict=True):
            p = (c + 1) / 2 * (s - 1) if align else ((c + 1) * s - 1) / 2
            if pad == "reflection":
                low, high = (0, s - 1) if align else (-0.5, s - 0.5)
                while not low <= p <= high:
                    p = 2 * low - p if p < low else 2 * high - p
            place.append(p if pad == "zeros" else min(max(p, 0.0), s - 1.0))
        for corner in itertools.product(*([int(np.floor(p)), int(np.floor(p)) + 1] for p in place)):
            weight = np.prod([1.0 - abs(p - i) for p, i in zip(place, corner, strict=True)])
            if nearest:
                weight = float(corner == tuple(round(p) for p in place))
            if all(0 <= i < s for i, s in zip(corner, size, strict=True)):
                out[(n, slice(None), *at)] += weight * x[(n, slice(None), *corner)]
    return out


def grid_positions(*shape: int) -> Any:
    """Positions inside and outside, none near a pixel or the edge of an image of 2 to 4 pixels."""
    choices = np.array([-1.55, -0.83, -0.59, -0.17, 0.21, 0.43, 0.77, 1.43])
    return np.random.default_rng(3).choice(choices, shape)


def _sampling(
    label: str, mode: str, pad: str, align: bool, image: Any, grid: Any, **how: Any
) -> Case:
    return Case(
        label,
        lambda x, g: F.grid_sample(x, g, mode, pad, align),
        (image, grid),
        numpy=lambda x, g: sampled(x, g, pad, align, mode == "nearest"),
        torch=lambda x, g: _tf().grid_sample(x, g, mode, pad, align),
        **how,
    )


def affine(theta: Any, size: Any, align: bool) -> Any:
    out = np.zeros((len(theta), *size, len(size)))
    for n, *at in np.ndindex(out.shape[:-1]):
        place = [
            (2 * i / (s - 1) - 1 if s > 1 else 0.0) if align else (2 * i + 1) / s - 1
            for i, s in zip(at, size, strict=True)
        ]
        out[(n, *at)] = theta[n] @ np.array([*place[::-1], 1.0])
    return out


def unfolded(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    return conv_loops.unfold(x, kernel, stride, padding, dilation)


def folded(x: Any, shape: Any, *how: Any) -> Any:
    return transpose_of(lambda v: conv_loops.unfold(v, *how), shape, x)


def _interpolation(label: str, shape: Any, sizes: Any, mode: str, kind: str, **how: Any) -> Case:
    peer = {k: v for k, v in how.items() if k in ("align_corners", "antialias")}
    compare: Callable[..., Any] | None = None
    if how.get("align_mode", 0) == 0:

        def compare(x: Any) -> Any:
            if kind != "nearest":
                peer.setdefault("align_corners", False)
            return _tf().interpolate(x, size=tuple(sizes), mode=mode, **peer)

    return Case(
        label,
        lambda x: F.interpolate(x, size=list(sizes), mode=mode, **how),
        (real(*shape),),
        numpy=lambda x: resampled(x, sizes, kind, **how),
        torch=compare,
    )


RESAMPLING: dict[str, list[Case]] = {
    "nn.functional.interpolate": [
        _interpolation("nearest", (1, 2, 2, 3), (3, 2), "nearest", "nearest"),
        _interpolation("linear", (1, 2, 3), (5,), "linear", "linear"),
        _interpolation("beginnings", (1, 2, 4), (3,), "linear", "linear", align_mode=1),
        _interpolation("bilinear", (1, 1, 2, 3), (3, 5), "bilinear", "linear"),
        _interpolation("corners", (1, 1, 3, 3), (2, 4), "bilinear", "linear", align_corners=True),
        _interpolation("bicubic", (1, 1, 2, 3), (3, 4), "bicubic", "cubic"),
        _interpolation("antialias", (1, 1, 4, 3), (2, 2), "bilinear", "linear", antialias=True),
        _interpolation("trilinear", (1, 1, 2, 2, 2), (3, 1, 3), "trilinear", "linear"),
        Case(
            "scale",
            lambda x: F.interpolate(x, scale_factor=[1.5, 2], mode="bilinear"),
            (real(1, 1, 3, 2),),
            numpy=lambda x: resampled(x, (None, None), "linear", scale=(1.5, 2.0)),
            torch=lambda x: _tf().interpolate(x, scale_factor=(1.5, 2.0), mode="bilinear"),
        ),
        Case(
            "recomputed",
            lambda x: F.interpolate(
                x, scale_factor=1.5, mode="linear", recompute_scale_factor=True
            ),
            (real(1, 1, 3),),
            numpy=lambda x: resampled(x, (4,), "linear"),
            torch=lambda x: _tf().interpolate(
                x, scale_factor=1.5, mode="linear", recompute_scale_factor=True
            ),
            known=True,
        ),
        Case(
            "area-last",
            lambda x: F.interpolate(x, size=[2, 3], mode="area", data_format="NHWC"),
            (real(1, 3, 4, 2),),
            numpy=lambda x: last(pool_loops.adaptive_avg_pool(first(x), (2, 3))),
        ),
    ],
    "nn.functional.upsample": [
        Case(
            "twice",
            lambda x: F.upsample(x, scale_factor=2),
            (real(1, 1, 2, 2),),
            numpy=lambda x: x.repeat(2, axis=2).repeat(2, axis=3),
            torch=lambda x: _tf().interpolate(x, scale_factor=2),
        ),
    ],
    "nn.functional.unfold": [
        Case(
            "plain",
            lambda x: F.unfold(x, [2, 1]),
            (real(1, 2, 3, 2),),
            numpy=lambda x: unfolded(x, (2, 1), (1, 1), ((0, 0),) * 2, (1, 1)),
            torch=lambda x: _tf().unfold(x, (2, 1)),
        ),
        Case(
            "options",
            lambda x: F.unfold(x, 2, [2, 1], [1, 0, 1, 2], [1, 2]),
            (real(1, 1, 4, 3),),
            numpy=lambda x: unfolded(x, (2, 2), (2, 1), ((1, 1), (0, 2)), (1, 2)),
        ),
    ],
    "nn.functional.fold": [
        Case(
            "plain",
            lambda x: F.fold(x, [3, 2], 2),
            (real(1, 8, 2),),
            numpy=lambda x: folded(x, (1, 2, 3, 2), (2, 2), (1, 1), ((0, 0),) * 2, (1, 1)),
            torch=lambda x: _tf().fold(x, (3, 2), 2),
            known=True,
        ),
        Case(
            "options",
            lambda x: F.fold(x, [4, 3], 2, 2, 1, 2),
            (real(1, 4, 4),),
            numpy=lambda x: folded(x, (1, 1, 4, 3), (2, 2), (2, 2), ((1, 1),) * 2, (2, 2)),
            torch=lambda x: _tf().fold(x, (4, 3), 2, dilation=2, padding=1, stride=2),
            known=True,
        ),
    ],
    "nn.functional.affine_grid": [
        Case(
            "corners",
            lambda t: F.affine_grid(t, [1, 3, 2, 3]),
            (real(1, 2, 3),),
            numpy=lambda t: affine(t, (2, 3), True),
            torch=lambda t: _tf().affine_grid(t, (1, 3, 2, 3), align_corners=True),
            known=True,
        ),
        Case(
            "volume",
            lambda t: F.affine_grid(t, [1, 1, 2, 1, 2], align_corners=False),
            (real(1, 3, 4),),
            numpy=lambda t: affine(t, (2, 1, 2), False),
            torch=lambda t: _tf().affine_grid(t, (1, 1, 2, 1, 2), align_corners=False),
            known=True,
        ),
    ],
    "nn.functional.grid_sample": [
        _sampling("zeros", "bilinear", "zeros", True, real(1, 2, 2, 3), grid_positions(1, 2, 3, 2)),
        _sampling(
            "border", "bilinear", "border", False, real(1, 1, 3, 4), grid_positions(1, 2, 3, 2)
        ),
        _sampling(
            "reflection", "bilinear", "reflection", True, real(1, 1, 3, 2),
            grid_positions(1, 2, 3, 2),
        ),
        _sampling(
            "reflection-edges", "bilinear", "reflection", False, real(1, 1, 3, 3),
            grid_positions(1, 2, 3, 2),
        ),
        _sampling(
            "nearest", "nearest", "zeros", False, real(1, 2, 2, 3), grid_positions(1, 2, 3, 2)
        ),
        _sampling(
            "volume", "bilinear", "zeros", True, real(1, 1, 2, 2, 3), grid_positions(1, 1, 2, 2, 3)
        ),
    ],
}  # fmt: skip

# --- normalisation


def standardized(x: Any, axes: Any, epsilon: float = 1e-5) -> Any:
    deviation = np.sqrt(x.var(axis=axes, keepdims=True) + epsilon)
    return (x - x.mean(axis=axes, keepdims=True)) / deviation


def along(v: Any, ndim: int, axis: int = 1) -> Any:
    return v.reshape([-1 if i == axis else 1 for i in range(ndim)])


def grouped(x: Any, groups: int) -> Any:
    n = len(x)
    return standardized(x.reshape(n, groups, -1), 2).reshape(x.shape)


def local_response(x: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    out = np.zeros(x.shape)
    for n, c, *at in np.ndindex(x.shape):
        near = range(max(c - size // 2, 0), min(c + (size - 1) // 2 + 1, x.shape[1]))
        mean = sum(x[(n, i, *at)] ** 2 for i in near) / size
        out[(n, c, *at)] = x[(n, c, *at)] / (k + alpha * mean) ** beta
    return out


# Statistics are data, not differentiated.
MEAN, VARIANCE = np.full(3, 0.25, np.float32), np.full(3, 2.0, np.float32)

NORMALISATION: dict[str, list[Case]] = {
    "nn.functional.batch_norm": [
        Case(
            "fixed",
            lambda x, w, b, m, v: F.batch_norm(x, m, v, w, b),
            (real(2, 3, 2), real(3), real(3), MEAN, VARIANCE),
            numpy=lambda x, w, b, m, v: (
                (x - 0.25) / np.sqrt(2.0 + 1e-5) * along(w, 3) + along(b, 3)
            ),
            torch=lambda x, w, b, m, v: _tf().batch_norm(x, m.to(x.dtype), v.to(x.dtype), w, b),
        ),
        Case(
            "training",
            lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
            (real(4, 2), real(2), real(2)),
            numpy=lambda x, w, b: standardized(x, (0,)) * w + b,
            torch=lambda x, w, b: _tf().batch_norm(x, None, None, w, b, training=True),
        ),
        Case(
            "last",
            lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True, data_format="NLC"),
            (real(2, 2, 3), real(3), real(3)),
            numpy=lambda x, w, b: standardized(x, (0, 1)) * w + b,
        ),
    ],
    "nn.functional.layer_norm": [
        Case(
            "plain",
            lambda x, w, b: F.layer_norm(x, 4, w, b),
            (real(2, 4), real(4), real(4)),
            numpy=lambda x, w, b: standardized(x, (1,)) * w + b,
            torch=lambda x, w, b: _tf().layer_norm(x, (4,), w, b),
            known=True,
        ),
        Case(
            "two-axes",
            lambda x: F.layer_norm(x, [2, 3]),
            (real(2, 2, 3),),
            numpy=lambda x: standardized(x, (1, 2)),
            torch=lambda x: _tf().layer_norm(x, (2, 3)),
            known=True,
        ),
    ],
    "nn.functional.rms_norm": [
        Case(
            "plain",
            lambda x, w: F.rms_norm(x, 4, w)[0],
            (real(2, 4), real(4)),
            numpy=lambda x, w: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w,
            torch=lambda x, w: _tf().rms_norm(x, (4,), w, eps=1e-5),
            known=True,
        ),
        Case(
            "inverse",
            lambda x: F.rms_norm(x, [3], eps=0.1)[1],
            (real(2, 3),),
            numpy=lambda x: 1.0 / np.sqrt((x * x).mean(-1) + 0.1),
            known=True,
        ),
    ],
    "nn.functional.group_norm": [
        Case(
            "plain",
            lambda x, w, b: F.group_norm(x, 2, weight=w, bias=b),
            (real(2, 4, 2), real(4), real(4)),
            numpy=lambda x, w, b: grouped(x, 2) * along(w, 3) + along(b, 3),
            torch=lambda x, w, b: _tf().group_norm(x, 2, w, b),
            known=True,
        ),
        Case(
            "last",
            lambda x: F.group_norm(x, 1, data_format="NHWC"),
            (real(1, 2, 2, 3),),
            numpy=lambda x: standardized(x, (1, 2, 3)),
            known=True,
        ),
    ],
    "nn.functional.instance_norm": [
        Case(
            "plain",
            lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
            (real(2, 2, 4), real(2), real(2)),
            numpy=lambda x, w, b: standardized(x, (2,)) * along(w, 3) + along(b, 3),
            torch=lambda x, w, b: _tf().instance_norm(x, weight=w, bias=b),
        ),
        Case(
            "fixed",
            lambda x, m, v: F.instance_norm(x, m, v, use_input_stats=False),
            (real(1, 2, 3), real(2), real(2, low=0.5, high=2.0)),
            numpy=lambda x, m, v: (x - along(m, 3)) / np.sqrt(along(v, 3) + 1e-5),
        ),
    ],
    "nn.functional.local_response_norm": [
        Case(
            "plain",
            lambda x: F.local_response_norm(x, 3, alpha=0.5),
            (real(1, 4, 3),),
            numpy=lambda x: local_response(x, 3, 0.5, 0.75, 1.0),
            torch=lambda x: _tf().local_response_norm(x, 3, alpha=0.5),
            known=True,
        ),
        Case(
            "even-last",
            lambda x: F.local_response_norm(x, 2, alpha=0.5, beta=2.0, k=2.0, data_format="NHWC"),
            (real(1, 2, 2, 3),),
            numpy=lambda x: last(local_response(first(x), 2, 0.5, 2.0, 2.0)),
            known=True,
        ),
    ],
}

CASES: dict[str, list[Case]] = {**CONVOLUTIONS, **POOLING, **RESAMPLING, **NORMALISATION}
