"""Two-dimensional pooling of NCHW arrays, and the adjoints of what is linear in it.

Window p along an axis starts at stride * p - before, where `before` is the padding in front. It
is cut at the ends of the input, so no padded copy is made: padding never wins a maximum and adds
nothing to a sum. Maximum and sum over a window are separable, rows first and then columns, which
takes kh + kw passes instead of kh * kw.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.kernels.conv import Like, Padding, Pair, sum_dtype

__all__ = [
    "avg_pool2d",
    "avg_pool2d_input",
    "max_pool2d",
    "max_pool2d_gather",
    "max_pool2d_scatter",
    "pool2d_output_size",
]


def pool2d_output_size(size: Any, kernel: int, stride: int, padding: Pair, ceil_mode: bool) -> Any:
    """Number of windows along one axis; plain arithmetic, so `size` may be symbolic.

    With `ceil_mode` the last window may run over the end, but must start inside the input or in
    front of it. Of ceil((before + size + after - kernel + stride) / stride) windows the first
    ceil((before + size) / stride) do so; the smaller number is a single quotient.

    Parameters
    ----------
    size : int or symbolic size
    kernel, stride : int
    padding : (int, int)
        Before and after the input.
    ceil_mode : bool

    Returns
    -------
    int or symbolic size
        Below 1 where no window fits.

    Examples
    --------
    >>> pool2d_output_size(6, 3, 2, (0, 0), False), pool2d_output_size(6, 3, 2, (0, 0), True)
    (2, 3)
    """
    before, after = padding
    if ceil_mode:
        return -(-(size + (before + min(after + stride - kernel, 0))) // stride)
    return (size + (before + after - kernel)) // stride + 1


def max_pool2d(
    x: NDArray[Any], *, kernel: Pair, stride: Pair, padding: Padding, ceil_mode: bool
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Largest element of each window, and where it is.

    Parameters
    ----------
    x : (N, C, H, W) array of floats
    kernel, stride : (int, int)
        Height and width.
    padding : ((int, int), (int, int))
        (top, bottom), (left, right); each smaller than the kernel.
    ceil_mode : bool
        Whether a last, partial window counts.

    Returns
    -------
    out : (N, C, OH, OW) array of the dtype of `x`
        NaN where the window holds a NaN.
    index : (N, C, OH, OW) array of int64
        Position h * W + w in the plane: the first one that attains the maximum, or the first NaN.

    Raises
    ------
    ValueError
        If no window fits, or a window could lie in the padding altogether.

    Examples
    --------
    >>> x = np.array([[[[1.0, 4.0, 2.0], [4.0, 0.0, 3.0]]]])
    >>> max_pool2d(x, kernel=(2, 2), stride=(1, 1), padding=((0, 0), (0, 0)), ceil_mode=False)
    (array([[[[4., 4.]]]]), array([[[[1, 1]]]]))
    """
    rows, columns = _axes(x.shape, kernel, stride, padding, ceil_mode)
    n, c, _, width = x.shape
    tall = np.full((n, c, rows.windows, width), -np.inf, x.dtype)
    for o, i in rows.taps:
        np.maximum(tall[:, :, o], x[:, :, i], out=tall[:, :, o])
    out = np.full((n, c, rows.windows, columns.windows), -np.inf, x.dtype)
    for o, i in columns.taps:
        np.maximum(out[..., o], tall[..., i], out=out[..., o])
    return out, _first_maximum(x, out, rows, columns)


def max_pool2d_scatter(g: NDArray[Any], index: NDArray[np.int64], like: Like) -> NDArray[Any]:
    """Add each element of `g` to zeros at its index in its plane: the gradient of a maximum.

    Parameters
    ----------
    g : (N, C, OH, OW) array
    index : (N, C, OH, OW) array of int64
        Positions h * W + w, as from `max_pool2d`.
    like : object with `shape` (N, C, H, W) and `dtype`

    Returns
    -------
    (N, C, H, W) array of the dtype of `g`
        Elements that share an index add up, in the order of `g`.
    """
    total = np.zeros(like.shape, sum_dtype(g.dtype))
    values = g.astype(total.dtype, copy=False).reshape(-1)
    np.add.at(total.reshape(-1), _flat(index, like.shape), values)
    return total.astype(g.dtype, copy=False)


def max_pool2d_gather(x: NDArray[Any], index: NDArray[np.int64]) -> NDArray[Any]:
    """Elements of each plane of `x` at `index`; the adjoint of `max_pool2d_scatter`.

    Parameters
    ----------
    x : (N, C, H, W) array
    index : (N, C, OH, OW) array of int64
        Positions h * W + w, as from `max_pool2d`.

    Returns
    -------
    (N, C, OH, OW) array of the dtype of `x`
    """
    return x.reshape(-1).take(_flat(index, x.shape)).reshape(index.shape)


