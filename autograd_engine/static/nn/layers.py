"""Layers of programs: parameters of their own, then the functions of `nn.functional`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from autograd_engine.core.checks import int_at_least, is_int, positive_int
from autograd_engine.core.dims import Dim, product
from autograd_engine.core.dtypes import FLOATS, INTEGERS, DTypeLike, to_numpy
from autograd_engine.core.spec import format_shape
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.arguments import LAYOUTS
from autograd_engine.nn.functional.bias import biased
from autograd_engine.nn.functional.spectral import (
    MOST_STEPS,
    matrix_sizes,
    over_largest_singular_value,
)
from autograd_engine.nn.functional.window_arguments import ints
from autograd_engine.nn.initializer import Constant, Normal, XavierUniform
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import checked
from autograd_engine.program.data import require_variable
from autograd_engine.program.ir.program import Variable
from autograd_engine.static.nn.parameters import (
    LayerParameters,
    activated,
    channels_of,
    floating,
    layer,
    one_of,
)
from autograd_engine.tensor.linalg.products import matmul

__all__ = [
    "batch_norm",
    "bilinear_tensor_product",
    "embedding",
    "fc",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "prelu",
    "row_conv",
    "spectral_norm",
]

# --- products


@checked
def fc(
    x: Any,
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    activation: str | None = None,
    name: str | None = None,
) -> Variable:
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
    size = positive_int("fc", "size", size)
    if not inputs:
        raise ArgumentError("fc: x is empty; give one Variable at least")
    for v in inputs:
        floating("fc", "x", v)
    with layer("fc", name, inputs[0].spec.dtype) as made:
        terms = [_product(made, v, size, num_flatten_dims, weight_attr) for v in inputs]
        out = terms[0] if len(terms) == 1 else ops.add_n(*terms)
        bias = made.bias(bias_attr, size)
        return activated("fc", out if bias is None else biased.add(out, bias), activation)


def _product(made: LayerParameters, x: Variable, size: int, keep: int, weight_attr: Any) -> Any:
    shape = x.spec.shape
    if not is_int(keep):
        raise ArgumentTypeError(f"fc: num_flatten_dims must be an int, got {type(keep).__name__}")
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
    weight = made.weight((width, size), weight_attr, XavierUniform(), x.spec.dtype)
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
) -> Variable:
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
    with layer("embedding", name, to_numpy(dtype)) as made:
        if input.spec.dtype not in INTEGERS:
            raise DTypeError(
                f"embedding: input must hold integers, got {input.dtype.name}: declare it with "
                "dtype='int64'"
            )
        weight = made.weight((rows, width), param_attr, XavierUniform())
        return cast(Variable, F.embedding(input, weight, padding_idx=padding_idx, sparse=is_sparse))


@checked
def bilinear_tensor_product(
    x: Any,
    y: Any,
    size: int,
    act: str | None = None,
    name: str | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
) -> Variable:
    """For each k: x W_k y + b_k, with weights and a bias of its own; see `F.bilinear`.

    Parameters
    ----------
    x, y : Variable
        Floating, ``[N, M]`` and ``[N, K]``.
    size : int
        Width of the output.
    act : str, optional
        See `fc`.
    param_attr, bias_attr : ParamAttr, str, Initializer, optional
        ``bias_attr=False`` for no bias.

    Returns
    -------
    Variable
        ``[N, size]``

    Raises
    ------
    NotATensorError, DTypeError, ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x, y = paddle.static.data("x", [None, 5]), paddle.static.data("y", [None, 4])
    ...     paddle.static.nn.bilinear_tensor_product(x, y, size=7).shape
    (-1, 7)
    """
    where = "bilinear_tensor_product"
    for argument, v in (("x", x), ("y", y)):
        floating(where, argument, v)
        if len(v.spec.shape) != 2 or isinstance(v.spec.shape[1], Dim):
            raise ShapeError(
                f"{where}: {argument} must be [N, width] with a known width, got "
                f"{format_shape(v.spec.shape)}"
            )
    size = int_at_least(where, "size", size)
    shape = (size, int(x.spec.shape[1]), int(y.spec.shape[1]))
    with layer(where, name, x.spec.dtype) as made:
        weight = made.weight(shape, param_attr, XavierUniform())
        bias = made.bias(bias_attr, 1, size)
        return activated(where, F.bilinear(x, y, weight, bias), act)


@checked
def row_conv(
    input: Any, future_context_size: int, param_attr: Any = None, act: str | None = None
) -> Variable:
    """Each step as a weighted sum of itself and the steps that follow (Deep Speech 2, section 3.7).

    Parameters
    ----------
    input : Variable
        Floating, ``[N, T, D]``; T must be known.
    future_context_size : int
        How many following steps count; there are none past the end.
    param_attr : ParamAttr, str, Initializer, optional
        Of the weight, ``[future_context_size + 1, D]``.
    act : str, optional
        See `fc`.

    Returns
    -------
    Variable
        Of the shape of `input`.

    Raises
    ------
    NotATensorError, DTypeError, ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 9, 4])
    ...     paddle.static.nn.row_conv(x, future_context_size=2).shape
    (-1, 9, 4)
    """
    floating("row_conv", "input", input)
    shape = input.spec.shape
    if len(shape) != 3 or any(isinstance(d, Dim) for d in shape[1:]):
        raise ShapeError(
            f"row_conv: input must be [N, T, D] with known T and D, got {format_shape(shape)}"
        )
    ahead = int_at_least("row_conv", "future_context_size", future_context_size, 0)
    steps, wide = int(shape[1]), (ahead + 1, int(shape[2]))
    with layer("row_conv", None, input.spec.dtype) as made:
        weight = made.weight(wide, param_attr, XavierUniform())
        terms = [input * weight[0]]
        for k in range(1, min(ahead + 1, steps)):
            terms.append(F.pad(input[:, k:] * weight[k], [0, 0, 0, k, 0, 0]))
        return activated("row_conv", terms[0] if len(terms) == 1 else ops.add_n(*terms), act)


# --- normalisation


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
) -> Variable:
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
    if input.spec.dtype not in FLOATS:
        raise DTypeError(f"batch_norm: input must be floating, got {input.dtype.name}: cast it")
    shape = input.spec.shape
    axis = len(shape) - 1 if data_layout in ("NLC", "NHWC", "NDHWC") else 1
    if len(shape) < 2 or isinstance(shape[axis], Dim):
        raise ShapeError(f"batch_norm: input must be [N, C, ...], got {format_shape(shape)}")
    channels = int(shape[axis])
    with layer("batch_norm", name, input.spec.dtype) as made:
        weight, bias = made.scale(param_attr, channels), made.bias(bias_attr, channels)
        mean = made.untrained(channels, Constant(0.0), moving_mean_name)
        variance = made.untrained(channels, Constant(1.0), moving_variance_name)
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
        return activated("batch_norm", out, act)


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
) -> Variable:
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
    if not is_int(begin_norm_axis):
        raise ArgumentTypeError(
            f"layer_norm: begin_norm_axis must be an int, got {type(begin_norm_axis).__name__}"
        )
    if not -input.ndim <= begin_norm_axis < input.ndim:
        raise ShapeError(
            f"layer_norm: begin_norm_axis {begin_norm_axis} is out of range for input "
            f"{format_shape(input.spec.shape)}"
        )
    sizes = input.spec.shape[begin_norm_axis:]
    if not sizes or any(isinstance(d, Dim) for d in sizes):
        raise ShapeError(
            f"layer_norm: input {format_shape(input.spec.shape)} needs known sizes from axis "
            f"{begin_norm_axis} on"
        )
    width = int(np.prod(sizes))
    with layer("layer_norm", name, input.spec.dtype) as made:
        weight = made.weight([width], param_attr, Constant(1.0)) if scale else None
        bias = made.bias(ParamAttr.of(bias_attr), width) if shift else None
        out = F.layer_norm(input, [int(d) for d in sizes], weight, bias, epsilon)
        return activated("layer_norm", out, act)


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
) -> Variable:
    """Group normalisation with a scale and a shift for each channel; False for none of these.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 4, 8, 8])
    ...     paddle.static.nn.group_norm(x, groups=2).shape
    (-1, 4, 8, 8)
    """
    one_of("group_norm", "data_layout", data_layout, ("NCHW", "NHWC"))
    floating("group_norm", "input", input)
    channels = channels_of("group_norm", input, data_layout)
    with layer("group_norm", name, input.spec.dtype) as made:
        weight, bias = made.scale(param_attr, channels), made.bias(bias_attr, channels)
        out = F.group_norm(input, groups, epsilon, weight, bias, data_layout)
        return activated("group_norm", out, act)


@checked
def instance_norm(
    input: Any,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> Variable:
    """Instance normalisation with a scale and a shift for each channel; False for none of these.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 4, 8, 8])
    ...     paddle.static.nn.instance_norm(x).shape
    (-1, 4, 8, 8)
    """
    floating("instance_norm", "input", input)
    channels = channels_of("instance_norm", input, "NCHW")
    if (param_attr is False) != (bias_attr is False):
        raise ArgumentError(
            "instance_norm: scale and shift come together; set both param_attr and bias_attr to "
            "False, or neither"
        )
    with layer("instance_norm", name, input.spec.dtype) as made:
        weight, bias = made.scale(param_attr, channels), made.bias(bias_attr, channels)
        return cast(Variable, F.instance_norm(input, weight=weight, bias=bias, eps=epsilon))


@checked
def spectral_norm(
    weight: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None
) -> Variable:
    """`weight` over its largest singular value, as power iteration finds it (Miyato et al. 2018).

    Each run begins the iteration with the same two random vectors. They are no variables of the
    gradient: it is that of ``weight / (u W v)`` with u and v as they are in the end.

    Parameters
    ----------
    weight : Variable
        Floating, of known sizes.
    dim : {0, 1}
        The axis of the rows of the matrix that `weight` is taken for: 0 of the weight of `fc`, 1 of
        a convolution.
    power_iters : int
    eps : float
        Added to norms, so that they are not 0.

    Returns
    -------
    Variable
        Of the shape of `weight`.

    Raises
    ------
    NotATensorError, DTypeError, ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     w = paddle.static.create_parameter([2, 8, 3, 3], "float32")
    ...     paddle.static.nn.spectral_norm(w, dim=1, power_iters=2).shape
    (2, 8, 3, 3)
    """
    floating("spectral_norm", "weight", weight)
    shape = weight.spec.shape
    if not shape or any(isinstance(d, Dim) or d == 0 for d in shape):
        raise ShapeError(
            f"spectral_norm: the sizes of weight must be known and not 0; got {format_shape(shape)}"
        )
    if isinstance(dim, bool) or not isinstance(dim, int) or dim not in (0, 1) or dim >= len(shape):
        raise ArgumentError(
            f"spectral_norm: dim must be 0 or 1, and an axis of weight {format_shape(shape)}; got "
            f"{dim!r}"
        )
    power_iters = int_at_least("spectral_norm", "power_iters", power_iters, 0, MOST_STEPS)
    if isinstance(eps, bool) or not isinstance(eps, (int, float)):
        raise ArgumentError(f"spectral_norm: eps must be a float, got {type(eps).__name__}")
    with layer("spectral_norm", name, weight.spec.dtype) as made:
        u, v = (made.untrained(size, Normal(0.0, 1.0)) for size in matrix_sizes(shape, dim))
        return cast(Variable, over_largest_singular_value(weight, u, v, dim, power_iters, eps))


# --- activation


@checked
def prelu(
    x: Any, mode: str, param_attr: Any = None, data_format: str = "NCHW", name: str | None = None
) -> Variable:
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
    one_of("prelu", "mode", mode, ("all", "channel", "element"))
    one_of("prelu", "data_format", data_format, LAYOUTS)
    require_variable("prelu", "x", x)
    shape: tuple[int, ...] = (1,)
    if mode == "channel":
        floating("prelu", "x", x)
        channels = channels_of("prelu", x, data_format, argument="x")
        shape = (1, channels, 1, 1) if data_format[1] == "C" else (1, 1, 1, channels)
    elif mode == "element":
        sizes = x.spec.shape[1:]
        if any(isinstance(d, Dim) for d in sizes):
            raise ShapeError(
                f"prelu: with mode='element' the sizes of x {format_shape(x.spec.shape)} must be "
                "known, but for the first; declare them in static.data"
            )
        shape = (1, *(int(d) for d in sizes))
    with layer("prelu", name, x.spec.dtype) as made:
        weight = made.weight(shape, param_attr, Constant(0.25))
        if mode == "element":
            above = ops.greater_than(x, 0.0)
            return cast(Variable, ops.where(above, x, ops.where(above, 0.0, x) * weight))
        flat = ops.reshape(weight, shape=(-1,)) if mode == "channel" else weight
        return cast(Variable, F.prelu(x, flat, data_format))
