"""Reductions over axes, variance and covariance among them."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import (
    EXACT,
    FLOATS,
    HALVES,
    INEXACT,
    DTypeLike,
    get_default_numpy_dtype,
    instead_of_complex,
    to_numpy,
)
from autograd_engine.core.spec import format_shape, normalize_axes
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from autograd_engine.ops.conjugates import by_parts, conj, is_complex, real_part
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import in_dtype
from autograd_engine.tensor.elementwise import clip

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
    "std",
    "sum",
    "var",
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


@atomic
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
        Cast to this first, and return it. Otherwise integers and bools sum as int64, floats in
        their dtype.
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
    axes = _axes("sum", x, axis)
    if dtype is None:
        return ops.sum(x, axis=axes, keepdims=keepdim)
    total = ops.sum(ops.cast(x, dtype=to_numpy(dtype).name), axis=axes, keepdims=keepdim)
    return in_dtype(total, dtype)


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
    if spec_of(x).dtype in EXACT:
        return x
    return ops.where(ops.equal(x, x), x, 0.0)


@atomic
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
    if spec_of(x).dtype in EXACT:
        return ops.mean(x, axis=axes, keepdims=keepdim)
    dtype = spec_of(x).dtype
    half = dtype in HALVES  # a sum of float16 may be too large for float16
    wide = ops.cast(x, dtype="float32") if half else x
    total = ops.sum(_without_nan(wide), axis=axes, keepdims=keepdim)
    count = ops.cast_like(ops.sum(ops.equal(x, x), axis=axes, keepdims=keepdim), total)
    out = total / ops.where(ops.equal(count, 0.0), math.nan, count)
    return ops.cast(out, dtype=dtype.name) if half else out


@atomic
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
        Cast to this first, and return it.

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
        return in_dtype(prod(x, axis, keepdim), dtype)
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


@atomic
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


@atomic
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


@atomic
def mean(
    x: Any,
    axis: Axis = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Mean over `axis` (all axes for None); integers give the default float dtype.

    With `dtype`, `x` is cast to it first, and the mean has it; that of integers is cut off there.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.mean(paddle.to_tensor([1.0, 2.0])).item()
    1.5
    """
    x = as_operand("mean", x)
    axes = _axes("mean", x, axis)
    if dtype is None:
        return ops.mean(x, axis=axes, keepdims=keepdim)
    chosen = to_numpy(dtype)
    x = ops.cast(x, dtype=chosen.name)
    if chosen not in INEXACT:
        x = ops.cast(x, dtype="float64")
    return in_dtype(ops.mean(x, axis=axes, keepdims=keepdim), dtype)


@atomic
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


