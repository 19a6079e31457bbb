"""Calls of the public functions of `linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.samples_linalg import matrix, symmetric, triangle
from tests.registry.sampling import integers, positive, real

from .case import Case
from .peers import torch

L, FT = paddle.linalg, paddle.fft


def spd(x: Any) -> Any:
    """A symmetric positive definite matrix from any."""
    return L.matrix_transpose(x) @ x + paddle.eye(x.shape[-1], dtype=x.dtype.name)


def np_spd(x: Any) -> Any:
    return np.swapaxes(x, -1, -2) @ x + np.eye(x.shape[-1])


def torch_spd(x: Any) -> Any:
    return x.mT @ x + torch.eye(x.shape[-1], dtype=x.dtype)


def sym(x: Any) -> Any:
    """The symmetric part, in whichever library."""
    return 0.5 * (x + (L.matrix_transpose(x) if hasattr(x, "stop_gradient") else x.mT))


def eigenvalues_apart() -> np.ndarray:
    return symmetric(3, 3)


A = ((2, 3), (3, 4), (4,))


def einsum(label: str, equation: str, *shapes: tuple[int, ...], **options: Any) -> Case:
    def call(*xs: Any) -> Any:
        return paddle.einsum(equation, *xs)

    return Case(
        label,
        call,
        tuple(real(*s) for s in shapes),
        numpy=lambda *xs: np.einsum(equation, *xs),
        torch=lambda *xs: torch.einsum(equation, *xs),
        **options,
    )


def matrices(function: Any, numpy: Any, other: Any, *, make: Any = matrix) -> list[Case]:
    """One matrix, a batch of them, and one of one element."""
    return [
        Case("3x3", function, (make(3, 3),), numpy=numpy, torch=other),
        Case("batch", function, (make(2, 2, 2),), numpy=numpy, torch=other),
        Case("1x1", function, (make(1, 1),), numpy=numpy, torch=other),
    ]


PRODUCTS: dict[str, list[Case]] = {
    "matmul": [
        Case("matrices", lambda x, y: paddle.matmul(x, y), (real(2, 3), real(3, 4)),
             numpy=lambda x, y: x @ y, torch=lambda x, y: x @ y),
        Case("vectors", lambda x, y: paddle.matmul(x, y), (real(3), real(3)),
             numpy=np.dot, torch=lambda x, y: x @ y),
        Case("transposed", lambda x, y: paddle.matmul(x, y, True, True), (real(3, 2), real(4, 3)),
             numpy=lambda x, y: x.T @ y.T, torch=lambda x, y: x.T @ y.T),
        Case("broadcast", lambda x, y: paddle.matmul(x, y), (real(2, 1, 2, 3), real(2, 3, 1)),
             numpy=lambda x, y: x @ y, torch=lambda x, y: x @ y),
    ],
    "mm": [Case("matrices", lambda x, y: paddle.mm(x, y), (real(2, 3), real(3, 2)),
                numpy=np.dot, torch=lambda x, y: torch.mm(x, y))],
    "bmm": [Case("batch", lambda x, y: paddle.bmm(x, y), (real(2, 2, 3), real(2, 3, 1)),
                 numpy=np.matmul, torch=lambda x, y: torch.bmm(x, y))],
    "mv": [Case("matrix", lambda x, y: paddle.mv(x, y), (real(2, 3), real(3)),
                numpy=np.dot, torch=lambda x, y: torch.mv(x, y))],
    "dot": [
        Case("vectors", lambda x, y: paddle.dot(x, y), (real(4), real(4)),
             numpy=np.dot, torch=lambda x, y: torch.dot(x, y)),
        Case("rows", lambda x, y: paddle.dot(x, y), (real(2, 3), real(2, 3)),
             numpy=lambda x, y: (x * y).sum(1)),
    ],
    "vecdot": [
        Case("last", lambda x, y: paddle.vecdot(x, y), (real(2, 3), real(3)),
             numpy=lambda x, y: x @ y, torch=lambda x, y: torch.linalg.vecdot(x, y)),
        Case("first", lambda x, y: paddle.vecdot(x, y, axis=0), (real(2, 3), real(2, 3)),
             numpy=lambda x, y: (x * y).sum(0), torch=lambda x, y: torch.linalg.vecdot(x, y, dim=0)),
    ],
    "outer": [
        Case("vectors", lambda x, y: paddle.outer(x, y), (real(3), real(2)),
             numpy=np.outer, torch=lambda x, y: torch.outer(x, y)),
        Case("flattened", lambda x, y: paddle.outer(x, y), (real(2, 2), real()), numpy=np.outer),
    ],
    "inner": [
        Case("arrays", lambda x, y: paddle.inner(x, y), (real(2, 3), real(2, 1, 3)),
             numpy=np.inner, torch=lambda x, y: torch.inner(x, y)),
        Case("number", lambda x, y: paddle.inner(x, y), (real(2, 3), real()), numpy=np.inner),
    ],
    "kron": [
        Case("matrices", lambda x, y: paddle.kron(x, y), (real(2, 3), real(2, 1)),
             numpy=np.kron, torch=lambda x, y: torch.kron(x, y)),
        Case("ranks", lambda x, y: paddle.kron(x, y), (real(2), real(2, 1, 2)),
             numpy=np.kron, torch=lambda x, y: torch.kron(x, y)),
    ],
    "cross": [
        Case("rows", lambda x, y: paddle.cross(x, y), (real(2, 3), real(2, 3)),
             numpy=np.cross, torch=lambda x, y: torch.linalg.cross(x, y)),
        Case("columns", lambda x, y: paddle.cross(x, y, axis=0), (real(3, 2), real(3, 2)),
             numpy=lambda x, y: np.cross(x, y, axis=0),
             torch=lambda x, y: torch.linalg.cross(x, y, dim=0), known=True),
    ],
    "tensordot": [
        Case("two", lambda x, y: paddle.tensordot(x, y), (real(2, 2, 3), real(2, 3, 2)),
             numpy=np.tensordot, torch=lambda x, y: torch.tensordot(x, y)),
        Case("lists", lambda x, y: paddle.tensordot(x, y, [[0, 1], [2, 0]]),
             (real(2, 3, 2), real(3, 1, 2)), numpy=lambda x, y: np.tensordot(x, y, [[0, 1], [2, 0]]),
             torch=lambda x, y: torch.tensordot(x, y, [[0, 1], [2, 0]])),
        Case("none", lambda x, y: paddle.tensordot(x, y, 0), (real(2), real(2, 2)),
             numpy=lambda x, y: np.tensordot(x, y, 0), torch=lambda x, y: torch.tensordot(x, y, 0)),
    ],
    "einsum": [
        einsum("product", "ij,jk->ik", (2, 3), (3, 2)),
        einsum("implicit", "jk,ji", (3, 2), (3, 2)),
        einsum("trace", "ii", (3, 3)),
        einsum("diagonal", "iij->ji", (2, 2, 3)),
        einsum("outer", "i,j->ji", (2,), (3,)),
        einsum("elements", "ij,ij->i", (2, 3), (2, 3)),
        einsum("batch", "bij,bkj->bik", (2, 2, 3), (2, 1, 3)),
        einsum("ellipsis", "...ij,...jk->...ik", (2, 1, 2, 3), (2, 3, 1)),
        einsum("three", "ab,bc,cd->da", (2, 3), (3, 2), (2, 2)),
        einsum("bilinear", "bi,oij,bj->bo", (2, 2), (3, 2, 2), (2, 2)),
        einsum("several", "ijkl,klm->mij", (2, 1, 2, 2), (2, 2, 3)),
        einsum("sum", "ij->j", (2, 3)),
    ],
    "addmm": [
        Case("scaled", lambda i, x, y: paddle.addmm(i, x, y, beta=0.5, alpha=2.0),
             (real(2), real(3, 2), real(2, 2)), numpy=lambda i, x, y: 0.5 * i + 2.0 * (x @ y),
             torch=lambda i, x, y: torch.addmm(i, x, y, beta=0.5, alpha=2.0)),
    ],
    "baddbmm": [
        Case("scaled", lambda i, x, y: paddle.baddbmm(i, x, y, beta=0.5, alpha=2.0),
             (real(2, 1, 2), real(2, 1, 2), real(2, 2, 2)),
             numpy=lambda i, x, y: 0.5 * i + 2.0 * (x @ y),
             torch=lambda i, x, y: torch.baddbmm(i, x, y, beta=0.5, alpha=2.0)),
    ],
    "matrix_transpose": [
        Case("batch", lambda x: paddle.matrix_transpose(x), (real(2, 2, 3),),
             numpy=lambda x: x.swapaxes(1, 2), torch=lambda x: x.mT),
    ],
    "linalg.multi_dot": [
        Case("chain", lambda *xs: L.multi_dot(list(xs)), (real(2, 3), real(3, 1), real(1, 4)),
             numpy=lambda *xs: np.linalg.multi_dot(xs),
             torch=lambda *xs: torch.linalg.multi_dot(xs), known=True),
        Case("vectors", lambda *xs: L.multi_dot(list(xs)), (real(2), real(2, 3), real(3)),
             numpy=lambda *xs: np.linalg.multi_dot(xs),
             torch=lambda *xs: torch.linalg.multi_dot(xs), known=True),
    ],
}


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


DECOMPOSITIONS: dict[str, list[Case]] = {
    "linalg.cholesky": [
        *matrices(lambda x: L.cholesky(spd(x)), lambda x: np.linalg.cholesky(np_spd(x)),
                  lambda x: torch.linalg.cholesky(torch_spd(x))),
        Case("upper", lambda x: L.cholesky(spd(x), upper=True), (matrix(2, 2),),
             numpy=lambda x: np.linalg.cholesky(np_spd(x)).T,
             torch=lambda x: torch.linalg.cholesky(torch_spd(x), upper=True)),
    ],
    "linalg.qr": [
        Case("tall", reconstructed, (matrix(3, 2),), numpy=np_qr, torch=torch_qr, known=True),
        Case("square", reconstructed, (matrix(2, 2, 2),), numpy=np_qr, torch=torch_qr),
        Case("wide", reconstructed, (matrix(2, 3),), numpy=np_qr, known=True),
        Case("r", lambda x: paddle.square(L.qr(x, mode="r")), (matrix(3, 2),),
             numpy=lambda x: np.square(np.linalg.qr(x, mode="r")), known=True),
        Case("complete", lambda x: [paddle.square(v) for v in L.qr(x, mode="complete")],
             (matrix(2, 3),), known=True,
             numpy=lambda x: [np.square(v) for v in np.linalg.qr(x, mode="complete")]),
    ],
    "linalg.svd": [
        Case("square", svd_parts, (matrix(3, 3),), numpy=np_svd, torch=torch_svd),
        Case("tall", svd_parts, (matrix(2, 3, 2),), numpy=np_svd, torch=torch_svd),
        Case("wide", svd_parts, (matrix(2, 3),), numpy=np_svd, torch=torch_svd),
        Case("full", lambda x: [paddle.abs(v) for v in L.svd(x, full_matrices=True)],
             (matrix(3, 2),), differentiable=False,
             numpy=lambda x: [np.abs(v) for v in np.linalg.svd(x)]),
    ],
    "linalg.svdvals": [
        *matrices(lambda x: L.svdvals(x), lambda x: np.linalg.svd(x, compute_uv=False),
                  lambda x: torch.linalg.svdvals(x)),
        Case("wide", lambda x: L.svdvals(x), (matrix(2, 3),),
             numpy=lambda x: np.linalg.svd(x, compute_uv=False),
             torch=lambda x: torch.linalg.svdvals(x)),
    ],
    "linalg.eigh": [
        Case("3x3", eigh_parts, (symmetric(3, 3),), numpy=np_eigh, torch=torch_eigh),
        Case("batch", eigh_parts, (symmetric(2, 2, 2),), numpy=np_eigh, torch=torch_eigh),
        Case("upper", lambda x: L.eigh(sym(x), UPLO="U")[0], (symmetric(2, 2),),
             numpy=lambda x: np.linalg.eigvalsh(x), torch=lambda x: torch.linalg.eigh(sym(x))[0]),
    ],
    "eigvalsh": matrices(
        lambda x: paddle.eigvalsh(sym(x)), lambda x: np.linalg.eigvalsh(x),
        lambda x: torch.linalg.eigvalsh(sym(x)), make=symmetric,
    ),
    "linalg.eig": [
        Case("values", lambda x: paddle.real(L.eig(x)[0]), (symmetric(2, 2),), differentiable=False,
             numpy=lambda x: np.linalg.eig(x)[0].real),
    ],
    "linalg.eigvals": [
        Case("turn", lambda x: paddle.imag(L.eigvals(x)), (np.asarray([[0.0, -2.0], [2.0, 0.0]]),),
             differentiable=False, numpy=lambda x: np.linalg.eigvals(x).imag),
    ],
    "linalg.lu": [
        Case("factors", lambda x: L.lu(x)[0], (triangle(3, 3),),
             numpy=lambda x: np.tril(np_lu(x)[0], -1) + np_lu(x)[1],
             torch=lambda x: torch.linalg.lu_factor(x)[0]),
        Case("pivots", lambda x: L.lu(x, get_infos=True)[1:], (matrix(2, 2),), differentiable=False,
             numpy=lambda x: [np.asarray([1 + int(abs(x[1, 0]) > abs(x[0, 0])), 2], np.int32),
                              np.asarray(0, np.int32)]),
        Case("tall", lambda x: L.lu_unpack(*L.lu(x))[1], (np.asarray([[4.0, 1.0], [2.0, 3.0], [1.0, 0.5]]),),
             differentiable=False, known=True,
             numpy=lambda x: np.asarray([[1.0, 0.0], [0.5, 1.0], [0.25, 0.1]])),
    ],
    "linalg.lu_unpack": [
        Case("parts", lu_parts, (triangle(3, 3),), numpy=np_lu, torch=torch_lu),
    ],
    "linalg.householder_product": [
        Case("tall", lambda x, t: L.householder_product(x, t), (real(4, 2), real(2)),
             torch=lambda x, t: torch.linalg.householder_product(x, t)),
        Case("batch", lambda x, t: L.householder_product(x, t), (real(2, 2, 2), real(2, 1)),
             torch=lambda x, t: torch.linalg.householder_product(x, t)),
    ],
}

SYSTEMS: dict[str, list[Case]] = {
    "inverse": matrices(lambda x: paddle.inverse(x), np.linalg.inv, lambda x: torch.linalg.inv(x)),
    "linalg.inv": matrices(lambda x: L.inv(x), np.linalg.inv, lambda x: torch.linalg.inv(x)),
    "linalg.det": [
        *matrices(lambda x: L.det(x), np.linalg.det, lambda x: torch.linalg.det(x)),
        Case("singular", lambda x: L.det(x), (np.outer([1.0, 2.0], [0.5, -1.0]),),
             numpy=np.linalg.det, orders=2),
    ],
    "linalg.slogdet": matrices(
        lambda x: L.slogdet(x), lambda x: np.stack(np.linalg.slogdet(x)),
        lambda x: torch.stack(torch.linalg.slogdet(x)),
    ),
    "linalg.solve": [
        Case("matrices", lambda x, y: L.solve(x, y), (matrix(3, 3), real(3, 2)),
             numpy=np.linalg.solve, torch=lambda x, y: torch.linalg.solve(x, y)),
        Case("vector", lambda x, y: L.solve(x, y), (matrix(2, 2, 2), real(2)),
             numpy=lambda x, y: np.linalg.solve(x, y), torch=lambda x, y: torch.linalg.solve(x, y)),
        Case("vectors", lambda x, y: L.solve(x, y), (matrix(2, 2, 2), real(2, 2)),
             numpy=lambda x, y: np.linalg.solve(x, y[..., None])[..., 0], known=True,
             torch=lambda x, y: torch.linalg.solve(x, y)),
        Case("right", lambda x, y: L.solve(x, y, left=False), (matrix(2, 2), real(3, 1, 2)),
             numpy=lambda x, y: y @ np.linalg.inv(x),
             torch=lambda x, y: torch.linalg.solve(x, y, left=False)),
    ],
    "linalg.triangular_solve": [
        Case("upper", lambda x, y: L.triangular_solve(x, y), (triangle(3, 3), real(3, 1)),
             numpy=lambda x, y: np.linalg.solve(np.triu(x), y),
             torch=lambda x, y: torch.linalg.solve_triangular(x.triu(), y, upper=True)),
        Case("lower-transposed", lambda x, y: L.triangular_solve(x, y, upper=False, transpose=True),
             (triangle(2, 2, 2), real(2, 2)), numpy=lambda x, y: np.linalg.solve(np.tril(x).swapaxes(1, 2), y),
             torch=lambda x, y: torch.linalg.solve_triangular(x.tril().mT, y, upper=True)),
        Case("unit", lambda x, y: L.triangular_solve(x, y, unitriangular=True),
             (triangle(2, 2), real(2, 1)),
             numpy=lambda x, y: np.linalg.solve(np.triu(x, 1) + np.eye(2), y)),
    ],
    "linalg.cholesky_solve": [
        Case("lower", lambda x, y: L.cholesky_solve(x, y), (real(2, 1), triangle(2, 2)),
             numpy=lambda x, y: np.linalg.solve(np.tril(y) @ np.tril(y).T, x),
             torch=lambda x, y: torch.cholesky_solve(x, y.tril())),
        Case("upper", lambda x, y: L.cholesky_solve(x, y, upper=True), (real(2, 2, 1), triangle(2, 2)),
             numpy=lambda x, y: np.linalg.solve(np.triu(y).T @ np.triu(y), x),
             torch=lambda x, y: torch.cholesky_solve(x, y.triu().expand(2, 2, 2), upper=True)),
    ],
    "linalg.cholesky_inverse": [
        Case("lower", lambda x: L.cholesky_inverse(x), (triangle(2, 2),),
             numpy=lambda x: np.linalg.inv(np.tril(x) @ np.tril(x).T),
             torch=lambda x: torch.cholesky_inverse(x.tril())),
        Case("upper", lambda x: L.cholesky_inverse(x, upper=True), (triangle(2, 2),),
             numpy=lambda x: np.linalg.inv(np.triu(x).T @ np.triu(x)),
             torch=lambda x: torch.cholesky_inverse(x.triu(), upper=True)),
    ],
    "linalg.lu_solve": [
        Case("plain", lambda b, x: L.lu_solve(b, *L.lu(x)), (real(3, 2), matrix(3, 3)),
             numpy=lambda b, x: np.linalg.solve(x, b),
             torch=lambda b, x: torch.linalg.lu_solve(*torch.linalg.lu_factor(x), b)),
        Case("transposed", lambda b, x: L.lu_solve(b, *L.lu(x), trans="T"),
             (real(2, 2, 1), matrix(2, 2, 2)), numpy=lambda b, x: np.linalg.solve(x.swapaxes(1, 2), b),
             torch=lambda b, x: torch.linalg.lu_solve(*torch.linalg.lu_factor(x), b, adjoint=True)),
    ],
    "linalg.pinv": [
        Case("tall", lambda x: L.pinv(x), (matrix(3, 2),), numpy=np.linalg.pinv,
             torch=lambda x: torch.linalg.pinv(x)),
        Case("wide", lambda x: L.pinv(x), (matrix(2, 2, 3),), numpy=np.linalg.pinv,
             torch=lambda x: torch.linalg.pinv(x)),
        Case("symmetric", lambda x: L.pinv(sym(x), hermitian=True), (symmetric(2, 2),),
             numpy=np.linalg.pinv, torch=lambda x: torch.linalg.pinv(sym(x))),
    ],
    "linalg.lstsq": [
        Case("tall", lambda x, y: L.lstsq(x, y)[0], (matrix(3, 2), real(3, 1)), known=True,
             numpy=lambda x, y: np.linalg.lstsq(x, y)[0],
             torch=lambda x, y: torch.linalg.lstsq(x, y)[0]),
        Case("wide", lambda x, y: L.lstsq(x, y)[0], (matrix(2, 3), real(2, 2)), known=True,
             numpy=lambda x, y: np.linalg.lstsq(x, y)[0],
             torch=lambda x, y: torch.linalg.lstsq(x, y)[0]),
        Case("everything", lambda x, y: L.lstsq(x, y, driver="gelsd"), (matrix(3, 2), real(3, 2)),
             numpy=lambda x, y: np.linalg.lstsq(x, y), known=True),
    ],
    "linalg.matrix_rank": [
        Case("full", lambda x: L.matrix_rank(x), (matrix(2, 3, 2),), differentiable=False,
             numpy=lambda x: np.asarray([2, 2]), torch=lambda x: torch.linalg.matrix_rank(x)),
        Case("threshold", lambda x: L.matrix_rank(x, tol=1.5), (matrix(3, 3),), differentiable=False,
             numpy=lambda x: np.asarray(2)),
        Case("relative", lambda x: L.matrix_rank(sym(x), rtol=0.5, hermitian=True), (symmetric(3, 3),),
             differentiable=False, numpy=lambda x: np.asarray(2)),
    ],
    "linalg.cond": [
        *(
            Case(str(p), lambda x, p=p: L.cond(x, p), (matrix(2, 2),),
                 numpy=lambda x, p=p: np.linalg.cond(x, p),
                 torch=lambda x, p=p: torch.linalg.cond(x, p))
            for p in (None, -2, "fro", "nuc", 1, -1, np.inf, -np.inf)
        ),
        Case("tall", lambda x: L.cond(x), (matrix(2, 3, 2),), numpy=np.linalg.cond,
             torch=lambda x: torch.linalg.cond(x)),
    ],
    "linalg.matrix_power": [
        *(
            Case(str(n), lambda x, n=n: L.matrix_power(x, n), (matrix(2, 2),),
                 numpy=lambda x, n=n: np.linalg.matrix_power(x, n), differentiable=n != 0,
                 torch=lambda x, n=n: torch.linalg.matrix_power(x, n))
            for n in (0, 1, 2, 5, -2)
        ),
    ],
    "linalg.matrix_exp": matrices(
        lambda x: L.matrix_exp(x), None, lambda x: torch.linalg.matrix_exp(x),
        make=lambda *s: real(*s, low=-1.0, high=1.0),
    ),
}


def power(x: Any, **options: Any) -> Any:
    re, im = FT.rfft_parts(x, **options)
    return re * re + im * im


def convolved(x: Any, y: Any) -> Any:
    """Cyclic convolution, by a product of spectra."""
    (a, b), (c, d) = FT.rfft_parts(x), FT.rfft_parts(y)
    return FT.irfft_parts(a * c - b * d, a * d + b * c, n=x.shape[-1])


def joined(parts: Any) -> list[Any]:
    return [np.real(parts), np.imag(parts)]


COMPLEX = real(2, 3) + 1j * real(2, 3)


def transform(name: str, **options: Any) -> Case:
    real_input = name in ("rfft", "ihfft", "rfft2", "ihfft2", "rfftn", "ihfftn")
    numpy = getattr(np.fft, name, None)
    return Case(
        "-".join(map(str, options)) or "plain",
        lambda x: getattr(FT, name)(x, **options),
        (real(4, 2).astype(np.float32) if real_input else COMPLEX,),
        numpy=lambda x: numpy(x, **options),
        differentiable=False,
    )


TRANSFORMS: dict[str, list[Case]] = {
    "fft.fft_parts": [
        Case("pair", lambda x, y: FT.fft_parts(x, y), (real(2, 4), real(2, 4)),
             numpy=lambda x, y: joined(np.fft.fft(x + 1j * y))),
        Case("longer", lambda x: FT.fft_parts(x, n=5, axis=0, norm="ortho"), (real(3, 2),), known=True,
             numpy=lambda x: joined(np.fft.fft(x, 5, 0, "ortho"))),
    ],
    "fft.ifft_parts": [
        Case("pair", lambda x, y: FT.ifft_parts(x, y), (real(2, 3), real(2, 3)),
             numpy=lambda x, y: joined(np.fft.ifft(x + 1j * y))),
        Case("shorter", lambda x: FT.ifft_parts(x, n=2, norm="forward"), (real(2, 3),),
             numpy=lambda x: joined(np.fft.ifft(x, 2, norm="forward"))),
    ],
    "fft.rfft_parts": [
        Case("parts", lambda x: FT.rfft_parts(x, axis=0), (real(4, 2),),
             numpy=lambda x: joined(np.fft.rfft(x, axis=0))),
        Case("power", power, (real(2, 5),), numpy=lambda x: np.abs(np.fft.rfft(x)) ** 2,
             torch=lambda x: torch.fft.rfft(x).abs().square()),
    ],
    "fft.irfft_parts": [
        Case("even", lambda x, y: FT.irfft_parts(x, y), (real(2, 3), real(2, 3)),
             numpy=lambda x, y: np.fft.irfft(x + 1j * y),
             torch=lambda x, y: torch.fft.irfft(torch.complex(x, y))),
        Case("odd", lambda x, y: FT.irfft_parts(x, y, n=5, norm="ortho"), (real(2, 3), real(2, 3)),
             numpy=lambda x, y: np.fft.irfft(x + 1j * y, 5, norm="ortho")),
        Case("convolution", convolved, (real(5), real(5)), known=True,
             numpy=lambda x, y: np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(y), 5),
             torch=lambda x, y: torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(y), 5)),
    ],
    "fft.fftshift": [
        Case("all", lambda x: FT.fftshift(x), (real(3, 4),), numpy=np.fft.fftshift,
             torch=lambda x: torch.fft.fftshift(x), known=True),
        Case("one", lambda x: FT.fftshift(x, axes=1), (real(2, 5),),
             numpy=lambda x: np.fft.fftshift(x, 1)),
    ],
    "fft.ifftshift": [
        Case("all", lambda x: FT.ifftshift(x), (real(3, 4),), numpy=np.fft.ifftshift,
             torch=lambda x: torch.fft.ifftshift(x), known=True),
    ],
    "fft.fftfreq": [
        Case("even", lambda: FT.fftfreq(4, 0.5, "float64"), (), differentiable=False,
             numpy=lambda: np.fft.fftfreq(4, 0.5)),
    ],
    "fft.rfftfreq": [
        Case("odd", lambda: FT.rfftfreq(5, 0.5, "float64"), (), differentiable=False,
             numpy=lambda: np.fft.rfftfreq(5, 0.5)),
    ],
    **{
        f"fft.{name}": [transform(name), transform(name, n=5, axis=0, norm="ortho")]
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        f"fft.{name}": [transform(name), transform(name, axes=(1, 0), norm="forward")]
        for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
    },
}


def np_hermitian(x: Any) -> Any:
    """The transform of the signal whose second half mirrors `x`."""
    return np.fft.hfft(np.fft.fft(x, axis=0), axis=1)


def np_inverse_hermitian(x: Any) -> Any:
    return np.fft.ifft(np.fft.ihfft(x, axis=1), axis=0)


for _name in ("hfft2", "hfftn"):
    TRANSFORMS[f"fft.{_name}"] = [
        Case("plain", lambda x, name=_name: getattr(FT, name)(x), (COMPLEX,), numpy=np_hermitian,
             differentiable=False)
    ]
for _name in ("ihfft2", "ihfftn"):
    TRANSFORMS[f"fft.{_name}"] = [
        Case("plain", lambda x, name=_name: getattr(FT, name)(x), (real(3, 4).astype(np.float32),),
             numpy=np_inverse_hermitian, differentiable=False)
    ]

VALUES: dict[str, list[Case]] = {
    "real": [Case("complex", lambda x: paddle.real(x), (COMPLEX,), numpy=np.real,
                  differentiable=False)],
    "imag": [Case("complex", lambda x: paddle.imag(x), (COMPLEX,), numpy=np.imag,
                  differentiable=False)],
    "conj": [
        Case("complex", lambda x: paddle.conj(x), (COMPLEX,), numpy=np.conj, differentiable=False),
        Case("real", lambda x: paddle.conj(x), (real(2, 3),), numpy=lambda x: x),
    ],
    "angle": [
        Case("complex", lambda x: paddle.angle(x), (COMPLEX,), numpy=np.angle, differentiable=False),
        Case("real", lambda x: paddle.angle(x), (real(4),), numpy=np.angle, differentiable=False),
    ],
    "complex": [Case("row", lambda x, y: paddle.complex(x, y), (real(2, 3), real(3)),
                     numpy=lambda x, y: x + 1j * y, differentiable=False)],
    "as_complex": [Case("pairs", lambda x: paddle.as_complex(x), (real(3, 2),),
                        numpy=lambda x: x[:, 0] + 1j * x[:, 1], differentiable=False)],
    "as_real": [Case("pairs", lambda x: paddle.as_real(x), (COMPLEX,), differentiable=False,
                     numpy=lambda x: np.stack([x.real, x.imag], -1))],
    "polar": [Case("plain", lambda r, t: paddle.polar(r, t), (positive(3), real(3)),
                   numpy=lambda r, t: r * np.exp(1j * t), differentiable=False)],
}

CASES: dict[str, list[Case]] = {**PRODUCTS, **DECOMPOSITIONS, **SYSTEMS, **TRANSFORMS, **VALUES}
