"""Samples of the operations of `losses`."""

from __future__ import annotations

import numpy as np

from .sampling import Sample, integers, positive, real, strided, unary


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


SAMPLES: dict[str, list[Sample]] = {
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
    "band_scan": _bands(*_SCANS),
    "band_scan_adjoint": _bands(*_SCANS),
}
