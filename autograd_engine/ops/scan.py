"""Scans: running sums, products and extrema along one axis, forward or (with `reverse`) backward.

The derivative of a running product holds products with one factor left out. They are neither
divided out, which fails at zeros, nor written as a matrix: they obey a linear recurrence, whose own
derivative is a linear recurrence in the other direction. So is the derivative of `logcumsumexp`,
with factors that never exceed 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import BOOL, FLOATS, INT64
from autograd_engine.core.spec import Array, Shape, Spec, format_shape, may_equal
from autograd_engine.errors import ShapeError
from autograd_engine.ops.infer import broadcast, same, sum_dtype
from autograd_engine.ops.kernels.axes import backwards
from autograd_engine.ops.kernels.branches import perhaps
from autograd_engine.ops.kernels.compiled import LARGE, MANY_STEPS, compiled
from autograd_engine.ops.registry.forms import VALUES_AND_INDICES, put_back
from autograd_engine.ops.registry.opdef import OpDef, defop
from autograd_engine.ops.registry.work import each_read


def _in_c(name: str, axis: int, *operands: Array, **how: Any) -> Array | None:
    """A function of `scans.c`, on large arrays."""
    return run_scan(name, axis, *operands, **how) if operands[-1].size >= LARGE else None


def run_scan(name: str, axis: int, *operands: Array, **how: Any) -> Array | None:
    """A function of `scans.c`, on arrays of one dtype. It has the bits of NumPy's."""
    x = operands[-1]
    if any(a.dtype != x.dtype for a in operands):
        return None
    run = compiled(f"scans.{name}", x)
    if run is None:
        return None
    out, shape = np.empty(x.shape, x.dtype), x.shape
    sizes = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    run(*map(np.ascontiguousarray, operands), out, *sizes, *how.values())
    return out


def _accumulate(ufunc: Any, x: Array, axis: int, reverse: bool, dtype: np.dtype[Any]) -> Array:
    """The running reduction."""
    if reverse:
        out = backwards(ufunc.accumulate(backwards(x, axis), axis=axis, dtype=dtype), axis)
    else:
        out = ufunc.accumulate(x, axis=axis, dtype=dtype)
    return np.asarray(out)


