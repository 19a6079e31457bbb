"""Calls of the public functions of `sorting`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, real, spaced

from ..case import Case
from ..peers import torch
from .getitem import MASK

Array = np.ndarray


def down(x: Array, axis: int) -> Array:
    return np.flip(np.sort(x, axis), axis)


CASES: dict[str, list[Case]] = {
    "argwhere": [
        Case(
            "plain",
            lambda x: paddle.argwhere(x),
            (MASK,),
            numpy=np.argwhere,
            torch=lambda x: torch.argwhere(x),
            differentiable=False,
        )
    ],
    "nonzero": [
        Case(
            "rows",
            lambda x: paddle.nonzero(x),
            (MASK,),
            numpy=np.argwhere,
            torch=lambda x: torch.nonzero(x),
            differentiable=False,
        ),
        Case(
            "tuple",
            lambda x: paddle.nonzero(x, as_tuple=True),
            (real(2, 2),),
            numpy=np.nonzero,
            differentiable=False,
        ),
    ],
    "sort": [
        Case(
            "last",
            lambda x: paddle.sort(x),
            (spaced(2, 4),),
            numpy=np.sort,
            torch=lambda x: torch.sort(x)[0],
        ),
        Case(
            "first-down",
            lambda x: paddle.sort(x, axis=0, descending=True),
            (spaced(4, 2),),
            numpy=lambda x: down(x, 0),
            torch=lambda x: torch.sort(x, 0, descending=True)[0],
        ),
        Case("0-d", lambda x: paddle.sort(x), (real(),), numpy=lambda x: x),
    ],
    "msort": [
        Case(
            "plain",
            lambda x: paddle.msort(x),
            (spaced(4, 2),),
            numpy=lambda x: np.sort(x, 0),
            torch=lambda x: torch.msort(x),
        )
    ],
    "argsort": [
        Case(
            "last",
            lambda x: paddle.argsort(x),
            (spaced(2, 4),),
            numpy=np.argsort,
            torch=lambda x: torch.argsort(x),
            differentiable=False,
        ),
        Case(
            "ties-down",
            lambda x: paddle.argsort(x, axis=0, descending=True, stable=True),
            (integers(1, 2, 1, 2, 3),),
            numpy=lambda x: np.asarray([4, 1, 3, 0, 2]),
            torch=lambda x: torch.argsort(x, dim=0, descending=True, stable=True),
            differentiable=False,
        ),
        Case(
            "0-d",
            lambda x: paddle.argsort(x),
            (real(),),
            numpy=lambda x: np.asarray(0),
            differentiable=False,
        ),
    ],
    "searchsorted": [
        Case(
            "plain",
            lambda s, v: paddle.searchsorted(s, v),
            (np.asarray([0.0, 0.5, 0.5, 2.0]), np.asarray([[0.5, 3.0], [-1.0, 0.1]])),
            numpy=np.searchsorted,
            torch=lambda s, v: torch.searchsorted(s, v),
            differentiable=False,
        ),
        Case(
            "lines-right",
            lambda s, v: paddle.searchsorted(s, v, out_int32=True, right=True),
            (integers([1, 3, 5], [2, 4, 6]), integers([3, 0], [4, 9])),
            numpy=lambda s, v: np.asarray([[2, 0], [2, 3]], np.int32),
            torch=lambda s, v: torch.searchsorted(s, v, out_int32=True, right=True),
            differentiable=False,
        ),
        Case(
            "sorter",
            lambda s, v: paddle.searchsorted(s, v, side="right", sorter=paddle.argsort(s)),
            (integers(5, 1, 3), integers(3, 0)),
            numpy=lambda s, v: np.asarray([2, 0]),
            differentiable=False,
        ),
    ],
    "bucketize": [
        Case(
            "plain",
            lambda x, s: paddle.bucketize(x, s),
            (np.asarray([[0.0, 2.0], [1.0, 9.0]]), np.asarray([1.0, 3.0])),
            numpy=lambda x, s: np.asarray([[0, 1], [0, 2]]),
            torch=lambda x, s: torch.bucketize(x, s),
            differentiable=False,
        )
    ],
    "isin": [
        Case(
            "plain",
            lambda x, t: paddle.isin(x, t),
            (integers([1, 2], [3, 4]), integers(4, 1)),
            numpy=np.isin,
            torch=lambda x, t: torch.isin(x, t),
            differentiable=False,
        ),
        Case(
            "not",
            lambda x, t: paddle.isin(x, t, invert=True),
            (integers(1, 2, 3), integers([3], [1])),
            numpy=lambda x, t: np.asarray([False, True, False]),
            torch=lambda x, t: torch.isin(x, t, invert=True),
            differentiable=False,
        ),
    ],
    "unique": [
        Case(
            "plain",
            lambda x: paddle.unique(x),
            (integers(3, 1, 3, 2),),
            numpy=np.unique,
            torch=lambda x: torch.unique(x),
            differentiable=False,
        ),
        Case(
            "everything",
            lambda x: paddle.unique(
                x, return_index=True, return_inverse=True, return_counts=True, dtype="int32"
            ),
            (integers(3, 1, 3, 2),),
            numpy=lambda x: (
                np.asarray([1, 2, 3]),
                np.asarray([1, 3, 0], np.int32),
                np.asarray([2, 0, 2, 1], np.int32),
                np.asarray([1, 1, 2], np.int32),
            ),
            differentiable=False,
        ),
        Case(
            "rows",
            lambda x: paddle.unique(x, axis=0, return_counts=True),
            (np.asarray([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0]]),),
            numpy=lambda x: (np.asarray([[0.0, 1.0], [2.0, 1.0]]), np.asarray([1, 2])),
            torch=lambda x: torch.unique(x, dim=0, return_counts=True),
            differentiable=False,
        ),
    ],
    "unique_consecutive": [
        Case(
            "plain",
            lambda x: paddle.unique_consecutive(x, return_inverse=True, return_counts=True),
            (integers(1, 1, 2, 2, 2, 1),),
            numpy=lambda x: (
                np.asarray([1, 2, 1]),
                np.asarray([0, 0, 1, 1, 1, 2]),
                np.asarray([2, 3, 1]),
            ),
            torch=lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
            differentiable=False,
        ),
        Case(
            "columns",
            lambda x: paddle.unique_consecutive(x, axis=1),
            (np.asarray([[2.0, 2.0, 1.0], [0.0, 0.0, 0.0]]),),
            numpy=lambda x: x[:, 1:],
            torch=lambda x: torch.unique_consecutive(x, dim=1),
            differentiable=False,
        ),
    ],
}
