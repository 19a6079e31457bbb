"""Convolution and pooling on NCHW arrays.

The three convolution operations are linear in each of their arrays and close under
differentiation: the gradient of each is one of the others, so every order exists.
"""

from __future__ import annotations

from typing import Any

from autograd_engine.dims import Dim
from autograd_engine.dtypes import INT64
from autograd_engine.errors import ShapeError
from autograd_engine.kernels import conv as conv_kernels
from autograd_engine.kernels import pool as pool_kernels
from autograd_engine.registry import NONDIFF, defop
from autograd_engine.spec import Spec, format_shape

Pair = tuple[int, int]
Padding = tuple[Pair, Pair]

# --- convolution


def _infer_conv2d(
    x: Spec, w: Spec, *, stride: Pair, padding: Padding, dilation: Pair, groups: int
) -> Spec:
    if x.ndim != 4 or w.ndim != 4:
        raise ShapeError(
            "conv2d: x must be [N, C, H, W] and weight [out, C / groups, kh, kw]; got "
            f"{format_shape(x.shape)} and {format_shape(w.shape)}"
        )
    channels = x.shape[1]
    if not isinstance(channels, Dim) and channels != w.shape[1] * groups:
        raise ShapeError(
            f"conv2d: x has {channels} channels, but weight {format_shape(w.shape)} with "
            f"groups={groups} takes {w.shape[1] * groups}"
        )
    if not isinstance(w.shape[0], Dim) and w.shape[0] % groups:
        raise ShapeError(f"conv2d: {w.shape[0]} filters do not divide into {groups} groups")
    size = [
        conv_kernels.conv2d_output_size(
            x.shape[2 + i], w.shape[2 + i], stride[i], sum(padding[i]), dilation[i]
        )
        for i in (0, 1)
    ]
    for i, d in enumerate(size):
        if not isinstance(d, Dim) and d < 1:
            raise ShapeError(
                f"conv2d: a kernel of {w.shape[2 + i]} (dilation {dilation[i]}) does not fit "
                f"axis {2 + i} of x {format_shape(x.shape)} with padding {padding[i]}"
            )
    return Spec((x.shape[0], w.shape[0], *size), x.dtype)


def _infer_like(y: Spec, _other: Spec, like: Spec, **_: Any) -> Spec:
    return Spec(like.shape, y.dtype)


# With * the convolution: <g, x * w> = <input(g, w), x> = <filter(g, x), w>.
defop("conv2d", conv_kernels.conv2d, inputs="x w", infer=_infer_conv2d, dtypes="common").vjp(
    x=lambda xp, g, w, x_like, **attrs: xp.conv2d_input(g, w, x_like, **attrs),
    w=lambda xp, g, x, w_like, **attrs: xp.conv2d_filter(g, x, w_like, **attrs),
)
defop("conv2d_input", conv_kernels.conv2d_input, inputs="y w like", infer=_infer_like).vjp(
    y=lambda xp, g, w, **attrs: xp.conv2d(g, w, **attrs),
    w=lambda xp, g, y, w_like, **attrs: xp.conv2d_filter(y, g, w_like, **attrs),
    like=NONDIFF,
)
defop("conv2d_filter", conv_kernels.conv2d_filter, inputs="y x like", infer=_infer_like).vjp(
    y=lambda xp, g, x, **attrs: xp.conv2d(x, g, **attrs),
    x=lambda xp, g, y, x_like, **attrs: xp.conv2d_input(y, g, x_like, **attrs),
    like=NONDIFF,
)

# --- pooling


def _pooled(op: str, x: Spec, kernel: Pair, stride: Pair, padding: Padding, ceil: bool) -> Spec:
    if x.ndim != 4:
        raise ShapeError(f"{op}: x must be [N, C, H, W], got {format_shape(x.shape)}")
    size = [
        pool_kernels.pool2d_output_size(x.shape[2 + i], kernel[i], stride[i], padding[i], ceil)
        for i in (0, 1)
    ]
    if any(not isinstance(d, Dim) and d < 1 for d in size):
        raise ShapeError(
            f"{op}: a window of {list(kernel)} does not fit x {format_shape(x.shape)} with "
            f"padding {padding}"
        )
    return Spec((*x.shape[:2], *size), x.dtype)


def _infer_max_pool2d(
    x: Spec, *, kernel: Pair, stride: Pair, padding: Padding, ceil_mode: bool
) -> tuple[Spec, Spec]:
    out = _pooled("max_pool2d", x, kernel, stride, padding, ceil_mode)
    return out, Spec(out.shape, INT64)


def _infer_avg_pool2d(
    x: Spec, *, kernel: Pair, stride: Pair, padding: Padding, ceil_mode: bool, exclusive: bool
) -> Spec:
    return _pooled("avg_pool2d", x, kernel, stride, padding, ceil_mode)


# The maximum of a window sends its cotangent to the first element that attains it.
defop(
    "max_pool2d",
    pool_kernels.max_pool2d,
    inputs="x",
    outputs="out index",
    nondiff_outputs="index",
    infer=_infer_max_pool2d,
).vjp(x=lambda xp, g_out, index, x_like: xp.max_pool2d_scatter(g_out, index, x_like))
defop(
    "max_pool2d_scatter", pool_kernels.max_pool2d_scatter, inputs="y index like", infer=_infer_like
).vjp(
    y=lambda xp, g, index: xp.max_pool2d_gather(g, index),
    index=NONDIFF,
    like=NONDIFF,
)
defop(
    "max_pool2d_gather",
    pool_kernels.max_pool2d_gather,
    inputs="x index",
    infer=lambda x, index: Spec(index.shape, x.dtype),
).vjp(
    x=lambda xp, g, index, x_like: xp.max_pool2d_scatter(g, index, x_like),
    index=NONDIFF,
)
defop("avg_pool2d", pool_kernels.avg_pool2d, inputs="x", infer=_infer_avg_pool2d).vjp(
    x=lambda xp, g, x_like, **attrs: xp.avg_pool2d_input(g, x_like, **attrs)
)
defop(
    "avg_pool2d_input",
    pool_kernels.avg_pool2d_input,
    inputs="y like",
    infer=lambda y, like, **_: Spec(like.shape, y.dtype),
).vjp(y=lambda xp, g, **attrs: xp.avg_pool2d(g, **attrs), like=NONDIFF)
