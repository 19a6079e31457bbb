"""Normalisation: one core, `standardize`, over different axes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import is_int, positive_int, require_bools, require_floats
from autograd_engine.core.dims import Dim, product
from autograd_engine.core.dtypes import FLOATS
from autograd_engine.core.spec import Shape, along, format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import (
    LAYOUTS,
    check_number,
    widen,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.builder import append_write
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.program.passes.inference_form import standardize_with
from autograd_engine.tensor.arguments import factor

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "rms_norm",
]

_ARGUMENTS = ("running_mean", "running_var", "weight", "bias")

# Of `local_response_norm`: more than any image has, and no size to pad with.
_MOST_CHANNELS: Final = 2**16


def _channel_axis(op: str, x: Any, data_format: str) -> int:
    """Where the channels of `x` are: second, or last."""
    if data_format not in LAYOUTS:
        raise ArgumentError(
            f"{op}: data_format must be one of {list(LAYOUTS)}, got {data_format!r}"
        )
    shape = _shape_of(x)
    if len(shape) < 2:
        raise ShapeError(f"{op}: x must be [N, C, ...], got {format_shape(shape)}")
    return 1 if data_format[1] == "C" else len(shape) - 1


def _affine(op: str, argument: str, value: Any, shape: Shape) -> Any:
    """A factor or a term of this shape, or flat as layers keep it; None where there is none."""
    if value is None or (value.__class__ is Tensor and value._data.shape == shape):
        return value
    value = as_operand(op, value, argument)
    if may_equal(spec_of(value).shape, shape):
        return value
    if not may_equal(spec_of(value).shape, (product(shape),)):
        raise ShapeError(
            f"{op}: {argument} must have shape {format_shape(shape)}, got "
            f"{format_shape(spec_of(value).shape)}"
        )
    return ops.reshape(value, shape=shape)


def _scaled(x: Any, out: Any, weight: Any, bias: Any, shape: Any = None) -> Any:
    """``out * weight + bias``, in the dtype of `x` whatever that of the parameters is."""
    if weight is not None:
        out = out * (weight if shape is None else ops.reshape(weight, shape=shape))
    if bias is not None:
        out = out + (bias if shape is None else ops.reshape(bias, shape=shape))
    if x.__class__ is Tensor is out.__class__ and x._data.dtype is out._data.dtype:
        return out
    kept = spec_of(x).dtype
    if kept in FLOATS and spec_of(out).dtype != kept:
        out = ops.cast(out, dtype=kept.name)
    return out


def _shape_of(x: Any) -> Shape:
    shape: Shape = x._data.shape if x.__class__ is Tensor else spec_of(x).shape
    return shape


def _dtype_of(x: Any) -> Any:
    return x._data.dtype if x.__class__ is Tensor else spec_of(x).dtype


def standardized(
    x: Any, weight: Any, bias: Any, axes: tuple[int, ...], epsilon: float, spread: Any = None
) -> tuple[Any, Any, Any]:
    """`x` standardised, then scaled and shifted; and the moments."""
    if weight is not None and bias is not None:
        dtype = _dtype_of(x)
        if dtype == _dtype_of(weight) and dtype == _dtype_of(bias):
            return ops.standardize_affine(
                x, weight, bias, axis=axes, epsilon=epsilon, split=None, spread=spread
            )
    out, mean, variance = ops.standardize(x, axis=axes, epsilon=epsilon)
    return _scaled(x, out, weight, bias, spread), mean, variance


@functools.lru_cache(maxsize=64)
def _identity(channels: int, dtype: Any) -> tuple[Any, Any]:
    """A factor and a term for each channel that change nothing."""
    made = np.ones(channels, dtype), np.zeros(channels, dtype)
    for array in made:
        array.flags.writeable = False
    return made


def _normalized_axes(op: str, x: Any, normalized_shape: Any) -> tuple[tuple[int, ...], Any]:
    """The last axes, and their sizes, which are `normalized_shape`."""
    sizes = (normalized_shape,) if is_int(normalized_shape) else tuple(normalized_shape)
    shape = _shape_of(x)
    if not sizes or shape[len(shape) - len(sizes) :] != sizes:
        raise ShapeError(
            f"{op}: x {format_shape(shape)} does not end in normalized_shape {list(sizes)}"
        )
    return tuple(range(len(shape) - len(sizes), len(shape))), sizes


@atomic
def layer_norm(
    x: Any,
    normalized_shape: int | Sequence[int],
    weight: Any = None,
    bias: Any = None,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> Tensor:
    """Standardise over the last axes, then scale and shift.

    Parameters
    ----------
    x : Tensor or Variable
    normalized_shape : int or sequence of int
        The sizes of those axes.
    weight, bias : Tensor or Variable, optional
        Of that shape.
    epsilon : float
        Added to the variance.

    Raises
    ------
    ShapeError
        When `x` does not end in `normalized_shape`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer_norm(paddle.to_tensor([[1.0, 3.0]]), 2, epsilon=0.0).tolist()
    [[-1.0, 1.0]]
    """
    epsilon = check_number("layer_norm", "epsilon", epsilon)
    x = as_operand("layer_norm", x)
    axes, sizes = _normalized_axes("layer_norm", x, normalized_shape)
    weight = _affine("layer_norm", "weight", weight, sizes)
    bias = _affine("layer_norm", "bias", bias, sizes)
    return standardized(x, weight, bias, axes, epsilon)[0]


@atomic
def rms_norm(
    input: Any,
    normalized_shape: int | Sequence[int],
    weight: Any = None,
    eps: float = 1e-05,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Divide by the root of the mean square over the last axes, then scale.

    Parameters
    ----------
    input : Tensor or Variable
    normalized_shape : int or sequence of int
        The sizes of those axes.
    weight : Tensor or Variable, optional
        Of that shape.
    eps : float
        Added to the mean square.

    Returns
    -------
    out : Tensor or Variable
        Like `input`.
    invvar : Tensor or Variable
        ``1 / sqrt(mean(input**2) + eps)``, float32 for float16.

    Notes
    -----
    Zhang and Sennrich, "Root mean square layer normalization" (2019).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> rms_norm(paddle.to_tensor([[1.0, 7.0]]), 2, eps=0.0)[0].tolist()
    [[0.20000000298023224, 1.399999976158142]]
    """
    x = as_operand("rms_norm", input, "input")
    axes, sizes = _normalized_axes("rms_norm", x, normalized_shape)
    weight = _affine("rms_norm", "weight", weight, sizes)
    work = widen(x)
    mean_square = ops.mean(ops.square(work), axis=axes, keepdims=True)
    inverse = 1.0 / ops.sqrt(mean_square + factor("rms_norm", "eps", eps))
    return _scaled(x, work * inverse, weight, None), ops.squeeze(inverse, axis=axes)


