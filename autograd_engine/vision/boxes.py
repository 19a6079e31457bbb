"""Boxes around what is in images: left, top, right, bottom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import is_int, positive_int
from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.functional.arguments import check_number
from autograd_engine.nn.functional.window_arguments import known
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import spec_of
from autograd_engine.vision.arguments import counts, floats, integers, numbers

__all__ = [
    "box_coder",
    "distribute_fpn_proposals",
    "generate_proposals",
    "matrix_nms",
    "nms",
    "prior_box",
]

_LEVELS: Final = 64  # of a pyramid: each halves the sides of the one below

_CODES = ("encode_center_size", "decode_center_size")
_LARGEST = math.log(1000.0 / 16.0)  # by what the logarithm of a size may grow


def _parts(box: Any, offset: float) -> tuple[Any, Any, Any]:
    """The middle, the size and the left upper corner of boxes ``[..., 4]``, each ``[..., 2]``."""
    corner = box[..., :2]
    size = box[..., 2:] - corner + offset
    return corner + size * 0.5, size, corner


def _decoded(anchors: Any, variances: Any, deltas: Any, offset: float, largest: float) -> Any:
    """Boxes that lie off `anchors`, and differ in size, as `deltas` says."""
    middle, size, _ = _parts(anchors, offset)
    deltas = deltas * variances
    at = deltas[..., :2] * size + middle
    half = ops.exp(ops.minimum(deltas[..., 2:], largest)) * size * 0.5
    return ops.concat(at - half, at + half - offset, axis=spec_of(at).ndim - 1)


@atomic
def box_coder(
    prior_box: Any,
    prior_box_var: Any,
    target_box: Any,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    name: str | None = None,
) -> Tensor:
    """How boxes lie to given ones, or boxes from that.

    With middle and size of a given box p and another t, and a number v for each of the four, the
    code of t is ``((t.middle - p.middle) / p.size, log(t.size / p.size)) / v``.

    Parameters
    ----------
    prior_box : Tensor or Variable
        ``[M, 4]``: left, top, right, bottom.
    prior_box_var : Tensor or Variable, or list of four numbers
        What codes are divided by, ``[M, 4]`` or for all alike.
    target_box : Tensor or Variable
        Boxes ``[N, 4]`` to be encoded, or codes ``[N, M, 4]`` to be decoded.
    code_type : {"encode_center_size", "decode_center_size"}
    box_normalized : bool
        False where right and bottom belong to the box, which is larger by 1.
    axis : {0, 1}
        With 1 codes are ``[M, N, 4]``.

    Returns
    -------
    ``[N, M, 4]``, or as `target_box` is when it is decoded.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> coder = paddle.vision.ops.box_coder
    >>> prior = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0]])
    >>> box = paddle.to_tensor([[1.0, 0.0, 3.0, 2.0]])
    >>> code = coder(prior, [0.1, 0.1, 0.2, 0.2], box)
    >>> code.tolist()
    [[[5.0, 0.0, 0.0, 0.0]]]
    >>> coder(prior, [0.1, 0.1, 0.2, 0.2], code, "decode_center_size").tolist()
    [[[1.0, 0.0, 3.0, 2.0]]]
    """
    op = "box_coder"
    if code_type not in _CODES:
        raise ArgumentError(
            f"{op}: code_type must be {_CODES[0]!r} or {_CODES[1]!r}, got {code_type!r}"
        )
    if isinstance(axis, SymbolicNumber):
        axis.refuse_axis(op, 2)
    if axis not in (0, 1):
        raise ArgumentError(f"{op}: axis must be 0 or 1, got {axis!r}")
    prior = floats(op, "prior_box", prior_box, "M", 4)
    if isinstance(prior_box_var, (list, tuple)):
        by = ops.cast_like(np.asarray(numbers(op, "prior_box_var", prior_box_var, 4)), prior)
        by = ops.unsqueeze(by, axis=(0,))
    else:
        by = floats(op, "prior_box_var", prior_box_var, spec_of(prior).shape[0], 4)
    offset = 0.0 if box_normalized else 1.0
    if code_type == _CODES[0]:
        target = floats(op, "target_box", target_box, "N", 4)
        (middle, size, _), (_, sizes, corner) = (_parts(b, offset) for b in (prior, target))
        # The middle of what is encoded is that of its corners.
        middles = (corner + target[:, 2:]) * 0.5
        lead = (1,)
        shift = (ops.unsqueeze(middles, axis=lead) - middle) / size
        grown = ops.log(ops.abs(ops.unsqueeze(sizes, axis=lead) / size))
        return ops.concat(shift, grown, axis=2) / by
    rows = spec_of(prior).shape[0]
    target = floats(op, "target_box", target_box, *(("N", rows) if axis == 0 else (rows, "N")), 4)
    prior, by = (ops.unsqueeze(v, axis=(axis,)) for v in (prior, by))
    return _decoded(prior, by, target, offset, math.inf)


def _sizes(op: str, argument: str, value: Any) -> list[float]:
    sizes = numbers(op, argument, value)
    if any(s <= 0 for s in sizes):
        raise ArgumentError(f"{op}: {argument} must be positive, got {value!r}")
    return sizes


def _shapes(least: list[float], most: list[float], ratios: list[float], early: bool) -> Any:
    """Width and height of each kind of box; `early`: those of `most` come second."""
    found = []
    for k, size in enumerate(least):
        kinds = [(size * math.sqrt(r), size / math.sqrt(r)) for r in ratios]
        between = [(math.sqrt(size * most[k]),) * 2] if most else []
        found += [kinds[0], *between, *kinds[1:]] if early else [*kinds, *between]
    return np.asarray(found)


@atomic
def prior_box(
    input: Any,
    image: Any,
    min_sizes: float | Sequence[float],
    max_sizes: float | Sequence[float] | None = None,
    aspect_ratios: float | Sequence[float] = (1.0,),
    variance: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    flip: bool = False,
    clip: bool = False,
    steps: Sequence[float] = (0.0, 0.0),
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Boxes of several shapes around each place of a feature map (Liu and others 2016).

    Parameters
    ----------
    input, image : Tensor or Variable
        The feature map ``[N, C, H, W]`` and the images that it is of, ``[N, C, height, width]``;
        only their sizes count.
    min_sizes : float or list
        Sides of squares, in pixels.
    max_sizes : float or list, optional
        For each of `min_sizes` another, with which it makes a square of the geometric mean.
    aspect_ratios : float or list
        Width by height; 1 is always among them.
    variance : list of four numbers
    flip : bool
        Besides each ratio the inverse.
    clip : bool
        Keep corners within the image.
    steps : two numbers
        From place to place, to the right and down; 0 for the size of the image by that of `input`.
    offset : float
        Where in a step the middle of boxes lies.
    min_max_aspect_ratios_order : bool
        Squares of `max_sizes` come second, not last.

    Returns
    -------
    boxes : ``[H, W, P, 4]``
        Left, top, right, bottom as parts of the image.
    variances : ``[H, W, P, 4]``
        `variance` for each of them.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> features, image = paddle.zeros([1, 8, 1, 2]), paddle.zeros([1, 3, 4, 8])
    >>> boxes, _ = paddle.vision.ops.prior_box(features, image, 2.0)
    >>> boxes.tolist()
    [[[[0.125, 0.25, 0.375, 0.75]], [[0.625, 0.25, 0.875, 0.75]]]]
    """
    op = "prior_box"
    features = floats(op, "input", input, "N", "C", "H", "W")
    pixels = floats(op, "image", image, "N", "C", "height", "width")
    rows, columns = known(op, "the size of input", spec_of(features).shape[2:])
    height, width = known(op, "the size of image", spec_of(pixels).shape[2:])
    least = _sizes(op, "min_sizes", min_sizes)
    most = [] if max_sizes is None else _sizes(op, "max_sizes", max_sizes)
    if most and len(most) != len(least):
        raise ArgumentError(
            f"{op}: max_sizes must be as many as min_sizes, {len(least)}; got {max_sizes!r}"
        )
    ratios = [1.0]
    for ratio in _sizes(op, "aspect_ratios", aspect_ratios):
        if all(abs(ratio - other) >= 1e-6 for other in ratios):
            ratios += [ratio, 1.0 / ratio] if flip else [ratio]
    step = numbers(op, "steps", steps, 2)
    if 0.0 in step:
        step = [width / columns, height / rows]
    shift = check_number(op, "offset", offset)
    x, y = ((np.arange(n) + shift) * s for n, s in zip((columns, rows), step, strict=True))
    half = _shapes(least, most, ratios, min_max_aspect_ratios_order) / 2.0
    middle = np.stack(np.broadcast_arrays(x, y[:, None]), -1)[:, :, None]
    boxes = np.concatenate([middle - half, middle + half], -1) / np.asarray([width, height] * 2)
    boxes = np.clip(boxes, 0.0, 1.0) if clip else boxes
    spread = np.broadcast_to(np.asarray(numbers(op, "variance", variance, 4)), boxes.shape)
    found, variances = (ops.cast_like(v, features) for v in (boxes, spread))
    return found, variances


