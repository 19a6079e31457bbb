"""Calls of the public functions of `counting`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, positive

from ..case import Case
from ..peers import torch

BINS = [1.5, 0.25, 3.0, 2.25, 0.5, 3.5]
constant = {"differentiable": False}


# The last lies outside of the ranges, and one of the others on the border of two parts.
POINTS = np.asarray([[0.0, 0.5], [1.0, 2.9], [1.9, 3.0], [0.25, 0.5], [2.5, 1.0]])
CASES: dict[str, list[Case]] = {
    "histogram": [
        Case(
            "range",
            lambda x: paddle.histogram(x, bins=4, min=0, max=4),
            (np.asarray(BINS),),
            numpy=lambda x: np.histogram(x, 4, (0, 4))[0],
            torch=lambda x: torch.histc(x, 4, 0, 4).long(),
            **constant,
        ),
        Case(
            "weights-density",
            lambda x, w: paddle.histogram(x, bins=3, weight=w, density=True),
            (np.asarray(BINS), positive(6)),
            numpy=lambda x, w: np.histogram(x, 3, weights=w, density=True)[0].astype("f4"),
            **constant,
        ),
    ],
    "histogramdd": [
        Case(
            "weights-ranges",
            lambda x, w: paddle.histogramdd(x, [2, 3], [0.0, 2.0, 0.0, 3.0], weights=w)[0],
            (0.9 * POINTS + 0.03, positive(5)),  # off the borders
            numpy=lambda x, w: np.histogramdd(x, [2, 3], [(0, 2), (0, 3)], weights=w)[0],
        ),
        Case(
            "density",
            lambda x: paddle.histogramdd(x, 2, density=True),
            (POINTS[:4],),
            numpy=lambda x: np.histogramdd(x, 2, density=True),
            **constant,
        ),
        Case(
            "edges",
            lambda x, e: paddle.histogramdd(x, [e, e])[0],
            (POINTS.reshape(1, 5, 2), np.asarray([0.0, 1.0, 1.5, 4.0])),
            numpy=lambda x, e: np.histogramdd(x[0], [e, e])[0],
            known=True,
            **constant,
        ),
    ],
    "histogram_bin_edges": [
        Case(
            "plain",
            lambda x: paddle.histogram_bin_edges(x, bins=4),
            (np.asarray(BINS),),
            numpy=lambda x: np.histogram_bin_edges(x, 4).astype("f4"),
            **constant,
        )
    ],
    "bincount": [
        Case(
            "plain",
            lambda x: paddle.bincount(x, minlength=6),
            (integers(1, 0, 4, 1),),
            numpy=lambda x: np.bincount(x, minlength=6),
            torch=lambda x: torch.bincount(x, minlength=6),
            **constant,
        ),
        Case(
            "weights",
            lambda x, w: paddle.bincount(x, w),
            (integers(1, 0, 4, 1), positive(4)),
            numpy=np.bincount,
            torch=lambda x, w: torch.bincount(x, w),
            **constant,
        ),
    ],
}
