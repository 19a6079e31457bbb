"""Boxes of images: which of them are kept, and where the maxima lie in them."""

from __future__ import annotations

import math

import numpy as np

from autograd_engine.core.dtypes import BOOL, INT64
from autograd_engine.core.spec import Array, Spec
from autograd_engine.ops.kernels.windows import Ints
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.registry.work import each_read


def _overlaps(box: Array, boxes: Array, offset: float) -> Array:
    """The area that `box` shares with each of `boxes`, of the area of both together."""
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    shared = np.where((high >= low).all(1), (high - low + offset).prod(1), 0.0)
    area, areas = ((b[..., 2:] - b[..., :2] + offset).prod(-1) for b in (box, boxes))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(shared / (area + areas - shared))


def _nms(boxes: Array, *, threshold: float, eta: float = 1.0, offset: float = 0.0) -> Array:
    """Which boxes overlap none that is kept before them by more than `threshold`.

    With an `eta` below 1 the threshold falls after each that is kept, while it is above 0.5; a box
    is then compared by the threshold of its turn.
    """
    count = len(boxes)
    kept = np.ones(count, np.bool_)
    most = np.full(count, -np.inf)
    for i in range(count):
        kept[i] = not most[i] > threshold
        if kept[i]:
            overlaps = np.nan_to_num(_overlaps(boxes[i], boxes[i + 1 :], offset))
            np.maximum(most[i + 1 :], overlaps, out=most[i + 1 :])
            threshold = threshold * eta if eta < 1.0 and threshold > 0.5 else threshold
    return kept


defop(
    "nms",
    _nms,
    takes="if",
    inputs="boxes",
    infer=lambda boxes, **_: Spec(boxes.shape[:1], BOOL),
    work=each_read(),
).nondiff()


def _bins(start: float, end: float, count: int, size: int) -> list[tuple[int, int]]:
    """Where pixels from `start` to `end`, both included, are divided into bins that may overlap."""
    step = max(end - start + 1.0, 1.0) / count
    edges = ((math.floor(k * step), math.ceil((k + 1) * step)) for k in range(count))
    low = int(start)
    return [(min(max(a + low, 0), size), min(max(b + low, 0), size)) for a, b in edges]


def _region_max_index(x: Array, boxes: Array, image: Array, *, bins: Ints, scale: float) -> Array:
    """Where in flat `x` the maximum of each bin of each box lies; -1 for a bin without pixels."""
    channels, *size = x.shape[1:]
    out = np.full((len(boxes), channels, *bins), -1, np.int64)
    scaled = boxes * boxes.dtype.type(scale)
    corners = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)  # halves away from zero
    planes = np.arange(channels) * math.prod(size)
    for k, (left, top, right, bottom) in enumerate(corners.tolist()):
        rows, columns = _bins(top, bottom, bins[0], size[0]), _bins(left, right, bins[1], size[1])
        first = int(image[k]) * channels * math.prod(size) + planes
        for i, (a, b) in enumerate(rows):
            for j, (c, d) in enumerate(columns):
                if a < b and c < d:
                    at = x[image[k], :, a:b, c:d].reshape(channels, -1).argmax(1)
                    out[k, :, i, j] = first + (a + at // (d - c)) * size[1] + c + at % (d - c)
    return out


defop(
    "region_max_index",
    _region_max_index,
    takes="bif",
    inputs="x boxes image",
    infer=lambda x, boxes, image, *, bins, scale: Spec((boxes.shape[0], x.shape[1], *bins), INT64),
    work=each_read(),
    checks_values=True,
).nondiff()
