"""Resampling along the last axes: along each a sparse linear map, and its adjoint.

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

import math
from dataclasses import dataclass
from functools import lru_cache
from math import floor
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.core.compute_once import cached_property
from autograd_engine.core.dtypes import BLAS_REALS, accumulation_dtype
from autograd_engine.core.spec import Array, Like, Shape
from autograd_engine.errors import ShapeError
from autograd_engine.ops.kernels.compiled import LARGE, compiled

__all__ = ["resample", "resample_like", "resampled_size"]


def resampled_size(n: int, size: int | None, scale: float | None) -> int:
    """Elements of the result: `size`, or as many as `scale` makes of `n`."""
    return floor(n * (1.0 if scale is None else scale)) if size is None else size


def resample(
    x: Array,
    *,
    size: tuple[int | None, ...],
    scale: tuple[float | None, ...],
    mode: str,
    align_corners: bool,
    align_mode: int,
    antialias: bool,
) -> Array:
    """Resample `x` along its last axes, one after the other.

    Parameters
    ----------
    x : array of floats
        float16 is summed in float32.
    size : tuple of (int or None)
        Elements of the result along each of these axes; by default as many as `scale` makes.
    scale : tuple of (float or None)
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
    ...     np.array([0.0, 1.0]), size=(3,), scale=(None,), mode="linear",
    ...     align_corners=True, align_mode=0, antialias=False,
    ... )
    array([0. , 0.5, 1. ])
    """
    how = size, scale, mode, align_corners, align_mode, antialias
    done = _in_c(x, x.shape, False, how)
    if done is not None:
        return done
    taps = _taps_of(x.shape, *how)
    for axis, along in enumerate(taps, x.ndim - len(taps)):
        x = _resampled(x, along, axis)
    return x


def resample_like(
    y: Array,
    like: Like,
    *,
    size: tuple[int | None, ...],
    scale: tuple[float | None, ...],
    mode: str,
    align_corners: bool,
    align_mode: int,
    antialias: bool,
) -> Array:
    """The adjoint of `resample`: an array of the shape of `like` and the dtype of `y`."""
    how = size, scale, mode, align_corners, align_mode, antialias
    taps = _taps_of(like.shape, *how)
    made = (*like.shape[: len(like.shape) - len(taps)], *[t.m for t in taps])
    if y.shape != made:
        raise ValueError(f"interpolate: {like.shape} has no result of shape {y.shape}")
    done = _in_c(y, like.shape, True, how)
    if done is not None:
        return done
    for axis in range(y.ndim - 1, y.ndim - 1 - len(taps), -1):
        y = _adjoint(y, like.shape[axis], taps[axis - y.ndim], axis)
    return y


def _taps_of(shape: Shape, size: Any, scale: Any, *how: Any) -> list[_Taps]:
    """Those of each of the last axes."""
    sizes = shape[len(shape) - len(size) :]
    return [_taps(n, m, s, *how) for n, m, s in zip(sizes, size, scale, strict=True)]


def _resampled(x: Array, taps: _Taps, axis: int) -> Array:
    if taps.nearest:
        return np.asarray(x.take(taps.index[0], axis=axis))
    dtype = accumulation_dtype(x.dtype)
    total: Array | None = None
    behind = [1] * (x.ndim - 1 - axis)
    for i, w, unused in zip(taps.index, taps.weights(dtype), taps.unused, strict=True):
        term = x.take(i, axis=axis)
        if unused.size:  # 0 times infinity is NaN
            term[(*[slice(None)] * axis, unused)] = 0.0
        term = term * w.reshape(-1, *behind)
        total = term if total is None else total + term
    assert total is not None
    return total.astype(x.dtype, copy=False)


def _adjoint(y: Array, n: int, taps: _Taps, axis: int) -> Array:
    dtype = accumulation_dtype(y.dtype)
    lines = y.swapaxes(axis, -1).astype(dtype, copy=False)
    terms = lines.take(taps.read, axis=-1) * taps.ordered_weights(dtype)
    sums = np.add.reduceat(terms, taps.starts, axis=-1)
    if len(taps.reached) == n:
        out = sums
    else:
        out = np.zeros((*lines.shape[:-1], n), dtype)
        out[..., taps.reached] = sums
    return np.ascontiguousarray(out.swapaxes(axis, -1), y.dtype)


# --- in C, where the last two axes are one pass over memory

_WORTH = LARGE // 32  # elements of the larger side: NumPy takes ten passes, in as many calls
_WIDTH = 4096  # elements of a row that is resampled both ways


def _in_c(given: Array, shape: Shape, adjoint: bool, how: tuple[Any, ...]) -> Array | None:
    """What becomes of an array of `shape`, or of one that the adjoint makes that of.

    None where NumPy computes: that depends on both sizes, and so is the same for an adjoint.
    """
    dtype = given.dtype
    calls = _calls(shape, adjoint, dtype, how) if dtype in BLAS_REALS else None
    run = compiled("resample.resample", given) if calls else None
    if run is None or not calls:
        return None
    for made, arguments in calls:
        out = np.empty(made, given.dtype)
        run(np.ascontiguousarray(given), out, *arguments)
        given = out
    return given


@lru_cache(maxsize=256)
def _calls(
    shape: Shape, adjoint: bool, dtype: np.dtype[Any], how: Any
) -> list[tuple[Shape, tuple[Any, ...]]]:
    """Shapes of results, and arguments: of the last two axes at once, of others one by one."""
    taps = _taps_of(shape, *how)
    made = [*shape[: len(shape) - len(taps)], *[t.m for t in taps]]
    if max(math.prod(made), math.prod(shape)) < _WORTH:
        return []
    sizes: list[Any] = made if adjoint else list(shape)
    maps = [_Map.of(t, dtype, adjoint) for t in taps]
    calls = []
    while maps:
        axis = len(sizes) - len(maps)
        if len(maps) > 1:
            rows = maps.pop(0)
            outer, n, width = math.prod(sizes[:axis]), sizes[axis], math.prod(sizes[axis + 1 :])
            sizes[axis] = rows.m
        else:
            rows = _Map.same(1, dtype)
            outer, n, width = math.prod(sizes[:axis]), 1, sizes[axis]
        if len(maps) == 1 and (not len(rows.places) or width <= _WIDTH):
            columns = maps.pop()
            sizes[-1] = columns.m
        else:
            columns = _Map.same(width, dtype)
        arrays = rows.places, rows.weight, columns.places, columns.weight
        numbers = outer, n, rows.m, len(rows.places), width, columns.m, len(columns.places)
        calls.append((tuple(sizes), (*arrays, *numbers)))
    return calls


class _Map(NamedTuple):
    """To `m` elements, each of which reads some: `places` and their `weight`, both [taps, m]."""

    m: int
    places: Array
    weight: Array

    @classmethod
    def of(cls, taps: _Taps, dtype: np.dtype[Any], adjoint: bool) -> _Map:
        index, weight = taps.transposed if adjoint else (taps.index, taps.weight)
        return cls(index.shape[1], np.array(index, np.int32), np.array(weight, dtype))

    @classmethod
    def same(cls, m: int, dtype: np.dtype[Any]) -> _Map:
        """Without taps: elements stay where they are."""
        return cls(m, np.empty((0, m), np.int32), np.empty((0, m), dtype))


@dataclass(frozen=True)
class _Taps:
    """Positions (taps, m) in the `n` elements of the input, and their weights.

    `order` sorts the terms, flattened and without those of weight 0, by the elements they belong
    to: those of element ``reached[k]`` are the run from ``starts[k]`` on.
    """

    n: int
    index: Array
    weight: Array

    @property
    def m(self) -> int:
        return int(self.index.shape[1])

    @property
    def nearest(self) -> bool:
        """One element each, as it is."""
        return len(self.index) == 1 and bool((self.weight == 1.0).all())

    @property
    def transposed(self) -> tuple[Array, Array]:
        """Positions and weights of the adjoint, for as many taps as an element has at most."""
        counts = np.diff(self.starts, append=len(self.read))
        element = np.repeat(self.reached, counts)
        tap = np.arange(len(self.read)) - np.repeat(self.starts, counts)
        index = np.zeros((int(counts.max(initial=1)), self.n), np.int64)
        weight = np.zeros(index.shape)
        index[tap, element] = self.read
        weight[tap, element] = self.weight.ravel()[self.order]
        return index, weight

    def weights(self, dtype: np.dtype[Any]) -> Array:
        """`weight` in `dtype`."""
        return self._in_dtype(False, dtype)

    def ordered_weights(self, dtype: np.dtype[Any]) -> Array:
        """The weights of the terms in `order`."""
        return self._in_dtype(True, dtype)

    @cached_property
    def _cast(self) -> dict[tuple[bool, np.dtype[Any]], Array]:
        return {}

    def _in_dtype(self, ordered: bool, dtype: np.dtype[Any]) -> Array:
        found = self._cast.get((ordered, dtype))
        if found is None:
            weight = self.weight.ravel()[self.order] if ordered else self.weight
            found = self._cast[ordered, dtype] = weight.astype(dtype)
        return found

    @cached_property
    def unused(self) -> list[Array]:
        """For each row of `index`, the places of weight 0."""
        return [np.flatnonzero(w == 0.0) for w in self.weight]

    @cached_property
    def read(self) -> Array:
        """The elements of the result that the terms in `order` belong to."""
        return np.asarray(self.order % self.m)

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
        return _Taps(n, np.minimum(nearest, n - 1)[None], np.ones((1, m)))
    if mode == "linear":
        at = np.maximum(at, 0.0)
        below = np.minimum(np.floor(at).astype(np.int64), n - 1)
        share = at - below
        index = np.stack([below, np.minimum(below + 1, n - 1)])
        return _Taps(n, index, np.stack([1.0 - share, share]))
    below = np.floor(at).astype(np.int64)
    taps = np.arange(-1, 3)[:, None]
    weight = _cubic(np.abs(at - below - taps), -0.75)
    return _Taps(n, np.clip(below + taps, 0, n - 1), weight)


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
    return _Taps(n, np.minimum(index, n - 1), weight / weight.sum(axis=0))
