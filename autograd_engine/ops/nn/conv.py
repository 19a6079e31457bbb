"""Convolution of images (N, C, *size) with any number of axes, and windows as columns.

The three convolution operations are linear in each of their arrays and close under
differentiation: the gradient of each is one of the others, so every order exists.
"""

from __future__ import annotations

from autograd_engine.core.dims import Dim, Size, product
from autograd_engine.core.spec import Shape, Spec, format_shape
from autograd_engine.errors import ShapeError
from autograd_engine.ops.infer import like as infer_like
from autograd_engine.ops.kernels import conv as conv_kernels
from autograd_engine.ops.kernels.windows import Ints, Padding, fold_like, unfold, window_count
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.work import each_read, multiply_adds


def _windows(
    op: str, x: Spec, kernel: Shape, stride: Ints, padding: Padding, dilation: Ints
) -> Shape:
    """How many windows fit along each axis; a ShapeError where there is none."""
    size = tuple(
        window_count(*along)
        for along in zip(x.shape[2:], kernel, stride, padding, dilation, strict=True)
    )
    for i, d in enumerate(size):
        if not isinstance(d, Dim) and d < 1:
            raise ShapeError(
                f"{op}: a kernel of {kernel[i]} (dilation {dilation[i]}) does not fit "
                f"axis {2 + i} of x {format_shape(x.shape)} with padding {padding[i]}"
            )
    return size


def _infer_conv(
    x: Spec, w: Spec, *, stride: Ints, padding: Padding, dilation: Ints, groups: int
) -> Spec:
    op = f"conv{len(stride)}d"
    if x.ndim != len(stride) + 2 or w.ndim != x.ndim:
        raise ShapeError(
            f"{op}: x must be [N, C, ...] and weight [out, C / groups, ...] with {len(stride)} "
            f"axes of pixels; got {format_shape(x.shape)} and {format_shape(w.shape)}"
        )
    channels = x.shape[1]
    if not isinstance(channels, Dim) and channels != w.shape[1] * groups:
        raise ShapeError(
            f"{op}: x has {channels} channels, but weight {format_shape(w.shape)} with "
            f"groups={groups} takes {w.shape[1] * groups}"
        )
    if not isinstance(w.shape[0], Dim) and w.shape[0] % groups:
        raise ShapeError(f"{op}: {w.shape[0]} filters do not divide into {groups} groups")
    size = _windows(op, x, w.shape[2:], stride, padding, dilation)
    return Spec((x.shape[0], w.shape[0], *size), x.dtype)


def _taps(w: Spec) -> Size:
    return product(w.shape[1:])


# With * the convolution: <g, x * w> = <input(g, w), x> = <filter(g, x), w>.
defop(
    "conv",
    conv_kernels.conv,
    inputs="x w",
    infer=_infer_conv,
    dtypes="common",
    tangent="multilinear",
    work=multiply_adds(lambda o, r, _: r[0].size * _taps(o[1])),
    amp="low",
    types="conv2d conv3d depthwise_conv2d",
).vjp(
    x=lambda xp, g, w, x_like, **attrs: xp.conv_input(g, w, x_like, **attrs),
    w=lambda xp, g, x, w_like, **attrs: xp.conv_filter(g, x, w_like, **attrs),
)
defop(
    "conv_input",
    conv_kernels.conv_input,
    inputs="y w like",
    infer=infer_like,
    tangent="multilinear",
    work=multiply_adds(lambda o, r, _: o[0].size * _taps(o[1])),
    amp="low",
    types="conv2d_transpose conv3d_transpose",
).vjp(
    y=lambda xp, g, w, **attrs: xp.conv(g, w, **attrs),
    w=lambda xp, g, y, w_like, **attrs: xp.conv_filter(y, g, w_like, **attrs),
    like=NONDIFF,
)
defop(
    "conv_filter",
    conv_kernels.conv_filter,
    takes="ifc",
    inputs="y x like",
    infer=infer_like,
    tangent="multilinear",
    work=multiply_adds(lambda o, r, _: o[0].size * _taps(o[2])),
    amp="low",
).vjp(
    y=lambda xp, g, x, **attrs: xp.conv(x, g, **attrs),
    x=lambda xp, g, y, x_like, **attrs: xp.conv_input(y, g, x_like, **attrs),
    like=NONDIFF,
)

# --- windows as columns


def _infer_unfold(x: Spec, *, kernel: Ints, stride: Ints, padding: Padding, dilation: Ints) -> Spec:
    size = _windows("unfold", x, kernel, stride, padding, dilation)
    return Spec((x.shape[0], x.shape[1] * product(kernel), product(size)), x.dtype)


defop(
    "unfold",
    unfold,
    inputs="x",
    infer=_infer_unfold,
    tangent="linear",
    elements="padded",
    stacks="images",
).vjp(x=lambda xp, g, x_like, **attrs: xp.fold_like(g, x_like, **attrs))
defop(
    "fold_like",
    fold_like,
    inputs="y like",
    infer=infer_like,
    tangent="linear",
    stacks="images",
    work=each_read(),
).vjp(y=lambda xp, g, **attrs: xp.unfold(g, **attrs), like=NONDIFF)
