"""Samples and references of `ops/nn/recurrent.py`: unit after unit, step by step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, transpose_of
from ..sampling import Sample, apart, real

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


def _biased() -> list[Sample]:
    """An LSTM with a bias, which is optional."""
    return [
        Sample(f"{sample.label}-biased", (*sample.operands, real(4 * sample.operands[0].shape[3])))
        for sample in _layer(4, 2)
    ]


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


def _slopes() -> list[Sample]:
    samples = []
    for kind, kept, states in (("gru", 4, 1), ("lstm", 5, 2)):
        for label, (time, batch, size) in {**_SIZES, **_EMPTY, "strided": (2, 2, 2)}.items():
            arrays = [real(time, kept, batch, size), real(states, time + 1, batch, size)]
            if label == "strided":
                arrays = [strided(a) for a in arrays]
            samples.append(Sample(f"{kind}-{label}", tuple(arrays), {"kind": kind}))
    return samples


def _layer_adjoints() -> list[Sample]:
    samples = []
    for kind, kept, states, rows in (("gru", 4, 1, 3), ("lstm", 5, 2, 4)):
        for label, (time, batch, size) in {**_SIZES, **_EMPTY, "strided": (2, 2, 2)}.items():
            arrays = [
                0.5 * real(rows * size, size),
                0.5 * real(time, kept, batch, size),
                0.5 * real(states, time + 1, batch, size),
                real(states, time + 1, batch, size),
                real(time, batch, 4, size),
            ]
            if label == "strided":
                arrays = [strided(a) for a in arrays]
            samples.append(Sample(f"{kind}-{label}", tuple(arrays), {"kind": kind}))
        samples.append(Sample(f"{kind}-states-alone", tuple(arrays[:4]), {"kind": kind}))
    return samples


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def _seen(weight: Array, row: int, h: Array) -> float:
    return math.fsum(w * v for w, v in zip(weight[row], h, strict=True))


def _empty(start: Array, time: int, kept: int) -> tuple[Array, Array]:
    count, batch, size = start.shape
    states = np.zeros((count, time + 1, batch, size))
    states[:, 0] = start
    return np.zeros((time, kept, batch, size)), states


def lstm_scan(inflow: Array, weight: Array, start: Array, *bias: Array) -> tuple[Array, Array]:
    for each in bias:
        inflow = inflow + each.reshape(4, -1)
    kept, states = _empty(start, len(inflow), 5)
    for t, _, b, u in np.ndindex(len(inflow), 1, *start.shape[1:]):
        h, c, size = states[0, t, b], states[1, t, b, u], start.shape[2]
        a = [inflow[t, b, k, u] + _seen(weight, k * size + u, h) for k in range(4)]
        i, f, g, o = _sigmoid(a[0]), _sigmoid(a[1]), math.tanh(a[2]), _sigmoid(a[3])
        new = f * c + i * g
        kept[t, :, b, u] = i, f, g, o, math.tanh(new)
        states[:, t + 1, b, u] = o * math.tanh(new), new
    return kept, states


def gru_scan(inflow: Array, weight: Array, start: Array, bias: Array) -> tuple[Array, Array]:
    kept, states = _empty(start, len(inflow), 4)
    for t, b, u in np.ndindex(len(inflow), *start.shape[1:]):
        h, size = states[0, t, b], start.shape[2]
        m = _seen(weight, 2 * size + u, h) + bias[u]
        r = _sigmoid(inflow[t, b, 0, u] + _seen(weight, u, h))
        z = _sigmoid(inflow[t, b, 1, u] + _seen(weight, size + u, h))
        c = math.tanh(inflow[t, b, 2, u] + r * m)
        kept[t, :, b, u] = r, z, c, m
        states[0, t + 1, b, u] = z * h[u] + (1.0 - z) * c
    return kept, states


def rnn_scan(inflow: Array, weight: Array, start: Array, activation: str) -> Array:
    _, states = _empty(start, len(inflow), 0)
    for t, b, u in np.ndindex(len(inflow), *start.shape[1:]):
        a = inflow[t, b, 0, u] + _seen(weight, u, states[0, t, b])
        states[0, t + 1, b, u] = math.tanh(a) if activation == "tanh" else max(a, 0.0)
    return states


def gate_scan(
    weight: Array, slopes: Array, stateflow: Array, *gateflow: Array, kind: str
) -> tuple[Array, Array]:
    time, _, batch, size = slopes.shape
    rows = {"plain": [0], "gru": [0, 1, None, 2], "lstm": [0, 1, 2, 3]}[kind]
    gates = np.zeros((time, batch, len(rows), size))
    states = np.array(stateflow, np.float64)
    for t, b, u in np.ndindex(time, batch, size):
        for k, row in enumerate(rows):
            gates[t, b, k, u] = gateflow[0][t, b, k, u] if gateflow else 0.0
            if row is not None:
                gates[t, b, k, u] += _seen(weight, row * size + u, states[0, t, b])
        s, a = slopes[t, :, b, u], gates[t, b, :, u]
        if kind == "lstm":
            c = s[0] * a[0] + s[1] * a[1] + s[2] * a[2] + s[4] * states[1, t, b, u]
            states[1, t + 1, b, u] += c
            states[0, t + 1, b, u] += s[3] * a[3] + s[5] * states[1, t + 1, b, u]
        else:
            keep = s[4] * states[0, t, b, u] if kind == "gru" else 0.0
            states[0, t + 1, b, u] += math.fsum(s[: len(rows)] * a) + keep
    return gates, states


def gate_scan_adjoint(
    weight: Array, slopes: Array, stateflow: Array, *gateflow: Array, kind: str
) -> tuple[Array, Array]:
    """The transposed map of both flows at once."""
    time, _, batch, size = slopes.shape
    shape = (time, batch, {"plain": 1}.get(kind, 4), size)
    count = math.prod(shape)

    def joined(gates: Array, states: Array) -> Array:
        return np.concatenate([gates.ravel(), states.ravel()])

    def scan(flows: Array) -> Array:
        gates, states = flows[:count].reshape(shape), flows[count:].reshape(stateflow.shape)
        return joined(*gate_scan(weight, slopes, states, gates, kind=kind))

    given = joined(gateflow[0] if gateflow else np.zeros(shape), stateflow)
    found = transpose_of(scan, given.shape, given)
    return found[:count].reshape(shape), found[count:].reshape(stateflow.shape)


def gate_slopes(kept: Array, states: Array, kind: str) -> Array:
    time, count, batch, size = kept.shape
    slopes = np.zeros((time, count + 1, batch, size))
    for t, b, u in np.ndindex(time, batch, size):
        before = states[-1, t, b, u]
        if kind == "lstm":
            i, f, g, o, y = kept[t, :, b, u]
            found = [(i - i**2) * g, (f - f**2) * before, i - i * g**2, (o - o**2) * y, f]
            found.append(o - o * y**2)
        else:
            r, z, c, m = kept[t, :, b, u]
            at_c = (1.0 - z) * (1.0 - c**2)
            found = [at_c * m * (r - r**2), (before - c) * (z - z**2), at_c, at_c * r, z]
        slopes[t, :, b, u] = found
    return slopes


def layer_adjoint(
    weight: Array, kept: Array, values: Array, stateflow: Array, *gateflow: Array, kind: str
) -> tuple[Array, Array]:
    slopes = gate_slopes(kept, values, kind)
    return gate_scan_adjoint(weight, slopes, stateflow, *gateflow, kind=kind)


SAMPLES: dict[str, list[Sample]] = {
    "lstm_scan": [*_layer(4, 2), *_biased()],
    "gru_scan": _layer(3, 1, biased=True),
    "rnn_scan": [*_layer(1, 1, activation="tanh"), *_kinks()],
    "gate_slopes": _slopes(),
    "layer_adjoint": _layer_adjoints(),
    "gate_scan": _linear(),
    "gate_scan_adjoint": _linear(),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "lstm_scan": lstm_scan,
    "gru_scan": gru_scan,
    "rnn_scan": rnn_scan,
    "gate_slopes": gate_slopes,
    "layer_adjoint": layer_adjoint,
    "gate_scan": gate_scan,
    "gate_scan_adjoint": gate_scan_adjoint,
}
