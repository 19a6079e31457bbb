"""Samples and references of `ops/joining.py`: joining and splitting."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array
from ..sampling import Sample, arrays, real


def _joins(axis_of_one: bool) -> list[Sample]:
    """Samples of concat, or of stack, whose inputs must be of one shape."""
    uneven = (2, 3) if axis_of_one else (1, 3)
    return [
        Sample("first", arrays((2, 3), uneven), {"axis": 0}),
        Sample("last", arrays((2, 1), (2, 1), (2, 1)), {"axis": 1}),
        Sample("one", arrays((2, 3)), {"axis": 1}),
        Sample("empty", arrays((0, 3), (0, 3)), {"axis": 0}),
        Sample("strided", (strided(real(2, 3)), real(2, 3)), {"axis": 1}),
    ]


def pieces(x: Array, sizes: Any, axis: int) -> tuple[Array, ...]:
    stops = list(itertools.accumulate(sizes))
    return tuple(
        np.take(x, range(stop - size, stop), axis=axis)
        for size, stop in zip(sizes, stops, strict=True)
    )


SAMPLES: dict[str, list[Sample]] = {
    "concat": _joins(axis_of_one=False),
    "stack": _joins(axis_of_one=True),
    "split": [
        Sample("first", (real(4, 2),), {"sizes": (1, 3), "axis": 0}),
        Sample("last", (real(2, 6),), {"sizes": (2, 2, 2), "axis": 1}),
        Sample("one", (real(2, 3),), {"sizes": (3,), "axis": 1}),
        Sample("nothing", (real(2, 3),), {"sizes": (0, 3), "axis": 1}),
        Sample("empty", (real(0, 3),), {"sizes": (1, 2), "axis": 1}),
        Sample("strided", (strided(real(3, 4)),), {"sizes": (1, 3), "axis": 1}),
    ],
    "split_like": [
        Sample("first", (real(4, 2), np.zeros((1, 2)), np.zeros((3, 2))), {"axis": 0}),
        Sample("last", (real(2, 3), np.zeros((2, 1)), np.zeros((2, 2))), {"axis": 1}),
        Sample("one", (real(2, 3), np.zeros((2, 3))), {"axis": 1}),
    ],
    "unstack": [
        Sample("first", (real(2, 3),), {"axis": 0}, unknown=False),
        Sample("last", (real(2, 3),), {"axis": 1}),
        Sample("one", (real(2, 1),), {"axis": 1}),
        Sample("empty", (real(0, 3),), {"axis": 1}),
        Sample("strided", (strided(real(3, 2)),), {"axis": 1}),
    ],
    "add_n": [
        Sample("one", (real(2, 3),)),
        Sample("two", (real(2, 3), real(2, 3))),
        Sample("three", (real(2, 3), strided(real(2, 3)), real(2, 3))),
        Sample("0-d", (real(), real())),
        Sample("empty", (real(0, 3), real(0, 3))),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "add_n": lambda *xs: np.sum(np.stack(xs), axis=0),
    "concat": lambda *xs, axis: np.moveaxis(
        np.asarray([v for x in xs for v in np.moveaxis(x, axis, 0)]).reshape(
            sum(x.shape[axis] for x in xs), *np.delete(xs[0].shape, axis)
        ),
        0,
        axis,
    ),
    "stack": lambda *xs, axis: np.concatenate([np.expand_dims(x, axis) for x in xs], axis),
    "split": pieces,
    "split_like": lambda x, *likes, axis: pieces(x, [v.shape[axis] for v in likes], axis),
    "unstack": lambda x, axis: tuple(np.take(x, i, axis) for i in range(x.shape[axis])),
}
