"""Calls of the public functions of `combining`."""

from __future__ import annotations

import itertools

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case
from ..peers import torch

CASES: dict[str, list[Case]] = {
    "meshgrid": [
        Case(
            "ij",
            lambda x, y: paddle.meshgrid(x, y),
            (real(2), real(3)),
            numpy=lambda x, y: np.meshgrid(x, y, indexing="ij"),
            torch=lambda x, y: torch.meshgrid(x, y, indexing="ij"),
        ),
        Case(
            "xy",
            lambda x, y, z: paddle.meshgrid([x, y, z], indexing="xy"),
            (real(2), real(3), real()),
            numpy=lambda x, y, z: np.meshgrid(x, y, z, indexing="xy"),
            torch=lambda x, y, z: torch.meshgrid(x, y, z, indexing="xy"),
        ),
    ],
    "cartesian_prod": [
        Case(
            "plain",
            lambda x, y: paddle.cartesian_prod([x, y]),
            (real(2), real(3)),
            numpy=lambda x, y: np.asarray(list(itertools.product(x, y))),
            torch=lambda x, y: torch.cartesian_prod(x, y),
        ),
        Case("one", lambda x: paddle.cartesian_prod([x]), (real(2),), numpy=np.copy),
    ],
    "combinations": [
        Case(
            "plain",
            lambda x: paddle.combinations(x),
            (real(4),),
            numpy=lambda x: np.asarray(list(itertools.combinations(x, 2))),
            torch=lambda x: torch.combinations(x),
            known=True,
        ),
        Case(
            "with replacement",
            lambda x: paddle.combinations(x, 3, with_replacement=True),
            (real(2),),
            numpy=lambda x: np.asarray(list(itertools.combinations_with_replacement(x, 3))),
            torch=lambda x: torch.combinations(x, 3, with_replacement=True),
            known=True,
        ),
    ],
    "vander": [
        Case(
            "square",
            lambda x: paddle.vander(x),
            (real(3),),
            numpy=np.vander,
            torch=lambda x: torch.stack([x**2, x, x**0], 1),
            known=True,
        ),
        Case(
            "increasing",
            lambda x: paddle.vander(x, 4, increasing=True),
            (np.asarray([0.0, -1.5]),),
            numpy=lambda x: np.vander(x, 4, increasing=True),
            torch=lambda x: torch.stack([x**0, x, x**2, x**3], 1),
        ),
    ],
}
