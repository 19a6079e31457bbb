"""More layers that make their own parameters: those of `static.nn` that fewer programs ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine import unique_name
from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.window_arguments import IntOrInts, ints, paddings
from autograd_engine.nn.initializer import Constant, KaimingNormal, XavierUniform
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import checked
from autograd_engine.program.builder import layer_scope
from autograd_engine.program.data import require_variable
from autograd_engine.program.ir.program import Variable
from autograd_engine.static.nn import _activate, _bias, _filters, _parameter

__all__ = [
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "group_norm",
    "instance_norm",
    "prelu",
]


def _channels(layer: str, x: Any, ndim: int | None, data_format: str, argument: str) -> int:
    """The number of channels of `x`, whose axes `data_format` names."""
    require_variable(layer, argument, x)
    if x.spec.dtype.kind != "f":
        raise DTypeError(f"{layer}: {argument} must be floating, got {x.dtype.name}: cast it first")
    shape = x.spec.shape
    axis = 1 if data_format[1:2] == "C" else len(shape) - 1
    fits = len(shape) >= 2 if ndim is None else len(shape) == ndim
    if not fits or isinstance(shape[axis], Dim):
        raise ShapeError(
            f"{layer}: {argument} must be [{', '.join(data_format)}] with a known C, got "
            f"{format_shape(shape)}"
        )
    return int(shape[axis])


def _one_of(layer: str, name: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise ArgumentError(
            f"{layer}: {name} must be one of {', '.join(map(repr, known))}; got {value!r}"
        )


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
) -> Any:
    """A convolution with a filter (and bias) of its own; see `nn.functional.conv3d`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 1, 8, 8, 8])
    ...     paddle.static.nn.conv3d(x, num_filters=4, filter_size=3).shape
    (-1, 4, 6, 6, 6)
    """
    _one_of("conv3d", "data_format", data_format, ("NCDHW", "NDHWC"))
    channels = _channels("conv3d", input, 5, data_format, "input")
    groups = _filters("conv3d", num_filters, groups, channels)
    shape = (num_filters, channels // groups, *ints("conv3d", "filter_size", filter_size, 3))
    layer, dtype = name or unique_name.generate("conv3d"), input.spec.dtype
    with layer_scope(layer):
        weight = _parameter(layer, "w", shape, dtype, param_attr, KaimingNormal())
        bias = _bias(layer, num_filters, dtype, bias_attr)
        out = F.conv3d(input, weight, bias, stride, padding, dilation, groups, data_format)
        return _activate("conv3d", out, act)


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
) -> Any:
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
    _one_of("conv2d_transpose", "data_format", data_format, ("NCHW", "NHWC"))
    window = (padding, stride, dilation, data_format)
    attrs = (param_attr, bias_attr, act, name)
    return _transposed(
        "conv2d_transpose", input, num_filters, output_size, filter_size, groups, window, attrs
    )


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
) -> Any:
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
    _one_of("conv3d_transpose", "data_format", data_format, ("NCDHW", "NDHWC"))
    window = (padding, stride, dilation, data_format)
    attrs = (param_attr, bias_attr, act, name)
    return _transposed(
        "conv3d_transpose", input, num_filters, output_size, filter_size, groups, window, attrs
    )


def _transposed(
    where: str,
    x: Any,
    num_filters: Any,
    output_size: Any,
    filter_size: Any,
    groups: Any,
    window: tuple[Any, ...],
    attrs: tuple[Any, ...],
) -> Any:
    """The layer of that name; `window` and `attrs` are what its arguments are called there."""
    padding, stride, dilation, data_format = window
    param_attr, bias_attr, act, name = attrs
    ndim = len(data_format)
    channels = _channels(where, x, ndim, data_format, "input")
    groups = _filters(where, num_filters, groups, channels)
    if filter_size is None:
        sizes = _filter_size(where, x, output_size, padding, stride, dilation, data_format)
    else:
        sizes = tuple(ints(where, "filter_size", filter_size, ndim - 2))
    layer, dtype = name or unique_name.generate(where), x.spec.dtype
    with layer_scope(layer):
        shape = (channels, num_filters // groups, *sizes)
        weight = _parameter(layer, "w", shape, dtype, param_attr, XavierUniform())
        bias = _bias(layer, num_filters, dtype, bias_attr)
        out = getattr(F, where)(
            x,
            weight,
            bias,
            stride,
            padding,
            dilation=dilation,
            groups=groups,
            output_size=output_size,
            data_format=data_format,
        )
        return _activate(where, out, act)


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


@checked
def group_norm(
    input: Any,
    groups: int,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    data_layout: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Group normalisation with a scale and a shift for each channel; False for none of these.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 4, 8, 8])
    ...     paddle.static.nn.group_norm(x, groups=2).shape
    (-1, 4, 8, 8)
    """
    _one_of("group_norm", "data_layout", data_layout, ("NCHW", "NHWC"))
    channels = _channels("group_norm", input, None, data_layout, "input")
    layer = name or unique_name.generate("group_norm")
    with layer_scope(layer):
        weight, bias = _scale_and_shift(layer, channels, input.spec.dtype, param_attr, bias_attr)
        out = F.group_norm(input, groups, epsilon, weight, bias, data_layout)
        return _activate("group_norm", out, act)


