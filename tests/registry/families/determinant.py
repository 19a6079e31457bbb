"""Samples and references of `ops/linalg/determinant.py`: sums over permutations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..referencing import Array, each_matrix
from ..sampling import Sample, real, square_matrices


def det(x: Array) -> float:
    """Leibniz: signed products over all permutations."""
    n, total = len(x), 0.0
    for p in itertools.permutations(range(n)):
        inversions = sum(p[i] > p[j] for i in range(n) for j in range(i + 1, n))
        total += (-1) ** inversions * math.prod(x[i, p[i]] for i in range(n))
    return total


def cofactor(x: Array) -> Array:
    out = np.zeros(x.shape)
    for i, j in np.ndindex(x.shape):
        minor = np.delete(np.delete(x, i, 0), j, 1)
        out[i, j] = (-1) ** (i + j) * det(minor)
    return out


def cofactor_tangent(x: Array, y: Array) -> Array:
    """Cofactors are polynomials of degree n - 1: five points give the derivative exactly."""
    h = 1.0
    near, far = (cofactor(x + k * h * y) - cofactor(x - k * h * y) for k in (1, 2))
    return np.asarray((8.0 * near - far) / (12.0 * h))


def slogdet(x: Array) -> tuple[Array, Array]:
    value = det(x)
    return np.sign(value), np.asarray(math.log(abs(value)))


SAMPLES: dict[str, list[Sample]] = {
    "det": [
        *square_matrices(),
        Sample("singular", (np.asarray([[1.0, 2.0, 0.0], [0.5, 1.0, 0.0], [1.0, -1.0, 2.0]]),)),
        Sample("rank-1", (np.outer([1.0, -2.0, 0.5], [0.5, 1.5, 1.0]),)),
        Sample("zero", (np.zeros((1, 1)),)),
    ],
    "cofactor": square_matrices(),
    "cofactor_tangent": [
        replace(s, operands=(*s.operands, real(*s.operands[0].shape))) for s in square_matrices()
    ],
    "slogdet": square_matrices(),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "det": each_matrix(det),
    "cofactor": each_matrix(cofactor),
    "cofactor_tangent": each_matrix(cofactor_tangent),
    "slogdet": each_matrix(slogdet, 2),
}
