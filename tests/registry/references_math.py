"""What the operations of `math` should compute, said in another way.

Special functions are the integrals that define them, by the trapezoidal rule where the integrand is
periodic or decays doubly exponentially, and by that of Gauss and Legendre on [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .references_basic import each


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


def floor_divide(x: float, y: float) -> int:
    return math.floor(Fraction(x) / Fraction(y))


def at(f: Callable[..., float]) -> Callable[..., Any]:
    """`f` of one element and attributes."""
    return lambda x, **attrs: each(lambda v: f(v, **attrs))(x)


REFERENCES: dict[str, Callable[..., Any]] = {
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
    "logit": each(lambda x: math.log(x / (1.0 - x))),
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
