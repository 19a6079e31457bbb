"""What convolution and pooling share: how windows lie along the axes of an image."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

__all__ = ["Ints", "Like", "Padding", "Pair", "sum_dtype", "window_count"]

Ints = tuple[int, ...]
Pair = tuple[int, int]
Padding = tuple[Pair, ...]


class Like(Protocol):
    """What is asked of an argument that only tells the shape and dtype of a result."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...


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


def sum_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that arrays of `dtype` are summed in: float32 for float16, else itself."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype
