"""Calls of the public functions of `low_rank`: of matrices that have the rank asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case

L = paddle.linalg
SPREAD = np.array([[2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])  # columns of mean 0, orthogonal


def parts(found: Any) -> tuple[Any, Any]:
    """What does not depend on the signs of the vectors: singular values, and the product."""
    u, s, v = found
    return s, paddle.matmul(u * s.unsqueeze(-2), v, transpose_y=True)


def np_parts(x: Any, rank: int) -> tuple[Any, Any]:
    return np.linalg.svd(x)[1][..., :rank], x


def centered(x: Any) -> Any:
    return x - x.mean(-2, keepdims=True)


CASES: dict[str, list[Case]] = {
    "linalg.svd_lowrank": [
        Case(
            "rank-two",
            lambda x, y: parts(L.svd_lowrank(x @ y, q=2)),
            (real(4, 2), real(2, 3)),
            numpy=lambda x, y: np_parts(x @ y, 2),
            known=True,
        ),
        Case(
            "wide-mean",
            lambda x, y, m: parts(L.svd_lowrank(x @ y + m, 1, 1, m)),
            (real(2, 3, 1), real(1, 4), real(1, 4)),
            numpy=lambda x, y, m: np_parts(x @ y, 1),
            known=True,
        ),
    ],
    "linalg.pca_lowrank": [
        Case(
            "centered",
            lambda x: parts(L.pca_lowrank(x)),
            (0.1 * real(3, 2) + SPREAD,),
            numpy=lambda x: np_parts(centered(x), 2),
            known=True,
        ),
        Case(
            "as-it-is",
            lambda x, y: parts(L.pca_lowrank(x @ y, q=1, center=False)),
            (real(3, 1), real(1, 2)),
            numpy=lambda x, y: np_parts(x @ y, 1),
            known=True,
        ),
    ],
}
