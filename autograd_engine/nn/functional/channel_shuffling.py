"""Elements moved between channels, places and times."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import check_number
from autograd_engine.nn.functional.window_arguments import channels_last
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import integer

__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle", "temporal_shift"]


def _images(op: str, x: Any, data_format: str) -> tuple[Any, bool]:
    """`x` and whether its channels come last."""
    x = as_operand(op, x)
    last = channels_last(op, 2, data_format)
    if spec_of(x).ndim != 4:
        raise ShapeError(f"{op}: takes images of 4 dimensions, got {spec_of(x).ndim}")
    return x, last


def _factor(op: str, argument: str, value: Any) -> int:
    factor = integer(op, argument, value)
    if factor < 1:
        raise ArgumentError(f"{op}: {argument} must be positive, got {factor}")
    return factor


def _divides(op: str, x: Any, axis: int, what: str, factor: int, of: str) -> None:
    size = spec_of(x).shape[axis]
    if not isinstance(size, Dim) and size % factor:
        raise ShapeError(
            f"{op}: the {size} {what} of {format_shape(spec_of(x).shape)} do not divide by "
            f"{factor}, {of}"
        )


def pixel_shuffle(
    x: Any, upscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Channels as pixels: [N, C r r, H, W] becomes [N, C, H r, W r].

    Of "Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel Convolutional
    Neural Network", arXiv:1609.05158.

    Raises
    ------
    ShapeError
        When the channels do not divide by ``upscale_factor ** 2``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> pixel_shuffle(paddle.arange(4.0).reshape([1, 4, 1, 1]), 2).tolist()
    [[[[0.0, 1.0], [2.0, 3.0]]]]
    """
    x, last = _images("pixel_shuffle", x, data_format)
    r = _factor("pixel_shuffle", "upscale_factor", upscale_factor)
    channel = 3 if last else 1
    _divides("pixel_shuffle", x, channel, "channels", r * r, "the square of upscale_factor")
    parts = ops.unflatten_axis(x, axis=channel, sizes=(-1, r, r))
    # N C r r H W to N C H r W r, or N H W C r r to N H r W r C
    out = ops.transpose(parts, perm=(0, 1, 4, 2, 5, 3))
    first = 1 if last else 2
    out = ops.flatten_axes(out, start=first, stop=first + 1)
    return ops.flatten_axes(out, start=first + 1, stop=first + 2)


def pixel_unshuffle(
    x: Any, downscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Pixels as channels: [N, C, H r, W r] becomes [N, C r r, H, W]; undoes `pixel_shuffle`.

    Raises
    ------
    ShapeError
        When height or width do not divide by `downscale_factor`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> pixel_unshuffle(paddle.arange(4.0).reshape([1, 1, 2, 2]), 2).flatten().tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    x, last = _images("pixel_unshuffle", x, data_format)
    r = _factor("pixel_unshuffle", "downscale_factor", downscale_factor)
    first = 1 if last else 2
    for axis, what in ((first, "rows"), (first + 1, "columns")):
        _divides("pixel_unshuffle", x, axis, what, r, "downscale_factor")
    parts = ops.unflatten_axis(x, axis=first + 1, sizes=(-1, r))
    parts = ops.unflatten_axis(parts, axis=first, sizes=(-1, r))
    # N C H r W r to N C r r H W, or N H r W r C to N H W C r r
    out = ops.transpose(parts, perm=(0, 1, 3, 5, 2, 4))
    channel = 3 if last else 1
    return ops.flatten_axes(out, start=channel, stop=channel + 2)


def channel_shuffle(
    x: Any, groups: int, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """The channels dealt out in turn from `groups` groups of them.

    Of "ShuffleNet: An Extremely Efficient Convolutional Neural Network for Mobile Devices",
    arXiv:1707.01083.

    Raises
    ------
    ShapeError
        When the channels do not divide by `groups`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> channel_shuffle(paddle.arange(6.0).reshape([1, 6, 1, 1]), 3).flatten().tolist()
    [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]
    """
    x, last = _images("channel_shuffle", x, data_format)
    count = _factor("channel_shuffle", "groups", groups)
    channel = 3 if last else 1
    _divides("channel_shuffle", x, channel, "channels", count, "the number of groups")
    parts = ops.unflatten_axis(x, axis=channel, sizes=(count, -1))
    perm = (0, 1, 2, 4, 3) if last else (0, 2, 1, 3, 4)
    return ops.flatten_axes(ops.transpose(parts, perm=perm), start=channel, stop=channel + 1)


def temporal_shift(
    x: Any,
    seg_num: int,
    shift_ratio: float = 0.25,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Tensor:
    """Some channels one step later in time, as many one step earlier, zeros where nothing comes.

    Of "TSM: Temporal Shift Module for Efficient Video Understanding", arXiv:1811.08383.

    Parameters
    ----------
    x : Tensor or Variable
        [N T, C, H, W] or, for "NHWC", [N T, H, W, C].
    seg_num : int
        T, the length of each sequence.
    shift_ratio : float
        The share of channels that come from the step before, and of those from the step after;
        between 0 and 0.5.
    data_format : {"NCHW", "NHWC"}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.arange(1.0, 7.0).reshape([2, 3, 1, 1])
    >>> temporal_shift(x, 2, 0.34).reshape([2, 3]).tolist()
    [[0.0, 5.0, 3.0], [1.0, 0.0, 6.0]]
    """
    x, last = _images("temporal_shift", x, data_format)
    steps = _factor("temporal_shift", "seg_num", seg_num)
    shift_ratio = check_number("temporal_shift", "shift_ratio", shift_ratio)
    if not 0 < shift_ratio < 0.5:
        raise ArgumentError(
            f"temporal_shift: shift_ratio must be between 0 and 0.5, got {shift_ratio}"
        )
    _divides("temporal_shift", x, 0, "images", steps, "seg_num")
    channels = spec_of(x).shape[3 if last else 1]
    if isinstance(channels, Dim):
        raise ShapeError(
            "temporal_shift: the number of channels is unknown; declare it in static.data"
        )
    before, both = int(channels * shift_ratio), int(channels * 2 * shift_ratio)
    sizes = (before, both - before, channels - both)
    parts = ops.unflatten_axis(x, axis=0, sizes=(-1, steps))
    axis = 4 if last else 2
    earlier, later, still = ops.split(parts, sizes=sizes, axis=axis)
    every = slice(None)
    earlier = ops.getitem(earlier, key=(every, slice(0, steps - 1)))
    later = ops.getitem(later, key=(every, slice(1, None)))
    beside = ((0, 0),) * 3
    earlier = ops.pad(earlier, pads=((0, 0), (1, 0), *beside))
    later = ops.pad(later, pads=((0, 0), (0, 1), *beside))
    return ops.flatten_axes(ops.concat(earlier, later, still, axis=axis), start=0, stop=1)
