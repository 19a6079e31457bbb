"""The standard's reductions, sorting, searching and sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.interop.numpy_protocol import reductions as numpys, sets
from autograd_engine.interop.numpy_protocol.joining import _diff
from autograd_engine.interop.numpy_protocol.operands import UNSET, as_tensor
from autograd_engine.interop.numpy_protocol.select import _searchsorted
from autograd_engine.tensor import public as paddle

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "isin",
    "max",
    "mean",
    "min",
    "nonzero",
    "prod",
    "searchsorted",
    "sort",
    "std",
    "sum",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "var",
    "where",
]


def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
) -> Any:
    """Products of the elements up to each."""
    return numpys._cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
) -> Any:
    """Sums of the elements up to each."""
    return numpys._cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)


def unique_all(x: Any, /) -> sets.UniqueAll:
    """Different elements, where each is first, how to put x together again, and how many."""
    return sets._unique_all(x)


def unique_counts(x: Any, /) -> sets.UniqueCounts:
    """Different elements, and how many there are of each."""
    return sets._unique_counts(x)


def unique_inverse(x: Any, /) -> sets.UniqueInverse:
    """Different elements, and which of them each element of x is."""
    return sets._unique_inverse(x)


def unique_values(x: Any, /) -> Any:
    """Different elements."""
    return sets._unique_values(x)


def all(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """Whether all elements are true."""
    return numpys._all(x, axis, None, keepdims)


def any(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """Whether one element is true."""
    return numpys._any(x, axis, None, keepdims)


def argmax(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """Where the largest element is."""
    return paddle.argmax(x, axis, keepdims)


def argmin(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """Where the smallest element is."""
    return paddle.argmin(x, axis, keepdims)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """How many elements are not zero."""
    return numpys._count_nonzero(x, axis, keepdims=keepdims)


def max(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """The largest element."""
    return numpys._max(x, axis, None, keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """The smallest element."""
    return numpys._min(x, axis, None, keepdims)


def mean(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """The mean."""
    return numpys._mean(x, axis, None, None, keepdims)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    """The product."""
    return numpys._prod(x, axis, dtype, None, keepdims)


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    """The sum."""
    return numpys._sum(x, axis, dtype, None, keepdims)


def std(x: Any, /, *, axis: Any = None, correction: Any = 0.0, keepdims: Any = False) -> Any:
    """The standard deviation."""
    return numpys._std(x, axis, None, None, correction, keepdims)


def var(x: Any, /, *, axis: Any = None, correction: Any = 0.0, keepdims: Any = False) -> Any:
    """The variance."""
    return numpys._var(x, axis, None, None, correction, keepdims)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours, `n` times."""
    sides = (UNSET if side is None else side for side in (prepend, append))
    return _diff(x, n, axis, *sides)


def argsort(x: Any, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Any:
    """The positions that sort an axis."""
    return paddle.argsort(x, axis, descending, stable)


def sort(x: Any, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Any:
    """An axis in order."""
    return paddle.sort(x, axis, descending, stable)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Where elements would stand in a sorted vector."""
    return _searchsorted(x1, x2, side, sorter)


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """Positions of the elements that are not zero, one vector for each axis."""
    return np.nonzero(as_tensor(x))


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """Elements of `x1` where the condition holds, of `x2` elsewhere."""
    return paddle.where(condition, x1, x2)


def isin(x1: Any, x2: Any, /, *, invert: Any = False) -> Any:
    """Which elements of `x1` are in `x2`."""
    return paddle.isin(as_tensor(x1), as_tensor(x2), False, invert)
