"""Samples and references of `ops/linalg/products.py`: products of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array
from ..sampling import Sample, arrays, real


def _matmul() -> list[Sample]:
    return [
        Sample("plain", arrays((2, 3), (3, 2))),
        Sample("x-transposed", arrays((3, 2), (3, 4)), {"transpose_x": True}),
        Sample("y-transposed", arrays((2, 3), (4, 3)), {"transpose_y": True}),
        Sample(
            "both-transposed", arrays((3, 2), (4, 3)), {"transpose_x": True, "transpose_y": True}
        ),
        Sample("batch", arrays((2, 2, 3), (2, 3, 2))),
        Sample("batch-x", arrays((2, 2, 3), (3, 2)), {"transpose_x": False}),
        Sample("batch-y", arrays((2, 3), (2, 2, 3)), {"transpose_y": True}),
        Sample("batches-broadcast", arrays((2, 1, 2, 3), (1, 2, 3, 1))),
        Sample("size-1", arrays((1, 3), (3, 1))),
        Sample("empty", arrays((0, 3), (3, 2))),
        Sample("empty-sum", arrays((2, 0), (0, 3))),
        Sample("strided", (strided(real(3, 2)), strided(real(2, 3)))),
    ]


def _like(*shapes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    return tuple(np.zeros(s) for s in shapes)


def _vectors(*shape: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(1)
    return tuple(random.uniform(-2.0, 2.0, shape) for _ in range(2))


def unmerge(x: Array, *likes: Array, sources: Any) -> Array:
    shape = [likes[k].shape[a] for k, a in sources]
    out = np.zeros(shape)
    for index, value in zip(np.ndindex(*shape), x.ravel().tolist(), strict=True):
        out[index] = value
    return out


def merge(x: Array, counts: tuple[int, ...]) -> Array:
    stops = np.cumsum(counts)
    shape = [math.prod(x.shape[b - n : b]) for b, n in zip(stops, counts, strict=True)]
    return np.asarray([v for _, v in np.ndenumerate(x)]).reshape(shape)


SAMPLES: dict[str, list[Sample]] = {
    "matmul": _matmul(),
    "cross": [
        Sample("plain", _vectors(2, 3), {"axis": 1}),
        Sample("first", _vectors(3, 2), {"axis": 0}),
        Sample("middle", _vectors(2, 3, 2), {"axis": 1}),
        Sample("one", _vectors(3), {"axis": 0}),
        Sample("empty", _vectors(0, 3), {"axis": 1}),
        Sample("strided", tuple(map(strided, _vectors(2, 3))), {"axis": 1}),
    ],
    "merge_axes": [
        Sample("front", (real(2, 3, 2),), {"counts": (2, 1)}),
        Sample("back", (real(2, 3, 2),), {"counts": (1, 2)}),
        Sample("all", (real(2, 3),), {"counts": (2,)}),
        Sample("new", (real(2, 3),), {"counts": (0, 2, 0)}),
        Sample("0-d", (real(),), {"counts": (0, 0)}),
        Sample("empty", (real(0, 3),), {"counts": (2,)}),
        Sample("strided", (strided(real(2, 3, 2)),), {"counts": (1, 2)}),
    ],
    "unmerge_axes": [
        Sample("two", (real(2, 3), *_like((2, 5), (4, 3))), {"sources": ((0, 0), (1, 1))}),
        Sample("apart", (real(6, 2), *_like((2, 3), (2,))), {"sources": ((0, 0), (0, 1), (1, 0))}),
        Sample("0-d", (real(1, 1), *_like((2,), (2,))), {"sources": ()}),
        Sample("empty", (real(0, 2), *_like((3, 0), (2,))), {"sources": ((0, 0), (0, 1), (1, 0))}),
        Sample(
            "strided",
            (strided(real(2, 6)), *_like((2,), (3, 2))),
            {"sources": ((0, 0), (1, 0), (1, 1))},
        ),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "matmul": lambda x, y, transpose_x=False, transpose_y=False: np.einsum(
        f"...{'ki' if transpose_x else 'ik'},...{'jk' if transpose_y else 'kj'}->...ij", x, y
    ),
    "cross": lambda x, y, axis: np.cross(x, y, axis=axis),
    "merge_axes": merge,
    "unmerge_axes": unmerge,
}
