"""Samples and references of `ops/elementwise.py`: functions of one element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import each
from ..sampling import (
    Sample,
    away_from_zero,
    binary,
    flags,
    inside,
    integers,
    ordered,
    positive,
    real,
    small_integers,
    unary,
)


def _where() -> list[Sample]:
    return [
        Sample("plain", (flags(2, 3), real(2, 3), real(2, 3))),
        Sample("rows", (flags(2, 1), real(3), real(2, 3))),
        Sample("wide-condition", (flags(2, 2, 3), real(1, 3), real(2, 1))),
        Sample("0-d", (flags(), real(), real())),
        Sample("beside-0-d", (flags(2, 3), real(), real(2, 3))),
        Sample("number-condition", (small_integers(2, 3), real(2, 3), real(2, 3))),
        Sample("empty", (flags(0, 3), real(0, 3), real(1, 3))),
        Sample("strided", (strided(flags(3, 2)), strided(real(3, 2)), strided(real(3, 2)))),
    ]


def above_1(*shape: int) -> np.ndarray:
    return real(*shape, low=1.2, high=3.0)


# Ties and kinks have samples of their own, at which no differences are taken.
TIES = Sample("ties", (small_integers(3, 4), small_integers(4)), smooth=False)
KINK = Sample("kink", (small_integers(3, 4),), smooth=False)

SAMPLES: dict[str, list[Sample]] = {
    "add": binary(),
    "subtract": binary(),
    "multiply": binary(),
    "divide": binary(real, away_from_zero),
    "pow": [
        *binary(positive, away_from_zero),
        Sample("zeros", (np.asarray([0.0, 1.5, 0.0]), np.asarray([2.0, 0.0, 0.0])), smooth=False),
    ],
    "negative": unary(),
    "square": unary(),
    "abs": [*unary(away_from_zero), KINK],
    "sign": [*unary(), Sample("zero", (small_integers(2, 3),))],
    "sgn": [Sample("complex", (real(2, 3) + 1j * real(2, 3),), smooth=False)],
    "exp": unary(),
    "log": unary(positive),
    "sqrt": unary(positive),
    "sin": unary(),
    "cos": unary(),
    "tanh": unary(),
    "maximum": [*ordered(), TIES],
    "minimum": [*ordered(), TIES],
    "where": _where(),
    "cast": [
        Sample("to-float64", (real(2, 3),), {"dtype": "float64"}),
        Sample("to-float32", (real(2, 3),), {"dtype": "float32"}, smooth=False),
        Sample("to-float16", (real(3),), {"dtype": "float16"}, smooth=False),
        Sample("to-int64", (real(2, 3),), {"dtype": "int64"}),
        Sample("to-bool", (small_integers(2, 3),), {"dtype": "bool"}),
        Sample("0-d", (real(),), {"dtype": "float64"}),
        Sample("empty", (real(0, 3),), {"dtype": "float64"}),
        Sample("strided", (strided(real(3, 2)),), {"dtype": "float64"}),
        Sample("of-integers", (integers(1, -2, 0),), {"dtype": "float32"}),
    ],
    "alias": [*unary(), Sample("integers", (integers(1, 2),))],
    "assign": [*unary(), Sample("integers", (integers(1, 2),))],
    "expm1": unary(),
    "log2": unary(positive),
    "log10": unary(positive),
    "log1p": unary(positive),
    "logaddexp": binary(),
    "tan": unary(lambda *s: real(*s, low=-1.2, high=1.2)),
    "asin": unary(inside),
    "acos": unary(inside),
    "atan": unary(),
    "sinh": unary(),
    "cosh": unary(),
    "asinh": unary(),
    "acosh": unary(above_1),
    "atanh": unary(inside),
    "hypot": binary(away_from_zero),
    "atan2": binary(away_from_zero),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "add": each(lambda x, y: x + y),
    "subtract": each(lambda x, y: x - y),
    "multiply": each(lambda x, y: x * y),
    "divide": each(lambda x, y: x / y),
    "pow": each(math.pow),
    "negative": each(lambda x: 0.0 - x),
    "square": each(lambda x: x * x),
    "abs": each(math.fabs),
    "sign": each(lambda x: (x > 0) - (x < 0)),
    "sgn": lambda x: x / abs(x),
    "exp": each(math.exp),
    "log": each(math.log),
    "sqrt": each(math.sqrt),
    "sin": each(math.sin),
    "cos": each(math.cos),
    "tanh": each(math.tanh),
    "maximum": each(max),
    "minimum": each(min),
    "where": each(lambda c, x, y: x if c else y),
    "cast": lambda x, dtype: np.asarray(x.tolist(), dtype).reshape(x.shape),
    "alias": lambda x: x + 0,
    "assign": lambda x: x + 0,
    "expm1": each(math.expm1),
    "log2": each(math.log2),
    "log10": each(math.log10),
    "log1p": each(math.log1p),
    "logaddexp": each(lambda x, y: math.log(math.exp(x) + math.exp(y))),
    "tan": each(math.tan),
    "asin": each(math.asin),
    "acos": each(math.acos),
    "atan": each(math.atan),
    "sinh": each(math.sinh),
    "cosh": each(math.cosh),
    "asinh": each(math.asinh),
    "acosh": each(math.acosh),
    "atanh": each(math.atanh),
    "hypot": each(math.hypot),
    "atan2": each(math.atan2),
}
