"""Calls of the public functions of `common`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, real

from ..case import Case
from ..peers import TF
from .loss import distributions

F = paddle.nn.functional
Array = np.ndarray


CASES: dict[str, list[Case]] = {
    "nn.functional.linear": [
        Case(
            "plain",
            lambda x, w, b: F.linear(x, w, b),
            (real(2, 3), real(3, 2), real(2)),
            numpy=lambda x, w, b: x @ w + b,
            torch=lambda x, w, b: TF.linear(x, w.T, b),
        ),
        Case(
            "batch",
            lambda x, w: F.linear(x, w),
            (real(2, 2, 3), real(3, 2)),
            numpy=lambda x, w: x @ w,
        ),
    ],
    "nn.functional.embedding": [
        Case(
            "plain",
            lambda i, w: F.embedding(i, w),
            (integers([1, 0], [1, 2]), real(3, 2)),
            numpy=lambda i, w: w[i],
            torch=lambda i, w: TF.embedding(i, w),
        ),
        Case(
            "padding",
            lambda i, w: F.embedding(i, w, padding_idx=-2, sparse=True),
            (integers(1, 0, 1, 2), real(3, 2)),
            numpy=lambda i, w: np.where((i == 1)[:, None], 0.0, w[i]),
            known=True,
        ),
    ],
    "nn.functional.embedding_renorm_": [
        Case(
            "two-rows",
            lambda i, w: F.embedding_renorm_(i, w.clone(), 0.5, 3.0),
            (integers([1, 0], [1, 0]), np.array([[1.0, 2.0], [0.1, 0.2], [3.0, 4.0]])),
            numpy=lambda i, w: np.array([0.5 / (9 ** (1 / 3) + 1e-7), 1.0, 1.0])[:, None] * w,
            differentiable=False,
            static=False,
        )
    ],
    "nn.functional.one_hot": [
        Case(
            "plain",
            lambda i: F.one_hot(i, 4),
            (integers(1, 3, 0),),
            numpy=lambda i: np.eye(4)[i],
            differentiable=False,
        ),
        Case(
            "largest",
            lambda i: F.one_hot(i),
            (integers(1, 3, 0),),
            numpy=lambda i: np.eye(4)[i],
            differentiable=False,
            static=False,
        ),
    ],
    "nn.functional.label_smooth": [
        Case(
            "plain",
            lambda y: F.label_smooth(y),
            (distributions(2, 4),),
            numpy=lambda y: 0.9 * y + 0.1 / 4,
        ),
        Case(
            "prior",
            lambda y, p: F.label_smooth(y, p, epsilon=0.3),
            (distributions(2, 4), distributions(1, 4)),
            numpy=lambda y, p: 0.7 * y + 0.3 * p,
        ),
    ],
    "nn.functional.bilinear": [
        Case(
            "plain",
            lambda x, y, w, b: F.bilinear(x, y, w, b),
            (real(2, 2), real(2, 3), real(2, 2, 3), real(1, 2)),
            numpy=lambda x, y, w, b: np.einsum("ni,kij,nj->nk", x, w, y) + b,
            torch=lambda x, y, w, b: TF.bilinear(x, y, w, b[0]),
        )
    ],
}
