"""Two-dimensional convolution (cross-correlation) of NCHW arrays, and its two adjoints.

With x (N, C, H, W) padded by zeros, w (O, C / groups, kh, kw), stride s and dilation d,

    y[n, o, p, q] = sum over c, i, j of  w[o, c, i, j] x[n, c, s_h p + d_h i, s_w q + d_w j]

where c runs over the channels of o's group. The map is linear in x and in w, so it has one
adjoint for each: `conv2d_input` and `conv2d_filter`. All three are read off one trilinear form
<g, conv2d(x, w)>, hence the derivative of any of them is another of them.

Note: images innermost
    A block of n images is laid out as lanes (C, H, W, n). A window offset is then a run of at
    least n contiguous elements, so gathering columns and adding them back cost the same for
    narrow images as for wide ones, at any stride and dilation, and one matrix product serves
    the block. The block is as large as keeps its columns in cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = [
    "Like",
    "Padding",
    "Pair",
    "conv2d",
    "conv2d_filter",
    "conv2d_input",
    "conv2d_output_size",
    "sum_dtype",
]

Pair = tuple[int, int]
Padding = tuple[Pair, Pair]

# Elements of columns per block: about what a core's second-level cache holds.
_BLOCK_SIZE = 1 << 18
# Columns per matrix product below which packing the filters dominates.
_MIN_COLUMNS = 256


class Like(Protocol):
    """What is asked of an argument that only tells the shape and dtype of a result."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...


def conv2d_output_size(size: Any, kernel: Any, stride: int, pad_total: int, dilation: int) -> Any:
    """Number of windows along one axis; plain arithmetic, so `size` may be symbolic.

    Parameters
    ----------
    size, kernel : int or symbolic size
        Sizes of the input and of the kernel along the axis.
    stride, pad_total, dilation : int
        `pad_total` counts the zeros on both sides.

    Returns
    -------
    int or symbolic size
        Below 1 where no window fits.

    Examples
    --------
    >>> conv2d_output_size(28, 5, 2, 4, 1)
    14
    """
    return (size + pad_total - dilation * (kernel - 1) - 1) // stride + 1


def conv2d(
    x: NDArray[Any], w: NDArray[Any], *, stride: Pair, padding: Padding, dilation: Pair, groups: int
) -> NDArray[Any]:
    """Cross-correlate the images `x` with the filters `w`.

    Parameters
    ----------
    x : (N, C, H, W) array of float16, float32 or float64
    w : (O, C / groups, kh, kw) array of the same dtype
    stride, dilation : (int, int)
        Along height and width.
    padding : ((int, int), (int, int))
        Rows of zeros (top, bottom) and columns of zeros (left, right).
    groups : int
        Output channel o sees only the input channels of its group.

    Returns
    -------
    (N, O, OH, OW) array
        A new C-contiguous array of the dtype of the inputs; float16 is summed in float32.

    Raises
    ------
    ValueError
        If channels and groups do not match, or no window fits.

    Examples
    --------
    >>> x = np.arange(9.0).reshape(1, 1, 3, 3)
    >>> w = np.ones((1, 1, 2, 2))
    >>> conv2d(x, w, stride=(1, 1), padding=((0, 0), (0, 0)), dilation=(1, 1), groups=1)
    array([[[[ 8., 12.],
             [20., 24.]]]])
    """
    geo = _geometry(x.shape, w.shape, stride, padding, dilation, groups)
    dtype = np.result_type(x, w)
    out = np.empty((geo.images, geo.filters, *geo.out), dtype)
    matrix = geo.matrix(w)
    if geo.pointwise:
        np.matmul(matrix, geo.planes(_accumulable(x)), out=geo.planes(out))
        return out
    for block, columns in geo.gather(x):
        y = np.matmul(matrix, columns).reshape(geo.filters, *geo.out, block.stop - block.start)
        out[block] = y.transpose(3, 0, 1, 2)
    return out


