"""Reductions over axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from autograd_engine.core.dtypes import DTypeLike, to_numpy
from autograd_engine.core.spec import format_shape, normalize_axes
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "logsumexp",
    "max",
    "mean",
    "min",
    "nanmean",
    "nansum",
    "prod",
    "sum",
]


Axis: TypeAlias = int | Sequence[int] | None


_ALL = [tuple(range(n)) for n in range(65)]  # NumPy's arrays have 64 axes at most


def _axes(op: str, x: Any, axis: Axis) -> tuple[int, ...]:
    ndim: int = x.ndim
    return _ALL[ndim] if axis is None else normalize_axes(op, axis, ndim)


def _not_empty(op: str, x: Any, axes: tuple[int, ...]) -> None:
    shape = spec_of(x).shape
    for a in axes:
        if shape[a] == 0:
            raise ArgumentError(
                f"{op}: axis {a} of {format_shape(shape)} is empty, and an empty set has no {op}"
            )


def sum(
    x: Any,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Sum over `axis` (all axes for None).

    Parameters
    ----------
    x : Tensor or Variable
    axis : int or sequence of int, optional
    dtype : dtype, optional
        Cast to this first. Otherwise integers and bools sum as int64, floats in their dtype.
    keepdim : bool
        Keep the axes, with size 1.

    Raises
    ------
    ShapeError
        When `x` has no such axis.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.sum(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0).tolist()
    [4.0, 6.0]
    """
    x = as_operand("sum", x)
    if dtype is not None:
        x = ops.cast(x, dtype=to_numpy(dtype).name)
    return ops.sum(x, axis=_axes("sum", x, axis), keepdims=keepdim)