def product_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Products keep their dtype, as the reference has it; those of bools are int64."""
    return INT64 if dtype == BOOL else dtype


def _cumsum(x: Array, *, axis: int, reverse: bool = False) -> Array:
    done = _in_c("cumsum", axis, x, reverse=reverse)
    return _accumulate(np.add, x, axis, reverse, sum_dtype(x.dtype)) if done is None else done


def _cumprod(x: Array, *, axis: int, reverse: bool = False) -> Array:
    done = _in_c("cumprod", axis, x, reverse=reverse)
    if done is not None:
        return done
    return _accumulate(np.multiply, x, axis, reverse, product_dtype(x.dtype))


def _logcumsumexp(x: Array, *, axis: int, reverse: bool = False) -> Array:
    return _accumulate(np.logaddexp, x, axis, reverse, x.dtype)


# --- what their rules are made of


def _shift(x: Array, *, axis: int, reverse: bool = False, fill: float = 0.0) -> Array:
    """Each element at the place of the next (with `reverse`, of the one before)."""
    out = np.empty(x.shape, x.dtype)
    lead = (slice(None),) * axis
    first, last = (*lead, slice(0, 1)), (*lead, slice(-1, None))
    early, late = (*lead, slice(None, -1)), (*lead, slice(1, None))
    if reverse:
        out[early], out[last] = x[late], fill
    else:
        out[late], out[first] = x[early], fill
    return out


defop("shift", _shift, inputs="x", infer=same).vjp(
    x=lambda xp, g, *, axis, reverse: xp.shift(g, axis=axis, reverse=not reverse)
)


_STEPS = 8  # of a recurrence: each is two calls of NumPy's


def _linear_recurrence(a: Array, b: Array, *, axis: int, reverse: bool = False) -> Array:
    """s[i] = b[i] + a[i] s[i-1], with s[0] = b[0]; with `reverse` from the end: s[i+1] for s[i-1].

    One step for each element of the line: a division or a doubling scheme would take fewer, but
    the one fails where `a` is 0, the other overflows where the recurrence itself does not.
    """
    _check_one_shape(a.shape, b.shape)
    if b.shape[axis] >= _STEPS or b.size >= LARGE:
        done = run_scan("linear_recurrence", axis, a, b, reverse=reverse)
        if done is not None:
            return done
    step = -1 if reverse else 1
    factors = np.moveaxis(a, axis, 0)[::step]
    terms = np.moveaxis(b, axis, 0)[::step]
    out = np.array(terms, order="C")
    for i in range(1, len(out)):
        out[i] += factors[i] * out[i - 1]
    return np.moveaxis(out[::step], 0, axis)


def _check_one_shape(a: Shape, b: Shape) -> None:
    if not may_equal(a, b):
        raise ShapeError(
            f"linear_recurrence: a and b must have one shape, got {format_shape(a)} and "
            f"{format_shape(b)}"
        )


def _infer_recurrence(a: Spec, b: Spec, **_: Any) -> Spec:
    _check_one_shape(a.shape, b.shape)
    return Spec(b.shape, b.dtype)


def _transposed_recurrence(xp: Any, g: Any, a: Any, *, axis: int, reverse: bool) -> Any:
    """t[i] = g[i] + a[i+1] t[i+1]: what the cotangents add up to on their way back."""
    factors = xp.shift(a, axis=axis, reverse=not reverse)
    return xp.linear_recurrence(factors, g, axis=axis, reverse=not reverse)


defop(
    "linear_recurrence",
    _linear_recurrence,
    inputs="a b",
    infer=_infer_recurrence,
    work=each_read(2),
    amp="high",
).vjp(
    a=lambda xp, g, a, out, **attrs: (
        _transposed_recurrence(xp, g, a, **attrs) * xp.shift(out, **attrs)
    ),
    b=_transposed_recurrence,
)


def exp_difference(x: Array, y: Array) -> Array:
    """exp(x - y). Of equal infinities: 1 for the positive, 0 for the negative ones.

    An element of -inf has no weight in a sum of exponentials, not even among its like.
    """
    with np.errstate(invalid="ignore"):
        difference = np.asarray(x - y)
    if perhaps(np.isnan(difference).any()):
        equal = np.isnan(difference) & (x == y)
        difference = np.where(equal, np.minimum(x, 0), difference)
    return np.asarray(np.exp(difference))


defop(
    "exp_difference",
    exp_difference,
    takes="f",
    inputs="x y",
    infer=broadcast("exp_difference"),
    broadcasts=0,
    dtypes="common",
    tangent="elementwise",
).vjp(x=lambda xp, g, out: g * out, y=lambda xp, g, out: -(g * out))

# --- sums and products

defop(
    "cumsum",
    _cumsum,
    inputs="x",
    infer=lambda x, *, axis, reverse=False: Spec(x.shape, sum_dtype(x.dtype)),
    tangent="linear",
    amp="high",
).vjp(x=lambda xp, g, *, axis, reverse: xp.cumsum(g, axis=axis, reverse=not reverse))

# d out[k] / d x[i] is the product of what lies before i, times that of what lies between i and k.
defop(
    "cumprod",
    _cumprod,
    inputs="x",
    infer=lambda x, *, axis, reverse=False: Spec(x.shape, product_dtype(x.dtype)),
    amp="high",
).vjp(
    x=lambda xp, g, x, out, **attrs: (
        xp.shift(out, **attrs, fill=1.0) * _transposed_recurrence(xp, g, x, **attrs)
    )
)


def _product_of_others(x: Array, *, axis: int) -> Array:
    """For each element: what lies before, times what lies behind; right at zeros."""
    done = _in_c("product_of_others", axis, x)
    if done is not None:
        return done
    before = _shift(_cumprod(x, axis=axis), axis=axis, fill=1.0)
    behind = _shift(_cumprod(x, axis=axis, reverse=True), axis=axis, reverse=True, fill=1.0)
    return np.asarray(before * behind)


def _product_of_others_x(xp: Any, g: Any, x: Any, *, axis: int) -> Any:
    """Through what lies before, and through what lies behind: two running products."""

    def through(reverse: bool) -> Any:
        before = xp.cumprod(x, axis=axis, reverse=reverse)
        before = xp.shift(before, axis=axis, reverse=reverse, fill=1.0)
        behind = xp.cumprod(x, axis=axis, reverse=not reverse)
        behind = xp.shift(behind, axis=axis, reverse=not reverse, fill=1.0)
        back = xp.shift(g * behind, axis=axis, reverse=not reverse)
        return before * _transposed_recurrence(xp, back, x, axis=axis, reverse=reverse)

    return through(False) + through(True)


defop("product_of_others", _product_of_others, inputs="x", infer=same, work=each_read(2)).vjp(
    x=_product_of_others_x
)


def _logcumsumexp_x(xp: Any, g: Any, x: Any, out: Any, **attrs: Any) -> Any:
    """Sum over k >= i of g[k] exp(x[i] - out[k]).

    It is exp(x[i] - out[i]) t[i] with t[i] = g[i] + exp(out[i] - out[i+1]) t[i+1].
    """
    before = xp.shift(out, **attrs, fill=-math.inf)
    factors = xp.exp_difference(before, out)
    return xp.exp_difference(x, out) * _transposed_recurrence(xp, g, factors, **attrs)


defop(
    "logcumsumexp",
    _logcumsumexp,
    takes="bif",
    inputs="x",
    infer=same,
    dtypes="floating",
    amp="high",
).vjp(x=_logcumsumexp_x)

# --- extrema


def _running_extremum(name: str, ufunc: Any) -> OpDef:
    def kernel(x: Array, *, axis: int) -> tuple[Array, Array]:
        """Values so far, and where the latest of them is; NaN is the extremum from there on."""
        run = compiled("scans.extrema", x) if x.size >= MANY_STEPS else None
        if run is not None:
            values, places = np.empty(x.shape, x.dtype), np.empty(x.shape, np.int64)
            shape = x.shape
            count, inner = shape[axis], math.prod(shape[axis + 1 :])
            lead = math.prod(shape[:axis])
            run(np.ascontiguousarray(x), values, places, lead, count, inner, ufunc is np.maximum)
            return values, places
        values = ufunc.accumulate(x, axis=axis)
        reached = x == values
        if x.dtype in FLOATS:
            reached |= x != x
        sizes = [1] * x.ndim
        sizes[axis] = x.shape[axis]
        positions = np.arange(x.shape[axis], dtype=np.int64).reshape(sizes)
        index = np.maximum.accumulate(np.where(reached, positions, 0), axis=axis)
        return values, index

    def infer(x: Spec, *, axis: int) -> tuple[Spec, Spec]:
        return Spec(x.shape, x.dtype), Spec(x.shape, INT64)

    return defop(name, kernel, **VALUES_AND_INDICES, infer=infer).vjp(x=put_back)


_running_extremum("cummax", np.maximum)
_running_extremum("cummin", np.minimum)
