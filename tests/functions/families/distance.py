"""Calls of the public functions of `distance`."""

from __future__ import annotations

import math

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import away_from_zero, real, spaced

from ..case import Case
from ..peers import TF
from .loss import cosine, distance

F = paddle.nn.functional
Array = np.ndarray


CASES: dict[str, list[Case]] = {
    "nn.functional.cosine_similarity": [
        Case(
            "plain",
            lambda x, y: F.cosine_similarity(x, y),
            (real(2, 3), real(2, 3)),
            numpy=cosine,
            torch=lambda x, y: TF.cosine_similarity(x, y),
        ),
        Case(
            "broadcast",
            lambda x, y: F.cosine_similarity(x, y, axis=-1),
            (real(2, 2, 3), real(2, 3)),
            numpy=cosine,
            torch=lambda x, y: TF.cosine_similarity(x, y, -1),
        ),
    ],
    "nn.functional.pairwise_distance": [
        Case(
            "plain",
            lambda x, y: F.pairwise_distance(x, y),
            (real(2, 3), real(2, 3)),
            numpy=distance,
            torch=lambda x, y: TF.pairwise_distance(x, y),
        ),
        *(
            Case(
                f"order {p}",
                lambda x, y, p=p: F.pairwise_distance(x, y, p, keepdim=True),
                (spaced(2, 3), np.asarray(0.1 * real(2, 3))),
                numpy=lambda x, y, p=p: distance(x, y, p)[:, None],
                torch=lambda x, y, p=p: TF.pairwise_distance(x, y, p, keepdim=True),
            )
            for p in (1.0, 3.0, math.inf)
        ),
    ],
    "nn.functional.normalize": [
        Case(
            "plain",
            lambda x: F.normalize(x),
            (real(2, 3),),
            numpy=lambda x: x / np.linalg.norm(x, axis=1, keepdims=True),
            torch=lambda x: TF.normalize(x),
        ),
        Case(
            "order",
            lambda x: F.normalize(x, p=1.5, axis=0),
            (away_from_zero(3, 2),),
            numpy=lambda x: x / np.linalg.norm(x, 1.5, axis=0, keepdims=True),
            torch=lambda x: TF.normalize(x, 1.5, 0),
        ),
        Case(
            "epsilon",
            lambda x: F.normalize(x, epsilon=100.0),
            (real(2, 3),),
            numpy=lambda x: x / 100.0,
            torch=lambda x: TF.normalize(x, eps=100.0),
        ),
    ],
}