def avg_pool2d(
    x: NDArray[Any],
    *,
    kernel: Pair,
    stride: Pair,
    padding: Padding,
    ceil_mode: bool,
    exclusive: bool,
) -> NDArray[Any]:
    """Mean of each window.

    Parameters
    ----------
    x : (N, C, H, W) array of floats
    kernel, stride, padding, ceil_mode
        As in `max_pool2d`.
    exclusive : bool
        Whether the sum is divided by the number of elements of `x` in the window only, or by
        the padding in it as well. What lies beyond the padding never counts.

    Returns
    -------
    (N, C, OH, OW) array of the dtype of `x`
        float16 is summed in float32.

    Raises
    ------
    ValueError
        If no window fits, or a window could lie in the padding altogether.
    """
    rows, columns = _axes(x.shape, kernel, stride, padding, ceil_mode)
    dtype = sum_dtype(x.dtype)
    n, c, _, width = x.shape
    tall = np.zeros((n, c, rows.windows, width), dtype)
    for o, i in rows.taps:
        tall[:, :, o] += x[:, :, i]
    total = np.zeros((n, c, rows.windows, columns.windows), dtype)
    for o, i in columns.taps:
        total[..., o] += tall[..., i]
    total /= _weights(rows, columns, exclusive, dtype)
    return total.astype(x.dtype, copy=False)


def avg_pool2d_input(
    g: NDArray[Any],
    like: Like,
    *,
    kernel: Pair,
    stride: Pair,
    padding: Padding,
    ceil_mode: bool,
    exclusive: bool,
) -> NDArray[Any]:
    """Adjoint of `avg_pool2d`: each window spreads its share of `g` evenly.

    Parameters
    ----------
    g : (N, C, OH, OW) array
    like : object with `shape` (N, C, H, W) and `dtype`
    kernel, stride, padding, ceil_mode, exclusive
        As in `avg_pool2d`.

    Returns
    -------
    (N, C, H, W) array of the dtype of `g`
    """
    rows, columns = _axes(like.shape, kernel, stride, padding, ceil_mode)
    dtype = sum_dtype(g.dtype)
    n, c, height, width = like.shape
    share = g / _weights(rows, columns, exclusive, dtype)
    tall = np.zeros((n, c, rows.windows, width), dtype)
    for o, i in columns.taps:
        tall[..., i] += share[..., o]
    total = np.zeros((n, c, height, width), dtype)
    for o, i in rows.taps:
        total[:, :, i] += tall[:, :, o]
    return total.astype(g.dtype, copy=False)


@dataclass(frozen=True)
class _Axis:
    """The windows along one axis.

    `taps` holds, for each offset into a window, the windows in which that offset lies inside
    the input, and the elements it meets there.
    """

    starts: NDArray[np.int64]
    elements: NDArray[np.int64]
    elements_and_padding: NDArray[np.int64]
    taps: tuple[tuple[slice, slice], ...]

    @property
    def windows(self) -> int:
        return len(self.starts)


@lru_cache(maxsize=512)
def _axis(size: int, kernel: int, stride: int, padding: Pair, ceil_mode: bool) -> _Axis:
    windows = pool2d_output_size(size, kernel, stride, padding, ceil_mode)
    if size < 1 or windows < 1:
        raise ValueError(
            f"pool2d: a window of {kernel} does not fit into {size} elements with padding {padding}"
        )
    if max(padding) >= kernel:
        raise ValueError(
            f"pool2d: padding {padding} lets a window of {kernel} hold nothing but padding; pad "
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
    return _Axis(starts, inside, stops - starts, tuple(taps))


def _axes(
    shape: tuple[int, ...], kernel: Pair, stride: Pair, padding: Padding, ceil_mode: bool
) -> tuple[_Axis, _Axis]:
    _, _, height, width = shape
    return (
        _axis(height, kernel[0], stride[0], padding[0], ceil_mode),
        _axis(width, kernel[1], stride[1], padding[1], ceil_mode),
    )


def _first_maximum(
    x: NDArray[Any], out: NDArray[Any], rows: _Axis, columns: _Axis
) -> NDArray[np.int64]:
    """Position of the first element of each window that equals its maximum.

    Offset t = kw i + j is the first to match when just t offsets before it do not, so counting
    mismatches up to the first match yields t, and counting them at row ends yields i. Bytes are
    added up, and nothing is selected: selecting (np.where) costs several times as much.
    """
    kh, kw, width = len(rows.taps), len(columns.taps), x.shape[3]
    small = np.min_scalar_type(kh * kw)
    t, i = np.zeros(out.shape, small), np.zeros(out.shape, small)
    missing = np.ones(out.shape, bool)
    has_nan = bool(np.isnan(out).any())
    for row_windows, row_elements in rows.taps:
        for column_windows, column_elements in columns.taps:
            window = (..., row_windows, column_windows)
            elements = x[..., row_elements, column_elements]
            differs = elements != out[window]
            if has_nan:
                differs &= elements == elements
            missing[window] &= differs
            t += missing.view(np.uint8)
        i += missing.view(np.uint8)
    starts = rows.starts[:, None] * width + columns.starts
    index: NDArray[np.int64] = np.add(starts, t)
    index += np.multiply(i, np.int64(width - kw))
    return index


def _weights(rows: _Axis, columns: _Axis, exclusive: bool, dtype: np.dtype[Any]) -> NDArray[Any]:
    """How many elements each window (OH, OW) is divided by."""
    if exclusive:
        weights = np.multiply.outer(rows.elements, columns.elements)
    else:
        weights = np.multiply.outer(rows.elements_and_padding, columns.elements_and_padding)
    return weights.astype(dtype)


def _flat(index: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Positions within planes as positions within the whole (N, C, H, W) array, flattened."""
    n, c, h, w = shape
    planes = np.arange(n * c, dtype=np.int64).reshape(n, c, 1, 1)
    return (index + planes * (h * w)).reshape(-1)
