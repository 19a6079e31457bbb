"""What lies in boxes of images, put together in bins of one number for all boxes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from autograd_engine.core.checks import is_int
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import check_number
from autograd_engine.nn.functional.window_arguments import Images, IntOrInts, ints, known
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import spec_of
from autograd_engine.vision.arguments import counts, floats

__all__ = ["psroi_pool", "roi_align", "roi_pool"]


class _Regions:
    """Boxes of images, as all functions of this module take them.

    Attributes
    ----------
    x : Tensor or Variable
        ``[N, C, H, W]``
    boxes : Tensor or Variable
        ``[R, 4]`` in the dtype of `x`: left, top, right, bottom. They get no gradient.
    image : Tensor or Variable
        ``[R]``: the image of each box.
    """

    def __init__(
        self, op: str, x: Any, boxes: Any, boxes_num: Any, output_size: Any, spatial_scale: Any
    ) -> None:
        self.x = Images(op, x, 2, "NCHW").x
        boxes = floats(op, "boxes", boxes, "R", 4)
        self.image = counts(op, "boxes_num", boxes_num, boxes)
        images = spec_of(self.x).shape[0]
        listed = spec_of(boxes_num).shape[0] if hasattr(boxes_num, "spec") else len(boxes_num)
        if isinstance(images, int) and isinstance(listed, int) and listed != images:
            raise ShapeError(f"{op}: boxes_num is of {listed} images, and x has {images}")
        self.boxes = ops.cast_like(boxes.detach(), self.x)
        self.bins = ints(op, "output_size", output_size, 2)
        self.scale = check_number(op, "spatial_scale", spatial_scale)
        channels, *size = known(op, "the channels and the size of x", spec_of(self.x).shape[1:])
        self.channels, self.size = channels, tuple(size)


def _column(x: Any, axes: int) -> Any:
    """``[R]`` with so many axes of size 1 behind."""
    return ops.reshape(x, shape=(-1, *[1] * axes))


# --- bilinear samples


def _samples(start: Any, extent: Any, bins: int, each: Any, most: int, size: int) -> list[Any]:
    """Where an axis is read, ``[R, bins * most]``: pixel before, share of the next, weight.

    Of the `most` places in a bin the first `each` count, which may differ between boxes, where they
    lie among the pixels or less than one beside them.
    """
    k = np.arange(most)
    place = (ops.cast_like(k + 0.5, start)) / _column(each, 2)
    place = place + ops.cast_like(np.arange(float(bins))[:, None], start)
    place = _column(start, 2) + place * _column(extent / bins, 2)
    counted = ops.less_than(ops.cast_like(k.astype(float), start), _column(each, 2))
    near = ops.logical_and(ops.greater_equal(place, -1.0), ops.less_equal(place, float(size)))
    weight = ops.cast_like(ops.logical_and(counted, near), start) / _column(each, 2)
    # Of what cannot be read the weight is 0; any pixel serves.
    place = ops.where(near, place, 0.0)
    place = ops.minimum(ops.maximum(place, 0.0), size - 1.0)
    before = ops.minimum(ops.floor(place), max(size - 2.0, 0.0))
    flat = (ops.flatten_axes(v, start=1, stop=2) for v in (before, place - before, weight))
    return list(flat)


@atomic
def roi_align(
    x: Any,
    boxes: Any,
    boxes_num: Any,
    output_size: IntOrInts,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = True,
    name: str | None = None,
) -> Tensor:
    """Means of each bin of each box, read at places between pixels (He and others 2017).

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, H, W]``; C, H and W must be known.
    boxes : Tensor or Variable
        ``[R, 4]``: left, top, right, bottom, those of the first image first. They get no gradient.
    boxes_num : Tensor or Variable
        ``[N]``, integers: how many boxes each image has.
    output_size : int or two ints
        Bins along height and width.
    spatial_scale : float
        What boxes are multiplied by.
    sampling_ratio : int
        So many places along each axis of a bin are read. By default about one for each pixel,
        which depends on the boxes, so that a program must be told.
    aligned : bool
        Take the middle of the first pixel for 0.5, not for 0.

    Returns
    -------
    ``[R, C, *output_size]``

    Raises
    ------
    ShapeError, DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
    >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1])
    >>> paddle.vision.ops.roi_align(x, boxes, count, 2).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    op = "roi_align"
    at = _Regions(op, x, boxes, boxes_num, output_size, spatial_scale)
    if not is_int(sampling_ratio):
        raise ArgumentError(f"{op}: sampling_ratio must be an int, got {sampling_ratio!r}")
    corners = at.boxes * at.scale - (0.5 if aligned else 0.0)
    axes = []
    for a, bins in enumerate(at.bins):
        start = corners[:, 1 - a]
        extent = corners[:, 3 - a] - start
        extent = extent if aligned else ops.maximum(extent, 1.0)
        each = ops.full_like(extent, value=float(sampling_ratio))
        most = sampling_ratio
        if sampling_ratio <= 0:
            if not isinstance(extent, Tensor):
                raise ArgumentError(
                    f"{op}: sampling_ratio must be above 0 while a program is built, whose boxes "
                    "have no values yet"
                )
            each = ops.maximum(ops.ceil(extent / bins), 1.0)
            most = int(each.numpy().max(initial=1.0))
            # A box without extent has no places to be read.
            each = ops.where(ops.greater_than(extent, 0.0), each, np.inf)
        axes.append(_samples(start, extent, bins, each, most, at.size[a]))
    return _read(at, axes)


