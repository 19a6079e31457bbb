"""Samples and references of `ops/sorting.py`: sorting and searching."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array
from ..sampling import Sample, along, flags, integers, real, small_integers, spaced


def _sorts() -> list[Sample]:
    return [
        *along(spaced),
        Sample("down", (spaced(2, 4),), {"axis": 1, "descending": True}),
        Sample("vector", (spaced(5),), {"axis": 0}),
        Sample("ties", (small_integers(3, 4),), {"axis": 1}, smooth=False),
        Sample("ties-down", (small_integers(4, 3),), {"axis": 0, "descending": True}, smooth=False),
        Sample("integers", (integers(3, 1, 3, 2),), {"axis": 0, "descending": True}),
        Sample("bools", (flags(6),), {"axis": 0}),
    ]


def _sets() -> list[Sample]:
    rows = np.asarray([[1.0, 2.0], [1.0, 2.0], [0.0, 2.0], [1.0, 2.0]])
    return [
        Sample("plain", (np.asarray([2.0, 2.0, 0.5, 2.0, 3.0, 3.0]),)),
        Sample("matrix", (small_integers(3, 4),)),
        Sample("integers", (integers(5, 5, -1, 5, 0),)),
        Sample("rows", (rows,), {"axis": 0}),
        Sample("columns", (rows.T.copy(),), {"axis": 1}),
        Sample("one", (np.asarray([1.5]),)),
        Sample("0-d", (np.asarray(2.0),)),
        Sample("empty", (np.zeros(0),)),
        Sample("strided", (strided(small_integers(3, 2)),)),
    ]


EDGES = np.asarray([-1.5, 0.0, 0.25, 0.25, 2.0])


def argsort(x: Array, axis: int, descending: bool = False) -> Array:
    lines = np.moveaxis(x, axis, -1)
    out = np.zeros(lines.shape, np.int64)
    for at in np.ndindex(lines.shape[:-1]):
        line = lines[at].tolist()
        out[at] = sorted(range(len(line)), key=lambda i: (-line[i] if descending else line[i], i))
    return np.moveaxis(out, -1, axis)


def sort(x: Array, axis: int, descending: bool = False) -> tuple[Array, Array]:
    order = argsort(x, axis, descending)
    out = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        out[at] = x[(*at[:axis], order[at], *at[axis + 1 :])]
    return out, order


def searchsorted(sorted_sequence: Array, values: Array, right: bool = False) -> Array:
    out = np.zeros(values.shape, np.int64)
    find = bisect.bisect_right if right else bisect.bisect_left
    for at in np.ndindex(values.shape):
        line = sorted_sequence if sorted_sequence.ndim == 1 else sorted_sequence[at[:-1]]
        out[at] = find(line.tolist(), values[at])
    return out


def slices(x: Array, axis: int | None) -> list[Any]:
    """Elements of `x`, or what lies at each position of an axis, as something to compare."""
    if axis is None:
        return x.ravel().tolist()
    return [tuple(np.take(x, k, axis).ravel().tolist()) for k in range(x.shape[axis])]


def chosen(x: Array, axis: int | None, first: list[int]) -> Array:
    return np.take(x.ravel() if axis is None else x, np.asarray(first, np.int64), axis or 0)


def unique(x: Array, axis: int | None = None) -> tuple[Array, ...]:
    every = slices(x, axis)
    distinct = sorted(set(every))
    first = [every.index(v) for v in distinct]
    inverse = [distinct.index(v) for v in every]
    counts = [every.count(v) for v in distinct]
    out = chosen(x, axis, first)
    return out, *(np.asarray(v, np.int64) for v in (first, inverse, counts))


def unique_consecutive(x: Array, axis: int | None = None) -> tuple[Array, ...]:
    first: list[int] = []
    inverse: list[int] = []
    every = slices(x, axis)
    for k, value in enumerate(every):
        if not k or value != every[k - 1]:
            first.append(k)
        inverse.append(len(first) - 1)
    counts = [inverse.count(k) for k in range(len(first))]
    out = chosen(x, axis, first)
    return out, np.asarray(inverse, np.int64), np.asarray(counts, np.int64)


def nonzero(x: Array) -> Array:
    found = [at for at in np.ndindex(x.shape) if x[at]]
    return np.asarray(found, np.int64).reshape(len(found), x.ndim)


def isin(x: Array, test: Array, invert: bool = False) -> Array:
    allowed = set(test.ravel().tolist())
    found = [(v in allowed) != invert for v in x.ravel().tolist()]
    return np.asarray(found, bool).reshape(x.shape)


SAMPLES: dict[str, list[Sample]] = {
    "sort": _sorts(),
    "argsort": _sorts(),
    "searchsorted": [
        Sample("plain", (EDGES, spaced(4))),
        Sample("matrix-of-values", (EDGES, real(2, 3))),
        Sample("equal", (EDGES, np.asarray([0.25, 2.0, -1.5]))),
        Sample("equal-right", (EDGES, np.asarray([0.25, 2.0, -1.5])), {"right": True}),
        Sample("lines", (np.sort(real(2, 4)), real(2, 3))),
        Sample("0-d", (EDGES, real())),
        Sample("no-edges", (np.zeros(0), real(2))),
        Sample("empty", (EDGES, real(0, 3))),
        Sample("strided", (EDGES, strided(real(3, 2)))),
    ],
    "unique": _sets(),
    "unique_consecutive": _sets(),
    "nonzero": [
        Sample("plain", (small_integers(3, 4),)),
        Sample("vector", (flags(5),)),
        Sample("3-d", (flags(2, 2, 3),)),
        Sample("none", (np.zeros((2, 2)),)),
        Sample("empty", (real(0, 3),)),
        Sample("strided", (strided(small_integers(3, 2)),)),
    ],
    "isin": [
        Sample("plain", (small_integers(3, 4), np.asarray([1.0, 5.0]))),
        Sample("not", (small_integers(2, 3), np.asarray([[0.0], [5.0]])), {"invert": True}),
        Sample("integers", (integers(1, 2, 3), integers(3, 1))),
        Sample("of-none", (small_integers(3), np.zeros(0))),
        Sample("0-d", (np.asarray(1.0), np.asarray(1.0))),
        Sample("empty", (real(0, 3), real(2))),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "sort": sort,
    "argsort": argsort,
    "searchsorted": searchsorted,
    "unique": unique,
    "unique_consecutive": unique_consecutive,
    "nonzero": nonzero,
    "isin": isin,
}
