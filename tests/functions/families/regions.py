"""Calls of the public functions of `regions`, beside loops over the places that are read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.families.regions import region_max_index, rounded
from tests.registry.sampling import integers, real, spaced

from ..case import Case
from .deformable_conv import bilinear

V = paddle.vision.ops
Array = np.ndarray

BOXES = np.asarray([[0.3, 0.4, 4.2, 3.9], [1.0, 1.0, 6.5, 5.0], [2.2, -1.0, 9.0, 3.0]], np.float32)
COUNT = integers(1, 2)
IMAGE = integers(0, 1, 1)


def read(plane: Array, y: float, x: float) -> float:
    """At a place up to a pixel outside; 0 further off."""
    height, width = plane.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    return bilinear(plane, min(max(y, 0.0), height - 1), min(max(x, 0.0), width - 1))


def aligned(x: Array, boxes: Array, bins: Any, scale: float, ratio: int, shift: bool) -> Array:
    out = np.zeros((len(boxes), x.shape[1], *bins))
    for r, c, i, j in np.ndindex(out.shape):
        left, top, right, bottom = (float(v) * scale - shift / 2 for v in boxes[r])
        height, width = (v if shift else max(v, 1.0) for v in (bottom - top, right - left))
        down, across = height / bins[0], width / bins[1]
        m, n = (ratio, ratio) if ratio > 0 else (math.ceil(down), math.ceil(across))
        for k, q in np.ndindex(m, n):
            place = top + (i + (k + 0.5) / m) * down, left + (j + (q + 0.5) / n) * across
            out[r, c, i, j] += read(x[IMAGE[r], c], *place) / (m * n)
    return out


def pooled(x: Array, boxes: Array, bins: Any, scale: float) -> Array:
    index = region_max_index(x, boxes, IMAGE, bins, scale)
    return np.where(index < 0, 0.0, x.reshape(-1)[index])


def by_position(x: Array, boxes: Array, bins: Any, scale: float) -> Array:
    rows, columns = bins
    out = np.zeros((len(boxes), x.shape[1] // (rows * columns), rows, columns))
    for r, c, i, j in np.ndindex(out.shape):
        left, top = (rounded(float(v)) * scale for v in boxes[r, :2])
        right, bottom = ((rounded(float(v)) + 1) * scale for v in boxes[r, 2:])
        down, across = max(bottom - top, 0.1) / rows, max(right - left, 0.1) / columns
        plane = x[IMAGE[r], (c * rows + i) * columns + j]
        values = [
            plane[y, z]
            for y in range(math.floor(top + i * down), math.ceil(top + (i + 1) * down))
            for z in range(math.floor(left + j * across), math.ceil(left + (j + 1) * across))
            if 0 <= y < plane.shape[0] and 0 <= z < plane.shape[1]
        ]
        out[r, c, i, j] = np.mean(values) if values else 0.0
    return out


CASES: dict[str, list[Case]] = {
    "vision.ops.roi_align": [
        Case(
            "places",
            lambda x, b, n: V.roi_align(x, b, n, (2, 3), 0.5, 2),
            (real(2, 2, 4, 5), BOXES, COUNT),
            numpy=lambda x, b, n: aligned(x, b, (2, 3), 0.5, 2, True),
            known=True,
        ),
        Case(
            "about-one-a-pixel",
            lambda x, b, n: V.roi_align(x, b, n, 2, aligned=False),
            (real(2, 1, 5, 4), BOXES, COUNT),
            numpy=lambda x, b, n: aligned(x, b, (2, 2), 1.0, -1, False),
            static=False,
        ),
    ],
    "vision.ops.roi_pool": [
        Case(
            "plain",
            lambda x, b, n: V.roi_pool(x, b, n, (2, 3), 0.8),
            (spaced(2, 2, 5, 4), BOXES, COUNT),
            numpy=lambda x, b, n: pooled(x, b, (2, 3), 0.8),
            known=True,
        )
    ],
    "vision.ops.psroi_pool": [
        Case(
            "plain",
            lambda x, b, n: V.psroi_pool(x, b, n, (2, 1), 0.8),
            (real(2, 4, 5, 4), BOXES, COUNT),
            numpy=lambda x, b, n: by_position(x, b, (2, 1), 0.8),
            known=True,
        )
    ],
}
