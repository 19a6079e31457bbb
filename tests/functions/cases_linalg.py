"""Calls of the public functions of `linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.families.decomposition import symmetric
from tests.registry.families.inverse import triangle
from tests.registry.sampling import matrix, real

from . import cases_decomposition, cases_fft, cases_products
from .case import Case
from .cases_decomposition import matrices, sym
from .peers import torch

L = paddle.linalg


def torch_cond(x: Any, p: Any) -> Any:
    """By its definition: torch.linalg.cond with an inverse has no second derivative."""
    if p is None or p == -2:
        return torch.linalg.cond(x, p)
    return torch.linalg.matrix_norm(x, p) * torch.linalg.matrix_norm(torch.linalg.inv(x), p)


SYSTEMS: dict[str, list[Case]] = {
    "inverse": matrices(lambda x: paddle.inverse(x), np.linalg.inv, lambda x: torch.linalg.inv(x)),
    "linalg.inv": matrices(lambda x: L.inv(x), np.linalg.inv, lambda x: torch.linalg.inv(x)),
    "linalg.det": [
        *matrices(lambda x: L.det(x), np.linalg.det, lambda x: torch.linalg.det(x)),
        Case(
            "singular",
            lambda x: L.det(x),
            (np.outer([1.0, 2.0], [0.5, -1.0]),),
            numpy=np.linalg.det,
            orders=2,
        ),
    ],
    "linalg.slogdet": matrices(
        lambda x: L.slogdet(x),
        lambda x: np.stack(np.linalg.slogdet(x)),
        lambda x: torch.stack(torch.linalg.slogdet(x)),
    ),
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
}

CASES: dict[str, list[Case]] = {
    **cases_products.CASES,
    **cases_decomposition.CASES,
    **SYSTEMS,
    **cases_fft.CASES,
}
