"""Convolution and its transpose, along one, two or three axes; windows of images as columns."""

from __future__ import annotations

from math import prod
from typing import Any

from autograd_engine.core.checks import decided, positive_int
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import common_dtype
from autograd_engine.core.spec import Shape, format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.bias import biased
from autograd_engine.nn.functional.window_arguments import (
    Images,
    IntOrInts,
    images_like,
    ints,
    known,
    paddings,
)
from autograd_engine.ops.kernels.windows import Ints
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "fold",
    "unfold",
]

_KERNEL = {1: "k", 2: "kh, kw", 3: "kd, kh, kw"}


def _weight(op: str, weight: Any, axes: int, channels: str) -> Any:
    weight = as_operand(op, weight, "weight")
    if spec_of(weight).ndim != axes + 2:
        raise ShapeError(
            f"{op}: weight must be [{channels}, {_KERNEL[axes]}], got "
            f"{format_shape(spec_of(weight).shape)}"
        )
    return weight


def _with_bias(op: str, out: Any, bias: Any, filters: Shape) -> Any:
    """`out` [N, filters, ...] with a term for each filter, or one for all."""
    if bias is None:
        return out
    bias = as_operand(op, bias, "bias")
    have = spec_of(bias).shape
    if not may_equal(have, filters) and any(d != 1 for d in have):
        raise ShapeError(
            f"{op}: bias must have one entry for each filter, {format_shape(filters)}, or one for "
            f"all; got {format_shape(have)}"
        )
    return biased.add(out, ops.reshape(bias, shape=(1, -1, *[1] * (spec_of(out).ndim - 2))))


def _conv(
    axes: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
    data_format: str,
) -> Any:
    op = f"conv{axes}d"
    images = Images(op, x, axes, data_format, floating=False)
    weight = _weight(op, weight, axes, "out, C / groups")
    groups = decided(op, "groups", positive_int(op, "groups", groups))
    steps = ints(op, "stride", stride, axes)
    gaps = ints(op, "dilation", dilation, axes)
    kernel = spec_of(weight).shape[2:]
    pads = paddings(op, padding, images.size, kernel, steps, gaps, images.last)
    out = ops.conv(images.x, weight, stride=steps, padding=pads, dilation=gaps, groups=groups)
    return images.back(_with_bias(op, out, bias, spec_of(weight).shape[:1]))


@atomic
def conv1d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: IntOrInts = 1,
    padding: Any = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """Cross-correlation of sequences with the filters in `weight` ``[out, C / groups, k]``.

    See `conv2d`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> conv1d(paddle.ones([1, 1, 4]), paddle.ones([1, 1, 2]), stride=2).tolist()
    [[[2.0, 2.0]]]
    """
    return _conv(1, x, weight, bias, stride, padding, dilation, groups, data_format)


