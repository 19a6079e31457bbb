"""Calls of the public functions of `norms`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import apart, away_from_zero, matrix, real, spaced

from ..case import Case
from ..peers import torch
from .reduction import with_zeros

L = paddle.linalg


def torch_cond(x: Any, p: Any) -> Any:
    """By its definition: torch.linalg.cond with an inverse has no second derivative."""
    if p is None or p == -2:
        return torch.linalg.cond(x, p)
    return torch.linalg.matrix_norm(x, p) * torch.linalg.matrix_norm(torch.linalg.inv(x), p)


INF = math.inf
# Whose largest difference is far from the others: the gradient jumps where it is another.
FAR = (np.array([[0.3, -1.2, 0.7], [0.1, 0.4, -0.6]]), np.array([0.9, 0.25, -1.4]))


def distinct(*shape: int) -> np.ndarray:
    """No two elements, and no two sums of some, have about the same absolute value."""
    count = math.prod(shape)
    values = np.sqrt(np.linspace(0.1, 4.0, count)) * np.where(np.arange(count) % 3, 1.0, -1.0)
    return values[np.argsort(spaced(count))].reshape(shape)


def pairwise(x: Any, y: Any, p: float) -> Any:
    return np.asarray([[np.linalg.norm(a - b, p) for b in y] for a in x])


def renorm(x: Any, p: float, limit: float) -> Any:
    return np.stack([row * min(1.0, limit / np.linalg.norm(row, p)) for row in x])


def of_vector(p: Any, label: str, domain: Any = away_from_zero) -> Case:
    return Case(
        label,
        lambda x: paddle.norm(x, p, axis=1),
        (domain(2, 3),),
        numpy=lambda x: np.linalg.norm(x, p, axis=1),
        torch=lambda x: torch.linalg.vector_norm(x, p, dim=1),
    )


def of_matrix(p: Any) -> Case:
    return Case(
        f"matrix-{p}",
        lambda x: paddle.norm(x, p, axis=[0, 1]),
        (distinct(2, 3),),
        numpy=lambda x: np.linalg.norm(x, p),
        torch=lambda x: torch.linalg.matrix_norm(x, p),
    )


CASES: dict[str, list[Case]] = {
    "norm": [
        Case(
            "flat",
            lambda x: paddle.norm(x),
            (real(2, 3),),
            numpy=lambda x: np.sqrt(np.sum(x * x)),
            torch=lambda x: torch.linalg.vector_norm(x),
        ),
        *(of_vector(p, f"{p}") for p in (1, 2, 3, 0.5, -1.5)),
        of_vector(INF, "inf", distinct),
        of_vector(-INF, "-inf", distinct),
        Case(
            "0",
            lambda x: paddle.norm(x, 0, axis=1),
            (with_zeros(2, 3),),
            numpy=lambda x: np.linalg.norm(x, 0, axis=1),
            differentiable=False,
        ),
        *(of_matrix(p) for p in ("fro", 1, -1, INF, -INF, 2, -2, "nuc")),
        Case(
            "three-axes",
            lambda x: paddle.norm(x, 3, axis=[0, 1, 2], keepdim=True),
            (away_from_zero(2, 2, 2),),
            numpy=lambda x: np.sum(np.abs(x) ** 3, keepdims=True) ** (1 / 3),
            torch=lambda x: torch.linalg.vector_norm(x, 3, keepdim=True),
        ),
        Case("0-d", lambda x: paddle.norm(x), (away_from_zero(),), numpy=np.abs),
    ],
    "dist": [
        *(
            Case(
                f"{p}",
                lambda x, y, p=p: paddle.dist(x, y, p),
                FAR if p == INF else tuple(apart((2, 3), (3,))),
                numpy=lambda x, y, p=p: np.linalg.norm((x - y).ravel(), p),
                torch=lambda x, y, p=p: torch.dist(x, y, p),
            )
            for p in (2, 1, 3, INF)
        ),
        Case(
            "0",
            lambda x, y: paddle.dist(x, y, 0),
            (real(3), real(3)),
            numpy=lambda x, y: np.asarray(3.0),
            differentiable=False,
        ),
    ],
    "cdist": [
        *(
            Case(
                f"{p}",
                lambda x, y, p=p: paddle.cdist(x, y, p),
                (real(2, 3), real(4, 3)),
                numpy=lambda x, y, p=p: pairwise(x, y, p),
            )
            for p in (2.0, 1.0, 3.0, INF)
        ),
        Case(
            "batch",
            lambda x, y: paddle.cdist(x, y),
            (real(2, 1, 3), real(2, 3)),
            numpy=lambda x, y: np.stack([pairwise(v, y, 2) for v in x]),
            torch=lambda x, y: (x[:, :, None] - y[None, None]).norm(dim=-1),
        ),
    ],
    "pdist": [
        Case(
            "2",
            lambda x: paddle.pdist(x),
            (real(4, 2),),
            numpy=lambda x: pairwise(x, x, 2)[np.triu_indices(4, 1)],
            known=True,
        ),
        Case(
            "1",
            lambda x: paddle.pdist(x, 1.0),
            (spaced(3, 3),),
            numpy=lambda x: pairwise(x, x, 1)[np.triu_indices(3, 1)],
            known=True,
        ),
    ],
    "renorm": [
        Case(
            "2",
            lambda x: paddle.renorm(x, 2.0, 0, 1.0),
            (np.asarray([[0.1, -0.2, 0.3], [1.0, 2.0, -1.5]]),),
            numpy=lambda x: renorm(x, 2, 1.0),
        ),
        Case(
            "1-last",
            lambda x: paddle.renorm(x, 1.0, -1, 1.5),
            (np.asarray([[0.1, -2.0], [0.3, 1.5]]),),
            numpy=lambda x: renorm(x.T, 1, 1.5).T,
        ),
    ],
    "linalg.norm": [
        Case(
            "plain",
            lambda x: L.norm(x, axis=0),
            (real(2, 3),),
            numpy=lambda x: np.linalg.norm(x, axis=0),
            torch=lambda x: torch.linalg.norm(x, dim=0),
        )
    ],
    "linalg.vector_norm": [
        Case(
            f"{p}",
            lambda x, p=p: L.vector_norm(x, p, axis=[0, 1], keepdim=True),
            (away_from_zero(2, 3),),
            numpy=lambda x, p=p: np.linalg.norm(x.ravel(), p).reshape(1, 1),
            torch=lambda x, p=p: torch.linalg.vector_norm(x, p, dim=(0, 1), keepdim=True),
        )
        for p in (2.0, 1.0, 2.5)
    ],
    "linalg.matrix_norm": [
        Case(
            f"{p}",
            lambda x, p=p: L.matrix_norm(x, p, axis=[0, 2]),
            (distinct(2, 2, 3),),
            numpy=lambda x, p=p: np.linalg.norm(x, p, axis=(0, 2)),
            torch=lambda x, p=p: torch.linalg.matrix_norm(x, p, dim=(0, 2)),
        )
        for p in ("fro", 1, INF)
    ],
    "linalg.cond": [
        *(
            Case(
                str(p),
                lambda x, p=p: L.cond(x, p),
                (matrix(2, 2),),
                numpy=lambda x, p=p: np.linalg.cond(x, p),
                torch=lambda x, p=p: torch_cond(x, p),
            )
            for p in (None, -2, "fro", "nuc", 1, -1, np.inf, -np.inf)
        ),
        Case(
            "tall",
            lambda x: L.cond(x),
            (matrix(2, 3, 2),),
            numpy=np.linalg.cond,
            torch=lambda x: torch.linalg.cond(x),
        ),
    ],
}
