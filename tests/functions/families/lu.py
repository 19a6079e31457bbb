"""Calls of the public functions of `lu`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.families.inverse import triangle
from tests.registry.sampling import matrix, real

from ..case import Case
from ..peers import torch

L = paddle.linalg


def lu_parts(x: Any) -> Any:
    p, low, up = L.lu_unpack(*L.lu(x))
    return [low, up, p @ low @ up]


def np_lu(x: Any) -> Any:
    """With no exchange of rows: the samples outweigh the rest on their diagonal."""
    up, low = x.copy(), np.eye(len(x))
    for j in range(len(x)):
        for i in range(j + 1, len(x)):
            low[i, j] = up[i, j] / up[j, j]
            up[i] = up[i] - low[i, j] * up[j]
    return [low, up, x]


def torch_lu(x: Any) -> Any:
    p, low, up = torch.linalg.lu(x)
    return [low, up, p @ low @ up]


CASES: dict[str, list[Case]] = {
    "linalg.lu": [
        Case(
            "factors",
            lambda x: L.lu(x)[0],
            (triangle(3, 3),),
            numpy=lambda x: np.tril(np_lu(x)[0], -1) + np_lu(x)[1],
            torch=lambda x: torch.linalg.lu_factor(x)[0],
        ),
        Case(
            "pivots",
            lambda x: L.lu(x, get_infos=True)[1:],
            (matrix(2, 2),),
            differentiable=False,
            numpy=lambda x: [
                np.asarray([1 + int(abs(x[1, 0]) > abs(x[0, 0])), 2], np.int32),
                np.asarray(0, np.int32),
            ],
        ),
        Case(
            "tall",
            lambda x: L.lu_unpack(*L.lu(x))[1],
            (np.asarray([[4.0, 1.0], [2.0, 3.0], [1.0, 0.5]]),),
            differentiable=False,
            known=True,
            numpy=lambda x: np.asarray([[1.0, 0.0], [0.5, 1.0], [0.25, 0.1]]),
        ),
    ],
    "linalg.lu_unpack": [
        Case("parts", lu_parts, (triangle(3, 3),), numpy=np_lu, torch=torch_lu),
    ],
    "linalg.lu_solve": [
        Case(
            "plain",
            lambda b, x: L.lu_solve(b, *L.lu(x)),
            (real(3, 2), matrix(3, 3)),
            numpy=lambda b, x: np.linalg.solve(x, b),
            torch=lambda b, x: torch.linalg.lu_solve(*torch.linalg.lu_factor(x), b),
        ),
        Case(
            "transposed",
            lambda b, x: L.lu_solve(b, *L.lu(x), trans="T"),
            (real(2, 2, 1), matrix(2, 2, 2)),
            numpy=lambda b, x: np.linalg.solve(x.swapaxes(1, 2), b),
            torch=lambda b, x: torch.linalg.lu_solve(*torch.linalg.lu_factor(x), b, adjoint=True),
        ),
    ],
}
