"""Calls of the public functions of `conv`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.families import (
    conv as conv_loops,
)
from tests.registry.referencing import transpose_of
from tests.registry.sampling import real

from ..case import Case
from ..peers import TF

F = paddle.nn.functional


def first(x: Any) -> Any:
    """Channels second, from channels last."""
    return np.moveaxis(x, -1, 1)


def last(x: Any) -> Any:
    return np.moveaxis(x, 1, -1)


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


def unfolded(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    return conv_loops.unfold(x, kernel, stride, padding, dilation)


def folded(x: Any, shape: Any, *how: Any) -> Any:
    return transpose_of(lambda v: conv_loops.unfold(v, *how), shape, x)


CASES: dict[str, list[Case]] = {
    "nn.functional.conv1d": [
        Case(
            "plain",
            lambda x, w, b: F.conv1d(x, w, b),
            (real(1, 2, 4), real(3, 2, 2), real(3)),
            numpy=conv,
            torch=lambda x, w, b: TF.conv1d(x, w, b),
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
            torch=lambda x, w, b: TF.conv2d(x, w, b),
        ),
        Case(
            "options",
            lambda x, w: F.conv2d(x, w, stride=2, padding=1, dilation=2, groups=2),
            (real(1, 2, 4, 3), real(2, 1, 2, 2)),
            numpy=lambda x, w: conv(x, w, stride=2, padding=1, dilation=2, groups=2),
            torch=lambda x, w: TF.conv2d(x, w, stride=2, padding=1, dilation=2, groups=2),
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
            torch=lambda x, w: TF.conv3d(x, w, padding=(0, 1, 0), stride=(1, 2, 1)),
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
            torch=lambda x, w, b: TF.conv_transpose1d(
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
            torch=lambda x, w, b: TF.conv_transpose2d(x, w, b),
            known=True,
        ),
        Case(
            "options",
            lambda x, w, b: F.conv2d_transpose(
                x, w, b, stride=2, padding=1, output_padding=1, dilation=2, groups=2
            ),
            (real(1, 2, 2, 2), real(2, 1, 2, 2), real(1)),
            numpy=lambda x, w, b: b + transposed(x, w, None, 2, 1, 1, groups=2, dilation=2),
            torch=lambda x, w, b: TF.conv_transpose2d(
                x, w, b.expand(2), stride=2, padding=1, output_padding=1, groups=2, dilation=2
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
            torch=lambda x, w: TF.conv_transpose3d(x, w, stride=2),
            known=True,
        ),
    ],
    "nn.functional.unfold": [
        Case(
            "plain",
            lambda x: F.unfold(x, [2, 1]),
            (real(1, 2, 3, 2),),
            numpy=lambda x: unfolded(x, (2, 1), (1, 1), ((0, 0),) * 2, (1, 1)),
            torch=lambda x: TF.unfold(x, (2, 1)),
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
            torch=lambda x: TF.fold(x, (3, 2), 2),
            known=True,
        ),
        Case(
            "options",
            lambda x: F.fold(x, [4, 3], 2, 2, 1, 2),
            (real(1, 4, 4),),
            numpy=lambda x: folded(x, (1, 1, 4, 3), (2, 2), (2, 2), ((1, 1),) * 2, (2, 2)),
            torch=lambda x: TF.fold(x, (4, 3), 2, dilation=2, padding=1, stride=2),
            known=True,
        ),
    ],
}
