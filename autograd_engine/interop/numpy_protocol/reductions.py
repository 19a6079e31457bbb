"""NumPy's sums, extremes, means and running sums."""

from __future__ import annotations

from typing import Any

from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol.array_function import UNSET, covers, given
from autograd_engine.interop.numpy_protocol.array_ufunc import reduce_with
from autograd_engine.interop.numpy_protocol.operands import as_tensor
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


@covers("sum")
def _sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = UNSET,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    return reduce_with(
        "np.sum", "add", a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where
    )


@covers("prod")
def _prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = UNSET,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    x = as_tensor(a)
    if isinstance(axis, tuple):  # ours takes one axis
        for k in sorted((d % x.ndim for d in axis), reverse=True):
            x = _prod(x, k, dtype, None, keepdims, UNSET, where)
            where = True
        return x if not given(initial) else x * initial
    return reduce_with(
        "np.prod", "multiply", x, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial,
        where=where,
    )  # fmt: skip


@covers("max", "amax")
def _max(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = UNSET,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    return reduce_with(
        "np.max", "maximum", a, axis=axis, keepdims=keepdims, initial=initial, where=where
    )


@covers("min", "amin")
def _min(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = UNSET,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    return reduce_with(
        "np.min", "minimum", a, axis=axis, keepdims=keepdims, initial=initial, where=where
    )


@covers("all")
def _all(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = UNSET, *, where: Any = True
) -> Any:
    return reduce_with("np.all", "logical_and", a, axis=axis, keepdims=keepdims, where=where)


@covers("any")
def _any(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = UNSET, *, where: Any = True
) -> Any:
    return reduce_with("np.any", "logical_or", a, axis=axis, keepdims=keepdims, where=where)


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
    x = as_tensor(a)
    x = x.astype(dtype) if dtype is not None else mean_base(x)
    if where is not True and where is not UNSET:
        total = reduce_with("np.mean", "add", x, axis=axis, keepdims=keepdims, where=where)
        return total / _count(x, axis, keepdims, where)
    if axis == ():
        return x
    axis = list(axis) if isinstance(axis, tuple) else axis
    return paddle.mean(x, axis=axis, keepdim=keepdims is not UNSET and bool(keepdims))


def _count(x: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """How many elements of each sum the mask keeps, in the dtype of x."""
    ones = paddle.ones_like(x)
    return reduce_with("np.mean", "add", ones, axis=axis, keepdims=keepdims, where=where)


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
    x = as_tensor(a)
    x = x.astype(dtype) if dtype is not None else mean_base(x)
    center = mean if mean is not UNSET else _mean(x, axis, None, None, True, where=where)
    off = x - center
    squares = off * off if x.dtype.dtype.kind == "f" else paddle.real(off * paddle.conj(off))
    total = reduce_with("np.var", "add", squares, axis=axis, keepdims=keepdims, where=where)
    less = correction if correction is not UNSET else ddof
    return total / paddle.maximum(_count(squares, axis, keepdims, where) - less, 0.0)


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
    return paddle.sqrt(
        _var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    )


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
        scale = _count(mean_base(x), axis, keepdims, True)
        return (mean, scale) if returned else mean
    w = as_tensor(weights)
    if w.ndim == 1 and x.ndim > 1:
        if axis is None or isinstance(axis, tuple):
            raise ArgumentError("np.average: weights of another shape need axis, an int")
        w = paddle.reshape(w, [-1 if k == axis % x.ndim else 1 for k in range(x.ndim)])
    w = w * paddle.ones_like(x)
    scale = _sum(w, axis, keepdims=keepdims)
    mean = _sum(x * w, axis, keepdims=keepdims) / scale
    return (mean, scale) if returned else mean


def mean_base(x: Any) -> Any:
    """`x` in a floating dtype."""
    return x if x.dtype.dtype.kind in "fc" else x * 1.0


# --- where NaN counts as nothing


def _filled(a: Any, value: float) -> Any:
    x = as_tensor(a)
    return paddle.where(paddle.isnan(x), value, x) if x.dtype.dtype.kind in "fc" else x


@covers("nansum")
def _nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = UNSET,
    initial: Any = UNSET, where: Any = True,
) -> Any:  # fmt: skip
    return _sum(_filled(a, 0.0), axis, dtype, None, keepdims, initial, where)


@covers("nanprod")
def _nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = UNSET,
    initial: Any = UNSET, where: Any = True,
) -> Any:  # fmt: skip
    return _prod(_filled(a, 1.0), axis, dtype, None, keepdims, initial, where)


def _kept(a: Any, where: Any) -> Any:
    """Which elements count."""
    kept = paddle.logical_not(paddle.isnan(as_tensor(a)))
    return kept if where is True or where is UNSET else paddle.logical_and(kept, as_tensor(where))


def _nan_extreme(
    name: str, ufunc: str, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    kept = _kept(a, where)
    worst = -float("inf") if ufunc == "maximum" else float("inf")
    start = initial if given(initial) else worst
    x = reduce_with(name, ufunc, a, axis=axis, keepdims=keepdims, initial=start, where=kept)
    if given(initial):
        return x
    some = reduce_with(name, "logical_or", kept, axis=axis, keepdims=keepdims)
    return paddle.where(some, x, float("nan"))


@covers("nanmax")
def _nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = UNSET, initial: Any = UNSET,
    where: Any = True,
) -> Any:  # fmt: skip
    return _nan_extreme("np.nanmax", "maximum", a, axis, keepdims, initial, where)


@covers("nanmin")
def _nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = UNSET, initial: Any = UNSET,
    where: Any = True,
) -> Any:  # fmt: skip
    return _nan_extreme("np.nanmin", "minimum", a, axis, keepdims, initial, where)


