"""Layers of pooling of which the number of windows is given, and of maxima put back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.window_arguments import IntOrInts
from autograd_engine.nn.layer.arguments import (
    Unnamed,
    choice,
    flag,
    integer,
    number,
    padding as checked_padding,
    per_axis,
    sequence,
)
from autograd_engine.nn.layer.spatial import Spatial

__all__ = [
    "AdaptiveAvgPool1D",
    "AdaptiveAvgPool2D",
    "AdaptiveAvgPool3D",
    "AdaptiveMaxPool1D",
    "AdaptiveMaxPool2D",
    "AdaptiveMaxPool3D",
    "FractionalMaxPool2D",
    "FractionalMaxPool3D",
    "MaxUnPool1D",
    "MaxUnPool2D",
    "MaxUnPool3D",
]

Sizes: TypeAlias = int | Sequence[int | None] | None


# --- mean


class _AdaptiveAvgPool(Spatial, Unnamed):
    _shown = ("_output_size",)
    _sections = """
    Parameters
    ----------
    output_size : $bins
        Bins along each axis of space; None keeps the size.
    data_format : {$layouts}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0, 4.0]).reshape([1, 1, ${thin}3])
    >>> paddle.nn.AdaptiveAvgPool${n}D([${thin}2])(x).flatten().tolist()
    [1.5, 3.0]
    """

    def __init__(
        self, output_size: Sizes, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(name)
        several = self._axes > 1
        self._output_size = per_axis(self, "output_size", output_size, self._axes, none=several)
        self._data_format = choice(self, "data_format", data_format, self._layouts)

    def forward(self, x: Any) -> Tensor:
        return self._function(x, self._output_size, self._data_format)


class AdaptiveAvgPool1D(_AdaptiveAvgPool, axes=1):
    """The means of `output_size` bins of ``[N, C, L]``."""

    _sections = """
    Parameters
    ----------
    output_size : int

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.AdaptiveAvgPool1D(2)(paddle.to_tensor([[[1.0, 2.0, 4.0]]])).tolist()
    [[[1.5, 3.0]]]
    """

    def __init__(self, output_size: IntOrInts, name: str | None = None) -> None:
        super().__init__(output_size, "NCL", name)

    def forward(self, input: Any) -> Tensor:
        return F.adaptive_avg_pool1d(input, self._output_size)


class AdaptiveAvgPool2D(_AdaptiveAvgPool, axes=2, function=F.adaptive_avg_pool2d):
    """The means of bins that divide the plane; see `nn.functional.adaptive_avg_pool2d`."""


class AdaptiveAvgPool3D(_AdaptiveAvgPool, axes=3, function=F.adaptive_avg_pool3d):
    """The means of bins that divide volumes; see `AdaptiveAvgPool2D`."""


# --- maximum


class _AdaptiveMaxPool(Spatial, Unnamed):
    _shown = ("_output_size", "_return_mask")
    _sections = """
    Parameters
    ----------
    output_size : $bins
        Bins along each axis of space; None keeps the size.
    return_mask : bool
        Return also the position of each maximum in its $image, all axes counted as one.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0, 4.0]).reshape([1, 1, ${thin}3])
    >>> paddle.nn.AdaptiveMaxPool${n}D([${thin}2])(x).flatten().tolist()
    [2.0, 4.0]
    """

    def __init__(
        self, output_size: Sizes, return_mask: bool = False, name: str | None = None
    ) -> None:
        super().__init__(name)
        several = self._axes > 1
        self._output_size = per_axis(self, "output_size", output_size, self._axes, none=several)
        self._return_mask = flag(self, "return_mask", return_mask)

    def forward(self, x: Any) -> Any:
        return self._function(x, self._output_size, self._return_mask)


class AdaptiveMaxPool1D(_AdaptiveMaxPool, axes=1):
    """The maxima of `output_size` bins of ``[N, C, L]``."""

    def forward(self, input: Any) -> Any:
        return F.adaptive_max_pool1d(input, self._output_size, self._return_mask)


class AdaptiveMaxPool2D(_AdaptiveMaxPool, axes=2, function=F.adaptive_max_pool2d):
    """The maxima of bins that divide the plane; see `nn.functional.adaptive_max_pool2d`."""


class AdaptiveMaxPool3D(_AdaptiveMaxPool, axes=3, function=F.adaptive_max_pool3d):
    """The maxima of bins that divide volumes; see `AdaptiveMaxPool2D`."""


# --- fractional: bins of nearly equal sizes, which begin at random


class _FractionalMaxPool(Spatial, Unnamed):
    _shown = ("_output_size", "_return_mask")
    _sections = """
    Parameters
    ----------
    output_size : $bins
        Bins along each axis of space; None keeps the size.
    kernel_size : $ints, optional
        Windows of this size, which may overlap; disjoint bins where None.
    random_u : float, optional
        Above 0 and below 1; drawn in each call where None.
    return_mask : bool
        Return also the position of each maximum in its $image, all axes counted as one.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([2.0, 4.0, 3.0, 1.0]).reshape([1, 1, ${thin}4])
    >>> paddle.nn.$name([${thin}2], random_u=0.5)(x).flatten().tolist()
    [4.0, 3.0]
    """

    def __init__(
        self,
        output_size: Sizes,
        kernel_size: IntOrInts | None = None,
        random_u: float | None = None,
        return_mask: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        axes = self._axes
        self._output_size = per_axis(self, "output_size", output_size, axes, none=True)
        self._kernel_size = (
            None if kernel_size is None else per_axis(self, "kernel_size", kernel_size, axes)
        )
        self._random_u = None if random_u is None else number(self, "random_u", random_u, above=0)
        if random_u is not None and not random_u < 1.0:
            raise ArgumentError(f"{type(self).__name__}: random_u must be below 1, got {random_u}")
        self._return_mask = flag(self, "return_mask", return_mask)

    def forward(self, x: Any) -> Any:
        return self._function(
            x, self._output_size, self._kernel_size, self._random_u, self._return_mask
        )


class FractionalMaxPool2D(_FractionalMaxPool, axes=2, function=F.fractional_max_pool2d):
    """The maximum of each of nearly equal bins; see `nn.functional.fractional_max_pool2d`."""


class FractionalMaxPool3D(_FractionalMaxPool, axes=3, function=F.fractional_max_pool3d):
    """The maximum of each of nearly equal bins of volumes; see `FractionalMaxPool2D`."""


# --- the maxima put back


class _MaxUnPool(Spatial, Unnamed):
    _shown = ("output_size",)
    _sections = """
    See `nn.functional.max_unpool2d`.

    Parameters
    ----------
    kernel_size, stride, padding
        Those of the pooling.
    data_format : {"$layout"}
    output_size : sequence of int, optional
        Of the ${image}s there were; worked out where None.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 3.0, 2.0, 0.0]).reshape([1, 1, ${thin}4])
    >>> pool = paddle.nn.MaxPool${n}D([${thin}2], return_mask=True)
    >>> paddle.nn.MaxUnPool${n}D([${thin}2])(*pool(x)).flatten().tolist()
    [0.0, 3.0, 2.0, 0.0]
    """

    def __init__(
        self,
        kernel_size: IntOrInts,
        stride: IntOrInts | None = None,
        padding: IntOrInts = 0,
        data_format: str = "NCHW",
        output_size: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        axes = self._axes
        self.kernel_size = per_axis(self, "kernel_size", kernel_size, axes)
        self.stride = None if stride is None else per_axis(self, "stride", stride, axes)
        self.padding = checked_padding(self, padding, axes, False)
        self.data_format = choice(self, "data_format", data_format, self._layouts[:1])
        if output_size is not None:
            for n in sequence(output_size):
                integer(self, "output_size", n)
        self.output_size = output_size

    def forward(self, x: Any, indices: Any, output_size: Sequence[int] | None = None) -> Tensor:
        return self._function(
            x,
            indices,
            self.kernel_size,
            self.stride,
            self.padding,
            self.data_format,
            self.output_size if output_size is None else output_size,
        )


class MaxUnPool1D(_MaxUnPool, axes=1, function=F.max_unpool1d):
    """The maxima that `MaxPool1D` found, put back where they were; zeros elsewhere."""


class MaxUnPool2D(_MaxUnPool, axes=2, function=F.max_unpool2d):
    """The maxima that `MaxPool2D` found, put back where they were; zeros elsewhere."""


class MaxUnPool3D(_MaxUnPool, axes=3, function=F.max_unpool3d):
    """The maxima that `MaxPool3D` found, put back where they were; zeros elsewhere."""
