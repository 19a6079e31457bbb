"""Layers that make their own parameters in the default program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.dims import Dim, product
from autograd_engine.core.dtypes import DTypeLike, to_numpy
from autograd_engine.core.lazy import lazily
from autograd_engine.core.spec import format_shape
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.window_arguments import IntOrInts, ints
from autograd_engine.nn.initializer import Constant, Initializer, KaimingNormal, XavierUniform
from autograd_engine.nn.initializer.base import initializer_for
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.nn.parameters import static_parameter
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import checked
from autograd_engine.program.builder import layer_scope
from autograd_engine.program.control_flow.static_pylayer import static_pylayer
from autograd_engine.program.data import require_variable
from autograd_engine.program.ir.program import Variable
from autograd_engine.static.nn.control_flow import case, cond, switch_case, while_loop
from autograd_engine.tensor.linalg.products import matmul

__all__ = [
    "Assert",
    "batch_norm",
    "bilinear_tensor_product",
    "case",
    "cond",
    "control_flow",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "embedding",
    "fc",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "prelu",
    "py_func",
    "row_conv",
    "spectral_norm",
    "static_pylayer",
    "switch_case",
    "while_loop",
]

if TYPE_CHECKING:
    from autograd_engine.static.nn import control_flow as control_flow
    from autograd_engine.static.nn.layers import (
        conv2d_transpose as conv2d_transpose,
        conv3d as conv3d,
        conv3d_transpose as conv3d_transpose,
        group_norm as group_norm,
        instance_norm as instance_norm,
        prelu as prelu,
    )
    from autograd_engine.static.nn.products import (
        bilinear_tensor_product as bilinear_tensor_product,
        row_conv as row_conv,
        spectral_norm as spectral_norm,
    )
    from autograd_engine.static.print_assert import Assert as Assert
    from autograd_engine.static.python_op import py_func as py_func
else:
    __getattr__ = lazily(
        __name__,
        {
            "static.nn.layers": "conv2d_transpose conv3d conv3d_transpose group_norm "
            "instance_norm prelu",
            "static.nn.products": "bilinear_tensor_product row_conv spectral_norm",
            "static.print_assert": "Assert",
            "static.python_op": "py_func",
        },
        "control_flow",
    )


def __dir__() -> list[str]:
    return __all__


_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "relu": F.relu,
    "sigmoid": F.sigmoid,
    "tanh": F.tanh,
    "softmax": F.softmax,
    "gelu": F.gelu,
}


def _activate(layer: str, x: Any, activation: str | None) -> Any:
    if activation is None:
        return x
    if activation not in _ACTIVATIONS:
        raise ArgumentError(
            f"{layer}: activation must be one of {', '.join(_ACTIVATIONS)} or None, got "
            f"{activation!r}"
        )
    return _ACTIVATIONS[activation](x)


def _parameter(
    layer: str,
    suffix: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    attr: Any,
    default: Initializer,
) -> Variable:
    chosen = ParamAttr.of(attr)
    name = chosen.name or unique_name.generate(f"{layer}.{suffix}")
    initializer = initializer_for(chosen.initializer, default, suffix == "b")
    return static_parameter(name, shape, dtype, initializer, chosen)


@checked
def fc(
    x: Any,
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    activation: str | None = None,
    name: str | None = None,
) -> Any:
    """A fully connected layer: the axes from `num_flatten_dims` on, as one, times a weight.

    Parameters
    ----------
    x : Variable or list of Variable
        Floating. Several are each given a weight, and summed.
    size : int
        Width of the output.
    num_flatten_dims : int
        How many leading axes stay.
    weight_attr, bias_attr : ParamAttr, str, Initializer, optional
        ``bias_attr=False`` for no bias.
    activation : {"relu", "sigmoid", "tanh", "softmax", "gelu"}, optional

    Returns
    -------
    Variable
        ``x.shape[:num_flatten_dims] + [size]``

    Raises
    ------
    NotATensorError, DTypeError, ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 4, 2])
    ...     paddle.static.nn.fc(x, size=3).shape
    (-1, 3)
    """
    inputs = list(x) if isinstance(x, (list, tuple)) else [x]
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise ArgumentError(f"fc: size must be a positive int, got {size!r}")
    if not inputs:
        raise ArgumentError("fc: x is empty; give one Variable at least")
    for v in inputs:
        require_variable("fc", "x", v)
        if v.spec.dtype.kind != "f":
            raise DTypeError(f"fc: x must be floating, got {v.dtype.name}: cast it first")
    layer = name or unique_name.generate("fc")
    with layer_scope(layer):
        terms = [_product(layer, v, size, num_flatten_dims, weight_attr) for v in inputs]
        out = terms[0] if len(terms) == 1 else ops.add_n(*terms)
        if bias_attr is not False:
            dtype = inputs[0].spec.dtype
            out = out + _parameter(layer, "b", (size,), dtype, bias_attr, Constant(0.0))
        return _activate("fc", out, activation)


def _product(layer: str, x: Variable, size: int, keep: int, weight_attr: Any) -> Any:
    shape = x.spec.shape
    if isinstance(keep, bool) or not isinstance(keep, (int, np.integer)):
        raise TypeError(f"fc: num_flatten_dims must be an int, got {type(keep).__name__}")
    if not 1 <= keep < len(shape):
        raise ShapeError(
            f"fc: num_flatten_dims={keep} must be 1 to {len(shape) - 1} for x {format_shape(shape)}"
        )
    width = product(shape[keep:])
    if isinstance(width, Dim):
        raise ShapeError(
            f"fc: the sizes of x {format_shape(shape)} from axis {keep} on must be known, for they "
            "are the weight's; declare them in static.data"
        )
    weight = _parameter(layer, "w", (width, size), x.spec.dtype, weight_attr, XavierUniform())
    rows = x if keep == len(shape) - 1 else ops.reshape(x, shape=(*[0] * keep, width))
    return matmul(rows, weight)


@checked
def embedding(
    input: Any,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: DTypeLike = "float32",
    name: str | None = None,
) -> Any:
    """A table of `size` = [rows, width], and the rows of it that `input` names.

    Parameters
    ----------
    input : Variable
        Integers from 0 to rows - 1.
    size : list or tuple of int
        Rows and width of the table.
    is_sparse : bool
        Gradients hold only the rows that were named.
    is_distributed : bool
        Not supported.
    padding_idx : int, optional
        A row without a gradient.
    param_attr : ParamAttr, str, Initializer, optional
    dtype : dtype

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
    ...     x = paddle.static.data("x", [None, 13], "int64")
    ...     paddle.static.nn.embedding(x, size=[100, 256]).shape
    (-1, 13, 256)
    """
    require_variable("embedding", "input", input)
    rows, width = ints("embedding", "size", size, 2)
    if is_distributed:
        raise ArgumentError("embedding: is_distributed=True is not supported; leave it out")
    layer = unique_name.generate("embedding") if name is None else name
    with layer_scope(layer):
        if input.spec.dtype.kind not in "iu":
            raise DTypeError(
                f"embedding: input must hold integers, got {input.dtype.name}: declare it with "
                "dtype='int64'"
            )
        weight = _parameter(layer, "w", (rows, width), to_numpy(dtype), param_attr, XavierUniform())
        return F.embedding(input, weight, padding_idx=padding_idx, sparse=is_sparse)


def _filters(layer: str, num_filters: Any, groups: Any, channels: int) -> int:
    """The number of groups, which channels and filters divide into."""
    groups = 1 if groups is None else groups
    for name, value in (("num_filters", num_filters), ("groups", groups)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ArgumentError(f"{layer}: {name} must be a positive int, got {value!r}")
    if channels % groups or num_filters % groups:
        raise ArgumentError(
            f"{layer}: {channels} channels and {num_filters} filters must divide into {groups} "
            "groups"
        )
    count: int = groups
    return count


def _bias(layer: str, size: int, dtype: Any, attr: Any) -> Variable | None:
    return None if attr is False else _parameter(layer, "b", (size,), dtype, attr, Constant(0.0))


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
) -> Any:
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
    if data_format not in ("NCHW", "NHWC"):
        raise ArgumentError(f"conv2d: data_format must be 'NCHW' or 'NHWC', got {data_format!r}")
    shape = input.spec.shape
    channels = shape[data_format.index("C")] if len(shape) == 4 else None
    if channels is None or isinstance(channels, Dim):
        raise ShapeError(
            f"conv2d: input must be [{', '.join(data_format)}] with a known C, got "
            f"{format_shape(shape)}"
        )
    groups = _filters("conv2d", num_filters, groups, channels)
    kh, kw = ints("conv2d", "filter_size", filter_size, 2)
    layer = unique_name.generate("conv2d") if name is None else name
    filter_shape = (num_filters, channels // groups, kh, kw)
    with layer_scope(layer):
        weight = _parameter(layer, "w", filter_shape, input.spec.dtype, param_attr, KaimingNormal())
        bias = _bias(layer, num_filters, input.spec.dtype, bias_attr)
        out = F.conv2d(input, weight, bias, stride, padding, dilation, groups, data_format)
        return _activate("conv2d", out, act)


@checked
def batch_norm(
    input: Any,
    act: str | None = None,
    is_test: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    data_layout: str = "NCHW",
    in_place: bool = False,
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    use_global_stats: bool = False,
) -> Any:
    """Batch normalisation with parameters and running statistics of its own.

    Parameters
    ----------
    input : Variable
        Floating, ``[N, C, ...]``, or ``[N, ..., C]`` as `data_layout` says.
    act : str, optional
        See `fc`.
    is_test, use_global_stats : bool
        Use the running statistics, and leave them as they are.
    momentum, epsilon : float
    param_attr, bias_attr : ParamAttr, str, Initializer, optional
        Of the scale and the shift. ``bias_attr=False`` for no shift, ``param_attr=False`` for no
        scale.
    data_layout : str
    in_place, do_model_average_for_mean_and_var : bool
        Accepted for the reference's sake.
    moving_mean_name, moving_variance_name : str, optional
        Names of the running statistics.

    Raises
    ------
    NotATensorError, DTypeError, ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 3, 8, 8])
    ...     paddle.static.nn.batch_norm(x).shape
    (-1, 3, 8, 8)
    """
    require_variable("batch_norm", "input", input)
    if input.spec.dtype.kind != "f":
        raise DTypeError(f"batch_norm: input must be floating, got {input.dtype.name}: cast it")
    shape = input.spec.shape
    axis = len(shape) - 1 if data_layout in ("NLC", "NHWC", "NDHWC") else 1
    if len(shape) < 2 or isinstance(shape[axis], Dim):
        raise ShapeError(f"batch_norm: input must be [N, C, ...], got {format_shape(shape)}")
    layer = unique_name.generate("batch_norm") if name is None else name
    channels, dtype = (int(shape[axis]),), input.spec.dtype
    weight = bias = None
    with layer_scope(layer):
        if param_attr is not False:
            weight = _parameter(layer, "w", channels, dtype, param_attr, Constant(1.0))
        if bias_attr is not False:
            bias = _parameter(layer, "b", channels, dtype, bias_attr, Constant(0.0))
        mean, variance = (
            _parameter(
                layer,
                "w",
                channels,
                dtype,
                ParamAttr(given, Constant(start), trainable=False),
                Constant(start),
            )
            for given, start in ((moving_mean_name, 0.0), (moving_variance_name, 1.0))
        )
        out = F.batch_norm(
            input,
            mean,
            variance,
            weight,
            bias,
            training=not is_test,
            momentum=momentum,
            epsilon=epsilon,
            data_format=data_layout,
            use_global_stats=True if use_global_stats else None,
        )
        return _activate("batch_norm", out, act)


@checked
def layer_norm(
    input: Any,
    scale: bool = True,
    shift: bool = True,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
) -> Any:
    """Layer normalisation over the axes from `begin_norm_axis` on.

    Parameters
    ----------
    input : Variable
        Floating.
    scale, shift : bool
        Whether there is a scale, and a shift, for each element.
    begin_norm_axis : int
    epsilon : float
    param_attr, bias_attr : ParamAttr, str, Initializer, optional
        Of the scale and the shift.
    act : str, optional
        See `fc`.

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
    ...     x = paddle.static.data("x", [None, 6])
    ...     paddle.static.nn.layer_norm(x).shape
    (-1, 6)
    """
    require_variable("layer_norm", "input", input)
    if isinstance(begin_norm_axis, bool) or not isinstance(begin_norm_axis, (int, np.integer)):
        raise TypeError(
            f"layer_norm: begin_norm_axis must be an int, got {type(begin_norm_axis).__name__}"
        )
    sizes = input.spec.shape[begin_norm_axis:]
    if not sizes or any(isinstance(d, Dim) for d in sizes):
        raise ShapeError(
            f"layer_norm: input {format_shape(input.spec.shape)} needs known sizes from axis "
            f"{begin_norm_axis} on"
        )
    layer = unique_name.generate("layer_norm") if name is None else name
    width, dtype = (int(np.prod(sizes)),), input.spec.dtype
    with layer_scope(layer):
        weight = _parameter(layer, "w", width, dtype, param_attr, Constant(1.0)) if scale else None
        bias = _parameter(layer, "b", width, dtype, bias_attr, Constant(0.0)) if shift else None
        out = F.layer_norm(input, [int(d) for d in sizes], weight, bias, epsilon)
        return _activate("layer_norm", out, act)
