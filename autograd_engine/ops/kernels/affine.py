"""Standardisation with a factor and a term for each channel, in C; see `ops.nn.normalization`.

One loop standardises, scales and shifts, and one gives all three gradients, for which it finds the
moments anew: what it reads of a row is in the cache then. Sizes do not decide, so a row has the
same bits in any batch, and small layers, where NumPy would take most of its time to begin each of
some twenty passes, have the loop too.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.spec import Array, Shape, reduced_shape, reshaped
from autograd_engine.ops.kernels.compiled import compiled

__all__ = ["standardize", "standardize_adjoint"]

Sizes = tuple[int, ...]

_BLOCK = 1 << 16  # elements of the rows whose sums are one block
_ROWS = 1 << 9  # rows at most, which float32 adds up


_empty, _packed = np.empty, np.ascontiguousarray


def _sizes(shape: Shape) -> Sizes:
    return tuple(map(int, shape))


class _View(NamedTuple):
    """Two functions in C, and the sizes that they take.

    Sums for channels are those of so many `blocks`; `kept` is the shape of the moments.
    """

    forward: str
    backward: str
    sizes: NDArray[np.int64]
    kept: Sizes
    blocks: int

    @classmethod
    def of_columns(cls, outer: int, n: int, inner: int, kept: Sizes) -> _View:
        names = "columns.affine", "columns.affine_adjoint"
        return cls(*names, np.array([outer, n, inner], np.int64), kept, outer)

    @classmethod
    def of_rows(
        cls, parts: int, rows: int, width: int, groups: int, pixels: int, kept: Sizes
    ) -> _View:
        names = "standardize.affine", "standardize.affine_adjoint"
        block = rows if groups == rows else min(max(_BLOCK // (parts * width), 1), _ROWS)
        sizes = np.array([parts, rows, width, groups, pixels, block], np.int64)
        return cls(*names, sizes, kept, -(-rows // block))


@functools.lru_cache(maxsize=1024)
def _view(
    shape: Sizes, channels: int, axis: tuple[int, ...], split: Sizes | None, spread: Sizes | None
) -> _View | None:
    """How functions in C see an array of this shape, None where they do not."""
    first = shape if split is None else _sizes(reshaped("reshape", shape, split))
    size, ndim, count = math.prod(first), len(first), len(axis)
    if not size or not axis or axis != tuple(range(axis[0], axis[0] + count)):
        return _channels(shape, axis, spread) if size and split is None else None
    kept = _sizes(reduced_shape(first, axis, keepdims=True))
    width = math.prod(first[a] for a in axis)
    inner = math.prod(first[axis[-1] + 1 :])
    place = None if spread is None else spread.index(-1)
    pixels = 1 if place is None else math.prod(shape[place + 1 :])
    if axis[-1] == ndim - 1:
        each = width // pixels  # channels of a row
        if width % pixels or channels % max(each, 1) or (place is None and channels != width):
            return None
        rows = size // width
        return _View.of_rows(1, rows, width, channels // each, pixels, kept)
    if place == len(shape) - 1 and inner == channels:
        return _View.of_columns(size // width // inner, width, inner, kept)
    return _channels(shape, axis, spread)


def _channels(shape: Sizes, axis: tuple[int, ...], spread: Sizes | None) -> _View | None:
    """Of images, of which only the channels are left."""
    if spread is None:
        return None
    place = spread.index(-1)
    if axis != tuple(k for k in range(len(shape)) if k != place):
        return None
    parts, rows, width = math.prod(shape[:place]), shape[place], math.prod(shape[place + 1 :])
    kept = _sizes(reduced_shape(shape, axis, keepdims=True))
    return _View.of_rows(parts, rows, width, rows, width, kept)


def standardize(
    x: Array,
    weight: Array,
    bias: Array,
    axis: tuple[int, ...],
    epsilon: float,
    split: Sizes | None,
    spread: Sizes | None,
) -> tuple[Array, Array, Array] | None:
    """The result and the moments; None where NumPy is to compute."""
    shape, dtype = x.shape, x.dtype
    view = _view(shape, weight.size, axis, split, spread)
    run = compiled(view.forward, x) if view is not None else None
    if view is None or run is None:
        return None
    out, mean, variance = _empty(shape, dtype), _empty(view.kept, dtype), _empty(view.kept, dtype)
    run(_packed(x), _packed(weight), _packed(bias), out, mean, variance, view.sizes, epsilon)
    return out, mean, variance


def standardize_adjoint(
    g: Array,
    x: Array,
    weight: Array,
    axis: tuple[int, ...],
    epsilon: float,
    split: Sizes | None,
    spread: Sizes | None,
) -> tuple[Array, Array, Array] | None:
    """The gradients of `x`, of the factors and of the terms; None where NumPy is to compute."""
    shape, dtype, channels = x.shape, x.dtype, weight.shape
    size = weight.size
    view = _view(shape, size, axis, split, spread)
    run = compiled(view.backward, x) if view is not None else None
    if view is None or run is None:
        return None
    dx, dweight, dbias = _empty(shape, dtype), _empty(channels, dtype), _empty(channels, dtype)
    sums = _empty((view.blocks, 2, size), dtype)
    given = _packed(g), _packed(x), _packed(weight)
    run(*given, dx, dweight, dbias, sums, view.sizes, epsilon)
    return dx, dweight, dbias
