"""Samples and references of `ops/scan.py`: scans along an axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, each, log_of_sum
from ..sampling import TIED, Sample, along, binary, real, spaced, with_zeros


def _both_ways(samples: list[Sample], **attrs: Any) -> list[Sample]:
    return [
        Sample(f"{s.label}{name}", s.operands, {**s.attrs, **attrs, **more}, s.smooth, s.unknown)
        for name, more in {"": {}, "-reverse": {"reverse": True}}.items()
        for s in samples
    ]


def _pairs(a: Any, b: Any) -> list[Sample]:
    shapes = {"last": ((2, 3), 1), "first": ((3, 2), 0), "size-1": ((2, 1), 1)}
    shapes |= {"vector": ((4,), 0), "empty": ((0, 3), 1), "of-nothing": ((2, 0), 1)}
    samples = [Sample(k, (a(*s), b(*s)), {"axis": axis}) for k, (s, axis) in shapes.items()]
    return [*samples, Sample("strided", (strided(a(2, 3, 2)), strided(b(2, 3, 2))), {"axis": 1})]


# At which no differences are taken.
TIES = Sample("ties", (TIED,), {"axis": 1}, smooth=False)


def lines(f: Callable[[list[float]], list[float]]) -> Callable[..., Array]:
    """`f` of the list of elements of each line, reversed before and after with `reverse`."""

    def apply(x: Array, axis: int, reverse: bool = False, **attrs: Any) -> Array:
        if not x.size:
            return np.zeros(x.shape)

        def line(values: Array) -> Array:
            return np.asarray(f(values[::-1].tolist(), **attrs)[::-1])

        def forward(values: Array) -> Array:
            return np.asarray(f(values.tolist(), **attrs))

        return np.apply_along_axis(line if reverse else forward, axis, x)

    return apply


def prefixes(f: Callable[[list[float]], float]) -> Callable[..., Array]:
    """`f` of all elements so far."""
    return lines(lambda v: [f(v[: i + 1]) for i in range(len(v))])


def extrema(best: Callable[..., Any]) -> Callable[..., Any]:
    def apply(x: Array, axis: int) -> tuple[Array, Array]:
        values = prefixes(best)(x, axis)
        index = lines(
            lambda v: [
                max(j for j in range(i + 1) if v[j] == best(v[: i + 1])) for i in range(len(v))
            ]
        )(x, axis)
        return values, index.astype(np.int64)

    return apply


def recurrence(a: Array, b: Array, axis: int, reverse: bool = False) -> Array:
    """Every term with the product of the factors between its place and that of the result."""
    a, b = np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)
    out = np.zeros(b.shape)
    n = b.shape[-1]
    for i in range(n):
        for j in range(i, n) if reverse else range(i + 1):
            between = range(i, j) if reverse else range(j + 1, i + 1)
            out[..., i] += b[..., j] * np.prod([a[..., k] for k in between], axis=0)
    return np.moveaxis(out, -1, axis)


SAMPLES: dict[str, list[Sample]] = {
    "exp_difference": binary(),
    "cumsum": _both_ways(along()),
    "cumprod": _both_ways([*along(), *with_zeros(1), *with_zeros(0)]),
    "product_of_others": [*along(), *with_zeros(1), *with_zeros(0)],
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
    "cummax": [*along(spaced), TIES],
    "cummin": [*along(spaced), TIES],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "exp_difference": each(lambda x, y: math.exp(x) / math.exp(y)),
    "cumsum": prefixes(math.fsum),
    "cumprod": prefixes(math.prod),
    "product_of_others": lines(lambda v: [math.prod([*v[:i], *v[i + 1 :]]) for i in range(len(v))]),
    "logcumsumexp": prefixes(log_of_sum),
    "shift": lines(lambda v, fill=0.0: [fill, *v[:-1]][: len(v)]),
    "linear_recurrence": recurrence,
    "cummax": extrema(max),
    "cummin": extrema(min),
}
