"""Resampling along one axis: a sparse linear map, and its adjoint.

Element p of the result is a weighted sum of a few elements of the input: those at ``index[:, p]``,
with ``weight[:, p]``. Only they are read, so an infinity or a NaN spreads no further than the
filter reaches; what has the weight 0 is not read either.

With n elements in and m out, the centre of element p lies at

    p (n - 1) / (m - 1)         with aligned corners
    (p + 1/2) / scale - 1/2     for half pixels (align_mode 0)
    p / scale                   otherwise (align_mode 1)

where 1 / scale is n / m unless a scale is given. "nearest" takes the element below p / scale,
"linear" weights the two neighbours, and "cubic" four of them by the cubic convolution kernel of
Keys (1981), elements past the ends being those at the ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import floor

import numpy as np

from autograd_engine.core.compute_once import cached_property
from autograd_engine.core.spec import Array, Like
from autograd_engine.errors import ShapeError
from autograd_engine.ops.kernels.windows import sum_dtype

__all__ = ["resample", "resample_like", "resampled_size"]


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
    taps = _taps(x.shape[axis], size, scale, mode, align_corners, align_mode, antialias)
    if mode == "nearest":
        return np.asarray(x.take(taps.index[0], axis=axis))
    dtype = sum_dtype(x.dtype)
    total = np.zeros((), dtype)
    for i, w in zip(taps.index, taps.weight, strict=True):
        term = x.take(i, axis=axis)
        if (unused := np.flatnonzero(w == 0.0)).size:  # 0 times infinity is NaN
            term[(*[slice(None)] * axis, unused)] = 0.0
        total = total + term * w.astype(dtype).reshape(-1, *[1] * (x.ndim - 1 - axis))
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
    taps = _taps(n, size, scale, mode, align_corners, align_mode, antialias)
    dtype, m = sum_dtype(y.dtype), taps.index.shape[1]
    if y.shape != (*like.shape[:axis], m, *like.shape[axis + 1 :]):
        raise ValueError(f"interpolate: {like.shape} has no result of shape {y.shape}")
    lines = np.moveaxis(y, axis, -1).astype(dtype, copy=False)
    terms = lines[..., taps.order % m] * taps.weight.ravel()[taps.order].astype(dtype)
    out = np.zeros((*lines.shape[:-1], n), dtype)
    out[..., taps.reached] = np.add.reduceat(terms, taps.starts, axis=-1)
    return np.ascontiguousarray(np.moveaxis(out, -1, axis), y.dtype)


@dataclass(frozen=True)
class _Taps:
    """Positions (taps, m) in the input, and their weights.

    `order` sorts the terms, flattened and without those of weight 0, by the elements they belong
    to: those of element ``reached[k]`` are the run from ``starts[k]`` on.
    """

    index: Array
    weight: Array

    @cached_property
    def order(self) -> Array:
        order: Array = np.argsort(self.index.ravel(), kind="stable")
        return np.asarray(order[self.weight.ravel()[order] != 0.0])

    @cached_property
    def _runs(self) -> tuple[Array, Array]:
        return np.unique(self.index.ravel()[self.order], return_index=True)

    @property
    def reached(self) -> Array:
        return self._runs[0]

    @property
    def starts(self) -> Array:
        return self._runs[1]


@lru_cache(maxsize=256)
def _taps(
    n: int,
    size: int | None,
    scale: float | None,
    mode: str,
    align_corners: bool,
    align_mode: int,
    antialias: bool,
) -> _Taps:
    m = resampled_size(n, size, scale)
    if n < 1 or m < 1:
        raise ShapeError(f"interpolate: cannot make {m} elements of {n} along an axis of x")
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
        nearest = np.floor(at).astype(np.int64)
        return _Taps(np.minimum(nearest, n - 1)[None], np.ones((1, m)))
    if mode == "linear":
        at = np.maximum(at, 0.0)
        below = np.minimum(np.floor(at).astype(np.int64), n - 1)
        share = at - below
        index = np.stack([below, np.minimum(below + 1, n - 1)])
        return _Taps(index, np.stack([1.0 - share, share]))
    below = np.floor(at).astype(np.int64)
    taps = np.arange(-1, 3)[:, None]
    weight = _cubic(np.abs(at - below - taps), -0.75)
    return _Taps(np.clip(below + taps, 0, n - 1), weight)


def _cubic(d: Array, a: float) -> Array:
    """The cubic convolution kernel at the distances `d` >= 0."""
    near = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
    far = ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
    return np.where(d <= 1.0, near, np.where(d < 2.0, far, 0.0))


def _wide(n: int, p: Array, step: float, half: bool, *, cubic: bool) -> _Taps:
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
    return _Taps(np.minimum(index, n - 1), weight / weight.sum(axis=0))
