"""Samples of the operations of `activations`."""

from __future__ import annotations

import numpy as np

from .sampling import (
    Sample,
    along,
    away_from_zero,
    like_layout,
    positive,
    real,
    spaced,
    strided,
    unary,
)


def _beside(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`x` and another array of its shape and layout."""
    return x, like_layout(x, real(*x.shape))


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


SAMPLES: dict[str, list[Sample]] = {
    "softmax_adjoint": [Sample(s.label, _beside(s.operands[0]), s.attrs) for s in along()],
    "standardize_adjoint": _standardize_adjoint(),
    "bell": unary(),
    "silu": unary(),
    "softplus": unary(),
    "log_sigmoid": unary(),
    "elu": [
        Sample(s.label, s.operands, {"alpha": 1.0 if s.label == "plain" else 0.7})
        for s in unary(away_from_zero)
    ],
    "straight_through": [Sample(s.label, s.operands, s.attrs, smooth=False) for s in along(spaced)],
    "uniform_like": [
        Sample("plain", (real(4, 5),), {"low": -1.0, "high": 2.0}),
        Sample("0-d", (real(),), {"low": 0.0, "high": 1.0}),
        Sample("empty", (real(0, 3),), {"low": 0.0, "high": 1.0}),
        Sample("test", (real(4, 5),), {"low": -1.0, "high": 2.0, "training": False}),
    ],
    "alpha_dropout_mask": [
        Sample("plain", (real(4, 5),), {"p": 0.3, "floor": -1.5}),
        Sample("all", (real(4, 5),), {"p": 1.0, "floor": -1.5}),
        Sample("test", (real(4, 5),), {"p": 0.3, "floor": -1.5, "training": False}),
        Sample("0-d", (real(),), {"p": 0.5, "floor": -1.0}),
        Sample("empty", (real(0, 3),), {"p": 0.5, "floor": -1.0}),
    ],
    "running_statistic": [
        Sample("plain", (real(3), real(1, 3)), {"momentum": 0.9}),
        Sample("channels", (real(3), real(1, 3, 1, 1)), {"momentum": 0.5}),
        Sample("strided", (strided(real(3)), strided(real(1, 3))), {"momentum": 0.0}),
        Sample("empty", (real(0), real(1, 0)), {"momentum": 0.9}),
    ],
}
