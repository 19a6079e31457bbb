"""NumPy's sums, extremes, means and running sums."""

from __future__ import annotations

from functools import wraps
from typing import Any

from autograd_engine import linalg
from autograd_engine.core.dtypes import COMPLEX, INEXACT
from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol.array_function import covers
from autograd_engine.interop.numpy_protocol.array_ufunc import reduce_with
from autograd_engine.interop.numpy_protocol.operands import (
    UNSET,
    as_tensor,
    as_tensors,
    floating,
    given,
)
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


def _total(name: str, ufunc: str) -> Any:
    @covers(name)
    def total(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = UNSET,
        initial: Any = UNSET,
        where: Any = True,
    ) -> Any:
        return reduce_with(
            f"np.{name}", ufunc, a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial,
            where=where,
        )  # fmt: skip

    return total


_sum, _prod = _total("sum", "add"), _total("prod", "multiply")


def _extreme(name: str, ufunc: str, worst: float) -> Any:
    """``np.max`` and ``np.nanmax``, say."""

    @covers(name, f"a{name}")
    def extreme(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = UNSET,
        initial: Any = UNSET,
        where: Any = True,
    ) -> Any:
        return reduce_with(
            f"np.{name}", ufunc, a, axis=axis, keepdims=keepdims, initial=initial, where=where
        )

    @covers(f"nan{name}")
    def of_numbers(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = UNSET,
        initial: Any = UNSET,
        where: Any = True,
    ) -> Any:
        kept = _kept(a, where)
        start = initial if given(initial) else worst
        x = extreme(a, axis, None, keepdims, start, kept)
        if given(initial):
            return x
        return paddle.where(_any(kept, axis, None, keepdims), x, float("nan"))

    return extreme


_max = _extreme("max", "maximum", -float("inf"))
_min = _extreme("min", "minimum", float("inf"))


def _truth(name: str, ufunc: str) -> Any:
    @covers(name)
    def truth(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = UNSET, *, where: Any = True
    ) -> Any:
        return reduce_with(f"np.{name}", ufunc, a, axis=axis, keepdims=keepdims, where=where)

    return truth


_all, _any = _truth("all", "logical_and"), _truth("any", "logical_or")


@covers("mean")
def _mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = UNSET,
    *,
    where: Any = True,
) -> Any:
    x = as_tensor(a).astype(dtype) if dtype is not None else floating(a)
    if where is not True and where is not UNSET:
        total = reduce_with("np.mean", "add", x, axis=axis, keepdims=keepdims, where=where)
        return total / _count(x, axis, keepdims, where)
    if axis == ():
        return x
    return paddle.mean(x, axis=axis, keepdim=keepdims is not UNSET and bool(keepdims))


def _count(x: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """How many elements of each sum the mask keeps, in the dtype of x."""
    ones = paddle.ones_like(x)
    return reduce_with("np.mean", "add", ones, axis=axis, keepdims=keepdims, where=where)


def _deviations(
    a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any, mean: Any, correction: Any
) -> tuple[Any, Any]:
    """How far the elements that count are from their mean, 0 for the others; degrees of freedom."""
    x = as_tensor(a).astype(dtype) if dtype is not None else floating(a)
    center = mean if mean is not UNSET else _mean(x, axis, None, None, True, where=where)
    off = x - center
    if x.dtype.dtype in COMPLEX:
        off = paddle.abs(off)
    if where is not True and where is not UNSET:
        off = paddle.where(as_tensor(where).astype("bool"), off, 0.0)
    less = correction if correction is not UNSET else ddof
    return off, paddle.maximum(_count(off, axis, keepdims, where) - less, 0.0)


@covers("var")
def _var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = UNSET,
    *,
    where: Any = True,
    mean: Any = UNSET,
    correction: Any = UNSET,
) -> Any:
    off, freedom = _deviations(a, axis, dtype, ddof, keepdims, where, mean, correction)
    return _sum(off * off, axis, keepdims=keepdims) / freedom


@covers("std")
def _std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = UNSET,
    *,
    where: Any = True,
    mean: Any = UNSET,
    correction: Any = UNSET,
) -> Any:
    off, freedom = _deviations(a, axis, dtype, ddof, keepdims, where, mean, correction)
    if axis == () or not off.ndim:
        length = paddle.abs(off)
    else:  # of equal values the length is 0 with gradient 0, which a root of their variance has not
        length = linalg.vector_norm(
            off, 2.0, axis=axis, keepdim=keepdims is not UNSET and bool(keepdims)
        )
    return length / paddle.sqrt(freedom)


