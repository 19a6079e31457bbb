"""Layers that standardise each channel of each sample over its pixels."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.initializer import Constant
from autograd_engine.nn.layer.arguments import Unnamed, choice, integer, number
from autograd_engine.nn.layer.spatial import Spatial
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["InstanceNorm1D", "InstanceNorm2D", "InstanceNorm3D"]


class _InstanceNorm(Spatial, Unnamed):
    _shown = ("_num_features", "_epsilon")
    _sections = """
    Ulyanov, Vedaldi and Lempitsky 2016; see `nn.functional.instance_norm`.

    Parameters
    ----------
    num_features : int
        C
    epsilon : float
        Added to the variance.
    momentum : float
        Accepted for the reference's sake: there are no running statistics.
    weight_attr, bias_attr : ParamAttr, str, Initializer or bool, optional
        Ones and zeros by default; both False for neither.
    data_format : {$layouts}

    Attributes
    ----------
    scale, bias : Parameter or None
        ``[C]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 3.0]).reshape([1, 1, ${thin}2])
    >>> paddle.nn.InstanceNorm${n}D(1, epsilon=0)(x).flatten().tolist()
    [-1.0, 1.0]
    """

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self._num_features = integer(self, "num_features", num_features)
        self._epsilon = number(self, "epsilon", epsilon, least=0)
        self._momentum = number(self, "momentum", momentum, least=0, most=1)
        self._data_format = choice(self, "data_format", data_format, self._layouts)
        if (weight_attr is False) != (bias_attr is False):
            raise ArgumentError(
                f"{type(self).__name__}: weight_attr and bias_attr must be False together, got "
                f"{weight_attr!r} and {bias_attr!r}"
            )
        shape = [self._num_features]
        self.scale = self.create_parameter(shape, weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter(shape, bias_attr, is_bias=True)

    def forward(self, input: Any) -> Tensor:
        x = as_operand(type(self).__name__, input, "input")
        if spec_of(x).ndim != self._axes + 2:
            raise ShapeError(
                f"{type(self).__name__}: input must be {self._form()}, got "
                f"{format_shape(spec_of(x).shape)}"
            )
        return F.instance_norm(
            x,
            weight=self.scale,
            bias=self.bias,
            momentum=self._momentum,
            eps=self._epsilon,
            data_format=self._data_format,
        )


class InstanceNorm1D(_InstanceNorm, axes=1):
    """Each channel of each sequence standardised."""


class InstanceNorm2D(_InstanceNorm, axes=2):
    """Each channel of each image standardised over its pixels, then scaled and shifted."""


class InstanceNorm3D(_InstanceNorm, axes=3):
    """Each channel of each volume standardised."""
