"""Distances between the rows of two matrices: loops over the differences, of which none is kept."""

from __future__ import annotations

from autograd_engine.compiler.native.lowering.reduction import p_norm
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers


def _pairs(np: Loops, x: Traced, y: Traced) -> Traced:
    return np.expand_dims(x, -2) - np.expand_dims(y, -3)


@lowers("distances")
def _distances(np: Loops, x: Traced, y: Traced) -> Traced:
    rest = _pairs(np, x, y)
    out: Traced = p_norm(np, rest, p=2.0, axis=(rest.ndim - 1,))
    return out


@lowers("weighted_differences")
def _weighted_differences(np: Loops, w: Traced, x: Traced, y: Traced) -> Traced:
    return np.reduce("sum", np.expand_dims(w, -1) * _pairs(np, x, y), -2)
