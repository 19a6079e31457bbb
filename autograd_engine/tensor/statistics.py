"""Variance and covariance."""

from __future__ import annotations

import builtins
import math
from typing import Any

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import get_default_numpy_dtype
from autograd_engine.core.spec import format_shape, normalize_axes
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.elementwise import clip
from autograd_engine.tensor.reduction import Axis

# `cov` and `corrcoef` are public in `linalg`.
__all__ = ["std", "var"]


def floating(op: str, x: Any, *, wide: bool = False) -> Any:
    """`x`, integers as the default float; with `wide`, float16 as float32."""
    dtype = spec_of(x).dtype
    if dtype.kind in "biu":
        return ops.cast(x, dtype=get_default_numpy_dtype().name)
    if dtype.kind != "f":
        raise DTypeError(f"{op}: takes floats and integers, got {dtype.name}")
    return ops.cast(x, dtype="float32") if wide and dtype.char == "e" else x


def degrees_of_freedom(x: Any, axes: tuple[int, ...], correction: float) -> Any:
    """Number of elements along `axes` less `correction`; NaN where nothing is left."""
    sizes = [spec_of(x).shape[a] for a in axes]
    if builtins.all(isinstance(d, int) for d in sizes):
        left = math.prod([int(d) for d in sizes]) - correction
        return left if left > 0 else math.nan
    ones = ops.full_like(x, value=1.0)
    left = ops.sum(ones, axis=axes, keepdims=True) - correction
    return ops.where(ops.greater_than(left, 0.0), left, math.nan)


# --- spread


def _centered(op: str, x: Any, axis: Axis) -> tuple[Any, tuple[int, ...]]:
    """`x` less its mean, from which two-pass formulas take the spread without cancellation."""
    x = floating(op, x, wide=True)
    axes = normalize_axes(op, axis, spec_of(x).ndim)
    return x - ops.mean(x, axis=axes, keepdims=True), axes


def _finished(out: Any, like: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    """`out`, which kept its axes, in the shape and dtype that were asked for."""
    if not keepdim:
        out = ops.squeeze(out, axis=axes)
    return ops.cast(out, dtype="float16") if spec_of(like).dtype.char == "e" else out


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
    x = as_operand("var", x)
    if unbiased is not None:
        if correction != 1:
            raise ArgumentError("var: give unbiased or correction, not both")
        correction = 1 if unbiased else 0
    rest, axes = _centered("var", x, axis)
    total = ops.sum(ops.square(rest), axis=axes, keepdims=True)
    return _finished(total / degrees_of_freedom(rest, axes, correction), x, axes, keepdim)


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
    x = as_operand("std", x)
    rest, axes = _centered("std", x, axis)
    length = ops.p_norm(rest, p=2.0, axis=axes, keepdims=True)
    left = degrees_of_freedom(rest, axes, 1 if unbiased else 0)
    root = math.sqrt(left) if isinstance(left, (int, float)) else ops.sqrt(left)
    return _finished(length / root, x, axes, keepdim)


# --- covariance


def _observations(op: str, x: Any, rowvar: bool) -> Any:
    """One variable a row, one observation a column."""
    x = as_operand(op, x)
    ndim = spec_of(x).ndim
    if ndim > 2 or not ndim:
        raise ShapeError(f"{op}: takes a vector or a matrix, got {format_shape(spec_of(x).shape)}")
    x = floating(op, x)
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
    return ops.cast_like(given, x)


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
        weighted, left = rest, degrees_of_freedom(rest, (1,), int(ddof))
    else:
        given = [w for w in (frequencies, importances) if w is not None]
        weights = given[0] if len(given) == 1 else ops.multiply(*given)
        total = ops.sum(weights, axis=(0,))
        total = ops.where(ops.equal(total, 0), math.nan, ops.cast_like(total, x))
        rest = x - ops.sum(x * weights, axis=(1,), keepdims=True) / total
        left = total
        if ddof and importances is None:
            left = total - 1.0
        elif ddof:
            left = total - ops.sum(weights * importances, axis=(0,)) / total
        left = ops.where(ops.greater_than(left, 0.0), left, math.nan)
        weighted = rest * weights
    return _single(ops.matmul(weighted, rest, transpose_y=True) / left)


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
    length = ops.p_norm(rest, p=2.0, axis=(1,), keepdims=True)
    unit = rest / ops.where(ops.equal(length, 0.0), math.nan, length)
    return _single(clip(ops.matmul(unit, unit, transpose_y=True), -1.0, 1.0))
