"""Calls of the public functions of `joining`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, real

from ..case import Case
from ..peers import torch


def block_diag(*blocks: Any) -> Any:
    blocks = [np.atleast_2d(b) for b in blocks]
    out = np.zeros([sum(b.shape[k] for b in blocks) for k in (0, 1)])
    row = column = 0
    for b in blocks:
        out[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return out


CASES: dict[str, list[Case]] = {
    "split_with_sizes": [
        Case(
            "axis",
            lambda x: x.split_with_sizes([1, 0, 2], dim=1),
            (real(2, 3),),
            numpy=lambda x: [x[:, :1], x[:, :0], x[:, 1:]],
            torch=lambda x: list(x.split_with_sizes([1, 0, 2], dim=1)),
        ),
    ],
    # --- joining
    "concat": [
        Case(
            "first",
            lambda x, y: paddle.concat([x, y]),
            (real(2, 3), real(1, 3)),
            numpy=lambda x, y: np.concatenate([x, y]),
            torch=lambda x, y: torch.cat([x, y]),
        ),
        Case(
            "last",
            lambda x, y, z: paddle.concat([x, y, z], axis=-1),
            (real(2, 1), real(2, 2), integers([1], [2])),
            numpy=lambda x, y, z: np.concatenate([x, y, z], axis=1),
        ),
    ],
    "stack": [
        Case(
            "last",
            lambda x, y: paddle.stack([x, y], axis=-1),
            (real(2, 3), real(2, 3)),
            numpy=lambda x, y: np.stack([x, y], -1),
            torch=lambda x, y: torch.stack([x, y], -1),
        )
    ],
    "hstack": [
        Case(
            "matrices",
            lambda x, y: paddle.hstack([x, y]),
            (real(2, 2), real(2, 1)),
            numpy=lambda x, y: np.hstack([x, y]),
            torch=lambda x, y: torch.hstack([x, y]),
        ),
        Case(
            "vectors",
            lambda x, y: paddle.hstack([x, y]),
            (real(2), real()),
            numpy=lambda x, y: np.hstack([x, y]),
        ),
    ],
    "vstack": [
        Case(
            "plain",
            lambda x, y: paddle.vstack([x, y]),
            (real(3), real(2, 3)),
            numpy=lambda x, y: np.vstack([x, y]),
            torch=lambda x, y: torch.vstack([x, y]),
        )
    ],
    "row_stack": [
        Case(
            "plain",
            lambda x, y: paddle.row_stack([x, y]),
            (real(3), real(3)),
            numpy=lambda x, y: np.vstack([x, y]),
            torch=lambda x, y: torch.vstack([x, y]),
        )
    ],
    "dstack": [
        Case(
            "plain",
            lambda x, y: paddle.dstack([x, y]),
            (real(2, 3), real(2, 3)),
            numpy=lambda x, y: np.dstack([x, y]),
            torch=lambda x, y: torch.dstack([x, y]),
        )
    ],
    "column_stack": [
        Case(
            "plain",
            lambda x, y: paddle.column_stack([x, y]),
            (real(3), real(3, 2)),
            numpy=lambda x, y: np.column_stack([x, y]),
            torch=lambda x, y: torch.column_stack([x, y]),
        ),
        Case(
            "0-d",
            lambda x, y: paddle.column_stack([x, y]),
            (real(), real()),
            numpy=lambda x, y: np.asarray([[x, y]]),
        ),
    ],
    "block_diag": [
        Case(
            "plain",
            lambda x, y, z: paddle.block_diag([x, y, z]),
            (real(2, 2), real(1, 3), real()),
            numpy=block_diag,
            torch=lambda x, y, z: torch.block_diag(x, y, z),
        )
    ],
    # --- cutting
    "split": [
        Case(
            "parts",
            lambda x: paddle.split(x, 2, axis=0),
            (real(4, 2),),
            numpy=lambda x: np.split(x, 2),
            torch=lambda x: torch.split(x, 2),
        ),
        Case(
            "sizes",
            lambda x: x.split([1, -1], axis=1),
            (real(2, 4),),
            numpy=lambda x: np.split(x, [1], 1),
            torch=lambda x: torch.split(x, [1, 3], 1),
        ),
        Case(
            "known sizes",
            lambda x: x.split([1, 2]),
            (real(3, 2),),
            numpy=lambda x: np.split(x, [1]),
        ),
    ],
    "chunk": [
        Case(
            "plain",
            lambda x: paddle.chunk(x, 3, axis=-1),
            (real(2, 6),),
            numpy=lambda x: np.split(x, 3, 1),
            torch=lambda x: torch.chunk(x, 3, -1),
        )
    ],
    "tensor_split": [
        Case(
            "uneven",
            lambda x: paddle.tensor_split(x, 3),
            (real(5, 2),),
            numpy=lambda x: np.array_split(x, 3),
            torch=lambda x: torch.tensor_split(x, 3),
            known=True,
        ),
        Case(
            "positions",
            lambda x: x.tensor_split([1, 3], axis=0),
            (real(4, 2),),
            numpy=lambda x: np.array_split(x, [1, 3]),
            torch=lambda x: torch.tensor_split(x, (1, 3)),
        ),
        Case(
            "crossing",
            lambda x: paddle.tensor_split(x, [-1, 1]),
            (real(4),),
            numpy=lambda x: [x[:-1], x[3:1], x[1:]],
        ),
    ],
    "hsplit": [
        Case(
            "matrix",
            lambda x: paddle.hsplit(x, 2),
            (real(2, 4),),
            numpy=lambda x: np.hsplit(x, 2),
            torch=lambda x: torch.hsplit(x, 2),
        ),
        Case("vector", lambda x: x.hsplit([1]), (real(3),), numpy=lambda x: np.hsplit(x, [1])),
    ],
    "vsplit": [
        Case(
            "plain",
            lambda x: paddle.vsplit(x, [1]),
            (real(3, 2),),
            numpy=lambda x: np.vsplit(x, [1]),
            torch=lambda x: torch.vsplit(x, (1,)),
        )
    ],
    "dsplit": [
        Case(
            "plain",
            lambda x: paddle.dsplit(x, 2),
            (real(2, 1, 4),),
            numpy=lambda x: np.dsplit(x, 2),
            torch=lambda x: torch.dsplit(x, 2),
        )
    ],
    "unbind": [
        Case(
            "last",
            lambda x: paddle.unbind(x, 1),
            (real(2, 3),),
            numpy=lambda x: list(x.T),
            torch=lambda x: torch.unbind(x, 1),
        )
    ],
    "unstack": [
        Case("plain", lambda x: paddle.unstack(x, -1), (real(2, 3),), numpy=lambda x: list(x.T)),
        Case("number", lambda x: paddle.unstack(x, 0, 2), (real(2, 3),), numpy=list),
    ],
}
