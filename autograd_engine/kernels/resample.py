"""Resampling along one axis: a sparse linear map, and its adjoint.

Element p of the result is a weighted sum of a few elements of the input: those at ``index[:, p]``,
with ``weight[:, p]``. Only they are read, so an infinity or a NaN spreads no further than the
filter reaches.

With n elements in and m out, the centre of element p lies at

    p (n - 1) / (m - 1)         with aligned corners
    (p + 1/2) / scale - 1/2     for half pixels (align_mode 0)
    p / scale                   otherwise (align_mode 1)

where 1 / scale is n / m unless a scale is given. "nearest" takes the element below it (above from
one half on with aligned corners, and never by half pixels), "linear" weights its two neighbours,
and "cubic" four of them by the cubic convolution kernel of Keys (1981), elements past the ends
being those at the ends.
"""

from __future__ import annotations

from functools import lru_cache
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.kernels.windows import Like, sum_dtype

__all__ = ["resample", "resample_like", "resampled_size"]

Array = NDArray[Any]


def resampled_size(n: int, size: int | None, scale: float | None) -> int:
    """Elements of the result: `size`, or as many as `scale` makes of `n`."""
    return floor(n * (1.0 if scale is None else scale)) if size is None else size


def resample(
    x: Array,
    *,
    axis: int,
    size: int | None,
    scale: float | None,
    mode: str,
    align_corners: bool,
    align_mode: int,
    antialias: bool,
) -> Array:
    """Resample `x` along `axis`.

    Parameters
    ----------
    x : array of floats
        float16 is summed in float32.
    axis : int
    size : int or None
        Elements of the result; by default as many as `scale` makes.
    scale : float or None
        Distance of two elements of the result, inverted; by default that of the sizes.
    mode : {"nearest", "linear", "cubic"}
    align_corners : bool
        The first and the last elements of input and result lie at the same places.
    align_mode : {0, 1}
        For "linear": 0 counts from the middle of elements, 1 from their beginnings.
    antialias : bool
        For "linear" and "cubic": widen the filter when there are fewer elements in the result.

    Examples
    --------
    >>> resample(
    ...     np.array([0.0, 1.0]), axis=0, size=3, scale=None, mode="linear",
    ...     align_corners=True, align_mode=0, antialias=False,
    ... )
    array([0. , 0.5, 1. ])
    """
    index, weight = _taps(
        x.shape[axis], size, scale, mode, align_corners, align_mode, antialias
    )
    dtype = sum_dtype(x.dtype)
    shape = (-1, *[1] * (x.ndim - 1 - axis))
    total: Array | None = None
    for i, w in zip(index, weight, strict=True):
        term = x.take(i, axis=axis)
        if mode == "nearest":
            return term
        term = term * w.astype(dtype).reshape(shape)
        total = term if total is None else total + term
    assert total is not None
    return total.astype(x.dtype, copy=False)


def resample_like(
    y: Array,
    like: Like,
    *,
    axis: int,
    size: int | None,
    scale: float | None,
    mode: str,
    align_corners: bool,
    align_mode: int,
    antialias: bool,
) -> Array:
    """The adjoint of `resample`: an array of the shape of `like` and the dtype of `y`."""
    n = like.shape[axis]
    index, weight = _taps(n, size, scale, mode, align_corners, align_mode, antialias)
    dtype = sum_dtype(y.dtype)
    if y.shape != (*like.shape[:axis], index.shape[1], *like.shape[axis + 1 :]):
        raise ValueError(f"interpolate: {like.shape} has no result of shape {y.shape}")
    # Terms in the order of the elements they go to, so that each has one run of them to add up.
    order, starts, reached = _runs(index.tobytes(), index.shape)
    lines = np.moveaxis(y, axis, -1).astype(dtype, copy=False)
    terms = lines[..., order % index.shape[1]] * weight.ravel()[order].astype(dtype)
    out = np.zeros((*lines.shape[:-1], n), dtype)
    if len(reached):
        out[..., reached] = np.add.reduceat(terms, starts, axis=-1)
    return np.ascontiguousarray(np.moveaxis(out, -1, axis), y.dtype)


@lru_cache(maxsize=256)
def _runs(index: bytes, shape: tuple[int, int]) -> tuple[Array, Array, Array]:
    flat = np.frombuffer(index, np.int64)
    order = np.argsort(flat, kind="stable")
    reached, starts = np.unique(flat[order], return_index=True)
    return order, starts, reached


@lru_cache(maxsize=256)
def _taps(
    n: int,
    size: int | None,
    scale: float | None,
    mode: str,
    align_corners: bool,
    align_mode: int,
    antialias: bool,
) -> tuple[Array, Array]:
    """Positions (taps, m) in the input, and their weights."""
    m = resampled_size(n, size, scale)
    if n < 1 or m < 1:
        raise ValueError(f"interpolate: cannot make {m} elements of {n}")
    p = np.arange(m, dtype=np.float64)
    if align_corners:
        step = (n - 1) / (m - 1) if m > 1 else 0.0
    else:
        step = n / m if scale is None else 1.0 / scale
    half = not align_corners and (mode == "cubic" or (mode == "linear" and align_mode == 0))
    if antialias and mode != "nearest":
        return _wide(n, p, step, half, cubic=mode == "cubic")
    at = (p + 0.5) * step - 0.5 if half else p * step
    if mode == "nearest":
        nearest = np.floor(at + 0.5 if align_corners else at).astype(np.int64)
        return np.minimum(nearest, n - 1)[None], np.ones((1, m))
    if mode == "linear":
        at = np.maximum(at, 0.0)
        below = np.minimum(np.floor(at).astype(np.int64), n - 1)
        share = at - below
        index = np.stack([below, np.minimum(below + 1, n - 1)])
        return index, np.stack([1.0 - share, share])
    below = np.floor(at).astype(np.int64)
    taps = np.arange(-1, 3)[:, None]
    return np.clip(below + taps, 0, n - 1), _cubic(np.abs(at - below - taps), -0.75)


def _cubic(d: Array, a: float) -> Array:
    """The cubic convolution kernel at the distances `d` >= 0."""
    near = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
    far = ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
    return np.where(d <= 1.0, near, np.where(d < 2.0, far, 0.0))


def _wide(n: int, p: Array, step: float, half: bool, *, cubic: bool) -> tuple[Array, Array]:
    """A filter as wide as the elements of the result, its weights normalised over the input."""
    wide = max(step, 1.0)
    reach = (2.0 if cubic else 1.0) * wide
    centre = (p + 0.5) * step if half else p * step + 0.5
    first = np.maximum(np.floor(centre - reach + 0.5).astype(np.int64), 0)
    last = np.minimum(np.floor(centre + reach + 0.5).astype(np.int64), n)
    taps = np.arange(int((last - first).max()))[:, None]
    index = first + taps
    distance = np.abs(index + 0.5 - centre) / wide
    weight = _cubic(distance, -0.5) if cubic else np.maximum(1.0 - distance, 0.0)
    weight = np.where(index < last, weight, 0.0)
    return np.minimum(index, n - 1), weight / weight.sum(axis=0)
