"""Convolution and pooling in two dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from autograd_engine.dims import Dim
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.namespace import ops
from autograd_engine.spec import format_shape, may_equal
from autograd_engine.tensor.operand import as_operand, spec_of

__all__ = ["adaptive_avg_pool2d", "avg_pool2d", "conv2d", "max_pool2d"]

Pair: TypeAlias = tuple[int, int]
Padding: TypeAlias = tuple[Pair, Pair]
IntOrPair: TypeAlias = int | Sequence[int]


def _pair(op: str, argument: str, value: Any, least: int = 1) -> Pair:
    pair = tuple(value) if isinstance(value, (list, tuple)) else (value, value)
    if len(pair) != 2 or any(
        not isinstance(v, (int, np.integer)) or isinstance(v, bool) or v < least for v in pair
    ):
        raise ArgumentError(
            f"{op}: {argument} must be an int or two ints of at least {least}, got {value!r}"
        )
    return int(pair[0]), int(pair[1])


def _padding(
    op: str, value: Any, size: Sequence[Any], kernel: Sequence[Any], stride: Pair, dilation: Pair
) -> Padding:
    """((top, bottom), (left, right)) from what the reference takes as `padding`."""
    if isinstance(value, str):
        if value.upper() == "VALID":
            return (0, 0), (0, 0)
        if value.upper() == "SAME":
            return (
                _same(op, size[0], kernel[0], stride[0], dilation[0]),
                _same(op, size[1], kernel[1], stride[1], dilation[1]),
            )
        raise ArgumentError(f"{op}: padding must be 'SAME', 'VALID' or numbers, got {value!r}")
    values: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(values) == 4 and all(isinstance(v, (list, tuple)) for v in values):
        if any(v != 0 for pair in values[:2] for v in pair):
            raise ArgumentError(f"{op}: N and C cannot be padded, got padding={value!r}")
        values = [v for pair in values[2:] for v in pair]
    if any(not isinstance(v, (int, np.integer)) or v < 0 for v in values):
        raise ArgumentError(f"{op}: padding must hold non-negative ints, got {value!r}")
    if len(values) == 1:
        values = values * 4
    elif len(values) == 2:
        values = [values[0], values[0], values[1], values[1]]
    if len(values) != 4:
        raise ArgumentError(f"{op}: padding must be 1, 2 or 4 ints, got {value!r}")
    top, bottom, left, right = map(int, values)
    return (top, bottom), (left, right)


def _same(op: str, size: Any, kernel: int, stride: int, dilation: int) -> Pair:
    """Padding with which the output has ceil(size / stride) elements; the odd one goes behind."""
    if isinstance(size, Dim):
        if stride != 1:
            raise ShapeError(f"{op}: padding='SAME' with a stride needs a known size; declare it")
        total = dilation * (kernel - 1)
    else:
        total = max((-(-size // stride) - 1) * stride + dilation * (kernel - 1) + 1 - size, 0)
    return total // 2, total - total // 2


def _check_layout(op: str, x: Any, data_format: str) -> None:
    if data_format != "NCHW":
        raise ArgumentError(
            f"{op}: data_format must be 'NCHW', got {data_format!r}; "
            "use x.transpose([0, 3, 1, 2]) on NHWC arrays"
        )
    if spec_of(x).ndim != 4:
        raise ShapeError(f"{op}: x must be [N, C, H, W], got {format_shape(spec_of(x).shape)}")


def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: IntOrPair = 1,
    padding: Any = 0,
    dilation: IntOrPair = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Cross-correlation of `x` with the filters in `weight`.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, H, W]``
    weight : Tensor or Variable
        ``[out, C / groups, kh, kw]``
    bias : Tensor or Variable, optional
        ``[out]``
    stride, dilation : int or two ints
    padding : int, two ints, four ints (top, bottom, left, right), "SAME" or "VALID"
    groups : int

    Returns
    -------
    ``[N, out, (H + padding - dilation (kh - 1) - 1) // stride + 1, ...]``

    Raises
    ------
    ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> conv2d(paddle.ones([1, 1, 3, 3]), paddle.ones([1, 1, 2, 2])).tolist()
    [[[[4.0, 4.0], [4.0, 4.0]]]]
    """
    x, weight = as_operand("conv2d", x), as_operand("conv2d", weight, "weight")
    _check_layout("conv2d", x, data_format)
    if spec_of(weight).ndim != 4:
        raise ShapeError(
            "conv2d: weight must be [out, C / groups, kh, kw], got "
            f"{format_shape(spec_of(weight).shape)}"
        )
    if not isinstance(groups, int) or groups < 1:
        raise ArgumentError(f"conv2d: groups must be a positive int, got {groups!r}")
    steps, gaps = _pair("conv2d", "stride", stride), _pair("conv2d", "dilation", dilation)
    pads = _padding("conv2d", padding, spec_of(x).shape[2:], spec_of(weight).shape[2:], steps, gaps)
    if bias is not None:
        bias = as_operand("conv2d", bias, "bias")
        filters = spec_of(weight).shape[:1]
        if not may_equal(spec_of(bias).shape, filters):
            raise ShapeError(
                f"conv2d: bias must have one entry for each filter, {format_shape(filters)}; got "
                f"{format_shape(spec_of(bias).shape)}"
            )
    out = ops.conv2d(x, weight, stride=steps, padding=pads, dilation=gaps, groups=groups)
    if bias is None:
        return out
    return out + ops.reshape(bias, shape=(1, -1, 1, 1))


