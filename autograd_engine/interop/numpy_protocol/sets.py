"""NumPy's sets: the result is elements of the arrays, which keep their gradient."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autograd_engine.interop.numpy_protocol.array_function import covers
from autograd_engine.interop.numpy_protocol.operands import (
    along,
    as_tensor,
    as_tensors,
    plain,
    wrapped,
)
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


def _flat(*arrays: Any) -> Any:
    parts = [paddle.reshape(x, [-1]) for x in as_tensors(*arrays)]
    return parts[0] if len(parts) == 1 else paddle.concat(parts)


def _at(x: Any, places: Any) -> Any:
    return paddle.index_select(x, paddle.to_tensor(np.asarray(places, np.int64)), 0)


@covers("unique")
def _unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: Any = None, *, equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    x, place = along(ar, axis)
    _, first, inverse, counts = np.unique(
        plain("np.unique", as_tensor(ar)), True, True, True, axis, equal_nan=equal_nan
    )
    values = paddle.index_select(x, paddle.to_tensor(first), place)
    more = [
        wrapped(part)
        for part, asked in (
            (first, return_index), (inverse, return_inverse), (counts, return_counts)
        )
        if asked
    ]  # fmt: skip
    return (values, *more) if more else values


class UniqueAll(NamedTuple):
    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    values: Any
    inverse_indices: Any


@covers("unique_all")
def _unique_all(x: Any) -> UniqueAll:
    return UniqueAll(*_unique(x, True, True, True, equal_nan=False))


@covers("unique_counts")
def _unique_counts(x: Any) -> UniqueCounts:
    return UniqueCounts(*_unique(x, return_counts=True, equal_nan=False))


@covers("unique_inverse")
def _unique_inverse(x: Any) -> UniqueInverse:
    return UniqueInverse(*_unique(x, return_inverse=True, equal_nan=False))


@covers("unique_values")
def _unique_values(x: Any) -> Any:
    return _unique(x, equal_nan=False)


covers("union1d")(lambda ar1, ar2: _unique(_flat(ar1, ar2)))


@covers("intersect1d")
def _intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    x, y = as_tensors(ar1, ar2)
    x = _flat(x)
    _, first, second = np.intersect1d(
        plain("np.intersect1d", x), plain("np.intersect1d", _flat(y)), assume_unique, True
    )
    values = _at(x, first)
    return (values, wrapped(first), wrapped(second)) if return_indices else values


@covers("setdiff1d")
def _setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    x, y = as_tensors(ar1, ar2)
    x = _flat(x) if assume_unique else _unique(x)
    kept = ~np.isin(plain("np.setdiff1d", x), plain("np.setdiff1d", _flat(y)))
    return _at(x, np.flatnonzero(kept))


@covers("setxor1d")
def _setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    x, y = (_flat(a) if assume_unique else _unique(a) for a in as_tensors(ar1, ar2))
    return _unique(paddle.concat([_setdiff1d(x, y, True), _setdiff1d(y, x, True)]))
