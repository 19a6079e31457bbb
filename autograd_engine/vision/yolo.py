"""What YOLOv3 says of each place of a grid: boxes with scores, and how far they are off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import positive_int
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import check_number
from autograd_engine.nn.functional.window_arguments import Images, known
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import spec_of
from autograd_engine.vision.arguments import floats, integers, parted

__all__ = ["yolo_box", "yolo_loss"]

_LARGEST: Final = 30.0  # logarithm of what a box is to its anchor, while areas are finite


def _grid(op: str, x: Any, kinds: int, each: int) -> tuple[Any, int, int]:
    """``[N, kinds, H, W, each]`` from ``[N, kinds * each, H, W]``, and H and W."""
    x = Images(op, x, 2, "NCHW").x
    channels, rows, columns = known(op, "the channels and the size of x", spec_of(x).shape[1:])
    if channels != kinds * each:
        raise ShapeError(
            f"{op}: x must have {kinds} * {each} channels, one for each anchor and what is said of "
            f"it; got {format_shape(spec_of(x).shape)}"
        )
    x = ops.reshape(x, shape=(-1, kinds, each, rows, columns))
    return ops.transpose(x, perm=(0, 1, 3, 4, 2)), rows, columns


def _boxes(x: Any, sizes: Any, scale: float) -> tuple[Any, Any]:
    """Middles of boxes ``[N, A, H, W, 2]``, in places of the grid, and sizes, as `sizes` is."""
    rows, columns = known("yolo", "the size of the grid", spec_of(x).shape[2:4])
    places = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), -1).astype(float)
    middle = ops.sigmoid(x[..., :2]) * scale + (0.5 - 0.5 * scale)
    middle = middle + ops.cast_like(places, x)
    sizes = ops.cast_like(np.asarray(sizes)[:, None, None], x)
    return middle, ops.exp(x[..., 2:4]) * sizes


@atomic
def yolo_box(
    x: Any,
    img_size: Any,
    anchors: Sequence[int],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> tuple[Tensor, Tensor]:
    """Boxes and scores from what YOLOv3 puts out (Redmon and Farhadi 2018).

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, A * (5 + class_num), H, W]``: for each of A anchors x, y, width, height, confidence
        and classes, as logits or logarithms.
    img_size : Tensor or Variable
        ``[N, 2]``, integers: height and width of the images.
    anchors : list
        Width and height of each anchor, one after the other.
    class_num : int
    conf_thresh : float
        What has less confidence gets a box and scores of zeros.
    downsample_ratio : int
        Pixels from place to place.
    clip_bbox : bool
        Keep boxes within the image.
    scale_x_y : float
        By how much a middle may leave its place.
    iou_aware : bool
        `x` has A more channels in front, of how much a box overlaps the true one: to the power of
        `iou_aware_factor` it is multiplied by the confidence, to the power of the rest to 1.
    iou_aware_factor : float

    Returns
    -------
    boxes : ``[N, A * H * W, 4]``
        Left, top, right, bottom, in pixels.
    scores : ``[N, A * H * W, class_num]``

    Raises
    ------
    ShapeError, DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, size = paddle.zeros([1, 6, 1, 1]), paddle.to_tensor([[8, 8]])
    >>> boxes, scores = paddle.vision.ops.yolo_box(x, size, [4, 2], 1, 0.1, 8)
    >>> boxes.tolist(), scores.tolist()
    ([[[2.0, 3.0, 6.0, 5.0]]], [[[0.25]]])
    """
    op = "yolo_box"
    x = floats(op, "x", x, "N", "channels", "H", "W")
    sizes, classes = parted(op, anchors), positive_int(op, "class_num", class_num)
    ratio = positive_int(op, "downsample_ratio", downsample_ratio)
    threshold, scale = (
        check_number(op, "conf_thresh", conf_thresh),
        check_number(op, "scale_x_y", scale_x_y),
    )
    size = integers(op, "img_size", img_size, spec_of(x).shape[0], 2)
    factor = check_number(op, "iou_aware_factor", iou_aware_factor)
    kinds = len(sizes)
    aware = None
    if iou_aware:
        x = Images(op, x, 2, "NCHW").x
        aware, x = x[:, :kinds], x[:, kinds:]
    x, rows, columns = _grid(op, x, kinds, 5 + classes)
    middle, extent = _boxes(x, sizes, scale)
    image = ops.cast_like(ops.reshape(ops.flip(size, axis=(1,)), shape=(-1, 1, 1, 1, 2)), x)
    middle = middle * image / ops.cast_like(np.asarray([columns, rows], float), x)
    extent = extent * image / ops.cast_like(np.asarray([columns, rows]) * float(ratio), x)
    low, high = middle - extent * 0.5, middle + extent * 0.5
    if clip_bbox:
        low, high = ops.maximum(low, 0.0), ops.minimum(high, image - 1.0)
    confidence = ops.sigmoid(x[..., 4:5])
    if aware is not None:
        overlap = ops.sigmoid(ops.unsqueeze(aware, axis=(4,)))
        confidence = confidence ** (1.0 - factor) * overlap**factor
    sure = ops.greater_equal(confidence, threshold)
    boxes = ops.where(sure, ops.concat(low, high, axis=4), 0.0)
    scores = ops.where(sure, confidence * ops.sigmoid(x[..., 5:]), 0.0)
    return ops.flatten_axes(boxes, start=1, stop=3), ops.flatten_axes(scores, start=1, stop=3)


def _overlap(middle: Any, size: Any, middles: Any, sizes: Any) -> Any:
    """The common area of boxes, of that of both together; all are ``[..., 2]``."""
    half, halves = size * 0.5, sizes * 0.5
    low = ops.maximum(middle - half, middles - halves)
    edge = ops.maximum(ops.minimum(middle + half, middles + halves) - low, 0.0)
    shared, area, areas = (v[..., 0] * v[..., 1] for v in (edge, size, sizes))
    both = area + areas - shared
    return shared / ops.where(ops.equal(both, 0.0), 1.0, both)


def _entropy(x: Any, label: Any) -> Any:
    """Of ``sigmoid(x)`` to be `label`."""
    return ops.softplus(x) - x * label


@atomic
def yolo_loss(
    x: Any,
    gt_box: Any,
    gt_label: Any,
    anchors: Sequence[int],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Any = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> Tensor:
    """The loss of YOLOv3 (Redmon and Farhadi 2018): of boxes, of confidence, and of classes.

    Each true box belongs to the anchor whose size is most like its own, at the place of its middle:
    there its position, size (by ``2 - width * height``) and class count, and confidence is to be 1.
    Elsewhere confidence is to be 0, but where a predicted box overlaps a true one by more than
    `ignore_thresh`.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, A * (5 + class_num), H, H]``, see `yolo_box`.
    gt_box : Tensor or Variable
        ``[N, B, 4]``: x and y of the middle, width and height, as parts of the image; one of size
        0 is none.
    gt_label : Tensor or Variable
        ``[N, B]``, integers: the class of each.
    anchors : list
        Width and height of each anchor of all grids, one after the other, in pixels.
    anchor_mask : list of int
        Which A of them are those of this grid.
    class_num : int
    ignore_thresh : float
    downsample_ratio : int
        Pixels from place to place.
    gt_score : Tensor or Variable, optional
        ``[N, B]``: what is lost at each true box counts so much.
    use_label_smooth : bool
        Classes are to be not 1 and 0, but off by 1 / 40, or by 1 / class_num where that is less.
    scale_x_y : float
        By how much a middle may leave its place.

    Returns
    -------
    ``[N]``. Only `x` gets a gradient.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.zeros([1, 6, 2, 2])
    >>> box, label = paddle.to_tensor([[[0.25, 0.25, 0.5, 0.5]]]), paddle.to_tensor([[0]])
    >>> loss = paddle.vision.ops.yolo_loss(x, box, label, [8, 8], [0], 1, 0.7, 8)
    >>> round(loss.item(), 4)
    5.8918
    """
    op = "yolo_loss"
    sizes, classes = parted(op, anchors), positive_int(op, "class_num", class_num)
    ratio = positive_int(op, "downsample_ratio", downsample_ratio)
    threshold, scale = (
        check_number(op, n, v)
        for n, v in (("ignore_thresh", ignore_thresh), ("scale_x_y", scale_x_y))
    )
    mask = [int(k) for k in anchor_mask]
    if not mask or min(mask) < 0 or max(mask) >= len(sizes):
        raise ArgumentError(
            f"{op}: anchor_mask must be some of 0 to {len(sizes) - 1}, got {list(anchor_mask)!r}"
        )
    kinds = len(mask)
    x, rows, columns = _grid(op, x, kinds, 5 + classes)
    if rows != columns:
        raise ShapeError(
            f"{op}: the grid must have as many rows as columns, got {rows} x {columns}"
        )
    images = spec_of(x).shape[0]
    true = ops.cast_like(floats(op, "gt_box", gt_box, images, "B", 4).detach(), x)
    images, (count,) = (
        spec_of(true).shape[0],
        known(op, "the boxes of gt_box", spec_of(true).shape[1:2]),
    )
    label = integers(op, "gt_label", gt_label, images, count)
    scores = ops.full_like(true[..., 0], value=1.0)
    if gt_score is not None:
        scores = ops.cast_like(floats(op, "gt_score", gt_score, images, count).detach(), x)
    pixels = float(ratio * rows)
    middle, extent = true[..., :2], true[..., 2:]
    real = ops.greater_than(ops.min(extent, axis=(2,)), 1e-6)

    # Where nothing is asked: a predicted box that overlaps a true one.
    bounded = ops.minimum(x.detach(), _LARGEST)
    at, size = _boxes(bounded, np.asarray([sizes[k] for k in mask]) / pixels, scale)
    at, size = (ops.unsqueeze(v, axis=(4,)) for v in (at / float(rows), size))
    near = (ops.reshape(v, shape=(-1, 1, 1, 1, count, 2)) for v in (middle, extent))
    overlap = ops.where(
        ops.reshape(real, shape=(-1, 1, 1, 1, count)), _overlap(at, size, *near), 0.0
    )
    free = ops.greater_than(ops.max(overlap, axis=(4,)), threshold) if count else None

    # The anchor that is most like each true box, and the place of its middle.
    all_sizes = ops.cast_like(np.asarray(sizes) / pixels, x)
    zero = ops.full_like(all_sizes, value=0.0)
    like = _overlap(
        zero,
        all_sizes,
        ops.full_like(ops.unsqueeze(extent, axis=(2,)), value=0.0),
        ops.unsqueeze(extent, axis=(2,)),
    )
    best = ops.argmax(like, axis=2)
    slots = np.full(len(sizes), -1)
    slots[mask[::-1]] = np.arange(kinds)[::-1]
    slot = ops.gather(slots, best, axis=0)
    found = ops.logical_and(real, ops.greater_equal(slot, 0))
    cell = ops.minimum(
        ops.maximum(ops.cast(ops.floor(middle * float(rows)), dtype="int64"), 0), rows - 1
    )
    place = (ops.maximum(slot, 0) * rows + cell[..., 1]) * columns + cell[..., 0]
    each = ops.where(found, scores, 0.0)

    said = ops.take_along_axis(
        ops.flatten_axes(x, start=1, stop=3),
        ops.expand(ops.unsqueeze(place, axis=(2,)), shape=(-1, count, 5 + classes)),
        axis=1,
    )
    wanted = middle * float(rows) - ops.cast_like(cell, x)
    scaled = ops.where(
        ops.unsqueeze(found, axis=(2,)),
        extent * pixels / ops.gather(ops.cast_like(np.asarray(sizes), x), best, axis=0),
        1.0,
    )
    far = ops.sum(_entropy(said[..., :2], wanted), axis=(2,))
    far = far + ops.sum(ops.abs(said[..., 2:4] - ops.log(scaled)), axis=(2,))
    far = far * (2.0 - extent[..., 0] * extent[..., 1])
    off = min(1.0 / classes, 1.0 / 40.0) if use_label_smooth else 0.0
    kind = ops.cast_like(ops.equal(ops.unsqueeze(label, axis=(2,)), np.arange(classes)), x)
    far = far + ops.sum(_entropy(said[..., 5:], kind * (1.0 - 2.0 * off) + off), axis=(2,))
    loss = ops.sum(far * each, axis=(1,))

    # Confidence: of several true boxes at one place the last says how much it counts.
    cells = np.arange(kinds * rows * columns)
    here = ops.logical_and(
        ops.equal(ops.unsqueeze(place, axis=(2,)), cells), ops.unsqueeze(found, axis=(2,))
    )
    order = ops.cast(here, dtype="int64") * np.arange(1, count + 1)[:, None]
    last = ops.max(order, axis=(1,))
    weight = ops.take_along_axis(each, ops.maximum(last - 1, 0), axis=1)
    taken = ops.logical_and(ops.greater_than(last, 0), ops.greater_than(weight, 1e-5))
    trust = ops.flatten_axes(x, start=1, stop=3)[..., 4]
    open_ = ops.logical_or(
        ops.greater_than(last, 0), ops.logical_not(ops.flatten_axes(free, start=1, stop=3))
    )
    loss_here = ops.where(
        taken, _entropy(trust, 1.0) * weight, ops.where(open_, _entropy(trust, 0.0), 0.0)
    )
    return loss + ops.sum(loss_here, axis=(1,))
