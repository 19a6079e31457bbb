"""Calls of the public functions of `rounding`."""

from __future__ import annotations

import math

import numpy as np

import autograd_engine as paddle
from tests.registry.families.rounding import dividend, divisor, whole
from tests.registry.sampling import away_from_zero, integers, real

from ..calls import ROUNDED, binary, unary
from ..case import Case
from ..peers import torch

NOT_FINITE = np.asarray([math.nan, math.inf, -math.inf, 1.5])


def round_to(decimals: int) -> Case:
    return Case(
        f"decimals{decimals}",
        lambda x: paddle.round(x, decimals),
        (np.asarray([123.456, -7.891, 55.1]),),
        numpy=lambda x: np.asarray([round(v, decimals) for v in x.tolist()]),
        torch=lambda x: torch.round(x, decimals=decimals),
        **ROUNDED,
    )


CASES: dict[str, list[Case]] = {
    "nan_to_num": [
        Case(
            "plain",
            lambda x: paddle.nan_to_num(x),
            (real(2, 3),),
            np.copy,
            lambda x: torch.nan_to_num(x),
        ),
        Case(
            "numbers",
            lambda x: x.nan_to_num(1.0, 2.0, 3.0),
            (NOT_FINITE,),
            lambda x: np.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0),
            smooth=False,
        ),
    ],
    "copysign": [
        *binary("copysign", np.copysign, away_from_zero),
        Case(
            "number", lambda x: paddle.copysign(x, -2.0), (away_from_zero(3),), lambda x: -np.abs(x)
        ),
    ],
    "round": [*unary("round", real, np.rint, **ROUNDED), round_to(1), round_to(-1)],
    "frac": unary("frac", dividend, lambda x: x - np.trunc(x)),
    "mod": binary("mod", np.mod, dividend, divisor, like="remainder"),
    "remainder": [
        *binary("remainder", np.remainder, dividend, divisor),
        Case(
            "operator",
            lambda x: (x % 0.7) + (3.1 % x),
            (np.asarray([0.4, 0.9]),),
            lambda x: (x % 0.7) + (3.1 % x),
        ),
        Case(
            "integers",
            lambda x, y: x % y,
            (whole(4), integers(3, -3, 5, -7)),
            np.remainder,
            lambda x, y: torch.remainder(x, y),
            differentiable=False,
        ),
    ],
    "floor_mod": binary("floor_mod", np.mod, dividend, divisor, like="remainder"),
    "floor_divide": [
        *binary("floor_divide", np.floor_divide, dividend, divisor, **ROUNDED),
        Case(
            "operator",
            lambda x, y: (x // y) + (100 // y),
            (whole(4), integers(3, -3, 5, -7)),
            lambda x, y: (x // y) + (100 // y),
            **ROUNDED,
        ),
    ],
    "ldexp": [
        Case(
            "plain",
            lambda x, y: paddle.ldexp(x, y),
            (real(2, 3), integers(3, 1, 0)),
            np.ldexp,
            lambda x, y: torch.ldexp(x, y),
        ),
        Case("floats", lambda x, y: x.ldexp(y), (real(2), real(2)), lambda x, y: x * 2.0**y),
    ],
    "frexp": [
        Case(
            "mantissa",
            lambda x: paddle.frexp(x)[0],
            (np.asarray([1.3, -5.1, 0.3]),),
            lambda x: np.frexp(x)[0],
            lambda x: torch.frexp(x)[0],
        ),
        Case(
            "exponent",
            lambda x: x.frexp()[1],
            (np.asarray([1.3, -5.1, 0.3]),),
            lambda x: np.frexp(x)[1].astype(x.dtype),
            **ROUNDED,
        ),
    ],
}
