"""Calls of the public functions of `special`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.families import special as reference
from tests.registry.families.special import below_0, probability
from tests.registry.referencing import each
from tests.registry.sampling import away_from_zero, positive, real

from ..calls import unary
from ..case import Case
from ..peers import torch


def special(name: str) -> Any:
    """The same function of torch.special."""
    return lambda *xs: getattr(torch.special, name)(*xs)


CASES: dict[str, list[Case]] = {
    "sinc": [
        *unary("sinc", real, np.sinc),
        Case("zero", lambda x: paddle.sinc(x), (np.asarray([0.0, 1.0, -2.0]),), np.sinc),
    ],
    "logit": [
        *unary("logit", probability, lambda x: np.log(x / (1.0 - x))),
        Case(
            "eps",
            lambda x: paddle.logit(x, 0.2),
            (np.asarray([0.1, 0.4, 0.7, 0.95]),),
            lambda x: np.log(np.clip(x, 0.2, 0.8) / (1.0 - np.clip(x, 0.2, 0.8))),
            lambda x: torch.logit(x, 0.2),
        ),
    ],
    "lgamma": [
        *unary("lgamma", positive, each(math.lgamma)),
        Case(
            "below-0",
            lambda x: paddle.lgamma(x),
            (below_0(4),),
            each(math.lgamma),
            lambda x: torch.lgamma(x),
        ),
    ],
    "gammaln": unary("gammaln", positive, each(math.lgamma), like="lgamma"),
    "digamma": unary("digamma", positive, each(lambda x: reference.polygamma(x, 0))),
    "polygamma": [
        Case(
            f"n{n}",
            lambda x, n=n: paddle.polygamma(x, n),
            (positive(3) + 0.5,),
            each(lambda x, n=n: reference.polygamma(x, n)),
            lambda x, n=n: torch.polygamma(n, x),
        )
        for n in range(4)
    ],
    "multigammaln": [
        Case(
            f"p{p}",
            lambda x, p=p: paddle.multigammaln(x, p),
            (positive(3) + 1.0,),
            each(
                lambda x, p=p: (
                    p * (p - 1) / 4 * math.log(math.pi)
                    + math.fsum(math.lgamma(x - k / 2) for k in range(p))
                )
            ),
            lambda x, p=p: torch.mvlgamma(x, p),
        )
        for p in (1, 3)
    ],
    "gammainc": [
        Case(
            "plain",
            lambda y: paddle.gammainc(1.7, y),
            (positive(2, 3),),
            each(lambda y: reference.gammainc(1.7, y)),
            lambda y: torch.special.gammainc(torch.full_like(y, 1.7), y),
        ),
    ],
    "gammaincc": [
        Case(
            "plain",
            lambda y: paddle.gammaincc(0.6, y),
            (positive(2, 3),),
            each(lambda y: 1.0 - reference.gammainc(0.6, y)),
            lambda y: torch.special.gammaincc(torch.full_like(y, 0.6), y),
        ),
    ],
    **{
        name: [
            Case(
                "plain",
                lambda x, name=name: getattr(paddle, name)(x),
                (away_from_zero(2, 3),),
                each(
                    lambda x, n=n, scaled=scaled: (
                        reference.bessel_i(x, n) * (math.exp(-abs(x)) if scaled else 1.0)
                    )
                ),
                special(name),
            ),
            Case(
                "method",
                lambda x, name=name: getattr(x, name)(),
                (away_from_zero(),),
                torch=special(name),
            ),
        ]
        for name, n, scaled in (
            ("i0", 0, False),
            ("i0e", 0, True),
            ("i1", 1, False),
            ("i1e", 1, True),
        )
    },
}
CASES["i0"].append(
    Case("zero", lambda x: paddle.i0(x), (np.zeros(2),), lambda x: np.ones(2), special("i0"))
)
CASES["i1"].append(
    Case("zero", lambda x: paddle.i1(x), (np.zeros(2),), lambda x: np.zeros(2), special("i1"))
)
