"""Calls of the public functions of `inverse`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.families.decomposition import symmetric
from tests.registry.families.inverse import triangle
from tests.registry.sampling import matrix, real

from ..case import Case
from ..peers import torch
from .decomposition import matrices, sym

L = paddle.linalg


def torch_cond(x: Any, p: Any) -> Any:
    """By its definition: torch.linalg.cond with an inverse has no second derivative."""
    if p is None or p == -2:
        return torch.linalg.cond(x, p)
    return torch.linalg.matrix_norm(x, p) * torch.linalg.matrix_norm(torch.linalg.inv(x), p)


CASES: dict[str, list[Case]] = {
    "inverse": matrices(lambda x: paddle.inverse(x), np.linalg.inv, lambda x: torch.linalg.inv(x)),
    "linalg.inv": matrices(lambda x: L.inv(x), np.linalg.inv, lambda x: torch.linalg.inv(x)),
    "linalg.solve": [
        Case(
            "matrices",
            lambda x, y: L.solve(x, y),
            (matrix(3, 3), real(3, 2)),
            numpy=np.linalg.solve,
            torch=lambda x, y: torch.linalg.solve(x, y),
        ),
        Case(
            "vector",
            lambda x, y: L.solve(x, y),
            (matrix(2, 2, 2), real(2)),
            numpy=lambda x, y: np.linalg.solve(x, y),
            torch=lambda x, y: torch.linalg.solve(x, y),
        ),
        Case(
            "vectors",
            lambda x, y: L.solve(x, y),
            (matrix(2, 2, 2), real(2, 2)),
            numpy=lambda x, y: np.linalg.solve(x, y[..., None])[..., 0],
            known=True,
            torch=lambda x, y: torch.linalg.solve(x, y),
        ),
        Case(
            "right",
            lambda x, y: L.solve(x, y, left=False),
            (matrix(2, 2), real(3, 1, 2)),
            numpy=lambda x, y: y @ np.linalg.inv(x),
            torch=lambda x, y: torch.linalg.solve(x, y, left=False),
        ),
    ],
    "linalg.triangular_solve": [
        Case(
            "upper",
            lambda x, y: L.triangular_solve(x, y),
            (triangle(3, 3), real(3, 1)),
            numpy=lambda x, y: np.linalg.solve(np.triu(x), y),
            torch=lambda x, y: torch.linalg.solve_triangular(x.triu(), y, upper=True),
        ),
        Case(
            "lower-transposed",
            lambda x, y: L.triangular_solve(x, y, upper=False, transpose=True),
            (triangle(2, 2, 2), real(2, 2)),
            numpy=lambda x, y: np.linalg.solve(np.tril(x).swapaxes(1, 2), y),
            torch=lambda x, y: torch.linalg.solve_triangular(x.tril().mT, y, upper=True),
        ),
        Case(
            "unit",
            lambda x, y: L.triangular_solve(x, y, unitriangular=True),
            (triangle(2, 2), real(2, 1)),
            numpy=lambda x, y: np.linalg.solve(np.triu(x, 1) + np.eye(2), y),
        ),
    ],
    "linalg.cholesky_solve": [
        Case(
            "lower",
            lambda x, y: L.cholesky_solve(x, y),
            (real(2, 1), triangle(2, 2)),
            numpy=lambda x, y: np.linalg.solve(np.tril(y) @ np.tril(y).T, x),
            torch=lambda x, y: torch.cholesky_solve(x, y.tril()),
        ),
        Case(
            "upper",
            lambda x, y: L.cholesky_solve(x, y, upper=True),
            (real(2, 2, 1), triangle(2, 2)),
            numpy=lambda x, y: np.linalg.solve(np.triu(y).T @ np.triu(y), x),
            torch=lambda x, y: torch.cholesky_solve(x, y.triu().expand(2, 2, 2), upper=True),
        ),
    ],
    "linalg.cholesky_inverse": [
        Case(
            "lower",
            lambda x: L.cholesky_inverse(x),
            (triangle(2, 2),),
            numpy=lambda x: np.linalg.inv(np.tril(x) @ np.tril(x).T),
            torch=lambda x: torch.cholesky_inverse(x.tril()),
        ),
        Case(
            "upper",
            lambda x: L.cholesky_inverse(x, upper=True),
            (triangle(2, 2),),
            numpy=lambda x: np.linalg.inv(np.triu(x).T @ np.triu(x)),
            torch=lambda x: torch.cholesky_inverse(x.triu(), upper=True),
        ),
    ],
    "linalg.matrix_power": [
        *(
            Case(
                str(n),
                lambda x, n=n: L.matrix_power(x, n),
                (matrix(2, 2),),
                numpy=lambda x, n=n: np.linalg.matrix_power(x, n),
                differentiable=n != 0,
                torch=lambda x, n=n: torch.linalg.matrix_power(x, n),
            )
            for n in (0, 1, 2, 5, -2)
        ),
    ],
    "linalg.matrix_exp": matrices(
        lambda x: L.matrix_exp(x),
        None,
        lambda x: torch.linalg.matrix_exp(x),
        make=lambda *s: real(*s, low=-1.0, high=1.0),
    ),
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
}
