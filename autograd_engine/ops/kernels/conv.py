"""Convolution (cross-correlation) of images of any number of axes, and its two adjoints.

With x (N, C, *size) padded by zeros, w (O, C / groups, *kernel), stride s and dilation d, for two
axes

    y[n, o, p, q] = sum over c, i, j of  w[o, c, i, j] x[n, c, s_h p + d_h i, s_w q + d_w j]

where c runs over the channels of o's group. The map is linear in x and in w, so it has one
adjoint for each: `conv_input` and `conv_filter`. All three are read off one trilinear form
<g, conv(x, w)>, hence the derivative of any of them is another of them. What is large goes to C
(`conv_direct`).

Note: images innermost
    A block of n images is laid out as lanes (C, *size, n). A window offset is then a run of at
    least n contiguous elements, so gathering columns and adding them back cost the same for
    narrow images as for wide ones, at any stride and dilation, and one matrix product serves
    the block. The block is as large as keeps its columns in cache; an image whose columns are
    more than that is worked on a few rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from autograd_engine.core.compute_once import cached_property
from autograd_engine.core.dtypes import accumulation_dtype, result_type
from autograd_engine.core.spec import Like
from autograd_engine.ops.kernels.compiled import compiled
from autograd_engine.ops.kernels.conv_direct import Along, job
from autograd_engine.ops.kernels.scratch import Scratch
from autograd_engine.ops.kernels.windows import (
    Ints,
    Padding,
    Pair,
    window_count,
)

__all__ = ["conv", "conv_filter", "conv_input"]

# Elements of columns per block: about what a core's second-level cache holds.
_BLOCK_SIZE = 1 << 18
# Columns per matrix product below which packing the filters dominates.
_MIN_COLUMNS = 256
# Products of elements from which on loops in C are worth asking for.
_WORTH = 1 << 10
# Channels and filters, and windows, from which on the minimal algorithm pays: fewer of the former,
# where one image has many of the latter. And channels by filters up to which it does, for their
# transforms stay in the second cache, in either adjoint.
_MINIMAL, _MINIMAL_OF_LARGE = 48, 24
_MINIMAL_WINDOWS = 1 << 10
_LARGE_IMAGE = 1 << 11  # windows of one
_MINIMAL_WEIGHTS = 1 << 14
_MINIMAL_SUMS = 1 << 13


def conv(
    x: NDArray[Any],
    w: NDArray[Any],
    out: NDArray[Any] | None = None,
    scratch: Scratch | None = None,
    *,
    stride: Ints,
    padding: Padding,
    dilation: Ints,
    groups: int,
) -> NDArray[Any]:
    """Cross-correlate the images `x` with the filters `w`.

    Parameters
    ----------
    x : (N, C, *size) array of float16, float32 or float64
    w : (O, C / groups, *kernel) array of the same dtype
    out : (N, O, *out) array, optional
        Where to write the result, in C order.
    scratch : Scratch, optional
        Memory to work in.
    stride, dilation : tuple of int
        One for each axis of the images.
    padding : tuple of (int, int)
        Zeros before and after each axis.
    groups : int
        Output channel o sees only the input channels of its group.

    Returns
    -------
    (N, O, *out) array
        A new C-contiguous array of the dtype of the inputs; float16 is summed in float32.

    Raises
    ------
    ValueError
        If channels and groups do not match, or no window fits.

    Examples
    --------
    >>> x = np.arange(9.0).reshape(1, 1, 3, 3)
    >>> w = np.ones((1, 1, 2, 2))
    >>> conv(x, w, stride=(1, 1), padding=((0, 0), (0, 0)), dilation=(1, 1), groups=1)
    array([[[[ 8., 12.],
             [20., 24.]]]])
    """
    geo = _geometry(x.shape, w.shape, stride, padding, dilation, groups)
    dtype = result_type(x, w)
    if out is None:
        out = np.empty((geo.images, geo.filters, *geo.out), dtype)
    if geo.minimal and _minimal("images", x, w, out, geo.minimal_job(back=False)):
        return out
    if geo.in_c and _correlate(x, w, out, geo.jobs(dtype.itemsize)):
        return out
    scratch = scratch or Scratch()
    matrix = geo.matrix(w)
    if geo.pointwise:
        np.matmul(matrix, geo.planes(_accumulable(x)), out=geo.planes(out))
    else:
        flat = geo.planes(out)
        for block, part, columns in geo.gather(x, scratch):
            n = block.stop - block.start
            if n == 1 and dtype == matrix.dtype:
                np.matmul(matrix, columns, out=flat[block.start, ..., part])
                continue
            shape = (*matrix.shape[:2], columns.shape[2])
            y = np.matmul(matrix, columns, out=scratch.take("products", shape, matrix.dtype))
            y = y.reshape(*y.shape[:2], part.stop - part.start, n)
            flat[block, ..., part] = y.transpose(3, 0, 1, 2)
    return out


def conv_input(
    g: NDArray[Any],
    w: NDArray[Any],
    like: Like,
    out: NDArray[Any] | None = None,
    scratch: Scratch | None = None,
    *,
    stride: Ints,
    padding: Padding,
    dilation: Ints,
    groups: int,
) -> NDArray[Any]:
    """Adjoint of `conv` in x: z with <z, x> = <g, conv(x, w)> for every x (transposed convolution).

    `like` tells the shape of x, which `g` and `w` leave open when the stride exceeds 1. A `g` that
    has not the shape that `conv` gives is a ValueError; all else is as in `conv`.
    """
    geo = _geometry(like.shape, w.shape, stride, padding, dilation, groups)
    geo.check_output(g)
    dtype = result_type(g, w)
    if out is None:
        out = np.empty(like.shape, dtype)
    if geo.minimal and _minimal("images", g, w, out, geo.minimal_job(back=True)):
        return out
    if geo.in_c and _correlate(g, w, out, geo.jobs_back(dtype.itemsize)):
        return out
    scratch = scratch or Scratch()
    if geo.correlates_back:
        o, c, *kernel = w.shape
        turned = w.reshape(groups, o // groups, c, *kernel).swapaxes(1, 2)
        turned = np.flip(turned, tuple(range(3, turned.ndim)))
        for phases in product(*(_phases(*along) for along in geo.axes)):
            part = out[_last(f.pixels for f in phases)]
            taps = turned[_last(f.taps for f in phases)]
            if not part.size or not taps.size:
                part[...] = 0.0
                continue
            part[...] = conv(
                g[_last(f.windows for f in phases)],
                np.ascontiguousarray(taps).reshape(groups * c, o // groups, *taps.shape[3:]),
                scratch=scratch,
                stride=(1,) * len(kernel),
                padding=tuple(f.padding for f in phases),
                dilation=tuple(f.dilation for f in phases),
                groups=groups,
            )
        return out
    matrix = np.ascontiguousarray(geo.matrix(w).swapaxes(1, 2))
    for block in geo.blocks():
        n = block.stop - block.start
        lanes, image = geo.padded(n, matrix.dtype, scratch)
        lanes.fill(0)
        for rows in geo.tiles():
            given = geo.lanes(g[block, :, rows], scratch)
            shape = (*matrix.shape[:2], given.shape[2])
            columns = np.matmul(matrix, given, out=scratch.take("columns", shape, matrix.dtype))
            geo.add_columns(columns, lanes, rows)
        out[block] = np.moveaxis(image, -1, 0)
    return out


def conv_filter(
    g: NDArray[Any],
    x: NDArray[Any],
    like: Like,
    out: NDArray[Any] | None = None,
    scratch: Scratch | None = None,
    *,
    stride: Ints,
    padding: Padding,
    dilation: Ints,
    groups: int,
) -> NDArray[Any]:
    """Adjoint of `conv` in w: z with <z, w> = <g, conv(x, w)> for every w, of the shape of `like`.

    All else is as in `conv_input`.
    """
    geo = _geometry(x.shape, like.shape, stride, padding, dilation, groups)
    geo.check_output(g)
    dtype = result_type(g, x)
    if geo.in_c and (found := _filters(g, x, like, out, geo)) is not None:
        return found
    shape, wide = (groups, geo.filters // groups, geo.taps), accumulation_dtype(dtype)
    total = np.empty(shape, wide) if out is None or wide != dtype else out.reshape(shape)
    total.fill(0)
    scratch = scratch or Scratch()
    if geo.pointwise:
        y, z = geo.planes(_accumulable(g)), geo.planes(_accumulable(x)).swapaxes(2, 3)
        for block in geo.blocks():
            total += np.matmul(y[block], z[block]).sum(axis=0)
    else:
        flat = geo.planes(g)
        for block, part, columns in geo.gather(x, scratch):
            lanes = geo.flat_lanes(flat[block, ..., part], scratch)
            total += np.matmul(lanes, columns.swapaxes(1, 2))
    total = total.reshape(like.shape)
    if out is None:
        return total.astype(dtype, copy=False)
    if wide != dtype:
        np.copyto(out, total, casting="same_kind")
    return out


@dataclass(frozen=True)
class _Geometry:
    """Sizes of one convolution, and the passage between images and columns."""

    images: int
    channels: int
    filters: int
    groups: int
    size: Ints
    kernel: Ints
    out: Ints
    stride: Ints
    dilation: Ints
    padding: Padding

    @cached_property
    def windows(self) -> int:
        return prod(self.out)

    @cached_property
    def taps(self) -> int:
        """Elements of one filter."""
        return self.channels // self.groups * prod(self.kernel)

    @cached_property
    def pointwise(self) -> bool:
        """Whether the columns are the image itself."""
        return set(self.kernel) == {1} == set(self.stride) and not any(map(any, self.padding))

    @cached_property
    def in_c(self) -> bool:
        """Whether it is so much that C is asked for; one product of matrices needs none."""
        return (
            len(self.size) <= 3 and self.images * self.filters * self.windows * self.taps >= _WORTH
        )

    @cached_property
    def minimal(self) -> bool:
        """Whether the minimal algorithm for 3 x 3 taps pays."""
        least = _MINIMAL if self.windows < _LARGE_IMAGE else _MINIMAL_OF_LARGE
        return (
            self.kernel == (3, 3)
            and self.stride == self.dilation == (1, 1)
            and self.groups == 1
            and min(self.channels, self.filters) >= least
            and self.channels * self.filters <= _MINIMAL_WEIGHTS
            and self.images * self.windows >= _MINIMAL_WINDOWS
        )

    @cached_property
    def minimal_sums(self) -> bool:
        """Whether it pays for the adjoint in the filters."""
        return self.minimal and self.channels * self.filters <= _MINIMAL_SUMS

    def minimal_job(self, back: bool) -> NDArray[np.int64]:
        """What C is told of it, for the images or, back, for its adjoint in them."""
        (top, _), (left, _) = self.padding
        o, c = self.filters, self.channels
        told = (
            (1, self.images, c, o, *self.out, *self.size, 2 - top, 2 - left, 9, 9 * c, 1)
            if back
            else (1, self.images, o, c, *self.size, *self.out, top, left, 9 * c, 9, 0)
        )
        return np.array(told, np.int64)

    def jobs(self, itemsize: int) -> list[NDArray[np.int64]] | None:
        """What C is told of the convolution."""
        depth = self.channels // self.groups
        return self._jobs([self._along], depth, self.taps, prod(self.kernel), itemsize)

    def jobs_back(self, itemsize: int) -> list[NDArray[np.int64]] | None:
        """Of its adjoint in x: the correlation of each phase of the pixels."""
        parts = []
        for phases in product(*(_phases(*along) for along in self.axes)):
            axes = []
            for a, f, size in zip(self.axes, phases, self.size, strict=True):
                taps, count = range(a[1])[f.taps], len(range(size)[f.pixels])
                if not taps or not count:
                    return None
                axes.append(
                    Along(
                        a[2], count, len(taps), 1, f.dilation, f.padding[0] - f.windows.start,
                        f.pixels.start, a[3], size, a[1], a[1] - 1 - taps[0], -taps.step,
                    )
                )  # fmt: skip
            parts.append(tuple(axes))
        filters = self.filters // self.groups
        return self._jobs(parts, filters, prod(self.kernel), self.taps, itemsize, back=True)

    def job_of_filters(self, itemsize: int) -> NDArray[np.int64] | None:
        """Of its adjoint in w."""
        filters, depth = self.filters // self.groups, self.channels // self.groups
        steps = filters * self.taps, self.taps, prod(self.kernel)
        sizes = (self.images, self.groups, filters, depth, *steps)
        return job(self._along, sizes, itemsize, to_filters=True)

    @cached_property
    def _along(self) -> tuple[Along, ...]:
        return tuple(
            Along(size, out, kernel, stride, dilation, before, 0, 1, out, kernel, 0, 1)
            for size, kernel, out, stride, dilation, (before, _) in self.axes
        )

    def _jobs(
        self,
        parts: list[tuple[Along, ...]],
        depth: int,
        filter_step: int,
        channel_step: int,
        itemsize: int,
        back: bool = False,
    ) -> list[NDArray[np.int64]] | None:
        filters = (self.channels if back else self.filters) // self.groups
        steps = self.filters // self.groups * self.taps, filter_step, channel_step
        sizes = (self.images, self.groups, filters, depth, *steps)
        found = [job(part, sizes, itemsize, to_filters=False) for part in parts]
        return None if any(j is None for j in found) else [j for j in found if j is not None]

    @cached_property
    def axes(self) -> tuple[tuple[Any, ...], ...]:
        """Size, kernel, out, stride, dilation and padding of each axis."""
        every = (self.size, self.kernel, self.out, self.stride, self.dilation, self.padding)
        return tuple(zip(*every, strict=True))

    @cached_property
    def correlates_back(self) -> bool:
        """Whether the adjoint in x is faster as a correlation than by adding columns up.

        Per tap, gathering an element of g costs less than adding one to x, but the correlation
        spends a product on every pixel of x, not on every window. Nanoseconds, as measured.
        """
        if self.pointwise:
            return True
        pixels = prod(self.size) / prod(self.stride)  # of which each meets all taps of its phase
        product = 0.03 * (self.channels // self.groups) * self.filters
        gathering = 0.35 * self.filters * pixels + product * pixels
        adding = 0.9 * self.channels * self.windows + product * self.windows
        return gathering < adding

    def matrix(self, w: NDArray[Any]) -> NDArray[Any]:
        """Filters as matrices (groups, O / groups, taps)."""
        return _accumulable(w).reshape(self.groups, self.filters // self.groups, self.taps)

    def planes(self, a: NDArray[Any]) -> NDArray[Any]:
        """Images (N, C, *size) as matrices (N, groups, C / groups, pixels)."""
        n, c, *size = a.shape
        return a.reshape(n, self.groups, c // self.groups, prod(size))

    def lanes(self, g: NDArray[Any], scratch: Scratch) -> NDArray[Any]:
        """Outputs (n, O, *out) as matrices (groups, O / groups, windows * n)."""
        n, _, *out = g.shape
        lanes = _packed(np.moveaxis(g, 0, -1), scratch)
        return lanes.reshape(self.groups, self.filters // self.groups, prod(out) * n)

    def flat_lanes(self, g: NDArray[Any], scratch: Scratch) -> NDArray[Any]:
        """Outputs (n, groups, O / groups, windows) as matrices; see `lanes`."""
        if len(g) == 1:
            return _accumulable(g[0])
        lanes = _packed(g.transpose(1, 2, 3, 0), scratch)
        return lanes.reshape(*lanes.shape[:2], lanes.shape[2] * lanes.shape[3])

    def check_output(self, g: NDArray[Any]) -> None:
        expected = (self.images, self.filters, *self.out)
        if g.shape != expected:
            raise ValueError(f"conv has an output of shape {expected}, got g of {g.shape}")

    @cached_property
    def block_images(self) -> int:
        """Images per block."""
        columns = self.groups * self.taps * self.windows
        n = max(1, _BLOCK_SIZE // max(1, columns), _MIN_COLUMNS // self.windows)
        return max(1, min(n, self.images))

    def blocks(self) -> Iterator[slice]:
        """Slices of the images that are worked on together."""
        for start in range(0, self.images, self.block_images):
            yield slice(start, min(start + self.block_images, self.images))

    @cached_property
    def block_rows(self) -> int:
        """Rows of the output, along its first axis, whose columns make a block."""
        if self.block_images > 1:
            return self.out[0]
        row = max(1, prod(self.out[1:]))
        n = max(_BLOCK_SIZE // max(1, self.groups * self.taps * row), -(-_MIN_COLUMNS // row))
        tiles = -(-self.out[0] // max(1, n))
        return -(-self.out[0] // tiles)

    def tiles(self) -> Iterator[slice]:
        """Slices of the rows of the output that are worked on together."""
        for start in range(0, self.out[0], self.block_rows):
            yield slice(start, min(start + self.block_rows, self.out[0]))

    def padded(
        self, n: int, dtype: DTypeLike, scratch: Scratch
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Lanes (C, *size + pad, n) whose padding is zero, and the view that is the image."""
        sizes = [b + s + a for s, (b, a) in zip(self.size, self.padding, strict=True)]
        lanes = scratch.take("lanes", (self.channels, *sizes, n), dtype)
        if any(map(any, self.padding)):
            lanes.fill(0)
        inside = [slice(b, b + s) for s, (b, _) in zip(self.size, self.padding, strict=True)]
        return lanes, lanes[(slice(None), *inside)]

    def gather(
        self, x: NDArray[Any], scratch: Scratch
    ) -> Iterator[tuple[slice, slice, NDArray[Any]]]:
        """Columns (groups, taps, windows * n) of each block of images and tile of windows."""
        n, dtype = self.block_images, accumulation_dtype(x.dtype)
        row = prod(self.out[1:])
        size = n * self.groups * self.taps * self.block_rows * row
        store = scratch.take("columns", (size,), dtype)
        lanes, image = self.padded(n, dtype, scratch)
        for block in self.blocks():
            if block.stop - block.start != n:
                n = block.stop - block.start
                lanes, image = self.padded(n, dtype, scratch)
            image[...] = np.moveaxis(x[block], 0, -1)
            channel, *along, item = lanes.strides
            steps = [s * a for s, a in zip(self.stride, along, strict=True)]
            gaps = [d * a for d, a in zip(self.dilation, along, strict=True)]
            for rows in self.tiles():
                count = rows.stop - rows.start
                windows: NDArray[Any] = np.ndarray(
                    (self.channels, *self.kernel, count, *self.out[1:], n),
                    dtype,
                    buffer=lanes,
                    offset=rows.start * steps[0],
                    strides=(channel, *gaps, *steps, item),
                )
                columns = store[: windows.size].reshape(windows.shape)
                columns[...] = windows
                part = slice(rows.start * row, rows.stop * row)
                yield block, part, columns.reshape(self.groups, self.taps, count * row * n)

    def add_columns(self, columns: NDArray[Any], lanes: NDArray[Any], rows: slice) -> None:
        """Adjoint of `gather`: add the columns of one tile up to the lanes of its block."""
        count = rows.stop - rows.start
        columns = columns.reshape(
            self.channels, *self.kernel, count, *self.out[1:], lanes.shape[-1]
        )
        starts = (rows.start * self.stride[0], *[0] * (len(self.out) - 1))
        sizes = (count, *self.out[1:])
        for tap in np.ndindex(*self.kernel):
            at = [
                slice(b + d * i, b + d * i + s * o, s)
                for b, i, d, s, o in zip(
                    starts, tap, self.dilation, self.stride, sizes, strict=True
                )
            ]
            lanes[(slice(None), *at)] += columns[(slice(None), *tap)]


