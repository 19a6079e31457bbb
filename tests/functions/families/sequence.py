"""Calls of the public functions of `sequence`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers

from ..case import Case

F = paddle.nn.functional


CASES: dict[str, list[Case]] = {
    "nn.functional.sequence_mask": [
        Case(
            "longest",
            lambda n: F.sequence_mask(n),
            (integers([1, 3], [0, 2]),),
            numpy=lambda n: (np.arange(3) < n[..., None]).astype(np.int64),
            differentiable=False,
        ),
        Case(
            "given",
            lambda n: F.sequence_mask(n, maxlen=2, dtype="float32"),
            (integers(1, 3),),
            numpy=lambda n: np.asarray([[1.0, 0.0], [1.0, 1.0]]),
            differentiable=False,
        ),
    ],
    "nn.functional.gather_tree": [
        Case(
            "plain",
            lambda i, p: F.gather_tree(i, p),
            (integers([[2, 5]], [[3, 7]], [[1, 4]]), integers([[0, 0]], [[1, 0]], [[1, 1]])),
            numpy=lambda i, p: np.asarray([[[2, 2]], [[7, 7]], [[1, 4]]]),
            differentiable=False,
        )
    ],
}
