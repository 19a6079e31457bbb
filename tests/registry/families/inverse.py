"""Samples and references of `ops/linalg/inverse.py`: by determinants and exact fractions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, each_matrix
from ..sampling import Sample, matrix, real, rectangular_matrices, square_matrices


def triangle(*shape: int) -> np.ndarray:
    """Full matrices whose diagonal outweighs the rest, in either triangle."""
    n = shape[-1]
    return real(*shape, low=-0.5, high=0.5) + np.eye(n) * np.linspace(1.0, 2.0, n)


def _systems(make) -> list[Sample]:
    return [
        Sample("size-1", (make(1, 1), real(1, 2))),
        Sample("3x3", (make(3, 3), real(3, 2))),
        Sample("transposed", (make(3, 3), real(3, 1)), {"transpose": True}),
        Sample("batch", (make(2, 2, 2), real(2, 2, 1))),
        Sample("batch-a", (make(2, 2, 2), real(2, 3))),
        Sample("batch-b", (make(2, 2), real(2, 2, 2)), {"transpose": True}),
        Sample("batches-broadcast", (make(2, 1, 1, 1), real(3, 1, 2))),
        Sample("no-rows", (np.zeros((0, 0)), np.zeros((0, 2)))),
        Sample("empty", (np.zeros((0, 2, 2)), real(2, 1))),
        Sample("no-sides", (make(2, 2), np.zeros((2, 0)))),
        Sample("strided", (strided(make(2, 2)), strided(real(2, 2)))),
    ]


def _triangular() -> list[Sample]:
    flags = [(u, t, d) for u in (True, False) for t in (True, False) for d in (True, False)]
    systems = [s for s in _systems(triangle) if not s.attrs]
    return [
        *(
            Sample(
                f"{'upper' if u else 'lower'}{'-transposed' * t}{'-unit' * d}",
                (triangle(3, 3), real(3, 2)),
                {"upper": u, "transpose": t, "unitriangular": d},
            )
            for u, t, d in flags
        ),
        *(replace(s, attrs={"upper": False}) for s in systems),
    ]


def _within_one(*shape: int) -> np.ndarray:
    return real(*shape, low=-1.0, high=1.0)


def _exponents() -> list[Sample]:
    return [
        Sample("3x3", (real(3, 3, low=-1.0, high=1.0),)),
        Sample("squared", (real(2, 2, low=-6.0, high=2.0) * np.asarray([[1.0], [0.2]]),)),
        *[s for s in square_matrices(_within_one) if s.label != "3x3"],
    ]


def _identities() -> list[Sample]:
    return [
        Sample("3x3", (np.zeros((3, 3)),)),
        Sample("tall", (np.zeros((3, 2)),)),
        Sample("wide", (np.zeros((2, 3)),)),
        Sample("batch", (np.zeros((2, 2, 2)),)),
        Sample("empty", (np.zeros((0, 2, 2)),)),
        Sample("no-rows", (np.zeros((0, 0)),)),
    ]


def solve(a: Array, b: Array, transpose: bool = False) -> Array:
    """Elimination in exact fractions."""
    a = a.T if transpose else a
    n = len(a)
    rows = [[Fraction(float(v)) for v in (*a[i], *b[i])] for i in range(n)]
    for j in range(n):
        k = next(i for i in range(j, n) if rows[i][j])
        rows[j], rows[k] = rows[k], rows[j]
        rows[j] = [v / rows[j][j] for v in rows[j]]
        for i in range(n):
            if i != j:
                rows[i] = [v - rows[i][j] * w for v, w in zip(rows[i], rows[j], strict=True)]
    return np.asarray([[float(v) for v in row[n:]] for row in rows]).reshape(b.shape)


def triangular_solve(
    a: Array, b: Array, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Array:
    n = len(a)
    kept = [[a[i, j] if (j > i if upper else j < i) else 0.0 for j in range(n)] for i in range(n)]
    full = np.asarray(kept).reshape(n, n)
    full = full + np.diag(np.ones(n) if unitriangular else np.diag(a))
    return solve(full, b, transpose)


def inv(x: Array) -> Array:
    return solve(x, np.eye(len(x)))


def pinv(x: Array, rcond: float = 1e-15) -> Array:
    """The normal equations, which full rank allows."""
    if not x.size:
        return np.zeros(x.shape[::-1])
    return solve(x.T @ x, x.T) if len(x) >= x.shape[1] else solve(x @ x.T, x).T


def matrix_exp(x: Array) -> Array:
    """The series of x / 64, whose sixth square it is."""
    term = total = np.eye(len(x))
    for k in range(1, 30):
        term = term @ (x / 64.0) / k
        total = total + term
    for _ in range(6):
        total = total @ total
    return np.asarray(total)


SAMPLES: dict[str, list[Sample]] = {
    "inv": square_matrices(),
    "solve": _systems(matrix),
    "triangular_solve": _triangular(),
    "pinv": [*rectangular_matrices(), Sample("wide", (matrix(2, 3),), {"rcond": 1e-10})],
    "matrix_exp": _exponents(),
    "eye_like": _identities(),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "inv": each_matrix(inv),
    "solve": each_matrix(solve),
    "triangular_solve": each_matrix(triangular_solve),
    "pinv": each_matrix(pinv),
    "matrix_exp": each_matrix(matrix_exp),
    "eye_like": each_matrix(lambda like: np.eye(*like.shape)),
}