@dataclass(frozen=True)
class _Phase:
    """The pixels along one axis that meet the same taps, and the correlation that is their share.

    Attributes
    ----------
    pixels, taps, windows : slice
        Of x, of the reversed filter, and of g.
    padding, dilation
        With which the taps correlate with the windows.
    """

    pixels: slice
    taps: slice
    windows: slice
    padding: Pair
    dilation: int


@lru_cache(maxsize=512)
def _phases(
    size: int, kernel: int, out: int, stride: int, dilation: int, padding: Pair
) -> list[_Phase]:
    """The phases of one axis: tap i = first + step t lies `ahead` + t gap windows before pixel q.

    q counts the pixels of the phase from the beginning of the padding.
    """
    before, _ = padding
    step, gap = stride // gcd(stride, dilation), dilation // gcd(stride, dilation)
    found = []
    for r in range(stride):
        q = max(0, -((r - before) // stride))  # the first that is no padding
        pixels = slice(q * stride + r - before, size, stride)
        count = len(range(*pixels.indices(size)))
        first = next(
            (i for i in range(min(step, kernel)) if (dilation * i - r) % stride == 0), None
        )
        if first is None:
            found.append(_Phase(pixels, slice(0, 0), slice(0, 0), (0, 0), 1))
            continue
        taps = len(range(first, kernel, step))
        ahead, reach = (dilation * first - r) // stride, (taps - 1) * gap
        lead = ahead + reach - q
        tail = count + reach - out - lead
        last = first + (taps - 1) * step
        found.append(
            _Phase(
                pixels,
                slice(kernel - 1 - last, kernel - first, step),
                slice(max(0, -lead), max(0, out - max(0, -tail))),
                (max(0, lead), max(0, tail)),
                gap,
            )
        )
    return found


@lru_cache(maxsize=512)
def _geometry(
    x: Ints, w: Ints, stride: Ints, padding: Padding, dilation: Ints, groups: int
) -> _Geometry:
    images, channels, *size = x
    filters, depth, *kernel = w
    if channels != depth * groups or filters % groups:
        raise ValueError(
            f"conv: filters {w} in {groups} groups need {depth * groups} channels and a number "
            f"of filters divisible by {groups}; the images are {x}"
        )
    out = [
        window_count(*along) for along in zip(size, kernel, stride, padding, dilation, strict=True)
    ]
    if min(out) < 1:
        raise ValueError(
            f"conv: filters {w} with dilation {dilation} do not fit into images {x} with "
            f"padding {padding}; enlarge the padding or shrink the filters"
        )
    return _Geometry(
        images, channels, filters, groups, tuple(size), tuple(kernel),
        tuple(out), stride, dilation, padding,
    )  # fmt: skip


def _correlate(
    x: NDArray[Any], w: NDArray[Any], out: NDArray[Any], jobs: list[NDArray[np.int64]] | None
) -> bool:
    """Whether C computed all jobs."""
    run = compiled("conv.correlate", out) if jobs and x.dtype == w.dtype == out.dtype else None
    if run is None or not out.flags.c_contiguous:
        return False
    x, w = np.ascontiguousarray(x), np.ascontiguousarray(w)
    for told in jobs or ():
        told = told.copy()
        run(x, w, out, told)
        if not told[0]:
            return False
    return True


def _minimal(
    function: str, a: NDArray[Any], b: NDArray[Any], out: NDArray[Any], told: NDArray[np.int64]
) -> bool:
    """Whether the minimal algorithm computed `out`."""
    run = compiled(f"winograd.{function}", out) if a.dtype == b.dtype == out.dtype else None
    if run is None or not out.flags.c_contiguous:
        return False
    run(np.ascontiguousarray(a), np.ascontiguousarray(b), out, told)
    return bool(told[0])


def _filters(
    g: NDArray[Any], x: NDArray[Any], like: Like, out: NDArray[Any] | None, geo: _Geometry
) -> NDArray[Any] | None:
    """The adjoint in the filters, if C computed it."""
    told = geo.job_of_filters(x.itemsize)
    run = compiled("conv.filter", x) if told is not None and g.dtype == x.dtype else None
    if run is None or told is None:
        return None
    if out is None:
        out = np.empty(like.shape, x.dtype)
    if out.dtype != x.dtype or not out.flags.c_contiguous:
        return None
    if geo.minimal_sums and _minimal("filters", g, x, out, geo.minimal_job(back=False)):
        return out
    told = told.copy()
    run(np.ascontiguousarray(g), np.ascontiguousarray(x), out, told)
    return out if told[0] else None


def _packed(a: NDArray[Any], scratch: Scratch) -> NDArray[Any]:
    """`a` in C order, in the dtype that it is summed in."""
    packed = scratch.take("packed", a.shape, accumulation_dtype(a.dtype))
    np.copyto(packed, a)
    return packed


def _last(key: Iterable[slice]) -> tuple[Any, ...]:
    """The index of `key` along the last axes."""
    return (..., *key)


def _accumulable(a: NDArray[Any]) -> NDArray[Any]:
    return a.astype(accumulation_dtype(a.dtype), copy=False)
