"""Layers of transposed convolution along one, two or three axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import per_axis
from autograd_engine.nn.layer.conv import Filters

__all__ = ["Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"]

IntOrInts: TypeAlias = int | Sequence[int]


class _ConvTranspose(Filters):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        output_padding: Any,
        dilation: Any,
        groups: int,
        weight_attr: Any,
        bias_attr: Any,
        data_format: str,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, data_format,
            None,
        )  # fmt: skip
        more = per_axis(self, "output_padding", output_padding, self._axes, least=0)
        if any(n >= s for n, s in zip(self._per_axis(more), self._stride, strict=True) if n):
            raise ArgumentError(
                f"{type(self).__name__}: output_padding {more} must be below the stride "
                f"{self._stride}"
            )
        self.output_padding = more
        self._make(self._in_channels, self._out_channels, weight_attr, bias_attr)

    def forward(self, x: Any, output_size: IntOrInts | None = None) -> Tensor:
        return self._function(
            x,
            self.weight,
            self.bias,
            stride=self._stride,
            padding=self._padding,
            output_padding=self.output_padding if output_size is None else 0,
            dilation=self._dilation,
            groups=self._groups,
            output_size=output_size,
            data_format=self._data_format,
        )

    def _per_axis(self, value: Any) -> list[int]:
        return list(value) if isinstance(value, (list, tuple)) else [value] * self._axes

    def _around_repr(self) -> list[str]:
        more = self.output_padding
        return [f"output_padding={more}"] if more != 0 else []


class Conv1DTranspose(_ConvTranspose):
    """Transposed convolution of sequences; see `nn.functional.conv1d_transpose`.

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, padding, dilation, groups
        Of the convolution that this is the adjoint of; see `Conv1D`.
    output_padding : int
        Elements more than the least number, below the stride.
    weight_attr, bias_attr : ParamAttr, str or Initializer, optional
        By default Xavier uniform, and zeros.
    data_format : {"NCL", "NLC"}

    Attributes
    ----------
    weight : Parameter
        ``[in_channels, out_channels / groups, k]``
    bias : Parameter or None
        ``[out_channels]``

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.Conv1DTranspose(3, 8, 2, stride=2)
    >>> x = paddle.ones([2, 3, 2])
    >>> layer(x).shape
    paddle.Size([2, 8, 4])
    >>> layer(x, output_size=[5]).shape
    paddle.Size([2, 8, 5])
    """

    _axes = 1
    _function = staticmethod(F.conv1d_transpose)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrInts,
        stride: IntOrInts = 1,
        padding: Any = 0,
        output_padding: IntOrInts = 0,
        groups: int = 1,
        dilation: IntOrInts = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation,
            groups, weight_attr, bias_attr, data_format,
        )  # fmt: skip


class Conv2DTranspose(_ConvTranspose):
    """Transposed convolution of images; see `nn.functional.conv2d_transpose`.

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, padding, dilation, groups
        Of the convolution that this is the adjoint of; see `Conv2D`.
    output_padding : int or two ints
        Elements more than the least number, below the stride.
    weight_attr, bias_attr : ParamAttr, str or Initializer, optional
        By default Xavier uniform, and zeros.
    data_format : {"NCHW", "NHWC"}

    Attributes
    ----------
    weight : Parameter
        ``[in_channels, out_channels / groups, kh, kw]``
    bias : Parameter or None
        ``[out_channels]``

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.Conv2DTranspose(3, 8, 2, stride=2)
    >>> x = paddle.ones([2, 3, 2, 2])
    >>> layer(x).shape
    paddle.Size([2, 8, 4, 4])
    >>> layer(x, output_size=[5, 5]).shape
    paddle.Size([2, 8, 5, 5])
    """

    _axes = 2
    _function = staticmethod(F.conv2d_transpose)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrInts,
        stride: IntOrInts = 1,
        padding: Any = 0,
        output_padding: IntOrInts = 0,
        dilation: IntOrInts = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation,
            groups, weight_attr, bias_attr, data_format,
        )  # fmt: skip


class Conv3DTranspose(_ConvTranspose):
    """Transposed convolution of volumes; see `nn.functional.conv3d_transpose`.

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, padding, dilation, groups
        Of the convolution that this is the adjoint of; see `Conv3D`.
    output_padding : int or three ints
        Elements more than the least number, below the stride.
    weight_attr, bias_attr : ParamAttr, str or Initializer, optional
        By default Xavier uniform, and zeros.
    data_format : {"NCDHW", "NDHWC"}

    Attributes
    ----------
    weight : Parameter
        ``[in_channels, out_channels / groups, kd, kh, kw]``
    bias : Parameter or None
        ``[out_channels]``

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.Conv3DTranspose(3, 8, 2, stride=2)
    >>> x = paddle.ones([2, 3, 2, 2, 2])
    >>> layer(x).shape
    paddle.Size([2, 8, 4, 4, 4])
    >>> layer(x, output_size=[5, 5, 5]).shape
    paddle.Size([2, 8, 5, 5, 5])
    """

    _axes = 3
    _function = staticmethod(F.conv3d_transpose)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrInts,
        stride: IntOrInts = 1,
        padding: Any = 0,
        output_padding: IntOrInts = 0,
        dilation: IntOrInts = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation,
            groups, weight_attr, bias_attr, data_format,
        )  # fmt: skip
