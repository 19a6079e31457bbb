"""What the operations of `vision` should compute: loops over their definitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .references_basic import transpose_of

Array = NDArray[Any]


def conv(x: Array, w: Array, stride: Any, padding: Any, dilation: Any, groups: int) -> Array:
    padded = np.pad(x, ((0, 0), (0, 0), *padding))
    taps = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]
    size = [(n - t) // s + 1 for n, t, s in zip(padded.shape[2:], taps, stride, strict=True)]
    out = np.zeros((x.shape[0], w.shape[0], *size))
    depth, filters = w.shape[1], w.shape[0] // groups
    for n, o, *at in np.ndindex(out.shape):
        for c, *tap in np.ndindex(w.shape[1:]):
            place = [p * s + i * d for p, s, i, d in zip(at, stride, tap, dilation, strict=True)]
            met = padded[(n, o // filters * depth + c, *place)]
            out[(n, o, *at)] += met * w[(o, c, *tap)]
    return out


def windows(x: Array, out: Array, kernel: Any, stride: Any, padding: Any) -> Any:
    """Each element of `out` with the positions of `x` in its window."""
    size = x.shape[2:]
    for at in np.ndindex(out.shape):
        first = [p * s - b for p, s, (b, _) in zip(at[2:], stride, padding, strict=True)]
        ranges = [range(f, f + k) for f, k in zip(first, kernel, strict=True)]
        inside = [
            place
            for place in itertools.product(*ranges)
            if all(0 <= i < n for i, n in zip(place, size, strict=True))
        ]
        yield at, inside, ranges


def pooled_shape(x: Array, kernel: Any, stride: Any, padding: Any, ceil_mode: bool) -> Array:
    """Zeros of the shape of the result.

    A window lies inside the padded input; with `ceil_mode` the last one may run over the end of
    it, if it starts before the end of the input.
    """
    sizes = []
    for n, k, s, (before, after) in zip(x.shape[2:], kernel, stride, padding, strict=True):
        end = n + after
        count = 0
        for start in range(-before, end, s):
            fits = start + k <= end
            reaches = start + k < end + s and start < n
            count += reaches if ceil_mode else fits
        sizes.append(count)
    return np.zeros((*x.shape[:2], *sizes))


def _largest(x: Array, lead: tuple[int, ...], places: Any) -> tuple[float, int]:
    best = max(places, key=lambda place: x[(*lead, *place)])
    return x[(*lead, *best)], int(np.ravel_multi_index(best, x.shape[2:]))


def max_pool(
    x: Array, kernel: Any, stride: Any, padding: Any, ceil_mode: bool
) -> tuple[Array, Array]:
    out = pooled_shape(x, kernel, stride, padding, ceil_mode)
    index = np.zeros(out.shape, np.int64)
    for at, inside, _ in windows(x, out, kernel, stride, padding):
        out[at], index[at] = _largest(x, at[:2], inside)
    return out, index


def avg_pool(
    x: Array,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    exclusive: bool,
    divisor: float | None = None,
) -> Array:
    out = pooled_shape(x, kernel, stride, padding, ceil_mode)
    for at, inside, ranges in windows(x, out, kernel, stride, padding):
        # Inclusive means: the padding counts, but not what a last window has past it.
        ends = [n + after for n, (_, after) in zip(x.shape[2:], padding, strict=True)]
        whole = math.prod(
            len([i for i in r if i < end]) for r, end in zip(ranges, ends, strict=True)
        )
        count = len(inside) if exclusive else whole
        out[at] = sum(x[(*at[:2], *place)] for place in inside) / (divisor or count)
    return out


def _binned(x: Array, size: Any) -> Array:
    """Zeros of the shape of the result."""
    sizes = [n if o is None else o for n, o in zip(x.shape[2:], size, strict=True)]
    return np.zeros((*x.shape[:2], *sizes))


def _bins(x: Array, out: Array) -> Any:
    """Each bin with its positions in `x`."""
    for at in np.ndindex(out.shape):
        ranges = [
            range(math.floor(p * n / o), math.ceil((p + 1) * n / o))
            for p, n, o in zip(at[2:], x.shape[2:], out.shape[2:], strict=True)
        ]
        yield at, list(itertools.product(*ranges))


def adaptive_avg_pool(x: Array, size: Any) -> Array:
    out = _binned(x, size)
    for at, places in _bins(x, out):
        out[at] = sum(x[(*at[:2], *place)] for place in places) / len(places)
    return out


def adaptive_max_pool(x: Array, size: Any) -> tuple[Array, Array]:
    out = _binned(x, size)
    index = np.zeros(out.shape, np.int64)
    for at, places in _bins(x, out):
        out[at], index[at] = _largest(x, at[:2], places)
    return out, index


def max_pool_gather(x: Array, index: Array) -> Array:
    out = np.zeros(index.shape)
    for at in np.ndindex(index.shape):
        out[at] = x[at[:2]].flat[index[at]]
    return out


def last_writes(index: Array, like: Array) -> Array:
    survives = np.ones(index.shape, bool)
    for n, c in np.ndindex(index.shape[:2]):
        flat = index[n, c].ravel().tolist()
        survives[n, c].flat[:] = [i not in flat[k + 1 :] for k, i in enumerate(flat)]
    return survives


def unfold(x: Array, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Array:
    padded = np.pad(x, ((0, 0), (0, 0), *padding))
    (sh, sw), (dh, dw) = stride, dilation
    columns = []
    for top in range(0, padded.shape[2] - dh * (kernel[0] - 1), sh):
        for left in range(0, padded.shape[3] - dw * (kernel[1] - 1), sw):
            window = padded[:, :, top:, left:][:, :, ::dh, ::dw][:, :, : kernel[0], : kernel[1]]
            columns.append(window.reshape(x.shape[0], math.prod(window.shape[1:])))
    return np.stack(columns, axis=-1)


def _cubic(t: float, a: float) -> float:
    t = abs(t)
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0


def resample(
    x: Array,
    axis: int,
    size: int | None,
    scale: float | None,
    mode: str,
    align_corners: bool,
    align_mode: int,
    antialias: bool,
) -> Array:
    """A weight for every pair of elements, from the distance of their centres."""
    n = x.shape[axis]
    m = int(n * scale) if size is None else size
    step = n / m if scale is None else 1 / scale
    if align_corners:
        step = (n - 1) / (m - 1) if m > 1 else 0.0
    matrix = np.zeros((m, n))
    for p in range(m):
        half = mode == "cubic" or align_mode == 0
        at = p * step if align_corners or not half else (p + 0.5) * step - 0.5
        if mode == "nearest":
            matrix[p, min(int(p * step), n - 1)] = 1.0
        elif antialias:
            wide = max(step, 1.0)
            for i in range(n):
                t = abs(i - at) / wide
                matrix[p, i] = max(1 - t, 0) if mode == "linear" else _cubic(t, -0.5)
            matrix[p] /= matrix[p].sum()
        elif mode == "linear":
            at = min(max(at, 0.0), n - 1.0)
            for i in range(n):
                matrix[p, i] = max(1 - abs(i - at), 0.0)
        else:
            for i in range(-2, n + 2):
                matrix[p, min(max(i, 0), n - 1)] += _cubic(i - at, -0.75)
    return np.moveaxis(np.moveaxis(x, axis, -1) @ matrix.T, -1, axis)


def _adjoint(f: Callable[..., Array]) -> Callable[..., Array]:
    return lambda y, like, **attrs: transpose_of(lambda x: f(x, **attrs), like.shape, y)


REFERENCES: dict[str, Callable[..., Any]] = {
    "conv": conv,
    "conv_input": lambda y, w, like, **attrs: transpose_of(
        lambda x: conv(x, w, **attrs), like.shape, y
    ),
    "conv_filter": lambda y, x, like, **attrs: transpose_of(
        lambda w: conv(x, w, **attrs), like.shape, y
    ),
    "max_pool": max_pool,
    "max_pool_gather": max_pool_gather,
    "max_pool_scatter": lambda y, index, like: transpose_of(
        lambda x: max_pool_gather(x, index), like.shape, y
    ),
    "adaptive_max_pool": adaptive_max_pool,
    "last_writes": last_writes,
    "avg_pool": avg_pool,
    "avg_pool_input": _adjoint(avg_pool),
    "adaptive_avg_pool": adaptive_avg_pool,
    "adaptive_avg_pool_input": _adjoint(adaptive_avg_pool),
    "unfold": unfold,
    "fold_like": _adjoint(unfold),
    "resample": resample,
    "resample_like": _adjoint(resample),
}
