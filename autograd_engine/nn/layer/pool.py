"""Layers of pooling along one, two or three axes, the windows being given."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_engine.eager.tensor import Tensor
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.window_arguments import IntOrInts
from autograd_engine.nn.layer.arguments import (
    Unnamed,
    choice,
    flag,
    number,
    padding as checked_padding,
    per_axis,
)
from autograd_engine.nn.layer.spatial import Spatial

__all__ = [
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "LPPool1D",
    "LPPool2D",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
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
