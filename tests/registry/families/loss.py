"""Samples and references of `ops/nn/loss.py`: losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..referencing import Array, along_axis, each
from ..sampling import Sample, along, integers, positive, real, spaced, unary


def one_hot_of_maximum(values: list[float]) -> list[float]:
    best = values.index(max(values))
    return [float(k == best) for k in range(len(values))]


def checked_label(label: Array, like: Array, axis: int, ignore: int | None, op: str) -> Array:
    return np.asarray([0 if v == ignore else v for v in label.flat]).reshape(label.shape)


SAMPLES: dict[str, list[Sample]] = {
    "straight_through": [Sample(s.label, s.operands, s.attrs, smooth=False) for s in along(spaced)],
    "bounded_log": [
        Sample(s.label, s.operands, {"lowest": -100.0, "floor": 1e-12}) for s in unary(positive)
    ],
    "checked_label": [
        Sample(
            "plain",
            (integers([0], [2], [-1]), real(3, 3)),
            {"axis": 1, "ignore": -1, "op": "loss"},
        ),
        Sample(
            "strict",
            (integers(0, 2), real(2, 3)),
            {"axis": 1, "ignore": None, "op": "loss"},
        ),
        Sample(
            "empty",
            (np.zeros((0, 1), np.int64), real(0, 3)),
            {"axis": 1, "ignore": -1, "op": "loss"},
        ),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "straight_through": along_axis(one_hot_of_maximum),
    "bounded_log": lambda x, lowest, floor: each(lambda v: max(math.log(v), lowest))(x),
    "checked_label": checked_label,
}