@atomic
def batch_norm(
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Standardise each channel over the batch, then scale and shift.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, ...]``, or ``[N, ..., C]`` with `data_format` "NLC", "NHWC" or "NDHWC".
    running_mean, running_var : Tensor or Variable
        ``[C]``. While training they become ``momentum * old + (1 - momentum) * new``; otherwise
        they are what `x` is standardised with.
    weight, bias : Tensor or Variable, optional
        ``[C]``
    training : bool
    use_global_stats : bool, optional
        Use the running statistics; by default when not training.

    Returns
    -------
    Of the shape and the dtype of `x`.

    Raises
    ------
    ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1.0], [3.0]])
    >>> mean, var = paddle.zeros([1]), paddle.ones([1])
    >>> batch_norm(x, mean, var, training=True, epsilon=0.0).tolist()
    [[-1.0], [1.0]]
    >>> round(mean.item(), 4)
    0.2
    """
    epsilon = check_number("batch_norm", "epsilon", epsilon)
    momentum = check_number("batch_norm", "momentum", momentum)
    if use_global_stats is not None:
        require_bools("batch_norm", use_global_stats=use_global_stats)
    x = as_operand("batch_norm", x)
    channel = _channel_axis("batch_norm", x, data_format)
    shape = _shape_of(x)
    ndim, channels = len(shape), shape[channel : channel + 1]
    given = (running_mean, running_var, weight, bias)
    running_mean, running_var, weight, bias = (
        _affine("batch_norm", name, value, channels)
        for name, value in zip(_ARGUMENTS, given, strict=True)
    )
    spread = along(ndim, channel)
    fixed = use_global_stats if use_global_stats is not None else not training
    if fixed:
        if running_mean is None or running_var is None:
            raise ArgumentError(
                "batch_norm: needs running_mean and running_var, got None; use training=True for "
                "the statistics of x"
            )
        out = standardize_with(x, running_mean, running_var, spread, epsilon)
        out = _scaled(x, out, weight, bias, spread)
    else:
        axes = tuple(i for i in range(ndim) if i != channel)
        out, mean, variance = standardized(x, weight, bias, axes, epsilon, spread)
    if not fixed:  # last: a call that fails has written nothing
        statistics = ((running_mean, mean), (running_var, variance))
        kept = [
            (r, ops.running_statistic(r, s, momentum=momentum))
            for r, s in statistics
            if r is not None
        ]
        for running, new in kept:
            _write(running, new)
    return out


def _write(running: Any, new: Any) -> None:
    if isinstance(running, Tensor):
        running.set_value(new)
    else:
        append_write(running, new)


@atomic
def instance_norm(
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-05,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Standardise each channel of each image over its pixels, then scale and shift.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, ...]`` with at least one axis of pixels.
    running_mean, running_var : Tensor or Variable, optional
        ``[C]``: what `x` is standardised with where `use_input_stats` is False. They are never
        written, and `momentum` has no effect, as in the reference.
    weight, bias : Tensor or Variable, optional
        ``[C]``

    Raises
    ------
    ShapeError, ArgumentError

    Notes
    -----
    Ulyanov et al., "Instance normalization" (2016).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> instance_norm(paddle.to_tensor([[[1.0, 3.0], [5.0, 9.0]]]), eps=0.0).tolist()
    [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
    eps = check_number("instance_norm", "eps", eps)
    check_number("instance_norm", "momentum", momentum)
    x = as_operand("instance_norm", x)
    channel = _channel_axis("instance_norm", x, data_format)
    shape = _shape_of(x)
    if len(shape) < 3:
        raise ShapeError(
            f"instance_norm: x must be [N, C, ...] with pixels to average over, got "
            f"{format_shape(shape)}"
        )
    given = (running_mean, running_var, weight, bias)
    running_mean, running_var, weight, bias = (
        _affine("instance_norm", name, value, shape[channel : channel + 1])
        for name, value in zip(_ARGUMENTS, given, strict=True)
    )
    spread = along(len(shape), channel)
    if use_input_stats:
        axes = tuple(i for i in range(1, len(shape)) if i != channel)
        return standardized(x, weight, bias, axes, eps, spread)[0]
    elif running_mean is None or running_var is None:
        raise ArgumentError(
            "instance_norm: use_input_stats=False needs running_mean and running_var, got None"
        )
    else:
        out = standardize_with(x, running_mean, running_var, spread, eps)
    return _scaled(x, out, weight, bias, spread)


def _channels_second(x: Any, channel: int) -> tuple[Any, Any]:
    """`x` with its channels second, and the way back."""
    ndim = len(_shape_of(x))
    if channel == 1:
        return x, lambda out: out
    there, back = (0, ndim - 1, *range(1, ndim - 1)), (0, *range(2, ndim), 1)
    return ops.transpose(x, perm=there), lambda out: ops.transpose(out, perm=back)


def _pixels(x: Any, lead: tuple[int, ...]) -> tuple[int, ...]:
    """The shape ``[N, *lead, the rest]`` for ``[N, C, ...]``, in as many pixels as there are."""
    sizes = _shape_of(x)[1:]
    if (x.__class__ is Tensor and x._data.size) or any(isinstance(d, Dim) for d in sizes):
        rest = -1
    else:
        count = product(lead)
        rest = int(product(sizes)) // int(count) if count else 0
    return (0, *lead, rest)


@atomic
def group_norm(
    x: Any,
    num_groups: int,
    epsilon: float = 1e-05,
    weight: Any = None,
    bias: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Standardise each group of channels of each image, then scale and shift.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, ...]``, or ``[N, ..., C]`` with `data_format` "NLC", "NHWC" or "NDHWC".
    num_groups : int
        Divides C.
    weight, bias : Tensor or Variable, optional
        ``[C]``

    Raises
    ------
    ShapeError, ArgumentError

    Notes
    -----
    Wu and He, "Group normalization" (2018).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> group_norm(paddle.to_tensor([[[1.0], [3.0], [5.0], [9.0]]]), 2, epsilon=0.0).tolist()
    [[[-1.0], [1.0], [-1.0], [1.0]]]
    """
    epsilon = check_number("group_norm", "epsilon", epsilon)
    x = as_operand("group_norm", x)
    channel = _channel_axis("group_norm", x, data_format)
    shape = _shape_of(x)
    channels = shape[channel]
    if isinstance(channels, Dim):
        raise ShapeError(f"group_norm: the channels of {format_shape(shape)} must be known")
    if not is_int(num_groups) or num_groups < 1 or channels % num_groups:
        raise ArgumentError(
            f"group_norm: num_groups must divide {channels} channels, got {num_groups!r}"
        )
    weight = _affine("group_norm", "weight", weight, (channels,))
    bias = _affine("group_norm", "bias", bias, (channels,))
    first, back = (x, None) if channel == 1 else _channels_second(x, channel)
    dtype, split = _dtype_of(x), _pixels(first, (int(num_groups),))
    alike = (weight is None or _dtype_of(weight) == dtype) and (
        bias is None or _dtype_of(bias) == dtype
    )
    ones, zeros = _identity(channels, dtype)
    if x.__class__ is Tensor:
        ones, zeros = Tensor._wrap(ones), Tensor._wrap(zeros)
    out = ops.standardize_affine(
        first,
        weight if alike and weight is not None else ones,
        bias if alike and bias is not None else zeros,
        axis=(2,),
        epsilon=epsilon,
        split=split,
        spread=along(len(shape), 1),
    )[0]
    if back is not None:
        out = back(out)
    return out if alike else _scaled(x, out, weight, bias, along(len(shape), channel))


