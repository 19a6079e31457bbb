"""Calls of the public functions of `least_squares`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.families.decomposition import symmetric
from tests.registry.sampling import matrix, real

from ..case import Case
from ..peers import torch
from .decomposition import sym

L = paddle.linalg


def torch_cond(x: Any, p: Any) -> Any:
    """By its definition: torch.linalg.cond with an inverse has no second derivative."""
    if p is None or p == -2:
        return torch.linalg.cond(x, p)
    return torch.linalg.matrix_norm(x, p) * torch.linalg.matrix_norm(torch.linalg.inv(x), p)


CASES: dict[str, list[Case]] = {
    "linalg.pinv": [
        Case(
            "tall",
            lambda x: L.pinv(x),
            (matrix(3, 2),),
            numpy=np.linalg.pinv,
            torch=lambda x: torch.linalg.pinv(x),
        ),
        Case(
            "wide",
            lambda x: L.pinv(x),
            (matrix(2, 2, 3),),
            numpy=np.linalg.pinv,
            torch=lambda x: torch.linalg.pinv(x),
        ),
        Case(
            "symmetric",
            lambda x: L.pinv(sym(x), hermitian=True),
            (symmetric(2, 2),),
            numpy=np.linalg.pinv,
            torch=lambda x: torch.linalg.pinv(sym(x)),
        ),
    ],
    "linalg.lstsq": [
        Case(
            "tall",
            lambda x, y: L.lstsq(x, y)[0],
            (matrix(3, 2), real(3, 1)),
            known=True,
            numpy=lambda x, y: np.linalg.lstsq(x, y)[0],
            torch=lambda x, y: torch.linalg.lstsq(x, y)[0],
        ),
        Case(
            "wide",
            lambda x, y: L.lstsq(x, y)[0],
            (matrix(2, 3), real(2, 2)),
            known=True,
            numpy=lambda x, y: np.linalg.lstsq(x, y)[0],
            torch=lambda x, y: torch.linalg.lstsq(x, y)[0],
        ),
        Case(
            "everything",
            lambda x, y: L.lstsq(x, y, driver="gelsd"),
            (matrix(3, 2), real(3, 2)),
            numpy=lambda x, y: np.linalg.lstsq(x, y),
            known=True,
        ),
    ],
    "linalg.matrix_rank": [
        Case(
            "full",
            lambda x: L.matrix_rank(x),
            (matrix(2, 3, 2),),
            differentiable=False,
            numpy=lambda x: np.asarray([2, 2]),
            torch=lambda x: torch.linalg.matrix_rank(x),
        ),
        Case(
            "threshold",
            lambda x: L.matrix_rank(x, tol=1.5),
            (matrix(3, 3),),
            differentiable=False,
            numpy=lambda x: np.asarray(2),
        ),
        Case(
            "relative",
            lambda x: L.matrix_rank(sym(x), rtol=0.5, hermitian=True),
            (symmetric(3, 3),),
            differentiable=False,
            numpy=lambda x: np.asarray(2),
        ),
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
