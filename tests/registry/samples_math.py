"""Samples of the operations of `math`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .sampling import (
    RNG,
    Sample,
    away_from_zero,
    binary,
    integers,
    positive,
    real,
    small_integers,
    spaced,
    unary,
)


def inside(*shape: int) -> np.ndarray:
    """Between -1 and 1."""
    return real(*shape, low=-0.9, high=0.9)


def probability(*shape: int) -> np.ndarray:
    return real(*shape, low=0.05, high=0.95)


def above_1(*shape: int) -> np.ndarray:
    return real(*shape, low=1.2, high=3.0)


def below_0(*shape: int) -> np.ndarray:
    """Between the poles of the gamma function."""
    return np.asarray(-RNG.integers(0, 3, shape) - real(*shape, low=0.2, high=0.8))


def divisor(*shape: int) -> np.ndarray:
    """Larger than anything in `dividend`: no quotient is close to a whole number."""
    return np.asarray(real(*shape, low=2.1, high=3.0) * RNG.choice([-1.0, 1.0], shape))


def dividend(*shape: int) -> np.ndarray:
    return np.asarray(real(*shape, low=0.3, high=1.8) * RNG.choice([-1.0, 1.0], shape))


def whole(*shape: int) -> np.ndarray:
    return np.asarray(RNG.integers(-12, 13, shape), np.int64)


def with_attrs(samples: list[Sample], **attrs: Any) -> list[Sample]:
    suffix = "".join(f"-{name}{value}" for name, value in attrs.items())
    return [replace(s, label=s.label + suffix, attrs=attrs) for s in samples]


def orders(samples: list[Sample], *, up_to: int) -> list[Sample]:
    """All at n = 0; the first and the last of them at the higher ones."""
    listed = with_attrs(samples, n=0)
    for n in range(1, up_to + 1):
        listed += with_attrs([samples[0], samples[-1]], n=n)
    return listed


QUOTIENTS = (np.asarray([7.3, -7.3, 7.3, -7.3]), np.asarray([2.0, 2.0, -3.0, -3.0]))
NUMBERS = (integers(7, -7, 7, -7, 6), integers(2, 2, -3, -3, 3))

SAMPLES: dict[str, list[Sample]] = {
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
    # --- rounding
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
    # --- special functions
    "logit": unary(probability),
    "erfinv": unary(inside),
    "sinc": [
        *unary(),
        Sample("zero", (np.asarray([0.0, 1e-9, 3.0, 0.4]),)),
        *with_attrs(unary()[:1], n=1),
        *with_attrs(unary()[-1:], n=2),
        Sample("zero-n3", (np.asarray([0.0, 1e-9, 3.0, 0.4]),), {"n": 3}),
    ],
    "lgamma": [*unary(positive), Sample("below-0", (below_0(2, 3),))],
    "polygamma": [
        *orders(unary(positive), up_to=3),
        Sample("below-0-n0", (below_0(4),), {"n": 0}),
        Sample("below-0-n1", (below_0(4),), {"n": 1}),
        Sample("below-0-n2", (below_0(4),), {"n": 2}),
    ],
    "gammainc": binary(positive),
    "gammaincc": binary(positive),
    "gamma_density": [
        *binary(positive),
        Sample("large", (np.asarray([12.5, 20.0]), np.asarray([11.0, 22.0]))),
        Sample("negative", (below_0(3), positive(3))),
    ],
    "bessel_i": [*orders(unary(), up_to=2), Sample("zero-n1", (np.zeros(3),), {"n": 1})],
    "bessel_ie": [
        *orders(unary(away_from_zero), up_to=2),
        Sample("zero-n3", (np.zeros(3),), {"n": 3}, smooth=False),
    ],
}
