"""Samples and references of `ops/special.py`: integrals that define the functions.

By the trapezoidal rule where the integrand is periodic or decays doubly exponentially, and by that
of Gauss and Legendre on [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..referencing import each
from ..sampling import RNG, Sample, away_from_zero, binary, inside, positive, real, unary


def probability(*shape: int) -> np.ndarray:
    return real(*shape, low=0.05, high=0.95)


def below_0(*shape: int) -> np.ndarray:
    """Between the poles of the gamma function."""
    return np.asarray(-RNG.integers(0, 3, shape) - real(*shape, low=0.2, high=0.8))


def with_attrs(samples: list[Sample], **attrs: Any) -> list[Sample]:
    suffix = "".join(f"-{name}{value}" for name, value in attrs.items())
    return [replace(s, label=s.label + suffix, attrs=attrs) for s in samples]


def orders(samples: list[Sample], *, up_to: int) -> list[Sample]:
    """All at n = 0; the first and the last of them at the higher ones."""
    listed = with_attrs(samples, n=0)
    for n in range(1, up_to + 1):
        listed += with_attrs([samples[0], samples[-1]], n=n)
    return listed


def to_infinity(f: Callable[[float], float]) -> float:
    """The integral of a smooth `f` from 0 on, which falls at least as exp(-t / 4)."""
    step = 1.0 / 32.0
    total = []
    for k in range(-4 * 32, 6 * 32):
        u = k * step
        t = math.exp(u - math.exp(-u))
        if 0.0 < t < 700.0:
            total.append(f(t) * t * (1.0 + math.exp(-u)) * step)
    return math.fsum(total)


def polygamma(x: float, n: int) -> float:
    """Abramowitz and Stegun 6.3.21 and 6.4.1, after as many steps up as make x positive."""
    if x < 0.5:
        step = (-1) ** n * math.factorial(n) / x ** (n + 1)
        return polygamma(x + 1.0, n) - step
    if n == 0:
        return to_infinity(lambda t: math.exp(-t) / t + math.exp(-x * t) / math.expm1(-t))
    sign = (-1) ** (n + 1)
    return sign * to_infinity(lambda t: -(t**n) * math.exp(-x * t) / math.expm1(-t))


def gammainc(x: float, y: float) -> float:
    """The integral of the density from 0 to y, with y exp(-w) for its variable."""
    return to_infinity(lambda w: math.exp(-x * w - y * math.exp(-w))) * y**x / math.gamma(x)


def bessel_i(x: float, n: int) -> float:
    angles = [math.pi * k / 32.0 for k in range(64)]
    return math.fsum(math.exp(x * math.cos(a)) * math.cos(n * a) for a in angles) / 64.0


NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def sinc(x: float, n: int = 0) -> float:
    """The n-th derivative of the integral of cos(pi x s) for s from 0 to 1."""
    s = 0.5 * (NODES + 1.0)
    values = (math.pi * s) ** n * np.cos(math.pi * x * s + 0.5 * math.pi * n)
    return float(np.sum(0.5 * WEIGHTS * values))


def erfinv(y: float) -> float:
    low, high = -6.0, 6.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if math.erf(middle) < y else (low, middle)
    return 0.5 * (low + high)


def at(f: Callable[..., float]) -> Callable[..., Any]:
    """`f` of one element and attributes."""
    return lambda x, **attrs: each(lambda v: f(v, **attrs))(x)


SAMPLES: dict[str, list[Sample]] = {
    "logit": unary(probability),
    "erf": unary(),
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

REFERENCES: dict[str, Callable[..., Any]] = {
    "logit": each(lambda x: math.log(x / (1.0 - x))),
    "erf": each(math.erf),
    "erfinv": each(erfinv),
    "sinc": at(sinc),
    "lgamma": each(math.lgamma),
    "polygamma": at(polygamma),
    "gammainc": each(gammainc),
    "gammaincc": each(lambda x, y: 1.0 - gammainc(x, y)),
    "gamma_density": each(lambda x, y: y ** (x - 1.0) * math.exp(-y) / math.gamma(x)),
    "bessel_i": at(bessel_i),
    "bessel_ie": at(lambda x, n: math.exp(-abs(x)) * bessel_i(x, n)),
}
