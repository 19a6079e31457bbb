"""Samples of the operations of `recurrent`."""

from __future__ import annotations

import numpy as np

from .sampling import Sample, apart, real, strided

# time, batch, hidden
_SIZES = {"plain": (3, 2, 3), "one-time": (1, 2, 2), "one-unit": (3, 1, 1), "long": (7, 1, 2)}
_EMPTY = {"empty-batch": (2, 0, 2), "no-time": (0, 2, 2)}


def _layer(gates: int, states: int, biased: bool = False, **attrs: str) -> list[Sample]:
    samples = []
    for label, (time, batch, size) in {**_SIZES, **_EMPTY, "strided": (3, 2, 2)}.items():
        arrays = [real(time, batch, gates, size), real(gates * size, size)]
        arrays.append(real(states, batch, size))
        if biased:
            arrays.append(real(size))
        if label == "strided":
            arrays = [strided(a) for a in arrays]
        samples.append(Sample(f"{attrs.get('activation', '')}{label}", tuple(arrays), dict(attrs)))
    return samples


def _kinks() -> list[Sample]:
    """Sums whose signs are clear: weights are small beside what flows in."""
    samples = []
    for label, (time, batch, size) in {**_SIZES, **_EMPTY}.items():
        (inflow,) = apart((time, batch, 1, size)) if time * batch else [real(time, batch, 1, size)]
        inflow = inflow + np.sign(inflow)
        operands = (inflow, 0.1 * real(size, size), real(1, batch, size))
        samples.append(Sample(f"relu-{label}", operands, {"activation": "relu"}))
    return samples


def _linear() -> list[Sample]:
    """With and without what flows into the gates."""
    samples = []
    kinds = {"plain": (1, 1, 1, 1), "gru": (4, 5, 1, 3), "lstm": (4, 6, 2, 4)}
    for kind, (gates, slopes, states, rows) in kinds.items():
        for label, (time, batch, size) in {**_SIZES, **_EMPTY, "strided": (2, 2, 2)}.items():
            arrays = [
                0.5 * real(rows * size, size),
                0.5 * real(time, slopes, batch, size),
                real(states, time + 1, batch, size),
                real(time, batch, gates, size),
            ]
            if label == "strided":
                arrays = [strided(a) for a in arrays]
            samples.append(Sample(f"{kind}-{label}", tuple(arrays), {"kind": kind}))
        samples.append(Sample(f"{kind}-states-alone", tuple(arrays[:3]), {"kind": kind}))
    return samples


SAMPLES: dict[str, list[Sample]] = {
    "lstm_scan": _layer(4, 2),
    "gru_scan": _layer(3, 1, biased=True),
    "rnn_scan": [*_layer(1, 1, activation="tanh"), *_kinks()],
    "gate_scan": _linear(),
    "gate_scan_adjoint": _linear(),
}
