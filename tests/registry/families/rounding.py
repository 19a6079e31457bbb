"""Samples and references of `ops/rounding.py`: remainders and parts of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ..referencing import each
from ..sampling import (
    RNG,
    Sample,
    away_from_zero,
    binary,
    integers,
    real,
    small_integers,
    spaced,
    unary,
)


def divisor(*shape: int) -> np.ndarray:
    """Larger than anything in `dividend`: no quotient is close to a whole number."""
    return np.asarray(real(*shape, low=2.1, high=3.0) * RNG.choice([-1.0, 1.0], shape))


def dividend(*shape: int) -> np.ndarray:
    return np.asarray(real(*shape, low=0.3, high=1.8) * RNG.choice([-1.0, 1.0], shape))


def whole(*shape: int) -> np.ndarray:
    return np.asarray(RNG.integers(-12, 13, shape), np.int64)


QUOTIENTS = (np.asarray([7.3, -7.3, 7.3, -7.3]), np.asarray([2.0, 2.0, -3.0, -3.0]))

NUMBERS = (integers(7, -7, 7, -7, 6), integers(2, 2, -3, -3, 3))


def floor_divide(x: float, y: float) -> int:
    return math.floor(Fraction(x) / Fraction(y))


SAMPLES: dict[str, list[Sample]] = {
    "floor": [*unary(), Sample("whole", (small_integers(2, 3),))],
    "ceil": [*unary(), Sample("whole", (small_integers(2, 3),)), Sample("integers", (whole(3),))],
    "trunc": [*unary(), Sample("whole", (small_integers(2, 3),)), Sample("integers", (whole(3),))],
    "round": [
        *unary(),
        Sample("halves", (np.asarray([0.5, 1.5, -0.5, -2.5]),)),
        Sample("integers", (whole(3),)),
        Sample("tens-of-integers", (integers(14, -26, 101),), {"decimals": -1}),
        Sample("decimals", (spaced(2, 3),), {"decimals": 2}),
        Sample("tens", (np.asarray([14.0, -26.0, 101.0]),), {"decimals": -1}),
    ],
    "remainder": [
        *binary(dividend, divisor),
        Sample("quotients", QUOTIENTS),
        Sample("integers", NUMBERS),
    ],
    "floor_divide": [
        *binary(dividend, divisor),
        Sample("quotients", QUOTIENTS),
        Sample("integers", NUMBERS),
    ],
    "gcd": [*binary(whole), Sample("zeros", (integers(0, 0, 5), integers(0, 3, 0)))],
    "lcm": [*binary(whole), Sample("zeros", (integers(0, 0, 5), integers(0, 3, 0)))],
    "frexp": [
        *unary(lambda *s: real(*s, low=1.1, high=1.9)),
        Sample("zero", (np.zeros(2),), smooth=False),
    ],
    "signbit": [
        *unary(away_from_zero),
        Sample("zeros", (np.asarray([0.0, -0.0]),)),
        Sample("integers", (whole(3),)),
    ],
    "nextafter": binary(lambda *s: np.zeros(s), away_from_zero),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "floor": each(math.floor),
    "ceil": each(math.ceil),
    "trunc": each(math.trunc),
    "round": lambda x, decimals=0: each(lambda v: round(v, decimals))(x),
    "remainder": each(lambda x, y: float(Fraction(x) - floor_divide(x, y) * Fraction(y))),
    "floor_divide": each(floor_divide),
    "gcd": each(math.gcd),
    "lcm": each(math.lcm),
    "frexp": lambda x: (each(lambda v: math.frexp(v)[0])(x), each(lambda v: math.frexp(v)[1])(x)),
    "signbit": each(lambda x: math.copysign(1.0, x) < 0.0),
    "nextafter": each(math.nextafter),
}