# --- of boxes that overlap, those that stay


def _ordered(scores: Any) -> Any:
    """Indices by falling score, ties in their order."""
    return ops.argsort(scores, axis=spec_of(scores).ndim - 1, descending=True)


def _where(mask: Any) -> Any:
    """The positions in ``[M]`` that hold True."""
    return ops.nonzero(mask)[:, 0]


@atomic
def nms(
    boxes: Any,
    iou_threshold: float = 0.3,
    scores: Any = None,
    category_idxs: Any = None,
    categories: Sequence[int] | None = None,
    top_k: int | None = None,
) -> Tensor:
    """Which boxes overlap none that comes before them by more than a part of their common area.

    Parameters
    ----------
    boxes : Tensor or Variable
        ``[M, 4]``: left, top, right, bottom; the best first, unless there are `scores`.
    iou_threshold : float
        By how much two boxes may overlap.
    scores : Tensor or Variable, optional
        ``[M]``
    category_idxs : Tensor or Variable, optional
        ``[M]``, integers: boxes of different categories do not count as overlapping. Needs
        `scores` and `categories`.
    categories : list of int, optional
        The categories that are looked at; boxes of others are left out.
    top_k : int, optional
        With categories: so many at most.

    Returns
    -------
    ``[K]``, int64: the indices of boxes that stay, the best first.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> boxes = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [3.0, 0.0, 4.0, 1.0]])
    >>> paddle.vision.ops.nms(boxes, 0.5).tolist()
    [0, 2]
    >>> paddle.vision.ops.nms(boxes, 0.5, paddle.to_tensor([0.2, 0.4, 0.9])).tolist()
    [2, 1]
    """
    op = "nms"
    boxes = floats(op, "boxes", boxes, "M", 4)
    threshold = check_number(op, "iou_threshold", iou_threshold)
    if scores is None:
        return _where(ops.nms(boxes, threshold=threshold))
    count = spec_of(boxes).shape[0]
    order = _ordered(floats(op, "scores", scores, count))
    boxes = ops.gather(boxes, order, axis=0)
    if category_idxs is None:
        return ops.gather(order, _where(ops.nms(boxes, threshold=threshold)), axis=0)
    if not isinstance(categories, (list, tuple)):
        raise ArgumentError(
            f"{op}: categories must be a list of ints beside category_idxs, got {categories!r}"
        )
    if top_k is not None and isinstance(count, int) and positive_int(op, "top_k", top_k) > count:
        raise ArgumentError(
            f"{op}: top_k must be at most {count}, the number of boxes, got {top_k}"
        )
    of = ops.gather(integers(op, "category_idxs", category_idxs, count), order, axis=0)
    stays = []
    for category in categories:
        here = _where(ops.equal(of, int(category)))
        among = ops.nms(ops.gather(boxes, here, axis=0), threshold=threshold)
        stays.append(ops.gather(here, _where(among), axis=0))
    # Positions in falling order of scores.
    kept = ops.sort(ops.concat(*stays, axis=0), axis=0)[0]
    found = ops.gather(order, kept, axis=0)
    return found if top_k is None else found[:top_k]


