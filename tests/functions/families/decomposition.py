"""Calls of the public functions of `decomposition`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.families.decomposition import symmetric
from tests.registry.sampling import matrix, real

from ..case import Case
from ..peers import torch

L = paddle.linalg


def np_ormqr(x: Any, tau: Any, y: Any, left: bool, transpose: bool) -> Any:
    q = np.eye(len(x))
    for k, t in enumerate(tau):
        v = np.where(np.arange(len(x)) > k, x[:, k], 0.0)
        v[k] = 1.0
        q = q @ (np.eye(len(x)) - t * np.outer(v, v))
    q = q[:, : x.shape[1]]
    q = q.T if transpose else q
    return q @ y if left else y @ q


def spd(x: Any) -> Any:
    """A symmetric positive definite matrix from any."""
    return L.matrix_transpose(x) @ x + np.eye(x.shape[-1], dtype=x.dtype.name)


def np_spd(x: Any) -> Any:
    return np.swapaxes(x, -1, -2) @ x + np.eye(x.shape[-1])


def torch_spd(x: Any) -> Any:
    return x.mT @ x + torch.eye(x.shape[-1], dtype=x.dtype)


def sym(x: Any) -> Any:
    """The symmetric part, in whichever library."""
    return 0.5 * (x + (L.matrix_transpose(x) if hasattr(x, "stop_gradient") else x.mT))


def matrices(function: Any, numpy: Any, other: Any, *, make: Any = matrix) -> list[Case]:
    """One matrix, a batch of them, and one of one element."""
    return [
        Case("3x3", function, (make(3, 3),), numpy=numpy, torch=other),
        Case("batch", function, (make(2, 2, 2),), numpy=numpy, torch=other),
        Case("1x1", function, (make(1, 1),), numpy=numpy, torch=other),
    ]


def reconstructed(x: Any) -> Any:
    q, r = L.qr(x)
    return [q @ r, paddle.square(q), paddle.square(r)]


def np_qr(x: Any) -> Any:
    q, r = np.linalg.qr(x)
    return [q @ r, np.square(q), np.square(r)]


def torch_qr(x: Any) -> Any:
    q, r = torch.linalg.qr(x)
    return [q @ r, q.square(), r.square()]


def svd_parts(x: Any) -> Any:
    """What does not depend on signs: x, the values, and a function of the vectors."""
    u, s, vh = L.svd(x)
    polar = u @ vh
    return [(u * s.unsqueeze(-2)) @ vh, s, polar, paddle.square(u), paddle.square(vh)]


def np_svd(x: Any) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return [x, s, u @ vh, np.square(u), np.square(vh)]


def torch_svd(x: Any) -> Any:
    u, s, vh = torch.linalg.svd(x, full_matrices=False)
    return [(u * s.unsqueeze(-2)) @ vh, s, u @ vh, u.square(), vh.square()]


def eigh_parts(x: Any) -> Any:
    w, v = L.eigh(sym(x))
    return [w, (v * w.unsqueeze(-2)) @ L.matrix_transpose(v), paddle.square(v)]


def np_eigh(x: Any) -> Any:
    w, v = np.linalg.eigh((x + np.swapaxes(x, -1, -2)) / 2)
    return [w, (x + np.swapaxes(x, -1, -2)) / 2, np.square(v)]


def torch_eigh(x: Any) -> Any:
    w, v = torch.linalg.eigh(sym(x))
    return [w, (v * w.unsqueeze(-2)) @ v.mT, v.square()]


CASES: dict[str, list[Case]] = {
    "linalg.cholesky": [
        *matrices(
            lambda x: L.cholesky(spd(x)),
            lambda x: np.linalg.cholesky(np_spd(x)),
            lambda x: torch.linalg.cholesky(torch_spd(x)),
        ),
        Case(
            "upper",
            lambda x: L.cholesky(spd(x), upper=True),
            (matrix(2, 2),),
            numpy=lambda x: np.linalg.cholesky(np_spd(x)).T,
            torch=lambda x: torch.linalg.cholesky(torch_spd(x), upper=True),
        ),
    ],
    "linalg.qr": [
        Case("tall", reconstructed, (matrix(3, 2),), numpy=np_qr, torch=torch_qr, known=True),
        Case("square", reconstructed, (matrix(2, 2, 2),), numpy=np_qr, torch=torch_qr),
        Case("wide", reconstructed, (matrix(2, 3),), numpy=np_qr, known=True),
        Case(
            "r",
            lambda x: paddle.square(L.qr(x, mode="r")),
            (matrix(3, 2),),
            numpy=lambda x: np.square(np.linalg.qr(x, mode="r")),
            known=True,
        ),
        Case(
            "complete",
            lambda x: [paddle.square(v) for v in L.qr(x, mode="complete")],
            (0.2 * matrix(2, 3) + np.eye(2, 3),),  # whose first columns are far from dependent
            known=True,
            numpy=lambda x: [np.square(v) for v in np.linalg.qr(x, mode="complete")],
        ),
    ],
    "linalg.svd": [
        Case("square", svd_parts, (matrix(3, 3),), numpy=np_svd, torch=torch_svd),
        Case("tall", svd_parts, (matrix(2, 3, 2),), numpy=np_svd, torch=torch_svd),
        Case("wide", svd_parts, (matrix(2, 3),), numpy=np_svd, torch=torch_svd),
        Case(
            "full",
            lambda x: [paddle.abs(v) for v in L.svd(x, full_matrices=True)],
            (matrix(3, 2),),
            differentiable=False,
            numpy=lambda x: [np.abs(v) for v in np.linalg.svd(x)],
        ),
    ],
    "linalg.svdvals": [
        *matrices(
            lambda x: L.svdvals(x),
            lambda x: np.linalg.svd(x, compute_uv=False),
            lambda x: torch.linalg.svdvals(x),
        ),
        Case(
            "wide",
            lambda x: L.svdvals(x),
            (matrix(2, 3),),
            numpy=lambda x: np.linalg.svd(x, compute_uv=False),
            torch=lambda x: torch.linalg.svdvals(x),
        ),
    ],
    "linalg.eigh": [
        Case("3x3", eigh_parts, (symmetric(3, 3),), numpy=np_eigh, torch=torch_eigh),
        Case("batch", eigh_parts, (symmetric(2, 2, 2),), numpy=np_eigh, torch=torch_eigh),
        Case(
            "upper",
            lambda x: L.eigh(sym(x), UPLO="U")[0],
            (symmetric(2, 2),),
            numpy=lambda x: np.linalg.eigvalsh(x),
            torch=lambda x: torch.linalg.eigh(sym(x))[0],
        ),
    ],
    "eigvalsh": matrices(
        lambda x: paddle.eigvalsh(sym(x)),
        lambda x: np.linalg.eigvalsh(x),
        lambda x: torch.linalg.eigvalsh(sym(x)),
        make=symmetric,
    ),
    "linalg.eig": [
        Case(
            "values",
            lambda x: paddle.real(L.eig(x)[0]),
            (symmetric(2, 2),),
            differentiable=False,
            numpy=lambda x: np.linalg.eig(x)[0].real,
        ),
    ],
    "linalg.eigvals": [
        Case(
            "turn",
            lambda x: paddle.imag(L.eigvals(x)),
            (np.asarray([[0.0, -2.0], [2.0, 0.0]]),),
            differentiable=False,
            numpy=lambda x: np.linalg.eigvals(x).imag,
        ),
    ],
    "linalg.householder_product": [
        Case(
            "tall",
            lambda x, t: L.householder_product(x, t),
            (real(4, 2), real(2)),
            known=True,
            torch=lambda x, t: torch.linalg.householder_product(x, t),
        ),
        Case(
            "batch",
            lambda x, t: L.householder_product(x, t),
            (real(2, 2, 2), real(2, 1)),
            torch=lambda x, t: torch.linalg.householder_product(x, t),
        ),
    ],
    "linalg.ormqr": [
        Case(
            f"{left}-{transpose}",
            lambda x, t, y, left=left, transpose=transpose: L.ormqr(x, t, y, left, transpose),
            (real(3, 2), real(2), real(*shape)),
            numpy=lambda x, t, y, left=left, transpose=transpose: np_ormqr(
                x, t, y, left, transpose
            ),
            known=True,
        )
        for left, transpose, shape in [
            (True, False, (2, 2)),
            (True, True, (3, 1)),
            (False, False, (1, 3)),
            (False, True, (2, 2)),
        ]
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
}
