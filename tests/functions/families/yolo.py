"""Calls of the public functions of `yolo`; the losses are those of Paddle 3.3.1."""

from __future__ import annotations

import math

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, real

from ..case import Case
from .boxes import waves

V = paddle.vision.ops
Array = np.ndarray

ANCHORS = [10, 13, 16, 8]


def sigmoid(v: float) -> float:
    return 1.0 / (1.0 + math.exp(-v))


def boxes_and_scores(
    x: Array, size: Array, scale: float, clip: bool, aware: float | None
) -> tuple[Array, Array]:
    """Of two anchors, two classes, and places that are 8 pixels wide."""
    kinds, classes = len(ANCHORS) // 2, 2
    overlap, x = (None, x) if aware is None else (x[:, :kinds], x[:, kinds:])
    batch, _, rows, columns = x.shape
    x = x.reshape(batch, kinds, 5 + classes, rows, columns)
    boxes = np.zeros((batch, kinds, rows, columns, 4))
    scores = np.zeros((batch, kinds, rows, columns, classes))
    for n, k, i, j in np.ndindex(boxes.shape[:4]):
        across, down, wide, high, sure, *logits = x[n, k, :, i, j].tolist()
        confidence = sigmoid(sure)
        if overlap is not None:
            confidence **= 1 - aware
            confidence *= sigmoid(overlap[n, k, i, j]) ** aware
        if confidence < 0.5:
            continue
        height, width = size[n].tolist()
        u = (j + sigmoid(across) * scale - (scale - 1) / 2) * width / columns
        v = (i + sigmoid(down) * scale - (scale - 1) / 2) * height / rows
        w = math.exp(wide) * ANCHORS[2 * k] * width / (8 * columns)
        h = math.exp(high) * ANCHORS[2 * k + 1] * height / (8 * rows)
        box = [u - w / 2, v - h / 2, u + w / 2, v + h / 2]
        if clip:
            low, high = (0, 0), (width - 1, height - 1)
            box = [*map(max, box[:2], low), *map(min, box[2:], high)]
        boxes[n, k, i, j] = box
        scores[n, k, i, j] = [confidence * sigmoid(c) for c in logits]
    return boxes.reshape(batch, -1, 4), scores.reshape(batch, -1, classes)


SIZE = integers([30, 40], [32, 16])

TRUE = np.stack(
    [
        waves(2, 3, low=0.1, high=0.9, step=2.3),
        waves(2, 3, low=0.1, high=0.9, step=0.9),
        waves(2, 3, low=0.2, high=0.6),
        waves(2, 3, low=0.1, high=0.7, step=2.9),
    ],
    -1,
).astype(np.float32)
TRUE[1, 2, 2:] = 0.0
LABEL = integers([0, 1, 1], [1, 0, 1])
OUTPUT = waves(2, 14, 3, 3, low=-1.0)

CASES: dict[str, list[Case]] = {
    "vision.ops.yolo_box": [
        Case(
            "plain",
            lambda x, s: V.yolo_box(x, s, ANCHORS, 2, 0.5, 8),
            (real(2, 14, 2, 3), SIZE),
            numpy=lambda x, s: boxes_and_scores(x, s, 1.0, True, None),
            known=True,
        ),
        Case(
            "aware",
            lambda x, s: V.yolo_box(x, s, ANCHORS, 2, 0.5, 8, False, None, 1.2, True, 0.4),
            (real(2, 16, 2, 2), SIZE),
            numpy=lambda x, s: boxes_and_scores(x, s, 1.2, False, 0.4),
            known=True,
        ),
    ],
    "vision.ops.yolo_loss": [
        Case(
            "smooth",
            lambda x, b, k: V.yolo_loss(x, b, k, [10, 13, 16, 8, 5, 5], [0, 2], 2, 0.3, 8),
            (OUTPUT, TRUE, LABEL),
            numpy=lambda *_: np.asarray([29.809736929479776, 26.617400738556327]),
            known=True,
        ),
        Case(
            "scores",
            lambda x, b, k, s: V.yolo_loss(
                x, b, k, [10, 13, 16, 8, 5, 5], [1, 2], 2, 0.3, 8, s, False, None, 1.2
            ),
            (OUTPUT, TRUE, LABEL, waves(2, 3, low=0.3).astype(np.float32)),
            numpy=lambda *_: np.asarray([26.78164067869006, 19.337379902438077]),
            known=True,
        ),
    ],
}
