"""Systems of linear equations by a factorization in C, P A = L U, that a backward pass finds again.

NumPy factors at each call, and computes in float64 whatever the dtype. Here float32 is factored as
it is, and the solution refined with residuals in float64 until it is as good; where that takes too
long, for a matrix that float32 can hardly tell from a singular one, NumPy computes.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.core.dtypes import FLOAT32, FLOAT64
from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.compiled import compiled

__all__ = ["solve"]

_WORTH = 64  # rows from which on NumPy takes longer
_FEW = 64  # right sides up to which float32 is refined
_PANEL = 32  # as in C
_STEPS = 4  # of refinement
# A step leaves the square of the error: one part in 3000 before is one of the last digits after.
_ENOUGH = 3e-4
_HOPELESS = 0.1


class _Factors(NamedTuple):
    matrix: Array  # as it was
    lu: Array
    pivots: Array


# Those of the matrix that was factored last, as long as somebody has that: the pass back through
# a system comes with the same one. Values are compared, so nothing depends on what is kept.
_last: list[tuple[weakref.ref[Array], _Factors]] = []


def solve(a: Array, b: Array, transpose: bool) -> Array | None:
    """The solution of A X = B, or of A' X = B; None where NumPy computes.

    Parameters
    ----------
    a : array
        ``[n, n]``
    b : array
        ``[n, k]``, of the dtype of `a`.
    transpose : bool
    """
    n, count = b.shape
    if a.ndim != 2 or n < _WORTH or a.dtype != b.dtype:
        return None
    if not count or (a.dtype == FLOAT32 and count > _FEW):
        return None
    run = compiled("lu.solve", a)
    if run is None:
        return None
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    found = _factors(a)
    if found.pivots[n] < n:
        return None  # NumPy has the last word on what is singular
    x = b.copy()
    run(found.lu, found.pivots, x, n, count, transpose)
    return x if a.dtype == FLOAT64 else _refined(run, found, x, b, transpose)


def _factors(a: Array) -> _Factors:
    for of, found in _last:
        if of() is not None and found.matrix.dtype == a.dtype and np.array_equal(found.matrix, a):
            return found
    n = len(a)
    lu, pivots, scratch = a.copy(), np.empty(n + 1, np.int64), np.empty(n * _PANEL, a.dtype)
    factor: Any = compiled("lu.lu", a)
    factor(lu, pivots, scratch, n)
    found = _Factors(a.copy(), lu, pivots)
    _last[:] = [(weakref.ref(a, _forget), found)]
    return found


def _forget(of: weakref.ref[Array]) -> None:
    _last[:] = [kept for kept in _last if kept[0] is not of]


def _refined(run: Any, found: _Factors, x: Array, b: Array, transpose: bool) -> Array | None:
    n, count = b.shape
    residual: Any = compiled("lu.residual", x)
    scratch = np.empty(n, np.float64)
    for _ in range(_STEPS):
        step = np.empty_like(b)
        residual(found.matrix, x, b, step, scratch, n, count, transpose)
        run(found.lu, found.pivots, step, n, count, transpose)
        moved, size = np.abs(step).max(), np.abs(x).max()
        if not moved <= _HOPELESS * size:
            return None
        x += step
        if moved <= _ENOUGH * size:
            return x
    return None
