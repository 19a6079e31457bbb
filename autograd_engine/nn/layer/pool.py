"""Layers of pooling: windows are given, or their number, or maxima are put back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

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
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "FractionalMaxPool2D",
    "FractionalMaxPool3D",
    "LPPool1D",
    "LPPool2D",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "MaxUnPool1D",
    "MaxUnPool2D",
    "MaxUnPool3D",
]


class _Pool(Spatial, Unnamed):
    """Windows of a size, a stride apart, over images with something around them."""

    _shown: ClassVar[tuple[str, ...]] = ("kernel_size", "stride", "padding")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: bool,
        data_format: str,
        name: str | None,
    ) -> None:
        super().__init__(name)
        axes = self._axes
        self.kernel_size = per_axis(self, "kernel_size", kernel_size, axes)
        self.stride = None if stride is None else per_axis(self, "stride", stride, axes)
        self.ceil_mode = flag(self, "ceil_mode", ceil_mode)
        self.data_format = choice(self, "data_format", data_format, self._layouts)
        self.padding = checked_padding(self, padding, axes, data_format.endswith("C"))


# --- maximum


class _MaxPool(_Pool):
    _sections = """
    Parameters
    ----------
    kernel_size, stride : $ints
        The stride is that of the window where None.
    padding : $pads, pairs, "SAME" or "VALID"
        As of `Conv${n}D`. Padding is never the maximum.
    return_mask : bool
        Return also the position of each maximum in its $image, all axes counted as one.
    ceil_mode : bool
        Whether a last window that runs over the end counts.
    data_format : {$layouts}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 3.0, 2.0, 0.0]).reshape([1, 1, ${thin}4])
    >>> paddle.nn.MaxPool${n}D([${thin}2])(x).flatten().tolist()
    [3.0, 2.0]
    """

    def __init__(
        self,
        kernel_size: IntOrInts,
        stride: IntOrInts | None = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, data_format, name)
        self.return_mask = flag(self, "return_mask", return_mask)

    def forward(self, x: Any) -> Any:
        return self._function(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.return_mask,
            self.ceil_mode,
            self.data_format,
        )


class MaxPool1D(_MaxPool, axes=1):
    """The maximum of each window of ``[N, C, L]``; see `nn.functional.max_pool1d`."""

    _sections = """
    Parameters
    ----------
    kernel_size, stride, padding, return_mask, ceil_mode
        As of `MaxPool2D`, with one int for two.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.MaxPool1D(2)(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
    [[[3.0, 2.0]]]
    """

    def __init__(
        self,
        kernel_size: IntOrInts,
        stride: IntOrInts | None = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, return_mask, ceil_mode, "NCL", name)

    def forward(self, input: Any) -> Any:
        return F.max_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.return_mask, self.ceil_mode
        )


class MaxPool2D(_MaxPool, axes=2, function=F.max_pool2d):
    """The maximum of each window; see `nn.functional.max_pool2d`."""


class MaxPool3D(_MaxPool, axes=3, function=F.max_pool3d):
    """The maximum of each window of volumes; see `nn.functional.max_pool3d`."""


# --- mean


class AvgPool1D(_Pool, axes=1):
    """The mean of each window of ``[N, C, L]``; see `nn.functional.avg_pool1d`."""

    _sections = """
    Parameters
    ----------
    kernel_size, stride, padding, ceil_mode
        As of `MaxPool2D`, with one int for two.
    exclusive : bool
        Padding does not count among the elements that the sum is divided by.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.AvgPool1D(2)(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
    [[[2.0, 1.0]]]
    """

    def __init__(
        self,
        kernel_size: IntOrInts,
        stride: IntOrInts | None = None,
        padding: Any = 0,
        exclusive: bool = True,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, "NCL", name)
        self.exclusive = flag(self, "exclusive", exclusive)

    def forward(self, x: Any) -> Tensor:
        return F.avg_pool1d(
            x, self.kernel_size, self.stride, self.padding, self.exclusive, self.ceil_mode
        )


class _AvgPool(_Pool):
    """Means whose divisor may be given."""

    _sections = """
    Parameters
    ----------
    kernel_size, stride, padding, ceil_mode, data_format
        As of `MaxPool${n}D`.
    exclusive : bool
        Padding does not count among the elements that the sum is divided by.
    divisor_override : float, optional
        Divide by this instead.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 3.0, 2.0, 0.0]).reshape([1, 1, ${thin}4])
    >>> paddle.nn.AvgPool${n}D([${thin}2])(x).flatten().tolist()
    [2.0, 1.0]
    """

    def __init__(
        self,
        kernel_size: IntOrInts,
        stride: IntOrInts | None = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, data_format, name)
        self.exclusive = flag(self, "exclusive", exclusive)
        self.divisor = divisor_override
        if divisor_override is not None:
            self.divisor = number(self, "divisor_override", divisor_override, above=0)

    def forward(self, x: Any) -> Tensor:
        return self._function(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.exclusive,
            self.divisor,
            self.data_format,
        )


class AvgPool2D(_AvgPool, axes=2, function=F.avg_pool2d):
    """The mean of each window; see `nn.functional.avg_pool2d`."""


class AvgPool3D(_AvgPool, axes=3, function=F.avg_pool3d):
    """The mean of each window of volumes; see `nn.functional.avg_pool3d`."""


# --- power means


class _LPPool(_Pool):
    _shown = ("norm_type", "kernel_size", "stride", "padding")
    _sections = """
    Parameters
    ----------
    norm_type : float
        p, above 0; the maximum for infinity.
    kernel_size, stride, padding, ceil_mode
        As of `MaxPool${n}D`.
    data_format : {$layouts}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([3.0, 4.0]).reshape([1, 1, ${thin}2])
    >>> paddle.nn.LPPool${n}D(2, [${thin}2])(x).flatten().tolist()
    [5.0]
    """

    def __init__(
        self,
        norm_type: float,
        kernel_size: IntOrInts,
        stride: IntOrInts | None = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, data_format, name)
        self.norm_type = float(number(self, "norm_type", norm_type, above=0))
        if stride is None and self._axes == 2:
            self.stride = self.kernel_size  # so the reference shows it

    def forward(self, x: Any) -> Tensor:
        return self._function(
            x,
            self.norm_type,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.data_format,
        )


class LPPool1D(_LPPool, axes=1, function=F.lp_pool1d):
    """``(sum x**p)**(1/p)`` over each window of sequences; see `nn.functional.lp_pool2d`."""


class LPPool2D(_LPPool, axes=2, function=F.lp_pool2d):
    """``(sum x**p)**(1/p)`` over each window; see `nn.functional.lp_pool2d`."""


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
