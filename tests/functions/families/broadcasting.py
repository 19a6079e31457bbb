"""Calls of the public functions of `broadcasting`."""

from __future__ import annotations

import itertools

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, real

from ..case import Case
from ..peers import torch

CASES: dict[str, list[Case]] = {
    "reduce_as": [
        Case(
            "axes",
            lambda x, y: paddle.reduce_as(x, y),
            (real(2, 3, 2), real(3, 1)),
            numpy=lambda x, y: x.sum(axis=(0, 2))[:, None],
            torch=lambda x, y: x.sum_to_size(3, 1),
        ),
        *(
            Case(
                dtype,
                lambda x: paddle.reduce_as(x, paddle.zeros([])),
                (np.asarray([1, 1, 1], dtype),),
                numpy=lambda x, given=given: np.asarray(3, given),
                differentiable=False,
            )
            for dtype, given in [("bool", "int64"), ("int32", "int64"), ("int16", "int16")]
        ),
    ],
    "expand": [
        Case(
            "plain",
            lambda x: paddle.expand(x, [2, -1, 3]),
            (real(2, 1),),
            numpy=lambda x: np.broadcast_to(x, (2, 2, 3)),
            torch=lambda x: x.expand(2, -1, 3),
        )
    ],
    "broadcast_to": [
        Case(
            "plain",
            lambda x: paddle.broadcast_to(x, [2, 3]),
            (real(3),),
            numpy=lambda x: np.broadcast_to(x, (2, 3)),
            torch=lambda x: torch.broadcast_to(x, (2, 3)),
        )
    ],
    "expand_as": [
        Case(
            "plain",
            lambda x, y: paddle.expand_as(x, y),
            (real(2, 1), integers([1, 2, 3], [4, 5, 6])),
            numpy=lambda x, y: np.broadcast_to(x, (2, 3)),
            torch=lambda x, y: x.expand_as(y),
        )
    ],
    "broadcast_tensors": [
        Case(
            "plain",
            lambda x, y, z: paddle.broadcast_tensors([x, y, z]),
            (real(2, 1), real(1, 3), real()),
            numpy=lambda x, y, z: np.broadcast_arrays(x, y, z),
            torch=lambda x, y, z: torch.broadcast_tensors(x, y, z),
        )
    ],
    "tile": [
        Case(
            "both",
            lambda x: paddle.tile(x, [2, 3]),
            (real(2, 2),),
            numpy=lambda x: np.tile(x, (2, 3)),
            torch=lambda x: torch.tile(x, (2, 3)),
        ),
        Case(
            "new axes",
            lambda x: paddle.tile(x, [2, 1, 2]),
            (real(2, 2),),
            numpy=lambda x: np.tile(x, (2, 1, 2)),
            torch=lambda x: torch.tile(x, (2, 1, 2)),
        ),
        Case("last", lambda x: x.tile(2), (real(2, 2),), numpy=lambda x: np.tile(x, 2)),
        Case("once", lambda x: x.tile([1]), (real(2),), numpy=np.copy),
        Case("0-d", lambda x: x.tile([2]), (real(),), numpy=lambda x: np.tile(x, 2)),
        Case("never", lambda x: x.tile([0, 2]), (real(2, 2),), numpy=lambda x: np.tile(x, (0, 2))),
    ],
    "repeat_interleave": [
        Case(
            "flat",
            lambda x: paddle.repeat_interleave(x, 2),
            (real(2, 3),),
            numpy=lambda x: np.repeat(x, 2),
            torch=lambda x: torch.repeat_interleave(x, 2),
        ),
        Case(
            "axis",
            lambda x: x.repeat_interleave(3, axis=-2),
            (real(2, 2),),
            numpy=lambda x: np.repeat(x, 3, -2),
            torch=lambda x: torch.repeat_interleave(x, 3, -2),
        ),
        Case(
            "counts",
            lambda x, n: paddle.repeat_interleave(x, n, axis=1),
            (real(2, 3), integers(1, 0, 2)),
            numpy=lambda x, n: np.repeat(x, n, 1),
            torch=lambda x, n: torch.repeat_interleave(x, n, 1),
        ),
        Case(
            "known total",
            lambda x, n: paddle.repeat_interleave(x, n, axis=0, output_size=3),
            (real(2, 2), integers(2, 1)),
            numpy=lambda x, n: np.repeat(x, n, 0),
        ),
    ],
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
