"""Calls of the public functions of `einsum`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case
from ..peers import torch


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


CASES: dict[str, list[Case]] = {
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
}
