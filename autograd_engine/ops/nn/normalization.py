"""Standardisation, the core of batch, layer, group and instance normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import FLOAT32
from autograd_engine.core.spec import Array, Spec, reduced_shape
from autograd_engine.ops.infer import same
from autograd_engine.ops.kernels import columns, rows
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.work import each_read

Axes = tuple[int, ...]


def _standardize(x: Array, *, axis: Axes, epsilon: float) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(variance + epsilon), and the two moments with their axes kept.

    The moments of float16 are float32: the square of 300 is infinite in float16.
    """
    work = x.astype(np.float32) if x.dtype == np.float16 else x
    shape = rows.lines(work, axis)
    if shape is not None:
        out, mean, variance = rows.standardize(work, shape, epsilon)
        kept = reduced_shape(x.shape, axis, keepdims=True)
        return out.astype(x.dtype, copy=False), mean.reshape(kept), variance.reshape(kept)
    done = columns.standardize(work, axis, epsilon)
    if done is not None:
        return done[0].astype(x.dtype, copy=False), *done[1:]
    count = max(math.prod(x.shape[a] for a in axis), 1)
    mean = np.add.reduce(work, axis=axis, keepdims=True) / count
    out = np.asarray(work - mean)
    variance = np.add.reduce(out * out, axis=axis, keepdims=True) / count
    out = out / np.sqrt(variance + epsilon)
    return np.asarray(out, dtype=x.dtype), np.asarray(mean), np.asarray(variance)


def _infer_standardize(x: Spec, *, axis: Axes, epsilon: float) -> tuple[Spec, Spec, Spec]:
    dtype = FLOAT32 if x.dtype == np.float16 else x.dtype
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
    """(y - <y> - out <y out>) / sqrt(variance + epsilon): float16 computes in float32."""
    if out.dtype.char == "e":
        wide = [v.astype(np.float32) for v in (y, out, variance)]
        return _standardize_adjoint(*wide, axis=axis, epsilon=epsilon).astype(np.float16)
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


# With s = sqrt(variance + epsilon): linear in y and its own adjoint; the product out <y out> gives
# -(y <g out> + g <y out>) / s for out; d(1 / s) is -1 / (2 s^2) of 1 / s for each unit of variance.
defop(
    "standardize_adjoint",
    _standardize_adjoint,
    inputs="y out variance",
    outputs="dx",
    infer=lambda y, out, variance, **_: out,
    dtypes="common",
    work=each_read(8),
).vjp(
    y=lambda xp, g, out, variance, **attrs: xp.standardize_adjoint(g, out, variance, **attrs),
    out=lambda xp, g, y, out, variance, *, axis, epsilon: (
        -(
            y * xp.mean(g * out, axis=axis, keepdims=True)
            + g * xp.mean(y * out, axis=axis, keepdims=True)
        )
        / xp.sqrt(variance + epsilon)
    ),
    variance=lambda xp, g, dx, variance, *, axis, epsilon: (
        xp.sum(g * dx, axis=axis, keepdims=True) / (-2.0 * (variance + epsilon))
    ),
)
