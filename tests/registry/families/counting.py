"""Samples and references of `ops/counting.py`: counting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..referencing import Array
from ..sampling import Sample, integers, real


def _counted(*samples: Sample) -> list[Sample]:
    """Counts are piecewise constant, and float32 where they are floats."""
    return [replace(s, smooth=False) for s in samples]


def edges(x: Array, bins: int, low: float = 0.0, high: float = 0.0) -> Array:
    values = x.ravel().tolist()
    if low == high == 0 and values:
        low, high = min(values), max(values)
    if low == high:
        low, high = low - 1, high + 1
    return np.asarray([low + (high - low) * k / bins for k in range(bins)] + [high])


def histogram(
    x: Array, *weights: Array, bins: int, low: float = 0.0, high: float = 0.0, density: bool = False
) -> Array:
    bounds = edges(x, bins, low, high)
    weight = weights[0].ravel() if weights else np.ones(x.size)
    out = np.zeros(bins)
    for v, w in zip(x.ravel(), weight, strict=True):
        for k in range(bins):
            if bounds[k] <= v < bounds[k + 1] or (k == bins - 1 and v == bounds[-1]):
                out[k] += w
    if density:
        out /= (np.sum(out) or 1.0) * (bounds[1] - bounds[0])
    return out


def bincount(x: Array, *weights: Array, minlength: int = 0) -> Array:
    weight = weights[0] if weights else np.ones(x.size)
    size = max([minlength, *(int(v) + 1 for v in x)])
    return np.asarray(
        [sum(w for v, w in zip(x, weight, strict=True) if v == k) for k in range(size)]
    )


def row_counts(
    index: Array, like: Array, op: str, argument: str, size: int | None, grows: bool
) -> Array:
    named = index.tolist()
    rows = max(named, default=-1) + 1 if grows else len(like) if size is None else size
    return np.asarray([named.count(k) for k in range(rows)], np.int64)


SAMPLES: dict[str, list[Sample]] = {
    "row_counts": [
        Sample(label, operands, {"op": "f", "argument": "index", "size": size, "grows": grows})
        for label, operands, size, grows in (
            ("rows", (integers(2, 0, 2), real(4, 2)), None, False),
            ("given", (integers(2, 0, 2), real(1)), 5, False),
            ("grows", (integers(2, 0, 2), integers(2, 0, 2)), None, True),
            ("empty", (np.zeros(0, np.int64), np.zeros(0, np.int64)), None, True),
        )
    ],
    "histogram": _counted(
        Sample("plain", (real(3, 4),), {"bins": 4}),
        Sample("range", (real(10),), {"bins": 3, "low": -1.0, "high": 1.5}),
        Sample("density", (real(10),), {"bins": 3, "low": -1.0, "high": 1.5, "density": True}),
        Sample("weights", (real(2, 3), real(2, 3)), {"bins": 3}),
        Sample("integers", (integers(1, 0, 4, 5, 2),), {"bins": 4, "low": 0.0, "high": 4.0}),
        Sample("one-value", (np.ones(3),), {"bins": 4}),
        Sample("0-d", (real(),), {"bins": 2}),
        Sample("empty", (real(0, 3),), {"bins": 2}),
        Sample("empty-density", (real(0),), {"bins": 2, "density": True}),
    ),
    "histogram_bin_edges": _counted(
        Sample("plain", (integers(1, 0, 4, 5, 2),), {"bins": 4}),
        Sample("range", (real(10),), {"bins": 3, "low": -1.0, "high": 1.5}),
        Sample("one-value", (np.ones(3),), {"bins": 4}),
        Sample("empty", (real(0, 3),), {"bins": 2}),
    ),
    "bincount": _counted(
        Sample("plain", (integers(1, 0, 4, 1),)),
        Sample("minlength", (integers(1, 0, 4, 1),), {"minlength": 7}),
        Sample("weights", (integers(1, 0, 4, 1), real(4))),
        Sample("integer-weights", (integers(1, 0, 4, 1), integers(1, 2, 3, 4))),
        Sample("empty", (np.zeros(0, np.int64),)),
    ),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "row_counts": row_counts,
    "histogram": histogram,
    "histogram_bin_edges": edges,
    "bincount": bincount,
}
