"""``paddle.vision.ops``: deformable convolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_engine.core.lazy import lazily
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.functional.deformable_conv import deform_conv2d as deform_conv2d
from autograd_engine.nn.functional.window_arguments import IntOrInts
from autograd_engine.nn.initializer import Normal
from autograd_engine.nn.layer.arguments import integer, per_axis, required
from autograd_engine.nn.layer.base.layer import Layer

__all__ = ["DeformConv2D", "deform_conv2d"]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, {})


class DeformConv2D(Layer):
    """A convolution of which each element of a window is moved; see `deform_conv2d`.

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, padding, dilation : int or two ints
    deformable_groups, groups : int
    weight_attr, bias_attr : ParamAttr, str or Initializer, optional
        ``bias_attr=False`` for no bias.

    Attributes
    ----------
    weight : Parameter
        ``[out_channels, in_channels / groups, kh, kw]``
    bias : Parameter or None
        ``[out_channels]``

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.vision.ops.DeformConv2D(1, 4, 3)
    >>> layer(paddle.ones([2, 1, 6, 6]), paddle.zeros([2, 18, 4, 4])).shape
    paddle.Size([2, 4, 4, 4])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrInts,
        stride: IntOrInts = 1,
        padding: IntOrInts = 0,
        dilation: IntOrInts = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        rows, columns = (
            integer(self, "out_channels", out_channels),
            integer(self, "in_channels", in_channels),
        )
        self._groups = integer(self, "groups", groups)
        self._deformable_groups = integer(self, "deformable_groups", deformable_groups)
        for argument, count in (("groups", groups), ("deformable_groups", deformable_groups)):
            if columns % count:
                raise ArgumentError(
                    f"DeformConv2D: {argument}={count} must divide in_channels, {columns}"
                )
        self._stride, self._dilation = stride, dilation
        self._padding = padding
        kernel = per_axis(self, "kernel_size", kernel_size, 2)
        kernel = [kernel] * 2 if isinstance(kernel, int) else list(kernel)
        shape = [rows, columns // self._groups, *kernel]
        start = Normal(0.0, (2.0 / (kernel[0] * kernel[1] * columns)) ** 0.5)
        attr = required(self, "weight_attr", weight_attr)
        self.weight = self.create_parameter(shape, attr, default_initializer=start)
        self.bias = self.create_parameter([rows], bias_attr, is_bias=True)

    def forward(self, x: Any, offset: Any, mask: Any = None) -> Tensor:
        return deform_conv2d(
            x,
            offset,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._dilation,
            self._deformable_groups,
            self._groups,
            mask,
        )
