"""What the operations of `indexing` should compute, element by element."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray


def full_key(key: tuple[Any, ...], arrays: tuple[Array, ...]) -> tuple[Any, ...]:
    given = iter(arrays)
    return tuple(next(given) if isinstance(k, str) else k for k in key)


def places(shape: tuple[int, ...], arrays: tuple[Array, ...], key: tuple[Any, ...]) -> Array:
    """Which element of an array of `shape` each element of ``x[key]`` is, by NumPy's own rule."""
    count = int(np.prod(shape))
    return np.asarray(np.arange(count).reshape(shape)[full_key(key, arrays)])


def index(x: Array, *arrays: Array, key: tuple[Any, ...]) -> Array:
    at = places(x.shape, arrays, key)
    elements = x.ravel().tolist()
    return np.asarray([elements[i] for i in at.ravel()], float).reshape(at.shape)


def index_add_like(x: Array, like: Array, *arrays: Array, key: tuple[Any, ...]) -> Array:
    out = [0.0] * like.size
    for i, value in zip(places(like.shape, arrays, key).ravel(), x.ravel(), strict=True):
        out[i] += value
    return np.asarray(out).reshape(like.shape)


def written(choose: Callable[[Any, Any], Any]) -> Callable[..., Array]:
    """Values written one after the other, ``choose(old, new)`` of each."""

    def apply(x: Array, value: Array, *arrays: Array, key: tuple[Any, ...]) -> Array:
        out = x.ravel().tolist()
        at = places(x.shape, arrays, key)
        for i, new in zip(at.ravel(), (value + np.zeros(at.shape)).ravel(), strict=True):
            out[i] = choose(out[i], new)
        return np.asarray(out).reshape(x.shape)

    return apply


def index_last(like: Array, *arrays: Array, key: tuple[Any, ...]) -> Array:
    at = places(like.shape, arrays, key)
    seen = at.ravel().tolist()
    last = [i not in seen[k + 1 :] for k, i in enumerate(seen)]
    return np.asarray(last, bool).reshape(at.shape)


def argsort(x: Array, axis: int, descending: bool = False) -> Array:
    lines = np.moveaxis(x, axis, -1)
    out = np.zeros(lines.shape, np.int64)
    for at in np.ndindex(lines.shape[:-1]):
        line = lines[at].tolist()
        out[at] = sorted(range(len(line)), key=lambda i: (-line[i] if descending else line[i], i))
    return np.moveaxis(out, -1, axis)


def sort(x: Array, axis: int, descending: bool = False) -> tuple[Array, Array]:
    order = argsort(x, axis, descending)
    out = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        out[at] = x[(*at[:axis], order[at], *at[axis + 1 :])]
    return out, order


def searchsorted(sorted_sequence: Array, values: Array, right: bool = False) -> Array:
    out = np.zeros(values.shape, np.int64)
    find = bisect.bisect_right if right else bisect.bisect_left
    for at in np.ndindex(values.shape):
        line = sorted_sequence if sorted_sequence.ndim == 1 else sorted_sequence[at[:-1]]
        out[at] = find(line.tolist(), values[at])
    return out


def slices(x: Array, axis: int | None) -> list[Any]:
    """Elements of `x`, or what lies at each position of an axis, as something to compare."""
    if axis is None:
        return x.ravel().tolist()
    return [tuple(np.take(x, k, axis).ravel().tolist()) for k in range(x.shape[axis])]


def chosen(x: Array, axis: int | None, first: list[int]) -> Array:
    return np.take(x.ravel() if axis is None else x, np.asarray(first, np.int64), axis or 0)


def unique(x: Array, axis: int | None = None) -> tuple[Array, ...]:
    every = slices(x, axis)
    distinct = sorted(set(every))
    first = [every.index(v) for v in distinct]
    inverse = [distinct.index(v) for v in every]
    counts = [every.count(v) for v in distinct]
    out = chosen(x, axis, first)
    return out, *(np.asarray(v, np.int64) for v in (first, inverse, counts))


def unique_consecutive(x: Array, axis: int | None = None) -> tuple[Array, ...]:
    first: list[int] = []
    inverse: list[int] = []
    every = slices(x, axis)
    for k, value in enumerate(every):
        if not k or value != every[k - 1]:
            first.append(k)
        inverse.append(len(first) - 1)
    counts = [inverse.count(k) for k in range(len(first))]
    out = chosen(x, axis, first)
    return out, np.asarray(inverse, np.int64), np.asarray(counts, np.int64)


def nonzero(x: Array) -> Array:
    found = [at for at in np.ndindex(x.shape) if x[at]]
    return np.asarray(found, np.int64).reshape(len(found), x.ndim)


def isin(x: Array, test: Array, invert: bool = False) -> Array:
    allowed = set(test.ravel().tolist())
    found = [(v in allowed) != invert for v in x.ravel().tolist()]
    return np.asarray(found, bool).reshape(x.shape)


REFERENCES: dict[str, Callable[..., Any]] = {
    "index": index,
    "index_add_like": index_add_like,
    "setitem": written(lambda old, new: new),
    "index_last": index_last,
    "index_maximum": written(max),
    "index_minimum": written(min),
    "positions_like": lambda like, axis: np.swapaxes(
        np.asarray(range(like.shape[axis])).reshape([-1] + [1] * (like.ndim - 1)), 0, axis
    ),
    "sort": sort,
    "argsort": argsort,
    "searchsorted": searchsorted,
    "unique": unique,
    "unique_consecutive": unique_consecutive,
    "nonzero": nonzero,
    "isin": isin,
}
