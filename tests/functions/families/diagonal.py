"""Calls of the public functions of `diagonal`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case
from ..peers import torch


def on_diagonal(x: Any, y: Any, offset: int = 0) -> Any:
    out = np.array(x)
    for k in range(y.shape[-1]):
        out[k + max(-offset, 0), k + max(offset, 0)] = y[..., k]
    return out


CASES: dict[str, list[Case]] = {
    "tril": [
        Case(
            "plain",
            lambda x: paddle.tril(x, 1),
            (real(2, 3, 3),),
            numpy=lambda x: np.tril(x, 1),
            torch=lambda x: torch.tril(x, 1),
        )
    ],
    "triu": [
        Case(
            "plain",
            lambda x: paddle.triu(x, -1),
            (real(3, 4),),
            numpy=lambda x: np.triu(x, -1),
            torch=lambda x: torch.triu(x, -1),
        )
    ],
    "diag": [
        Case(
            "vector",
            lambda x: paddle.diag(x, 1),
            (real(3),),
            numpy=lambda x: np.diag(x, 1),
            torch=lambda x: torch.diag(x, 1),
        ),
        Case(
            "matrix",
            lambda x: paddle.diag(x, -1),
            (real(3, 2),),
            numpy=lambda x: np.diag(x, -1),
            torch=lambda x: torch.diag(x, -1),
        ),
        Case(
            "padding",
            lambda x: x.diag(padding_value=2.5),
            (real(3),),
            numpy=lambda x: np.where(np.eye(3) == 1, np.diag(x), 2.5),
        ),
    ],
    "diagonal": [
        Case(
            "plain",
            lambda x: paddle.diagonal(x, 1, 2, 0),
            (real(2, 2, 3),),
            numpy=lambda x: np.diagonal(x, 1, 2, 0),
            torch=lambda x: torch.diagonal(x, 1, 2, 0),
        ),
        Case("default", lambda x: x.diagonal(), (real(2, 3, 2),), numpy=np.diagonal),
    ],
    "diag_embed": [
        Case(
            "plain",
            lambda x: paddle.diag_embed(x, -1),
            (real(2, 2),),
            numpy=lambda x: np.stack([np.diag(row, -1) for row in x]),
            torch=lambda x: torch.diag_embed(x, -1),
        ),
        Case(
            "first axes",
            lambda x: x.diag_embed(0, 0, 1),
            (real(2, 2),),
            numpy=lambda x: np.stack([np.diag(row) for row in x], -1),
            torch=lambda x: torch.diag_embed(x, 0, 0, 1),
        ),
    ],
    "diagflat": [
        Case(
            "plain",
            lambda x: paddle.diagflat(x, 1),
            (real(2, 2),),
            numpy=lambda x: np.diagflat(x, 1),
            torch=lambda x: torch.diagflat(x, 1),
        )
    ],
    "trace": [
        Case(
            "plain",
            lambda x: paddle.trace(x),
            (real(3, 3),),
            numpy=np.trace,
            torch=lambda x: torch.trace(x),
        ),
        Case(
            "axes",
            lambda x: x.trace(1, 2, 0),
            (real(2, 2, 3),),
            numpy=lambda x: np.trace(x, 1, 2, 0),
        ),
    ],
    "diagonal_scatter": [
        Case(
            "plain",
            lambda x, y: paddle.diagonal_scatter(x, y, 1),
            (real(3, 3), real(2)),
            numpy=lambda x, y: on_diagonal(x, y, 1),
            torch=lambda x, y: torch.diagonal_scatter(x, y, 1),
        )
    ],
    "Tensor.fill_diagonal_tensor": [
        Case(
            "plain",
            lambda x, y: x.fill_diagonal_tensor(y),
            (real(2, 3), real(2)),
            numpy=on_diagonal,
        ),
        Case(
            "batch",
            lambda x, y: x.fill_diagonal_tensor(y, -1, 0, 1),
            (real(3, 2, 2), real(2, 2)),
            numpy=lambda x, y: on_diagonal(x, y, -1),
        ),
    ],
}
