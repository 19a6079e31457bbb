"""Samples and references of `ops/run_time_numbers.py`: numbers that only the run knows."""

from __future__ import annotations

import numpy as np

from ..sampling import Sample


def _axis(number: int, ndim: int, *axes: int) -> Sample:
    attrs = {"function": "cumsum", "ndim": ndim, "axes": axes}
    return Sample(f"{number} of {list(axes)}", (np.asarray(number),), attrs)


def _limits(least: float, most: float) -> dict[str, object]:
    return {"what": "full: shape", "wanted": "a size", "least": least, "most": most}


SAMPLES = {
    "axis_position": [
        _axis(0, 2, 0, 1),
        _axis(-1, 2, 0, 1),
        _axis(2, 3, 0, 2),
        _axis(-1, 2, 0, -1),
        Sample("one-element", (np.asarray([1]),), {"function": "sum", "ndim": 2, "axes": (0, 1)}),
    ],
    "within": [
        Sample("integer", (np.asarray(3),), _limits(0.0, 8.0)),
        Sample("float", (np.asarray(0.5),), _limits(0.0, 1.0)),
        Sample("one-element", (np.asarray([2]),), _limits(1.0, float("inf"))),
        Sample("least", (np.asarray(2),), _limits(2.0, 8.0)),
    ],
}


def _position(axis, function, ndim, axes):
    counted = [a % ndim for a in axes]
    return np.asarray(counted.index(int(axis.reshape(())) % ndim))


REFERENCES = {
    "axis_position": _position,
    "within": lambda number, what, wanted, least, most: number,
}
