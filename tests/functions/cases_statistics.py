"""Calls of the public functions of `statistics`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import (
    apart,
    away_from_zero,
    flags,
    integers,
    positive,
    real,
    spaced,
    strided,
)

from .case import Case
from .peers import torch

INF = math.inf


def with_nan(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flat[::3] = np.nan
    return x


def distinct(*shape: int) -> np.ndarray:
    """No two elements, and no two sums of some, have about the same absolute value."""
    count = math.prod(shape)
    values = np.sqrt(np.linspace(0.1, 4.0, count)) * np.where(np.arange(count) % 3, 1.0, -1.0)
    return values[np.argsort(spaced(count))].reshape(shape)


def with_zeros(*shape: int) -> np.ndarray:
    x = real(*shape)
    x.flat[1::3] = 0.0
    return x


def reduction(
    name: str, numpy: Any, torch_name: str | None, domain: Any = real, **options: Any
) -> list[Case]:
    """A reduction over all axes, one axis, and several of them."""
    function = getattr(paddle, name)
    method = None if torch_name is None else lambda x, **k: getattr(torch, torch_name)(x, **k)

    def peer(**attrs: Any) -> Any:
        return None if method is None else lambda x: method(x, **attrs)

    return [
        Case("all", lambda x: function(x), (domain(2, 3),), numpy=numpy, **options),
        Case(
            "axis",
            lambda x: function(x, axis=-1),
            (domain(2, 3),),
            numpy=lambda x: numpy(x, axis=1),
            torch=peer(dim=-1),
            **options,
        ),
        Case(
            "axes-keepdim",
            lambda x: function(x, axis=[0, 2], keepdim=True),
            (strided(domain(2, 3, 2)),),
            numpy=lambda x: numpy(x, axis=(0, 2), keepdims=True),
            torch=peer(dim=(0, 2), keepdim=True),
            **options,
        ),
    ]


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))


def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.count_nonzero(x, axis=axis, keepdims=keepdims)


def cumulative(x: Any, function: Any, axis: int) -> Any:
    return np.stack(
        [function(np.take(x, range(i + 1), axis), axis) for i in range(x.shape[axis])], axis
    )


def running(x: Any, best: Any, axis: int) -> tuple[Any, Any]:
    values = cumulative(x, best, axis)
    last = x.shape[axis] - 1
    index = cumulative(x, lambda v, a: v.shape[a] - 1 - best(np.flip(v, a), a, position=True), axis)
    assert index.max() <= last
    return values, index


def largest(v: Any, axis: int, position: bool = False) -> Any:
    return np.argmax(v, axis) if position else np.max(v, axis)


def smallest(v: Any, axis: int, position: bool = False) -> Any:
    return np.argmin(v, axis) if position else np.min(v, axis)


def pairwise(x: Any, y: Any, p: float) -> Any:
    return np.asarray([[np.linalg.norm(a - b, p) for b in y] for a in x])


def renorm(x: Any, p: float, limit: float) -> Any:
    return np.stack([row * min(1.0, limit / np.linalg.norm(row, p)) for row in x])


BINS = [1.5, 0.25, 3.0, 2.25, 0.5, 3.5]


def order_statistics() -> dict[str, list[Case]]:
    return {
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


def norms() -> dict[str, list[Case]]:
    def vector(p: Any, label: str, domain: Any = away_from_zero) -> Case:
        return Case(
            label,
            lambda x: paddle.norm(x, p, axis=1),
            (domain(2, 3),),
            numpy=lambda x: np.linalg.norm(x, p, axis=1),
            torch=lambda x: torch.linalg.vector_norm(x, p, dim=1),
        )

    def matrix(p: Any) -> Case:
        return Case(
            f"matrix-{p}",
            lambda x: paddle.norm(x, p, axis=[0, 1]),
            (distinct(2, 3),),
            numpy=lambda x: np.linalg.norm(x, p),
            torch=lambda x: torch.linalg.matrix_norm(x, p),
        )

    return {
        "norm": [
            Case(
                "flat",
                lambda x: paddle.norm(x),
                (real(2, 3),),
                numpy=lambda x: np.sqrt(np.sum(x * x)),
                torch=lambda x: torch.linalg.vector_norm(x),
            ),
            *(vector(p, f"{p}") for p in (1, 2, 3, 0.5, -1.5)),
            vector(INF, "inf", distinct),
            vector(-INF, "-inf", distinct),
            Case(
                "0",
                lambda x: paddle.norm(x, 0, axis=1),
                (with_zeros(2, 3),),
                numpy=lambda x: np.linalg.norm(x, 0, axis=1),
                differentiable=False,
            ),
            *(matrix(p) for p in ("fro", 1, -1, INF, -INF, 2, -2, "nuc")),
            Case(
                "three-axes",
                lambda x: paddle.norm(x, 3, axis=[0, 1, 2], keepdim=True),
                (away_from_zero(2, 2, 2),),
                numpy=lambda x: np.sum(np.abs(x) ** 3, keepdims=True) ** (1 / 3),
                torch=lambda x: torch.linalg.vector_norm(x, 3, keepdim=True),
            ),
            Case("0-d", lambda x: paddle.norm(x), (away_from_zero(),), numpy=np.abs),
        ],
        "dist": [
            *(
                Case(
                    f"{p}",
                    lambda x, y, p=p: paddle.dist(x, y, p),
                    tuple(apart((2, 3), (3,))),
                    numpy=lambda x, y, p=p: np.linalg.norm((x - y).ravel(), p),
                    torch=lambda x, y, p=p: torch.dist(x, y, p),
                )
                for p in (2, 1, 3, INF)
            ),
            Case(
                "0",
                lambda x, y: paddle.dist(x, y, 0),
                (real(3), real(3)),
                numpy=lambda x, y: np.asarray(3.0),
                differentiable=False,
            ),
        ],
        "cdist": [
            *(
                Case(
                    f"{p}",
                    lambda x, y, p=p: paddle.cdist(x, y, p),
                    (real(2, 3), real(4, 3)),
                    numpy=lambda x, y, p=p: pairwise(x, y, p),
                )
                for p in (2.0, 1.0, 3.0, INF)
            ),
            Case(
                "batch",
                lambda x, y: paddle.cdist(x, y),
                (real(2, 1, 3), real(2, 3)),
                numpy=lambda x, y: np.stack([pairwise(v, y, 2) for v in x]),
                torch=lambda x, y: (x[:, :, None] - y[None, None]).norm(dim=-1),
            ),
        ],
        "pdist": [
            Case(
                "2",
                lambda x: paddle.pdist(x),
                (real(4, 2),),
                numpy=lambda x: pairwise(x, x, 2)[np.triu_indices(4, 1)],
                known=True,
            ),
            Case(
                "1",
                lambda x: paddle.pdist(x, 1.0),
                (spaced(3, 3),),
                numpy=lambda x: pairwise(x, x, 1)[np.triu_indices(3, 1)],
                known=True,
            ),
        ],
        "renorm": [
            Case(
                "2",
                lambda x: paddle.renorm(x, 2.0, 0, 1.0),
                (np.asarray([[0.1, -0.2, 0.3], [1.0, 2.0, -1.5]]),),
                numpy=lambda x: renorm(x, 2, 1.0),
            ),
            Case(
                "1-last",
                lambda x: paddle.renorm(x, 1.0, -1, 1.5),
                (np.asarray([[0.1, -2.0], [0.3, 1.5]]),),
                numpy=lambda x: renorm(x.T, 1, 1.5).T,
            ),
        ],
    }


def linalg() -> dict[str, list[Case]]:
    space = paddle.linalg
    return {
        "linalg.norm": [
            Case(
                "plain",
                lambda x: space.norm(x, axis=0),
                (real(2, 3),),
                numpy=lambda x: np.linalg.norm(x, axis=0),
                torch=lambda x: torch.linalg.norm(x, dim=0),
            )
        ],
        "linalg.vector_norm": [
            Case(
                f"{p}",
                lambda x, p=p: space.vector_norm(x, p, axis=[0, 1], keepdim=True),
                (away_from_zero(2, 3),),
                numpy=lambda x, p=p: np.linalg.norm(x.ravel(), p).reshape(1, 1),
                torch=lambda x, p=p: torch.linalg.vector_norm(x, p, dim=(0, 1), keepdim=True),
            )
            for p in (2.0, 1.0, 2.5)
        ],
        "linalg.matrix_norm": [
            Case(
                f"{p}",
                lambda x, p=p: space.matrix_norm(x, p, axis=[0, 2]),
                (distinct(2, 2, 3),),
                numpy=lambda x, p=p: np.linalg.norm(x, p, axis=(0, 2)),
                torch=lambda x, p=p: torch.linalg.matrix_norm(x, p, dim=(0, 2)),
            )
            for p in ("fro", 1, INF)
        ],
        "linalg.cov": [
            Case(
                "plain",
                lambda x: space.cov(x),
                (real(2, 4),),
                numpy=np.cov,
                torch=lambda x: torch.cov(x),
            ),
            Case("vector", lambda x: space.cov(x), (real(4),), numpy=np.cov),
            Case(
                "columns-biased",
                lambda x: space.cov(x, rowvar=False, ddof=False),
                (real(4, 2),),
                numpy=lambda x: np.cov(x, rowvar=False, ddof=0),
            ),
            Case(
                "weights",
                lambda x, f, a: space.cov(x, fweights=f, aweights=a),
                (real(2, 3), integers(1, 2, 3), positive(3)),
                numpy=lambda x, f, a: np.cov(x, fweights=f, aweights=a),
                torch=lambda x, f, a: torch.cov(x, fweights=f, aweights=a),
            ),
            Case(
                "fweights",
                lambda x, f: space.cov(x, fweights=f),
                (real(2, 3), integers(1, 2, 3)),
                numpy=lambda x, f: np.cov(x, fweights=f),
                torch=lambda x, f: torch.cov(x, fweights=f),
            ),
        ],
        "linalg.corrcoef": [
            Case(
                "plain",
                # Off the diagonal: on it the value is 1 but for rounding, the edge of the clip.
                lambda x: space.corrcoef(x)[0, 1],
                (real(2, 4),),
                numpy=lambda x: np.corrcoef(x)[0, 1],
                torch=lambda x: torch.corrcoef(x)[0, 1],
            ),
            Case(
                "columns",
                lambda x: space.corrcoef(x, rowvar=False)[0, 1],
                (real(4, 2),),
                numpy=lambda x: np.corrcoef(x, rowvar=False)[0, 1],
            ),
        ],
    }


def scans() -> dict[str, list[Case]]:
    return {
        "cumsum": [
            Case(
                "axis",
                lambda x: paddle.cumsum(x, axis=-1),
                (real(2, 3),),
                numpy=lambda x: cumulative(x, np.sum, 1),
                torch=lambda x: torch.cumsum(x, -1),
            ),
            Case("flat", lambda x: paddle.cumsum(x), (real(2, 3),), numpy=np.cumsum),
            Case("0-d", lambda x: paddle.cumsum(x, axis=0), (real(),), numpy=lambda x: x),
            Case(
                "integers",
                lambda x: paddle.cumsum(x, axis=0),
                (np.asarray([[1, 2], [3, 4]], np.int32),),
                numpy=lambda x: cumulative(x, np.sum, 0),
                differentiable=False,
            ),
        ],
        "cumprod": [
            Case(
                "axis",
                lambda x: paddle.cumprod(x, dim=1),
                (real(2, 3),),
                numpy=lambda x: cumulative(x, np.prod, 1),
                torch=lambda x: torch.cumprod(x, 1),
            ),
            Case(
                "zeros",
                lambda x: paddle.cumprod(x, dim=0),
                (with_zeros(4, 2),),
                numpy=lambda x: cumulative(x, np.prod, 0),
                torch=lambda x: torch.cumprod(x, 0),
            ),
            Case("flat", lambda x: paddle.cumprod(x), (real(2, 2),), numpy=np.cumprod),
        ],
        "cummax": [
            Case(
                "axis",
                lambda x: paddle.cummax(x, axis=1),
                (spaced(2, 4),),
                numpy=lambda x: running(x, largest, 1),
                torch=lambda x: tuple(torch.cummax(x, 1)),
            ),
            Case(
                "flat",
                lambda x: paddle.cummax(x, dtype="int32"),
                (spaced(2, 3),),
                numpy=lambda x: running(x.ravel(), largest, 0),
            ),
        ],
        "cummin": [
            Case(
                "axis",
                lambda x: paddle.cummin(x, axis=0),
                (spaced(4, 2),),
                numpy=lambda x: running(x, smallest, 0),
                torch=lambda x: tuple(torch.cummin(x, 0)),
            ),
        ],
        "logcumsumexp": [
            Case(
                "axis",
                lambda x: paddle.logcumsumexp(x, axis=1),
                (real(2, 4),),
                numpy=lambda x: cumulative(x, logsumexp, 1),
                torch=lambda x: torch.logcumsumexp(x, 1),
            ),
            Case(
                "flat",
                lambda x: paddle.logcumsumexp(x),
                (real(2, 2),),
                numpy=lambda x: cumulative(x.ravel(), logsumexp, 0),
            ),
        ],
        "diff": [
            Case(
                "plain",
                lambda x: paddle.diff(x),
                (real(2, 4),),
                numpy=np.diff,
                torch=lambda x: torch.diff(x),
            ),
            Case(
                "twice-joined",
                lambda x, a, b: paddle.diff(x, n=2, axis=0, prepend=a, append=b),
                (real(2, 2), real(1, 2), real(2, 2)),
                numpy=lambda x, a, b: np.diff(x, 2, 0, a, b),
                torch=lambda x, a, b: torch.diff(x, 2, 0, a, b),
            ),
            Case("flags", lambda x: paddle.diff(x), (flags(5),), np.diff, differentiable=False),
        ],
        "trapezoid": [
            Case(
                "dx",
                lambda y: paddle.trapezoid(y, dx=0.5, axis=0),
                (real(4, 2),),
                numpy=lambda y: (y[1:] + y[:-1]).sum(0) / 4,
                torch=lambda y: torch.trapezoid(y, dx=0.5, dim=0),
            ),
            Case(
                "points",
                lambda y, x: paddle.trapezoid(y, x, axis=0),
                (real(3, 2), real(3)),
                numpy=lambda y, x: ((y[1:] + y[:-1]) * np.diff(x)[:, None]).sum(0) / 2,
            ),
            Case(
                "points-for-each",
                lambda y, x: paddle.trapezoid(y, x),
                (real(2, 3), real(2, 3)),
                numpy=lambda y, x: ((y[:, 1:] + y[:, :-1]) * np.diff(x)).sum(1) / 2,
                torch=lambda y, x: torch.trapezoid(y, x),
            ),
        ],
        "cumulative_trapezoid": [
            Case(
                "plain",
                lambda y: paddle.cumulative_trapezoid(y),
                (real(2, 4),),
                numpy=lambda y: np.cumsum(y[:, 1:] + y[:, :-1], axis=1) / 2,
                torch=lambda y: torch.cumulative_trapezoid(y),
            ),
            Case(
                "points",
                lambda y, x: paddle.cumulative_trapezoid(y, x),
                (real(2, 4), real(4)),
                numpy=lambda y, x: np.cumsum((y[:, 1:] + y[:, :-1]) * np.diff(x), axis=1) / 2,
                torch=lambda y, x: torch.cumulative_trapezoid(y, x),
            ),
        ],
    }


def counts() -> dict[str, list[Case]]:
    constant = {"differentiable": False}
    return {
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


CASES: dict[str, list[Case]] = {
    "sum": [
        *reduction("sum", np.sum, "sum"),
        Case(
            "dtype",
            lambda x: paddle.sum(x, dtype="float32"),
            (integers(1, 2, 3),),
            numpy=np.sum,
            differentiable=False,
        ),
    ],
    "mean": reduction("mean", np.mean, "mean"),
    "max": reduction("max", np.max, "amax", spaced),
    "min": reduction("min", np.min, "amin", spaced),
    "amax": reduction("amax", np.max, "amax", spaced),
    "amin": reduction("amin", np.min, "amin", spaced),
    "prod": [
        *reduction("prod", np.prod, None),
        Case(
            "one-zero",
            lambda x: paddle.prod(x),
            (np.asarray([1.5, 0.0, -2.0, 3.0]),),
            numpy=np.prod,
            torch=lambda x: torch.prod(x),
        ),
        Case(
            "two-zeros",
            lambda x: paddle.prod(x, axis=1),
            (np.asarray([[1.5, 0.0, -2.0, 0.0], [0.0, 0.0, 2.0, 0.0]]),),
            numpy=lambda x: np.prod(x, axis=1),
            torch=lambda x: torch.prod(x, 1),
        ),
        Case("0-d", lambda x: paddle.prod(x), (real(),), numpy=np.prod),
    ],
    "logsumexp": reduction("logsumexp", logsumexp, "logsumexp"),
    "nansum": reduction("nansum", np.nansum, "nansum", lambda *s: with_nan(real(*s))),
    "nanmean": reduction("nanmean", np.nanmean, "nanmean", lambda *s: with_nan(real(*s))),
    "any": reduction("any", np.any, None, flags, differentiable=False),
    "all": reduction("all", np.all, None, flags, differentiable=False),
    "count_nonzero": reduction(
        "count_nonzero", count_nonzero, None, with_zeros, differentiable=False
    ),
    "argmax": [
        Case(
            "flat",
            lambda x: paddle.argmax(x),
            (spaced(2, 3),),
            numpy=np.argmax,
            torch=lambda x: torch.argmax(x),
            differentiable=False,
        ),
        Case(
            "axis",
            lambda x: paddle.argmax(x, axis=1, keepdim=True, dtype="int32"),
            (spaced(2, 3),),
            numpy=lambda x: np.argmax(x, 1, keepdims=True),
            differentiable=False,
        ),
    ],
    "argmin": [
        Case(
            "axis",
            lambda x: paddle.argmin(x, axis=0),
            (spaced(3, 2),),
            numpy=lambda x: np.argmin(x, 0),
            torch=lambda x: torch.argmin(x, 0),
            differentiable=False,
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
    **order_statistics(),
    **norms(),
    **scans(),
    **counts(),
    **linalg(),
}
