"""Pooling of images (N, C, *size) with any number of axes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autograd_engine.core.dims import Dim, product
from autograd_engine.core.dtypes import INT64
from autograd_engine.core.random_generator import generator
from autograd_engine.core.spec import Array, Spec, format_shape
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.infer import like as infer_like
from autograd_engine.ops.kernels import pool as kernels
from autograd_engine.ops.kernels.windows import Ints, Padding, window_count
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.work import Specs, Work, each_read


def _pooled(op: str, x: Spec, kernel: Ints, stride: Ints, padding: Padding, ceil: bool) -> Spec:
    size = [
        window_count(*along, ceil_mode=ceil)
        for along in zip(x.shape[2:], kernel, stride, padding, strict=True)
    ]
    if any(not isinstance(d, Dim) and d < 1 for d in size):
        raise ShapeError(
            f"{op}: a window of {list(kernel)} does not fit x {format_shape(x.shape)} with "
            f"padding {padding}"
        )
    return Spec((*x.shape[:2], *size), x.dtype)


def _infer_max_pool(
    x: Spec, *, kernel: Ints, stride: Ints, padding: Padding, ceil_mode: bool
) -> tuple[Spec, Spec]:
    out = _pooled(f"max_pool{len(kernel)}d", x, kernel, stride, padding, ceil_mode)
    return out, Spec(out.shape, INT64)


def _infer_avg_pool(
    x: Spec, *, kernel: Ints, stride: Ints, padding: Padding, ceil_mode: bool, **_: Any
) -> Spec:
    return _pooled(f"avg_pool{len(kernel)}d", x, kernel, stride, padding, ceil_mode)


def _infer_adaptive(op: str, x: Spec, size: kernels.Bins) -> Spec:
    for n in x.shape[2:]:
        if n == 0:
            raise ShapeError(
                f"{op}{x.ndim - 2}d: x {format_shape(x.shape)} has an empty axis, which has no bins"
            )
    if any(isinstance(o, int) and o > kernels.MOST_BINS for o in size):
        raise ArgumentError(
            f"{op}{x.ndim - 2}d: {list(size)} bins are too many: {kernels.MOST_BINS} along an axis "
            "are the most that it takes"
        )
    bins = [n if o is None else o for n, o in zip(x.shape[2:], size, strict=True)]
    return Spec((*x.shape[:2], *bins), x.dtype)


def _infer_adaptive_max_pool(x: Spec, *, size: kernels.Bins) -> tuple[Spec, Spec]:
    out = _infer_adaptive("adaptive_max_pool", x, size)
    return out, Spec(out.shape, INT64)


def _fractional_max_index(
    x: Array, *, size: kernels.Bins, kernel: Ints | None, u: float | None
) -> Array:
    """`u` is drawn where None."""
    drawn = generator().random() if u is None else u
    return kernels.fractional_max_index(x, size=size, kernel=kernel, u=drawn)


def _infer_fractional(x: Spec, *, size: kernels.Bins, kernel: Ints | None, u: float | None) -> Spec:
    out = _infer_adaptive("fractional_max_pool", x, size)
    bins = out.shape[2:]
    for n, o, k in zip(x.shape[2:], bins, kernel or (1,) * len(bins), strict=True):
        if not isinstance(n, Dim) and not isinstance(o, Dim) and n < o - 1 + k:
            windows = "" if kernel is None else f" of {k} elements"
            raise ShapeError(
                f"fractional_max_pool{len(bins)}d: an axis of {n} elements has no {o} bins"
                f"{windows}; x is {format_shape(x.shape)}"
            )
    return Spec(out.shape, INT64)


def _each_window(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
    """Each window is read once."""
    return Work(0, results[0].size * product(attrs["kernel"]))


def _each_window_read(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
    return Work(0, operands[0].size * product(attrs["kernel"]))


# Linear in images, each on its own.
_LINEAR: Final[dict[str, Any]] = {"tangent": "linear", "result": "contiguous", "stacks": "images"}

# --- maximum: the cotangent goes to the first element of a window that attains it

defop(
    "max_pool",
    kernels.max_pool,
    takes="bif",
    inputs="x",
    outputs="out index",
    nondiff_outputs="index",
    infer=_infer_max_pool,
    result="contiguous",
    stacks="images",
    work=_each_window,
    zero_gradient="not_chosen",
    types="max_pool2d_with_index",
).vjp(x=lambda xp, g_out, index, x_like: xp.max_pool_scatter(g_out, index, x_like))
defop(
    "adaptive_max_pool",
    kernels.adaptive_max_pool,
    takes="bif",
    inputs="x",
    outputs="out index",
    nondiff_outputs="index",
    infer=_infer_adaptive_max_pool,
    stacks="images",
).vjp(x=lambda xp, g_out, index, x_like: xp.max_pool_scatter(g_out, index, x_like))
defop(
    "fractional_max_index",
    _fractional_max_index,
    inputs="x",
    infer=_infer_fractional,
    random=True,
).nondiff()
defop(
    "max_pool_scatter",
    kernels.max_pool_scatter,
    inputs="y index like",
    infer=infer_like,
    **_LINEAR,
    work=each_read(),
    checks_values=True,
).vjp(y=lambda xp, g, index: xp.max_pool_gather(g, index), index=NONDIFF, like=NONDIFF)
defop(
    "max_pool_gather",
    kernels.max_pool_gather,
    inputs="x index",
    infer=lambda x, index: Spec(index.shape, x.dtype),
    tangent="linear",
    elements="picked",
    stacks="images",
    checks_values=True,
).vjp(
    x=lambda xp, g, index, x_like: xp.max_pool_scatter(g, index, x_like),
    index=NONDIFF,
)
defop(
    "last_writes",
    kernels.last_writes,
    inputs="index like",
    infer=lambda index, like: Spec(index.shape, np.dtype(np.bool_)),
    checks_values=True,
).nondiff()

# --- mean: linear

defop(
    "avg_pool",
    kernels.avg_pool,
    takes="fc",
    inputs="x",
    infer=_infer_avg_pool,
    **_LINEAR,
    work=_each_window,
).vjp(x=lambda xp, g, x_like, **attrs: xp.avg_pool_input(g, x_like, **attrs))
defop(
    "avg_pool_input",
    kernels.avg_pool_input,
    takes="fc",
    inputs="y like",
    infer=infer_like,
    **_LINEAR,
    work=_each_window_read,
).vjp(y=lambda xp, g, **attrs: xp.avg_pool(g, **attrs), like=NONDIFF)
defop(
    "adaptive_avg_pool",
    kernels.adaptive_avg_pool,
    takes="fc",
    inputs="x",
    infer=lambda x, *, size: _infer_adaptive("adaptive_avg_pool", x, size),
    **_LINEAR,
).vjp(x=lambda xp, g, x_like, **attrs: xp.adaptive_avg_pool_input(g, x_like, **attrs))
defop(
    "adaptive_avg_pool_input",
    kernels.adaptive_avg_pool_input,
    takes="fc",
    inputs="y like",
    infer=infer_like,
    **_LINEAR,
).vjp(y=lambda xp, g, **attrs: xp.adaptive_avg_pool(g, **attrs), like=NONDIFF)
