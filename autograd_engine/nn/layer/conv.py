"""Layers of convolution, and of transposed convolution, along one, two or three axes."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autograd_engine.core.dtypes import DTypeLike
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.window_arguments import IntOrInts, ints, paddings
from autograd_engine.nn.initializer import Initializer, Normal
from autograd_engine.nn.layer.arguments import (
    Plain,
    choice,
    flag,
    integer,
    padding as checked_padding,
    per_axis,
    required,
)
from autograd_engine.nn.layer.spatial import Spatial

__all__ = [
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
]

_MODES = ("zeros", "reflect", "replicate", "circular")


class Filters(Spatial, Plain):
    """Filters and a bias, and how they are laid over images."""

    _shown_besides: ClassVar[tuple[str, Any]]  # what the repr says, and what is usual

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        data_format: str,
        dtype: DTypeLike | None,
    ) -> None:
        super().__init__(dtype=dtype)
        owner, axes = type(self).__name__, self._axes
        self._in_channels = integer(self, "in_channels", in_channels)
        self._out_channels = integer(self, "out_channels", out_channels)
        self._groups = integer(self, "groups", groups)
        if self._in_channels % self._groups or self._out_channels % self._groups:
            raise ArgumentError(
                f"{owner}: groups={groups} must divide in_channels and out_channels, "
                f"{in_channels} and {out_channels}"
            )
        self._kernel_size = list(ints(owner, "kernel_size", kernel_size, axes))
        self._stride = list(ints(owner, "stride", stride, axes))
        self._dilation = list(ints(owner, "dilation", dilation, axes))
        self._data_format = choice(self, "data_format", data_format, self._layouts)
        self._padding = checked_padding(self, padding, axes, data_format.endswith("C"))

    def _make(
        self,
        rows: int,
        columns: int,
        weight_attr: Any,
        bias_attr: Any,
        start: Initializer | None = None,
    ) -> None:
        shape = [rows, columns // self._groups, *self._kernel_size]
        attr = required(self, "weight_attr", weight_attr)
        self.weight = self.create_parameter(shape, attr, default_initializer=start)
        self.bias = self.create_parameter([self._out_channels], bias_attr, is_bias=True)

    def extra_repr(self) -> str:
        one = [1] * self._axes
        name, usual = self._shown_besides
        own = getattr(self, name)
        parts = [
            str(self._in_channels),
            str(self._out_channels),
            f"kernel_size={self._kernel_size}",
            *([f"stride={self._stride}"] if self._stride != one else []),
            *([f"padding={self._padding}"] if self._padding != 0 else []),
            *([f"{name.lstrip('_')}={own}"] if own != usual else []),
            *([f"dilation={self._dilation}"] if self._dilation != one else []),
            *([f"groups={self._groups}"] if self._groups != 1 else []),
            f"data_format={self._data_format}",
        ]
        return ", ".join(parts)


class _Conv(Filters):
    _shown_besides = ("_padding_mode", "zeros")
    _sections = """
    Parameters
    ----------
    in_channels, out_channels : int
        Channels of what it takes and gives; `groups` divides both.
    kernel_size, stride, dilation : $ints
    padding : $pads, pairs, "SAME" or "VALID"
    groups : int
    bias : bool
        False for no bias, as with ``bias_attr=False``.
    padding_mode : {"zeros", "reflect", "replicate", "circular"}
        What stands in the padding; see `nn.functional.pad`.
    device : "cpu", optional
    dtype : dtype, optional
        Of the parameters.
    weight_attr, bias_attr : ParamAttr, str or Initializer, optional
        By default the weight is normal with variance 2 / (inputs of a filter), the bias zeros.
    data_format : {$layouts}

    Attributes
    ----------
    weight : Parameter
        ``[out_channels, in_channels / groups, $window]``
    bias : Parameter or None
        ``[out_channels]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Conv${n}D(3, 8, 3, padding=1)(paddle.ones([2, 3, $fives])).shape
    paddle.Size([2, 8, $fives])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrInts,
        stride: IntOrInts = 1,
        padding: Any = 0,
        dilation: IntOrInts = 1,
        groups: int = 1,
        *,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: DTypeLike | None = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, data_format,
            dtype,
        )  # fmt: skip
        self._padding_mode = choice(self, "padding_mode", padding_mode, _MODES)
        self._around = self._pads() if padding_mode != "zeros" else None
        self._make(
            self._out_channels,
            self._in_channels,
            weight_attr,
            bias_attr if flag(self, "bias", bias) else False,
            # He et al. 2015, equation 10, with all channels, whatever the groups.
            Normal(0.0, math.sqrt(2.0 / (self._in_channels * math.prod(self._kernel_size)))),
        )
        self.to(device=device)

    def forward(self, x: Any) -> Tensor:
        padding = self._padding
        if self._around is not None:
            x = F.pad(x, self._around, self._padding_mode, data_format=self._data_format)
            padding = 0
        return self._function(
            x, self.weight, self.bias, self._stride, padding, self._dilation, self._groups,
            self._data_format,
        )  # fmt: skip

    def _pads(self) -> list[int]:
        """What `pad` takes: pairs from the last axis."""
        if isinstance(self._padding, str):
            raise ArgumentError(
                f"{type(self).__name__}: padding_mode {self._padding_mode!r} takes padding as "
                f"numbers, got {self._padding!r}"
            )
        one = (1,) * self._axes
        last = self._data_format.endswith("C")
        pairs = paddings(type(self).__name__, self._padding, one, one, one, one, last)
        return [n for pair in reversed(pairs) for n in pair]


class Conv1D(_Conv, axes=1, function=F.conv1d):
    """Cross-correlation of sequences with filters that are learned; see `nn.functional.conv1d`."""


class Conv2D(_Conv, axes=2, function=F.conv2d):
    """Cross-correlation of images with filters that are learned; see `nn.functional.conv2d`."""


class Conv3D(_Conv, axes=3, function=F.conv3d):
    """Cross-correlation of volumes with filters that are learned; see `nn.functional.conv3d`."""


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
