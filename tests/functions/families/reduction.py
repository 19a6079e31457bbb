"""Calls of the public functions of `reduction`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import flags, integers, positive, real, spaced, strided

from ..case import Case
from ..peers import torch


def with_nan(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flat[::3] = np.nan
    return x


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


L = paddle.linalg


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
