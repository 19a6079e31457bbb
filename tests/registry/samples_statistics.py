"""Samples of the operations of `statistics`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .sampling import (
    Sample,
    along,
    away_from_zero,
    binary,
    integers,
    real,
    reductions,
    spaced,
    strided,
)


def _both_ways(samples: list[Sample], **attrs: Any) -> list[Sample]:
    return [
        Sample(f"{s.label}{name}", s.operands, {**s.attrs, **attrs, **more}, s.smooth, s.unknown)
        for name, more in {"": {}, "-reverse": {"reverse": True}}.items()
        for s in samples
    ]


def _with_zeros(axis: int, **attrs: Any) -> list[Sample]:
    """Lines with no, one and two zeros: derivatives must not divide by them."""
    x = real(3, 4)
    x[1, 2] = x[2, 0] = x[2, 3] = 0.0
    label = "zeros" if axis else "zeros-first"
    return [Sample(label, (x if axis else x.T.copy(),), {"axis": axis, **attrs})]


def _one_axis(domain: Any = real) -> list[Sample]:
    return [
        Sample("vector", (domain(4),), {"axis": 0}),
        Sample("last-keep", (domain(2, 3),), {"axis": 1, "keepdims": True}),
        Sample("first", (domain(3, 2),), {"axis": 0}),
        Sample("size-1", (domain(2, 1),), {"axis": 1}),
        Sample("empty", (domain(0, 3),), {"axis": 1}),
        Sample("of-nothing", (domain(2, 0),), {"axis": 1}),
        Sample("strided", (strided(domain(2, 3, 2)),), {"axis": 1}),
    ]


def _pairs(a: Any, b: Any) -> list[Sample]:
    shapes = {"last": ((2, 3), 1), "first": ((3, 2), 0), "size-1": ((2, 1), 1)}
    shapes |= {"vector": ((4,), 0), "empty": ((0, 3), 1), "of-nothing": ((2, 0), 1)}
    samples = [Sample(k, (a(*s), b(*s)), {"axis": axis}) for k, (s, axis) in shapes.items()]
    return [*samples, Sample("strided", (strided(a(2, 3, 2)), strided(b(2, 3, 2))), {"axis": 1})]


TIED = np.asarray([[1.0, 2.0, 2.0], [2.0, 2.0, 2.0], [0.5, -1.0, 0.25]])


def _shares(spread: bool) -> list[Sample]:
    def sample(label: str, x: Any, axis: Any, keepdims: bool) -> Sample:
        x = np.asarray(x)
        value = np.asarray(np.max(x, axis=axis, keepdims=keepdims))
        given = real(*(value.shape if spread else x.shape))
        return Sample(label, (given, x, value), {"axis": axis, "keepdims": keepdims})

    return [
        sample("last", TIED, (1,), False),
        sample("first-keep", TIED.T, (0,), True),
        sample("all", TIED, (0, 1), False),
        sample("outer", np.stack([TIED, TIED[::-1]]), (0, 2), False),
        sample("no-axis", TIED, (), False),
        sample("0-d", real(), (), False),
        sample("size-1", spaced(2, 1), (1,), False),
        sample("empty", np.zeros((0, 3)), (1,), False),
        sample("strided", strided(TIED), (1,), False),
    ]


def _norms() -> list[Sample]:
    samples = []
    for p in (2.0, 1.0, 3.0, 0.5, -1.0, 1.5):
        for s in reductions(away_from_zero):
            if p == 2.0 or s.label in ("all", "last", "first-keep", "strided"):
                samples.append(Sample(f"{s.label}-{p:g}", s.operands, {"p": p, **s.attrs}))
    # Smooth where an element is 0, as long as the norm is not.
    zeros = np.asarray([[0.0, 3.0, -1.0], [2.0, 0.0, 0.0]])
    return [*samples, Sample("zeros-2", (zeros,), {"p": 2.0, "axis": (1,)})]


def _few(k: int, largest: bool = True) -> list[Sample]:
    attrs = {"k": k, "largest": largest}
    name = f"{'largest' if largest else 'smallest'}-{k}"
    ties = np.tile([3.0, 1.0, 2.0, 3.0, 1.0], 8)
    return [
        Sample(f"long-{name}", (spaced(2, 24),), {"axis": 1, **attrs}),
        Sample(f"long-first-{name}", (spaced(24, 2),), {"axis": 0, **attrs}),
        Sample(f"long-ties-{name}", (ties,), {"axis": 0, **attrs}, smooth=False),
    ]


def _counted(*samples: Sample) -> list[Sample]:
    """Counts are piecewise constant, and float32 where they are floats."""
    return [replace(s, smooth=False) for s in samples]


LONG_TOPK = [s for k in (1, 3) for largest in (True, False) for s in _few(k, largest)]

SAMPLES: dict[str, list[Sample]] = {
    "prod": [*_one_axis(), *_with_zeros(1), Sample("zeros-keep", (np.zeros((2, 2)),), {"axis": 0})],
    "logsumexp": [*reductions(), Sample("of-nothing", (real(2, 0),), {"axis": (1,)}, smooth=False)],
    "exp_difference": binary(),
    "cumsum": _both_ways(along()),
    "cumprod": _both_ways([*along(), *_with_zeros(1), *_with_zeros(0)]),
    "logcumsumexp": _both_ways(along()),
    "shift": [
        *_both_ways(along()),
        Sample("fill", (real(2, 3),), {"axis": 1, "fill": 1.0}),
        Sample("of-nothing", (real(2, 0),), {"axis": 1, "fill": 1.0}),
    ],
    "linear_recurrence": _both_ways(
        [
            *_pairs(real, real),
            Sample("zeros", (np.asarray([1.5, 0.0, 2.0, 0.0]), real(4)), {"axis": 0}),
        ]
    ),
    "cummax": along(spaced),
    "cummin": along(spaced),
    "share_ties": _shares(True),
    "average_ties": _shares(False),
    "take_tied": [
        Sample("last", (spaced(2, 3), integers([2], [0])), {"axis": 1}),
        Sample("first", (spaced(3, 2), integers([1, 2])), {"axis": 0}),
        Sample("vector", (spaced(4), integers(2)), {"axis": 0}),
        Sample("empty", (spaced(0, 3), np.zeros((0, 1), np.int64)), {"axis": 1}),
        Sample("strided", (strided(spaced(2, 4)), integers([2], [0])), {"axis": 1}),
        Sample("ties", (TIED, integers([1], [0], [1])), {"axis": 1}, smooth=False),
    ],
    "mode": [
        *along(spaced),
        Sample("ties", (TIED,), {"axis": 1}, smooth=False),
        Sample("longest", (np.asarray([3.0, 1.0, 2.0, 1.0, 3.0, 1.0]),), {"axis": 0}, smooth=False),
        Sample("integers", (integers([2, 1, 2], [5, 5, 3]),), {"axis": 1}),
    ],
    "topk": [
        *LONG_TOPK,
        Sample("plain", (spaced(2, 4),), {"k": 2, "axis": 1}),
        Sample("smallest", (spaced(2, 4),), {"k": 3, "axis": 1, "largest": False}),
        Sample("first", (spaced(4, 2),), {"k": 1, "axis": 0}),
        Sample("all", (spaced(3),), {"k": 3, "axis": 0}),
        Sample("empty", (spaced(0, 3),), {"k": 2, "axis": 1}),
        Sample("strided", (strided(spaced(3, 4)),), {"k": 2, "axis": 1}),
    ],
    "p_norm": _norms(),
    "histogram": _counted(
        Sample("plain", (real(3, 4),), {"bins": 4}),
        Sample("range", (real(10),), {"bins": 3, "low": -1.0, "high": 1.5}),
        Sample("density", (real(10),), {"bins": 3, "low": -1.0, "high": 1.5, "density": True}),
        Sample("weights", (real(2, 3), real(2, 3)), {"bins": 3}),
        Sample("integers", (integers(1, 0, 4, 5, 2),), {"bins": 4, "low": 0.0, "high": 4.0}),
        Sample("one-value", (np.ones(3),), {"bins": 4}),
        Sample("0-d", (real(),), {"bins": 2}),
        Sample("empty", (real(0, 3),), {"bins": 2}),
        Sample("empty-density", (real(0),), {"bins": 2, "density": True}),
    ),
    "histogram_bin_edges": _counted(
        Sample("plain", (integers(1, 0, 4, 5, 2),), {"bins": 4}),
        Sample("range", (real(10),), {"bins": 3, "low": -1.0, "high": 1.5}),
        Sample("one-value", (np.ones(3),), {"bins": 4}),
        Sample("empty", (real(0, 3),), {"bins": 2}),
    ),
    "bincount": _counted(
        Sample("plain", (integers(1, 0, 4, 1),)),
        Sample("minlength", (integers(1, 0, 4, 1),), {"minlength": 7}),
        Sample("weights", (integers(1, 0, 4, 1), real(4))),
        Sample("integer-weights", (integers(1, 0, 4, 1), integers(1, 2, 3, 4))),
        Sample("empty", (np.zeros(0, np.int64),)),
    ),
}

# Ties have samples of their own, at which no differences are taken.
for _name in ("cummax", "cummin"):
    SAMPLES[_name].append(Sample("ties", (TIED,), {"axis": 1}, smooth=False))
