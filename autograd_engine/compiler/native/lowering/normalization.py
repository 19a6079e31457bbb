"""Standardization along axes."""

from __future__ import annotations

import math

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers
from autograd_engine.core.spec import reshaped

__all__: list[str] = []

Axes = tuple[int, ...]
Sizes = tuple[int, ...] | None


@lowers("standardize")
def _standardize(
    np: Loops, x: Traced, *, axis: Axes, epsilon: float
) -> tuple[Traced, Traced, Traced]:
    count = math.prod(x.shape[a] for a in axis)
    mean = np.reduce("sum", x, axis, True) / count
    centred = x - mean
    variance = np.reduce("sum", centred * centred, axis, True) / count
    return centred / np.map("sqrt", variance + epsilon), mean, variance


@lowers("standardize_adjoint")
def _standardize_adjoint(
    np: Loops, y: Traced, out: Traced, variance: Traced, *, axis: Axes, epsilon: float
) -> Traced:
    count = math.prod(out.shape[a] for a in axis)
    along = np.reduce("sum", y * out, axis, True) / count
    mean = np.reduce("sum", y, axis, True) / count
    return (y - mean - out * along) / np.map("sqrt", variance + epsilon)


def _split(x: Traced, split: Sizes) -> Traced:
    return x if split is None else x.reshape(reshaped("reshape", x.shape, split))


@lowers("standardize_affine")
def _standardize_affine(
    np: Loops,
    x: Traced,
    weight: Traced,
    bias: Traced,
    *,
    axis: Axes,
    epsilon: float,
    split: Sizes,
    spread: Sizes,
) -> tuple[Traced, Traced, Traced]:
    out, mean, variance = _standardize(np, _split(x, split), axis=axis, epsilon=epsilon)
    if spread is not None:
        weight, bias = weight.reshape(spread), bias.reshape(spread)
    return out.reshape(x.shape) * weight + bias, mean, variance


@lowers("standardize_affine_adjoint")
def _standardize_affine_adjoint(
    np: Loops,
    y: Traced,
    x: Traced,
    weight: Traced,
    *,
    axis: Axes,
    epsilon: float,
    split: Sizes,
    spread: Sizes,
) -> tuple[Traced, Traced, Traced]:
    out, _, variance = _standardize(np, _split(x, split), axis=axis, epsilon=epsilon)
    factor = weight if spread is None else weight.reshape(spread)
    scaled = _split(y * factor, split)
    dx = _standardize_adjoint(np, scaled, out, variance, axis=axis, epsilon=epsilon)
    lead = x.ndim - factor.ndim
    axes = (*range(lead), *(lead + k for k, d in enumerate(factor.shape) if d == 1))
    sums = [np.reduce("sum", v, axes).reshape(weight.shape) for v in (y * out.reshape(x.shape), y)]
    return dx.reshape(x.shape), sums[0], sums[1]
