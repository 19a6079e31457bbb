"""Layers that normalise: by running statistics, each sample by itself, or a weight by its norm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autograd_engine import unique_name
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
    named,
    number,
    sequence,
)
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.spatial import Spatial
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "BatchNorm",
    "BatchNorm1D",
    "BatchNorm2D",
    "BatchNorm3D",
    "GroupNorm",
    "InstanceNorm1D",
    "InstanceNorm2D",
    "InstanceNorm3D",
    "LayerNorm",
    "LocalResponseNorm",
    "SpectralNorm",
    "SyncBatchNorm",
]


class _Running(Plain):
    """Weight, bias, and running statistics of each channel."""

    _data_format: str
    _mean: Any
    _variance: Any

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
        shape = [channels]
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter(shape, bias_attr, is_bias=True)
        for attribute, name, start in (
            ("_mean", mean_name, 0.0),
            ("_variance", variance_name, 1.0),
        ):
            full = name or unique_name.generate(f"{self._full_name}.w")
            self.create_buffer(attribute, shape, start, full_name=full)

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


class _BatchNorm(Spatial, _Running):
    _sections = """
    While training it is standardised with the moments of the batch, and the running ones become
    ``momentum * running + (1 - momentum) * moments``; after `eval` with the running ones. In a
    program the first holds, and `Program.clone` with ``for_test=True`` makes one for the second.
    Ioffe and Szegedy 2015.

    Parameters
    ----------
    num_features : int
        C
    momentum : float
        In [0, 1]; how much of the running moments is kept.
    epsilon : float
        Added to the variance.
    weight_attr, bias_attr : ParamAttr, str, Initializer or bool, optional
        Ones and zeros by default; False for none.
    data_format : {$layouts}
    use_global_stats : bool, optional
        Use the running moments; by default when not training.
    name : str, optional
        Also of the running moments, ``<name>_mean`` and ``<name>_variance``.

    Attributes
    ----------
    weight, bias : Parameter or None
        ``[C]``
    _mean, _variance : Tensor
        ``[C]``, the running moments.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.BatchNorm${n}D(3)
    >>> layer(paddle.randn([4, 3, $fives])).shape
    paddle.Size([4, 3, $fives])
    >>> sorted(layer.state_dict())
    ['_mean', '_variance', 'bias', 'weight']
    """

    _shown = ("_num_features", "_momentum", "_epsilon")
    _shown_unless = (("_data_format", "NCHW"),)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self._num_features = integer(self, "num_features", num_features)
        self._data_format = choice(self, "data_format", data_format, self._layouts)
        self._use_global_stats = choice(
            self, "use_global_stats", use_global_stats, (None, True, False)
        )
        mean, variance = (None, None) if name is None else (f"{name}_mean", f"{name}_variance")
        self._make(self._num_features, momentum, epsilon, weight_attr, bias_attr, mean, variance)

    def forward(self, input: Any) -> Tensor:
        x = as_operand(type(self).__name__, input, "input")
        shape = spec_of(x).shape
        flat = "NC" in self._layouts
        if len(shape) != self._axes + 2 and not (flat and len(shape) == 2):
            raise ShapeError(
                f"{type(self).__name__}: input must be {'[N, C] or ' if flat else ''}"
                f"{self._form()}, got {format_shape(shape)}"
            )
        return self._normalized(x, self._use_global_stats)


class BatchNorm1D(_BatchNorm, axes=1):
    """Each channel of ``[N, C]`` or ``[N, C, L]`` standardised over the batch."""

    _layouts = ("NCL", "NC", "NLC")


class BatchNorm2D(_BatchNorm, axes=2):
    """Each channel of images standardised over the batch, then scaled and shifted."""


class BatchNorm3D(_BatchNorm, axes=3):
    """Each channel of volumes standardised over the batch."""


class SyncBatchNorm(_Running):
    """Each channel standardised over the batches of all processes; here there is one.

    Parameters
    ----------
    num_features, momentum, epsilon, data_format, name
        As of `BatchNorm2D`; `data_format` is that of any of its family.
    weight_attr, bias_attr : ParamAttr, str, Initializer or bool, optional
        Ones and zeros by default; with False these stay what they are.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.SyncBatchNorm(3)
    >>> layer(paddle.randn([4, 3, 5])).shape
    paddle.Size([4, 3, 5])
    """

    _shown = ("_num_features", "_momentum", "_epsilon")
    _shown_unless = (("_data_format", "NCHW"),)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self._num_features = integer(self, "num_features", num_features)
        self._data_format = choice(self, "data_format", data_format, LAYOUTS)
        mean, variance = (None, None) if name is None else (f"{name}_mean", f"{name}_variance")
        weight, bias = (None if attr is False else attr for attr in (weight_attr, bias_attr))
        self._make(self._num_features, momentum, epsilon, weight, bias, mean, variance)
        self.weight.stop_gradient = weight_attr is False or self.weight.stop_gradient
        self.bias.stop_gradient = bias_attr is False or self.bias.stop_gradient

    def forward(self, x: Any) -> Tensor:
        return self._normalized(x, None)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """`layer` with a `SyncBatchNorm` for each `BatchNorm1D`, `BatchNorm2D` and `BatchNorm3D`.

        Each has the parameters and running moments of the layer in whose place it is.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(3, 5), paddle.nn.BatchNorm1D(5))
        >>> paddle.nn.SyncBatchNorm.convert_sync_batchnorm(net)
        Sequential(
          (0): Linear(in_features=3, out_features=5, dtype=float32)
          (1): SyncBatchNorm(num_features=5, momentum=0.9, epsilon=1e-05, data_format=NCL)
        )
        """
        converted = layer
        if isinstance(layer, _BatchNorm):
            converted = cls(
                layer._num_features,
                layer._momentum,
                layer._epsilon,
                False if layer.weight is None else None,
                False if layer.bias is None else None,
                layer._data_format,
            )
            converted._name, converted.training = layer._name, layer.training
            converted.weight = converted.weight if layer.weight is None else layer.weight
            converted.bias = converted.bias if layer.bias is None else layer.bias
            converted._mean, converted._variance = layer._mean, layer._variance
        for name, child in list(layer.named_children()):
            converted.add_sublayer(name, cls.convert_sync_batchnorm(child))
        return converted


class BatchNorm(_Running):
    """`BatchNorm2D` of arrays of any number of axes, with an activation if one is named.

    Parameters
    ----------
    num_channels : int
    act : {"relu", "sigmoid", "tanh", "softmax", "gelu"}, optional
    is_test : bool
        Begin as after `eval`.
    momentum, epsilon, bias_attr
        As of `BatchNorm2D`.
    param_attr : ParamAttr, str, Initializer or bool, optional
        Of the weight.
    dtype : dtype
        Of parameters and statistics.
    data_layout : {"NCHW", "NHWC"}
        The channels are second, or last.
    in_place, do_model_average_for_mean_and_var : bool
        Accepted for the reference's sake.
    moving_mean_name, moving_variance_name : str, optional
    use_global_stats, trainable_statistics : bool
        Use the running moments also while training; use those of the batch also after `eval`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.BatchNorm(1, act="relu", epsilon=0)
    >>> layer(paddle.to_tensor([[1.0], [3.0]])).tolist()
    [[0.0], [1.0]]
    """

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: DTypeLike = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        super().__init__(dtype=dtype)
        flag(self, "in_place", in_place)
        model_average = "do_model_average_for_mean_and_var"
        flag(self, model_average, do_model_average_for_mean_and_var)
        known = (None, "relu", "sigmoid", "tanh", "softmax", "gelu")
        self._act = choice(self, "act", act, known)
        self._data_format = choice(self, "data_layout", data_layout, ("NCHW", "NHWC"))
        self._use_global_stats = flag(self, "use_global_stats", use_global_stats)
        self._trainable_statistics = flag(self, "trainable_statistics", trainable_statistics)
        self._make(
            integer(self, "num_channels", num_channels),
            momentum,
            epsilon,
            param_attr,
            bias_attr,
            named(self, moving_mean_name, "moving_mean_name"),
            named(self, moving_variance_name, "moving_variance_name"),
        )
        if flag(self, "is_test", is_test):
            self.training = False

    def forward(self, input: Any) -> Any:
        fixed = self._use_global_stats or not (self.training or self._trainable_statistics)
        out = self._normalized(input, fixed)
        return out if self._act is None else getattr(F, self._act)(out)


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