@covers("ptp")
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = UNSET) -> Any:
    return _max(a, axis, None, keepdims) - _min(a, axis, None, keepdims)


@covers("average")
def _average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: Any = UNSET,
) -> Any:
    x = as_tensor(a)
    if weights is None:
        mean = _mean(x, axis, keepdims=keepdims)
        scale = _count(floating(x), axis, keepdims, True)
        return (mean, scale) if returned else mean
    x, w = as_tensors(x, weights)
    if w.ndim == 1 and x.ndim > 1:
        if axis is None or isinstance(axis, tuple):
            raise ArgumentError("np.average: weights of another shape need axis, an int")
        w = paddle.reshape(w, [-1 if k == axis % x.ndim else 1 for k in range(x.ndim)])
    w = w * paddle.ones_like(x)
    scale = _sum(w, axis, keepdims=keepdims)
    mean = _sum(x * w, axis, keepdims=keepdims) / scale
    return (mean, scale) if returned else mean


# --- running


_cumsum: Any = covers("cumsum")(
    lambda a, axis=None, dtype=None, out=None: paddle.cumsum(as_tensor(a), axis=axis, dtype=dtype)
)
_cumprod: Any = covers("cumprod")(
    lambda a, axis=None, dtype=None, out=None: paddle.cumprod(as_tensor(a), dim=axis, dtype=dtype)
)


def _cumulative(name: str, function: Any, start: float) -> Any:
    @covers(name)
    def cumulative(
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Any:
        x = as_tensor(x)
        if axis is None:
            if x.ndim != 1:
                raise ArgumentError(f"np.{name}: an array with {x.ndim} dimensions needs axis")
            axis = 0
        result = function(x, axis, dtype)
        if not include_initial:
            return result
        first = paddle.full_like(paddle.split(x, [1, -1], axis=axis)[0], start)
        return paddle.concat([first.astype(result.dtype), result], axis=axis)

    return cumulative


_cumulative_sum = _cumulative("cumulative_sum", _cumsum, 0)
_cumulative_prod = _cumulative("cumulative_prod", _cumprod, 1)


# --- where NaN counts as nothing


def _filled(a: Any, value: float) -> Any:
    x = as_tensor(a)
    return paddle.where(paddle.isnan(x), value, x) if x.dtype.dtype in INEXACT else x


def _kept(a: Any, where: Any) -> Any:
    """Which elements count."""
    kept = paddle.logical_not(paddle.isnan(as_tensor(a)))
    return kept if where is True or where is UNSET else paddle.logical_and(kept, as_tensor(where))


def _with_neutral(name: str, function: Any, neutral: float) -> None:
    """Of sums and products, with the arguments of `function`."""

    @covers(name)
    @wraps(function)
    def of_numbers(a: Any, *args: Any, **kwargs: Any) -> Any:
        return function(_filled(a, neutral), *args, **kwargs)


def _with_mask(name: str, function: Any) -> None:
    """Of means, where it matters how many there are."""

    @covers(name)
    @wraps(function)
    def of_numbers(a: Any, *args: Any, where: Any = True, **kwargs: Any) -> Any:
        return function(_filled(a, 0.0), *args, where=_kept(a, where), **kwargs)


_with_neutral("nansum", _sum, 0.0)
_with_neutral("nanprod", _prod, 1.0)
_with_neutral("nancumsum", _cumsum, 0.0)
_with_neutral("nancumprod", _cumprod, 1.0)
_with_mask("nanmean", _mean)
_with_mask("nanvar", _var)
_with_mask("nanstd", _std)


# --- counts and places


@covers("count_nonzero")
def _count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return paddle.count_nonzero(as_tensor(a), axis=axis, keepdim=keepdims)


def _place(name: str) -> None:
    ours = getattr(paddle, name)

    @covers(name)
    def place(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = UNSET) -> Any:
        return ours(as_tensor(a), axis=axis, keepdim=bool(given(keepdims) and keepdims))


_place("argmax")
_place("argmin")
