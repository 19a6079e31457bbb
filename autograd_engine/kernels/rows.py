"""Kernels along the last axes, on blocks of rows that stay in the cache from one pass to the next.

Arrays are seen as [rows, width]. The results of a row depend on that row alone, and have the same
bits in whatever block it falls.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "lines",
    "row_sums",
    "softmax",
    "softmax_adjoint",
    "standardize",
    "standardize_adjoint",
]

Array = NDArray[Any]

_BLOCK = 1 << 19  # elements: fewer would not pay for the calls they take
_WORTH = 64  # width from which BLAS and reused arrays outweigh the calls
# From this size and width on, buffers are as short as rows.
_LARGE = 1 << 14
_LONG = 1 << 9
# Up to this width a row is added up by BLAS, in 8 sums or more of which none is long; wider ones
# part by part, whose sums NumPy adds in pairs.
_WIDE = 1 << 12
_PART = 1 << 10
_ONES: dict[str, Array] = {c: np.ones(_WIDE, c) for c in "fd"}
_dots: Any = np.vecdot


def lines(x: Array, axis: tuple[int, ...]) -> tuple[int, int] | None:
    """(rows, width) where `axis` are the last axes of `x`, in order, and rows are worth it.

    That is for their width to say, and not for their number: so the bits of a row do not depend on
    how many others there are.
    """
    shape, ndim = x.shape, x.ndim
    if len(axis) == 1:
        width = shape[-1] if axis[0] == ndim - 1 else 0
    else:
        first = ndim - len(axis)
        width = math.prod(shape[first:]) if axis and axis == tuple(range(first, ndim)) else 0
    if width < _WORTH or not x.size or x.dtype.char not in "fd":
        return None
    return x.size // width, width


def _blocks(rows: int, width: int) -> Iterator[slice]:
    step = max(1, _BLOCK // width)
    return (slice(k, k + step) for k in range(0, rows, step))


class _ShortBuffers:
    """Buffers of ufuncs that are no longer than a row, while rows are many and long.

    A ufunc that spreads a column over rows shorter than its buffer copies it into the buffer first,
    which takes as long as the operation.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        rows, width = shape
        self._size = width // 16 * 16 if rows * width >= _LARGE and width >= _LONG else 0
        self._before = 0

    def __enter__(self) -> None:
        if self._size:
            before = np.getbufsize()
            if self._size < before:
                self._before = np.setbufsize(self._size)

    def __exit__(self, *_: object) -> None:
        if self._before:
            np.setbufsize(self._before)


def row_sums(x: Array) -> Array:
    """Sums of the rows of an array of float32 or float64 whose rows are contiguous."""
    rows, width = x.shape
    ones = _ONES[x.dtype.char]
    if width <= _WIDE:
        return np.asarray(_dots(x, ones[:width]))
    parts = width // _PART
    whole = x[:, : parts * _PART].reshape(rows, parts, _PART)
    total = np.add.reduce(_dots(whole, ones[:_PART]), axis=1)
    return np.asarray(total + _dots(x[:, parts * _PART :], ones[: width % _PART]))


def _row_sums(x: Array) -> Array:
    return row_sums(x)[:, None]


def _row_dots(x: Array, y: Array) -> Array:
    """Inner products of the rows of two contiguous arrays, as a column."""
    if x.shape[1] > _WIDE:
        return np.asarray(np.add.reduce(x * y, axis=1, keepdims=True))
    return np.asarray(_dots(x, y)[:, None])


def _rows(x: Array, shape: tuple[int, int]) -> Array:
    return np.ascontiguousarray(x).reshape(shape)


def softmax(x: Array, shape: tuple[int, int]) -> Array:
    """exp(x - max) / sum of it, for each row."""
    given, out = _rows(x, shape), np.empty(shape, x.dtype)
    with _ShortBuffers(shape):
        for block in _blocks(*shape):
            part, e = given[block], out[block]
            np.subtract(part, np.maximum.reduce(part, axis=1, keepdims=True), e)
            np.exp(e, e)
            np.divide(e, _row_sums(e), e)
    return out.reshape(x.shape)


def softmax_adjoint(g: Array, out: Array, shape: tuple[int, int]) -> Array:
    """out (g - <g, out>), for each row."""
    g_rows, out_rows, dx = _rows(g, shape), _rows(out, shape), np.empty(shape, out.dtype)
    with _ShortBuffers(shape):
        for block in _blocks(*shape):
            u, y, d = g_rows[block], out_rows[block], dx[block]
            np.subtract(u, _row_dots(u, y), d)
            np.multiply(y, d, d)
    return dx.reshape(out.shape)


def standardize(x: Array, shape: tuple[int, int], epsilon: float) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(variance + epsilon), and the moments as columns."""
    given, out = _rows(x, shape), np.empty(shape, x.dtype)
    rows, width = shape
    mean, variance = np.empty((rows, 1), x.dtype), np.empty((rows, 1), x.dtype)
    with _ShortBuffers(shape):
        for block in _blocks(*shape):
            part, d = given[block], out[block]
            m = mean[block] = _row_sums(part) / width
            np.subtract(part, m, d)
            v = variance[block] = _row_dots(d, d) / width
            np.divide(d, np.sqrt(v + epsilon), d)
    return out.reshape(x.shape), mean, variance


def standardize_adjoint(
    g: Array, out: Array, variance: Array, shape: tuple[int, int], epsilon: float
) -> Array:
    """(g - <g> - out <g out>) / sqrt(variance + epsilon), for each row, < > being its mean."""
    g_rows, out_rows, dx = _rows(g, shape), _rows(out, shape), np.empty(shape, out.dtype)
    scale = np.sqrt(variance.reshape(-1, 1) + epsilon)
    with _ShortBuffers(shape):
        for block in _blocks(*shape):
            u, y, d = g_rows[block], out_rows[block], dx[block]
            np.multiply(y, _row_dots(u, y) / shape[1], d)
            np.subtract(u, d, d)
            np.subtract(d, _row_sums(u) / shape[1], d)
            np.divide(d, scale[block], d)
    return dx.reshape(out.shape)
