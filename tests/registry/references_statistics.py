"""What the operations of `statistics` should compute, said in another way."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .references_basic import each, reduce

Array = np.ndarray


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


def log_of_sum(values: list[float]) -> float:
    if not values:
        return -math.inf
    largest = max(values)
    return largest + math.log(math.fsum(math.exp(v - largest) for v in values))


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


def one_axis(f: Callable[[list[Any]], Any]) -> Callable[..., Array]:
    return lambda x, axis, keepdims=False: reduce(f)(x, (axis,), keepdims)


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


def shares(x: Array, value: Array, axis: Any, keepdims: bool) -> Array:
    """The matrix of shares: of each element of `x` in each element of `value`."""
    out = np.zeros((*value.shape, *x.shape))
    for at in np.ndindex(x.shape):
        place = [i for a, i in enumerate(at) if a not in axis]
        if keepdims:
            place = [0 if a in axis else i for a, i in enumerate(at)]
        out[(*place, *at)] = x[at] == value[tuple(place)]
    total = np.sum(out, axis=tuple(range(value.ndim, out.ndim)), keepdims=True)
    return out / np.maximum(total, 1)


def share_ties(c: Array, x: Array, value: Array, axis: Any, keepdims: bool = False) -> Array:
    weights = shares(x, value, axis, keepdims)
    return np.sum(weights * c.reshape((*c.shape, *(1,) * x.ndim)), axis=tuple(range(c.ndim)))


def average_ties(d: Array, x: Array, value: Array, axis: Any, keepdims: bool = False) -> Array:
    weights = shares(x, value, axis, keepdims)
    return np.sum(weights * d, axis=tuple(range(value.ndim, weights.ndim)))


def take_tied(x: Array, index: Array, axis: int) -> Array:
    out = np.zeros(index.shape)
    for at in np.ndindex(index.shape):
        out[at] = x[(*at[:axis], index[at], *at[axis + 1 :])]
    return out


def mode(x: Array, axis: int) -> tuple[Array, Array]:
    moved = np.moveaxis(x, axis, -1)
    values = np.zeros((*moved.shape[:-1], 1))
    index = np.zeros(values.shape, np.int64)
    for at in np.ndindex(moved.shape[:-1]):
        line = moved[at].tolist()
        counts = collections.Counter(line)
        most = max(counts.values())
        values[at] = min(v for v, n in counts.items() if n == most)
        index[at] = max(i for i, v in enumerate(line) if v == values[at][0])
    return np.moveaxis(values, -1, axis), np.moveaxis(index, -1, axis)


def p_norm(x: Array, p: float, axis: Any, keepdims: bool = False) -> Array:
    return reduce(lambda v: math.fsum(math.fabs(e) ** p for e in v) ** (1.0 / p) if v else 0.0)(
        x, axis, keepdims
    )


def edges(x: Array, bins: int, low: float = 0.0, high: float = 0.0) -> Array:
    values = x.ravel().tolist()
    if low == high == 0 and values:
        low, high = min(values), max(values)
    if low == high:
        low, high = low - 1, high + 1
    return np.asarray([low + (high - low) * k / bins for k in range(bins)] + [high])


def histogram(
    x: Array, *weights: Array, bins: int, low: float = 0.0, high: float = 0.0, density: bool = False
) -> Array:
    bounds = edges(x, bins, low, high)
    weight = weights[0].ravel() if weights else np.ones(x.size)
    out = np.zeros(bins)
    for v, w in zip(x.ravel(), weight, strict=True):
        for k in range(bins):
            if bounds[k] <= v < bounds[k + 1] or (k == bins - 1 and v == bounds[-1]):
                out[k] += w
    if density:
        out /= (np.sum(out) or 1.0) * (bounds[1] - bounds[0])
    return out


def bincount(x: Array, *weights: Array, minlength: int = 0) -> Array:
    weight = weights[0] if weights else np.ones(x.size)
    size = max([minlength, *(int(v) + 1 for v in x)])
    return np.asarray(
        [sum(w for v, w in zip(x, weight, strict=True) if v == k) for k in range(size)]
    )


REFERENCES: dict[str, Callable[..., Any]] = {
    "prod": one_axis(math.prod),
    "logsumexp": reduce(log_of_sum),
    "exp_difference": each(lambda x, y: math.exp(x) / math.exp(y)),
    "cumsum": prefixes(math.fsum),
    "cumprod": prefixes(math.prod),
    "logcumsumexp": prefixes(log_of_sum),
    "shift": lines(lambda v, fill=0.0: [fill, *v[:-1]][: len(v)]),
    "linear_recurrence": recurrence,
    "cummax": extrema(max),
    "cummin": extrema(min),
    "share_ties": share_ties,
    "average_ties": average_ties,
    "take_tied": take_tied,
    "mode": mode,
    "p_norm": p_norm,
    "histogram": histogram,
    "histogram_bin_edges": edges,
    "bincount": bincount,
}
