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


def label_entropy(
    x: Array, label: Array, axis: int, ignore: int | None, op: str, mean: bool = False
) -> tuple[Array, Array, Array]:
    probs = along_axis(softmax_of)(x, axis=axis)
    loss = np.zeros(label.shape)
    for at in np.ndindex(*label.shape):
        if label[at] != ignore:
            loss[at] = -math.log(probs[(*at[:axis], label[at], *at[axis:])])
    count = max(sum(int(v) != ignore for v in label.flat), 1)
    return np.asarray(math.fsum(loss.flat) / count) if mean else loss, probs, np.asarray(count)


def label_loss(
    x: Array, label: Array, axis: int, ignore: int | None, op: str, mean: bool = False
) -> tuple[Array, Array, Array]:
    counts = np.asarray([v != ignore for v in label.flat], float).reshape(label.shape)
    loss, classes = np.zeros(label.shape), np.where(counts, label, 0)
    for at in np.ndindex(*label.shape):
        loss[at] = -counts[at] * x[(*at[:axis], classes[at], *at[axis:])]
    count = max(math.fsum(counts.flat), 1.0)
    if mean:
        return np.asarray(math.fsum(loss.flat) / count), -counts / count, classes
    return loss, -counts, classes


def label_entropy_adjoint(
    y: Array, probs: Array, label: Array, axis: int, ignore: int | None
) -> Array:
    out = np.zeros(probs.shape)
    for at in np.ndindex(*label.shape):
        for k in range(probs.shape[axis] if label[at] != ignore else 0):
            here = (*at[:axis], k, *at[axis:])
            out[here] = y[at] * (probs[here] - (k == label[at]))
    return out


def softmax_of(values: list[float]) -> list[float]:
    total = sum(math.exp(v) for v in values)
    return [math.exp(v) / total for v in values]


LABELLED = [
    ("rows", (3, 4), integers(0, 3, 1), 1, None),
    ("left out", (3, 4), integers(2, -1, 0), 1, -1),
    ("none counts", (2, 3), integers(-1, -1), 1, -1),
    ("images", (2, 3, 2), integers([0, 2], [1, 5]), 1, 5),
    ("first axis", (3, 2), integers(2, 0), 0, -100),
    ("alone", (4,), np.asarray(2), 0, -100),
    ("empty", (0, 3), np.zeros(0, np.int64), 1, -100),
]


def logistic_loss(x: Array, positive: Array, negative: Array) -> Array:
    above, below = each(lambda v: math.log1p(math.exp(-v))), each(lambda v: math.log1p(math.exp(v)))
    return positive * above(x) + negative * below(x)


def logistic_entropy(x: Array, label: Array) -> tuple[Array, Array]:
    slope = each(lambda v: 1.0 / (1.0 + math.exp(-v)))(x) - label
    return logistic_loss(x, label, 1.0 - label), slope


SAMPLES: dict[str, list[Sample]] = {
    "logistic_entropy": [
        Sample("plain", (real(2, 3), positive(2, 3))),
        Sample("spread", (real(2, 1), positive(3))),
        Sample("0-d", (real(), positive())),
        Sample("empty", (real(0, 3), positive(1, 3))),
        Sample("far", (np.asarray([-40.0, 40.0, 40.0]), np.asarray([0.0, 1.0, 0.0]))),
    ],
    "logistic_loss": [
        Sample("plain", (real(2, 3), positive(2, 3), real(2, 3))),
        Sample("spread", (real(2, 1), positive(3), real(1, 3))),
        Sample("0-d", (real(), positive(), real())),
        Sample("empty", (real(0, 3), positive(1, 3), real(3))),
        Sample("far", (np.asarray([-40.0, 40.0]), np.asarray([0.0, 1.0]), np.asarray([1.0, 0.0]))),
    ],
    "weighed": [
        Sample("plain", (positive(2, 3), real(2, 3))),
        Sample("spread", (positive(3), real(2, 1))),
        Sample("0-d", (positive(), real())),
        Sample("empty", (positive(1, 3), real(0, 3))),
        Sample("nothing", (np.asarray([0.0, 2.0]), np.asarray([-np.inf, 3.0])), smooth=False),
    ],
    "straight_through": [Sample(s.label, s.operands, s.attrs, smooth=False) for s in along(spaced)],
    "bounded_log": [
        Sample(s.label, s.operands, {"lowest": -100.0, "floor": 1e-12}) for s in unary(positive)
    ],
    "huber": [Sample(s.label, s.operands, {"delta": 0.9}) for s in unary(spaced)],
    "label_entropy": [
        Sample(
            f"{name}-mean" if mean else name,
            (real(*shape), label),
            {"axis": axis, "ignore": ignore, "op": "loss", "mean": mean},
        )
        for name, shape, label, axis, ignore in LABELLED
        for mean in (False, True)
    ],
    "label_loss": [
        Sample(
            f"{name}-mean" if mean else name,
            (real(*shape), label),
            {"axis": axis, "ignore": ignore, "op": "loss", "mean": mean},
        )
        for name, shape, label, axis, ignore in LABELLED
        for mean in (False, True)
    ],
    "label_entropy_adjoint": [
        Sample(
            name, (real(*label.shape), positive(*shape), label), {"axis": axis, "ignore": ignore}
        )
        for name, shape, label, axis, ignore in LABELLED
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
    "logistic_loss": logistic_loss,
    "logistic_entropy": logistic_entropy,
    "weighed": lambda weight, values: weight * np.where(np.isinf(values), 0.0, values),
    "straight_through": along_axis(one_hot_of_maximum),
    "bounded_log": lambda x, lowest, floor: each(lambda v: max(math.log(v), lowest))(x),
    "huber": lambda x, delta: each(
        lambda v: 0.5 * v * v if abs(v) <= delta else delta * (abs(v) - 0.5 * delta)
    )(x),
    "label_entropy": label_entropy,
    "label_entropy_adjoint": label_entropy_adjoint,
    "label_loss": label_loss,
    "checked_label": checked_label,
}
