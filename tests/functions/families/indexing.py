"""Calls of the public functions of `indexing`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, real

from ..case import Case
from ..peers import torch
from .getitem import MASK, ROWS

CASES: dict[str, list[Case]] = {
    "shard_index": [
        Case(
            f"{part}",
            lambda x, part=part: paddle.shard_index(x, 10, 3, part, ignore_value=-7),
            (np.asarray([[0, 3], [4, 9]], np.int32),),
            # parts of four: 0 to 3, 4 to 7, 8 and 9
            numpy=lambda x, part=part: np.where(x // 4 == part, x % 4, -7),
            differentiable=False,
        )
        for part in (0, 1, 2)
    ],
    # --- along an axis
    "gather": [
        Case(
            "rows",
            lambda x, i: paddle.gather(x, i),
            (real(4, 2), integers(2, -4, 2)),
            numpy=lambda x, i: x[i],
            torch=lambda x, i: x[i],
        ),
        Case(
            "columns",
            lambda x, i: paddle.gather(x, i, axis=1),
            (real(2, 3), integers(2, 0)),
            numpy=lambda x, i: x[:, i],
            torch=lambda x, i: torch.index_select(x, 1, i),
        ),
    ],
    "index_select": [
        Case(
            "columns",
            lambda x, i: paddle.index_select(x, i, axis=-1),
            (real(2, 3), integers(2, 0, 2)),
            numpy=lambda x, i: x[:, i],
            torch=lambda x, i: torch.index_select(x, -1, i),
        ),
    ],
    "gather_nd": [
        Case(
            "points",
            lambda x, i: paddle.gather_nd(x, i),
            (real(2, 3), integers([1, 2], [0, 0], [1, -1])),
            numpy=lambda x, i: np.asarray([x[a, b] for a, b in i]),
            torch=lambda x, i: x[i[:, 0], i[:, 1]],
        ),
        Case(
            "rows",
            lambda x, i: paddle.gather_nd(x, i),
            (real(3, 2), integers([[1], [2]], [[1], [0]])),
            numpy=lambda x, i: x[i[..., 0]],
            torch=lambda x, i: x[i[..., 0]],
        ),
        Case(
            "everything",
            lambda x, i: paddle.gather_nd(x, i),
            (real(3), np.zeros((2, 0), np.int64)),
            numpy=lambda x, i: np.stack([x, x]),
            known=True,
        ),
    ],
    "take": [
        Case(
            "raise",
            lambda x, i: paddle.take(x, i),
            (real(2, 3), integers([5, 0], [-1, 3])),
            numpy=np.take,
            torch=lambda x, i: torch.take(x, i),
        ),
        Case(
            "wrap",
            lambda x, i: paddle.take(x, i, mode="wrap"),
            (real(2, 3), integers(7, -8, 2)),
            numpy=lambda x, i: np.take(x, i, mode="wrap"),
            known=True,
        ),
        Case(
            "clip",
            lambda x, i: paddle.take(x, i, mode="clip"),
            (real(2, 3), integers(7, -8, 2)),
            numpy=lambda x, i: np.take(x, i, mode="clip"),
            known=True,
        ),
    ],
    "take_along_axis": [
        Case(
            "plain",
            lambda x, i: paddle.take_along_axis(x, i, 1),
            (real(2, 3), integers([2, 0, 2, 1], [0, 0, -1, 1])),
            numpy=lambda x, i: np.take_along_axis(x, i, 1),
            torch=lambda x, i: torch.gather(x, 1, i % 3),
        ),
        Case(
            "broadcast",
            lambda x, i: paddle.take_along_axis(x, i, 0),
            (real(3, 2), integers([2], [0])),
            numpy=lambda x, i: x[i[:, 0]],
            known=True,
        ),
        Case(
            "part",
            lambda x, i: paddle.take_along_axis(x, i, 0, broadcast=False),
            (real(3, 2), integers([2], [0])),
            numpy=lambda x, i: x[i, 0],
            torch=lambda x, i: torch.gather(x, 0, i),
            known=True,
        ),
    ],
    "index_sample": [
        Case(
            "plain",
            lambda x, i: paddle.index_sample(x, i),
            (real(2, 3), integers([2, 0, 2], [0, 1, 1])),
            numpy=lambda x, i: np.stack([x[0][i[0]], x[1][i[1]]]),
            torch=lambda x, i: torch.gather(x, 1, i),
        )
    ],
    # --- masks
    "masked_select": [
        Case(
            "plain",
            lambda x, m: paddle.masked_select(x, m),
            (real(2, 3), MASK),
            numpy=lambda x, m: x[m],
            torch=lambda x, m: torch.masked_select(x, m),
        ),
        Case(
            "broadcast",
            lambda x, m: paddle.masked_select(x, m),
            (real(2, 3), ROWS),
            numpy=lambda x, m: np.concatenate([v[m] for v in x]),
            torch=lambda x, m: torch.masked_select(x, m),
        ),
    ],
}
