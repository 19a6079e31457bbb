"""Calls of the public functions of `movement`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case
from ..peers import torch

EVERY = slice(None)


def windows(x: Any, axis: int, size: int, step: int) -> Any:
    starts = range(0, x.shape[axis] - size + 1, step)
    return np.stack(
        [np.moveaxis(np.take(x, range(s, s + size), axis), axis, -1) for s in starts], axis
    )


def replaced(x: Any, key: Any, value: Any) -> Any:
    out = np.array(x)
    out[key] = value
    return out


CASES: dict[str, list[Case]] = {
    "narrow": [
        Case(
            "plain",
            lambda x: paddle.narrow(x, 1, 1, 2),
            (real(2, 4),),
            numpy=lambda x: x[:, 1:3],
            torch=lambda x: torch.narrow(x, 1, 1, 2),
        ),
        Case(
            "back",
            lambda x: paddle.narrow(x, 1, -2, 2),
            (real(2, 3),),
            numpy=lambda x: x[:, -2:],
        ),
    ],
    # --- order
    "flip": [
        Case(
            "both",
            lambda x: paddle.flip(x, [0, 1]),
            (real(2, 3),),
            numpy=np.flip,
            torch=lambda x: torch.flip(x, (0, 1)),
        ),
        Case("one", lambda x: x.flip(-1), (real(2, 3),), numpy=lambda x: x[:, ::-1]),
    ],
    "reverse": [
        Case("plain", lambda x: paddle.reverse(x, 0), (real(2, 3),), numpy=lambda x: x[::-1])
    ],
    "roll": [
        Case(
            "flat",
            lambda x: paddle.roll(x, 2),
            (real(2, 3),),
            numpy=lambda x: np.roll(x, 2),
            torch=lambda x: torch.roll(x, 2),
        ),
        Case(
            "axes",
            lambda x: x.roll([1, -5], axis=[0, 1]),
            (real(2, 3),),
            numpy=lambda x: np.roll(x, (1, -5), (0, 1)),
            torch=lambda x: torch.roll(x, (1, -5), (0, 1)),
        ),
    ],
    "rot90": [
        Case(
            str(k),
            lambda x, k=k: paddle.rot90(x, k, [1, 0]),
            (real(2, 3),),
            numpy=lambda x, k=k: np.rot90(x, k, (1, 0)),
            torch=lambda x, k=k: torch.rot90(x, k, (1, 0)),
        )
        for k in (-1, 0, 1, 2)
    ],
    # --- parts
    "slice": [
        Case(
            "plain",
            lambda x: paddle.slice(x, [1, 0], [-2, 0], [100, 1]),
            (real(2, 3),),
            numpy=lambda x: x[0:1, -2:100],
        )
    ],
    "strided_slice": [
        Case(
            "plain",
            lambda x: paddle.strided_slice(x, [0, 1], [0, 4], [3, 0], [2, -2]),
            (real(3, 5),),
            numpy=lambda x: x[0:3:2, 4:0:-2],
        )
    ],
    "crop": [
        Case(
            "plain",
            lambda x: paddle.crop(x, [2, -1], [1, 1]),
            (real(4, 3),),
            numpy=lambda x: x[1:3, 1:],
        ),
        Case("all", lambda x: paddle.crop(x), (real(2, 3),), numpy=np.copy),
    ],
    "unfold": [
        Case(
            "plain",
            lambda x: paddle.unfold(x, 0, 3, 2),
            (real(7),),
            numpy=lambda x: windows(x, 0, 3, 2),
            torch=lambda x: x.unfold(0, 3, 2),
        ),
        Case(
            "inner",
            lambda x: x.unfold(1, 2, 1),
            (real(2, 4, 2),),
            numpy=lambda x: windows(x, 1, 2, 1),
            torch=lambda x: x.unfold(1, 2, 1),
        ),
    ],
    "as_strided": [
        Case(
            "plain",
            lambda x: paddle.as_strided(x, [2, 3], [2, 1], 1),
            (real(6),),
            numpy=lambda x: x[[[1, 2, 3], [3, 4, 5]]],
            torch=lambda x: torch.as_strided(x, (2, 3), (2, 1), 1),
        )
    ],
    "select_scatter": [
        Case(
            "plain",
            lambda x, v: paddle.select_scatter(x, v, 1, -1),
            (real(2, 3), real(2)),
            numpy=lambda x, v: replaced(x, (EVERY, -1), v),
            torch=lambda x, v: torch.select_scatter(x, v, 1, -1),
        )
    ],
    "slice_scatter": [
        Case(
            "plain",
            lambda x, v: paddle.slice_scatter(x, v, [1], [0], [3], [2]),
            (real(2, 3), real(2, 2)),
            numpy=lambda x, v: replaced(x, (EVERY, slice(0, 3, 2)), v),
            torch=lambda x, v: torch.slice_scatter(x, v, 1, 0, 3, 2),
        ),
        Case(
            "broadcast",
            lambda x, v: x.slice_scatter(v, [0, 1], [1, 0], [3, 2], [1, 1]),
            (real(3, 3), real(1, 2)),
            numpy=lambda x, v: replaced(x, (slice(1, 3), slice(0, 2)), v),
        ),
    ],
}
