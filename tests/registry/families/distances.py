"""Samples and references of `ops/linalg/distances.py`: distances between rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array
from ..sampling import Sample

_SHAPES = {
    "plain": ((2, 3), (4, 3)),
    "batch": ((2, 2, 3), (2, 3, 3)),
    "batch-x": ((2, 2, 3), (3, 3)),
    "batch-y": ((2, 3), (2, 1, 3)),
    "size-1": ((1, 1), (1, 1)),
    "empty": ((0, 3), (2, 3)),
}


def arrays(*shapes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(1)
    return tuple(random.uniform(-2.0, 2.0, shape) for shape in shapes)


def distances(x: Array, y: Array) -> Array:
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    x, y = (np.broadcast_to(v, (*batch, *v.shape[-2:])) for v in (x, y))
    out = np.zeros((*batch, x.shape[-2], y.shape[-2]))
    for *at, i, j in np.ndindex(*out.shape):
        out[(*at, i, j)] = math.dist(x[(*at, i)], y[(*at, j)])
    return out


SAMPLES: dict[str, list[Sample]] = {
    "distances": [
        *[Sample(label, arrays(*shapes)) for label, shapes in _SHAPES.items()],
        Sample("strided", tuple(map(strided, arrays((2, 3), (3, 3))))),
    ],
    "weighted_differences": [
        *[
            Sample(label, arrays((*np.broadcast_shapes(x[:-2], y[:-2]), x[-2], y[-2]), x, y))
            for label, (x, y) in _SHAPES.items()
        ],
        Sample("strided", tuple(map(strided, arrays((2, 3), (2, 2), (3, 2))))),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "distances": distances,
    "weighted_differences": lambda w, x, y: (
        np.einsum("...ij,...ik->...ik", w, np.broadcast_to(x, (*w.shape[:-1], x.shape[-1])))
        - np.einsum("...ij,...jk->...ik", w, np.broadcast_to(y, (*w.shape[:-2], *y.shape[-2:])))
    ),
}
