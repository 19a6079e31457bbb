"""Batch normalisation: the layers with running statistics."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_engine.dtypes import DTypeLike
from autograd_engine.errors import ShapeError
from autograd_engine.nn import functional as F
from autograd_engine.nn.initializer import Constant
from autograd_engine.nn.layer.arguments import Plain, choice, flag, integer, number
from autograd_engine.spec import format_shape
from autograd_engine.tensor.operand import as_operand, spec_of

__all__ = ["BatchNorm", "BatchNorm1D", "BatchNorm2D", "BatchNorm3D"]

_LAYOUTS = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")
_ACTIVATIONS = ("relu", "sigmoid", "tanh", "softmax", "gelu")


class _Running(Plain):
    """Weight, bias, and running statistics of each channel."""

    _data_format: str

    def _make(
        self,
        channels: int,
        momentum: float,
        epsilon: float,
        weight_attr: Any,
        bias_attr: Any,
        mean_name: str | None,
        variance_name: str | None,
    ) -> None:
        self._momentum = number(self, "momentum", momentum, least=0, most=1)
        self._epsilon = number(self, "epsilon", epsilon, least=0)
        sizes = [channels]
        self.weight = self.create_parameter(sizes, weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter(sizes, bias_attr, is_bias=True)
        self.create_buffer("_mean", sizes, 0.0, full_name=mean_name or self._next_name("w"))
        self.create_buffer("_variance", sizes, 1.0, full_name=variance_name or self._next_name("w"))

    def _normalized(self, x: Any, use_global_stats: bool | None) -> Any:
        return F.batch_norm(
            x,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            self.training,
            self._momentum,
            self._epsilon,
            self._data_format,
            use_global_stats,
        )
