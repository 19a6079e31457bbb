"""The regularised incomplete gamma functions, and their derivative.

P(a, y) is the integral of the density p(a, t) = t^(a-1) exp(-t) / Gamma(a) from 0 to y, and
Q = 1 - P the rest. The smaller of the two is computed, the other is its complement:

- P by its power series where y is below a + 1, Q by its continued fraction where it is above
  (Abramowitz and Stegun, 6.5.29 and 6.5.31);
- for a >= 100 and y near a, where both converge slowly, by Gauss's quadrature of the density, on an
  interval at whose far end it has fallen by exp(-45).

The density is not computed as the exponential of large numbers that cancel: with u = (t - a) / a,

    t p(a, t) = sqrt(a / (2 pi)) exp(-a phi(u) - r(a)),     phi(u) = u - log(1 + u),

where r is what Stirling's formula leaves out.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.ops.kernels.double import in_double
from autograd_engine.ops.kernels.gamma import lgamma, stirling_rest

__all__ = ["gamma_density", "gammainc", "gammaincc"]

Array = NDArray[Any]

_LARGE = 100.0
_TERMS = 400  # more than any argument that comes to the series or the fraction needs
_EPS = 1e-17


@in_double
def gammainc(a: Array, y: Array) -> Array:
    """P(a, y); NaN for negative arguments."""
    return _lower_and_upper(a, y)[0]


@in_double
def gammaincc(a: Array, y: Array) -> Array:
    """Q(a, y) = 1 - P(a, y)."""
    return _lower_and_upper(a, y)[1]


@in_double
def gamma_density(a: Array, y: Array) -> Array:
    """y^(a-1) exp(-y) / Gamma(a), for any a: it satisfies d/dy p(a, y) = p(a-1, y) - p(a, y)."""
    sign = np.where((a > 0.0) | (np.floor(a) % 2.0 == 0.0), 1.0, -1.0)
    power = np.where(a == 1.0, 0.0, (a - 1.0) * np.log(y))  # y^0 is 1 at 0, too
    pole = (a <= 0.0) & (a == np.floor(a))  # of Gamma
    small = np.where(pole, 0.0, sign * np.exp(power - y - lgamma(a)))
    return np.where((a > 10.0) & (y > 0.0), _scaled_density(a, y) / y, small)


def _lower_and_upper(a: Array, y: Array) -> tuple[Array, Array]:
    lower = np.full_like(a, np.nan)
    upper = np.full_like(a, np.nan)
    inside = (a > 0.0) & (y > 0.0) & np.isfinite(a) & np.isfinite(y)
    left = y < a + 1.0
    near = (a >= _LARGE) & (y > 0.6 * a) & (y < 1.5 * a)
    for region, compute, is_lower in (
        (inside & ~near & left, _series, True),
        (inside & ~near & ~left, _fraction, False),
        (inside & near & left, _quadrature, True),
        (inside & near & ~left, _quadrature, False),
    ):
        if region.any():
            value = compute(a[region], y[region])
            (lower if is_lower else upper)[region] = value
            (upper if is_lower else lower)[region] = 1.0 - value
    empty = (a > 0.0) & (y == 0.0) | np.isposinf(a) & (y >= 0.0) & np.isfinite(y)
    full = (a == 0.0) & (y > 0.0) | np.isposinf(y) & (a >= 0.0) & np.isfinite(a)
    lower[empty], upper[empty] = 0.0, 1.0
    lower[full], upper[full] = 1.0, 0.0
    return lower, upper


def _scaled_density(a: Array, y: Array) -> Array:
    """y p(a, y)."""
    by_stirling = np.sqrt(a / (2.0 * math.pi)) * np.exp(-a * _phi((y - a) / a) - stirling_rest(a))
    directly = np.exp(a * np.log(y) - y - lgamma(a))
    return np.asarray(np.where(a > 10.0, by_stirling, directly))


def _phi(u: Array) -> Array:
    """u - log(1 + u). With r = u / (2 + u), log(1 + u) is 2 artanh(r) and u - 2r is u r."""
    r = u / (2.0 + u)
    square = r * r
    series = np.zeros_like(u)
    for k in range(13, 0, -1):
        series = series * square + 1.0 / (2 * k + 1)
    return np.where(np.abs(u) < 0.3, u * r - 2.0 * r * square * series, u - np.log1p(u))


def _series(a: Array, y: Array) -> Array:
    """P: y p(a, y) sum y^k / (a (a+1) ... (a+k))."""
    term = 1.0 / a
    total = term
    for k in range(1, _TERMS):
        term = term * (y / (a + k))
        if not (term > _EPS * total).any():
            break
        total = total + term
    return np.asarray(_scaled_density(a, y) * total)


def _fraction(a: Array, y: Array) -> Array:
    """Q: y p(a, y) / (y + 1 - a - 1 (1-a) / (y + 3 - a - 2 (2-a) / (y + 5 - a - ...)))."""
    b = y + 1.0 - a  # by the method of Lentz
    d = 1.0 / b
    c = np.full_like(b, 1e300)
    total = d
    going = np.ones(b.shape, np.bool_)  # not to the end of the slowest: no result depends on others
    for k in range(1, _TERMS):
        numerator = -k * (k - a)
        b = b + 2.0
        d = 1.0 / (numerator * d + b)
        c = b + numerator / c
        factor = c * d
        total = np.where(going, total * factor, total)
        going = going & (np.abs(factor - 1.0) > 4e-16)
        if not going.any():
            break
    return np.asarray(_scaled_density(a, y) * total)


def _quadrature(a: Array, y: Array) -> Array:
    """P where y < a + 1, else Q: the integral of exp(-a phi(u)) / (1 + u) away from the peak."""
    u = (y - a) / a
    outward = np.where(y < a + 1.0, -1.0, 1.0)
    # Length on which a phi grows by 45: slope s and curvature q of phi at u.
    slope, curvature = np.abs(u / (1.0 + u)), 1.0 / (1.0 + np.maximum(u, 0.0)) ** 2
    slope = np.where(u * outward < 0.0, 0.0, slope)
    length = 1.4 * (np.sqrt(slope**2 + 90.0 * curvature / a) - slope) / curvature
    length = np.where(outward < 0.0, np.minimum(length, 1.0 + u), length)
    nodes, weights = _legendre()
    at = u[:, None] + (outward * length)[:, None] * nodes
    values = np.exp(-a[:, None] * _phi(at)) / (1.0 + at)
    # Not `@`: the order of its sums may depend on the number of rows.
    total = (values * weights).sum(axis=1) * length
    return np.asarray(total * np.sqrt(a / (2.0 * math.pi)) * np.exp(-stirling_rest(a)))


@functools.cache
def _legendre() -> tuple[Array, Array]:
    """Nodes and weights of Gauss and Legendre on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(48)
    return 0.5 * (nodes + 1.0), 0.5 * weights
