"""Samples and references of `ops/diagonal.py`: diagonals and triangles."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, transpose_of
from ..sampling import Sample, arrays, real, with_likes


def _triangles() -> list[Sample]:
    return [
        Sample("plain", arrays((3, 3))),
        Sample("above", arrays((2, 4)), {"diagonal": 1}),
        Sample("below", arrays((4, 2)), {"diagonal": -1}),
        Sample("far-above", arrays((2, 3)), {"diagonal": 10**20}),
        Sample("far-below", arrays((2, 3)), {"diagonal": -(10**20)}),
        Sample("batch", arrays((2, 2, 3)), {"diagonal": 0}),
        Sample("size-1", arrays((1, 1))),
        Sample("empty", arrays((0, 3))),
        Sample("strided", (strided(real(3, 3)),)),
    ]


def _diagonals(adjoint: bool) -> list[Sample]:
    """Samples of diagonal, or of its adjoint: (label, shape, offset, axis1, axis2, length)."""
    cases = {
        "square": ((3, 3), 0, 0, 1, 3),
        "above": ((2, 4), 1, 0, 1, 2),
        "below": ((4, 2), -1, 0, 1, 2),
        "far-above": ((2, 3), 10**20, 0, 1, 0),
        "far-below": ((2, 3), -(10**20), 0, 1, 0),
        "outer": ((2, 3, 4), 1, 2, 0, 1),
        "batch": ((2, 3, 2), 0, 1, 2, 2),
        "size-1": ((1, 1), 0, 1, 0, 1),
        "empty": ((0, 3), 0, 0, 1, 0),
    }
    samples = []
    for label, (shape, offset, axis1, axis2, length) in cases.items():
        kept = tuple(d for k, d in enumerate(shape) if k not in (axis1, axis2))
        operands = with_likes((*kept, length), shape) if adjoint else (real(*shape),)
        attrs = {"offset": offset, "axis1": axis1, "axis2": axis2}
        samples.append(Sample(label, operands, attrs))
    last = (strided(real(2, 3)), np.zeros((3, 3, 2))) if adjoint else (strided(real(3, 3, 2)),)
    return [*samples, Sample("strided", last, {"offset": 0, "axis1": 0, "axis2": 1})]


def triangle(keep: Callable[[int, int], bool]) -> Callable[..., Array]:
    def apply(x: Array, diagonal: int = 0) -> Array:
        mask = [[keep(j - i, diagonal) for j in range(x.shape[-1])] for i in range(x.shape[-2])]
        return np.where(np.reshape(np.asarray(mask, bool), x.shape[-2:]), x, 0.0)

    return apply


def diagonal(x: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    moved = np.moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = moved.shape[-2:]
    places = [(r, c) for r, c in itertools.product(range(rows), range(columns)) if c - r == offset]
    picked = [moved[..., r, c] for r, c in places]
    return np.stack(picked, -1) if picked else np.zeros((*moved.shape[:-2], 0))


def undiagonal(x: Array, like: Array, **attrs: int) -> Array:
    return transpose_of(lambda y: diagonal(y, **attrs), like.shape, x)


def diag_embed(x: Array, axis1: int, axis2: int, offset: int = 0) -> Array:
    side = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], side, side))
    for k in range(x.shape[-1]):
        out[..., k + max(-offset, 0), k + max(offset, 0)] = x[..., k]
    return np.moveaxis(out, (-2, -1), (axis1, axis2))


SAMPLES: dict[str, list[Sample]] = {
    "tril": _triangles(),
    "triu": _triangles(),
    "diagonal": _diagonals(adjoint=False),
    "undiagonal_like": _diagonals(adjoint=True),
    "diag_embed": [
        Sample("plain", (real(3),), {"axis1": 0, "axis2": 1}),
        Sample("above", (real(2, 2),), {"offset": 1, "axis1": 1, "axis2": 2}),
        Sample("below", (real(2, 3),), {"offset": -2, "axis1": 0, "axis2": 2}),
        Sample("swapped", (real(2),), {"offset": 1, "axis1": 1, "axis2": 0}),
        Sample("empty", (real(2, 0),), {"axis1": 0, "axis2": 1}),
        Sample("strided", (strided(real(3, 2)),), {"axis1": 0, "axis2": 2}),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "tril": triangle(lambda offset, diagonal: offset <= diagonal),
    "triu": triangle(lambda offset, diagonal: offset >= diagonal),
    "diagonal": diagonal,
    "undiagonal_like": undiagonal,
    "diag_embed": diag_embed,
}
