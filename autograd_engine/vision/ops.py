"""``paddle.vision.ops``: deformable convolutions, and boxes around what is in images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_engine.core.lazy import listed
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.functional.deformable_conv import deform_conv2d as deform_conv2d
from autograd_engine.nn.functional.window_arguments import IntOrInts
from autograd_engine.nn.initializer import Normal
from autograd_engine.nn.layer.arguments import integer, number, per_axis, required
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.vision.boxes import (
    box_coder,
    distribute_fpn_proposals,
    generate_proposals,
    matrix_nms,
    nms,
    prior_box,
)
from autograd_engine.vision.regions import psroi_pool, roi_align, roi_pool
from autograd_engine.vision.yolo import yolo_box, yolo_loss

__all__ = [
    "DeformConv2D",
    "PSRoIPool",
    "RoIAlign",
    "RoIPool",
    "box_coder",
    "deform_conv2d",
    "distribute_fpn_proposals",
    "generate_proposals",
    "matrix_nms",
    "nms",
    "prior_box",
    "psroi_pool",
    "roi_align",
    "roi_pool",
    "yolo_box",
    "yolo_loss",
]


if not TYPE_CHECKING:
    from autograd_engine.tensor.spelling.wrapper import spelled_functions

    __getattr__, __dir__ = listed(__name__)
    globals().update(
        spelled_functions({n: v for n, v in globals().items() if n in __all__ and n.islower()})
    )


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


class _OfRegions(Layer):
    """A function of images, boxes and how many of these each image has.

    Parameters
    ----------
    output_size : int or two ints
    spatial_scale : float
    """

    def __init__(self, output_size: IntOrInts, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size = per_axis(self, "output_size", output_size, 2)
        self._spatial_scale = number(self, "spatial_scale", spatial_scale)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


class RoIAlign(_OfRegions):
    """`roi_align` of `output_size` bins.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer, boxes = paddle.vision.ops.RoIAlign(2), paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]])
    >>> layer(paddle.ones([1, 3, 6, 6]), boxes, paddle.to_tensor([1])).shape
    paddle.Size([1, 3, 2, 2])
    """

    def forward(self, x: Any, boxes: Any, boxes_num: Any, aligned: bool = True) -> Tensor:
        return roi_align(
            x, boxes, boxes_num, self._output_size, self._spatial_scale, aligned=aligned
        )


class RoIPool(_OfRegions):
    """`roi_pool` of `output_size` bins.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer, boxes = paddle.vision.ops.RoIPool(2), paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]])
    >>> layer(paddle.ones([1, 3, 6, 6]), boxes, paddle.to_tensor([1])).shape
    paddle.Size([1, 3, 2, 2])
    """

    def forward(self, x: Any, boxes: Any, boxes_num: Any) -> Tensor:
        return roi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)


class PSRoIPool(_OfRegions):
    """`psroi_pool` of `output_size` bins.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer, boxes = paddle.vision.ops.PSRoIPool(2), paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]])
    >>> layer(paddle.ones([1, 12, 6, 6]), boxes, paddle.to_tensor([1])).shape
    paddle.Size([1, 3, 2, 2])
    """

    def forward(self, x: Any, boxes: Any, boxes_num: Any) -> Tensor:
        return psroi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)
