"""Samples and references of `ops/nn/pool.py`: pooling, by loops over its definition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import SEED, Array, adjoint_of, transpose_of
from ..sampling import RNG, Sample, Shape, integers, real, spaced

# label: shape of x, of the result, what differs from the plain attributes
PLANE_POOLINGS: dict[str, tuple[Shape, Shape, dict[str, Any]]] = {
    "plain": ((2, 2, 4, 4), (2, 2, 2, 2), {}),
    "overlap": ((1, 2, 4, 3), (1, 2, 3, 2), {"stride": (1, 1)}),
    "padding": ((1, 1, 3, 4), (1, 1, 4, 2), {"padding": ((1, 1), (0, 1)), "stride": (1, 2)}),
    "ceil": ((1, 1, 5, 3), (1, 1, 3, 2), {"ceil_mode": True}),
    "gaps": ((1, 1, 5, 6), (1, 1, 2, 2), {"stride": (3, 3)}),
    "tall": ((1, 2, 5, 2), (1, 2, 2, 1), {"kernel": (3, 2), "stride": (2, 2)}),
}


def _pool_attrs(**changes: Any) -> dict[str, Any]:
    plain = {
        "kernel": (2, 2),
        "stride": (2, 2),
        "padding": ((0, 0), (0, 0)),
        "ceil_mode": False,
    }
    return plain | changes


def _max_pool() -> list[Sample]:
    samples = [
        Sample(n, (spaced(*x),), _pool_attrs(**c)) for n, (x, _, c) in PLANE_POOLINGS.items()
    ]
    return [*samples, Sample("strided", (strided(spaced(1, 2, 4, 4)),), _pool_attrs())]


def _average_pool(adjoint: bool) -> list[Sample]:
    samples = []
    for label, (x, y, changes) in PLANE_POOLINGS.items():
        for exclusive in (True, False):
            operands = (real(*y), np.zeros(x)) if adjoint else (real(*x),)
            name = label if exclusive else f"{label}-inclusive"
            attrs = _pool_attrs(**changes) | {"exclusive": exclusive}
            samples.append(Sample(name, operands, attrs))
    return samples


def _pool_positions() -> np.ndarray:
    """Positions in planes of 3 x 4, some of them twice in a plane."""
    return RNG.integers(0, 12, (2, 2, 3, 2))


# label: shape of x, sizes, shape of the result
BINS: dict[str, tuple[Any, Any, Any]] = {
    "even": ((1, 2, 4, 2), (2, 1), (1, 2, 2, 1)),
    "uneven": ((1, 1, 5, 4), (3, 3), (1, 1, 3, 3)),
    "more-than-elements": ((2, 1, 2), (3,), (2, 1, 3)),
    "as-many": ((1, 1, 3, 4), (None, 3), (1, 1, 3, 3)),
    "three-axes": ((1, 1, 3, 2, 2), (2, 1, 2), (1, 1, 2, 1, 2)),
    "no-images": ((0, 2, 5), (2,), (0, 2, 2)),
}


def _adaptive(which: str) -> list[Sample]:
    samples = []
    for label, (x, size, y) in BINS.items():
        domain = spaced if which == "max" else real
        operands = (real(*y), np.zeros(x)) if which == "adjoint" else (domain(*x),)
        # How many are as many as the elements is not told by the sizes of a cotangent.
        samples.append(Sample(label, operands, {"size": size}))
    operands = (real(1, 1, 2), np.zeros((1, 1, 5))) if which == "adjoint" else (spaced(1, 1, 5),)
    return [*samples, Sample("strided", tuple(map(strided, operands)), {"size": (2,)})]


# label: shape of x, of the result, attributes
POOLINGS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "one-axis": (
        (2, 1, 5),
        (2, 1, 3),
        {"kernel": (2,), "stride": (2,), "padding": ((0, 0),), "ceil_mode": True},
    ),
    "three-axes": (
        (1, 1, 3, 2, 4),
        (1, 1, 2, 2, 2),
        {
            "kernel": (2, 2, 3),
            "stride": (1, 1, 2),
            "padding": ((0, 0), (1, 0), (0, 1)),
            "ceil_mode": False,
        },
    ),
}


def _average(adjoint: bool) -> list[Sample]:
    samples = []
    for label, (x, y, attrs) in POOLINGS.items():
        for name, how in (("", {"exclusive": False}), ("-divisor", {"divisor": 3.0})):
            operands = (real(*y), np.zeros(x)) if adjoint else (real(*x),)
            samples.append(Sample(label + name, operands, {"exclusive": True} | attrs | how))
    return samples


def windows(x: Array, out: Array, kernel: Any, stride: Any, padding: Any) -> Any:
    """Each element of `out` with the positions of `x` in its window."""
    size = x.shape[2:]
    for at in np.ndindex(out.shape):
        first = [p * s - b for p, s, (b, _) in zip(at[2:], stride, padding, strict=True)]
        ranges = [range(f, f + k) for f, k in zip(first, kernel, strict=True)]
        inside = [
            place
            for place in itertools.product(*ranges)
            if all(0 <= i < n for i, n in zip(place, size, strict=True))
        ]
        yield at, inside, ranges


def pooled_shape(x: Array, kernel: Any, stride: Any, padding: Any, ceil_mode: bool) -> Array:
    """Zeros of the shape of the result.

    A window lies inside the padded input; with `ceil_mode` the last one may run over the end of
    it, if it starts before the end of the input.
    """
    sizes = []
    for n, k, s, (before, after) in zip(x.shape[2:], kernel, stride, padding, strict=True):
        end = n + after
        count = 0
        for start in range(-before, end, s):
            fits = start + k <= end
            reaches = start + k < end + s and start < n
            count += reaches if ceil_mode else fits
        sizes.append(count)
    return np.zeros((*x.shape[:2], *sizes))


def _largest(x: Array, lead: tuple[int, ...], places: Any) -> tuple[float, int]:
    best = max(places, key=lambda place: x[(*lead, *place)])
    return x[(*lead, *best)], int(np.ravel_multi_index(best, x.shape[2:]))


def max_pool(
    x: Array, kernel: Any, stride: Any, padding: Any, ceil_mode: bool
) -> tuple[Array, Array]:
    out = pooled_shape(x, kernel, stride, padding, ceil_mode)
    index = np.zeros(out.shape, np.int64)
    for at, inside, _ in windows(x, out, kernel, stride, padding):
        out[at], index[at] = _largest(x, at[:2], inside)
    return out, index


def avg_pool(
    x: Array,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    exclusive: bool,
    divisor: float | None = None,
) -> Array:
    out = pooled_shape(x, kernel, stride, padding, ceil_mode)
    for at, inside, ranges in windows(x, out, kernel, stride, padding):
        # Inclusive means: the padding counts, but not what a last window has past it.
        ends = [n + after for n, (_, after) in zip(x.shape[2:], padding, strict=True)]
        whole = math.prod(
            len([i for i in r if i < end]) for r, end in zip(ranges, ends, strict=True)
        )
        count = len(inside) if exclusive else whole
        out[at] = sum(x[(*at[:2], *place)] for place in inside) / (divisor or count)
    return out


def _binned(x: Array, size: Any) -> Array:
    """Zeros of the shape of the result."""
    sizes = [n if o is None else o for n, o in zip(x.shape[2:], size, strict=True)]
    return np.zeros((*x.shape[:2], *sizes))


def _bins(x: Array, out: Array) -> Any:
    """Each bin with its positions in `x`."""
    for at in np.ndindex(out.shape):
        ranges = [
            range(math.floor(p * n / o), math.ceil((p + 1) * n / o))
            for p, n, o in zip(at[2:], x.shape[2:], out.shape[2:], strict=True)
        ]
        yield at, list(itertools.product(*ranges))


def adaptive_avg_pool(x: Array, size: Any) -> Array:
    out = _binned(x, size)
    for at, places in _bins(x, out):
        out[at] = sum(x[(*at[:2], *place)] for place in places) / len(places)
    return out


def adaptive_max_pool(x: Array, size: Any) -> tuple[Array, Array]:
    out = _binned(x, size)
    index = np.zeros(out.shape, np.int64)
    for at, places in _bins(x, out):
        out[at], index[at] = _largest(x, at[:2], places)
    return out, index


def fractional_bins(n: int, o: int, k: int | None, u: float) -> list[range]:
    """Where bins begin and end, by fractions; what is above is cut off."""
    u = Fraction(u).limit_denominator(1000)  # type: ignore[assignment]
    if k is not None:
        stride = Fraction(n - k, max(o - 1, 1)) * (o > 1)
        starts = [math.floor((p + u) * stride) - math.floor(u * stride) for p in range(o)]
        return [range(s, s + k) for s in starts]
    stride, base = Fraction(n, o), n // o
    u *= min((base + 2) / stride - 1, (n + 1 - base) / stride - (o - 1))
    edges = [math.floor((p + u) * stride) - math.floor(u * stride) for p in range(o + 1)]
    return [range(a, min(b, n)) for a, b in itertools.pairwise(edges)]


def fractional_max_index(x: Array, size: Any, kernel: Any, u: float | None) -> Array:
    u = np.random.default_rng(SEED).random() if u is None else u
    counts = [n if o is None else o for n, o in zip(x.shape[2:], size, strict=True)]
    kernels = [None] * len(counts) if kernel is None else kernel
    bins = [
        fractional_bins(n, o, k, u) for n, o, k in zip(x.shape[2:], counts, kernels, strict=True)
    ]
    index = np.zeros((*x.shape[:2], *counts), np.int64)
    for at in np.ndindex(index.shape):
        ranges = [b[p] for b, p in zip(bins, at[2:], strict=True)]
        index[at] = _largest(x, at[:2], list(itertools.product(*ranges)))[1]
    return index


def max_pool_gather(x: Array, index: Array) -> Array:
    out = np.zeros(index.shape)
    for at in np.ndindex(index.shape):
        out[at] = x[at[:2]].flat[index[at]]
    return out


def last_writes(index: Array, like: Array) -> Array:
    survives = np.ones(index.shape, bool)
    for n, c in np.ndindex(index.shape[:2]):
        flat = index[n, c].ravel().tolist()
        survives[n, c].flat[:] = [i not in flat[k + 1 :] for k, i in enumerate(flat)]
    return survives


SAMPLES: dict[str, list[Sample]] = {
    "max_pool": [
        *_max_pool(),
        *(Sample(n, (spaced(*x),), attrs) for n, (x, _, attrs) in POOLINGS.items()),
    ],
    "max_pool_scatter": [
        Sample("plain", (real(2, 2, 3, 2), _pool_positions(), np.zeros((2, 2, 3, 4)))),
        Sample("strided", (strided(real(2, 2, 3, 2)), _pool_positions(), np.zeros((2, 2, 3, 4)))),
        Sample("one-axis", (real(1, 2, 2), integers([[3, 0], [1, 1]]), np.zeros((1, 2, 4)))),
    ],
    "max_pool_gather": [
        Sample("plain", (real(2, 2, 3, 4), _pool_positions())),
        Sample("strided", (strided(real(2, 2, 3, 4)), _pool_positions())),
        Sample("one-axis", (real(1, 2, 4), integers([[3, 0], [1, 1]]))),
    ],
    "avg_pool": [*_average_pool(adjoint=False), *_average(adjoint=False)],
    "avg_pool_input": [*_average_pool(adjoint=True), *_average(adjoint=True)],
    "adaptive_max_pool": _adaptive("max"),
    "adaptive_avg_pool": _adaptive("mean"),
    "fractional_max_index": [
        Sample("drawn", (spaced(1, 1, 99),), {"size": (70,), "kernel": None, "u": None}),
        Sample("bins", (spaced(2, 1, 7, 5),), {"size": (5, None), "kernel": None, "u": 0.3}),
        Sample("windows", (spaced(1, 2, 7),), {"size": (3,), "kernel": (4,), "u": 0.7}),
        Sample("one", (spaced(1, 1, 4),), {"size": (1,), "kernel": (2,), "u": 0.5}),
        Sample("no-images", (spaced(0, 1, 4),), {"size": (2,), "kernel": None, "u": None}),
    ],
    "adaptive_avg_pool_input": _adaptive("adjoint"),
    "last_writes": [
        Sample("plain", (integers([[1, 0, 1]], [[2, 2, 2]]), np.zeros((2, 1, 3)))),
        Sample("plane", (integers([[[3, 0], [3, 1]]]), np.zeros((1, 1, 2, 2)))),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "max_pool": max_pool,
    "max_pool_gather": max_pool_gather,
    "max_pool_scatter": lambda y, index, like: transpose_of(
        lambda x: max_pool_gather(x, index), like.shape, y
    ),
    "adaptive_max_pool": adaptive_max_pool,
    "fractional_max_index": fractional_max_index,
    "last_writes": last_writes,
    "avg_pool": avg_pool,
    "avg_pool_input": adjoint_of(avg_pool),
    "adaptive_avg_pool": adaptive_avg_pool,
    "adaptive_avg_pool_input": adjoint_of(adaptive_avg_pool),
}
