"""Pooling of images of any number of axes, and the adjoints of what is linear in it.

Window p along an axis starts at stride * p - before, where `before` is the padding in front. It
is cut at the ends of the input, so no padded copy is made: padding never wins a maximum and adds
nothing to a sum. Maximum and sum over a window are separable, one axis after the other, which
takes kh + kw passes instead of kh * kw.

Adaptive pooling divides an axis of n elements into a given number of bins o: bin p goes from
floor(p n / o) to ceil((p + 1) n / o), so bins may overlap by one element.

Fractional pooling (Graham 2014) has bins of nearly equal sizes, where they begin being random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.compute_once import cached_property
from autograd_engine.core.dtypes import accumulation_dtype
from autograd_engine.core.spec import Like
from autograd_engine.errors import IndexRangeError, ShapeError
from autograd_engine.ops.kernels.compiled import LARGE, compiled
from autograd_engine.ops.kernels.windows import (
    Ints,
    Padding,
    Pair,
    window_count,
)

__all__ = [
    "adaptive_avg_pool",
    "adaptive_avg_pool_input",
    "adaptive_max_pool",
    "avg_pool",
    "avg_pool_input",
    "fractional_max_index",
    "last_writes",
    "max_pool",
    "max_pool_gather",
    "max_pool_scatter",
    "window_elements",
]

Bins = tuple[int | None, ...]


def max_pool(
    x: NDArray[Any], *, kernel: Ints, stride: Ints, padding: Padding, ceil_mode: bool
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Largest element of each window, and where it is.

    Parameters
    ----------
    x : (N, C, *size) array of floats
    kernel, stride : tuple of int
        One for each axis of the images.
    padding : tuple of (int, int)
        Before and after each axis; each smaller than the kernel.
    ceil_mode : bool
        Whether a last, partial window counts.

    Returns
    -------
    out : (N, C, *out) array of the dtype of `x`
        NaN where the window holds a NaN.
    index : (N, C, *out) array of int64
        Position in the flattened image: the first one that attains the maximum, or the first NaN.

    Raises
    ------
    ValueError
        If no window fits, or a window could lie in the padding altogether.

    Examples
    --------
    >>> x = np.array([[[[1.0, 4.0, 2.0], [4.0, 0.0, 3.0]]]])
    >>> max_pool(x, kernel=(2, 2), stride=(1, 1), padding=((0, 0), (0, 0)), ceil_mode=False)
    (array([[[[4., 4.]]]]), array([[[[1, 1]]]]))
    """
    run = _in_c("max_pool", x, x.shape)
    if run is not None:
        return _maxima(run, x, _axes(x.shape, kernel, stride, padding, ceil_mode))
    if x.size * prod(kernel) <= _FEW:
        return _few_maxima(x, *window_elements(x.shape[2:], kernel, stride, padding, ceil_mode))
    axes = _axes(x.shape, kernel, stride, padding, ceil_mode)
    out = x
    for a, axis in enumerate(axes):
        taps = axis.taps
        whole = slice(0, axis.windows)
        if len(taps) > 1 and taps[0][0] == whole == taps[1][0]:
            best = np.maximum(out[_along(a, taps[0][1])], out[_along(a, taps[1][1])])
            taps = taps[2:]
        else:
            best = np.full(_replaced(out.shape, a, axis.windows), -np.inf, x.dtype)
        for o, i in taps:
            np.maximum(best[_along(a, o)], out[_along(a, i)], out=best[_along(a, o)])
        out = best
    return out, _first_maximum(x, out, axes)


# Elements of all windows up to which calls of NumPy take longer than what they compute.
_FEW: Final = 1 << 12


