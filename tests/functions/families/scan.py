"""Calls of the public functions of `scan`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import flags, real, spaced

from ..case import Case
from ..peers import torch
from .reduction import logsumexp, with_zeros


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


CASES: dict[str, list[Case]] = {
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
