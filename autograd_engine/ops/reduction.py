"""Reductions. `axis` is a tuple of axes counted from the front; the public functions see to it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import (
    BLAS_REALS,
    BOOL,
    INT64,
    UNSIGNED,
    finfo,
)
from autograd_engine.core.spec import Array, Spec, normalize_axes, reduced_shape
from autograd_engine.ops.infer import broadcast, sum_dtype
from autograd_engine.ops.kernels import columns, rows
from autograd_engine.ops.kernels.axes import with_axes
from autograd_engine.ops.kernels.branches import surely
from autograd_engine.ops.kernels.compiled import LARGE, compiled
from autograd_engine.ops.kernels.sums import total_over
from autograd_engine.ops.registry.opdef import NONDIFF, OpDef, defop
from autograd_engine.ops.registry.work import Specs, Work, each_read
from autograd_engine.ops.scan import exp_difference, product_dtype

Axes = tuple[int, ...]
# NumPy's stubs know no tuple of axes beside a computed keepdims.
_add_reduce: Any = np.add.reduce
_multiply_reduce: Any = np.multiply.reduce
_max_reduce: Any = np.maximum.reduce


def _reduced(x: Spec, *, axis: Axes, keepdims: bool = False, **_: Any) -> Spec:
    axes = normalize_axes("reduction", axis, x.ndim)
    return Spec(reduced_shape(x.shape, axes, keepdims), x.dtype)


def _sum(x: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    if x.dtype in UNSIGNED:  # NumPy would add up as uint64
        return np.asarray(_add_reduce(x, axis=axis, keepdims=keepdims, dtype=np.int64))
    return np.asarray(total_over(x, axis, keepdims))


def _infer_sum(x: Spec, *, axis: Axes, keepdims: bool = False) -> Spec:
    return Spec(_reduced(x, axis=axis, keepdims=keepdims).shape, sum_dtype(x.dtype))


def _mean(x: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    size = x.size
    count = size if len(axis) == x.ndim else math.prod([x.shape[a] for a in axis])
    if size < LARGE:
        total = _add_reduce(x, axis, None, None, keepdims)
    else:
        total = total_over(x, axis, keepdims)
    # The mean of nothing is NaN, without NumPy's warning about 0 / 0.
    return np.asarray(total / count if count else total * np.nan)


defop(
    "sum",
    _sum,
    inputs="x",
    infer=_infer_sum,
    tangent="linear",
    symbolic=True,
    work=each_read(),
    amp="high",
    types="reduce_sum",
).vjp(x=lambda xp, g, x_like, **attrs: xp.expand_like(g, x_like, **attrs))
defop(
    "mean",
    _mean,
    inputs="x",
    infer=_reduced,
    dtypes="floating",
    tangent="linear",
    work=each_read(),
    amp="high",
    types="reduce_mean",
).vjp(x=lambda xp, g, x_like, **attrs: xp.spread_like(g, x_like, **attrs))


def _reduction(name: str, reduce: Any, dtype: np.dtype[Any] | None = None, **options: Any) -> OpDef:
    """What NumPy reduces in one call, to results of `dtype`, or of the dtype of the operand."""

    def kernel(x: Array, *, axis: Any, keepdims: bool = False) -> Array:
        ours = x.__class__ is np.ndarray and name in ("max", "min")
        if ours and x.size >= rows.FEW and x.flags.c_contiguous:
            short = rows.short_rows(name, x, axis)
            if short is not None:
                return np.asarray(short(x).reshape(reduced_shape(x.shape, axis, keepdims)))
            between = rows.between(name, x, axis)
            if between is not None:
                out = np.empty(reduced_shape(x.shape, axis, keepdims), x.dtype)
                between(x, out)
                return out
        return np.asarray(reduce(x, axis=axis, keepdims=keepdims), dtype)

    def infer(x: Spec, *, axis: Any, keepdims: bool = False) -> Spec:
        return Spec(_reduced(x, axis=axis, keepdims=keepdims).shape, dtype or x.dtype)

    return defop(name, kernel, inputs="x", infer=infer, work=each_read(), **options)


# Elements that tie for the extremum share its cotangent equally. NaN is the extremum where there is
# one, though it equals nothing; its share is NaN.
for _name, _ufunc in (("max", np.maximum), ("min", np.minimum)):
    _reduction(
        _name,
        _ufunc.reduce,
        takes="bif",
        zero_gradient="not_chosen",
        types=f"reduce_{_name}",
    ).vjp(x=lambda xp, g, x, out, **attrs: xp.share_ties(g, x, out, **attrs))
_reduction("argmax", np.argmax, INT64, takes="bif").nondiff()
_reduction("argmin", np.argmin, INT64, takes="bif").nondiff()
_reduction("any", np.logical_or.reduce, BOOL).nondiff()
_reduction("all", np.logical_and.reduce, BOOL).nondiff()


# --- products: one axis at a time, so that a rule can run along it


def _prod(x: Array, *, axis: int, keepdims: bool = False) -> Array:
    dtype = product_dtype(x.dtype)
    if x.size >= LARGE and axis == x.ndim - 1 and x.dtype in BLAS_REALS:
        run = compiled("scans.prod", x)
        if run is not None:  # with the bits of NumPy's, which computes one row at a time
            shape = x.shape[:-1]
            flat = np.empty((*shape, 1) if keepdims else shape, x.dtype)
            run(np.ascontiguousarray(x), flat, math.prod(shape), x.shape[-1])
            return flat
    return np.asarray(_multiply_reduce(x, axis=axis, keepdims=keepdims, dtype=dtype))


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
    amp="high",
    types="reduce_prod",
).vjp(x=_prod_x)

# --- logarithm of a sum of exponentials


def _logsumexp(x: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    """The largest exponent is taken out, unless it is infinite: of nothing, and of -inf, -inf."""
    done = rows.logsumexp(x, axis)
    if done is None:
        done = columns.logsumexp(x, axis)
    if done is not None:
        return done.reshape(reduced_shape(x.shape, axis, keepdims))
    largest = _max_reduce(x, axis, None, None, True, -np.inf)
    if surely(np.isfinite(largest).all()):
        out = np.log(_add_reduce(np.exp(x - largest), axis, None, None, True)) + largest
    else:
        largest = np.where(np.isinf(largest), 0, largest)
        with np.errstate(divide="ignore"):
            out = np.log(_add_reduce(np.exp(x - largest), axis, None, None, True)) + largest
    return np.asarray(out if keepdims else out.squeeze(axis))


defop(
    "logsumexp",
    _logsumexp,
    inputs="x",
    infer=_reduced,
    dtypes="floating",
    work=each_read(4),
    amp="high",
).vjp(x=lambda xp, g, x, out, **attrs: xp.logsumexp_adjoint(g, x, out, **attrs))


def _logsumexp_adjoint(
    c: Array, x: Array, out: Array, *, axis: Axes, keepdims: bool = False
) -> Array:
    """c exp(x - out), divided by its sum: far out, `out` is rounded by more than exp can bear."""
    done = rows.logsumexp_adjoint(c, x, out, axis)
    if done is None:
        done = columns.logsumexp_adjoint(c, x, out, axis)
    if done is not None:
        return done
    if not keepdims:
        c, out = with_axes(c, axis), with_axes(out, axis)
    finite = surely(np.isfinite(out).all())
    weights = np.asarray(np.exp(x - out)) if finite else exp_difference(x, out)
    total = _add_reduce(weights, axis, None, None, True)
    if not finite:
        total = np.where(total == 0.0, 1.0, total)
    weights *= c / total
    return weights


def _along(xp: Any, g: Any, unit: Any, *, axis: Axes, keepdims: bool, **_: Any) -> Any:
    """The transpose of c -> c `unit`, with a number c for each line."""
    return xp.sum(g * unit, axis=axis, keepdims=keepdims)


def _logsumexp_adjoint_x(xp: Any, g: Any, dx: Any, x: Any, out: Any, **attrs: Any) -> Any:
    """With w the shares: u - w <u, 1>, where u = g dx."""
    through = g * dx
    total = xp.sum(through, **attrs)
    return through - xp.logsumexp_adjoint(total, x, out, **attrs)


# Shares add up to 1 whatever `out` is, so none of it flows there.
defop(
    "logsumexp_adjoint",
    _logsumexp_adjoint,
    inputs="c x out",
    outputs="dx",
    infer=lambda c, x, out, **_: x,
    dtypes="common",
    takes="fc",
    work=each_read(4, 1),
).vjp(
    c=lambda xp, g, c_like, x, out, **attrs: _along(
        xp, g, xp.logsumexp_adjoint(xp.full_like(c_like, value=1.0), x, out, **attrs), **attrs
    ),
    x=_logsumexp_adjoint_x,
    out=NONDIFF,
)

# --- norms


def _sum_of_squares(x: Array, axis: Axes) -> Array:
    """With `axis` kept: of long rows in C, with the bits of the sum of the squares."""
    if x.size < LARGE:
        return np.asarray(_add_reduce(x * x, axis, None, None, True))
    shape = rows.lines(x, axis) if x.flags.c_contiguous else None
    run = None if shape is None else compiled("sums.dot", x)
    if shape is None or run is None:
        return np.asarray(total_over(x * x, axis, True))
    table = x.reshape(shape)
    dots: Array = run(table, table)
    return dots.reshape(reduced_shape(x.shape, axis, True))


def p_norm(x: Array, *, p: float, axis: Axes, keepdims: bool = False) -> Array:
    """(sum of abs(x)**p)**(1/p) for a finite p other than 0."""
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        size = x if p == 2 else np.abs(x)
        out = _norm_of_sizes(size, p, axis)
        # Where powers left the range of the dtype, they are taken relative to the largest.
        if x.size and p > 1 and not within(out, SMALL[x.dtype] ** (1 / p)):
            size = np.abs(x)
            largest = np.asarray(np.maximum.reduce(size, axis=axis, keepdims=True))
            largest = np.where((largest > 0) & (largest < np.inf), largest, 1)
            out = largest * _norm_of_sizes(size / largest, p, axis)
    return out if keepdims else out.squeeze(axis)


# A sum of powers below this may have been made up of denormal ones.
SMALL = {d: float(finfo(d).tiny / finfo(d).eps) for d in BLAS_REALS}


def within(out: Array, least: float) -> bool:
    """Whether all of it is above `least`, and finite."""
    if out.size == 1:
        return bool(least < out.item() < math.inf)
    return bool(np.minimum.reduce(out, None) > least and np.maximum.reduce(out, None) < math.inf)


def _norm_of_sizes(size: Array, p: float, axis: Axes) -> Array:
    if p == 1:
        return np.asarray(_add_reduce(size, axis, None, None, True))
    if p == 2:
        return np.asarray(np.sqrt(_sum_of_squares(size, axis)))
    return np.asarray(_add_reduce(size**p, axis=axis, keepdims=True) ** (1.0 / p))


def _p_norm_work(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
    """Squares need no absolute values."""
    return Work(0, operands[0].size * (2 if attrs["p"] == 2 else 3))


def _p_norm_x(xp: Any, g: Any, x: Any, out: Any, *, p: float, axis: Axes, keepdims: bool) -> Any:
    """sign(x) (abs(x) / norm)**(p - 1); 0 where the norm is 0, and where x is, unless p is 1.

    Infinite derivatives of powers below 1 are never formed: such elements are set to 1 before the
    power is taken, and their sign is 0.
    """
    if p == 1:
        return xp.expand_like(g, x, axis=axis, keepdims=keepdims) * xp.sign(x)
    if p == 2:
        return xp.norm_adjoint(g, x, out, axis=axis, keepdims=keepdims)
    zero = xp.equal(out, 0.0)
    norm = xp.where(zero, 1.0, out)
    g = xp.expand_like(xp.where(zero, 0.0, g), x, axis=axis, keepdims=keepdims)
    norm = xp.expand_like(norm, x, axis=axis, keepdims=keepdims)
    share = xp.where(xp.equal(x, 0.0), 1.0, xp.abs(x) / norm)
    return g * (xp.sign(x) * xp.pow(share, p - 1.0))


defop(
    "p_norm",
    p_norm,
    takes="bif",
    inputs="x",
    infer=_reduced,
    dtypes="floating",
    work=_p_norm_work,
    amp="high",
    types="dist pnorm frobenius_norm renorm",
).vjp(x=_p_norm_x)


def _norm_adjoint(c: Array, x: Array, norm: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    """c (x / norm), 0 where the norm is: c / norm would leave the range where both are tiny."""
    if not surely(norm.all()):
        zero = norm == 0.0
        norm, c = np.where(zero, 1.0, norm).astype(x.dtype), np.where(zero, 0.0, c).astype(x.dtype)
    if x.size >= LARGE:
        done = rows.scaled(c, x, norm, axis)  # of the same bits
        if done is not None:
            return done
    if not keepdims:
        c, norm = with_axes(c, axis), with_axes(norm, axis)
    out = np.asarray(x / norm)
    out *= c
    return out


def _over_norm(name: str, kernel: Any, steps: int) -> None:
    """A row for the gradient of a norm: linear in `c`, and in `x` its own adjoint."""
    defop(
        name,
        kernel,
        inputs="c x norm",
        outputs="dx",
        infer=lambda c, x, norm, **_: x,
        dtypes="common",
        work=each_read(steps, 1),
    ).vjp(
        c=lambda xp, g, c_like, x, norm, **attrs: _along(
            xp, g, getattr(xp, name)(xp.full_like(c_like, value=1.0), x, norm, **attrs), **attrs
        ),
        x=lambda xp, g, c, norm, **attrs: getattr(xp, name)(c, g, norm, **attrs),
        norm=lambda xp, g, dx, norm, **attrs: (
            -_along(xp, g, dx, **attrs) / xp.where(xp.equal(norm, 0.0), 1.0, norm)
        ),
    )


_over_norm("norm_adjoint", _norm_adjoint, 2)

# --- spread about the mean, of n elements with n - correction degrees of freedom


def _centered(x: Array, axis: Axes) -> tuple[Array, float]:
    """`x` less its mean, and how many elements that is of; NaN for none."""
    total = _add_reduce(x, axis, None, None, True) if x.size < LARGE else total_over(x, axis, True)
    count = _count(x.shape, axis)
    return np.asarray(x - total / count), count


def _freedom(count: float, correction: float) -> float:
    left = count - correction
    return left if left > 0 else math.nan


def _variance(x: Array, *, axis: Axes, correction: float, keepdims: bool = False) -> Array:
    rest, count = _centered(x, axis)
    out = _sum_of_squares(rest, axis) / _freedom(count, correction)
    return np.asarray(out if keepdims else out.squeeze(axis))


def _variance_adjoint(
    c: Array, x: Array, *, axis: Axes, correction: float, keepdims: bool = False
) -> Array:
    """2 c (x - mean) / freedom: its own adjoint in `x`."""
    rest, count = _centered(x, axis)
    if not keepdims:
        c = with_axes(c, axis)
    rest *= c * (2.0 / _freedom(count, correction))
    return rest


defop(
    "variance",
    _variance,
    inputs="x",
    infer=_reduced,
    dtypes="floating",
    work=each_read(4),
    amp="high",
).vjp(x=lambda xp, g, x, **attrs: xp.variance_adjoint(g, x, **attrs))
defop(
    "variance_adjoint",
    _variance_adjoint,
    inputs="c x",
    outputs="dx",
    infer=lambda c, x, **_: x,
    dtypes="common",
    work=each_read(3, 1),
).vjp(
    c=lambda xp, g, c_like, x, **attrs: _along(
        xp, g, xp.variance_adjoint(xp.full_like(c_like, value=1.0), x, **attrs), **attrs
    ),
    x=lambda xp, g, c, **attrs: xp.variance_adjoint(c, g, **attrs),
)


def _deviation(x: Array, *, axis: Axes, correction: float, keepdims: bool = False) -> Array:
    rest, count = _centered(x, axis)
    length = p_norm(rest, p=2.0, axis=axis, keepdims=keepdims)
    return np.asarray(length / math.sqrt(_freedom(count, correction)))


def _deviation_adjoint(
    c: Array, x: Array, norm: Array, *, axis: Axes, correction: float, keepdims: bool = False
) -> Array:
    """c / freedom ((x - mean) / norm), 0 where the norm, which is the deviation, is."""
    rest, count = _centered(x, axis)
    freedom = _freedom(count, correction)
    if freedom != freedom:  # of one element, whose length is 0 whatever that is divided by
        return np.where(rest == 0.0, 0.0, np.nan).astype(x.dtype)
    scaled = np.asarray(c / freedom)
    return _norm_adjoint(scaled, rest, norm, axis=axis, keepdims=keepdims)


defop(
    "deviation",
    _deviation,
    takes="bif",
    inputs="x",
    infer=_reduced,
    dtypes="floating",
    work=each_read(4),
    amp="high",
).vjp(x=lambda xp, g, x, out, **attrs: xp.deviation_adjoint(g, x, out, **attrs))
_over_norm("deviation_adjoint", _deviation_adjoint, 4)

# --- the mean of squared differences, of arrays of as many axes: three steps of a loss


def _mean_square(x: Array, y: Array, *, axis: Axes) -> Array:
    if x.size >= LARGE and len(axis) == x.ndim and _in_step(x, y):
        run = compiled("sums.squared_distance", x)
        if run is not None:
            return np.asarray(run(x.reshape(-1), y.reshape(-1)) / x.size)
    apart = np.asarray(x - y)
    return np.asarray(_sum_of_squares(apart, axis).squeeze(axis) / _count(apart.shape, axis))


def _mean_square_adjoint(c: Array, x: Array, y: Array, *, axis: Axes) -> Array:
    """2 c / n (x - y), as steps would have it."""
    if x.size >= LARGE and not c.ndim and _in_step(x, y):
        run = compiled("sums.scaled_difference", x)
        if run is not None:
            dx: Array = run(c / x.size * 2.0, x.reshape(-1), y.reshape(-1))
            return dx.reshape(x.shape)
    out = np.asarray(x - y)
    out *= with_axes(np.asarray(c / _count(out.shape, axis) * 2.0), axis)
    return out


def _in_step(x: Array, y: Array) -> bool:
    """Whether elements that belong together lie at one place in memory."""
    return x.shape == y.shape and x.flags.c_contiguous and y.flags.c_contiguous


def _count(shape: Any, axis: Axes) -> float:
    """How many elements there are along `axis`; NaN for none."""
    return math.prod([shape[a] for a in axis]) or math.nan


def _infer_mean_square(x: Spec, y: Spec, *, axis: Axes) -> Spec:
    return _reduced(_both(x, y), axis=axis)


_both = broadcast("mean_square")


def _share_of_each(xp: Any, g: Any, c: Any, like: Any, axis: Axes) -> Any:
    return xp.sum_like(g * xp.spread_like(2.0 * c, g, axis=axis, keepdims=False), like)


defop(
    "mean_square",
    _mean_square,
    inputs="x y",
    infer=_infer_mean_square,
    dtypes="floating",
    work=each_read(3),
    amp="high",
    types="square_error_cost",
).vjp(
    x=lambda xp, g, x, y, *, axis: xp.sum_like(xp.mean_square_adjoint(g, x, y, axis=axis), x),
    y=lambda xp, g, x, y, *, axis: xp.sum_like(xp.mean_square_adjoint(-g, x, y, axis=axis), y),
)
defop(
    "mean_square_adjoint",
    _mean_square_adjoint,
    inputs="c x y",
    outputs="dx",
    infer=lambda c, x, y, *, axis: _both(x, y),
    dtypes="common",
    takes="fc",
    work=each_read(2, 1),
).vjp(
    c=lambda xp, g, x, y, *, axis: xp.mean(g * (2.0 * (x - y)), axis=axis, keepdims=False),
    x=lambda xp, g, c, x_like, *, axis: _share_of_each(xp, g, c, x_like, axis),
    y=lambda xp, g, c, y_like, *, axis: -_share_of_each(xp, g, c, y_like, axis),
)
