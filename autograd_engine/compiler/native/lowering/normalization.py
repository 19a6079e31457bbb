"""Standardization along axes."""

from __future__ import annotations

import math

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers

__all__: list[str] = []

Axes = tuple[int, ...]


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
