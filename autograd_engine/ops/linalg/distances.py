"""Euclidean distances between the rows of two matrices, and what their gradients are made of.

Differences are formed: a product of matrices would lose the digits of small distances. Neither
operation keeps a difference for each pair of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dims import Size
from autograd_engine.core.dtypes import common_dtype
from autograd_engine.core.spec import Array, Shape, Spec, broadcast_shapes
from autograd_engine.ops.kernels.compiled import LARGE, compiled
from autograd_engine.ops.linalg.inverse import along_columns, along_rows, transposed
from autograd_engine.ops.reduction import SMALL, p_norm, within
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.registry.work import Specs, multiply_adds


def _pairs(x: Array, y: Array) -> Array:
    """x[i] - y[j], for each pair of rows."""
    return np.asarray(x[..., :, None, :] - y[..., None, :, :])


def _distances(x: Array, y: Array) -> Array:
    run = _in_c("distances.distances", x, y)
    if run is None:
        rest = _pairs(x, y)
        return p_norm(rest, p=2.0, axis=(rest.ndim - 1,))
    out = np.empty((*x.shape[:-1], y.shape[-2]), x.dtype)
    run(out)
    least = SMALL[x.dtype] ** 0.5
    if not within(out, least):  # the range of the dtype, for some squares
        again = np.nonzero(~((out > least) & (out < np.inf)))
        *batch, i, j = again
        rest = x[(*batch, i)] - y[(*batch, j)]
        out[again] = p_norm(rest, p=2.0, axis=(1,))
    return out


def _in_c(name: str, x: Array, y: Array, *before: Array) -> Any:
    """The function in C, of a result that it writes; None where NumPy computes."""
    large = x.size * y.shape[-2] >= LARGE and x.shape[:-2] == y.shape[:-2]
    if not large or any(v.dtype is not x.dtype for v in (y, *before)):
        return None
    run = compiled(name, x)
    if run is None:
        return None
    m, d = x.shape[-2:]
    sizes = x.size // (m * d), m, y.shape[-2], d
    columns = np.ascontiguousarray(y.swapaxes(-1, -2))
    given = [np.ascontiguousarray(v) for v in (*before, x)]
    return lambda out: run(*given, columns, out, *sizes)


def _batch(op: str, *shapes: Shape) -> Shape:
    batch: Shape = ()
    for shape in shapes:
        batch = broadcast_shapes(op, batch, shape[:-2])
    return batch


def _infer_distances(x: Spec, y: Spec) -> Spec:
    sizes = x.shape[-2], y.shape[-2]
    return Spec((*_batch("distances", x.shape, y.shape), *sizes), common_dtype([x.dtype, y.dtype]))


def _products(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Size:
    x, y = operands[-2:]
    return x.size * y.shape[-2]


def _distances_rule(xp: Any, g: Any, x: Any, y: Any, out: Any) -> tuple[Any, Any]:
    """With w = g / out, 0 where rows coincide: sum over j of w_ij (x_i - y_j); of y likewise."""
    same = xp.equal(out, 0.0)
    w = xp.where(same, 0.0, g / xp.where(same, 1.0, out))
    return (
        xp.weighted_differences(w, x, y),
        xp.weighted_differences(transposed(xp, w), y, x),
    )


defop(
    "distances",
    _distances,
    inputs="x y",
    infer=_infer_distances,
    broadcasts=2,
    takes="bif",
    dtypes="floating",
    work=multiply_adds(_products),
    amp="high",
).vjp_together("x y", _distances_rule)


def _weighted_differences(w: Array, x: Array, y: Array) -> Array:
    """The sum over j of w[i, j] (x[i] - y[j])."""
    run = _in_c("distances.differences", x, y, w) if w.shape[:-2] == x.shape[:-2] else None
    if run is not None:
        out = np.empty(x.shape, x.dtype)
        run(out)
        return out
    return np.asarray(np.add.reduce(w[..., None] * _pairs(x, y), axis=-2))


def _infer_differences(w: Spec, x: Spec, y: Spec) -> Spec:
    batch = _batch("weighted_differences", w.shape, x.shape, y.shape)
    return Spec((*batch, *x.shape[-2:]), common_dtype([w.dtype, x.dtype, y.dtype]))


def _weighted_differences_w(xp: Any, g: Any, x: Any, y: Any) -> Any:
    """<g_i, x_i - y_j>"""
    pairs = along_rows(xp, x) - xp.unsqueeze(y, axis=(y.ndim - 2,))
    return xp.sum(along_rows(xp, g) * pairs, axis=(max(g.ndim, y.ndim),), keepdims=False)


defop(
    "weighted_differences",
    _weighted_differences,
    inputs="w x y",
    outputs="dx",
    infer=_infer_differences,
    broadcasts=2,
    takes="f",
    dtypes="common",
    work=multiply_adds(_products),
    amp="high",
).vjp(
    w=_weighted_differences_w,
    x=lambda xp, g, w: g * along_columns(xp, xp.sum(w, axis=(w.ndim - 1,), keepdims=False)),
    y=lambda xp, g, w: -xp.matmul(w, g, transpose_x=True),
)
