"""Layers that normalise each sample by itself, and a weight by its largest singular value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autograd_engine.core.checks import int_at_least
from autograd_engine.core.dtypes import DTypeLike
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.arguments import LAYOUTS
from autograd_engine.nn.functional.spectral import (
    MOST_STEPS,
    matrix_sizes,
    over_largest_singular_value,
)
from autograd_engine.nn.initializer import Constant, Normal
from autograd_engine.nn.layer.arguments import (
    Plain,
    Unnamed,
    choice,
    flag,
    integer,
    number,
    sequence,
)
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "GroupNorm",
    "LayerNorm",
    "LocalResponseNorm",
    "SpectralNorm",
]


class LayerNorm(Unnamed):
    """The last axes standardised, then scaled and shifted; see `nn.functional.layer_norm`.

    Ba, Kiros and Hinton 2016.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The sizes of those axes.
    epsilon : float
        Added to the variance.
    elementwise_affine : bool
        False for neither weight nor bias.
    bias : bool
        False for no bias.
    device : "cpu", optional
    dtype : dtype, optional
        Of the parameters.
    weight_attr, bias_attr : ParamAttr, str, Initializer or bool, optional
        Ones and zeros by default; False for none.

    Attributes
    ----------
    weight, bias : Parameter or None
        Flat: as many entries as `normalized_shape` has elements.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.LayerNorm(2, epsilon=0)(paddle.to_tensor([[1.0, 3.0]])).tolist()
    [[-1.0, 1.0]]
    """

    _shown = ("_normalized_shape", "_epsilon")

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        epsilon: float = 1e-05,
        *,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: DTypeLike | None = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name, dtype)
        sizes = sequence(normalized_shape)
        self._normalized_shape = [integer(self, "normalized_shape", n) for n in sizes]
        if not sizes:
            raise ArgumentError(
                "LayerNorm: normalized_shape must hold the size of one axis at least"
            )
        self._epsilon = number(self, "epsilon", epsilon, least=0)
        affine = flag(self, "elementwise_affine", elementwise_affine)
        shift = flag(self, "bias", bias)
        entries = [math.prod(self._normalized_shape)]
        self.weight = self.create_parameter(
            entries, weight_attr if affine else False, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter(
            entries, bias_attr if affine and shift else False, is_bias=True
        )
        self.to(device=device)

    def forward(self, input: Any) -> Tensor:
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)


class GroupNorm(Unnamed):
    """Each group of channels of each image standardised; see `nn.functional.group_norm`.

    Parameters
    ----------
    num_groups : int
        Divides `num_channels`.
    num_channels : int
    epsilon : float
        Added to the variance.
    affine : bool
        False for neither weight nor bias.
    device : "cpu", optional
    dtype : dtype, optional
        Of the parameters.
    weight_attr, bias_attr : ParamAttr, str, Initializer or bool, optional
        Ones and zeros by default; False for none.
    data_format : {"NCHW", "NHWC", ...}
        The channels are second, or last.

    Attributes
    ----------
    weight, bias : Parameter or None
        ``[num_channels]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.GroupNorm(2, 4, epsilon=0)
    >>> layer(paddle.to_tensor([[[1.0], [3.0], [5.0], [9.0]]])).flatten().tolist()
    [-1.0, 1.0, -1.0, 1.0]
    """

    _shown = ("_num_groups", "_num_channels", "_epsilon")

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-05,
        *,
        affine: bool = True,
        device: Any = None,
        dtype: DTypeLike | None = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(name, dtype)
        self._num_groups = integer(self, "num_groups", num_groups)
        self._num_channels = integer(self, "num_channels", num_channels)
        if self._num_channels % self._num_groups:
            raise ArgumentError(
                f"GroupNorm: num_groups must divide {num_channels} channels, got {num_groups}"
            )
        self._epsilon = number(self, "epsilon", epsilon, least=0)
        self._data_format = choice(self, "data_format", data_format, LAYOUTS)
        scaled = flag(self, "affine", affine)
        shape = [self._num_channels]
        self.weight = self.create_parameter(
            shape, weight_attr if scaled else False, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter(shape, bias_attr if scaled else False, is_bias=True)
        self.to(device=device)

    def forward(self, input: Any) -> Tensor:
        return F.group_norm(
            input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format
        )


class LocalResponseNorm(Plain):
    """Each element divided by what its neighbours among the channels are.

    See `nn.functional.local_response_norm`.

    Parameters
    ----------
    size : int
        How many neighbours, itself included.
    alpha, beta, k : float
        ``x / (k + alpha * m)**beta``, m the mean square of the neighbours.
    data_format : {"NCHW", "NHWC", ...}
        The channels are second, or last.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.LocalResponseNorm(1, alpha=1.0, beta=1.0)
    >>> layer(paddle.to_tensor([[[1.0], [1.0]]])).tolist()
    [[[0.5], [0.5]]]
    """

    _shown = ("size", "alpha", "beta", "k")
    _shown_unless = (("data_format", "NCHW"),)

    def __init__(
        self,
        size: int,
        alpha: float = 0.0001,
        beta: float = 0.75,
        k: float = 1.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.size = integer(self, "size", size)
        self.alpha = number(self, "alpha", alpha)
        self.beta = number(self, "beta", beta)
        self.k = number(self, "k", k)
        self.data_format = choice(self, "data_format", data_format, LAYOUTS)

    def forward(self, input: Any) -> Tensor:
        return F.local_response_norm(
            input, self.size, self.alpha, self.beta, self.k, self.data_format
        )


class SpectralNorm(Plain):
    """A weight over its largest singular value, as power iteration finds it.

    Each call begins the iteration with the same two vectors, which are random and not trained;
    they are constants to the gradient. Miyato, Kataoka, Koyama and Yoshida 2018.

    Parameters
    ----------
    weight_shape : sequence of int
        Of the weights that it is called with.
    dim : int
        The axis of the rows of the matrix that a weight is taken for.
    power_iters : int
        At least 0; more are nearer to the largest singular value.
    eps : float
        Added to norms, so that they are not 0.
    dtype : dtype
        Of the two vectors.

    Attributes
    ----------
    weight_u, weight_v : Parameter
        As many entries as the matrix has rows, and columns; not trained.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.SpectralNorm([2, 2], power_iters=20)
    >>> out = layer(paddle.to_tensor([[4.0, 0.0], [0.0, 1.0]]))
    >>> round(out[0, 0].item(), 4)
    1.0
    """

    def __init__(
        self,
        weight_shape: Sequence[int],
        dim: int = 0,
        power_iters: int = 1,
        eps: float = 1e-12,
        dtype: DTypeLike = "float32",
    ) -> None:
        super().__init__(dtype=dtype)
        self._weight_shape = [integer(self, "weight_shape", n) for n in sequence(weight_shape)]
        self._dim = integer(self, "dim", dim, least=0)
        if self._dim >= len(self._weight_shape):
            raise ArgumentError(
                f"SpectralNorm: dim {dim} is no axis of weight_shape {self._weight_shape}"
            )
        self._power_iters = int_at_least("SpectralNorm", "power_iters", power_iters, 0, MOST_STEPS)
        self._eps = number(self, "eps", eps, least=0)
        attr = ParamAttr(initializer=Normal(0.0, 1.0), trainable=False)
        rows, columns = matrix_sizes(tuple(self._weight_shape), self._dim)
        self.weight_u = self.create_parameter([rows], attr)
        self.weight_v = self.create_parameter([columns], attr)

    def forward(self, x: Any) -> Tensor:
        x = as_operand("SpectralNorm", x)
        if spec_of(x).shape != tuple(self._weight_shape):
            raise ShapeError(
                f"SpectralNorm: x must have the weight_shape {self._weight_shape}, got "
                f"{format_shape(spec_of(x).shape)}"
            )
        return over_largest_singular_value(
            x, self.weight_u, self.weight_v, self._dim, self._power_iters, self._eps
        )
