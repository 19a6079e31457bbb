"""Layers of transposed convolution along one, two or three axes."""

from __future__ import annotations

from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.window_arguments import IntOrInts, ints
from autograd_engine.nn.layer.arguments import per_axis
from autograd_engine.nn.layer.conv import Filters

__all__ = ["Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"]


class _ConvTranspose(Filters):
    _shown_besides = ("output_padding", 0)
    _sections = """
    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, padding, dilation, groups
        Of the convolution that this is the adjoint of; see `Conv${n}D`.
    output_padding : $ints
        Elements more than the least number, below the stride.
    weight_attr, bias_attr : ParamAttr, str or Initializer, optional
        By default Xavier uniform, and zeros.
    data_format : {$layouts}

    Attributes
    ----------
    weight : Parameter
        ``[in_channels, out_channels / groups, $window]``
    bias : Parameter or None
        ``[out_channels]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.Conv${n}DTranspose(3, 8, 2, stride=2)
    >>> x = paddle.ones([2, 3, $twos])
    >>> layer(x).shape
    paddle.Size([2, 8, $fours])
    >>> layer(x, output_size=[$fives]).shape
    paddle.Size([2, 8, $fives])
    """

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
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, data_format,
            None,
        )  # fmt: skip
        more = per_axis(self, "output_padding", output_padding, self._axes, least=0)
        owner = type(self).__name__
        each = ints(owner, "output_padding", more, self._axes, least=0)
        if any(n >= s for n, s in zip(each, self._stride, strict=True) if n):
            raise ArgumentError(
                f"{owner}: output_padding {more} must be below the stride {self._stride}"
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


class Conv1DTranspose(_ConvTranspose, axes=1, function=F.conv1d_transpose):
    """Transposed convolution of sequences; see `nn.functional.conv1d_transpose`."""

    # The reference has `groups` before `dilation` here.
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


class Conv2DTranspose(_ConvTranspose, axes=2, function=F.conv2d_transpose):
    """Transposed convolution of images; see `nn.functional.conv2d_transpose`."""


class Conv3DTranspose(_ConvTranspose, axes=3, function=F.conv3d_transpose):
    """Transposed convolution of volumes; see `nn.functional.conv3d_transpose`."""
