"""Calls of the public functions of `determinant`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle

from ..case import Case
from ..peers import torch
from .decomposition import matrices

L = paddle.linalg


CASES: dict[str, list[Case]] = {
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
}
