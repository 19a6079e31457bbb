"""Calls of the public functions of `random`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, positive, real

from ..calls import draw, made
from ..case import Case


def drawn(label: str, call: Callable[..., Any], numpy: Any, *operands: Any, **options: Any) -> Case:
    """A case that draws numbers of the default dtype, whatever that of the operands."""
    return made(label, call, lambda *xs: numpy(*xs).astype(np.float32), *operands, **options)


CASES: dict[str, list[Case]] = {
    "rand": [drawn("plain", lambda: paddle.rand([3, 4]), lambda: draw().random((3, 4)))],
    "rand_like": [made("plain", paddle.rand_like, lambda x: draw().random(x.shape), real(2, 3))],
    "randn": [drawn("plain", lambda: paddle.randn([5]), lambda: draw().standard_normal(5))],
    "randn_like": [
        made("plain", paddle.randn_like, lambda x: draw().standard_normal(x.shape), real(2, 3)),
        drawn(
            "dtype",
            lambda x: paddle.randn_like(x, "float32"),
            lambda x: draw().standard_normal(x.shape),
            integers(1, 2),
        ),
    ],
    "standard_normal": [
        drawn("plain", lambda: paddle.standard_normal([5]), lambda: draw().standard_normal(5))
    ],
    "uniform": [
        drawn("plain", lambda: paddle.uniform([5]), lambda: draw().random(5)),
        drawn("range", lambda: paddle.uniform([5], None, -1, 3), lambda: draw().uniform(-1, 3, 5)),
    ],
    "normal": [
        drawn(
            "numbers",
            lambda: paddle.normal(1.0, 2.0, [5]),
            lambda: 1 + 2 * draw().standard_normal(5),
        ),
        Case(
            "tensors",
            lambda mean, std: paddle.normal(mean, std),
            (real(2, 3), positive(3)),
            numpy=lambda mean, std: mean + std * draw().standard_normal((2, 3)),
        ),
        Case(
            "mean",
            lambda mean: paddle.normal(mean, 0.5),
            (real(4),),
            numpy=lambda mean: mean + 0.5 * draw().standard_normal(4),
        ),
        Case(
            "std",
            lambda std: paddle.normal(2.0, std),
            (positive(4),),
            numpy=lambda std: 2.0 + std * draw().standard_normal(4),
        ),
    ],
    "log_normal": [
        drawn(
            "numbers",
            lambda: paddle.log_normal(0.5, 0.25, [5]),
            lambda: np.exp((0.5 + 0.25 * draw().standard_normal(5)).astype(np.float32)),
        ),
        Case(
            "tensors",
            lambda mean: paddle.log_normal(mean, 0.5),
            (real(4),),
            numpy=lambda mean: np.exp(mean + 0.5 * draw().standard_normal(4)),
        ),
    ],
    "randint": [
        made("plain", lambda: paddle.randint(-3, 5, [6]), lambda: draw().integers(-3, 5, 6)),
        made("one", lambda: paddle.randint(9, dtype="int32"), lambda: draw().integers(0, 9, 1)),
    ],
    "randint_like": [
        made(
            "plain",
            lambda x: paddle.randint_like(x, 2, 7),
            lambda x: draw().integers(2, 7, x.shape),
            real(2, 3),
        ),
    ],
    "randperm": [made("plain", lambda: paddle.randperm(6), lambda: draw().permutation(6))],
    "bernoulli": [
        made(
            "plain",
            paddle.bernoulli,
            lambda x: draw().random(x.shape) < x,
            real(3, 4, low=0.0, high=1.0),
        ),
        made(
            "p",
            lambda x: paddle.bernoulli(x, 0.25),
            lambda x: draw().random(x.shape) < 0.25,
            real(3, 4),
        ),
    ],
    "poisson": [made("plain", paddle.poisson, lambda x: draw().poisson(x), positive(2, 3))],
    "standard_gamma": [
        made("plain", paddle.standard_gamma, lambda x: draw().standard_gamma(x), positive(2, 3))
    ],
    "binomial": [
        made(
            "plain",
            paddle.binomial,
            lambda n, p: draw().binomial(n, p),
            integers(3, 9, 20),
            real(2, 3, low=0.1, high=0.9),
        )
    ],
    "multinomial": [
        made(
            "turns",
            lambda x: paddle.multinomial(x, 3),
            lambda x: np.argsort(draw().standard_exponential(x.shape) / x, axis=-1)[..., :3],
            positive(2, 5),
        ),
        made(
            "again",
            lambda x: paddle.multinomial(x, 6, replacement=True),
            lambda x: (draw().random((1, 6))[0][:, None] >= np.cumsum(x / x.sum())[None, :-1]).sum(
                axis=1
            ),
            positive(4),
        ),
    ],
}
