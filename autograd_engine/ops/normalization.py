"""Standardisation, the core of batch, layer, group and instance normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.dtypes import FLOAT32
from autograd_engine.registry import defop
from autograd_engine.spec import Spec, reduced_shape

Array = NDArray[Any]
Axes = tuple[int, ...]


def _standardize(x: Array, *, axis: Axes, epsilon: float) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(variance + epsilon), and the two moments with their axes kept.

    The moments of float16 are float32: the square of 300 is infinite in float16.
    """
    work = x.astype(np.float32) if x.dtype == np.float16 else x
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
    s = xp.sqrt(variance + epsilon)
    out = xp.cast_like(out, variance)
    dx = None
    if g_out is not None:
        g_out = xp.cast_like(g_out, variance)
        mean_g = xp.mean(g_out, axis=axis, keepdims=True)
        mean_gout = xp.mean(g_out * out, axis=axis, keepdims=True)
        dx = (g_out - mean_g - out * mean_gout) / s
    if g_mean is not None:
        term = xp.spread_like(g_mean, x_like, axis=axis, keepdims=True)
        dx = term if dx is None else dx + term
    if g_variance is not None:
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
).vjp(x=standardize_x)
