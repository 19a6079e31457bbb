"""Layers that standardise each channel of each sample over its pixels."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.initializer import Constant
from autograd_engine.nn.layer.arguments import Unnamed, choice, integer, number
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["InstanceNorm1D", "InstanceNorm2D", "InstanceNorm3D"]


class _InstanceNorm(Unnamed):
    _shown = ("_num_features", "_epsilon")
    _layouts: ClassVar[tuple[str, ...]]
    _forms: ClassVar[str]

    def __init__(
        self,
        num_features: int,
        epsilon: float,
        momentum: float,
        weight_attr: Any,
        bias_attr: Any,
        data_format: str,
        name: str | None,
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
        if spec_of(x).ndim != len(self._layouts[0]):
            raise ShapeError(
                f"{type(self).__name__}: input must be {self._forms}, got "
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


class InstanceNorm1D(_InstanceNorm):
    """Each channel of each sequence standardised.

    The arguments are those of `InstanceNorm2D`, with `data_format` "NCL" or "NLC".

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.InstanceNorm1D(1, epsilon=0)(paddle.to_tensor([[[1.0, 3.0]]])).tolist()
    [[[-1.0, 1.0]]]
    """

    _layouts = ("NCL", "NLC")
    _forms = "[N, C, L] (or [N, L, C], as data_format says)"

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class InstanceNorm2D(_InstanceNorm):
    """Each channel of each image standardised over its pixels, then scaled and shifted.

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
    data_format : {"NCHW", "NHWC"}

    Attributes
    ----------
    scale, bias : Parameter or None
        ``[C]``

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.InstanceNorm2D(1, epsilon=0)(paddle.to_tensor([[[[1.0, 3.0]]]])).tolist()
    [[[[-1.0, 1.0]]]]
    """

    _layouts = ("NCHW", "NHWC")
    _forms = "[N, C, H, W] (or [N, H, W, C], as data_format says)"

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
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class InstanceNorm3D(_InstanceNorm):
    """Each channel of each volume standardised.

    The arguments are those of `InstanceNorm2D`, with `data_format` "NCDHW" or "NDHWC".

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.InstanceNorm3D(1, epsilon=0)(paddle.to_tensor([[[[[1.0, 3.0]]]]])).tolist()
    [[[[[-1.0, 1.0]]]]]
    """

    _layouts = ("NCDHW", "NDHWC")
    _forms = "[N, C, D, H, W] (or [N, D, H, W, C], as data_format says)"

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)
