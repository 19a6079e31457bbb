"""Samples and references of `ops/movement.py`: moving elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, elementwise, transpose_of
from ..sampling import Sample, integers, real, with_likes

WINDOWS = {
    # shape, axis, size, step, how many windows
    "plain": ((5,), 0, 3, 1, 3),
    "steps": ((2, 6), 1, 2, 2, 3),
    "gaps": ((7, 2), 0, 2, 3, 2),
    "remainder": ((6,), 0, 3, 2, 2),
    "one": ((3, 2), 0, 3, 1, 1),
    "single-elements": ((2, 3), 1, 1, 1, 3),
    "empty": ((0, 3), 1, 2, 1, 2),
}


def _windows(adjoint: bool) -> list[Sample]:
    samples = []
    for label, (shape, axis, size, step, count) in WINDOWS.items():
        out = (*shape[:axis], count, *shape[axis + 1 :], size)
        operands = with_likes(out, shape) if adjoint else (real(*shape),)
        samples.append(Sample(label, operands, {"axis": axis, "size": size, "step": step}))
    last = (strided(real(2, 3, 2)), np.zeros((2, 4))) if adjoint else (strided(real(2, 4)),)
    return [*samples, Sample("strided", last, {"axis": 1, "size": 2, "step": 1})]


def flip(x: Array, axis: tuple[int, ...]) -> Array:
    return elementwise(
        x.shape, lambda i: x[tuple(x.shape[k] - 1 - p if k in axis else p for k, p in enumerate(i))]
    )


def roll(x: Array, shifts: tuple[int, ...], axis: tuple[int, ...]) -> Array:
    for shift, a in zip(shifts, axis, strict=True):
        rows = list(np.moveaxis(x, a, 0))
        for _ in range(shift % len(rows) if rows else 0):
            rows.insert(0, rows.pop())
        x = np.moveaxis(np.asarray(rows).reshape(np.moveaxis(x, a, 0).shape), 0, a)
    return x


def windows(x: Array, axis: int, size: int, step: int) -> Array:
    starts = range(0, x.shape[axis] - size + 1, step)
    pieces = [np.take(x, range(s, s + size), axis) for s in starts]
    return np.stack([np.moveaxis(p, axis, -1) for p in pieces], axis)


SAMPLES: dict[str, list[Sample]] = {
    "flip": [
        Sample("last", (real(2, 3),), {"axis": (1,)}),
        Sample("both", (real(2, 3),), {"axis": (0, 1)}),
        Sample("none", (real(2, 3),), {"axis": ()}),
        Sample("0-d", (real(),), {"axis": ()}),
        Sample("empty", (real(0, 3),), {"axis": (0, 1)}),
        Sample("strided", (strided(real(2, 3)),), {"axis": (0,)}),
    ],
    "roll": [
        Sample("last", (real(2, 3),), {"shifts": (1,), "axis": (1,)}),
        Sample("both", (real(2, 3),), {"shifts": (-1, 5), "axis": (0, 1)}),
        Sample("twice", (real(4),), {"shifts": (1, 2), "axis": (0, 0)}),
        Sample("none", (real(2, 3),), {"shifts": (), "axis": ()}),
        Sample("empty", (real(0, 3),), {"shifts": (1,), "axis": (0,)}),
        Sample("strided", (strided(real(2, 3)),), {"shifts": (2,), "axis": (1,)}),
    ],
    "windows": _windows(adjoint=False),
    "unwindows_like": _windows(adjoint=True),
    # What the result of repeats without `total` is as long as, nobody knows before.
    "repeat_index": [
        Sample("plain", (integers(1, 0, 2), np.zeros((2, 3))), {"axis": 1, "total": 3}),
        Sample("nothing", (integers(0, 0), np.zeros((2, 3))), {"axis": 0, "total": 0}),
        Sample("int32", (np.asarray([2], np.int32), np.zeros(1)), {"axis": 0, "total": 2}),
        Sample("empty", (np.zeros(0, np.int64), np.zeros((0, 2))), {"axis": 0, "total": 0}),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "flip": flip,
    "roll": roll,
    "windows": windows,
    "unwindows_like": lambda x, like, **attrs: transpose_of(
        lambda y: windows(y, **attrs), like.shape, x
    ),
    "repeat_index": lambda repeats, like, axis, total: np.asarray(
        [k for k, n in enumerate(repeats.tolist()) for _ in range(n)], np.int64
    ),
}
