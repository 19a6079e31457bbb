"""Standardisation, the core of batch, layer, group and instance normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import accumulation_dtype
from autograd_engine.core.spec import Array, Spec, reduced_shape, reshaped
from autograd_engine.ops.infer import same
from autograd_engine.ops.kernels import affine as kernels, columns, rows
from autograd_engine.ops.registry.namespace import raw_wide
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.registry.work import each_read

Axes = tuple[int, ...]
Sizes = tuple[int, ...] | None


def _standardize(x: Array, *, axis: Axes, epsilon: float) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(variance + epsilon), and the two moments with their axes kept."""
    shape = rows.lines(x, axis)
    if shape is not None:
        out, mean, variance = rows.standardize(x, shape, epsilon)
        kept = reduced_shape(x.shape, axis, keepdims=True)
        return out, mean.reshape(kept), variance.reshape(kept)
    done = columns.standardize(x, axis, epsilon)
    if done is not None:
        return done
    count = max(math.prod(x.shape[a] for a in axis), 1)
    mean = np.add.reduce(x, axis=axis, keepdims=True) / count
    out = np.asarray(x - mean)
    variance = np.add.reduce(out * out, axis=axis, keepdims=True) / count
    out = out / np.sqrt(variance + epsilon)
    return np.asarray(out), np.asarray(mean), np.asarray(variance)


def _infer_standardize(x: Spec, *, axis: Axes, epsilon: float) -> tuple[Spec, Spec, Spec]:
    """The moments of float16 are float32: the square of 300 is infinite in float16."""
    dtype = accumulation_dtype(x.dtype)
    moment = Spec(reduced_shape(x.shape, axis, keepdims=True), dtype)
    return x, moment, moment


def standardize_x(
    xp: Any,
    g_out: Any,
    g_mean: Any,
    g_variance: Any,
    out: Any,
    variance: Any,
    x_like: Any,
    *,
    axis: Axes,
    epsilon: float,
) -> Any:
    """With s = sqrt(variance + epsilon) and < > the mean over `axis`:
    dx = (g - <g> - out <g out>) / s + g_mean / n + g_variance 2 (x - mean) / n,
    where x - mean = out s. All of it is in the dtype of the moments.
    """
    out = xp.cast_like(out, variance)
    dx = None
    if g_out is not None:
        g_out = xp.cast_like(g_out, variance)
        dx = xp.standardize_adjoint(g_out, out, variance, axis=axis, epsilon=epsilon)
    if g_mean is not None:
        term = xp.spread_like(g_mean, x_like, axis=axis, keepdims=True)
        dx = term if dx is None else dx + term
    if g_variance is not None:
        s = xp.sqrt(variance + epsilon)
        term = xp.spread_like(g_variance, x_like, axis=axis, keepdims=True) * (2.0 * out * s)
        dx = term if dx is None else dx + term
    return xp.cast_like(dx, x_like)


defop(
    "standardize",
    _standardize,
    inputs="x",
    outputs="out mean variance",
    infer=_infer_standardize,
    dtypes="floating",
    lazy_cotangents=True,
    work=each_read(7),
    amp="high",
    types="batch_norm layer_norm group_norm instance_norm",
).vjp(x=standardize_x)


def _running_statistic(running: Array, statistic: Array, *, momentum: float) -> Array:
    """momentum running + (1 - momentum) statistic, in the dtype of `running`."""
    new = running * momentum + statistic.reshape(-1) * (1.0 - momentum)
    return np.asarray(new, dtype=running.dtype)


# What batch normalisation keeps for inference, outside of any gradient.
defop(
    "running_statistic",
    _running_statistic,
    inputs="running statistic",
    nondiff_outputs="out",
    infer=same,
).nondiff()


def _standardize_adjoint(
    y: Array, out: Array, variance: Array, *, axis: Axes, epsilon: float
) -> Array:
    """(y - <y> - out <y out>) / sqrt(variance + epsilon)."""
    shape = rows.lines(out, axis)
    if shape is not None:
        return rows.standardize_adjoint(y, out, variance, shape, epsilon)
    done = columns.standardize_adjoint(y, out, variance, axis, epsilon)
    if done is not None:
        return done
    count = max(math.prod(out.shape[a] for a in axis), 1)
    dx = out * (np.add.reduce(y * out, axis=axis, keepdims=True) / count)
    np.subtract(y, dx, out=dx)
    dx -= np.add.reduce(y, axis=axis, keepdims=True) / count
    dx /= np.sqrt(variance + epsilon)
    return np.asarray(dx)


