"""Triangular factors of matrices with their rows exchanged.

Pivots are those of LAPACK: row i was exchanged with row pivots[i] - 1, in this order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import (
    Array,
    Like,
    Spec,
    format_shape,
    may_equal,
)
from autograd_engine.errors import IndexRangeError, ShapeError
from autograd_engine.ops.infer import index_dtype
from autograd_engine.ops.linalg.decomposition import smaller
from autograd_engine.ops.linalg.inverse import at_least_a_matrix, transposed
from autograd_engine.ops.registry.forms import OF_MATRICES
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.work import nothing, of_matrices

INT32 = np.dtype(np.int32)


def _lu(x: Array) -> tuple[Array, Array, Array]:
    *batch, m, n = x.shape
    a = np.array(x).reshape(math.prod(batch), m, n)
    k, each = min(m, n), np.arange(len(a))
    pivots = np.zeros((len(a), k), np.int32)
    info = np.zeros(len(a), np.int32)
    for j in range(k):
        p = np.argmax(np.abs(a[:, j:, j]), axis=1) + j
        a[each, j], a[each, p] = a[each, p], a[each, j]
        pivots[:, j] = p + 1
        pivot = a[:, j, j]
        info[(info == 0) & (pivot == 0)] = j + 1
        a[:, j + 1 :, j] /= np.where(pivot == 0, 1, pivot)[:, None]
        a[:, j + 1 :, j + 1 :] -= a[:, j + 1 :, j, None] * a[:, j, None, j + 1 :]
    return a.reshape(x.shape), pivots.reshape(*batch, k), info.reshape(batch)


def _infer_lu(x: Spec) -> tuple[Spec, Spec, Spec]:
    at_least_a_matrix("lu", x)
    batch = x.shape[:-2]
    pivots = Spec((*batch, smaller(*x.shape[-2:])), INT32)
    return Spec(x.shape, x.dtype), pivots, Spec(batch, INT32)


def _lu_x(xp: Any, g_lu: Any, lu: Any, pivots: Any) -> Any:
    """Of square matrices: P' L'^-1 (tril(L' Gl, -1) + triu(Gu U')) U'^-1 (Giles)."""
    strict = xp.tril(lu, diagonal=-1)
    # Below the diagonal, the product reads nothing of Gl but what is below it, too.
    lower = xp.tril(xp.matmul(strict, g_lu, transpose_x=True) + g_lu, diagonal=-1)
    upper = xp.triu(xp.matmul(xp.triu(g_lu), xp.triu(lu), transpose_y=True))
    half = xp.triangular_solve(lu, lower + upper, upper=False, transpose=True, unitriangular=True)
    whole = transposed(xp, xp.triangular_solve(lu, transposed(xp, half)))
    return xp.exchange_rows(whole, pivots, backwards=True)


_LU: dict[str, Any] = {
    "inputs": "x",
    "outputs": "lu pivots info",
    "nondiff_outputs": "pivots info",
    "infer": _infer_lu,
    **OF_MATRICES,
    "work": of_matrices(2, 3),
}
defop("lu", _lu, **_LU).vjp(x=_lu_x)
defop("lu_rectangular", _lu, **_LU).vjp(x=NONDIFF)


def _exchange_rows(x: Array, pivots: Array, *, backwards: bool = False) -> Array:
    """The exchanges of `lu`, in their order or backwards: P X or P' X."""
    *batch, m, n = x.shape
    out = np.array(x).reshape(math.prod(batch), m, n)
    rows = pivots.reshape(len(out), pivots.shape[-1]) - 1
    if rows.size and (rows.min() < 0 or rows.max() >= m):
        bad = rows.max() if rows.max() >= m else rows.min()
        raise IndexRangeError(f"pivots: {bad + 1} is no row; they count from 1 to {m}")
    each, steps = np.arange(len(out)), range(pivots.shape[-1])
    for j in reversed(steps) if backwards else steps:
        out[each, j], out[each, rows[:, j]] = out[each, rows[:, j]], out[each, j]
    return out.reshape(x.shape)


def _infer_exchange(x: Spec, pivots: Spec, *, backwards: bool = False) -> Spec:
    _check_pivots("exchange_rows", x, pivots)
    return Spec(x.shape, x.dtype)


def _check_pivots(op: str, x: Spec, pivots: Spec) -> None:
    index_dtype(op, "pivots", pivots)
    if not pivots.shape or not may_equal(x.shape[:-2], pivots.shape[:-1]):
        raise ShapeError(
            f"{op}: x {format_shape(x.shape)} and pivots {format_shape(pivots.shape)} "
            "must have the same axes before their last two and their last; use expand"
        )
    rows, steps = x.shape[-2], pivots.shape[-1]
    if not isinstance(rows, Dim) and not isinstance(steps, Dim) and steps > rows:
        raise ShapeError(f"{op}: {steps} pivots exchange rows of x, which has {rows}")


defop(
    "exchange_rows",
    _exchange_rows,
    inputs="x pivots",
    infer=_infer_exchange,
    tangent="linear",
    elements="picked",
    stacks="leading",
    checks_values=True,
).vjp(
    x=lambda xp, g, pivots, *, backwards: xp.exchange_rows(g, pivots, backwards=not backwards),
    pivots=NONDIFF,
)


def _permutation_like(pivots: Array, like: Like) -> Array:
    """P of A = P L U, for the exchanges of rows in `pivots` and the matrices `like`."""
    m = like.shape[-2]
    one = np.broadcast_to(np.eye(m, dtype=like.dtype), (*pivots.shape[:-1], m, m))
    return _exchange_rows(one, pivots, backwards=True)


def _infer_permutation(pivots: Spec, like: Spec) -> Spec:
    _check_pivots("permutation_like", like, pivots)
    m = like.shape[-2]
    return Spec((*pivots.shape[:-1], m, m), like.dtype)


defop(
    "permutation_like",
    _permutation_like,
    inputs="pivots like",
    infer=_infer_permutation,
    work=nothing,
    checks_values=True,
).nondiff()
