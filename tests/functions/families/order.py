"""Calls of the public functions of `order`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, real, spaced

from ..case import Case
from ..peers import torch
from .reduction import with_nan

CASES: dict[str, list[Case]] = {
    "median": [
        Case("even", lambda x: paddle.median(x), (spaced(2, 3),), numpy=np.median),
        Case(
            "odd",
            lambda x: paddle.median(x, axis=1, keepdim=True),
            (spaced(2, 3),),
            numpy=lambda x: np.median(x, axis=1, keepdims=True),
            torch=lambda x: torch.median(x, dim=1, keepdim=True).values,
        ),
        Case(
            "min",
            lambda x: paddle.median(x, axis=0, mode="min"),
            (spaced(4, 3),),
            numpy=lambda x: (np.sort(x, 0)[1], np.argsort(x, 0)[1]),
            torch=lambda x: tuple(torch.median(x, dim=0)),
        ),
        Case(
            "integers",
            lambda x: paddle.median(x, axis=-1),
            (integers([1, 5, 2, 2], [3, 0, 0, 8]),),
            numpy=lambda x: np.median(x, axis=-1),
            differentiable=False,
        ),
    ],
    "nanmedian": [
        Case("all", lambda x: paddle.nanmedian(x), (with_nan(spaced(2, 4)),), np.nanmedian),
        Case(
            "axes",
            lambda x: paddle.nanmedian(x, axis=[0, 2], keepdim=True),
            (spaced(2, 3, 2),),
            numpy=lambda x: np.nanmedian(x, axis=(0, 2), keepdims=True),
        ),
        Case(
            "min",
            lambda x: paddle.nanmedian(x, axis=1, mode="min"),
            (spaced(2, 4),),
            numpy=lambda x: (np.sort(x, 1)[:, 1], np.argsort(x, 1)[:, 1]),
            torch=lambda x: tuple(torch.nanmedian(x, dim=1)),
        ),
    ],
    "quantile": [
        Case(
            "one",
            lambda x: paddle.quantile(x, 0.3),
            (spaced(2, 3),),
            numpy=lambda x: np.quantile(x, 0.3),
            torch=lambda x: torch.quantile(x, 0.3),
        ),
        Case(
            "several",
            lambda x: paddle.quantile(x, [0.0, 0.35, 0.9], axis=1, keepdim=True),
            (spaced(3, 4),),
            numpy=lambda x: np.quantile(x, [0.0, 0.35, 0.9], axis=1, keepdims=True),
        ),
        Case(
            "axes",
            lambda x: paddle.quantile(x, 0.5, axis=[0, 2]),
            (spaced(2, 3, 2),),
            numpy=lambda x: np.quantile(x, 0.5, axis=(0, 2)),
        ),
        *(
            Case(
                mode,
                lambda x, m=mode: paddle.quantile(x, [0.3, 0.55], axis=0, interpolation=m),
                (spaced(4, 2),),
                numpy=lambda x, m=mode: np.quantile(x, [0.3, 0.55], axis=0, method=m),
            )
            for mode in ("lower", "higher", "midpoint", "nearest")
        ),
    ],
    "nanquantile": [
        Case(
            "one",
            lambda x: paddle.nanquantile(x, 0.3),
            (with_nan(spaced(2, 4)),),
            numpy=lambda x: np.nanquantile(x, 0.3),
        ),
        Case(
            "several",
            lambda x: paddle.nanquantile(x, [0.25, 0.5], axis=1),
            (with_nan(spaced(2, 4)),),
            numpy=lambda x: np.nanquantile(x, [0.25, 0.5], axis=1),
        ),
    ],
    "kthvalue": [
        Case(
            "last",
            lambda x: paddle.kthvalue(x, 2),
            (spaced(2, 4),),
            numpy=lambda x: (np.sort(x)[:, 1], np.argsort(x)[:, 1]),
            torch=lambda x: tuple(torch.kthvalue(x, 2)),
        ),
        Case(
            "first-keepdim",
            lambda x: paddle.kthvalue(x, 3, axis=0, keepdim=True),
            (spaced(4, 2),),
            numpy=lambda x: (np.sort(x, 0)[2:3], np.argsort(x, 0)[2:3]),
            torch=lambda x: tuple(torch.kthvalue(x, 3, dim=0, keepdim=True)),
        ),
        Case(
            "0-d",
            lambda x: paddle.kthvalue(x, 1),
            (real(),),
            numpy=lambda x: (x, np.asarray(0)),
        ),
    ],
    "mode": [
        Case(
            "distinct",
            lambda x: paddle.mode(x),
            (spaced(2, 4),),
            numpy=lambda x: (np.min(x, -1), np.argmin(x, -1)),
        ),
        Case(
            "frequent",
            lambda x: paddle.mode(x, axis=0, keepdim=True),
            (np.asarray([[1.0, 3.0], [2.0, 3.0], [2.0, 0.5]]),),
            numpy=lambda x: (np.asarray([[2.0, 3.0]]), np.asarray([[2, 1]])),
            smooth=False,
        ),
    ],
    "topk": [
        Case(
            "largest",
            lambda x: paddle.topk(x, 2),
            (spaced(2, 4),),
            numpy=lambda x: (-np.sort(-x)[:, :2], np.argsort(-x)[:, :2]),
            torch=lambda x: tuple(torch.topk(x, 2)),
        ),
        Case(
            "smallest-of-many",
            lambda x: paddle.topk(x, 2, axis=0, largest=False),
            (spaced(16, 1),),
            numpy=lambda x: (np.sort(x, 0)[:2], np.argsort(x, 0)[:2]),
            torch=lambda x: tuple(torch.topk(x, 2, dim=0, largest=False)),
        ),
    ],
}