@atomic
def nansum(
    x: Any,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Sum over `axis` of what is not NaN; NaN gets a gradient of 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nansum(paddle.to_tensor([1.0, float("nan"), 2.0])).item()
    3.0
    """
    x = as_operand("nansum", x)
    return sum(_without_nan(x), axis=axis, dtype=dtype, keepdim=keepdim)


def _without_nan(x: Any) -> Any:
    """`x` with zeros for NaN."""
    if spec_of(x).dtype.kind in "biu":
        return x
    return ops.where(ops.equal(x, x), x, 0.0)


def nanmean(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Mean over `axis` of what is not NaN; NaN of nothing else.

    The gradient of NaN elements is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nanmean(paddle.to_tensor([1.0, float("nan"), 2.0])).item()
    1.5
    """
    x = as_operand("nanmean", x)
    axes = _axes("nanmean", x, axis)
    if spec_of(x).dtype.kind in "biu":
        return ops.mean(x, axis=axes, keepdims=keepdim)
    half = spec_of(x).dtype.char == "e"  # a sum of float16 may be too large for float16
    wide = ops.cast(x, dtype="float32") if half else x
    total = ops.sum(_without_nan(wide), axis=axes, keepdims=keepdim)
    count = ops.cast_like(ops.sum(ops.equal(x, x), axis=axes, keepdims=keepdim), total)
    out = total / ops.where(ops.equal(count, 0.0), math.nan, count)
    return ops.cast(out, dtype="float16") if half else out


def prod(
    x: Any,
    axis: Axis = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Product over `axis` (all axes for None), in the dtype of `x`; bools give int64.

    The gradient of an element is the product of the others, right where elements are 0.

    Parameters
    ----------
    x : Tensor or Variable
    axis : int or sequence of int, optional
    keepdim : bool
        Keep the axes, with size 1.
    dtype : dtype, optional
        Cast to this first.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([2.0, 0.0, 3.0], stop_gradient=False)
    >>> y = paddle.prod(x)
    >>> y.item(), paddle.grad(y, x)[0].tolist()
    (0.0, [0.0, 6.0, 0.0])
    """
    x = as_operand("prod", x)
    if dtype is not None:
        x = ops.cast(x, dtype=to_numpy(dtype).name)
    ndim = spec_of(x).ndim
    if not ndim:
        _axes("prod", x, axis)
        return ops.prod(ops.reshape(x, shape=(1,)), axis=0)
    if axis is None and not keepdim:
        return ops.prod(ops.reshape(x, shape=(-1,)) if ndim > 1 else x, axis=0)
    axes = _axes("prod", x, axis)
    for a in reversed(axes):  # from the back, so that those before keep their places
        x = ops.prod(x, axis=a, keepdims=keepdim)
    return x if axes else ops.assign(x)


def logsumexp(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """log of the sum of exp(x) over `axis`, without overflow; its gradient is softmax(x).

    Of nothing, and where all elements are -inf, it is -inf; elements of -inf get a gradient of 0.
    An element of inf gets the whole cotangent. Integers give the default float dtype.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.logsumexp(paddle.to_tensor([1000.0, 1000.0])).item(), 3)
    1000.693
    """
    x = as_operand("logsumexp", x)
    return ops.logsumexp(x, axis=_axes("logsumexp", x, axis), keepdims=keepdim)


def count_nonzero(
    x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """How many elements over `axis` are not 0, as int64; NaN is not 0. No gradient.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.count_nonzero(paddle.to_tensor([[0.0, 1.0], [2.0, 3.0]]), axis=0).tolist()
    [1, 2]
    """
    x = as_operand("count_nonzero", x)
    axes = _axes("count_nonzero", x, axis)
    return ops.sum(ops.not_equal(x, 0), axis=axes, keepdims=keepdim)


def mean(
    x: Any,
    axis: Axis = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Mean over `axis` (all axes for None); integers give the default float dtype.

    With `dtype`, `x` is cast to it first.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.mean(paddle.to_tensor([1.0, 2.0])).item()
    1.5
    """
    x = as_operand("mean", x)
    if dtype is not None:
        x = ops.cast(x, dtype=to_numpy(dtype).name)
    return ops.mean(x, axis=_axes("mean", x, axis), keepdims=keepdim)


def max(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Maximum over `axis`; elements that tie share the gradient equally.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.max(paddle.to_tensor([1.0, 3.0])).item()
    3.0
    """
    x = as_operand("max", x)
    axes = _axes("max", x, axis)
    _not_empty("maximum", x, axes)
    return ops.max(x, axis=axes, keepdims=keepdim)


def min(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Minimum over `axis`; elements that tie share the gradient equally."""
    x = as_operand("min", x)
    axes = _axes("min", x, axis)
    _not_empty("minimum", x, axes)
    return ops.min(x, axis=axes, keepdims=keepdim)


def amax(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Maximum over `axis`, the same as `max`: elements that tie share the gradient equally."""
    return max(x, axis, keepdim)


def amin(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Minimum over `axis`, the same as `min`: elements that tie share the gradient equally."""
    return min(x, axis, keepdim)


def _arg(name: str, x: Any, axis: int | None, keepdim: bool, dtype: DTypeLike) -> Any:
    x = as_operand(name, x)
    if axis is None and keepdim:
        raise ArgumentError(f"{name}: keepdim=True needs an axis")
    if isinstance(axis, (list, tuple)):
        raise TypeError(f"{name}: axis must be an int, got {axis!r} ({type(axis).__name__})")
    axes = normalize_axes(name, axis, spec_of(x).ndim)
    _not_empty("maximum" if name == "argmax" else "minimum", x, axes)
    if axis is None:
        x, axes = ops.reshape(x, shape=(-1,)), (0,)
    axis = axes[0] if axes else 0
    out = getattr(ops, name)(x, axis=axis, keepdims=keepdim)
    chosen = to_numpy(dtype).name
    return out if chosen == "int64" else ops.cast(out, dtype=chosen)


@atomic
def argmax(
    x: Any,
    axis: int | None = None,
    keepdim: bool = False,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor:
    """Position of the maximum, the first where several tie; over the flat array for None.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.argmax(paddle.to_tensor([[1.0, 3.0], [5.0, 2.0]]), axis=1).tolist()
    [1, 0]
    """
    return _arg("argmax", x, axis, keepdim, dtype)


@atomic
def argmin(
    x: Any,
    axis: int | None = None,
    keepdim: bool = False,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor:
    """Position of the minimum, the first where several tie; over the flat array for None."""
    return _arg("argmin", x, axis, keepdim, dtype)


def any(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Whether any element along `axis` is true."""
    x = as_operand("any", x)
    return ops.any(x, axis=_axes("any", x, axis), keepdims=keepdim)


def all(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Whether all elements along `axis` are true."""
    x = as_operand("all", x)
    return ops.all(x, axis=_axes("all", x, axis), keepdims=keepdim)
