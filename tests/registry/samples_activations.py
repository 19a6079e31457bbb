"""Samples of the operations of `activations`."""

from __future__ import annotations

from .sampling import Sample, along, away_from_zero, real, spaced, unary

SAMPLES: dict[str, list[Sample]] = {
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
    ],
    "gumbel_like": [
        Sample("plain", (real(4, 5),)),
        Sample("0-d", (real(),)),
        Sample("empty", (real(0, 3),)),
    ],
}