def adjoint_y(xp: Any, g: Any, out: Any, variance: Any, *, axis: Axes, epsilon: float) -> Any:
    """Linear in y and its own adjoint."""
    return xp.standardize_adjoint(g, out, variance, axis=axis, epsilon=epsilon)


def adjoint_out(
    xp: Any, g: Any, y: Any, out: Any, variance: Any, *, axis: Axes, epsilon: float
) -> Any:
    """With s = sqrt(variance + epsilon): out <y out> gives -(y <g out> + g <y out>) / s."""
    along_g = xp.mean(g * out, axis=axis, keepdims=True)
    along_y = xp.mean(y * out, axis=axis, keepdims=True)
    return -(y * along_g + g * along_y) / xp.sqrt(variance + epsilon)


def adjoint_variance(xp: Any, g: Any, dx: Any, variance: Any, *, axis: Axes, epsilon: float) -> Any:
    """d(1 / s) is -1 / (2 s^2) of 1 / s for each unit of variance."""
    return xp.sum(g * dx, axis=axis, keepdims=True) / (-2.0 * (variance + epsilon))


defop(
    "standardize_adjoint",
    _standardize_adjoint,
    inputs="y out variance",
    outputs="dx",
    infer=lambda y, out, variance, **_: out,
    dtypes="common",
    work=each_read(8),
).vjp(y=adjoint_y, out=adjoint_out, variance=adjoint_variance)


# --- with a factor and a term for each channel


def affine(
    xp: Any,
    x: Any,
    weight: Any,
    bias: Any,
    *,
    axis: Axes,
    epsilon: float,
    split: Sizes,
    spread: Sizes,
) -> tuple[Any, Any, Any]:
    """`standardize_affine` by the operations that it is made of."""
    first = x if split is None else xp.reshape(x, shape=split)
    out, mean, variance = xp.standardize(first, axis=axis, epsilon=epsilon)
    if split is not None:
        out = xp.reshape_like(out, x)
    if spread is not None:
        weight, bias = xp.reshape(weight, shape=spread), xp.reshape(bias, shape=spread)
    return out * weight + bias, mean, variance


def affine_adjoint(
    xp: Any,
    y: Any,
    x: Any,
    weight: Any,
    *,
    axis: Axes,
    epsilon: float,
    split: Sizes,
    spread: Sizes,
) -> tuple[Any, Any, Any]:
    """`standardize_affine_adjoint` by the operations that it is made of."""
    first = x if split is None else xp.reshape(x, shape=split)
    factor = weight if spread is None else xp.reshape(weight, shape=spread)
    out, _, variance = xp.standardize(first, axis=axis, epsilon=epsilon)
    scaled = y * factor
    if split is not None:
        scaled = xp.reshape(scaled, shape=split)
    dx = xp.standardize_adjoint(scaled, out, variance, axis=axis, epsilon=epsilon)
    if split is not None:
        dx, out = xp.reshape_like(dx, x), xp.reshape_like(out, x)
    sums = [xp.reshape_like(xp.sum_like(v, factor), weight) for v in (y * out, y)]
    return dx, sums[0], sums[1]


def _standardize_affine(
    x: Array,
    weight: Array,
    bias: Array,
    *,
    axis: Axes,
    epsilon: float,
    split: Sizes,
    spread: Sizes,
) -> tuple[Array, Array, Array]:
    """`standardize`, times `weight`, plus `bias`; and the two moments.

    What is standardised is `x` in the shape `split`, if there is one, as `reshape` takes it: so
    channels fall into groups. `weight` and `bias` take the shape `spread` beside `x`.
    """
    done = kernels.standardize(x, weight, bias, axis, epsilon, split, spread)
    if done is not None:
        return done
    attrs: dict[str, Any] = {"axis": axis, "epsilon": epsilon, "split": split, "spread": spread}
    out, mean, variance = affine(raw_wide, x, weight, bias, **attrs)
    return np.ascontiguousarray(out), mean, variance


def _infer_standardize_affine(
    x: Spec,
    weight: Spec,
    bias: Spec,
    *,
    axis: Axes,
    epsilon: float,
    split: Sizes,
    spread: Sizes,
) -> tuple[Spec, Spec, Spec]:
    shape = x.shape if split is None else reshaped("reshape", x.shape, split)
    _, mean, variance = _infer_standardize(Spec(shape, x.dtype), axis=axis, epsilon=epsilon)
    return x, mean, variance


