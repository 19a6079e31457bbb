"""Samples and references of `ops/nn/normalization.py`: normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array
from ..sampling import Sample, positive, real


def _standardize_adjoint() -> list[Sample]:
    samples = [
        Sample("last", (real(3, 4), real(3, 4), positive(3, 1)), {"axis": (1,)}),
        Sample("last-two", (real(2, 2, 3), real(2, 2, 3), positive(2, 1, 1)), {"axis": (1, 2)}),
        Sample("batch", (real(4, 2), real(4, 2), positive(1, 2)), {"axis": (0,)}),
        Sample("channels", (real(2, 2, 3), real(2, 2, 3), positive(1, 2, 1)), {"axis": (0, 2)}),
        Sample("all", (real(5), real(5), positive(1)), {"axis": (0,)}),
        Sample("size-1", (real(3, 1), real(3, 1), positive(3, 1)), {"axis": (1,)}),
        Sample("empty", (real(0, 3), real(0, 3), positive(0, 1)), {"axis": (1,)}),
        Sample(
            "strided",
            (strided(real(3, 4)), strided(real(3, 4)), strided(positive(3, 1))),
            {"axis": (1,)},
        ),
    ]
    return [Sample(s.label, s.operands, {**s.attrs, "epsilon": 1e-2}) for s in samples]


def _standardize() -> list[Sample]:
    return [
        Sample("last", (real(3, 4),), {"axis": (1,), "epsilon": 1e-5}),
        Sample("batch", (real(4, 2),), {"axis": (0,), "epsilon": 1e-3}),
        Sample("channels", (real(2, 2, 3),), {"axis": (0, 2), "epsilon": 1e-5}),
        Sample("all", (real(5),), {"axis": (0,), "epsilon": 0.0}),
        Sample("size-1", (real(3, 1),), {"axis": (1,), "epsilon": 1e-2}),
        Sample("empty", (real(0, 3),), {"axis": (1,), "epsilon": 1e-5}),
        Sample("strided", (strided(real(3, 4)),), {"axis": (1,), "epsilon": 1e-5}),
    ]


def standardize_adjoint(
    y: np.ndarray, out: np.ndarray, variance: np.ndarray, axis: tuple[int, ...], epsilon: float
) -> np.ndarray:
    """By projections: off what is constant, and off `out`."""
    constant = np.mean(y, axis=axis, keepdims=True)
    along_out = out * np.mean(y * out, axis=axis, keepdims=True)
    return (y - constant - along_out) * (variance + epsilon) ** -0.5


def standardize(x: Array, axis: tuple[int, ...], epsilon: float) -> tuple[Array, ...]:
    mean = np.mean(x, axis=axis, keepdims=True)
    variance = np.var(x, axis=axis, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon), mean, variance


SAMPLES: dict[str, list[Sample]] = {
    "standardize_adjoint": _standardize_adjoint(),
    "running_statistic": [
        Sample("plain", (real(3), real(1, 3)), {"momentum": 0.9}),
        Sample("channels", (real(3), real(1, 3, 1, 1)), {"momentum": 0.5}),
        Sample("strided", (strided(real(3)), strided(real(1, 3))), {"momentum": 0.0}),
        Sample("empty", (real(0), real(1, 0)), {"momentum": 0.9}),
    ],
    "standardize": _standardize(),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "standardize_adjoint": standardize_adjoint,
    "running_statistic": lambda running, statistic, momentum: (
        np.ravel(statistic) + momentum * (running - np.ravel(statistic))
    ),
    "standardize": standardize,
}
