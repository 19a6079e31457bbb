"""Calls of the public functions of `products`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case
from ..peers import torch

L = paddle.linalg


CASES: dict[str, list[Case]] = {
    "matmul": [
        Case(
            "matrices",
            lambda x, y: paddle.matmul(x, y),
            (real(2, 3), real(3, 4)),
            numpy=lambda x, y: x @ y,
            torch=lambda x, y: x @ y,
        ),
        Case(
            "vectors",
            lambda x, y: paddle.matmul(x, y),
            (real(3), real(3)),
            numpy=np.dot,
            torch=lambda x, y: x @ y,
        ),
        Case(
            "transposed",
            lambda x, y: paddle.matmul(x, y, True, True),
            (real(3, 2), real(4, 3)),
            numpy=lambda x, y: x.T @ y.T,
            torch=lambda x, y: x.T @ y.T,
        ),
        Case(
            "broadcast",
            lambda x, y: paddle.matmul(x, y),
            (real(2, 1, 2, 3), real(2, 3, 1)),
            numpy=lambda x, y: x @ y,
            torch=lambda x, y: x @ y,
        ),
    ],
    "mm": [
        Case(
            "matrices",
            lambda x, y: paddle.mm(x, y),
            (real(2, 3), real(3, 2)),
            numpy=np.dot,
            torch=lambda x, y: torch.mm(x, y),
        )
    ],
    "bmm": [
        Case(
            "batch",
            lambda x, y: paddle.bmm(x, y),
            (real(2, 2, 3), real(2, 3, 1)),
            numpy=np.matmul,
            torch=lambda x, y: torch.bmm(x, y),
        )
    ],
    "mv": [
        Case(
            "matrix",
            lambda x, y: paddle.mv(x, y),
            (real(2, 3), real(3)),
            numpy=np.dot,
            torch=lambda x, y: torch.mv(x, y),
        )
    ],
    "dot": [
        Case(
            "vectors",
            lambda x, y: paddle.dot(x, y),
            (real(4), real(4)),
            numpy=np.dot,
            torch=lambda x, y: torch.dot(x, y),
        ),
        Case(
            "rows",
            lambda x, y: paddle.dot(x, y),
            (real(2, 3), real(2, 3)),
            numpy=lambda x, y: (x * y).sum(1),
        ),
    ],
    "vecdot": [
        Case(
            "last",
            lambda x, y: paddle.vecdot(x, y),
            (real(2, 3), real(3)),
            numpy=lambda x, y: x @ y,
            torch=lambda x, y: torch.linalg.vecdot(x, y),
        ),
        Case(
            "first",
            lambda x, y: paddle.vecdot(x, y, axis=0),
            (real(2, 3), real(2, 3)),
            numpy=lambda x, y: (x * y).sum(0),
            torch=lambda x, y: torch.linalg.vecdot(x, y, dim=0),
        ),
    ],
    "outer": [
        Case(
            "vectors",
            lambda x, y: paddle.outer(x, y),
            (real(3), real(2)),
            numpy=np.outer,
            torch=lambda x, y: torch.outer(x, y),
        ),
        Case("flattened", lambda x, y: paddle.outer(x, y), (real(2, 2), real()), numpy=np.outer),
    ],
    "inner": [
        Case(
            "arrays",
            lambda x, y: paddle.inner(x, y),
            (real(2, 3), real(2, 1, 3)),
            numpy=np.inner,
            torch=lambda x, y: torch.inner(x, y),
        ),
        Case("number", lambda x, y: paddle.inner(x, y), (real(2, 3), real()), numpy=np.inner),
    ],
    "kron": [
        Case(
            "matrices",
            lambda x, y: paddle.kron(x, y),
            (real(2, 3), real(2, 1)),
            numpy=np.kron,
            torch=lambda x, y: torch.kron(x, y),
        ),
        Case(
            "ranks",
            lambda x, y: paddle.kron(x, y),
            (real(2), real(2, 1, 2)),
            numpy=np.kron,
            torch=lambda x, y: torch.kron(x, y),
        ),
    ],
    "cross": [
        Case(
            "rows",
            lambda x, y: paddle.cross(x, y),
            (real(2, 3), real(2, 3)),
            numpy=np.cross,
            torch=lambda x, y: torch.linalg.cross(x, y),
        ),
        Case(
            "columns",
            lambda x, y: paddle.cross(x, y, axis=0),
            (real(3, 2), real(3, 2)),
            numpy=lambda x, y: np.cross(x, y, axis=0),
            torch=lambda x, y: torch.linalg.cross(x, y, dim=0),
            known=True,
        ),
    ],
    "tensordot": [
        Case(
            "two",
            lambda x, y: paddle.tensordot(x, y),
            (real(2, 2, 3), real(2, 3, 2)),
            numpy=np.tensordot,
            torch=lambda x, y: torch.tensordot(x, y),
        ),
        Case(
            "lists",
            lambda x, y: paddle.tensordot(x, y, [[0, 1], [2, 0]]),
            (real(2, 3, 2), real(3, 1, 2)),
            numpy=lambda x, y: np.tensordot(x, y, [[0, 1], [2, 0]]),
            torch=lambda x, y: torch.tensordot(x, y, [[0, 1], [2, 0]]),
        ),
        Case(
            "none",
            lambda x, y: paddle.tensordot(x, y, 0),
            (real(2), real(2, 2)),
            numpy=lambda x, y: np.tensordot(x, y, 0),
            torch=lambda x, y: torch.tensordot(x, y, 0),
        ),
    ],
    "addmm": [
        Case(
            "scaled",
            lambda i, x, y: paddle.addmm(i, x, y, beta=0.5, alpha=2.0),
            (real(2), real(3, 2), real(2, 2)),
            numpy=lambda i, x, y: 0.5 * i + 2.0 * (x @ y),
            torch=lambda i, x, y: torch.addmm(i, x, y, beta=0.5, alpha=2.0),
        ),
    ],
    "baddbmm": [
        Case(
            "scaled",
            lambda i, x, y: paddle.baddbmm(i, x, y, beta=0.5, alpha=2.0),
            (real(2, 1, 2), real(2, 1, 2), real(2, 2, 2)),
            numpy=lambda i, x, y: 0.5 * i + 2.0 * (x @ y),
            torch=lambda i, x, y: torch.baddbmm(i, x, y, beta=0.5, alpha=2.0),
        ),
    ],
    "matrix_transpose": [
        Case(
            "batch",
            lambda x: paddle.matrix_transpose(x),
            (real(2, 2, 3),),
            numpy=lambda x: x.swapaxes(1, 2),
            torch=lambda x: x.mT,
        ),
    ],
    "linalg.multi_dot": [
        Case(
            "chain",
            lambda *xs: L.multi_dot(list(xs)),
            (real(2, 3), real(3, 1), real(1, 4)),
            numpy=lambda *xs: np.linalg.multi_dot(xs),
            torch=lambda *xs: torch.linalg.multi_dot(xs),
            known=True,
        ),
        Case(
            "vectors",
            lambda *xs: L.multi_dot(list(xs)),
            (real(2), real(2, 3), real(3)),
            numpy=lambda *xs: np.linalg.multi_dot(xs),
            torch=lambda *xs: torch.linalg.multi_dot(xs),
            known=True,
        ),
    ],
}
