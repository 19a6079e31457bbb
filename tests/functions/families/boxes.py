"""Calls of the public functions of `boxes`, beside loops over boxes.

Where no loop stands the values are those of Paddle 3.3.1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.families.regions import BOXES, nms
from tests.registry.sampling import integers, real

from ..case import Case

V = paddle.vision.ops
Array = np.ndarray


def waves(*shape: int, low: float = 0.0, high: float = 1.0, step: float = 1.7) -> Array:
    """Numbers between the bounds that nothing draws."""
    wave = np.sin(step * np.arange(1.0, math.prod(shape) + 1.0))
    return np.asarray(low + (high - low) * (0.5 + 0.5 * wave)).reshape(shape)


def corners(low: Array, size: Array) -> Array:
    return np.concatenate([low, low + size], -1)


PRIORS = corners(real(3, 2, low=0.0, high=3.0), real(3, 2, low=1.0, high=3.0))
TARGETS = corners(real(2, 2, low=0.0, high=3.0), real(2, 2, low=1.0, high=3.0))
SPREAD = real(3, 4, low=0.1, high=0.3)
CODES = real(2, 3, 4, low=-1.0, high=1.0)


def middle(box: Array, offset: float = 0.0) -> list[float]:
    left, top, right, bottom = box.tolist()
    width, height = right - left + offset, bottom - top + offset
    return [left + width / 2, top + height / 2, width, height]


def encoded(priors: Array, by: Array, targets: Array) -> Array:
    out = np.zeros((len(targets), len(priors), 4))
    for i, j in np.ndindex(out.shape[:2]):
        (x, y, w, h), (u, v, s, t) = middle(priors[j]), middle(targets[i])
        out[i, j] = [(u - x) / w, (v - y) / h, math.log(s / w), math.log(t / h)] / by[j]
    return out


def decoded(priors: Array, by: Array, codes: Array, offset: float) -> Array:
    out = np.zeros(codes.shape)
    for i, j in np.ndindex(out.shape[:2]):
        x, y, w, h = middle(priors[j], offset)
        a, b, c, d = codes[i, j] * by[j]
        u, v, s, t = x + a * w, y + b * h, math.exp(c) * w, math.exp(d) * h
        out[i, j] = u - s / 2, v - t / 2, u + s / 2 - offset, v + t / 2 - offset
    return out


def around_places(rows: int, columns: int, height: int, width: int) -> Array:
    """With sides 2 and 4, ratios 1, 3 and 1/3, and squares of sides 6 and 7 beside them."""
    kinds = [
        (math.sqrt(least * most),) * 2
        if ratio is None
        else (least * ratio**0.5, least / ratio**0.5)
        for least, most in ((2.0, 6.0), (4.0, 7.0))
        for ratio in (1.0, 3.0, 1.0 / 3.0, None)
    ]
    out = np.zeros((rows, columns, len(kinds), 4))
    for i, j, k in np.ndindex(out.shape[:3]):
        y, x = (i + 0.4) * height / rows, (j + 0.4) * width / columns
        w, h = kinds[k]
        box = [(x - w / 2) / width, (y - h / 2) / height, (x + w / 2) / width, (y + h / 2) / height]
        out[i, j, k] = np.clip(box, 0.0, 1.0)
    return out


SCORES = np.asarray([0.2, 0.9, 0.4, 0.7, 0.3, 0.1, 0.8])
KINDS = integers(0, 0, 1, 1, 2, 0, 3)


def of_categories(boxes: Array, scores: Array, kinds: Array, wanted: Any, most: int) -> Array:
    found = []
    for kind in wanted:
        here = [k for k in np.argsort(-scores) if kinds[k] == kind]
        found += [k for k, kept in zip(here, nms(boxes[here], 0.3), strict=True) if kept]
    return np.asarray(sorted(found, key=lambda k: -scores[k])[:most])


LEVELS = np.asarray(
    [[0.0, 0.0, 30.0, 40.0], [5.0, 5.0, 8.0, 9.0], [1.0, 1.0, 900.0, 800.0], [0.0, 0.0, 60.0, 70.0]]
)


def by_level(boxes: Array, counts: Array) -> tuple[Array, ...]:
    """Levels 2 to 4, of which 3 has boxes of 50 pixels."""
    sizes = [math.sqrt((r - a) * (b - t)) for a, t, r, b in boxes.tolist()]
    level = [min(max(math.floor(math.log2(s / 50) + 3), 2), 4) for s in sizes]
    order = sorted(range(len(boxes)), key=lambda k: level[k])
    image = np.repeat(np.arange(len(counts)), counts)
    levels = range(2, 5)
    return (
        *(boxes[[k for k in range(len(boxes)) if level[k] == n]].reshape(-1, 4) for n in levels),
        np.argsort(order)[:, None],
        *(
            np.asarray(
                [sum(level[k] == n for k in np.flatnonzero(image == i)) for i in range(len(counts))]
            )
            for n in levels
        ),
    )


def flat(levels: Any) -> list[Any]:
    rois, restore, number = levels
    return [*rois, restore, *number]


MATRIX = corners(waves(1, 6, 4, high=4.0)[..., :2], waves(1, 6, 2, low=1.0, high=4.0, step=0.7))
FALLEN = {
    False: (4.767306304726798, 0.5394265145600083, 2),
    True: (4.16291900714845, 0.549745893058266, 5),
}


def fallen(boxes: Array, scores: Array, gaussian: bool) -> tuple[Array, ...]:
    """Two classes with two boxes each whose scores stay as they are, and one that has lost some."""
    _, score, last = FALLEN[gaussian]
    rows = [(1, scores[0, 1, 0], 0), (1, scores[0, 1, 3], 3), (2, scores[0, 2, 0], 0)]
    rows += [(2, scores[0, 2, 3], 3), (2, score, last)]
    found = [[c, s, *boxes[0, k]] for c, s, k in rows]
    return np.asarray(found), np.asarray([5]), np.asarray([[k] for *_, k in rows])


ANCHORS = corners(
    waves(2, 2, 2, 4, high=8.0)[..., :2], waves(2, 2, 2, 2, low=2.0, high=9.0, step=0.7)
)
PROPOSED = (
    [
        [0.0, 5.92594242053922, 5.586154074845007, 9.0],
        [3.329889028879072, 2.6790060730448335, 10.325206173448745, 9.0],
        [1.7337487455700278, 3.6490546791642764, 6.701558966731353, 9.0],
        [0.0, 0.0, 0.0, 0.0],
    ],
    [[0.9272994540441402], [0.9228734155714666], [0.5084069502421753], [0.0]],
    [3, 1],
)

CASES: dict[str, list[Case]] = {
    "vision.ops.box_coder": [
        Case(
            "encode",
            lambda p, v, t: V.box_coder(p, v, t),
            (PRIORS, SPREAD, TARGETS),
            numpy=encoded,
        ),
        Case(
            "decode",
            lambda p, v, t: V.box_coder(p, v, t, "decode_center_size", False),
            (PRIORS, SPREAD, CODES),
            numpy=lambda p, v, t: decoded(p, v, t, 1.0),
        ),
        Case(
            "decode-columns",
            lambda p, t: V.box_coder(p, [0.1, 0.1, 0.2, 0.2], t, "decode_center_size", axis=1),
            (PRIORS, CODES.swapaxes(0, 1).copy()),
            numpy=lambda p, t: decoded(
                p, np.tile([0.1, 0.1, 0.2, 0.2], (3, 1)), t.swapaxes(0, 1), 0.0
            ).swapaxes(0, 1),
        ),
    ],
    "vision.ops.prior_box": [
        Case(
            "all",
            lambda x, i: V.prior_box(
                x, i, [2.0, 4.0], [6.0, 7.0], [1.0, 3.0], flip=True, clip=True, offset=0.4
            ),
            (np.zeros((1, 2, 3, 2)), np.zeros((1, 3, 12, 10))),
            numpy=lambda x, i: (
                around_places(3, 2, 12, 10),
                np.broadcast_to([0.1, 0.1, 0.2, 0.2], (3, 2, 8, 4)),
            ),
            differentiable=False,
            known=True,
        )
    ],
    "vision.ops.nms": [
        Case(
            "ordered",
            lambda b: V.nms(b, 0.3),
            (BOXES,),
            numpy=lambda b: np.flatnonzero(nms(b, 0.3)),
            differentiable=False,
        ),
        Case(
            "categories",
            lambda b, s, k: V.nms(b, 0.3, s, k, [0, 1, 2, 9], 4),
            (BOXES, SCORES, KINDS),
            numpy=lambda b, s, k: of_categories(b, s, k, [0, 1, 2, 9], 4),
            differentiable=False,
        ),
    ],
    "vision.ops.distribute_fpn_proposals": [
        Case(
            "levels",
            lambda b, n: flat(V.distribute_fpn_proposals(b, 2, 4, 3, 50, rois_num=n)),
            (LEVELS.astype(np.float32), integers(3, 1)),
            numpy=by_level,
            differentiable=False,
        )
    ],
    "vision.ops.matrix_nms": [
        Case(
            str(gaussian),
            lambda b, s, g=gaussian: V.matrix_nms(b, s, 0.2, 0.1, 4, 5, g, return_index=True),
            (MATRIX, waves(1, 3, 6, step=2.1)),
            numpy=lambda b, s, g=gaussian: tuple(fallen(b, s, g)[k] for k in (0, 1, 2)),
            differentiable=False,
            known=True,
        )
        for gaussian in (False, True)
    ],
    "vision.ops.generate_proposals": [
        Case(
            "plain",
            lambda s, d, i, a, v: V.generate_proposals(
                s, d, i, a, v, 7, 3, 0.4, 2.0, return_rois_num=True
            ),
            (
                waves(2, 2, 2, 2, step=2.1),
                waves(2, 8, 2, 2, low=-0.5, high=0.5, step=1.1),
                np.asarray([[9.0, 12.0], [3.0, 3.5]]),
                ANCHORS,
                np.full((2, 2, 2, 4), 0.5),
            ),
            numpy=lambda *_: tuple(map(np.asarray, PROPOSED)),
            differentiable=False,
            known=True,
        )
    ],
}
