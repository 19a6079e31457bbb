"""Layers of pooling of which the number of windows is given, and of maxima put back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

from autograd_engine.eager.tensor import Tensor
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import (
    LAYOUTS,
    Unnamed,
    choice,
    flag,
    integer,
    padding as checked_padding,
    per_axis,
    sequence,
)

__all__ = [
    "AdaptiveAvgPool1D",
    "AdaptiveAvgPool2D",
    "AdaptiveAvgPool3D",
    "AdaptiveMaxPool1D",
    "AdaptiveMaxPool2D",
    "AdaptiveMaxPool3D",
    "MaxUnPool1D",
    "MaxUnPool2D",
    "MaxUnPool3D",
]

IntOrInts: TypeAlias = int | Sequence[int]
Sizes: TypeAlias = int | Sequence[int | None] | None


# --- mean


class AdaptiveAvgPool1D(Unnamed):
    """The means of `output_size` bins of ``[N, C, L]``.

    Parameters
    ----------
    output_size : int

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.AdaptiveAvgPool1D(2)(paddle.to_tensor([[[1.0, 2.0, 4.0]]])).tolist()
    [[[1.5, 3.0]]]
    """

    _shown = ("_output_size",)

    def __init__(self, output_size: IntOrInts, name: str | None = None) -> None:
        super().__init__(name)
        self._output_size = per_axis(self, "output_size", output_size, 1)

    def forward(self, input: Any) -> Tensor:
        return F.adaptive_avg_pool1d(input, self._output_size)


class AdaptiveAvgPool2D(Unnamed):
    """The means of bins that divide the plane; see `nn.functional.adaptive_avg_pool2d`.

    Parameters
    ----------
    output_size : int, or two ints or None
        Bins along height and width; None keeps the size.
    data_format : {"NCHW", "NHWC"}

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.AdaptiveAvgPool2D([None, 2])
    >>> layer(paddle.to_tensor([[[[1.0, 2.0, 4.0]]]])).tolist()
    [[[[1.5, 3.0]]]]
    """

    _shown = ("_output_size",)

    def __init__(
        self, output_size: Sizes, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(name)
        self._output_size = per_axis(self, "output_size", output_size, 2, none=True)
        self._data_format = choice(self, "data_format", data_format, ("NCHW", "NHWC"))

    def forward(self, x: Any) -> Tensor:
        return F.adaptive_avg_pool2d(x, self._output_size, self._data_format)


class AdaptiveAvgPool3D(Unnamed):
    """The means of bins that divide volumes; see `AdaptiveAvgPool2D`.

    Parameters
    ----------
    output_size : int, or three ints or None
    data_format : {"NCDHW", "NDHWC"}

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.AdaptiveAvgPool3D(1)(paddle.ones([1, 1, 2, 3, 4])).tolist()
    [[[[[1.0]]]]]
    """

    _shown = ("_output_size",)

    def __init__(
        self, output_size: Sizes, data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(name)
        self._output_size = per_axis(self, "output_size", output_size, 3, none=True)
        self._data_format = choice(self, "data_format", data_format, ("NCDHW", "NDHWC"))

    def forward(self, x: Any) -> Tensor:
        return F.adaptive_avg_pool3d(x, self._output_size, self._data_format)


# --- maximum


class _AdaptiveMaxPool(Unnamed):
    _shown = ("_output_size", "_return_mask")
    _axes: ClassVar[int]

    def __init__(
        self, output_size: Sizes, return_mask: bool = False, name: str | None = None
    ) -> None:
        super().__init__(name)
        several = self._axes > 1
        self._output_size = per_axis(self, "output_size", output_size, self._axes, none=several)
        self._return_mask = flag(self, "return_mask", return_mask)


class AdaptiveMaxPool1D(_AdaptiveMaxPool):
    """The maxima of `output_size` bins of ``[N, C, L]``.

    Parameters
    ----------
    output_size : int
    return_mask : bool
        Return also where each maximum is.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.AdaptiveMaxPool1D(2)(paddle.to_tensor([[[1.0, 2.0, 4.0]]])).tolist()
    [[[2.0, 4.0]]]
    """

    _axes = 1

    def forward(self, input: Any) -> Any:
        return F.adaptive_max_pool1d(input, self._output_size, self._return_mask)


class AdaptiveMaxPool2D(_AdaptiveMaxPool):
    """The maxima of bins that divide the plane; see `nn.functional.adaptive_max_pool2d`.

    Parameters
    ----------
    output_size : int, or two ints or None
        Bins along height and width; None keeps the size.
    return_mask : bool
        Return also the position ``h * W + w`` of each maximum in its plane.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.AdaptiveMaxPool2D([1, 2])(paddle.to_tensor([[[[1.0, 2.0, 4.0]]]])).tolist()
    [[[[2.0, 4.0]]]]
    """

    _axes = 2

    def forward(self, x: Any) -> Any:
        return F.adaptive_max_pool2d(x, self._output_size, self._return_mask)


class AdaptiveMaxPool3D(_AdaptiveMaxPool):
    """The maxima of bins that divide volumes; see `AdaptiveMaxPool2D`.

    Parameters
    ----------
    output_size : int, or three ints or None
    return_mask : bool

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.AdaptiveMaxPool3D(1)(paddle.ones([1, 1, 2, 3, 4])).tolist()
    [[[[[1.0]]]]]
    """

    _axes = 3

    def forward(self, x: Any) -> Any:
        return F.adaptive_max_pool3d(x, self._output_size, self._return_mask)


# --- the maxima put back


class _MaxUnPool(Unnamed):
    _shown = ("output_size",)
    _axes: ClassVar[int]
    _function: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        data_format: str,
        output_size: Any,
        name: str | None,
    ) -> None:
        super().__init__(name)
        axes = self._axes
        self.kernel_size = per_axis(self, "kernel_size", kernel_size, axes)
        self.stride = None if stride is None else per_axis(self, "stride", stride, axes)
        self.padding = checked_padding(self, padding, axes, False)
        self.data_format = choice(self, "data_format", data_format, LAYOUTS[axes][:1])
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


class MaxUnPool1D(_MaxUnPool):
    """The maxima that `MaxPool1D` found, put back where they were; zeros elsewhere.

    Parameters
    ----------
    kernel_size, stride, padding
        Those of the pooling.
    data_format : {"NCL"}
    output_size : sequence of int, optional
        Of the sequences there were; worked out where None.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> pool, back = paddle.nn.MaxPool1D(2, return_mask=True), paddle.nn.MaxUnPool1D(2)
    >>> back(*pool(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]))).tolist()
    [[[0.0, 3.0, 2.0, 0.0]]]
    """

    _axes = 1
    _function = staticmethod(F.max_unpool1d)

    def __init__(
        self,
        kernel_size: IntOrInts,
        stride: IntOrInts | None = None,
        padding: IntOrInts = 0,
        data_format: str = "NCL",
        output_size: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)


class MaxUnPool2D(_MaxUnPool):
    """The maxima that `MaxPool2D` found, put back where they were; zeros elsewhere.

    See `nn.functional.max_unpool2d`.

    Parameters
    ----------
    kernel_size, stride, padding
        Those of the pooling.
    data_format : {"NCHW"}
    output_size : sequence of int, optional
        Of the images there were; worked out where None.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> pool, back = paddle.nn.MaxPool2D(2, return_mask=True), paddle.nn.MaxUnPool2D(2)
    >>> back(*pool(paddle.arange(4.0).reshape([1, 1, 2, 2]))).tolist()
    [[[[0.0, 0.0], [0.0, 3.0]]]]
    """

    _axes = 2
    _function = staticmethod(F.max_unpool2d)

    def __init__(
        self,
        kernel_size: IntOrInts,
        stride: IntOrInts | None = None,
        padding: IntOrInts = 0,
        data_format: str = "NCHW",
        output_size: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)


class MaxUnPool3D(_MaxUnPool):
    """The maxima that `MaxPool3D` found, put back where they were; zeros elsewhere.

    Parameters
    ----------
    kernel_size, stride, padding
        Those of the pooling.
    data_format : {"NCDHW"}
    output_size : sequence of int, optional
        Of the volumes there were; worked out where None.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> pool, back = paddle.nn.MaxPool3D(2, return_mask=True), paddle.nn.MaxUnPool3D(2)
    >>> back(*pool(paddle.ones([1, 1, 2, 2, 2]))).sum().item()
    1.0
    """

    _axes = 3
    _function = staticmethod(F.max_unpool3d)

    def __init__(
        self,
        kernel_size: IntOrInts,
        stride: IntOrInts | None = None,
        padding: IntOrInts = 0,
        data_format: str = "NCDHW",
        output_size: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)
