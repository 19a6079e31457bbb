"""Layers of activation functions: piecewise, softmax and its kin, smooth."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.arguments import LAYOUTS
from autograd_engine.nn.initializer import Constant
from autograd_engine.nn.layer.arguments import (
    Elementwise,
    Plain,
    along,
    choice,
    flag,
    integer,
    number,
    required,
)
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Maxout",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Silu",
    "Softmax",
    "Softmax2D",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Swish",
    "Tanh",
    "Tanhshrink",
    "ThresholdedReLU",
]


class ReLU(Elementwise, function=F.relu):
    """max(x, 0); see `nn.functional.relu`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ReLU()(paddle.to_tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """


class ReLU6(Elementwise, function=F.relu6):
    """min(max(x, 0), 6); see `nn.functional.relu6`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ReLU6()(paddle.to_tensor([-1.0, 2.0, 8.0])).tolist()
    [0.0, 2.0, 6.0]
    """


class LeakyReLU(Plain):
    """x where x >= 0, else negative_slope * x; see `nn.functional.leaky_relu`.

    Parameters
    ----------
    negative_slope : float

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.LeakyReLU(0.5)(paddle.to_tensor([-1.0, 2.0])).tolist()
    [-0.5, 2.0]
    """

    _shown = ("_negative_slope",)

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__(name)
        self._negative_slope = number(self, "negative_slope", negative_slope)

    def forward(self, x: Any) -> Tensor:
        return F.leaky_relu(x, self._negative_slope)


class PReLU(Plain):
    """x where x > 0, else weight * x, with a weight that is learned; see `nn.functional.prelu`.

    Parameters
    ----------
    num_parameters : int
        1 for one slope, or the number of channels for one each.
    init : float
        What the slopes start with.
    weight_attr : ParamAttr, str or Initializer, optional
    data_format : {"NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC"}
        Where the channels are.

    Attributes
    ----------
    _weight : Parameter
        ``[num_parameters]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.PReLU()(paddle.to_tensor([-1.0, 2.0])).tolist()
    [-0.25, 2.0]
    """

    _shown = ("_num_parameters", "_data_format", "_init", "_dtype")

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self._num_parameters = integer(self, "num_parameters", num_parameters)
        self._init = number(self, "init", init)
        self._data_format = choice(self, "data_format", data_format, LAYOUTS)
        self._weight = self.create_parameter(
            [num_parameters],
            attr=required(self, "weight_attr", weight_attr),
            default_initializer=Constant(init),
        )

    def forward(self, x: Any) -> Tensor:
        return F.prelu(x, self._weight, self._data_format)


class RReLU(Plain):
    """x where x >= 0, else a * x, a drawn between two slopes while training, their mean else.

    See `nn.functional.rrelu`.

    Parameters
    ----------
    lower, upper : float
        0 <= lower <= upper <= 1.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.RReLU(0.25, 0.75)
    >>> layer.eval()(paddle.to_tensor([-2.0, 2.0])).tolist()
    [-1.0, 2.0]
    """

    _shown = ("_lower", "_upper", "training", "_dtype")

    def __init__(
        self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None
    ) -> None:
        super().__init__(name)
        self._lower = number(self, "lower", lower, least=0.0)
        self._upper = number(self, "upper", upper, most=1.0)
        if self._lower > self._upper:
            raise ArgumentError(
                f"RReLU: lower must not be above upper, got {lower} and {upper}; exchange them"
            )

    def forward(self, x: Any) -> Tensor:
        return F.rrelu(x, self._lower, self._upper, self.training)


class ELU(Plain):
    """x where x > 0, else alpha * (exp(x) - 1); see `nn.functional.elu`.

    Parameters
    ----------
    alpha : float

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ELU()(paddle.to_tensor([-1000.0, 2.0])).tolist()
    [-1.0, 2.0]
    """

    _shown = ("_alpha",)

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__(name)
        self._alpha = number(self, "alpha", alpha)

    def forward(self, x: Any) -> Tensor:
        return F.elu(x, self._alpha)


class CELU(Plain):
    """x where x > 0, else alpha * (exp(x / alpha) - 1); see `nn.functional.celu`.

    Parameters
    ----------
    alpha : float
        Not 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.CELU(0.5)(paddle.to_tensor([-1000.0, 2.0])).tolist()
    [-0.5, 2.0]
    """

    _shown = ("_alpha",)

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__(name)
        self._alpha = number(self, "alpha", alpha)
        if not self._alpha:
            raise ArgumentError("CELU: alpha must not be 0, x is divided by it; use nn.ReLU()")

    def forward(self, x: Any) -> Tensor:
        return F.celu(x, self._alpha)


class SELU(Plain):
    """scale * elu(x, alpha), with constants for which the moments of layers stay put.

    See `nn.functional.selu`.

    Parameters
    ----------
    scale : float
        Above 1.
    alpha : float
        At least 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.nn.SELU()(paddle.to_tensor([1.0])).item(), 4)
    1.0507
    """

    def __init__(
        self,
        scale: float = 1.0507009873554804934193349852946,
        alpha: float = 1.6732632423543772848170429916717,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self._scale = number(self, "scale", scale, above=1.0)
        self._alpha = number(self, "alpha", alpha, least=0.0)

    def forward(self, x: Any) -> Tensor:
        return F.selu(x, self._scale, self._alpha)

    def extra_repr(self) -> str:
        return self._listed([f"scale={self._scale:.16f}", f"alpha={self._alpha:.16f}"])


class Hardtanh(Plain):
    """x limited to [min, max]; see `nn.functional.hardtanh`.

    Parameters
    ----------
    min, max : float

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Hardtanh()(paddle.to_tensor([-2.0, 0.5, 2.0])).tolist()
    [-1.0, 0.5, 1.0]
    """

    _shown = ("_min", "_max")

    def __init__(self, min: float = -1.0, max: float = 1.0, name: str | None = None) -> None:
        super().__init__(name)
        self._min = number(self, "min", min)
        self._max = number(self, "max", max)
        if self._min > self._max:
            raise ArgumentError(
                f"Hardtanh: min must not be above max, got {min} and {max}; exchange them"
            )

    def forward(self, x: Any) -> Tensor:
        return F.hardtanh(x, self._min, self._max)


class Hardsigmoid(Elementwise, function=F.hardsigmoid):
    """x / 6 + 1/2 limited to [0, 1]; see `nn.functional.hardsigmoid`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Hardsigmoid()(paddle.to_tensor([-4.0, 0.0, 4.0])).tolist()
    [0.0, 0.5, 1.0]
    """


class Hardswish(Elementwise, function=F.hardswish):
    """x * relu6(x + 3) / 6; see `nn.functional.hardswish`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Hardswish()(paddle.to_tensor([0.0, 4.0])).tolist()
    [0.0, 4.0]
    """


class Hardshrink(Plain):
    """x where abs(x) >= threshold, else 0; see `nn.functional.hardshrink`.

    Parameters
    ----------
    threshold : float

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Hardshrink()(paddle.to_tensor([-1.0, 0.25, 1.0])).tolist()
    [-1.0, 0.0, 1.0]
    """

    _shown = ("_threshold",)

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__(name)
        self._threshold = number(self, "threshold", threshold)

    def forward(self, x: Any) -> Tensor:
        return F.hardshrink(x, self._threshold)


class Softshrink(Plain):
    """x moved towards 0 by `threshold`, and 0 on the way; see `nn.functional.softshrink`.

    Parameters
    ----------
    threshold : float
        At least 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Softshrink()(paddle.to_tensor([-1.0, 0.25, 1.0])).tolist()
    [-0.5, 0.0, 0.5]
    """

    _shown = ("_threshold",)

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__(name)
        self._threshold = number(self, "threshold", threshold, least=0.0)

    def forward(self, x: Any) -> Tensor:
        return F.softshrink(x, self._threshold)


class ThresholdedReLU(Plain):
    """x where x > threshold, else `value`; see `nn.functional.thresholded_relu`.

    Parameters
    ----------
    threshold, value : float

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ThresholdedReLU()(paddle.to_tensor([1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    _shown = ("_threshold", "_value")

    def __init__(self, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> None:
        super().__init__(name)
        self._threshold = number(self, "threshold", threshold)
        self._value = number(self, "value", value)

    def forward(self, x: Any) -> Tensor:
        return F.thresholded_relu(x, self._threshold, self._value)


class _Along(Plain):
    """A function along one axis.

    Parameters
    ----------
    axis : int
    """

    _shown = ("_axis",)

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(name)
        self._axis = along(self, "axis", axis)

    def forward(self, x: Any) -> Tensor:
        return self._function(x, self._axis)


class Softmax(_Along, function=F.softmax):
    """exp(x) / sum(exp(x)) along `axis`; see `nn.functional.softmax`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Softmax()(paddle.to_tensor([1000.0, 1000.0])).tolist()
    [0.5, 0.5]
    """


class LogSoftmax(_Along, function=F.log_softmax):
    """log(softmax(x)) along `axis`; see `nn.functional.log_softmax`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.LogSoftmax()(paddle.to_tensor([0.0, -1000.0])).tolist()
    [0.0, -1000.0]
    """


class GLU(_Along, function=F.glu):
    """a * sigmoid(b) with a and b the halves of x along `axis`; see `nn.functional.glu`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.GLU()(paddle.to_tensor([4.0, 0.0])).tolist()
    [2.0]
    """


class Softmax2D(Elementwise):
    """Softmax over the channels of ``[N, C, H, W]`` or ``[C, H, W]``, pixel by pixel.

    Raises
    ------
    ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Softmax2D()(paddle.zeros([2, 1, 1])).tolist()
    [[[0.5]], [[0.5]]]
    """

    def forward(self, x: Any) -> Tensor:
        x = as_operand("Softmax2D", x)
        if spec_of(x).ndim not in (3, 4):
            raise ShapeError(
                "Softmax2D: x must be [N, C, H, W] or [C, H, W], got "
                f"{format_shape(spec_of(x).shape)}; use Softmax(axis) for others"
            )
        return F.softmax(x, -3)


class Maxout(Plain):
    """The maximum of every `groups` neighbours along `axis`; see `nn.functional.maxout`.

    Parameters
    ----------
    groups : int
        Divides the size of the axis, which is divided by it.
    axis : int

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Maxout(2)(paddle.to_tensor([[1.0, 2.0, 4.0, 3.0]])).tolist()
    [[2.0, 4.0]]
    """

    _shown = ("_groups", "_axis")

    def __init__(self, groups: int, axis: int = 1, name: str | None = None) -> None:
        super().__init__(name)
        self._groups = integer(self, "groups", groups)
        self._axis = along(self, "axis", axis)

    def forward(self, x: Any) -> Tensor:
        return F.maxout(x, self._groups, self._axis)


class Sigmoid(Elementwise, function=F.sigmoid):
    """1 / (1 + exp(-x)); see `nn.functional.sigmoid`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Sigmoid()(paddle.to_tensor([0.0])).tolist()
    [0.5]
    """


class LogSigmoid(Elementwise, function=F.log_sigmoid):
    """log(sigmoid(x)), exact where sigmoid(x) is 0; see `nn.functional.log_sigmoid`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.LogSigmoid()(paddle.to_tensor([-1000.0])).tolist()
    [-1000.0]
    """


class Tanh(Elementwise, function=F.tanh):
    """The hyperbolic tangent; see `nn.functional.tanh`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Tanh()(paddle.to_tensor([0.0, 1000.0])).tolist()
    [0.0, 1.0]
    """


class GELU(Plain):
    """x times the probability that a standard normal is below x; see `nn.functional.gelu`.

    Parameters
    ----------
    approximate : bool or {"tanh", "none"}
        Of the probability, by a hyperbolic tangent.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.nn.GELU()(paddle.to_tensor([1.0])).item(), 4)
    0.8413
    """

    _shown = ("_approximate",)

    def __init__(self, approximate: bool | str = False, name: str | None = None) -> None:
        super().__init__(name)
        known = (True, False, "tanh", "none")
        self._approximate = choice(self, "approximate", approximate, known)

    def forward(self, x: Any) -> Tensor:
        return F.gelu(x, self._approximate)


class Silu(Plain):
    """x * sigmoid(x); see `nn.functional.silu`.

    Parameters
    ----------
    inplace : bool
        Make `x` itself the result.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.nn.Silu()(paddle.to_tensor([1.0])).item(), 4)
    0.7311
    """

    _shown = ("_inplace",)

    def __init__(self, inplace: bool = False, name: str | None = None) -> None:
        super().__init__(name)
        self._inplace = flag(self, "inplace", inplace)

    def forward(self, x: Any) -> Tensor:
        return F.silu(x, self._inplace)


SiLU = Silu


class Swish(Elementwise, function=F.swish):
    """x * sigmoid(x), as `Silu`; see `nn.functional.swish`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.nn.Swish()(paddle.to_tensor([1.0])).item(), 4)
    0.7311
    """


class Mish(Elementwise, function=F.mish):
    """x * tanh(softplus(x)); see `nn.functional.mish`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.nn.Mish()(paddle.to_tensor([1.0])).item(), 4)
    0.8651
    """


class Softplus(Plain):
    """log(1 + exp(beta * x)) / beta, and x itself where that is far above 0.

    See `nn.functional.softplus`.

    Parameters
    ----------
    beta : float
        Not 0.
    threshold : float
        x itself is the result where beta * x is above this.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.nn.Softplus()(paddle.to_tensor([0.0])).item(), 4)
    0.6931
    """

    _shown = ("_beta", "_threshold")

    def __init__(self, beta: float = 1, threshold: float = 20, name: str | None = None) -> None:
        super().__init__(name)
        self._beta = number(self, "beta", beta)
        if not self._beta:
            raise ArgumentError("Softplus: beta must not be 0, which x is divided by")
        self._threshold = number(self, "threshold", threshold)

    def forward(self, x: Any) -> Tensor:
        return F.softplus(x, self._beta, self._threshold)


class Softsign(Elementwise, function=F.softsign):
    """x / (1 + abs(x)); see `nn.functional.softsign`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Softsign()(paddle.to_tensor([-1.0, 3.0])).tolist()
    [-0.5, 0.75]
    """


class Tanhshrink(Elementwise, function=F.tanhshrink):
    """x - tanh(x); see `nn.functional.tanhshrink`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Tanhshrink()(paddle.to_tensor([0.0])).tolist()
    [0.0]
    """