@atomic
def local_response_norm(
    x: Any,
    size: int,
    alpha: float = 0.0001,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """``x / (k + alpha * m)**beta``, m the mean square over `size` channels around each.

    Channels beyond the first and the last count as zeros.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, ...]`` with one to three axes of pixels, or with the channels last.
    size : int
        Of an even number, one more channel is before than behind.

    Raises
    ------
    ShapeError, ArgumentError, DTypeError

    Notes
    -----
    Krizhevsky et al., "ImageNet classification with deep convolutional neural networks" (2012).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[[1.0], [1.0]]])
    >>> local_response_norm(x, 1, alpha=1.0, beta=1.0).tolist()
    [[[0.5], [0.5]]]
    """
    x = as_operand("local_response_norm", x)
    channel = _channel_axis("local_response_norm", x, data_format)
    if not 3 <= spec_of(x).ndim <= 5:
        raise ShapeError(
            "local_response_norm: x must have 3 to 5 dimensions, got "
            f"{format_shape(spec_of(x).shape)}"
        )
    require_floats("local_response_norm", "x", spec_of(x).dtype)
    size = positive_int("local_response_norm", "size", size, _MOST_CHANNELS)
    alpha, beta, k = (
        factor("local_response_norm", name, value)
        for name, value in (("alpha", alpha), ("beta", beta), ("k", k))
    )
    first, back = _channels_second(x, channel)
    channels = spec_of(first).shape[1]
    if isinstance(channels, Dim):
        raise ShapeError("local_response_norm: the number of channels must be known")
    work = widen(first)
    squares = ops.reshape(ops.square(work), shape=_pixels(work, (1, int(channels))))
    mean = ops.avg_pool(
        squares,
        kernel=(size, 1),
        stride=(1, 1),
        padding=((size // 2, (size - 1) // 2), (0, 0)),
        ceil_mode=False,
        exclusive=False,
    )
    scale = ops.pow(ops.reshape_like(mean, first) * alpha + k, beta)
    return back(ops.cast_like(work / scale, x))