def _few_maxima(
    x: NDArray[Any], count: Ints, positions: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """`max_pool` of few elements: each window is read as a row."""
    shape = (*x.shape[:2], *count)
    planes, pixels = prod(x.shape[:2]), prod(x.shape[2:])
    images = x.reshape(planes, pixels)
    first = images.take(positions, axis=1).argmax(axis=2)  # of a row with NaN the first NaN
    windows, taps = positions.shape
    index = positions.take(first + np.arange(0, windows * taps, taps))
    out = images.take(index + np.arange(0, planes * pixels, pixels)[:, None])
    return out.reshape(shape), index.reshape(shape)


@lru_cache(maxsize=512)
def window_elements(
    size: Ints, kernel: Ints, stride: Ints, padding: Padding, ceil_mode: bool
) -> tuple[Ints, NDArray[np.int64]]:
    """How many windows along each axis, and the positions in an image of the elements of each.

    In a window that is cut, elements at its first place stand again for those that are missing: the
    maximum and where it is first stay as they are.
    """
    axes = _axes((1, 1, *size), kernel, stride, padding, ceil_mode)
    positions = np.zeros((1, 1), np.int64)
    for axis, n in zip(axes, size, strict=True):
        first = np.maximum(axis.starts, 0)[:, None]
        at = axis.starts[:, None] + np.arange(len(axis.taps))
        at = np.where((at >= 0) & (at < first + axis.elements[:, None]), at, first)
        grown = positions[:, None, :, None] * n + at[None, :, None, :]
        positions = grown.reshape(len(positions) * axis.windows, -1)
    return tuple(axis.windows for axis in axes), positions


def adaptive_max_pool(x: NDArray[Any], *, size: Bins) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Largest element of each bin, and where it is; see `max_pool`."""
    size = _known(size, x.shape)
    run = _in_c("max_pool", x, x.shape)
    if run is not None:
        return _maxima(run, x, _bin_axes(x.shape, size))
    if windows := _even(x.shape[2:], size):
        zeros = tuple((0, 0) for _ in size)
        return max_pool(x, kernel=windows, stride=windows, padding=zeros, ceil_mode=False)
    return _largest(x, [_bins(n, o) for n, o in zip(x.shape[2:], size, strict=True)])


def fractional_max_index(
    x: NDArray[Any], *, size: Bins, kernel: Ints | None, u: float
) -> NDArray[np.int64]:
    """Where the largest element of each bin of fractional pooling is; see `max_pool`.

    Parameters
    ----------
    kernel : tuple of int, optional
        Windows of this size, which may overlap; disjoint bins where None.
    u : float
        From [0, 1): how far the first bins are moved.
    """
    counts = _known(size, x.shape)
    kernels: Any = (None,) * len(counts) if kernel is None else kernel
    along = zip(x.shape[2:], counts, kernels, strict=True)
    return _largest(x, [_fractional_bins(n, o, k, u) for n, o, k in along])[1]


def _largest(
    x: NDArray[Any], bins: Sequence[Sequence[Pair]]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Largest element of each bin, one axis after the other, and where the first of them is."""
    index = np.arange(prod(x.shape[2:])).reshape(1, 1, *x.shape[2:])
    index = np.broadcast_to(index, x.shape)
    for a in reversed(range(len(bins))):
        parts = [_along(a, slice(*ends)) for ends in bins[a]]
        first = [x[part].argmax(axis=2 + a, keepdims=True) for part in parts]
        x, index = (
            np.concatenate(
                [np.take_along_axis(y[p], k, 2 + a) for p, k in zip(parts, first, strict=True)],
                axis=2 + a,
            )
            for y in (x, index)
        )
    return x, index


def max_pool_scatter(g: NDArray[Any], index: NDArray[np.int64], like: Like) -> NDArray[Any]:
    """Add each element of `g` to zeros at its index in its image: the gradient of a maximum.

    An index is a position in the flattened image, as from `max_pool`. Elements that share one add
    up, in the order of `g`.
    """
    shape = like.shape
    run = compiled("indexing.add_lines", g) if prod(shape) >= _IN_C else None
    if run is not None:
        found, planes = np.zeros(shape, g.dtype), shape[0] * shape[1]
        sizes = planes, prod(shape[2:]), prod(g.shape[2:]), 1
        run(found, np.ascontiguousarray(index), np.ascontiguousarray(g), *sizes)
        return found
    total = np.zeros(like.shape, accumulation_dtype(g.dtype))
    values = g.astype(total.dtype, copy=False).reshape(-1)
    np.add.at(total.reshape(-1), _flat(index, like.shape), values)
    return total.astype(g.dtype, copy=False)


def max_pool_gather(x: NDArray[Any], index: NDArray[np.int64]) -> NDArray[Any]:
    """Elements of each image of `x` at `index`; the adjoint of `max_pool_scatter`."""
    return x.reshape(-1).take(_flat(index, x.shape)).reshape(index.shape)


def last_writes(index: NDArray[Any], like: Like) -> NDArray[np.bool_]:
    """Which writes to `index` survive where several go to one position: the last of them.

    A position that is not in the image, whose shape is that of `like`, is an IndexError.
    """
    pixels = prod(like.shape[2:])
    if index.size and (index.min() < 0 or index.max() >= pixels):
        bad = index[(index < 0) | (index >= pixels)].ravel()[0]
        raise IndexRangeError(f"max_unpool: index {bad} is out of range; use 0 to {pixels - 1}")
    flat, order = _flat(index, like.shape), np.arange(index.size)
    last = np.empty(prod(like.shape), np.int64)
    last[flat] = order  # of equal positions the last value stays
    survives: NDArray[np.bool_] = last[flat] == order
    return survives.reshape(index.shape)


def avg_pool(
    x: NDArray[Any],
    *,
    kernel: Ints,
    stride: Ints,
    padding: Padding,
    ceil_mode: bool,
    exclusive: bool,
    divisor: float | None = None,
) -> NDArray[Any]:
    """Mean of each window.

    Parameters
    ----------
    x : (N, C, *size) array of floats
    kernel, stride, padding, ceil_mode
        As in `max_pool`.
    exclusive : bool
        Whether the sum is divided by the number of elements of `x` in the window only, or by
        the padding in it as well. What lies beyond the padding never counts.
    divisor : float or None
        Divide by this instead.

    Returns
    -------
    (N, C, *out) array of the dtype of `x`
        float16 is summed in float32.

    Raises
    ------
    ValueError
        If no window fits, or a window could lie in the padding altogether.
    """
    axes = _axes(x.shape, kernel, stride, padding, ceil_mode)
    return _means(x, axes, divisor or exclusive)


def avg_pool_input(
    g: NDArray[Any],
    like: Like,
    *,
    kernel: Ints,
    stride: Ints,
    padding: Padding,
    ceil_mode: bool,
    exclusive: bool,
    divisor: float | None = None,
) -> NDArray[Any]:
    """Adjoint of `avg_pool`, of images like `like`: each window spreads its share of `g` evenly."""
    axes = _axes(like.shape, kernel, stride, padding, ceil_mode)
    return _shares(g, like.shape, axes, divisor or exclusive)


def adaptive_avg_pool(x: NDArray[Any], *, size: Bins) -> NDArray[Any]:
    """Mean of each bin; float16 is summed in float32."""
    axes = _bin_axes(x.shape, size)
    return _means(x, axes, True)


def adaptive_avg_pool_input(g: NDArray[Any], like: Like, *, size: Bins) -> NDArray[Any]:
    """Adjoint of `adaptive_avg_pool`: each bin spreads its share of `g` evenly."""
    axes = _bin_axes(like.shape, size)
    return _shares(g, like.shape, axes, True)


@dataclass(frozen=True, eq=False)
class _Axis:
    """The windows along one axis.

    `taps` holds, for each offset into a window, the windows in which that offset lies inside
    the input, and the elements it meets there. `tiles`: each element lies in one window.
    """

    starts: NDArray[np.int64]
    elements: NDArray[np.int64]
    elements_and_padding: NDArray[np.int64]
    taps: tuple[tuple[slice, slice], ...]
    tiles: bool = False

    @property
    def windows(self) -> int:
        return len(self.starts)

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """Where each window begins and ends in the input, one after the other."""
        first = np.maximum(self.starts, 0)
        return np.stack([first, first + self.elements], axis=1, dtype=np.int64)


@lru_cache(maxsize=512)
def _axis(size: int, kernel: int, stride: int, padding: Pair, ceil_mode: bool) -> _Axis:
    windows = window_count(size, kernel, stride, padding, ceil_mode=ceil_mode)
    if size < 1 or windows < 1:
        raise ShapeError(
            f"pooling: a window of {kernel} does not fit into {size} elements with padding "
            f"{padding}"
        )
    if max(padding) >= kernel:
        raise ShapeError(
            f"pooling: padding {padding} lets a window of {kernel} hold nothing but padding; pad "
            f"by less than {kernel}"
        )
    before, after = padding
    starts = np.arange(windows) * stride - before
    stops = np.minimum(starts + kernel, size + after)
    taps = []
    for offset in range(kernel):
        first = max(0, -((offset - before) // stride))
        last = max(first, min(windows, (size - 1 + before - offset) // stride + 1))
        begin = first * stride + offset - before
        elements = slice(begin, begin + (last - first) * stride, stride)
        taps.append((slice(first, last), elements))
    inside = np.minimum(stops, size) - np.maximum(starts, 0)
    tiles = stride == kernel and padding == (0, 0) and windows * kernel == size
    return _Axis(starts, inside, stops - starts, tuple(taps), tiles)


@lru_cache(maxsize=512)
def _axes(
    shape: Ints, kernel: Ints, stride: Ints, padding: Padding, ceil_mode: bool
) -> tuple[_Axis, ...]:
    return tuple(
        [_axis(*along, ceil_mode) for along in zip(shape[2:], kernel, stride, padding, strict=True)]
    )


MOST_BINS: Final = 2**24  # along one axis


def _bins(size: int, count: int) -> list[Pair]:
    """Where each bin starts and stops."""
    if size < 1:
        raise ShapeError(f"adaptive pooling: an axis of {size} elements has no bins")
    if count > MOST_BINS:
        raise ShapeError(f"adaptive pooling: {count} bins are more than {MOST_BINS}")
    return [(p * size // count, -(-(p + 1) * size // count)) for p in range(count)]


def _fractional_bins(size: int, count: int, kernel: int | None, u: float) -> list[Pair]:
    """Where each bin starts and stops.

    In the reference's single precision, which decides where a product is nearly a whole number.
    """
    shift, steps = np.float32(u), np.arange(count + 1, dtype=np.float32)
    if kernel is not None:
        stride = np.float32(size - kernel) / np.float32(count - 1) if count > 1 else np.float32(0)
        starts = ((steps[:-1] + shift) * stride).astype(np.int64) - int(shift * stride)
        return [(s, s + kernel) for s in np.minimum(starts, size - kernel).tolist()]
    stride, base = np.float32(size) / np.float32(count), size // count
    # What is beyond this would leave the last bin without an element.
    most = np.float32(size + 1 - base) / stride - np.float32(count - 1)
    shift *= min(np.float32(base + 2) / stride - np.float32(1), most)
    edges = ((steps + shift) * stride).astype(np.int64) - int(shift * stride)
    return list(zip(edges[:-1].tolist(), np.minimum(edges[1:], size).tolist(), strict=True))


def _even(size: Ints, count: Ints) -> Ints:
    """Sizes of bins that have one size; () where they differ."""
    if any(n % o or not n for n, o in zip(size, count, strict=True)):
        return ()
    return tuple(n // o for n, o in zip(size, count, strict=True))


@lru_cache(maxsize=512)
def _bin_axis(size: int, count: int) -> _Axis:
    if size and size % count == 0:
        return _axis(size, size // count, size // count, (0, 0), False)
    bins = _bins(size, count)
    starts, stops = np.array(bins).T
    taps = [(slice(p, p + 1), slice(i, i + 1)) for p, ends in enumerate(bins) for i in range(*ends)]
    return _Axis(starts, stops - starts, stops - starts, tuple(taps))


def _known(size: Bins, shape: Ints) -> Ints:
    """How many bins along each axis: as many as elements where None."""
    return tuple(n if o is None else o for n, o in zip(shape[2:], size, strict=True))


@lru_cache(maxsize=512)
def _bin_axes(shape: Ints, size: Bins) -> tuple[_Axis, ...]:
    return tuple([_bin_axis(n, o) for n, o in zip(shape[2:], _known(size, shape), strict=True)])


def _along(a: int, part: slice) -> tuple[slice, ...]:
    """The index of `part` along the axis `a` of images."""
    return (*[slice(None)] * (2 + a), part)


def _replaced(shape: Ints, a: int, size: int) -> Ints:
    return (*shape[: 2 + a], size, *shape[3 + a :])


# --- in C: images of one axis or two, where it takes one call instead of ten

_IN_C: Final = LARGE // 32  # elements of the input
_WIDTH: Final = 4096  # elements of a row


@lru_cache(maxsize=512)
def _worth_c(shape: Ints) -> bool:
    return len(shape) in (3, 4) and prod(shape) >= _IN_C and shape[-1] <= _WIDTH


def _in_c(name: str, given: NDArray[Any], shape: Ints) -> Callable[..., Any] | None:
    """The function of that name for images of this shape; None where NumPy computes."""
    return compiled(f"pool.{name}", given) if _worth_c(shape) else None


_ONE_ROW: Final = np.array([0, 1], np.int64)


@lru_cache(maxsize=512)
def _pooled(shape: Ints, axes: tuple[_Axis, ...]) -> Ints:
    """The shape of what comes of images of `shape`."""
    return (*shape[:2], *[axis.windows for axis in axes])


@lru_cache(maxsize=512)
def _told(shape: Ints, axes: tuple[_Axis, ...]) -> tuple[Any, ...]:
    """What functions in C are told of images of `shape`; those of one axis have one row."""
    outer, size, count = prod(shape[:2]), shape[2:], [axis.windows for axis in axes]
    ends = [axis.ends for axis in axes]
    if len(axes) == 1:
        size, count, ends = (1, *size), [1, *count], [_ONE_ROW, *ends]
    return (*ends, outer, *size, *count)


def _maxima(
    run: Callable[..., Any], x: NDArray[Any], axes: tuple[_Axis, ...]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    shape = x.shape
    made = _pooled(shape, axes)
    out, index = np.empty(made, x.dtype), np.empty(made, np.int64)
    run(np.ascontiguousarray(x), out, index, *_told(shape, axes))
    return out, index


@lru_cache(maxsize=256)
def _weight_of_each(
    axes: tuple[_Axis, ...], divisor: float | bool, dtype: np.dtype[Any]
) -> NDArray[np.floating[Any]]:
    """What the sum of each window is divided by."""
    shape = [axis.windows for axis in axes]
    return np.full(shape, _divisor(axes, divisor), dtype)


def _divisor(axes: tuple[_Axis, ...], divisor: float | bool) -> Any:
    """A number that is given, or, by whether padding is left out, how many elements there are."""
    return _weights(axes, divisor) if isinstance(divisor, bool) else divisor


# --- in NumPy


def _means(x: NDArray[Any], axes: tuple[_Axis, ...], divisor: float | bool) -> NDArray[Any]:
    run = _in_c("avg_pool", x, x.shape)
    if run is not None:
        shape = x.shape
        out = np.empty(_pooled(shape, axes), x.dtype)
        weight = _weight_of_each(axes, divisor, x.dtype)
        run(np.ascontiguousarray(x), weight, out, *_told(shape, axes))
        return out
    dtype, total = accumulation_dtype(x.dtype), x
    for a, axis in enumerate(axes):
        taps = axis.taps
        if len(taps) > 1 and taps[0][0] == slice(0, axis.windows) == taps[1][0]:
            pair = [total[_along(a, i)] for _, i in taps[:2]]
            part = np.add(*pair, dtype=dtype)
            taps = taps[2:]
        else:
            part = np.zeros(_replaced(total.shape, a, axis.windows), dtype)
        for o, i in taps:
            part[_along(a, o)] += total[_along(a, i)]
        total = part
    total /= np.asarray(_divisor(axes, divisor), dtype)
    return total.astype(x.dtype, copy=False)


def _shares(
    g: NDArray[Any], shape: Ints, axes: tuple[_Axis, ...], divisor: float | bool
) -> NDArray[Any]:
    run = _in_c("avg_pool_input", g, shape)
    if run is not None:
        found = np.empty(shape, g.dtype)
        weight = _weight_of_each(axes, divisor, g.dtype)
        run(np.ascontiguousarray(g), weight, found, *_told(shape, axes))
        return found
    dtype = accumulation_dtype(g.dtype)
    total: NDArray[Any] = np.asarray(g / np.asarray(_divisor(axes, divisor), dtype))
    for a, axis in reversed(list(enumerate(axes))):
        if axis.tiles:
            total = total.repeat(len(axis.taps), 2 + a)
            continue
        part = np.zeros(_replaced(total.shape, a, shape[2 + a]), dtype)
        for o, i in axis.taps:
            part[_along(a, i)] += total[_along(a, o)]
        total = part
    return total.astype(g.dtype, copy=False)


@lru_cache(maxsize=256)
def _weights(axes: tuple[_Axis, ...], exclusive: bool) -> NDArray[Any] | int:
    """How many elements each window is divided by; one number where they are all alike."""
    counts = [axis.elements if exclusive else axis.elements_and_padding for axis in axes]
    if all((count == count[0]).all() for count in counts):
        return prod(int(count[0]) for count in counts)
    return np.asarray(reduce(np.multiply.outer, counts))


def _first_maximum(x: NDArray[Any], out: NDArray[Any], axes: Sequence[_Axis]) -> NDArray[np.int64]:
    """Position of the first element of each window that equals its maximum.

    In two axes, offset t = kw i + j is the first to match when just t offsets before it do not,
    so counting mismatches up to the first match yields t, and counting them at row ends yields i.
    Bytes are added up, and nothing is selected: selecting (np.where) costs several times as much.
    """
    kernel = [len(axis.taps) for axis in axes]
    small = np.min_scalar_type(prod(kernel))
    counts = [np.zeros(out.shape, small) for _ in axes]
    missing = np.ones(out.shape, bool)
    has_nan = bool(np.isnan(out).any())
    for tap in np.ndindex(*kernel):
        met = [axis.taps[k] for axis, k in zip(axes, tap, strict=True)]
        window = (..., *[o for o, _ in met])
        elements = x[(..., *[i for _, i in met])]
        differs = elements != out[window]
        if has_nan:
            differs &= elements == elements
        missing[window] &= differs
        for a in range(len(axes)):  # those whose axes behind are at their ends
            if all(k == n - 1 for k, n in zip(tap[a + 1 :], kernel[a + 1 :], strict=True)):
                counts[a] += missing.view(np.uint8)
    pitch = [prod(x.shape[3 + a :]) for a in range(len(axes))]
    index: NDArray[np.int64] = np.zeros(out.shape, np.int64)
    index += reduce(np.add.outer, [p * axis.starts for p, axis in zip(pitch, axes, strict=True)])
    # The offset along axis a is counts[a] - kernel[a] counts[a - 1].
    for a, count in enumerate(counts):
        behind = kernel[a + 1] * pitch[a + 1] if a + 1 < len(axes) else 0
        index += np.multiply(count, np.int64(pitch[a] - behind))
    return index


def _flat(index: NDArray[Any], shape: Ints) -> NDArray[np.int64]:
    """Positions within images as positions within the whole (N, C, *size) array, flattened."""
    n, c, *size = shape
    planes = np.arange(n * c, dtype=np.int64).reshape(n, c, *[1] * len(size))
    return np.asarray(index + planes * prod(size)).reshape(-1)
