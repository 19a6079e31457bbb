"""Samples and references of `ops/linalg/decomposition.py`: decompositions of matrices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, each_matrix
from ..sampling import RNG, Sample, matrix, real, rectangular_matrices, square_matrices


def symmetric(*shape: int) -> np.ndarray:
    """Positive definite, eigenvalues from 1 to 3."""
    *_, n = shape
    q = np.linalg.qr(RNG.normal(size=shape))[0]
    return np.asarray(q * np.linspace(1.0, 3.0, n) @ q.swapaxes(-1, -2))


def _unsmooth(sample: Sample) -> Sample:
    return replace(sample, smooth=False)


def _residuals() -> list[Sample]:
    def sample(label: str, m: int, k: int, *batch: int, smooth: bool = True) -> Sample:
        s = real(*batch, k, low=0.7, high=2.0)
        return Sample(label, (real(*batch, m, k), matrix(*batch, m, k), s), smooth=smooth)

    return [
        sample("size-1", 1, 1),
        sample("tall", 4, 2),
        sample("batch", 3, 1, 2),
        sample("square", 2, 2),
        sample("empty", 3, 2, 0),
        sample("no-columns", 2, 0),
        Sample(
            "strided",
            (strided(real(3, 2)), strided(matrix(3, 2)), strided(real(2, low=0.7, high=2.0))),
        ),
    ]


def _mirrored() -> list[Sample]:
    samples = [Sample("upper", (real(3, 3),), {"upper": True}), *square_matrices(real)]
    # The identity on symmetric matrices and their symmetric changes; differences are not these.
    return [_unsmooth(s) for s in samples]


def mirror(x: Array, upper: bool = False) -> Array:
    out = np.zeros(x.shape)
    for i, j in np.ndindex(x.shape):
        out[i, j] = x[min(i, j), max(i, j)] if upper else x[max(i, j), min(i, j)]
    return out


def cholesky(x: Array, upper: bool = False) -> Array:
    """Row by row, as Cholesky did."""
    n = len(x)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            rest = (x[i, j] + x[j, i]) / 2.0 - math.fsum(out[i, k] * out[j, k] for k in range(j))
            out[i, j] = math.sqrt(rest) if i == j else rest / out[j, j]
    return out.T if upper else out


def orthonormal(columns: list[Array]) -> list[Array]:
    """Gram and Schmidt, twice over."""
    out: list[Array] = []
    for c in columns:
        for _ in range(2):
            for q in out:
                c = c - q * (q @ c)
        out.append(c / math.sqrt(c @ c))
    return out


def qr(x: Array) -> tuple[Array, Array]:
    """R by Gram and Schmidt; the signs are those that LAPACK gives the first rows of R."""
    columns = orthonormal(list(x.T))
    q = np.asarray(columns).reshape(len(columns), len(x)).T
    r = np.triu(q.T @ x)
    signs = np.sign(np.diag(np.linalg.qr(x)[1])) * np.sign(np.diag(r))
    return q * signs, r * signs[:, None]


def qr_complete(x: Array) -> tuple[Array, Array]:
    m, n = x.shape
    if m <= n:
        q = qr(x[:, :m])[0]
        return q, q.T @ x
    q, r = qr(x)
    rest = np.linalg.qr(x, mode="complete")[0][:, n:]  # any basis of what is left will do
    assert np.abs(q.T @ rest).max(initial=0) < 1e-6
    return np.concatenate([q, rest], 1), np.concatenate([r, np.zeros((m - n, n))])


def jacobi(x: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors by rotations, ascending."""
    a, v = (x + x.T) / 2.0, np.eye(len(x))
    for _ in range(30):
        for i, j in itertools.combinations(range(len(x)), 2):
            turn = 0.5 * math.atan2(2.0 * a[i, j], a[j, j] - a[i, i])
            r = np.eye(len(x))
            r[i, i] = r[j, j] = math.cos(turn)
            r[i, j], r[j, i] = math.sin(turn), -math.sin(turn)
            a, v = r.T @ a @ r, v @ r
    order = np.argsort(np.diag(a))
    return np.diag(a)[order], v[:, order]


def eigh(x: Array) -> tuple[Array, Array]:
    w, v = jacobi(x)
    return w, v * np.sign(np.sum(v * np.linalg.eigh((x + x.T) / 2.0)[1], axis=0))


def svd(x: Array) -> tuple[Array, Array, Array]:
    """From the eigenvectors of x'x or xx'; LAPACK's signs."""
    m, n = x.shape
    if m < n:
        u, s, vh = svd(x.T)
        u, vh = vh.T, u.T
    else:
        w, v = jacobi(x.T @ x)
        s, v = np.sqrt(w[::-1]), v[:, ::-1]
        u, vh = x @ v / s, v.T
    signs = np.sign(np.sum(u * np.linalg.svd(x, full_matrices=False)[0], axis=0))
    return u * signs, s, vh * signs[:, None]


def svd_full(x: Array) -> tuple[Array, Array, Array]:
    u, s, vh = svd(x)
    k = len(s)
    more_u, _, more_vh = np.linalg.svd(x)
    return np.concatenate([u, more_u[:, k:]], 1), s, np.concatenate([vh, more_vh[k:]])


def residual_over(x: Array, u: Array, s: Array) -> Array:
    """The rest of each column after projections on an orthonormal basis."""
    out = np.zeros(x.shape)
    for index in np.ndindex(x.shape[:-2]):
        basis = orthonormal(list(u[index].T))
        for k in range(x.shape[-1] if len(basis) < len(u[index]) else 0):
            column = x[index][:, k]
            out[index][:, k] = (column - sum(q * (q @ column) for q in basis)) / s[index][k]
    return out


SAMPLES: dict[str, list[Sample]] = {
    "mirror_triangle": _mirrored(),
    "cholesky": [*square_matrices(symmetric), Sample("upper", (symmetric(3, 3),), {"upper": True})],
    "qr": rectangular_matrices(),
    "qr_complete": [*rectangular_matrices(), Sample("wide", (matrix(2, 3),))],
    "svd": [*rectangular_matrices(), Sample("wide", (matrix(2, 2, 4),))],
    "svd_full": [*rectangular_matrices()[:5], Sample("wide", (matrix(2, 3),))],
    "residual_over": _residuals(),
    "eigh": square_matrices(symmetric),
    "eig": [_unsmooth(s) for s in square_matrices(symmetric)],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "mirror_triangle": each_matrix(mirror),
    "cholesky": each_matrix(cholesky),
    "qr": each_matrix(qr, 2),
    "qr_complete": each_matrix(qr_complete, 2),
    "svd": each_matrix(svd, 3),
    "svd_full": each_matrix(svd_full, 3),
    "residual_over": residual_over,
    "eigh": each_matrix(eigh, 2),
    "eig": each_matrix(lambda x: tuple(v.astype(complex) for v in np.linalg.eig(x)), 2),
}
