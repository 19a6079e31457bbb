"""Samples and references of `ops/nn/regions.py`: boxes, one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..referencing import Array
from ..sampling import Sample, integers, real, spaced

BOXES = np.asarray(
    [
        [0.0, 0.0, 4.0, 4.0],
        [1.0, 0.0, 4.0, 4.0],
        [3.0, 3.0, 6.0, 5.0],
        [3.0, 3.0, 6.0, 4.0],
        [4.0, 4.0, 6.0, 6.0],
        [7.0, 0.0, 8.0, 1.0],
        [2.0, 2.0, 2.0, 2.0],
    ]
)


def overlap(a: list[float], b: list[float], offset: float = 0.0) -> float:
    """The common area of two boxes, of that of both together."""
    width, height = (min(a[k + 2], b[k + 2]) - max(a[k], b[k]) for k in (0, 1))
    if width < 0 or height < 0:
        return 0.0
    shared = (width + offset) * (height + offset)
    both = sum((c[2] - c[0] + offset) * (c[3] - c[1] + offset) for c in (a, b))
    return shared / (both - shared) if both > shared else 0.0


def nms(boxes: Array, threshold: float, eta: float = 1.0, offset: float = 0.0) -> Array:
    kept: list[int] = []
    for k, box in enumerate(boxes.tolist()):
        if all(overlap(box, boxes[i].tolist(), offset) <= threshold for i in kept):
            kept.append(k)
            threshold *= eta if eta < 1.0 and threshold > 0.5 else 1.0
    return np.isin(np.arange(len(boxes)), kept)


def rounded(v: float) -> int:
    """Halves away from zero."""
    return int(math.copysign(math.floor(abs(v) + 0.5), v))


def region_max_index(
    x: Array, boxes: Array, image: Array, bins: tuple[int, int], scale: float
) -> Array:
    channels, height, width = x.shape[1:]
    out = np.full((len(boxes), channels, *bins), -1, np.int64)
    for r, c, i, j in np.ndindex(out.shape):
        left, top, right, bottom = (rounded(v * scale) for v in boxes[r].tolist())
        down, across = (
            max(b - a + 1, 1) / n for a, b, n in ((top, bottom, bins[0]), (left, right, bins[1]))
        )
        pixels = [
            (y, z)
            for y in range(top + math.floor(i * down), top + math.ceil((i + 1) * down))
            for z in range(left + math.floor(j * across), left + math.ceil((j + 1) * across))
            if 0 <= y < height and 0 <= z < width
        ]
        if pixels:
            plane = x[image[r], c]
            y, z = max(pixels, key=lambda p: plane[p])
            out[r, c, i, j] = ((image[r] * channels + c) * height + y) * width + z
    return out


IN_IMAGE = np.asarray(
    [[0.0, 1.0, 3.0, 2.0], [1.4, 0.4, 9.0, 2.6], [-2.0, -2.0, 1.0, 6.0], [8.0, 8.0, 9.0, 9.0]]
)

SAMPLES: dict[str, list[Sample]] = {
    "nms": [
        Sample("plain", (BOXES,), {"threshold": 0.45}),
        Sample("falls", (BOXES,), {"threshold": 0.8, "eta": 0.5}),
        Sample("pixels", (BOXES,), {"threshold": 0.2, "offset": 1.0}),
        Sample(
            "random", (np.abs(real(6, 4)) + np.asarray([0.0, 0.0, 2.0, 2.0]),), {"threshold": 0.3}
        ),
        Sample("empty", (np.zeros((0, 4)),), {"threshold": 0.3}),
    ],
    "region_max_index": [
        Sample(
            "plain",
            (spaced(2, 2, 4, 5), IN_IMAGE, integers(1, 0, 1, 0)),
            {"bins": (2, 3), "scale": 1.0},
        ),
        Sample(
            "scaled",
            (spaced(1, 1, 5, 4), 2 * IN_IMAGE, integers(0, 0, 0, 0)),
            {"bins": (1, 2), "scale": 0.5},
        ),
        Sample(
            "empty",
            (spaced(1, 2, 3, 3), np.zeros((0, 4)), np.zeros(0, np.int64)),
            {"bins": (2, 2), "scale": 1.0},
        ),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {"nms": nms, "region_max_index": region_max_index}