@atomic
def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: IntOrInts = 1,
    padding: Any = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Cross-correlation of `x` with the filters in `weight`.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, H, W]``, or ``[N, H, W, C]`` with ``data_format="NHWC"``.
    weight : Tensor or Variable
        ``[out, C / groups, kh, kw]``
    bias : Tensor or Variable, optional
        ``[out]``, or one element for all.
    stride, dilation : int or two ints
    padding : int, two ints, four ints, pairs, "SAME" or "VALID"
        Four ints are (top, bottom, left, right); pairs are one for each axis of `x`.
    groups : int

    Returns
    -------
    ``[N, out, (H + padding - dilation (kh - 1) - 1) // stride + 1, ...]`` in the layout of `x`.

    Raises
    ------
    ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> conv2d(paddle.ones([1, 1, 3, 3]), paddle.ones([1, 1, 2, 2])).tolist()
    [[[[4.0, 4.0], [4.0, 4.0]]]]
    """
    return _conv(2, x, weight, bias, stride, padding, dilation, groups, data_format)


@atomic
def conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: IntOrInts = 1,
    padding: Any = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """Cross-correlation of volumes with the filters in `weight` ``[out, C / groups, kd, kh, kw]``.

    See `conv2d`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> conv3d(paddle.ones([1, 1, 2, 2, 2]), paddle.ones([1, 1, 2, 2, 2])).tolist()
    [[[[[8.0]]]]]
    """
    return _conv(3, x, weight, bias, stride, padding, dilation, groups, data_format)


def _output_size(
    op: str, least: Shape, stride: Ints, output_padding: Any, output_size: Any
) -> Ints:
    """Sizes of the images that a convolution would take to the given ones.

    A stride s leaves s of them to choose from, the smallest being `least`.
    """
    axes = len(least)
    if output_size is not None:
        if output_padding not in (0, (0,) * axes, [0] * axes):
            raise ArgumentError(f"{op}: give output_padding or output_size, not both")
        size = ints(op, "output_size", output_size, axes)
        for d, n, s in zip(size, least, stride, strict=True):
            if not isinstance(n, Dim) and not n <= d < n + s:
                raise ArgumentError(
                    f"{op}: output_size {list(size)} must be between {format_shape(least)} and "
                    f"that + stride - 1, with stride {list(stride)}"
                )
        return size
    extra = ints(op, "output_padding", output_padding, axes, least=0)
    if any(e >= s and e for e, s in zip(extra, stride, strict=True)):
        raise ArgumentError(
            f"{op}: output_padding {list(extra)} must be below the stride {list(stride)}"
        )
    sizes = known(op, "the size of the result", least, "declare it, or give output_size")
    if min(sizes) < 1:
        raise ShapeError(f"{op}: the result would have the size {list(sizes)}; pad less")
    return tuple(n + e for n, e in zip(sizes, extra, strict=True))


def _conv_transpose(
    axes: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: Any,
    output_size: Any,
    data_format: str,
) -> Any:
    op = f"conv{axes}d_transpose"
    images = Images(op, x, axes, data_format, floating=False)
    weight = _weight(op, weight, axes, "C, out / groups")
    groups = decided(op, "groups", positive_int(op, "groups", groups))
    channels, depth, *kernel = known(op, "weight", spec_of(weight).shape)
    if not may_equal(images.shape[1:2], (channels,)) or channels % groups:
        raise ShapeError(
            f"{op}: x has {images.shape[1]} channels, weight takes {channels}, and groups={groups} "
            "must divide them; weight is [C, out / groups, ...]"
        )
    if any(d == 0 for d in images.size):
        raise ShapeError(f"{op}: x {format_shape(images.shape)} has no pixels")
    steps = ints(op, "stride", stride, axes)
    gaps = ints(op, "dilation", dilation, axes)
    pads = paddings(op, padding, images.size, tuple(kernel), steps, gaps, images.last)
    least = tuple(
        (n + -1) * s + (d * (k - 1) + 1 - sum(p))
        for n, s, d, k, p in zip(images.size, steps, gaps, kernel, pads, strict=True)
    )
    size = _output_size(op, least, steps, output_padding, output_size)
    # The adjoint of the convolution that takes images of this size to those of the size of x.
    x, weight = _meeting(images.x, weight)
    out = ops.conv_input(
        x,
        weight,
        images_like(x, depth * groups, size),
        stride=steps,
        padding=pads,
        dilation=gaps,
        groups=groups,
    )
    return images.back(_with_bias(op, out, bias, (depth * groups,)))


def _meeting(x: Any, weight: Any) -> tuple[Any, Any]:
    """Both in the dtype in which they meet, as operands of a convolution do."""
    a, b = spec_of(x).dtype, spec_of(weight).dtype
    if a == b:
        return x, weight
    common = common_dtype([a, b]).name
    return ops.cast(x, dtype=common), ops.cast(weight, dtype=common)


@atomic
def conv1d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: IntOrInts = 1,
    padding: Any = 0,
    output_padding: IntOrInts = 0,
    groups: int = 1,
    dilation: IntOrInts = 1,
    output_size: IntOrInts | None = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """Transposed convolution of sequences with `weight` ``[C, out / groups, k]``.

    See `conv2d_transpose`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> conv1d_transpose(paddle.ones([1, 1, 2]), paddle.ones([1, 1, 2])).tolist()
    [[[1.0, 2.0, 1.0]]]
    """
    return _conv_transpose(
        1, x, weight, bias, stride, padding, output_padding, dilation, groups, output_size,
        data_format,
    )  # fmt: skip


@atomic
def conv2d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: IntOrInts = 1,
    padding: Any = 0,
    output_padding: IntOrInts = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    output_size: IntOrInts | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Transposed convolution: the adjoint of `conv2d` in its images, applied to `x`.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, H, W]``, or ``[N, H, W, C]`` with ``data_format="NHWC"``.
    weight : Tensor or Variable
        ``[C, out / groups, kh, kw]``
    bias : Tensor or Variable, optional
        ``[out]``, or one element for all.
    stride, padding, dilation, groups
        Of the convolution that this is the adjoint of; see `conv2d`.
    output_padding : int or two ints
        Rows and columns more than the least number, each below the stride.
    output_size : int or two ints, optional
        Height and width of the result, instead of `output_padding`.

    Returns
    -------
    ``[N, out, (H - 1) stride - padding + dilation (kh - 1) + 1 + output_padding, ...]``

    Raises
    ------
    ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> conv2d_transpose(paddle.ones([1, 1, 1, 2]), paddle.ones([1, 1, 1, 2]), stride=2).tolist()
    [[[[1.0, 1.0, 1.0, 1.0]]]]
    """
    return _conv_transpose(
        2, x, weight, bias, stride, padding, output_padding, dilation, groups, output_size,
        data_format,
    )  # fmt: skip


@atomic
def conv3d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: IntOrInts = 1,
    padding: Any = 0,
    output_padding: IntOrInts = 0,
    groups: int = 1,
    dilation: IntOrInts = 1,
    output_size: IntOrInts | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """Transposed convolution of volumes with `weight` ``[C, out / groups, kd, kh, kw]``.

    See `conv2d_transpose`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> conv3d_transpose(paddle.ones([1, 1, 1, 1, 1]), paddle.ones([1, 2, 1, 1, 2])).shape
    paddle.Size([1, 2, 1, 1, 2])
    """
    return _conv_transpose(
        3, x, weight, bias, stride, padding, output_padding, dilation, groups, output_size,
        data_format,
    )  # fmt: skip


# --- windows as columns


@atomic
def unfold(
    x: Any,
    kernel_sizes: IntOrInts,
    strides: IntOrInts = 1,
    paddings: Any = 0,
    dilations: IntOrInts = 1,
    name: str | None = None,
) -> Tensor:
    """Each window of ``[N, C, H, W]`` as a column: ``[N, C kh kw, windows]``.

    Parameters
    ----------
    kernel_sizes, strides, dilations : int or two ints
    paddings : int, two ints, or four ints (top, left, bottom, right)

    Raises
    ------
    ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.reshape(paddle.arange(6.0), [1, 1, 2, 3])
    >>> unfold(x, 2).tolist()
    [[[0.0, 1.0], [1.0, 2.0], [3.0, 4.0], [4.0, 5.0]]]
    """
    images = Images("unfold", x, 2, "NCHW", floating=False)
    return ops.unfold(images.x, **_columns("unfold", kernel_sizes, strides, paddings, dilations))


def _columns(op: str, kernel: Any, strides: Any, pads: Any, dilations: Any) -> dict[str, Any]:
    if isinstance(pads, (list, tuple)) and len(pads) == 4:
        top, left, bottom, right = ints(op, "paddings", pads, 4, least=0)
    else:
        top, left = bottom, right = ints(op, "paddings", pads, 2, least=0)
    return {
        "kernel": ints(op, "kernel_sizes", kernel, 2),
        "stride": ints(op, "strides", strides, 2),
        "padding": ((top, bottom), (left, right)),
        "dilation": ints(op, "dilations", dilations, 2),
    }


@atomic
def fold(
    x: Any,
    output_sizes: IntOrInts,
    kernel_sizes: IntOrInts,
    strides: IntOrInts = 1,
    paddings: Any = 0,
    dilations: IntOrInts = 1,
    name: str | None = None,
) -> Tensor:
    """Images ``[N, C, *output_sizes]`` from the columns of their windows: the adjoint of `unfold`.

    Columns are added up where windows overlap.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C kh kw, windows]``
    output_sizes : int or two ints
    kernel_sizes, strides, paddings, dilations
        As in `unfold`.

    Raises
    ------
    ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> fold(paddle.ones([1, 4, 2]), [2, 3], 2).tolist()
    [[[[1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]]]
    """
    x = as_operand("fold", x)
    shape = spec_of(x).shape
    if len(shape) != 3:
        raise ShapeError(f"fold: x must be [N, C kh kw, windows], got {format_shape(shape)}")
    size = ints("fold", "output_sizes", output_sizes, 2)
    windows = _columns("fold", kernel_sizes, strides, paddings, dilations)
    taps = prod(windows["kernel"])
    (rows,) = known("fold", "the size of axis 1", shape[1:2])
    counts = [
        (n + b + a - d * (k - 1) - 1) // s + 1
        for n, k, s, (b, a), d in zip(size, *windows.values(), strict=True)
    ]
    if rows % taps or min(counts) < 1 or not may_equal(shape[2:], (prod(counts),)):
        raise ShapeError(
            f"fold: x must be [N, a multiple of {taps}, {' * '.join(map(str, counts))}] for "
            f"images of {list(size)}, got {format_shape(shape)}"
        )
    return ops.fold_like(x, images_like(x, rows // taps, size), **windows)