def _area(size: Any) -> Any:
    return size[..., 0] * size[..., 1]


def _pairs(boxes: Any, offset: float) -> Any:
    """By how much boxes ``[..., M, 4]`` overlap one another, ``[..., M, M]``."""
    last = spec_of(boxes).ndim - 1
    a, b = ops.unsqueeze(boxes, axis=(last,)), ops.unsqueeze(boxes, axis=(last - 1,))
    low, high = ops.maximum(a[..., :2], b[..., :2]), ops.minimum(a[..., 2:], b[..., 2:])
    meet = ops.greater_equal(ops.min(high - low, axis=(last + 1,)), 0.0)
    shared = ops.where(meet, _area(high - low + offset), 0.0)
    area = _area(boxes[..., 2:] - boxes[..., :2] + offset)
    both = ops.unsqueeze(area, axis=(last,)) + ops.unsqueeze(area, axis=(last - 1,)) - shared
    return shared / ops.where(ops.equal(both, 0.0), 1.0, both)


@atomic
def matrix_nms(
    bboxes: Any,
    scores: Any,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    return_rois_num: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Boxes with scores that fall by how much better ones overlap them (Wang and others 2020).

    With ``iou`` of a box and a better one, and the largest ``m`` of that one and those better than
    it, the score is multiplied by the least ``(1 - iou) / (1 - m)``, or, if `use_gaussian`,
    ``exp((m ** 2 - iou ** 2) * gaussian_sigma)``.

    Parameters
    ----------
    bboxes : Tensor or Variable
        ``[N, M, 4]``: left, top, right, bottom.
    scores : Tensor or Variable
        ``[N, C, M]``: of each box for each class.
    score_threshold, post_threshold : float
        Scores up to these count as none: before they fall, and after.
    nms_top_k, keep_top_k : int
        At most so many boxes of a class, and of an image at the end; -1 for all.
    use_gaussian, gaussian_sigma
    background_label : int
        A class that is left out; -1 for none.
    normalized : bool
        False where right and bottom belong to the box, which is larger by 1.
    return_index, return_rois_num : bool

    Returns
    -------
    found : ``[K, 6]``
        Class, score and box, the best of the first image first. No gradient goes through it.
    number : ``[N]``, int32, or None
        How many there are of each image.
    index : ``[K, 1]``, int32, or None
        Which of the N * M boxes each is.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> boxes = paddle.to_tensor([[[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.0]]])
    >>> scores = paddle.to_tensor([[[0.5, 0.8]]])
    >>> found, number, _ = paddle.vision.ops.matrix_nms(
    ...     boxes, scores, 0.1, 0.0, 10, 10, background_label=-1
    ... )
    >>> found.tolist(), number.tolist()
    ([[0.0, 0.800000011920929, 0.0, 0.0, 2.0, 1.0], [0.0, 0.25, 0.0, 0.0, 2.0, 2.0]], [2])
    """
    op = "matrix_nms"
    boxes = floats(op, "bboxes", bboxes, "N", "M", 4).detach()
    images, count, _ = known(op, "the size of bboxes", spec_of(boxes).shape)
    points = floats(op, "scores", scores, images, "C", count).detach()
    (classes,) = known(op, "the classes of scores", spec_of(points).shape[1:2])
    first, last = (
        check_number(op, n, v)
        for n, v in (("score_threshold", score_threshold), ("post_threshold", post_threshold))
    )
    sigma = check_number(op, "gaussian_sigma", gaussian_sigma)
    for argument, value in (
        ("nms_top_k", nms_top_k),
        ("keep_top_k", keep_top_k),
        ("background_label", background_label),
    ):
        if not is_int(value):
            raise ArgumentError(f"{op}: {argument} must be an int, got {value!r}")
    most = count if nms_top_k < 0 else min(nms_top_k, count)
    wanted = [c for c in range(classes) if c != background_label]
    points = ops.gather(points, np.asarray(wanted, np.int64), axis=1)
    points, order = ops.topk(points, k=most, axis=2)  # [N, C, K]
    place = order + np.arange(images)[:, None, None] * count
    chosen = ops.gather(ops.reshape(boxes, shape=(-1, 4)), place, axis=0)
    # Row i: what overlaps box i among those that are better. What does not count is behind them.
    better = ops.cast_like(np.tri(most, k=-1), points)
    iou = _pairs(chosen, 0.0 if normalized else 1.0) * better
    worst = ops.max(iou, axis=(3,)) if most else points
    worst = ops.unsqueeze(worst, axis=(2,))
    if use_gaussian:
        factor = ops.exp((worst * worst - iou * iou) * sigma)
    else:
        factor = (1.0 - iou) / (1.0 - worst)
    factor = ops.where(ops.greater_than(better, 0.0), factor, 1.0)
    fallen = points * ops.min(factor, axis=(3,)) if most else points
    counted = ops.logical_and(ops.greater_than(points, first), ops.greater_than(fallen, last))
    label = ops.cast_like(np.asarray(wanted, float)[:, None] + np.zeros(most), points)
    rows = [ops.expand(label, shape=(images, len(wanted), most)), fallen]
    every = ops.concat(ops.stack(*rows, axis=3), chosen, axis=3)
    every, place, counted, fallen = (
        ops.flatten_axes(v, start=1, stop=2) for v in (every, place, counted, fallen)
    )
    total = len(wanted) * most
    keep = total if keep_top_k < 0 else min(keep_top_k, total)
    order = _ordered(ops.where(counted, fallen, -np.inf))[:, :keep]
    flat = ops.reshape(order + np.arange(images)[:, None] * total, shape=(-1,))
    stays = ops.gather(ops.reshape(counted, shape=(-1,)), flat, axis=0)
    number = ops.sum(ops.cast(ops.reshape(stays, shape=(images, keep)), dtype="int64"), axis=(1,))
    flat = ops.gather(flat, _where(stays), axis=0)
    found = ops.gather(ops.reshape(every, shape=(-1, 6)), flat, axis=0)
    index = ops.unsqueeze(ops.gather(ops.reshape(place, shape=(-1,)), flat, axis=0), axis=(1,))
    return (
        found,
        ops.cast(number, dtype="int32") if return_rois_num else None,
        ops.cast(index, dtype="int32") if return_index else None,
    )


# --- what a detector proposes


@atomic
def distribute_fpn_proposals(
    fpn_rois: Any,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: float,
    pixel_offset: bool = False,
    rois_num: Any = None,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor, list[Tensor] | None]:
    """Boxes by the level of a feature pyramid that fits their size (Lin and others 2017).

    The level is ``floor(log2(sqrt(area) / refer_scale) + refer_level)``, within the bounds.

    Parameters
    ----------
    fpn_rois : Tensor or Variable
        ``[R, 4]``: left, top, right, bottom.
    min_level, max_level, refer_level : int
    refer_scale : number
        The side of a square that belongs to `refer_level`.
    pixel_offset : bool
        Right and bottom belong to the box, which is larger by 1.
    rois_num : Tensor or Variable, optional
        ``[N]``, integers: how many boxes each image has.

    Returns
    -------
    rois : list of ``[R_level, 4]``
    restore : ``[R, 1]``, int32
        Where each box of `fpn_rois` is in the concatenation of `rois`.
    number : list of ``[N]``, int32, or None
        With `rois_num`: how many boxes of each level each image has.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> boxes = paddle.to_tensor([[0.0, 0.0, 9.0, 9.0], [0.0, 0.0, 2.0, 2.0]])
    >>> rois, restore, _ = paddle.vision.ops.distribute_fpn_proposals(boxes, 2, 3, 3, 8)
    >>> [r.tolist() for r in rois], restore.tolist()
    ([[[0.0, 0.0, 2.0, 2.0]], [[0.0, 0.0, 9.0, 9.0]]], [[1], [0]])
    """
    op = "distribute_fpn_proposals"
    rois = floats(op, "fpn_rois", fpn_rois, "R", 4)
    for argument, value in (
        ("min_level", min_level),
        ("max_level", max_level),
        ("refer_level", refer_level),
    ):
        if not is_int(value):
            raise ArgumentError(f"{op}: {argument} must be an int, got {value!r}")
    if not 0 <= max_level - min_level < _LEVELS:
        raise ArgumentError(
            f"{op}: max_level must be min_level or above, by less than {_LEVELS}; got min_level="
            f"{min_level} and max_level={max_level}"
        )
    scale = check_number(op, "refer_scale", refer_scale)
    size = rois[:, 2:] - rois[:, :2]
    area = _area(size + float(bool(pixel_offset)))
    area = ops.where(ops.greater_equal(ops.min(size, axis=(1,)), 0.0), area, 0.0)
    level = ops.floor(ops.log2(ops.sqrt(area) / scale + 1e-6) + float(refer_level))
    level = ops.minimum(ops.maximum(level, float(min_level)), float(max_level))
    here = [_where(ops.equal(level, float(k))) for k in range(min_level, max_level + 1)]
    restore = ops.argsort(ops.concat(*here, axis=0), axis=0)
    number = None
    if rois_num is not None:
        image = counts(op, "rois_num", rois_num, rois)
        number = [
            ops.cast(
                ops.row_counts(
                    ops.gather(image, k, axis=0),
                    rois_num,
                    op=op,
                    argument="rois_num",
                    size=None,
                    grows=False,
                ),
                dtype="int32",
            )
            for k in here
        ]
    parts = [ops.gather(rois, k, axis=0) for k in here]
    return parts, ops.cast(ops.unsqueeze(restore, axis=(1,)), dtype="int32"), number


@atomic
def generate_proposals(
    scores: Any,
    bbox_deltas: Any,
    img_size: Any,
    anchors: Any,
    variances: Any,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The boxes that a region proposal network finds most likely (Ren and others 2015).

    Parameters
    ----------
    scores : Tensor or Variable
        ``[N, A, H, W]``: of each anchor at each place.
    bbox_deltas : Tensor or Variable
        ``[N, 4 A, H, W]``: codes of boxes, see `box_coder`.
    img_size : Tensor or Variable
        ``[N, 2]``: height and width, within which boxes are kept.
    anchors, variances : Tensor or Variable
        ``[H, W, A, 4]``
    pre_nms_top_n, post_nms_top_n : int
        How many of the best are looked at in an image, and how many are returned.
    nms_thresh : float
        By how much two boxes may overlap; see `nms`.
    min_size : float
        Boxes that are narrower or lower are left out, as are those below 1.
    eta : float
        Below 1: after each box that stays `nms_thresh` is multiplied by it, while above 0.5.
    pixel_offset : bool
        Right and bottom belong to the box, which is larger by 1.
    return_rois_num : bool

    Returns
    -------
    rois : ``[K, 4]``
        One box of zeros for an image of which none stays. No gradient goes through it.
    probabilities : ``[K, 1]``
    number : ``[N]``, int32, or None
        How many boxes each image has.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scores, deltas = paddle.to_tensor([[[[0.5, 0.9]]]]), paddle.zeros([1, 4, 1, 2])
    >>> anchors = paddle.to_tensor([[[[0.0, 0.0, 4.0, 4.0]], [[1.0, 0.0, 5.0, 4.0]]]])
    >>> rois, probabilities, number = paddle.vision.ops.generate_proposals(
    ...     scores, deltas, paddle.to_tensor([[4.0, 4.0]]), anchors, paddle.ones_like(anchors),
    ...     return_rois_num=True,
    ... )
    >>> rois.tolist(), number.tolist()
    ([[1.0, 0.0, 4.0, 4.0]], [1])
    """
    op = "generate_proposals"
    points = floats(op, "scores", scores, "N", "A", "H", "W").detach()
    images, kinds, rows, columns = known(op, "the size of scores", spec_of(points).shape)
    codes = floats(op, "bbox_deltas", bbox_deltas, images, 4 * kinds, rows, columns).detach()
    codes = ops.reshape(codes, shape=(images, kinds, 4, rows, columns))
    codes = ops.reshape(ops.transpose(codes, perm=(0, 3, 4, 1, 2)), shape=(images, -1, 4))
    points = ops.reshape(ops.transpose(points, perm=(0, 2, 3, 1)), shape=(images, -1))
    limits = floats(op, "img_size", img_size, images, 2)
    around, spread = (
        ops.reshape(floats(op, n, v, rows, columns, kinds, 4), shape=(-1, 4))
        for n, v in (("anchors", anchors), ("variances", variances))
    )
    offset = float(bool(pixel_offset))
    total = rows * columns * kinds
    most = total if pre_nms_top_n <= 0 else min(pre_nms_top_n, total)
    least = max(check_number(op, "min_size", min_size), 1.0)
    found: list[tuple[Any, Any, Any]] = []
    for k in range(images):
        best = _ordered(points[k])[:most]
        point = ops.gather(points[k], best, axis=0)
        anchor, by, code = (ops.gather(v, best, axis=0) for v in (around, spread, codes[k]))
        boxes = _decoded(anchor, by, code, offset, _LARGEST)
        height, width = limits[k, 0], limits[k, 1]
        bound = ops.stack(width, height, width, height, axis=0)
        boxes = ops.maximum(ops.minimum(boxes, bound - offset), 0.0)
        middle, size, _ = _parts(boxes, offset)
        large = ops.greater_equal(ops.min(size, axis=(1,)), least)
        if pixel_offset:
            beyond = ops.max(middle - bound[:2], axis=(1,))
            large = ops.logical_and(large, ops.less_equal(beyond, 0.0))
        here = _where(large)
        boxes, point = ops.gather(boxes, here, axis=0), ops.gather(point, here, axis=0)
        if nms_thresh > 0:
            kept = ops.nms(boxes, threshold=float(nms_thresh), eta=float(eta), offset=offset)
            here = _where(kept)
            here = here[:post_nms_top_n] if post_nms_top_n > 0 else here
            boxes, point = ops.gather(boxes, here, axis=0), ops.gather(point, here, axis=0)
        found.append(_or_zeros(boxes, point))
    boxes, point, number = (ops.concat(*parts, axis=0) for parts in zip(*found, strict=True))
    point = ops.unsqueeze(point, axis=(1,))
    return boxes, point, ops.cast(number, dtype="int32") if return_rois_num else None


def _or_zeros(boxes: Any, point: Any) -> tuple[Any, Any, Any]:
    """Boxes, scores, and how many: one of zeros where there are none."""
    ones = ops.cast(ops.full_like(point, value=1), dtype="int64")
    count = ops.sum(ones, axis=(0,), keepdims=True)
    # A row of zeros behind all others is taken where it is the only one.
    number = ops.maximum(count, 1)
    place = ops.cumsum(ops.concat(ones, np.ones(1, np.int64), axis=0), axis=0) - 1
    here = _where(ops.less_than(place, number))
    point = ops.pad(point, pads=((0, 1),))
    boxes = ops.pad(boxes, pads=((0, 1), (0, 0)))
    return ops.gather(boxes, here, axis=0), ops.gather(point, here, axis=0), number