def conv2d_input(
    g: NDArray[Any],
    w: NDArray[Any],
    like: Like,
    *,
    stride: Pair,
    padding: Padding,
    dilation: Pair,
    groups: int,
) -> NDArray[Any]:
    """Adjoint of `conv2d` in x: the gradient with respect to x (transposed convolution).

    Parameters
    ----------
    g : (N, O, OH, OW) array
        Cotangent of the output.
    w : (O, C / groups, kh, kw) array
    like : object with `shape` and `dtype`
        Tells the shape of x, which `g` and `w` leave open when the stride exceeds 1.
    stride, padding, dilation, groups
        As in `conv2d`.

    Returns
    -------
    (N, C, H, W) array
        The array z with <z, x> = <g, conv2d(x, w)> for every x; new and C-contiguous.

    Raises
    ------
    ValueError
        If `g` has not the shape that `conv2d` gives, or as in `conv2d`.
    """
    geo = _geometry(like.shape, w.shape, stride, padding, dilation, groups)
    geo.check_output(g)
    if geo.correlates_back:
        # x[h] meets g[h + pad - d i] through tap i: a correlation with the reversed filters.
        o, c, *kernel = w.shape
        turned = w.reshape(groups, o // groups, c, *kernel).swapaxes(1, 2)[..., ::-1, ::-1]
        return conv2d(
            g,
            np.ascontiguousarray(turned).reshape(groups * c, o // groups, *kernel),
            stride=stride,
            padding=geo.opposite_padding,
            dilation=dilation,
            groups=groups,
        )
    dtype = np.result_type(g, w)
    out = np.empty(like.shape, dtype)
    matrix = np.ascontiguousarray(geo.matrix(w).swapaxes(1, 2))
    for block in geo.blocks():
        columns = np.matmul(matrix, geo.lanes(g[block]))
        out[block] = geo.scatter(columns, block.stop - block.start).transpose(3, 0, 1, 2)
    return out


def conv2d_filter(
    g: NDArray[Any],
    x: NDArray[Any],
    like: Like,
    *,
    stride: Pair,
    padding: Padding,
    dilation: Pair,
    groups: int,
) -> NDArray[Any]:
    """Adjoint of `conv2d` in w: the gradient with respect to w.

    Parameters
    ----------
    g : (N, O, OH, OW) array
        Cotangent of the output.
    x : (N, C, H, W) array
    like : object with `shape` and `dtype`
        Tells the shape of w.
    stride, padding, dilation, groups
        As in `conv2d`.

    Returns
    -------
    (O, C / groups, kh, kw) array
        The array z with <z, w> = <g, conv2d(x, w)> for every w; new and C-contiguous.

    Raises
    ------
    ValueError
        If `g` has not the shape that `conv2d` gives, or as in `conv2d`.
    """
    geo = _geometry(x.shape, like.shape, stride, padding, dilation, groups)
    geo.check_output(g)
    dtype = np.result_type(g, x)
    total = np.zeros((groups, geo.filters // groups, geo.taps), sum_dtype(dtype))
    if geo.pointwise:
        y, z = geo.planes(_accumulable(g)), geo.planes(_accumulable(x)).swapaxes(2, 3)
        for block in geo.blocks():
            total += np.matmul(y[block], z[block]).sum(axis=0)
    else:
        for block, columns in geo.gather(x):
            total += np.matmul(geo.lanes(g[block]), columns.swapaxes(1, 2))
    return total.reshape(like.shape).astype(dtype, copy=False)


@dataclass(frozen=True)
class _Geometry:
    """Sizes of one convolution, and the passage between images and columns."""

    images: int
    channels: int
    filters: int
    groups: int
    size: Pair
    kernel: Pair
    out: Pair
    stride: Pair
    dilation: Pair
    padding: Padding

    @cached_property
    def windows(self) -> int:
        return self.out[0] * self.out[1]

    @cached_property
    def taps(self) -> int:
        """Elements of one filter."""
        return self.channels // self.groups * self.kernel[0] * self.kernel[1]

    @cached_property
    def pointwise(self) -> bool:
        """Whether the columns are the image itself."""
        return self.kernel == (1, 1) == self.stride and not any(map(any, self.padding))

    @cached_property
    def opposite_padding(self) -> Padding:
        """Padding d (k - 1) - pad, with which a correlation of the output covers the image."""
        reach = [d * (k - 1) for d, k in zip(self.dilation, self.kernel, strict=True)]
        (top, bottom), (left, right) = self.padding
        return (reach[0] - top, reach[0] - bottom), (reach[1] - left, reach[1] - right)

    @cached_property
    def correlates_back(self) -> bool:
        """Whether the adjoint in x is faster as a correlation than by adding columns up.

        Per tap, gathering an element of g costs less than adding one to x, but the correlation
        spends a product on every pixel of x, not on every window. Nanoseconds, as measured.
        """
        if self.pointwise:
            return True
        if self.stride != (1, 1) or min(map(min, self.opposite_padding)) < 0:
            return False
        pixels = self.size[0] * self.size[1]
        product = 0.03 * (self.channels // self.groups) * self.filters
        gathering = 0.35 * self.filters * pixels + product * pixels
        adding = 0.9 * self.channels * self.windows + product * self.windows
        return gathering < adding

    def matrix(self, w: NDArray[Any]) -> NDArray[Any]:
        """Filters as matrices (groups, O / groups, taps)."""
        return _accumulable(w).reshape(self.groups, self.filters // self.groups, self.taps)

    def planes(self, a: NDArray[Any]) -> NDArray[Any]:
        """Images (N, C, H, W) as matrices (N, groups, C / groups, H W), for 1x1 filters."""
        n, c, h, w = a.shape
        return a.reshape(n, self.groups, c // self.groups, h * w)

    def lanes(self, g: NDArray[Any]) -> NDArray[Any]:
        """Outputs (n, O, OH, OW) as matrices (groups, O / groups, windows * n)."""
        lanes = np.ascontiguousarray(g.transpose(1, 2, 3, 0), sum_dtype(g.dtype))
        return lanes.reshape(self.groups, self.filters // self.groups, self.windows * len(g))

    def check_output(self, g: NDArray[Any]) -> None:
        expected = (self.images, self.filters, *self.out)
        if g.shape != expected:
            raise ValueError(f"conv2d has an output of shape {expected}, got g of {g.shape}")

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

    def padded(self, n: int, dtype: DTypeLike) -> tuple[NDArray[Any], NDArray[Any]]:
        """Zero lanes (C, H + pad, W + pad, n), and the view of them that is the image."""
        (top, bottom), (left, right) = self.padding
        h, w = self.size
        lanes = np.zeros((self.channels, top + h + bottom, left + w + right, n), dtype)
        return lanes, lanes[:, top : top + h, left : left + w]

    def gather(self, x: NDArray[Any]) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Columns (groups, taps, windows * n) of each block of images."""
        n, dtype = self.block_images, sum_dtype(x.dtype)
        store = np.empty(n * self.groups * self.taps * self.windows, dtype)
        lanes, image = self.padded(n, dtype)
        for block in self.blocks():
            if block.stop - block.start != n:
                n = block.stop - block.start
                lanes, image = self.padded(n, dtype)
            image[...] = x[block].transpose(1, 2, 3, 0)
            c, h, w, _ = lanes.strides
            (sh, sw), (dh, dw) = self.stride, self.dilation
            windows: NDArray[Any] = np.ndarray(
                (self.channels, *self.kernel, *self.out, n),
                dtype,
                buffer=lanes,
                strides=(c, dh * h, dw * w, sh * h, sw * w, lanes.itemsize),
            )
            columns = store[: windows.size].reshape(windows.shape)
            columns[...] = windows
            yield block, columns.reshape(self.groups, self.taps, self.windows * n)

    def scatter(self, columns: NDArray[Any], n: int) -> NDArray[Any]:
        """Adjoint of `gather` on a block of `n` images: add columns up to lanes (C, H, W, n)."""
        columns = columns.reshape(self.channels, *self.kernel, *self.out, n)
        lanes, image = self.padded(n, columns.dtype)
        (sh, sw), (dh, dw), (oh, ow) = self.stride, self.dilation, self.out
        for i in range(self.kernel[0]):
            rows = slice(dh * i, dh * i + sh * oh, sh)
            for j in range(self.kernel[1]):
                lanes[:, rows, dw * j : dw * j + sw * ow : sw] += columns[:, i, j]
        return image


@lru_cache(maxsize=512)
def _geometry(
    x: tuple[int, ...],
    w: tuple[int, ...],
    stride: Pair,
    padding: Padding,
    dilation: Pair,
    groups: int,
) -> _Geometry:
    images, channels, *size = x
    filters, depth, *kernel = w
    if channels != depth * groups or filters % groups:
        raise ValueError(
            f"conv2d: filters {w} in {groups} groups need {depth * groups} channels and a number "
            f"of filters divisible by {groups}; the images are {x}"
        )
    oh, ow = (
        conv2d_output_size(size[a], kernel[a], stride[a], sum(padding[a]), dilation[a])
        for a in (0, 1)
    )
    if oh < 1 or ow < 1:
        raise ValueError(
            f"conv2d: filters {w} with dilation {dilation} do not fit into images {x} with "
            f"padding {padding}; enlarge the padding or shrink the filters"
        )
    return _Geometry(
        images, channels, filters, groups, (size[0], size[1]), (kernel[0], kernel[1]),
        (oh, ow), stride, dilation, padding,
    )  # fmt: skip


def sum_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that arrays of `dtype` are summed in: float32 for float16, else itself."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def _accumulable(a: NDArray[Any]) -> NDArray[Any]:
    return a.astype(sum_dtype(a.dtype), copy=False)