@covers("nanmean")
def _nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = UNSET, *,
    where: Any = True,
) -> Any:  # fmt: skip
    return _mean(_filled(a, 0.0), axis, dtype, None, keepdims, where=_kept(a, where))


@covers("nanvar")
def _nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = UNSET, *, where: Any = True, mean: Any = UNSET, correction: Any = UNSET,
) -> Any:  # fmt: skip
    kept = _kept(a, where)
    return _var(
        _filled(a, 0.0), axis, dtype, None, ddof, keepdims, where=kept, mean=mean,
        correction=correction,
    )  # fmt: skip


@covers("nanstd")
def _nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = UNSET, *, where: Any = True, mean: Any = UNSET, correction: Any = UNSET,
) -> Any:  # fmt: skip
    return paddle.sqrt(
        _nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    )


# --- running


@covers("cumsum")
def _cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return paddle.cumsum(as_tensor(a), axis=axis, dtype=dtype)


@covers("cumprod")
def _cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    x = as_tensor(a)
    if axis is None:
        x, axis = paddle.reshape(x, [-1]), 0
    return paddle.cumprod(x, dim=axis, dtype=dtype)


@covers("nancumsum")
def _nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _cumsum(_filled(a, 0.0), axis, dtype)


@covers("nancumprod")
def _nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _cumprod(_filled(a, 1.0), axis, dtype)


def _cumulative(
    name: str, function: Any, x: Any, axis: Any, dtype: Any, include_initial: bool, start: float
) -> Any:
    x = as_tensor(x)
    if axis is None:
        if x.ndim != 1:
            raise ArgumentError(f"{name}: an array with {x.ndim} dimensions needs axis")
        axis = 0
    result = function(x, axis, dtype)
    if not include_initial:
        return result
    first = paddle.full_like(paddle.split(x, [1, -1], axis=axis)[0], start)
    return paddle.concat([first.astype(result.dtype), result], axis=axis)


@covers("cumulative_sum")
def _cumulative_sum(
    x: Any,
    /,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Any:
    return _cumulative("np.cumulative_sum", _cumsum, x, axis, dtype, include_initial, 0)


@covers("cumulative_prod")
def _cumulative_prod(
    x: Any,
    /,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Any:
    return _cumulative("np.cumulative_prod", _cumprod, x, axis, dtype, include_initial, 1)


@covers("count_nonzero")
def _count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    axis = list(axis) if isinstance(axis, tuple) else axis
    return paddle.count_nonzero(as_tensor(a), axis=axis, keepdim=keepdims)


@covers("argmax")
def _argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = UNSET) -> Any:
    return paddle.argmax(as_tensor(a), axis=axis, keepdim=bool(given(keepdims) and keepdims))


@covers("argmin")
def _argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = UNSET) -> Any:
    return paddle.argmin(as_tensor(a), axis=axis, keepdim=bool(given(keepdims) and keepdims))
