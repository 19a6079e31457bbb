"""Convolutions of `static.nn`: filters of their own, then the functions of `nn.functional`."""

from __future__ import annotations

from typing import Any, cast

from autograd_engine.core.checks import positive_int
from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.deformable_conv import deform_conv2d as deformed
from autograd_engine.nn.functional.window_arguments import IntOrInts, channels_last, ints, paddings
from autograd_engine.nn.initializer import KaimingNormal, Normal, XavierUniform
from autograd_engine.program.atomic_call import checked
from autograd_engine.program.data import require_variable
from autograd_engine.program.ir.program import Variable
from autograd_engine.static.nn.parameters import activated, channels_of, floating, layer, one_of

__all__ = ["conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "deform_conv2d"]


@checked
def conv2d(
    input: Any,
    num_filters: int,
    filter_size: IntOrInts,
    stride: IntOrInts = 1,
    padding: Any = 0,
    dilation: IntOrInts = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Variable:
    """A convolution with a filter (and bias) of its own; see `nn.functional.conv2d`.

    Parameters
    ----------
    input : Variable
        Floating, ``[N, C, H, W]``, or ``[N, H, W, C]`` as `data_format` says.
    num_filters : int
        Channels of the result.
    filter_size, stride, dilation : int or two ints
    padding : int, list of int or {"SAME", "VALID"}
    groups : int, optional
    param_attr, bias_attr : ParamAttr, str, Initializer, optional
        Of the filter and the bias; ``bias_attr=False`` for none.
    act : str, optional
        See `fc`.
    use_cudnn : bool
        Accepted for the reference's sake.

    Returns
    -------
    Variable

    Raises
    ------
    NotATensorError, DTypeError, ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 1, 8, 8])
    ...     paddle.static.nn.conv2d(x, num_filters=4, filter_size=3, act="relu").shape
    (-1, 4, 6, 6)
    """
    require_variable("conv2d", "input", input)
    channels_last("conv2d", 2, data_format)
    return _convolution(
        "conv2d", input, num_filters, filter_size, groups, (param_attr, bias_attr, act, name),
        stride=stride, padding=padding, dilation=dilation, data_format=data_format,
    )  # fmt: skip


@checked
def conv3d(
    input: Any,
    num_filters: int,
    filter_size: IntOrInts,
    stride: IntOrInts = 1,
    padding: Any = 0,
    dilation: IntOrInts = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Variable:
    """A convolution with a filter (and bias) of its own; see `nn.functional.conv3d`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 1, 8, 8, 8])
    ...     paddle.static.nn.conv3d(x, num_filters=4, filter_size=3).shape
    (-1, 4, 6, 6, 6)
    """
    one_of("conv3d", "data_format", data_format, ("NCDHW", "NDHWC"))
    floating("conv3d", "input", input)
    return _convolution(
        "conv3d", input, num_filters, filter_size, groups, (param_attr, bias_attr, act, name),
        stride=stride, padding=padding, dilation=dilation, data_format=data_format,
    )  # fmt: skip


@checked
def conv2d_transpose(
    input: Any,
    num_filters: int,
    output_size: IntOrInts | None = None,
    filter_size: IntOrInts | None = None,
    padding: Any = 0,
    stride: IntOrInts = 1,
    dilation: IntOrInts = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Variable:
    """A transposed convolution with a filter (and bias) of its own.

    See `nn.functional.conv2d_transpose`. Without `filter_size` it is what gives `output_size`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 3, 5, 5])
    ...     paddle.static.nn.conv2d_transpose(x, 4, filter_size=3, stride=2).shape
    (-1, 4, 11, 11)
    """
    one_of("conv2d_transpose", "data_format", data_format, ("NCHW", "NHWC"))
    floating("conv2d_transpose", "input", input)
    return _convolution(
        "conv2d_transpose", input, num_filters, filter_size, groups,
        (param_attr, bias_attr, act, name), stride=stride, padding=padding, dilation=dilation,
        data_format=data_format, output_size=output_size,
    )  # fmt: skip


@checked
def conv3d_transpose(
    input: Any,
    num_filters: int,
    output_size: IntOrInts | None = None,
    filter_size: IntOrInts | None = None,
    padding: Any = 0,
    stride: IntOrInts = 1,
    dilation: IntOrInts = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Variable:
    """A transposed convolution of volumes with a filter (and bias) of its own.

    See `nn.functional.conv3d_transpose`. Without `filter_size` it is what gives `output_size`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 3, 5, 5, 5])
    ...     paddle.static.nn.conv3d_transpose(x, 4, filter_size=3, stride=2).shape
    (-1, 4, 11, 11, 11)
    """
    one_of("conv3d_transpose", "data_format", data_format, ("NCDHW", "NDHWC"))
    floating("conv3d_transpose", "input", input)
    return _convolution(
        "conv3d_transpose", input, num_filters, filter_size, groups,
        (param_attr, bias_attr, act, name), stride=stride, padding=padding, dilation=dilation,
        data_format=data_format, output_size=output_size,
    )  # fmt: skip


@checked
def deform_conv2d(
    x: Any,
    offset: Any,
    mask: Any,
    num_filters: int,
    filter_size: IntOrInts,
    stride: IntOrInts = 1,
    padding: IntOrInts = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    deformable_groups: int = 1,
    im2col_step: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> Variable:
    """A deformable convolution with a filter (and bias) of its own; see `vision.ops.deform_conv2d`.

    Parameters
    ----------
    x : Variable
        Floating, ``[N, C, H, W]``.
    offset : Variable
    mask : Variable or None
    num_filters, filter_size, stride, padding, dilation, groups, deformable_groups
        As of `conv2d` and of `vision.ops.deform_conv2d`.
    im2col_step : int
        Accepted for the reference's sake.
    weight_attr, bias_attr : ParamAttr, str, Initializer, optional
        Of the filter and the bias; ``bias_attr=False`` for none.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 2, 6, 6])
    ...     offset = paddle.static.data("offset", [None, 18, 4, 4])
    ...     paddle.static.nn.deform_conv2d(x, offset, None, 5, 3).shape
    (-1, 5, 4, 4)
    """
    where = "deform_conv2d"
    require_variable(where, "x", x)
    channels = channels_of(where, x, "NCHW", 4)
    groups = _groups(where, num_filters, groups, channels)
    sizes = ints(where, "filter_size", filter_size, 2)
    with layer("deformable_conv", name, x.spec.dtype) as made:
        start = Normal(0.0, (2.0 / (sizes[0] * sizes[1] * channels)) ** 0.5)
        weight = made.weight((num_filters, channels // groups, *sizes), weight_attr, start)
        bias = made.bias(bias_attr, num_filters)
        out = deformed(
            x, offset, weight, bias, stride, padding, dilation, deformable_groups, groups, mask
        )
        return cast(Variable, out)


def _convolution(
    where: str,
    x: Any,
    num_filters: Any,
    filter_size: Any,
    groups: Any,
    attrs: tuple[Any, ...],
    **window: Any,
) -> Variable:
    """The function of `nn.functional` of that name with a filter and a bias.

    `window` is what it is called with besides; those that are transposed have an `output_size`.
    """
    param_attr, bias_attr, act, name = attrs
    data_format, transposed = window["data_format"], "output_size" in window
    axes = len(data_format) - 2
    channels = channels_of(where, x, data_format, axes + 2)
    groups = _groups(where, num_filters, groups, channels)
    if transposed and filter_size is None:
        sizes = _filter_size(where, x, **window)
    else:
        sizes = ints(where, "filter_size", filter_size, axes)
    with layer(where, name, x.spec.dtype) as made:
        if transposed:
            shape = (channels, num_filters // groups, *sizes)
            weight = made.weight(shape, param_attr, XavierUniform())
        else:
            shape = (num_filters, channels // groups, *sizes)
            weight = made.weight(shape, param_attr, KaimingNormal())
        bias = made.bias(bias_attr, num_filters)
        return activated(where, getattr(F, where)(x, weight, bias, groups=groups, **window), act)


def _groups(where: str, num_filters: Any, groups: Any, channels: int) -> int:
    """The number of groups, which channels and filters divide into."""
    num_filters = positive_int(where, "num_filters", num_filters)
    count = positive_int(where, "groups", 1 if groups is None else groups)
    if channels % count or num_filters % count:
        raise ArgumentError(
            f"{where}: {channels} channels and {num_filters} filters must divide into {count} "
            "groups"
        )
    return count


def _filter_size(
    where: str,
    x: Variable,
    output_size: Any,
    padding: Any,
    stride: Any,
    dilation: Any,
    data_format: str,
) -> tuple[int, ...]:
    """What turns the size of `x` into `output_size`."""
    n = len(data_format) - 2
    first = 2 if data_format[1] == "C" else 1
    sizes = x.spec.shape[first : first + n]
    if output_size is None or any(isinstance(d, Dim) for d in sizes):
        raise ArgumentError(
            f"{where}: without filter_size, output_size and the sizes of input must be known; "
            "pass filter_size"
        )
    wanted = ints(where, "output_size", output_size, n)
    steps, holes = ints(where, "stride", stride, n), ints(where, "dilation", dilation, n)
    pads = [0] * n
    if not isinstance(padding, str):  # "SAME" takes what it needs
        last = data_format[-1] == "C"
        pads = [sum(pair) for pair in paddings(where, padding, sizes, (1,) * n, steps, holes, last)]
    found = tuple(
        (want - (int(have) - 1) * step + pad - 1) // hole + 1
        for want, have, step, pad, hole in zip(wanted, sizes, steps, pads, holes, strict=True)
    )
    if min(found) < 1:
        raise ArgumentError(
            f"{where}: no filter makes {format_shape(wanted)} of {format_shape(sizes)} with "
            f"stride {list(steps)}; ask for a larger output_size, or for a smaller stride"
        )
    return found
