"""Counting into bins. No count has a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dims import fresh_dim
from autograd_engine.core.dtypes import FLOAT32, INT64
from autograd_engine.core.spec import Array, Like, Spec
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.infer import index_dtype
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.registry.work import each_read


def _range(x: Array, low: float, high: float) -> tuple[float, float]:
    """The bounds of the bins: those of the data where both are 0, and never a single point."""
    if low == 0 and high == 0 and x.size:
        low, high = float(x.min()), float(x.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ArgumentError(
            f"histogram: the range [{low}, {high}] must be finite; give min and max"
        )
    return (low - 1.0, high + 1.0) if low == high else (low, high)


def _histogram(
    *xs: Array, bins: int, low: float = 0.0, high: float = 0.0, density: bool = False
) -> Array:
    """Of the first array, each element counting what the second has for it, if there is one."""
    x, weight = xs[0].ravel(), xs[1].ravel() if len(xs) > 1 else None
    counts, edges = np.histogram(x.astype(np.float64), bins, _range(x, low, high), weights=weight)
    if density:
        total = counts.sum()
        # The density of nothing is 0, without NumPy's 0 / 0.
        counts = counts / (total if total else 1) / np.diff(edges)
    return counts.astype(FLOAT32 if density or len(xs) > 1 else INT64)


defop(
    "histogram",
    _histogram,
    takes="bif",
    inputs="*xs",
    infer=lambda *xs, bins, low=0.0, high=0.0, density=False: Spec(
        (bins,), FLOAT32 if density or len(xs) > 1 else INT64
    ),
    work=each_read(),
).nondiff()


def _histogram_bin_edges(x: Array, *, bins: int, low: float = 0.0, high: float = 0.0) -> Array:
    return np.linspace(*_range(x, low, high), bins + 1, dtype=FLOAT32)


defop(
    "histogram_bin_edges",
    _histogram_bin_edges,
    takes="bif",
    inputs="x",
    infer=lambda x, *, bins, low=0.0, high=0.0: Spec((bins + 1,), FLOAT32),
).nondiff()


def _bincount(*xs: Array, minlength: int = 0) -> Array:
    """Of the first array, each element counting what the second has for it, if there is one."""
    if xs[0].size and xs[0].min() < 0:
        raise ArgumentError(f"bincount: x must hold numbers from 0 on, got {xs[0].min()}")
    weight = xs[1] if len(xs) > 1 else None
    return np.bincount(xs[0], weight, minlength).astype(_counted(xs))


def _counted(xs: Any) -> np.dtype[Any]:
    """int64 without weights; else float32 for float32 weights, float64 for all others."""
    if len(xs) == 1:
        return INT64
    return FLOAT32 if xs[1].dtype == FLOAT32 else np.dtype(np.float64)


def _infer_bincount(*xs: Spec, minlength: int = 0) -> Spec:
    index_dtype("bincount", "x", xs[0])
    return Spec((fresh_dim(),), _counted(xs))


defop(
    "bincount",
    _bincount,
    takes="if",
    inputs="*xs",
    infer=_infer_bincount,
    work=each_read(),
    checks_values=True,
    halves="as they are",
).nondiff()


def _row_counts(
    index: Array, like: Like, *, op: str, argument: str, size: int | None, grows: bool
) -> Array:
    """How often each row is named, of `size`; of those of `like`, or as many as there are names."""
    rows = 0 if grows else like.shape[0] if size is None else size
    low, high = (int(index.min()), int(index.max())) if index.size else (0, -1)
    if low < 0 or (high >= rows and not grows):
        known = "numbers from 0 on" if grows else f"rows, 0 to {rows - 1}"
        raise IndexError(f"{op}: {argument} must hold {known}; got {low if low < 0 else high}")
    return np.bincount(index, minlength=rows)


def _infer_row_counts(
    index: Spec, like: Spec, *, op: str, argument: str, size: int | None, grows: bool
) -> Spec:
    rows = fresh_dim() if grows else like.shape[0] if size is None else size
    return Spec((rows,), INT64)


defop(
    "row_counts",
    _row_counts,
    takes="i",
    untyped="like",
    inputs="index like",
    infer=_infer_row_counts,
    work=each_read(),
    checks_values=True,
).nondiff()