# The moments are kept for inference, outside of any gradient, as `running_statistic` keeps them.
defop(
    "standardize_affine",
    _standardize_affine,
    inputs="x weight bias",
    outputs="out mean variance",
    nondiff_outputs="mean variance",
    infer=_infer_standardize_affine,
    dtypes="floating",
    result="contiguous",
    work=each_read(9),
    amp="high",
    types="layer_norm",
).vjp_together(
    "x weight bias",
    lambda xp, g_out, x, weight, **attrs: xp.standardize_affine_adjoint(g_out, x, weight, **attrs),
)


def _standardize_affine_adjoint(
    y: Array,
    x: Array,
    weight: Array,
    *,
    axis: Axes,
    epsilon: float,
    split: Sizes,
    spread: Sizes,
) -> tuple[Array, Array, Array]:
    """With h what `x` is standardised to: the adjoint of y weight, and the sums of y h and y."""
    done = kernels.standardize_adjoint(y, x, weight, axis, epsilon, split, spread)
    if done is not None:
        return done
    attrs: dict[str, Any] = {"axis": axis, "epsilon": epsilon, "split": split, "spread": spread}
    dx, dweight, dbias = affine_adjoint(raw_wide, y, x, weight, **attrs)
    dx, dweight = np.ascontiguousarray(dx), np.ascontiguousarray(dweight)
    return dx, dweight, np.array(dbias, order="C")  # the sum of one element is that element


def _affine_adjoint_rule(
    xp: Any,
    g_dx: Any,
    g_dweight: Any,
    g_dbias: Any,
    y: Any,
    x: Any,
    weight: Any,
    *,
    axis: Axes,
    epsilon: float,
    split: Sizes,
    spread: Sizes,
) -> tuple[Any, Any, Any]:
    """By the rules of what it is made of: h = standardize(x), dx the adjoint of y weight,
    dweight and dbias the sums of y h and y. All of it is in the dtype of the moments.
    """
    attrs: dict[str, Any] = {"axis": axis, "epsilon": epsilon}

    def divided(v: Any) -> Any:
        return v if split is None else xp.reshape(v, shape=split)

    def whole(v: Any) -> Any:
        return v if split is None else xp.reshape_like(v, x)

    def beside(v: Any) -> Any:
        v = xp.cast_like(v, variance)
        return v if spread is None else xp.reshape(v, shape=spread)

    first = divided(x)
    h, _, variance = xp.standardize(first, **attrs)
    h, given, factor = xp.cast_like(h, variance), xp.cast_like(y, variance), beside(weight)
    cotangent_y = cotangent_h = cotangent_variance = dweight = None
    if g_dx is not None:
        scaled, v = divided(given * factor), divided(xp.cast_like(g_dx, variance))
        dx = xp.standardize_adjoint(scaled, h, variance, **attrs)
        cotangent_h = adjoint_out(xp, v, scaled, h, variance, **attrs)
        cotangent_variance = adjoint_variance(xp, v, dx, variance, **attrs)
        through = whole(adjoint_y(xp, v, h, variance, **attrs))
        cotangent_y = through * factor
        dweight = xp.reshape_like(xp.sum_like(given * through, factor), weight)
    if g_dweight is not None:
        v = beside(g_dweight)
        term, through = whole(h) * v, divided(given * v)
        cotangent_y = term if cotangent_y is None else cotangent_y + term
        cotangent_h = through if cotangent_h is None else cotangent_h + through
    if g_dbias is not None:
        term = xp.expand_like(beside(g_dbias), given, axis=(), keepdims=True)
        cotangent_y = term if cotangent_y is None else cotangent_y + term
    if cotangent_h is None:
        dx = xp.zeros_like(x)
    else:
        dx = standardize_x(xp, cotangent_h, None, cotangent_variance, h, variance, first, **attrs)
        dx = xp.cast_like(whole(dx), x)
    dweight = xp.zeros_like(weight) if dweight is None else xp.cast_like(dweight, weight)
    return xp.cast_like(cotangent_y, y), dx, dweight


defop(
    "standardize_affine_adjoint",
    _standardize_affine_adjoint,
    inputs="y x weight",
    outputs="dx dweight dbias",
    infer=lambda y, x, weight, **_: (x, weight, weight),
    dtypes="common",
    result="contiguous",
    lazy_cotangents=True,
    work=each_read(18),
).vjp_together("y x weight", _affine_adjoint_rule)
