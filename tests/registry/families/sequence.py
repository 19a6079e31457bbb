"""Samples and references of `ops/nn/sequence.py`: sequences and their alignments."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, transpose_of
from ..sampling import Sample, integers, positive, real


def _bands(*shapes: tuple[int, int, int]) -> list[Sample]:
    labels = ("plain", "one-time", "one-state", "empty-batch", "long")
    return [
        Sample(label, (real(*s, 3), real(*s))) for label, s in zip(labels, shapes, strict=True)
    ] + [Sample("strided", (strided(real(3, 2, 3, 3)), strided(real(3, 2, 3))))]


_SCANS = ((3, 2, 4), (1, 2, 3), (3, 2, 1), (2, 0, 3), (5, 1, 2))


def _alignments() -> list[Sample]:
    """Sequences of several lengths, with equal labels in a row, and one without an alignment."""
    labels = np.asarray([[1, 2], [3, 3], [2, 1], [1, 1]], np.int64)
    times, lengths = integers(4, 4, 2, 2), integers(2, 2, 1, 2)
    scores = -positive(4, 4, 5)
    return [
        Sample("several", (scores, labels, times, lengths), {"blank": 0}),
        Sample("one", (-positive(3, 1, 3), integers([2]), integers(3), integers(1)), {"blank": 0}),
        Sample("none", (-positive(3, 1, 3), integers([2]), integers(3), integers(0)), {"blank": 0}),
    ]


def _moves(times: list[int], lengths: list[int], labels: int) -> Sample:
    """Of a transducer; where there is no move a score of infinity must not be read."""
    frames, batch = max(times), len(times)
    scores = -positive(frames + labels + 1, batch, labels + 1, 3)
    scores[..., 2] = math.inf
    label = f"{frames}-frames-{labels}-labels"
    return Sample(label, (scores, integers(*times), integers(*lengths)))


def rnnt_moves(labels: Array, like: Array, blank: int) -> Array:
    frames, states = like.shape[1:3]
    place = np.arange(like.size).reshape(like.shape)
    out = np.zeros((frames + states, like.shape[0], states, 3), np.int64)
    for b, t, u in np.ndindex(like.shape[:3]):
        out[t + u + 1, b, u, 0] = place[b, t, u, blank]
        if u + 1 < states:
            out[t + u + 1, b, u + 1, 1] = place[b, t, u, labels[b, u]]
    return out


def rnnt_align(scores: Array, times: Array, lengths: Array) -> tuple[Array, ...]:
    batch, states = scores.shape[1:3]
    likelihood, steps = np.zeros(batch), np.zeros(scores.shape)
    start, end = np.zeros(scores.shape[:3]), np.zeros((batch, states))
    anchor = np.zeros(scores.shape)
    start[0, :, 0] = 1.0
    for b in range(batch):
        frames, length = int(times[b]), int(lengths[b])
        weight = {(0, 0): 1.0}
        nodes = [(t, u) for t in range(frames) for u in range(length + 1)] + [(frames, length)]
        for t, u in sorted(nodes, key=sum)[1:]:
            before = {k: at for k, at in enumerate([(t - 1, u), (t, u - 1)]) if at in weight}
            if t == frames:
                before.pop(1, None)
            moves = {k: weight[at] * math.exp(scores[t + u, b, u, k]) for k, at in before.items()}
            weight[t, u] = math.fsum(moves.values())
            for k, v in moves.items():
                steps[t + u, b, u, k] = v / weight[t, u]
                anchor[t + u, b, u, k] = scores[t + u, b, u, k]
        likelihood[b] = math.log(weight[frames, length])
        steps[frames + length + 1 :, b, length, 0] = 1.0
        end[b, length] = 1.0
    return likelihood, steps, start, end, anchor


def sequence_mask(x: Array, maxlen: int | None, dtype: str) -> Array:
    size = max(x.ravel().tolist()) if maxlen is None else maxlen
    rows = [[float(k < n) for k in range(size)] for n in x.ravel().tolist()]
    return np.asarray(rows).reshape(*x.shape, size)


def gather_tree(ids: Array, parents: Array) -> Array:
    out = np.zeros_like(ids)
    for b, k in np.ndindex(ids.shape[1:]):
        beam = k
        for t in reversed(range(ids.shape[0])):
            out[t, b, k] = ids[t, b, beam]
            beam = parents[t, b, beam]
    return out


def extended(labels: list[int], blank: int) -> list[int]:
    return [blank] + [v for label in labels for v in (label, blank)]


def ctc_states(labels: Array, like: Array, blank: int) -> Array:
    return np.asarray([[extended(row, blank) for row in labels.tolist()]] * like.shape[0])


def alignments(path: list[int], times: int, blank: int) -> list[tuple[int, ...]]:
    """Every sequence of states that spells the whole of `path`."""

    def follows(a: int, b: int) -> bool:
        skips = b - a == 2 and path[b] != blank and path[b] != path[a]
        return b - a in (0, 1) or skips

    return [
        way
        for way in itertools.product(range(len(path)), repeat=times)
        if way[0] < 2
        and way[-1] >= len(path) - 2
        and all(follows(a, b) for a, b in itertools.pairwise(way))
    ]


def ctc_align(
    scores: Array, labels: Array, times: Array, lengths: Array, blank: int
) -> tuple[Array, ...]:
    duration, batch, count = scores.shape
    likelihood = np.full(batch, -math.inf)
    steps = np.zeros((duration, batch, count, 3))
    start, end, anchor = np.zeros(scores.shape), np.zeros((batch, count)), scores.copy()
    for b in range(batch):
        path = extended(labels[b].tolist()[: lengths[b]], blank)
        n = int(times[b])
        anchor[n:, b] = 0.0
        steps[n:, b, :, 0] = 1.0
        start[0, b, : min(2, len(path))] = 1.0
        # Prefixes that reach a state at a time, whether or not they can still be finished.
        inflow: dict[tuple[int, int], dict[int, float]] = {}
        reach = {s: math.exp(scores[0, b, s]) for s in range(min(2, len(path)))}
        for t in range(1, n):
            entered: dict[int, float] = {}
            for s in range(len(path)):
                sources = {}
                for k in range(3):
                    over = k == 2 and (s < 2 or path[s] in (blank, path[s - 2]))
                    if s - k in reach and not over:
                        sources[k] = reach[s - k]
                if sources:
                    inflow[t, s] = sources
                    entered[s] = math.fsum(sources.values()) * math.exp(scores[t, b, s])
            reach = entered
        for (t, s), sources in inflow.items():
            for k, v in sources.items():
                steps[t, b, s, k] = v / math.fsum(sources.values())
        ways = alignments(path, n, blank)
        weights = [math.exp(math.fsum(scores[t, b, s] for t, s in enumerate(w))) for w in ways]
        if ways:
            likelihood[b] = math.log(math.fsum(weights))
            for way, w in zip(ways, weights, strict=True):
                end[b, way[-1]] += w / math.fsum(weights)
    return likelihood, steps, start, end, anchor


def band_scan(weight: Array, inflow: Array) -> Array:
    out = np.zeros(inflow.shape)
    for t, b, s in np.ndindex(inflow.shape):
        out[t, b, s] = inflow[t, b, s] + sum(
            weight[t, b, s, k] * out[t - 1, b, s - k] for k in range(3) if t and s >= k
        )
    return out


SAMPLES: dict[str, list[Sample]] = {
    "sequence_mask": [
        Sample("plain", (integers(1, 3, 0),), {"maxlen": 4, "dtype": "int64"}),
        Sample("longest", (integers([1, 3], [2, 0]),), {"maxlen": None, "dtype": "float32"}),
        Sample("0-d", (np.asarray(2, np.int64),), {"maxlen": 3, "dtype": "bool"}),
        Sample("empty", (np.zeros((0,), np.int64),), {"maxlen": 2, "dtype": "int64"}),
    ],
    "gather_tree": [
        Sample(
            "plain",
            (
                integers([[2, 2], [6, 1]], [[3, 9], [6, 1]], [[0, 1], [9, 0]]),
                integers([[0, 0], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1]]),
            ),
        ),
        Sample("empty", (np.zeros((2, 0, 3), np.int64), np.zeros((2, 0, 3), np.int64))),
    ],
    "ctc_states": [
        Sample("plain", (integers([1, 2], [3, 3]), real(3, 2, 4)), {"blank": 0}),
        Sample("blank-last", (integers([1, 2], [0, 0]), real(2, 2, 4)), {"blank": 3}),
    ],
    "ctc_align": _alignments(),
    "rnnt_moves": [
        Sample("plain", (integers([1, 2], [3, 3]), real(2, 3, 3, 4)), {"blank": 0}),
        Sample("blank-last", (integers([1]), real(1, 1, 2, 4)), {"blank": 3}),
        Sample("no-label", (np.zeros((2, 0), np.int64), real(2, 2, 1, 3)), {"blank": 1}),
    ],
    "rnnt_align": [_moves([4, 2, 3], [2, 1, 0], 2), _moves([1], [3], 3)],
    "band_scan": _bands(*_SCANS),
    "band_scan_adjoint": _bands(*_SCANS),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "sequence_mask": sequence_mask,
    "gather_tree": gather_tree,
    "ctc_states": ctc_states,
    "ctc_align": ctc_align,
    "rnnt_moves": rnnt_moves,
    "rnnt_align": rnnt_align,
    "band_scan": band_scan,
    "band_scan_adjoint": lambda weight, outflow: transpose_of(
        lambda x: band_scan(weight, x), outflow.shape, outflow
    ),
}
