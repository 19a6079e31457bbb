"""What convolution and pooling share: how windows lie along the axes of an image.

And windows as columns, with the adjoint that adds columns up to images.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dtypes import accumulation_dtype
from autograd_engine.core.spec import Like
from autograd_engine.errors import ShapeError

__all__ = ["Ints", "Padding", "Pair", "window_count", "fold_like", "unfold"]

Ints = tuple[int, ...]
Pair = tuple[int, int]
Padding = tuple[Pair, ...]


def window_count(
    size: Any,
    kernel: Any,
    stride: int,
    padding: Pair,
    dilation: int = 1,
    ceil_mode: bool = False,
) -> Any:
    """Number of windows along one axis; plain arithmetic, so `size` may be symbolic.

    With `ceil_mode` the last window may run over the end, but must start inside the input or in
    front of it. Of ceil((before + size + after - kernel + stride) / stride) windows the first
    ceil((before + size) / stride) do so; the smaller number is a single quotient.

    Parameters
    ----------
    size, kernel : int or symbolic size
        Sizes of the input and of the window along the axis.
    stride, dilation : int
    padding : (int, int)
        Before and after the input.
    ceil_mode : bool
        Only with known sizes of the window.

    Returns
    -------
    int or symbolic size
        Below 1 where no window fits.

    Examples
    --------
    >>> window_count(28, 5, 2, (2, 2)), window_count(28, 5, 2, (2, 2), dilation=2)
    (14, 12)
    >>> window_count(6, 3, 2, (0, 0)), window_count(6, 3, 2, (0, 0), ceil_mode=True)
    (2, 3)
    """
    before, after = padding
    reach = dilation * (kernel - 1) + 1
    if ceil_mode:
        return -(-(size + (before + min(after + stride - reach, 0))) // stride)
    return (size + (before + after - reach)) // stride + 1


def _counts(size: Ints, kernel: Ints, stride: Ints, padding: Padding, dilation: Ints) -> Ints:
    counts = tuple(
        window_count(*along) for along in zip(size, kernel, stride, padding, dilation, strict=True)
    )
    if min(counts) < 1:
        raise ShapeError(
            f"unfold: a window of {kernel} with dilation {dilation} does not fit into images of "
            f"{size} with padding {padding}"
        )
    return counts


def _padded(shape: Ints, padding: Padding, dtype: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Zeros around an image, and the view that is the image."""
    sizes = [b + s + a for s, (b, a) in zip(shape[2:], padding, strict=True)]
    inside = [slice(b, b + s) for s, (b, _) in zip(shape[2:], padding, strict=True)]
    image: tuple[Any, ...] = (..., *inside)
    frame = np.zeros((*shape[:2], *sizes), dtype)
    return frame, frame[image]


def _taps(kernel: Ints, counts: Ints, stride: Ints, dilation: Ints) -> list[tuple[Any, Any]]:
    """For each offset into a window, where it is in columns, and the elements that it meets."""
    found: list[tuple[Any, Any]] = []
    for tap in np.ndindex(*kernel):
        met = [
            slice(d * i, d * i + s * o, s)
            for i, o, s, d in zip(tap, counts, stride, dilation, strict=True)
        ]
        found.append(((slice(None), slice(None), *tap), (..., *met)))
    return found


def unfold(
    x: NDArray[Any], *, kernel: Ints, stride: Ints, padding: Padding, dilation: Ints
) -> NDArray[Any]:
    """Each window of (N, C, *size) as a column: (N, C * elements of a window, windows)."""
    counts = _counts(x.shape[2:], kernel, stride, padding, dilation)
    n, c = x.shape[:2]
    frame, image = _padded(x.shape, padding, x.dtype)
    image[...] = x
    out = np.empty((n, c, *kernel, *counts), x.dtype)
    for at, met in _taps(kernel, counts, stride, dilation):
        out[at] = frame[met]
    return out.reshape(n, c * prod(kernel), prod(counts))


def fold_like(
    y: NDArray[Any], like: Like, *, kernel: Ints, stride: Ints, padding: Padding, dilation: Ints
) -> NDArray[Any]:
    """The adjoint of `unfold`: columns added up where windows overlap; float16 in float32."""
    counts = _counts(like.shape[2:], kernel, stride, padding, dilation)
    n, c = like.shape[:2]
    if y.shape != (n, c * prod(kernel), prod(counts)):
        raise ShapeError(
            f"fold: images {like.shape} have columns {(n, c * prod(kernel), prod(counts))}, got "
            f"{y.shape}"
        )
    columns = y.reshape(n, c, *kernel, *counts)
    frame, image = _padded(like.shape, padding, accumulation_dtype(y.dtype))
    for at, met in _taps(kernel, counts, stride, dilation):
        frame[met] += columns[at]
    return image.astype(y.dtype)
