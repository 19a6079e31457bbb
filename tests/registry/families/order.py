"""Samples and references of `ops/order.py`: maxima, their positions and ties."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array
from ..sampling import TIED, Sample, along, integers, real, spaced


def _shares(spread: bool) -> list[Sample]:
    def sample(label: str, x: Any, axis: Any, keepdims: bool) -> Sample:
        x = np.asarray(x)
        value = np.asarray(np.max(x, axis=axis, keepdims=keepdims))
        given = real(*(value.shape if spread else x.shape))
        return Sample(label, (given, x, value), {"axis": axis, "keepdims": keepdims})

    return [
        sample("last", TIED, (1,), False),
        sample("first-keep", TIED.T, (0,), True),
        sample("all", TIED, (0, 1), False),
        sample("outer", np.stack([TIED, TIED[::-1]]), (0, 2), False),
        sample("no-axis", TIED, (), False),
        sample("0-d", real(), (), False),
        sample("size-1", spaced(2, 1), (1,), False),
        sample("empty", np.zeros((0, 3)), (1,), False),
        sample("strided", strided(TIED), (1,), False),
    ]


def _few(k: int, largest: bool = True) -> list[Sample]:
    attrs = {"k": k, "largest": largest}
    name = f"{'largest' if largest else 'smallest'}-{k}"
    ties = np.tile([3.0, 1.0, 2.0, 3.0, 1.0], 8)
    return [
        Sample(f"long-{name}", (spaced(2, 24),), {"axis": 1, **attrs}),
        Sample(f"long-first-{name}", (spaced(24, 2),), {"axis": 0, **attrs}),
        Sample(f"long-ties-{name}", (ties,), {"axis": 0, **attrs}, smooth=False),
    ]


LONG_TOPK = [s for k in (1, 3) for largest in (True, False) for s in _few(k, largest)]


def topk(x: Array, k: int, axis: int, largest: bool = True) -> tuple[Array, Array]:
    lines = np.moveaxis(x, axis, -1)
    index = np.zeros((*lines.shape[:-1], k), np.int64)
    for at in np.ndindex(lines.shape[:-1]):
        line = lines[at].tolist()
        index[at] = sorted(range(len(line)), key=lambda i: -line[i] if largest else line[i])[:k]
    values = np.zeros(index.shape)
    for at in np.ndindex(index.shape):
        values[at] = lines[at[:-1]][index[at]]
    return np.moveaxis(values, -1, axis), np.moveaxis(index, -1, axis)


def shares(x: Array, value: Array, axis: Any, keepdims: bool) -> Array:
    """The matrix of shares: of each element of `x` in each element of `value`."""
    out = np.zeros((*value.shape, *x.shape))
    for at in np.ndindex(x.shape):
        place = [i for a, i in enumerate(at) if a not in axis]
        if keepdims:
            place = [0 if a in axis else i for a, i in enumerate(at)]
        out[(*place, *at)] = x[at] == value[tuple(place)]
    total = np.sum(out, axis=tuple(range(value.ndim, out.ndim)), keepdims=True)
    return out / np.maximum(total, 1)


def share_ties(c: Array, x: Array, value: Array, axis: Any, keepdims: bool = False) -> Array:
    weights = shares(x, value, axis, keepdims)
    return np.sum(weights * c.reshape((*c.shape, *(1,) * x.ndim)), axis=tuple(range(c.ndim)))


def average_ties(d: Array, x: Array, value: Array, axis: Any, keepdims: bool = False) -> Array:
    weights = shares(x, value, axis, keepdims)
    return np.sum(weights * d, axis=tuple(range(value.ndim, weights.ndim)))


def take_tied(x: Array, index: Array, axis: int) -> Array:
    out = np.zeros(index.shape)
    for at in np.ndindex(index.shape):
        out[at] = x[(*at[:axis], index[at], *at[axis + 1 :])]
    return out


def mode(x: Array, axis: int) -> tuple[Array, Array]:
    moved = np.moveaxis(x, axis, -1)
    values = np.zeros((*moved.shape[:-1], 1))
    index = np.zeros(values.shape, np.int64)
    for at in np.ndindex(moved.shape[:-1]):
        line = moved[at].tolist()
        counts = collections.Counter(line)
        most = max(counts.values())
        values[at] = min(v for v, n in counts.items() if n == most)
        index[at] = max(i for i, v in enumerate(line) if v == values[at][0])
    return np.moveaxis(values, -1, axis), np.moveaxis(index, -1, axis)


SAMPLES: dict[str, list[Sample]] = {
    "share_ties": _shares(True),
    "average_ties": _shares(False),
    "take_tied": [
        Sample("last", (spaced(2, 3), integers([2], [0])), {"axis": 1}),
        Sample("first", (spaced(3, 2), integers([1, 2])), {"axis": 0}),
        Sample("vector", (spaced(4), integers(2)), {"axis": 0}),
        Sample("empty", (spaced(0, 3), np.zeros((0, 1), np.int64)), {"axis": 1}),
        Sample("strided", (strided(spaced(2, 4)), integers([2], [0])), {"axis": 1}),
        Sample("ties", (TIED, integers([1], [0], [1])), {"axis": 1}, smooth=False),
    ],
    "mode": [
        *along(spaced),
        Sample("ties", (TIED,), {"axis": 1}, smooth=False),
        Sample("longest", (np.asarray([3.0, 1.0, 2.0, 1.0, 3.0, 1.0]),), {"axis": 0}, smooth=False),
        Sample("integers", (integers([2, 1, 2], [5, 5, 3]),), {"axis": 1}),
    ],
    "topk": [
        *LONG_TOPK,
        Sample("plain", (spaced(2, 4),), {"k": 2, "axis": 1}),
        Sample("smallest", (spaced(2, 4),), {"k": 3, "axis": 1, "largest": False}),
        Sample("first", (spaced(4, 2),), {"k": 1, "axis": 0}),
        Sample("all", (spaced(3),), {"k": 3, "axis": 0}),
        Sample("empty", (spaced(0, 3),), {"k": 2, "axis": 1}),
        Sample("strided", (strided(spaced(3, 4)),), {"k": 2, "axis": 1}),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "topk": topk,
    "share_ties": share_ties,
    "average_ties": average_ties,
    "take_tied": take_tied,
    "mode": mode,
}
