"""Reductions. `axis` is a tuple of axes counted from the front; the public functions see to it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.dtypes import INT64
from autograd_engine.ops.infer import sum_dtype
from autograd_engine.registry import NONDIFF, OpDef, defop
from autograd_engine.spec import Spec, normalize_axes, reduced_shape

Array = NDArray[Any]
Axes = tuple[int, ...]
# NumPy's stubs know no tuple of axes beside a computed keepdims.
_add_reduce: Any = np.add.reduce


def _reduced(x: Spec, axis: Axes, keepdims: bool) -> Spec:
    axes = normalize_axes("reduction", axis, x.ndim)
    return Spec(reduced_shape(x.shape, axes, keepdims), x.dtype)


def _sum(x: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    if x.dtype.char == "e":  # accumulates in float32: 2048 + 1 is 2048 in float16
        wide = _add_reduce(x, axis=axis, keepdims=keepdims, dtype=np.float32)
        return np.asarray(wide).astype(np.float16)
    return np.asarray(_add_reduce(x, axis=axis, keepdims=keepdims))


def _infer_sum(x: Spec, *, axis: Axes, keepdims: bool = False) -> Spec:
    return Spec(_reduced(x, axis, keepdims).shape, sum_dtype(x.dtype))


def _mean(x: Array, *, axis: Axes, keepdims: bool = False) -> Array:
    count = x.size if len(axis) == x.ndim else math.prod([x.shape[a] for a in axis])
    if x.dtype.char == "e":  # accumulates in float32
        return _mean(x.astype(np.float32), axis=axis, keepdims=keepdims).astype(np.float16)
    total = _add_reduce(x, axis=axis, keepdims=keepdims)
    # The mean of nothing is NaN, without NumPy's warning about 0 / 0.
    return np.asarray(total / count if count else total * np.nan)


defop("sum", _sum, inputs="x", infer=_infer_sum).vjp(
    x=lambda xp, g, x_like, *, axis, keepdims: xp.expand_like(
        g, x_like, axis=axis, keepdims=keepdims
    )
)
defop(
    "mean",
    _mean,
    inputs="x",
    infer=lambda x, *, axis, keepdims=False: _reduced(x, axis, keepdims),
    dtypes="floating",
).vjp(
    x=lambda xp, g, x_like, *, axis, keepdims: xp.spread_like(
        g, x_like, axis=axis, keepdims=keepdims
    )
)


def _extremum(name: str, reduce: Any) -> OpDef:
    def kernel(x: Array, *, axis: Axes, keepdims: bool = False) -> Array:
        return np.asarray(reduce(x, axis=axis, keepdims=keepdims))

    def infer(x: Spec, *, axis: Axes, keepdims: bool = False) -> Spec:
        return _reduced(x, axis, keepdims)

    def share_among_ties(xp: Any, g: Any, x: Any, out: Any, *, axis: Axes, keepdims: bool) -> Any:
        """Elements that tie for the extremum share its cotangent equally.

        NaN is the extremum where there is one, though it equals nothing; its share is NaN.
        """
        extremum = xp.expand_like(out, x, axis=axis, keepdims=keepdims)
        ties = xp.logical_or(xp.equal(x, extremum), xp.not_equal(x, x))
        # float64 holds any count; 65504 is the last that float16 does.
        count = xp.cast(xp.sum(ties, axis=axis, keepdims=keepdims), dtype="float64")
        share = xp.cast_like(g / count, out)
        share = xp.where(xp.equal(out, out), share, xp.sign(out))  # sign(NaN) is NaN
        return xp.where(ties, xp.expand_like(share, x, axis=axis, keepdims=keepdims), 0.0)

    return defop(name, kernel, inputs="x", infer=infer).vjp(x=share_among_ties)


_extremum("max", np.maximum.reduce)
_extremum("min", np.minimum.reduce)


def _arg(name: str, kernel_of: Any) -> OpDef:
    def kernel(x: Array, *, axis: int, keepdims: bool = False) -> Array:
        return np.asarray(kernel_of(x, axis=axis, keepdims=keepdims), dtype=np.int64)

    def infer(x: Spec, *, axis: int, keepdims: bool = False) -> Spec:
        return Spec(_reduced(x, (axis,), keepdims).shape, INT64)

    return defop(name, kernel, inputs="x", infer=infer).nondiff()


_arg("argmax", np.argmax)
_arg("argmin", np.argmin)


def _topk(x: Array, *, k: int, axis: int, largest: bool = True) -> tuple[Array, Array]:
    """Sorted, ties in order of position (a stable sort decides); NaN is larger than any number."""
    if largest:
        # Ascending from the back, then read from the back: ties end in order of position again.
        # -x would do for floats only: it wraps for integers that have no negative.
        back = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
        order = x.shape[axis] - 1 - np.flip(back, axis)
    else:
        order = np.argsort(x, axis=axis, kind="stable")
    index = np.take(order, np.arange(k), axis=axis).astype(np.int64, copy=False)
    return np.take_along_axis(x, index, axis=axis), index


def _infer_topk(x: Spec, *, k: int, axis: int, largest: bool = True) -> tuple[Spec, Spec]:
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return Spec(shape, x.dtype), Spec(shape, INT64)


defop(
    "topk",
    _topk,
    inputs="x",
    outputs="values indices",
    nondiff_outputs="indices",
    infer=_infer_topk,
).vjp(
    x=lambda xp, g_values, indices, x_like, *, axis: xp.put_along_axis_like(
        g_values, indices, x_like, axis=axis
    )
)


def _truth(name: str, reduce: Any) -> OpDef:
    def kernel(x: Array, *, axis: Axes, keepdims: bool = False) -> Array:
        return np.asarray(reduce(x, axis=axis, keepdims=keepdims), dtype=np.bool_)

    def infer(x: Spec, *, axis: Axes, keepdims: bool = False) -> Spec:
        return Spec(_reduced(x, axis, keepdims).shape, np.dtype(np.bool_))

    return defop(name, kernel, inputs="x", infer=infer).vjp(x=NONDIFF)


_truth("any", np.logical_or.reduce)
_truth("all", np.logical_and.reduce)
