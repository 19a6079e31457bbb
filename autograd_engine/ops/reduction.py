"""Reductions. `axis` is a tuple of axes counted from the front; the public functions see to it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import BOOL, INT64
from autograd_engine.core.spec import Array, Spec, normalize_axes, reduced_shape
from autograd_engine.ops.conjugates import is_complex
from autograd_engine.ops.infer import sum_dtype
from autograd_engine.ops.kernels import rows
from autograd_engine.ops.kernels.compiled import LARGE, compiled
from autograd_engine.ops.registry.opdef import OpDef, defop
from autograd_engine.ops.registry.work import each_read
from autograd_engine.ops.scan import product_dtype

Axes = tuple[int, ...]
# NumPy's stubs know no tuple of axes beside a computed keepdims.
_add_reduce: Any = np.add.reduce
_multiply_reduce: Any = np.multiply.reduce


def _reduced(x: Spec, *, axis: Axes, keepdims: bool = False, **_: Any) -> Spec:
    axes = normalize_axes("reduction", axis, x.ndim)
    return Spec(reduced_shape(x.shape, axes, keepdims), x.dtype)


def _total(x: Array, axis: Axes, keepdims: bool) -> Any:
    """Sums of floats or integers, in their own dtype: of long rows by BLAS, of short ones in C."""
    if x.size >= LARGE and x.flags.c_contiguous:
        shape = rows.lines(x, axis)
        if shape is not None:
            sums = rows.row_sums(x.reshape(shape))
            return sums.reshape(reduced_shape(x.shape, axis, keepdims))
        short = rows.short_rows("sum", x, axis)
        if short is not None:
            return short(x).reshape(reduced_shape(x.shape, axis, keepdims))
    return _add_reduce(x, axis=axis, keepdims=keepdims)


def _sum(x: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    if x.dtype.char == "e":  # accumulates in float32: 2048 + 1 is 2048 in float16
        wide = _add_reduce(x, axis=axis, keepdims=keepdims, dtype=np.float32)
        return np.asarray(wide).astype(np.float16)
    if x.dtype.kind == "u":  # NumPy would add up as uint64
        return np.asarray(_add_reduce(x, axis=axis, keepdims=keepdims, dtype=np.int64))
    return np.asarray(_total(x, axis, keepdims))


def _infer_sum(x: Spec, *, axis: Axes, keepdims: bool = False) -> Spec:
    return Spec(_reduced(x, axis=axis, keepdims=keepdims).shape, sum_dtype(x.dtype))


def _mean(x: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    size = x.size
    count = size if len(axis) == x.ndim else math.prod([x.shape[a] for a in axis])
    if x.dtype.char == "e":  # accumulates in float32
        return _mean(x.astype(np.float32), axis=axis, keepdims=keepdims).astype(np.float16)
    if size < LARGE:
        total = _add_reduce(x, axis, None, None, keepdims)
    else:
        total = _total(x, axis, keepdims)
    # The mean of nothing is NaN, without NumPy's warning about 0 / 0.
    return np.asarray(total / count if count else total * np.nan)


defop(
    "sum", _sum, inputs="x", infer=_infer_sum, tangent="linear", symbolic=True, work=each_read()
).vjp(x=lambda xp, g, x_like, **attrs: xp.expand_like(g, x_like, **attrs))
defop(
    "mean", _mean, inputs="x", infer=_reduced, dtypes="floating", tangent="linear", work=each_read()
).vjp(x=lambda xp, g, x_like, **attrs: xp.spread_like(g, x_like, **attrs))


def _reduction(name: str, reduce: Any, dtype: np.dtype[Any] | None = None, **options: Any) -> OpDef:
    """What NumPy reduces in one call, to results of `dtype`, or of the dtype of the operand."""

    def kernel(x: Array, *, axis: Any, keepdims: bool = False) -> Array:
        ours = x.__class__ is np.ndarray and name in ("max", "min")
        if ours and x.size >= LARGE and x.flags.c_contiguous:
            short = rows.short_rows(name, x, axis)
            if short is not None:
                return np.asarray(short(x).reshape(reduced_shape(x.shape, axis, keepdims)))
        return np.asarray(reduce(x, axis=axis, keepdims=keepdims), dtype)

    def infer(x: Spec, *, axis: Any, keepdims: bool = False) -> Spec:
        return Spec(_reduced(x, axis=axis, keepdims=keepdims).shape, dtype or x.dtype)

    return defop(name, kernel, inputs="x", infer=infer, work=each_read(), **options)


# Elements that tie for the extremum share its cotangent equally. NaN is the extremum where there is
# one, though it equals nothing; its share is NaN.
for _name, _ufunc in (("max", np.maximum), ("min", np.minimum)):
    _reduction(_name, _ufunc.reduce, real=True, zero_gradient="not_chosen").vjp(
        x=lambda xp, g, x, out, **attrs: xp.share_ties(g, x, out, **attrs)
    )
_reduction("argmax", np.argmax, INT64, real=True).nondiff()
_reduction("argmin", np.argmin, INT64, real=True).nondiff()
_reduction("any", np.logical_or.reduce, BOOL).nondiff()
_reduction("all", np.logical_and.reduce, BOOL).nondiff()


# --- products: one axis at a time, so that a rule can run along it


def _prod(x: Array, *, axis: int, keepdims: bool = False) -> Array:
    dtype = product_dtype(x.dtype)
    if x.size >= LARGE and axis == x.ndim - 1 and x.dtype.char in "fd":
        run = compiled("scans.prod", x)
        if run is not None:  # with the bits of NumPy's, which computes one row at a time
            shape = x.shape[:-1]
            flat = np.empty((*shape, 1) if keepdims else shape, x.dtype)
            run(np.ascontiguousarray(x), flat, math.prod(shape), x.shape[-1])
            return flat
    wide = np.dtype(np.float32) if dtype.char == "e" else dtype
    out = _multiply_reduce(x, axis=axis, keepdims=keepdims, dtype=wide)
    return np.asarray(out).astype(dtype, copy=False)


def _prod_x(xp: Any, g: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
    others = xp.product_of_others(x, axis=axis)
    return xp.expand_like(g, x, axis=(axis,), keepdims=keepdims) * others


defop(
    "prod",
    _prod,
    inputs="x",
    infer=lambda x, *, axis, keepdims=False: Spec(
        reduced_shape(x.shape, (axis,), keepdims), product_dtype(x.dtype)
    ),
    symbolic=True,
    work=each_read(),
).vjp(x=_prod_x)

# --- logarithm of a sum of exponentials


def _logsumexp(x: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    """The largest exponent is taken out, unless it is infinite: of nothing, and of -inf, -inf."""
    if x.dtype.char == "e":
        return _logsumexp(x.astype(np.float32), axis=axis, keepdims=keepdims).astype(np.float16)
    largest = np.asarray(np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf))
    largest = np.where(np.isinf(largest), 0, largest)
    with np.errstate(divide="ignore"):
        out = np.log(_add_reduce(np.exp(x - largest), axis=axis, keepdims=True)) + largest
    return np.asarray(out if keepdims else out.squeeze(axis))


def _shares(xp: Any, x: Any, out: Any, *, axis: Axes, keepdims: bool) -> Any:
    """exp(x - out), divided by its sum: far out, `out` is rounded by more than exp can bear."""
    out = xp.expand_like(out, x, axis=axis, keepdims=keepdims)
    weights = xp.exp(x - out) if is_complex(x) else xp.exp_difference(x, out)
    total = xp.sum(weights, axis=axis, keepdims=True)
    total = xp.where(xp.equal(total, 0.0), 1.0, total)
    return weights / xp.expand_like(total, x, axis=axis, keepdims=True)


defop(
    "logsumexp", _logsumexp, inputs="x", infer=_reduced, dtypes="floating", work=each_read(4)
).vjp(x=lambda xp, g, x, out, **attrs: xp.expand_like(g, x, **attrs) * _shares(xp, x, out, **attrs))

# --- norms


def _p_norm(x: Array, *, p: float, axis: Axes, keepdims: bool = False) -> Array:
    """(sum of abs(x)**p)**(1/p) for a finite p other than 0; float16 computes in float32."""
    if x.dtype.char == "e":
        wide = _p_norm(x.astype(np.float32), p=p, axis=axis, keepdims=keepdims)
        return wide.astype(np.float16)
    size = np.abs(x)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        out = _norm_of_sizes(size, p, axis)
        # Where powers left the range of the dtype, they are taken relative to the largest.
        if (
            x.size
            and p > 1
            and not np.all((out > _SMALL[x.dtype.char] ** (1 / p)) & (out < np.inf))
        ):
            largest = np.asarray(np.maximum.reduce(size, axis=axis, keepdims=True))
            largest = np.where((largest > 0) & (largest < np.inf), largest, 1)
            out = largest * _norm_of_sizes(size / largest, p, axis)
    return out if keepdims else np.squeeze(out, axis)


# A sum of powers below this may have been made up of denormal ones.
_SMALL = {c: float(np.finfo(c).tiny / np.finfo(c).eps) for c in "fd"}


def _norm_of_sizes(size: Array, p: float, axis: Axes) -> Array:
    if p == 1:
        return np.asarray(_add_reduce(size, axis=axis, keepdims=True))
    if p == 2:
        return np.asarray(np.sqrt(_add_reduce(size * size, axis=axis, keepdims=True)))
    return np.asarray(_add_reduce(size**p, axis=axis, keepdims=True) ** (1.0 / p))


def _p_norm_x(xp: Any, g: Any, x: Any, out: Any, *, p: float, axis: Axes, keepdims: bool) -> Any:
    """sign(x) (abs(x) / norm)**(p - 1); 0 where the norm is 0, and where x is, unless p is 1.

    Infinite derivatives of powers below 1 are never formed: such elements are set to 1 before the
    power is taken, and their sign is 0.
    """
    if p == 1:
        return xp.expand_like(g, x, axis=axis, keepdims=keepdims) * xp.sign(x)
    zero = xp.equal(out, 0.0)
    norm = xp.where(zero, 1.0, out)
    g = xp.expand_like(xp.where(zero, 0.0, g), x, axis=axis, keepdims=keepdims)
    norm = xp.expand_like(norm, x, axis=axis, keepdims=keepdims)
    if p == 2:
        return g * (x / norm)  # g / norm would leave the range where x and the norm are tiny
    share = xp.where(xp.equal(x, 0.0), 1.0, xp.abs(x) / norm)
    return g * (xp.sign(x) * xp.pow(share, p - 1.0))


defop(
    "p_norm", _p_norm, real=True, inputs="x", infer=_reduced, dtypes="floating", work=each_read(3)
).vjp(x=_p_norm_x)