@atomic
def min(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Minimum over `axis`; elements that tie share the gradient equally."""
    x = as_operand("min", x)
    axes = _axes("min", x, axis)
    _not_empty("minimum", x, axes)
    return ops.min(x, axis=axes, keepdims=keepdim)


@atomic
def amax(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Maximum over `axis`, the same as `max`: elements that tie share the gradient equally."""
    return max(x, axis, keepdim)


@atomic
def amin(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Minimum over `axis`, the same as `min`: elements that tie share the gradient equally."""
    return min(x, axis, keepdim)


def _arg(name: str, x: Any, axis: int | None, keepdim: bool, dtype: DTypeLike | None) -> Any:
    x = as_operand(name, x)
    if isinstance(axis, (list, tuple)):
        raise ArgumentTypeError(
            f"{name}: axis must be an int, got {axis!r} ({type(axis).__name__})"
        )
    axes = normalize_axes(name, axis, spec_of(x).ndim)
    _not_empty("maximum" if name == "argmax" else "minimum", x, axes)
    if axis is None:
        ndim = spec_of(x).ndim
        out = getattr(ops, name)(ops.reshape(x, shape=(-1,)), axis=0, keepdims=False)
        out = ops.reshape(out, shape=(1,) * ndim) if keepdim else out
    else:
        out = getattr(ops, name)(x, axis=axes[0] if axes else 0, keepdims=keepdim)
    chosen = to_numpy("int64" if dtype is None else dtype).name
    return out if chosen == "int64" else ops.cast(out, dtype=chosen)


@atomic
def argmax(
    x: Any,
    axis: int | None = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = "int64",
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
    dtype: DTypeLike | None = "int64",
    name: str | None = None,
) -> Tensor:
    """Position of the minimum, the first where several tie; over the flat array for None."""
    return _arg("argmin", x, axis, keepdim, dtype)


@atomic
def any(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Whether any element along `axis` is true."""
    x = as_operand("any", x)
    return ops.any(x, axis=_axes("any", x, axis), keepdims=keepdim)


@atomic
def all(x: Any, axis: Axis = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Whether all elements along `axis` are true."""
    x = as_operand("all", x)
    return ops.all(x, axis=_axes("all", x, axis), keepdims=keepdim)


def floating(op: str, x: Any, *, wide: bool = False) -> Any:
    """`x`, integers as the default float; with `wide`, float16 as float32."""
    dtype = spec_of(x).dtype
    if dtype in EXACT:
        return ops.cast(x, dtype=get_default_numpy_dtype().name)
    if dtype not in FLOATS:
        raise DTypeError(
            f"{op}: takes floats and integers, got {dtype.name}{instead_of_complex(dtype)}"
        )
    return ops.cast(x, dtype="float32") if wide and dtype in HALVES else x


def degrees_of_freedom(
    x: Any, axes: tuple[int, ...], correction: float, keepdims: bool = True
) -> Any:
    """Number of elements along `axes` less `correction`; NaN where nothing is left."""
    sizes = [spec_of(x).shape[a] for a in axes]
    if builtins.all(isinstance(d, int) for d in sizes):
        left = math.prod([int(d) for d in sizes]) - correction
        return left if left > 0 else math.nan
    ones = ops.full_like(x, value=1.0)
    left = ops.sum(ones, axis=axes, keepdims=keepdims) - correction
    return ops.where(ops.greater_than(left, 0.0), left, math.nan)


# --- spread


def _spread(row: Any, op: str, x: Any, axis: Axis, keepdim: Any, correction: float) -> Any:
    """What `row` makes of `x`, halves as float32."""
    x = as_operand(op, x)
    wide = floating(op, x, wide=True)
    axes, keepdim = _axes(op, wide, axis), bool(keepdim)
    if type(correction) is int or type(correction) is float:
        out = row(wide, axis=axes, correction=correction, keepdims=keepdim)
    else:  # of a variance: a tensor, which may want a gradient, or what only a run knows
        count, left = [degrees_of_freedom(wide, axes, c, keepdim) for c in (0.0, correction)]
        out = row(wide, axis=axes, correction=0.0, keepdims=keepdim) * (count / left)
    dtype = spec_of(x).dtype
    return ops.cast(out, dtype=dtype.name) if dtype in HALVES else out


@atomic
def var(
    x: Any,
    axis: Axis = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    correction: float = 1,
) -> Tensor:
    """Variance over `axis` (all axes for None); integers give the default float dtype.

    Parameters
    ----------
    x : Tensor or Variable
    axis : int or sequence of int, optional
    unbiased : bool, optional
        Divide by n - 1 (the default), or by n.
    keepdim : bool
        Keep the axes, with size 1.
    correction : float
        Divide by n - correction; not together with `unbiased`. NaN where that is not positive.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.var(paddle.to_tensor([1.0, 2.0, 3.0])).item()
    1.0
    """
    if unbiased is not None:
        if correction != 1:
            raise ArgumentError("var: give unbiased or correction, not both")
        correction = 1 if unbiased else 0
    return _spread(ops.variance, "var", x, axis, keepdim, correction)


@atomic
def std(
    x: Any,
    axis: Axis = None,
    unbiased: bool = True,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Standard deviation over `axis`; where it is 0, its gradient is 0.

    Parameters as of `var`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.std(paddle.to_tensor([1.0, 3.0]), unbiased=False).item()
    1.0
    """
    return _spread(ops.deviation, "std", x, axis, keepdim, 1 if unbiased else 0)


# --- covariance


def _observations(op: str, x: Any, rowvar: bool) -> Any:
    """One variable a row, one observation a column."""
    x = as_operand(op, x)
    ndim = spec_of(x).ndim
    if ndim > 2 or not ndim:
        raise ShapeError(f"{op}: takes a vector or a matrix, got {format_shape(spec_of(x).shape)}")
    x = x if is_complex(spec_of(x)) else floating(op, x)
    if ndim == 1:
        return ops.unsqueeze(x, axis=(0,))
    return x if rowvar else ops.transpose(x, perm=(1, 0))


def _weights(op: str, x: Any, given: Any, argument: str) -> Any:
    if given is None:
        return None
    given = as_operand(op, given, argument)
    count = spec_of(x).shape[1]
    shape = spec_of(given).shape
    if len(shape) != 1 or (shape[0] != count and not isinstance(shape[0], Dim)):
        raise ShapeError(
            f"{op}: {argument} of shape {format_shape(shape)} must be a vector with one weight for "
            f"each of the {count} observations"
        )
    return ops.cast_like(given, real_part(ops, x))


@atomic
def cov(
    x: Any,
    rowvar: bool = True,
    ddof: bool = True,
    fweights: Any = None,
    aweights: Any = None,
    name: str | None = None,
) -> Tensor:
    """Covariance matrix of variables; a number for a single one.

    Of complex ones the second of a pair is conjugated, as NumPy and PyTorch do.

    Parameters
    ----------
    x : Tensor or Variable
        A vector of observations, or a matrix with a variable in each row.
    rowvar : bool
        False: a variable in each column.
    ddof : bool
        Divide by n - 1, else by n.
    fweights : Tensor or Variable, optional
        How often each observation counts: a vector of integers.
    aweights : Tensor or Variable, optional
        How much each observation counts: a vector of floats.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.cov(paddle.to_tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    x = _observations("cov", x, rowvar)
    frequencies = _weights("cov", x, fweights, "fweights")
    importances = _weights("cov", x, aweights, "aweights")
    if frequencies is None and importances is None:
        rest = x - ops.mean(x, axis=(1,), keepdims=True)
        weighted, left = rest, degrees_of_freedom(real_part(ops, rest), (1,), int(ddof))
    else:
        given = [w for w in (frequencies, importances) if w is not None]
        weights = given[0] if len(given) == 1 else ops.multiply(*given)
        total = ops.sum(weights, axis=(0,))
        total = ops.where(ops.equal(total, 0), math.nan, ops.cast_like(total, real_part(ops, x)))
        rest = x - ops.sum(x * weights, axis=(1,), keepdims=True) / total
        left = total
        if ddof and importances is None:
            left = total - 1.0
        elif ddof:
            left = total - ops.sum(weights * importances, axis=(0,)) / total
        left = ops.where(ops.greater_than(left, 0.0), left, math.nan)
        weighted = rest * weights
    return _single(ops.matmul(weighted, conj(ops, rest), transpose_y=True) / left)


def _single(out: Any) -> Any:
    return ops.reshape(out, shape=()) if spec_of(out).shape == (1, 1) else out


@atomic
def corrcoef(x: Any, rowvar: bool = True, name: str | None = None) -> Tensor:
    """Correlation coefficients of variables, in [-1, 1]; NaN of a variable that is constant.

    Parameters as of `cov`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.corrcoef(paddle.to_tensor([[1.0, 2.0], [2.0, 1.0]]))[0, 1].item() < -0.999
    True
    """
    x = _observations("corrcoef", x, rowvar)
    rest = x - ops.mean(x, axis=(1,), keepdims=True)
    sizes = ops.abs(rest) if is_complex(rest) else rest
    length = ops.p_norm(sizes, p=2.0, axis=(1,), keepdims=True)
    unit = rest / ops.where(ops.equal(length, 0.0), math.nan, length)
    product = ops.matmul(unit, conj(ops, unit), transpose_y=True)
    return _single(by_parts(ops, lambda part: clip(part, -1.0, 1.0), product))