def _window(
    op: str, x: Any, kernel_size: Any, stride: Any, padding: Any
) -> tuple[Pair, Pair, Padding]:
    kernel = _pair(op, "kernel_size", kernel_size)
    steps = kernel if stride is None else _pair(op, "stride", stride)
    pads = _padding(op, padding, spec_of(x).shape[2:], kernel, steps, (1, 1))
    for k, (before, after) in zip(kernel, pads, strict=True):
        if max(before, after) >= k:
            raise ArgumentError(f"{op}: padding {padding!r} must be below the window {kernel}")
    return kernel, steps, pads


def max_pool2d(
    x: Any,
    kernel_size: IntOrPair,
    stride: IntOrPair | None = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The maximum of each window; the first element that attains it gets the gradient.

    With `return_mask`, also its position ``h * W + w`` in the plane.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> max_pool2d(paddle.reshape(paddle.arange(4.0), [1, 1, 2, 2]), 2).tolist()
    [[[[3.0]]]]
    """
    x = as_operand("max_pool2d", x)
    _check_layout("max_pool2d", x, data_format)
    kernel, steps, pads = _window("max_pool2d", x, kernel_size, stride, padding)
    out, index = ops.max_pool2d(x, kernel=kernel, stride=steps, padding=pads, ceil_mode=ceil_mode)
    return (out, index) if return_mask else out


def avg_pool2d(
    x: Any,
    kernel_size: IntOrPair,
    stride: IntOrPair | None = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The mean of each window; with `exclusive`, padding does not count.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> avg_pool2d(paddle.reshape(paddle.arange(4.0), [1, 1, 2, 2]), 2).tolist()
    [[[[1.5]]]]
    """
    x = as_operand("avg_pool2d", x)
    _check_layout("avg_pool2d", x, data_format)
    kernel, steps, pads = _window("avg_pool2d", x, kernel_size, stride, padding)
    if divisor_override is not None and not divisor_override > 0:
        raise ArgumentError(f"avg_pool2d: divisor_override {divisor_override} is not positive")
    out = ops.avg_pool2d(
        x,
        kernel=kernel,
        stride=steps,
        padding=pads,
        ceil_mode=ceil_mode,
        exclusive=exclusive and divisor_override is None,
    )
    return out if divisor_override is None else out * (kernel[0] * kernel[1] / divisor_override)


def adaptive_avg_pool2d(
    x: Any, output_size: IntOrPair, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """The means of windows that divide the plane into `output_size` cells.

    Raises
    ------
    ShapeError
        Unless the plane's sizes are known multiples of `output_size`.
    """
    x = as_operand("adaptive_avg_pool2d", x)
    _check_layout("adaptive_avg_pool2d", x, data_format)
    out = _pair("adaptive_avg_pool2d", "output_size", output_size)
    plane = spec_of(x).shape[2:]
    if any(isinstance(d, Dim) or d % o for d, o in zip(plane, out, strict=True)):
        raise ShapeError(
            f"adaptive_avg_pool2d: a plane of {format_shape(plane)} does not divide into "
            f"{list(out)} equal cells; use avg_pool2d with a window and a stride"
        )
    kernel = tuple(int(d) // o for d, o in zip(plane, out, strict=True))
    return avg_pool2d(x, kernel)
