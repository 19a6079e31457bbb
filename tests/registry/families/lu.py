"""Samples and references of `ops/linalg/lu.py`: factors and pivots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, each_matrix
from ..sampling import Sample, matrix, real, square_matrices

# Exchanges of rows that make a cycle of three, which is not its own inverse.
_PIVOTS = np.asarray([2, 3, 3], np.int32)

# A matrix that `lu` exchanges the rows of in that way.
_CYCLE = np.asarray([[0.2, 0.4, 3.0], [2.0, 0.5, -1.0], [-0.4, 1.5, 0.6]])


def _exchanges() -> list[Sample]:
    return [
        Sample("plain", (real(3, 2), _PIVOTS), {"backwards": False}),
        Sample("backwards", (real(3, 2), _PIVOTS), {"backwards": True}),
        Sample("batch", (real(2, 3, 1), np.stack([_PIVOTS, _PIVOTS[[1, 1, 2]]]))),
        Sample("fewer", (real(3, 2), _PIVOTS[:1])),
        Sample("empty", (np.zeros((0, 2, 2)), np.zeros((0, 2), np.int32))),
        Sample("strided", (strided(real(3, 2)), _PIVOTS)),
    ]


def lu(x: Array) -> tuple[Array, Array, Array]:
    """Doolittle: each element from those before it, with the largest pivot chosen first."""
    a, (m, n) = x.copy(), x.shape
    pivots, info = [], 0
    for j in range(min(m, n)):
        for i in range(j):
            a[i, j:] = a[i, j:]
        p = max(range(j, m), key=lambda i: (abs(a[i, j]), -i))
        a[[j, p]] = a[[p, j]]
        pivots.append(p + 1)
        if a[j, j] == 0:
            info = info or j + 1
            continue
        for i in range(j + 1, m):
            multiple = a[i, j] / a[j, j]
            a[i, j:] = [v - multiple * w for v, w in zip(a[i, j:], a[j, j:], strict=True)]
            a[i, j] = multiple
    return a, np.asarray(pivots, np.int32), np.asarray(info, np.int32)


def permutation(pivots: Array, m: int) -> list[int]:
    order = list(range(m))
    for i, p in enumerate(pivots.tolist()):
        order[i], order[p - 1] = order[p - 1], order[i]
    return order


def exchange_rows(x: Array, pivots: Array, backwards: bool = False) -> Array:
    out = np.zeros(x.shape)
    for index in np.ndindex(x.shape[:-2]):
        order = permutation(pivots[index], x.shape[-2])
        for i, k in enumerate(order):
            out[index][(k, i)[not backwards]] = x[index][(i, k)[not backwards]]
    return out


def permutation_like(pivots: Array, like: Array) -> Array:
    m = like.shape[-2]
    out = np.zeros((*pivots.shape[:-1], m, m))
    for index in np.ndindex(pivots.shape[:-1]):
        for i, k in enumerate(permutation(pivots[index], m)):
            out[index][k, i] = 1.0
    return out


SAMPLES: dict[str, list[Sample]] = {
    "lu": [*square_matrices(), Sample("cycle-of-rows", (_CYCLE,))],
    "lu_rectangular": [
        Sample("tall", (matrix(4, 2),)),
        Sample("wide", (matrix(2, 2, 3),)),
        Sample("singular", (np.asarray([[0.0, 1.0], [0.0, 2.0]]),)),
    ],
    "exchange_rows": _exchanges(),
    "permutation_like": [
        Sample("square", (_PIVOTS, np.zeros((3, 3)))),
        Sample("tall", (np.asarray([[2, 2], [3, 3]], np.int32), np.zeros((2, 3, 2)))),
        Sample("empty", (np.zeros((0, 2), np.int32), np.zeros((0, 2, 2)))),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "lu": each_matrix(lu, 3),
    "lu_rectangular": each_matrix(lu, 3),
    "exchange_rows": exchange_rows,
    "permutation_like": permutation_like,
}
