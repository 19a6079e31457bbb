"""Calls of the public functions of `statistics`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, positive, real

from ..case import Case
from ..peers import torch
from .reduction import reduction

L = paddle.linalg


CASES: dict[str, list[Case]] = {
    "linalg.cov": [
        Case(
            "plain",
            lambda x: L.cov(x),
            (real(2, 4),),
            numpy=np.cov,
            torch=lambda x: torch.cov(x),
        ),
        Case("vector", lambda x: L.cov(x), (real(4),), numpy=np.cov),
        Case(
            "columns-biased",
            lambda x: L.cov(x, rowvar=False, ddof=False),
            (real(4, 2),),
            numpy=lambda x: np.cov(x, rowvar=False, ddof=0),
        ),
        Case(
            "weights",
            lambda x, f, a: L.cov(x, fweights=f, aweights=a),
            (real(2, 3), integers(1, 2, 3), positive(3)),
            numpy=lambda x, f, a: np.cov(x, fweights=f, aweights=a),
            torch=lambda x, f, a: torch.cov(x, fweights=f, aweights=a),
        ),
        Case(
            "fweights",
            lambda x, f: L.cov(x, fweights=f),
            (real(2, 3), integers(1, 2, 3)),
            numpy=lambda x, f: np.cov(x, fweights=f),
            torch=lambda x, f: torch.cov(x, fweights=f),
        ),
    ],
    "linalg.corrcoef": [
        Case(
            "plain",
            # Off the diagonal: on it the value is 1 but for rounding, the edge of the clip.
            lambda x: L.corrcoef(x)[0, 1],
            (real(2, 4),),
            numpy=lambda x: np.corrcoef(x)[0, 1],
            torch=lambda x: torch.corrcoef(x)[0, 1],
        ),
        Case(
            "columns",
            lambda x: L.corrcoef(x, rowvar=False)[0, 1],
            (real(4, 2),),
            numpy=lambda x: np.corrcoef(x, rowvar=False)[0, 1],
        ),
    ],
    "var": [
        *reduction("var", lambda x, **k: np.var(x, ddof=1, **k), "var"),
        Case(
            "biased",
            lambda x: paddle.var(x, axis=0, unbiased=False),
            (real(3, 2),),
            numpy=lambda x: np.var(x, axis=0),
            torch=lambda x: torch.var(x, 0, correction=0),
        ),
        Case(
            "correction",
            lambda x: paddle.var(x, correction=1.5),
            (real(4),),
            numpy=lambda x: np.var(x, ddof=1.5),
        ),
    ],
    "std": [
        *reduction("std", lambda x, **k: np.std(x, ddof=1, **k), "std"),
        Case(
            "biased",
            lambda x: paddle.std(x, axis=0, unbiased=False),
            (real(3, 2),),
            numpy=lambda x: np.std(x, axis=0),
            torch=lambda x: torch.std(x, 0, correction=0),
        ),
    ],
}
