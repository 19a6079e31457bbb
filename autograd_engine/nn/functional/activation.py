"""Activations: made of pieces, smooth, and those in which elements compete along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_engine.core.checks import positive_int
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import DTypeLike, to_numpy
from autograd_engine.core.spec import along, format_shape, may_equal, normalize_axis
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import (
    LAYOUTS,
    above_zero,
    as_floats,
    check_number,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import axis_of, factor
from autograd_engine.tensor.spelling.inplace import in_place

__all__ = [
    "celu",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_sigmoid",
    "log_softmax",
    "logsigmoid",
    "maxout",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softmax_",
    "softplus",
    "softshrink",
    "softsign",
    "swiglu",
    "swish",
    "tanh",
    "tanh_",
    "tanhshrink",
    "thresholded_relu",
    "thresholded_relu_",
]

# --- pieces: rectifiers, shrinkages, clipped lines

_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_ALPHA = 1.6732632423543772848170429916717


def relu(x: Any, name: str | None = None) -> Tensor:
    """max(x, 0); the gradient at 0 is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> relu(paddle.to_tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return ops.relu(x)


def relu6(x: Any, name: str | None = None) -> Tensor:
    """min(max(x, 0), 6); the gradient at both kinks is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> relu6(paddle.to_tensor([-1.0, 2.0, 8.0])).tolist()
    [0.0, 2.0, 6.0]
    """
    return ops.hardtanh(as_floats("relu6", x), low=0.0, high=6.0)


@atomic
def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """x where x >= 0, else negative_slope * x; the gradient at 0 is 1.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> leaky_relu(paddle.to_tensor([-1.0, 2.0]), 0.5).tolist()
    [-0.5, 2.0]
    """
    slope = check_number("leaky_relu", "negative_slope", negative_slope)
    return ops.leaky_relu(as_floats("leaky_relu", x), negative_slope=slope)


@atomic
def prelu(x: Any, weight: Any, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """x where x > 0, else weight * x (He, Zhang, Ren and Sun 2015); the slope at 0 is the weight.

    Parameters
    ----------
    x : Tensor or Variable
        Of any shape for one weight; with a weight for each channel ``[N, C, ...]``, or
        ``[N, ..., C]``, as `data_format` says.
    weight : Tensor or Variable
        Of shape ``[]``, ``[1]`` or ``[C]``.
    data_format : str
        "NC", "NCL", "NCHW", "NCDHW", or "NLC", "NHWC", "NDHWC".

    Raises
    ------
    ArgumentError, ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[-2.0, -2.0], [1.0, 1.0]])
    >>> prelu(x, paddle.to_tensor([0.5, 0.25]), "NC").tolist()
    [[-1.0, -0.5], [1.0, 1.0]]
    """
    x, weight = as_floats("prelu", x), as_floats("prelu", weight, "weight")
    if data_format not in LAYOUTS:
        raise ArgumentError(
            f"prelu: data_format must be one of {', '.join(LAYOUTS)}; got {data_format!r}"
        )
    have, sizes = spec_of(x).shape, spec_of(weight).shape
    if sizes not in ((), (1,)):
        axis = 1 if data_format[1] == "C" else len(have) - 1
        if len(have) < 2 or not may_equal(sizes, (have[axis],)):
            raise ShapeError(
                f"prelu: weight must have one entry, or one for each channel of x; x is "
                f"{format_shape(have)} ({data_format}), weight is {format_shape(sizes)}"
            )
        weight = ops.reshape(weight, shape=along(len(have), axis))
    elif sizes:
        weight = ops.squeeze(weight, axis=(0,))
    above = ops.greater_than(x, 0.0)
    # The product is taken where it counts: of what is above, inf would give the weight 0 * inf.
    return ops.where(above, x, ops.where(above, 0.0, x) * weight)


@atomic
def rrelu(
    x: Any,
    lower: float = 1.0 / 8.0,
    upper: float = 1.0 / 3.0,
    training: bool = True,
    name: str | None = None,
) -> Tensor:
    """x where x >= 0, else a * x with a drawn for each element, uniform on [lower, upper].

    When not training, a is (lower + upper) / 2. The gradient at 0 is 1. Xu, Wang, Chen and Li 2015.

    Raises
    ------
    ArgumentError
        Unless 0 <= lower <= upper <= 1.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> rrelu(paddle.to_tensor([-2.0, 2.0]), 0.25, 0.75, training=False).tolist()
    [-1.0, 2.0]
    """
    low, high = check_number("rrelu", "lower", lower), check_number("rrelu", "upper", upper)
    if not 0.0 <= low <= high <= 1.0:
        raise ArgumentError(f"rrelu: 0 <= lower <= upper <= 1 must hold, got {lower} and {upper}")
    x = as_floats("rrelu", x)
    slope = ops.uniform_like(x, low=low, high=high) if training else (low + high) / 2.0
    return ops.where(ops.less_than(x, 0.0), x * slope, x)


def elu(x: Any, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """x where x > 0, else alpha * (exp(x) - 1); the gradient at 0 is `alpha`.

    Clevert, Unterthiner and Hochreiter 2015.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> elu(paddle.to_tensor([-1000.0, 2.0])).tolist()
    [-1.0, 2.0]
    """
    return ops.elu(x, alpha=check_number("elu", "alpha", alpha))


def selu(
    x: Any, scale: float = _SELU_SCALE, alpha: float = _SELU_ALPHA, name: str | None = None
) -> Tensor:
    """scale * elu(x, alpha), with constants for which the moments of layers stay put.

    Klambauer, Unterthiner, Mayr and Hochreiter 2017. The gradient at 0 is scale * alpha.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(selu(paddle.to_tensor([1.0])).item(), 4)
    1.0507
    """
    if check_number("selu", "scale", scale) <= 1.0:
        raise ArgumentError(f"selu: scale must be above 1, got {scale}; use elu for other scales")
    if check_number("selu", "alpha", alpha) < 0.0:
        raise ArgumentError(f"selu: alpha must not be negative, got {alpha}")
    return ops.selu(x, alpha=float(alpha), scale=float(scale))


def celu(x: Any, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """x where x > 0, else alpha * (exp(x / alpha) - 1), of slope 1 at 0 (Barron 2017).

    Parameters
    ----------
    alpha : float
        Not 0. What is below 0 tends to -alpha; where alpha is negative it falls exponentially.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> celu(paddle.to_tensor([-1000.0, 2.0]), 0.5).tolist()
    [-0.5, 2.0]
    """
    alpha = check_number("celu", "alpha", alpha)
    if not alpha:
        raise ArgumentError("celu: alpha must not be 0, x is divided by it; use relu(x)")
    return ops.celu(as_floats("celu", x), alpha=alpha)


@atomic
def hardtanh(x: Any, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """x limited to [min, max]; the gradient on both edges is 0, where that of `clip` is 1.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> hardtanh(paddle.to_tensor([-2.0, 0.5, 2.0])).tolist()
    [-1.0, 0.5, 1.0]
    """
    low, high = check_number("hardtanh", "min", min), check_number("hardtanh", "max", max)
    return ops.hardtanh(as_floats("hardtanh", x), low=low, high=high)


@atomic
def hardsigmoid(
    x: Any, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None
) -> Tensor:
    """slope * x + offset limited to [0, 1]; the gradient on both edges is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> hardsigmoid(paddle.to_tensor([-4.0, 0.0, 4.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    x = as_floats("hardsigmoid", x)
    if slope.__class__ is float is offset.__class__:
        return ops.hardsigmoid(x, slope=slope, offset=offset)
    slope, offset = factor("hardsigmoid", "slope", slope), factor("hardsigmoid", "offset", offset)
    return hardtanh(x * slope + offset, 0.0, 1.0)


def hardswish(x: Any, name: str | None = None) -> Tensor:
    """x * relu6(x + 3) / 6 (Howard and others 2019); the gradient is 0 at -3 and 1 at 3.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> hardswish(paddle.to_tensor([-4.0, 0.0, 4.0])).tolist()
    [-0.0, 0.0, 4.0]
    """
    return ops.hardswish(as_floats("hardswish", x))


def hardshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """x where abs(x) >= threshold, else 0; the gradient at the threshold is 1.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> hardshrink(paddle.to_tensor([-1.0, 0.25, 1.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    threshold = check_number("hardshrink", "threshold", threshold)
    return ops.hardshrink(as_floats("hardshrink", x), threshold=threshold)


def softshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """x moved towards 0 by `threshold`, and 0 on the way; the gradient at the threshold is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> softshrink(paddle.to_tensor([-1.0, 0.25, 1.0])).tolist()
    [-0.5, 0.0, 0.5]
    """
    threshold = check_number("softshrink", "threshold", threshold)
    if threshold < 0.0:
        raise ArgumentError(f"softshrink: threshold must not be negative, got {threshold}")
    return ops.softshrink(as_floats("softshrink", x), threshold=threshold)


@atomic
def thresholded_relu(
    x: Any, threshold: float = 1.0, value: float = 0.0, name: str | None = None
) -> Tensor:
    """x where x > threshold, else `value`; the gradient at the threshold is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> thresholded_relu(paddle.to_tensor([1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    x = as_floats("thresholded_relu", x)
    return ops.where(ops.less_equal(x, threshold), value, x)


# --- smooth: made of exponentials, written so that none overflows


def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)), without overflow at either end."""
    return ops.sigmoid(x)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), which is x far below 0 and never the logarithm of 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> log_sigmoid(paddle.to_tensor([-1000.0])).tolist()
    [-1000.0]
    """
    return ops.log_sigmoid(x)


logsigmoid = log_sigmoid


def tanh(x: Any, name: str | None = None) -> Tensor:
    """Hyperbolic tangent."""
    return ops.tanh(x)


def gelu(x: Any, approximate: bool | str = False, name: str | None = None) -> Tensor:
    """x times the normal distribution function at x, or its approximation by tanh.

    Hendrycks and Gimpel 2016.

    Parameters
    ----------
    x : Tensor or Variable
    approximate : bool or {"tanh", "none"}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> gelu(paddle.to_tensor([0.0])).tolist()
    [0.0]
    """
    if approximate not in (True, False, "tanh", "none"):
        raise ArgumentError(
            f"gelu: approximate must be a bool, 'tanh' or 'none', got {approximate!r}"
        )
    if approximate in (False, "none"):
        out, _ = ops.gelu(x)
        return out
    return ops.gelu_tanh(x)


def silu(x: Any, inplace: bool = False, name: str | None = None) -> Tensor:
    """x * sigmoid(x) (Elfwing, Uchibe and Doya 2017).

    Parameters
    ----------
    x : Tensor or Variable
    inplace : bool
        Make `x` itself the result.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> silu(paddle.to_tensor([0.0, 1000.0])).tolist()
    [0.0, 1000.0]
    """
    if inplace:
        return in_place("silu", silu, instead="y = F.silu(x)")(x)
    return ops.silu(x)


def swish(x: Any, name: str | None = None) -> Tensor:
    """x * sigmoid(x), another name of `silu` (Ramachandran, Zoph and Le 2017)."""
    return ops.silu(x)


def mish(x: Any, name: str | None = None) -> Tensor:
    """x * tanh(log(1 + exp(x))) (Misra 2019).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> mish(paddle.to_tensor([0.0, 1000.0])).tolist()
    [0.0, 1000.0]
    """
    return ops.mish(as_floats("mish", x))[0]


@atomic
def softplus(x: Any, beta: float = 1, threshold: float = 20, name: str | None = None) -> Tensor:
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(softplus(paddle.to_tensor([0.0])).item(), 4)
    0.6931
    """
    if check_number("softplus", "beta", beta) == 0.0:
        raise ArgumentError("softplus: beta must not be 0")
    x = as_floats("softplus", x)
    inner = x if beta == 1 else x * float(beta)
    out = ops.softplus(inner)
    if beta == 1 and threshold >= 20 and spec_of(x).dtype.itemsize <= 4:
        return out  # which is x there, rounded, and of slope 1
    out = out if beta == 1 else out / float(beta)
    return ops.where(ops.greater_than(inner, float(threshold)), x, out)


def softsign(x: Any, name: str | None = None) -> Tensor:
    """x / (1 + abs(x))

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> softsign(paddle.to_tensor([-1.0, 3.0])).tolist()
    [-0.5, 0.75]
    """
    x = as_floats("softsign", x)
    return x / (ops.abs(x) + 1.0)


def tanhshrink(x: Any, name: str | None = None) -> Tensor:
    """x - tanh(x)

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> tanhshrink(paddle.to_tensor([0.0])).tolist()
    [0.0]
    """
    x = as_floats("tanhshrink", x)
    return x - ops.tanh(x)


# --- along an axis: softmax, gates, maxima of groups


def _along(name: str, x: Any, axis: int, dtype: DTypeLike | None) -> Any:
    x = as_operand(name, x)
    if dtype is not None:
        x = ops.cast(x, dtype=to_numpy(dtype).name)
    axis = axis_of(name, x, axis, scalars=True)
    function = getattr(ops, name)
    if x.ndim:
        return function(x, axis=axis)
    return _line_by_line(lambda lines: function(lines, axis=axis), x)


def _line_by_line(function: Callable[[Any], Any], x: Any) -> Any:
    """A function of lines; a 0-d array is one of one element."""
    if spec_of(x).ndim:
        return function(x)
    return ops.reshape(function(ops.reshape(x, shape=(1,))), shape=())


@atomic
def softmax(
    x: Any, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """exp(x) / sum(exp(x)) along `axis`, computed without overflow.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> softmax(paddle.to_tensor([1000.0, 1000.0])).tolist()
    [0.5, 0.5]
    """
    return _along("softmax", x, axis, dtype)


@atomic
def log_softmax(
    x: Any, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """log(softmax(x)) along `axis`, computed without overflow or log(0)."""
    return _along("log_softmax", x, axis, dtype)


@atomic
def gumbel_softmax(
    x: Any,
    temperature: float = 1.0,
    hard: bool = False,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """A sample of the distribution that the logits `x` have along `axis`, made differentiable.

    Parameters
    ----------
    x : Tensor or Variable
        Logits.
    temperature : float
        Above 0; small ones bring the sample near to one-hot.
    hard : bool
        Return the one-hot vector of the maximum, with the gradient that the soft sample has.

    Raises
    ------
    ArgumentError, ShapeError

    Notes
    -----
    softmax((x + g) / temperature) with standard Gumbel noise g: Jang, Gu and Poole 2016; Maddison,
    Mnih and Teh 2016.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> sample = gumbel_softmax(paddle.zeros([2, 3]), hard=True)
    >>> paddle.sum(sample, axis=1).tolist()
    [1.0, 1.0]
    """
    op = "gumbel_softmax"
    temperature = above_zero(op, "temperature", temperature)
    x = as_floats(op, x)
    axis = axis_of(op, x, axis, scalars=True)

    def sample(x: Any) -> Any:
        noise = ops.random_like(x, distribution="gumbel", a=0.0, b=1.0)
        soft = ops.softmax((x + noise) / temperature, axis=axis)
        return ops.straight_through(soft, axis=axis) if hard else soft

    return _line_by_line(sample, x)


def _halves(op: str, x: Any, axis: int) -> list[Any]:
    shape = spec_of(x).shape
    if not shape:
        raise ShapeError(f"{op}: takes one dimension or more, got a 0-d array")
    axis = normalize_axis(op, axis, len(shape))
    size = shape[axis]
    if isinstance(size, Dim) or size % 2:
        raise ShapeError(
            f"{op}: axis {axis} of {format_shape(shape)} is cut in halves, so its size must be "
            "known and even"
        )
    return list(ops.split(x, sizes=(size // 2, size // 2), axis=axis))


@atomic
def glu(x: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """a * sigmoid(b) with a and b the halves of `x` along `axis` (Dauphin and others 2016).

    Raises
    ------
    ShapeError
        When the axis has an odd or unknown size.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> glu(paddle.to_tensor([4.0, 0.0])).tolist()
    [2.0]
    """
    a, b = _halves("glu", as_floats("glu", x), axis)
    return a * ops.sigmoid(b)


@atomic
def swiglu(x: Any, y: Any = None, name: str | None = None) -> Tensor:
    """silu(x) * y; without `y`, the halves of `x` along its last axis (Shazeer 2020).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> swiglu(paddle.to_tensor([1000.0, 2.0])).tolist()
    [2000.0]
    """
    x = as_floats("swiglu", x)
    if y is None:
        x, y = _halves("swiglu", x, -1)
    return ops.silu(x) * as_floats("swiglu", y, "y")


@atomic
def maxout(x: Any, groups: int, axis: int = 1, name: str | None = None) -> Tensor:
    """The maximum of every `groups` neighbours along `axis`; of a tie the first has the gradient.

    Goodfellow, Warde-Farley, Mirza, Courville and Bengio 2013.

    Parameters
    ----------
    x : Tensor or Variable
    groups : int
        Divides the size of the axis, which is divided by it.

    Raises
    ------
    ArgumentError, ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> maxout(paddle.to_tensor([[1.0, 2.0, 4.0, 3.0]]), 2).tolist()
    [[2.0, 4.0]]
    """
    x = as_floats("maxout", x)
    shape = spec_of(x).shape
    axis = normalize_axis("maxout", axis, len(shape))
    size = shape[axis] if shape else 1
    groups = positive_int("maxout", "groups", groups)
    if not shape or isinstance(size, Dim) or size % groups:
        raise ShapeError(
            f"maxout: the size of axis {axis} of {format_shape(shape)} must be known, and a "
            f"multiple of groups, {groups}"
        )
    grouped = ops.unflatten_axis(x, axis=axis, sizes=(-1, groups))
    best = ops.argmax(grouped, axis=axis + 1, keepdims=True)
    return ops.squeeze(ops.take_along_axis(grouped, best, axis=axis + 1), axis=(axis + 1,))


# --- in place

elu_ = in_place("elu", elu, instead="y = F.elu(x)")
hardtanh_ = in_place("hardtanh", hardtanh, instead="y = F.hardtanh(x)")
leaky_relu_ = in_place("leaky_relu", leaky_relu, instead="y = F.leaky_relu(x)")
relu_ = in_place("relu", relu, instead="y = F.relu(x)")
softmax_ = in_place("softmax", softmax, instead="y = F.softmax(x)")
tanh_ = in_place("tanh", tanh, instead="y = F.tanh(x)")
thresholded_relu_ = in_place(
    "thresholded_relu", thresholded_relu, instead="y = F.thresholded_relu(x)"
)
