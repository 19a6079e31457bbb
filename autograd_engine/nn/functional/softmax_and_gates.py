"""Activations in which elements compete along an axis: softmax, gates, maxima of groups."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import DTypeLike, to_numpy
from autograd_engine.core.spec import format_shape, normalize_axis
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import as_floats, check_number
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["glu", "gumbel_softmax", "log_softmax", "maxout", "softmax", "swiglu"]


def _along(name: str, x: Any, axis: int, dtype: DTypeLike | None) -> Any:
    x = as_operand(name, x)
    if dtype is not None:
        x = ops.cast(x, dtype=to_numpy(dtype).name)
    if spec_of(x).ndim == 0:
        return ops.reshape(_along(name, ops.reshape(x, shape=(1,)), 0, None), shape=())
    return getattr(ops, name)(x, axis=normalize_axis(name, axis, spec_of(x).ndim))


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


def log_softmax(
    x: Any, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """log(softmax(x)) along `axis`, computed without overflow or log(0)."""
    return _along("log_softmax", x, axis, dtype)


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
    if not check_number(op, "temperature", temperature) > 0.0:
        raise ArgumentError(f"{op}: temperature must be above 0, got {temperature}")
    x = as_floats(op, x)
    if not spec_of(x).ndim:
        raise ShapeError(f"{op}: takes one dimension or more, got a 0-d array; use reshape([1])")
    axis = normalize_axis(op, axis, spec_of(x).ndim)
    noise = ops.random_like(x, distribution="gumbel", a=0.0, b=1.0)
    soft = ops.softmax((x + noise) / float(temperature), axis=axis)
    return ops.straight_through(soft, axis=axis) if hard else soft


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
    if not isinstance(groups, int) or isinstance(groups, bool) or groups < 1:
        raise ArgumentError(f"maxout: groups must be a positive int, got {groups!r}")
    if not shape or isinstance(size, Dim) or size % groups:
        raise ShapeError(
            f"maxout: the size of axis {axis} of {format_shape(shape)} must be known, and a "
            f"multiple of groups, {groups}"
        )
    before = (slice(None),) * axis
    parts = [ops.getitem(x, key=(*before, slice(k, None, groups))) for k in range(groups)]
    grouped = ops.stack(*parts, axis=axis + 1)
    if not size:  # nothing has no maximum
        return parts[0]
    best = ops.argmax(grouped, axis=axis + 1, keepdims=True)
    return ops.squeeze(ops.take_along_axis(grouped, best, axis=axis + 1), axis=(axis + 1,))
