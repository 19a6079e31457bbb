"""Samples and references of `ops/indexing.py`: reading and writing at indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, transpose_of
from ..sampling import RNG, Sample, integers, real
from .getitem import NOTHING


def _gather(adjoint: bool) -> list[Sample]:
    cases = {
        "plain": ((4, 3), integers(2, 0, 2), 0),
        "last": ((2, 4), integers(3, 3, 1), 1),
        "matrix-index": ((4, 2), integers([0, 3], [3, 1]), 0),
        "one-index": ((4, 2), np.asarray(1), 0),
        "middle": ((2, 3, 2), integers(1), 1),
        "middle-repeats": ((2, 3, 2), integers(1, 2, 1), 1),
        "no-index": ((4, 2), NOTHING, 0),
        "no-columns": ((4, 0), integers(1, 1), 0),
        "int32": ((4, 2), np.asarray([1, 1], np.int32), 0),
        "from-the-back": ((4, 2), integers(-1, 3, -4), 0),
    }
    samples = []
    for label, (shape, index, axis) in cases.items():
        out = (*shape[:axis], *index.shape, *shape[axis + 1 :])
        operands = (real(*out), index, np.zeros(shape)) if adjoint else (real(*shape), index)
        attrs: dict[str, Any] = {"axis": axis}
        if label == "from-the-back" and not adjoint:
            attrs["wraps"] = True
        samples.append(Sample(label, operands, attrs))
    return samples


def _along_axis(adjoint: bool) -> list[Sample]:
    cases = {
        "pick-one": ((3, 4), integers([1], [3], [0]), 1),
        "repeats": ((3, 2), integers([0, 1], [0, 1], [2, 1], [0, 0]), 0),
        "last": ((2, 4), integers([3, 3, 0], [1, 2, 1]), 1),
        "3-d": ((2, 3, 2), RNG.integers(0, 3, (2, 2, 2)), 1),
        "nothing": ((2, 3), np.zeros((2, 0), np.int64), 1),
        "no-lines": ((0, 3), np.zeros((0, 2), np.int64), 1),
        "from-the-back": ((2, 3), integers([-1, 2], [-3, 0]), 1),
    }
    samples = []
    for label, (shape, index, axis) in cases.items():
        out = index.shape
        operands = (real(*out), index, np.zeros(shape)) if adjoint else (real(*shape), index)
        attrs: dict[str, Any] = {"axis": axis}
        if label == "from-the-back" and not adjoint:
            attrs["wraps"] = True
        samples.append(Sample(label, operands, attrs))
    return samples


def gather(x: Array, index: Array, axis: int, wraps: bool = False) -> Array:
    lines = np.moveaxis(x, axis, 0)
    out = np.zeros((*index.shape, *lines.shape[1:]))
    for at in np.ndindex(index.shape):
        out[at] = lines[index[at]]
    return np.moveaxis(out, range(index.ndim), range(axis, axis + index.ndim))


def take_along_axis(x: Array, index: Array, axis: int, wraps: bool = False) -> Array:
    out = np.zeros(index.shape)
    for at in np.ndindex(index.shape):
        out[at] = x[(*at[:axis], index[at], *at[axis + 1 :])]
    return out


SAMPLES: dict[str, list[Sample]] = {
    "scatter_add": [
        Sample("plain", (real(4, 3), real(3, 3), integers(2, 0, 2)), {"axis": 0}),
        Sample("last", (real(2, 4), real(2, 2), integers(3, 3)), {"axis": 1}),
        Sample("matrix-index", (real(4, 2), real(2, 2, 2), integers([0, 3], [3, 1])), {"axis": 0}),
        Sample("no-index", (real(4, 2), real(0, 2), np.zeros(0, np.int64)), {"axis": 0}),
        Sample("strided", (strided(real(4, 3)), real(1, 3), integers(1)), {"axis": 0}),
        Sample("from-the-back", (np.ones(3), np.ones(2), integers(-1, 1)), {"axis": 0}),
    ],
    "one_hot": [
        Sample("plain", (integers(2, 0, 1),), {"num_classes": 3, "dtype": "float32"}),
        Sample("matrix", (integers([2, 0], [1, 1]),), {"num_classes": 4, "dtype": "int64"}),
        Sample("0-d", (np.asarray(1),), {"num_classes": 2, "dtype": "float64"}),
        Sample("empty", (np.zeros((0, 2), np.int64),), {"num_classes": 2, "dtype": "float32"}),
    ],
    "gather": _gather(adjoint=False),
    "scatter_add_like": _gather(adjoint=True),
    "take_along_axis": _along_axis(adjoint=False),
    "put_along_axis_like": _along_axis(adjoint=True),
    "positions_like": [
        Sample("first", (real(3, 2),), {"axis": 0}),
        Sample("last", (real(2, 3),), {"axis": 1}),
        Sample("empty", (real(0, 2),), {"axis": 0}),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "gather": gather,
    "scatter_add_like": lambda x, index, like, axis: transpose_of(
        lambda v: gather(v, index, axis), like.shape, x
    ),
    "scatter_add": lambda base, x, index, axis: (
        base + transpose_of(lambda v: gather(v, index, axis), base.shape, x)
    ),
    "take_along_axis": take_along_axis,
    "put_along_axis_like": lambda x, index, like, axis: transpose_of(
        lambda v: take_along_axis(v, index, axis), like.shape, x
    ),
    "one_hot": lambda x, num_classes, dtype: np.eye(num_classes)[x],
    "positions_like": lambda like, axis: np.swapaxes(
        np.asarray(range(like.shape[axis])).reshape([-1] + [1] * (like.ndim - 1)), 0, axis
    ),
}