@checked
def instance_norm(
    input: Any,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> Any:
    """Instance normalisation with a scale and a shift for each channel; False for none of these.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 4, 8, 8])
    ...     paddle.static.nn.instance_norm(x).shape
    (-1, 4, 8, 8)
    """
    channels = _channels("instance_norm", input, None, "NCHW", "input")
    if (param_attr is False) != (bias_attr is False):
        raise ArgumentError(
            "instance_norm: scale and shift come together; set both param_attr and bias_attr to "
            "False, or neither"
        )
    layer = name or unique_name.generate("instance_norm")
    with layer_scope(layer):
        weight, bias = _scale_and_shift(layer, channels, input.spec.dtype, param_attr, bias_attr)
        return F.instance_norm(input, weight=weight, bias=bias, eps=epsilon)


def _scale_and_shift(
    layer: str, channels: int, dtype: Any, param_attr: Any, bias_attr: Any
) -> tuple[Variable | None, Variable | None]:
    weight = None
    if param_attr is not False:
        weight = _parameter(layer, "w", (channels,), dtype, param_attr, Constant(1.0))
    return weight, _bias(layer, channels, dtype, bias_attr)


@checked
def prelu(
    x: Any, mode: str, param_attr: Any = None, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """``x`` where that is positive, a trained weight times `x` elsewhere.

    Parameters
    ----------
    x : Variable
        Floating.
    mode : {"all", "channel", "element"}
        One weight; one for each channel; one for each element but along the first axis.
    param_attr : ParamAttr, str, Initializer, optional
        The weight begins as 0.25.
    data_format : str
        Where the channels are.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 4, 8, 8])
    ...     paddle.static.nn.prelu(x, "channel").shape
    (-1, 4, 8, 8)
    """
    _one_of("prelu", "mode", mode, ("all", "channel", "element"))
    formats = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")
    _one_of("prelu", "data_format", data_format, formats)
    require_variable("prelu", "x", x)
    shape: tuple[int, ...] = (1,)
    if mode == "channel":
        channels = _channels("prelu", x, None, data_format, "x")
        shape = (1, channels, 1, 1) if data_format[1] == "C" else (1, 1, 1, channels)
    elif mode == "element":
        sizes = x.spec.shape[1:]
        if any(isinstance(d, Dim) for d in sizes):
            raise ShapeError(
                f"prelu: with mode='element' the sizes of x {format_shape(x.spec.shape)} must be "
                "known, but for the first; declare them in static.data"
            )
        shape = (1, *(int(d) for d in sizes))
    layer = name or unique_name.generate("prelu")
    with layer_scope(layer):
        weight = _parameter(layer, "w", shape, x.spec.dtype, param_attr, Constant(0.25))
        if mode == "element":
            above = ops.greater_than(x, 0.0)
            return ops.where(above, x, ops.where(above, 0.0, x) * weight)
        flat = ops.reshape(weight, shape=(-1,)) if mode == "channel" else weight
        return F.prelu(x, flat, data_format)