def _read(at: _Regions, axes: list[list[Any]]) -> Any:
    """The sum of what is read at all places of each bin, by its weight."""
    height, width = at.size
    rows = ops.reshape(ops.transpose(at.x, perm=(0, 2, 3, 1)), shape=(-1, at.channels))
    (top, down, by_row), (left, right, by_column) = axes
    total: Any = None
    for i, j in itertools.product((0, 1), repeat=2):
        if (i and height == 1) or (j and width == 1):
            continue
        y, x = top + float(i), left + float(j)
        place = ops.unsqueeze(y, axis=(2,)) * width + ops.unsqueeze(x, axis=(1,))
        index = ops.cast(place, dtype="int64") + _column(at.image, 2) * (height * width)
        share = ops.unsqueeze(by_row * (down if i else 1.0 - down), axis=(2,))
        share = share * ops.unsqueeze(by_column * (right if j else 1.0 - right), axis=(1,))
        term = ops.gather(rows, index, axis=0) * ops.unsqueeze(share, axis=(3,))
        total = term if total is None else total + term
    shape = [-1, *at.bins]
    each = [spec_of(axis[0]).shape[1] // bins for axis, bins in zip(axes, at.bins, strict=True)]
    total = ops.reshape(total, shape=(-1, shape[1], each[0], shape[2], each[1], at.channels))
    return ops.transpose(ops.sum(total, axis=(2, 4)), perm=(0, 3, 1, 2))


# --- whole pixels


@atomic
def roi_pool(
    x: Any,
    boxes: Any,
    boxes_num: Any,
    output_size: IntOrInts,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """The maximum of each bin of each box, whose corners are rounded (Girshick 2015).

    Parameters
    ----------
    x, boxes, boxes_num, output_size, spatial_scale
        As of `roi_align`.

    Returns
    -------
    ``[R, C, *output_size]``; 0 for a bin beside the image. Of a tie the first gets the gradient.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
    >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 3.0, 3.0]]), paddle.to_tensor([1])
    >>> paddle.vision.ops.roi_pool(x, boxes, count, 2).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    at = _Regions("roi_pool", x, boxes, boxes_num, output_size, spatial_scale)
    index = ops.region_max_index(at.x, at.boxes, at.image, bins=at.bins, scale=at.scale)
    found = ops.gather(ops.reshape(at.x, shape=(-1,)), ops.maximum(index, 0), axis=0)
    return ops.where(ops.less_than(index, 0), 0.0, found)


def _shares(start: Any, end: Any, bins: int, size: int) -> Any:
    """What each pixel counts in each bin of each box, ``[R, bins, size]``."""
    step = _column(ops.maximum(end - start, 0.1) / bins, 1)
    count = ops.cast_like(np.arange(float(bins)), start)
    edges = (
        ops.floor(count * step + _column(start, 1)),
        ops.ceil((count + 1.0) * step + _column(start, 1)),
    )
    low, high = (
        ops.unsqueeze(ops.minimum(ops.maximum(e, 0.0), float(size)), axis=(2,)) for e in edges
    )
    pixel = ops.cast_like(np.arange(float(size)), start)
    within = ops.logical_and(ops.greater_equal(pixel, low), ops.less_than(pixel, high))
    return ops.cast_like(within, start) / ops.maximum(high - low, 1.0)


def _rounded(x: Any) -> Any:
    """To whole numbers, halves away from zero."""
    return ops.sign(x) * ops.floor(ops.abs(x) + 0.5)


@atomic
def psroi_pool(
    x: Any,
    boxes: Any,
    boxes_num: Any,
    output_size: IntOrInts,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """The mean of each bin of each box, every bin in channels of its own (Dai and others 2016).

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, H, W]``, where ``output_size[0] * output_size[1]`` divides C: the first channels
        are those of the bins of the first output channel.
    boxes, boxes_num, output_size, spatial_scale
        As of `roi_align`.

    Returns
    -------
    ``[R, C / (output_size[0] * output_size[1]), *output_size]``; 0 for a bin beside the image.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.arange(16.0).reshape([1, 4, 2, 2])
    >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 1.0, 1.0]]), paddle.to_tensor([1])
    >>> paddle.vision.ops.psroi_pool(x, boxes, count, 2).tolist()
    [[[[0.0, 5.0], [10.0, 15.0]]]]
    """
    op = "psroi_pool"
    at = _Regions(op, x, boxes, boxes_num, output_size, spatial_scale)
    rows, columns = at.bins
    if at.channels % (rows * columns):
        raise ShapeError(
            f"{op}: {rows} x {columns} bins must divide the channels of x "
            f"{format_shape(spec_of(at.x).shape)}"
        )
    start = _rounded(at.boxes[:, :2]) * at.scale
    end = (_rounded(at.boxes[:, 2:]) + 1.0) * at.scale
    down, across = (_shares(start[:, 1 - a], end[:, 1 - a], at.bins[a], at.size[a]) for a in (0, 1))
    read = ops.reshape(
        ops.gather(at.x, at.image, axis=0),
        shape=(-1, at.channels // (rows * columns), rows, columns, *at.size),
    )
    down = ops.reshape(down, shape=(-1, 1, rows, 1, 1, at.size[0]))
    across = ops.reshape(across, shape=(-1, 1, 1, columns, at.size[1], 1))
    return ops.squeeze(ops.matmul(ops.matmul(down, read), across), axis=(4, 5))
