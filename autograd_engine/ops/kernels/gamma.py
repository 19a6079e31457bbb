"""The gamma function: its logarithm with derivatives, and its incomplete integrals.

``lgamma(x)`` is log |Gamma(x)|; ``polygamma(x, n=n)`` is its derivative of order n + 1, so that
n = 0 is the digamma function and each order is the derivative of the one before.

For x > 0:

- polygamma of n >= 1 is (-1)^(n+1) n! zeta(n + 1, x), with Hurwitz's zeta(s, x) = sum (x + k)^-s.
  All terms are positive, so nothing cancels. The sum is taken until x + k passes a threshold;
  Euler's and Maclaurin's formula gives the rest.
- digamma(x) = digamma(x + 1) - 1 / x up to a threshold, then its asymptotic series. It has a zero
  at 1.46..., around which the recurrence would cancel; there its Taylor series is used.
- lgamma near its zeros 1 and 2 is the Taylor series around 2, lgamma(2 + z) = (1 - gamma) z +
  sum (-z)^k (zeta(k) - 1) / k, with lgamma(1 + z) = lgamma(2 + z) - log1p(z); up to 8 the
  recurrence leads there, and from 8 on Stirling's series is used.

For x < 0 the reflection formulas lead to 1 - x (Abramowitz and Stegun, 6.1.17 and 6.4.7). At
x = 0, -1, -2, ... are poles: lgamma is inf; digamma is -inf at 0, inf at -0 and NaN at the negative
integers; polygamma of n >= 1 is inf for odd n and -inf for even n.

Of the regularised incomplete gamma functions P(a, y) is the integral of the density p(a, t) =
t^(a-1) exp(-t) / Gamma(a) from 0 to y, and Q = 1 - P the rest. The smaller of the two is computed,
the other is its complement:

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

import numpy as np

from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.branches import perhaps
from autograd_engine.ops.kernels.precision import in_double

__all__ = ["lgamma", "polygamma", "gamma_density", "gammainc", "gammaincc"]

# B_2, B_4, ..., B_24: the Bernoulli numbers.
_BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
    854513 / 138,
    -236364091 / 2730,
)
_EULER = 0.5772156649015329
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
_STIRLING_FROM = 8.0
_DIGAMMA_FROM = 10.0
# The zero of digamma, as the sum of two doubles.
_ZERO, _ZERO_REST = 1.4616321449683622, 9.549995429965697e-17
_NEAR_ZERO = 0.25


@in_double
def lgamma(x: Array) -> Array:
    """Logarithm of the absolute value of the gamma function."""
    below = x < 0.0
    out = _lgamma_positive(np.where(below, 1.0 - x, x))
    if perhaps(below.any()):
        sine = np.abs(np.sin(math.pi * (x - np.round(x))))
        out = np.where(below, math.log(math.pi) - np.log(sine) - out, out)
        out = np.where(np.isneginf(x), np.inf, out)
    return out


def _lgamma_positive(x: Array) -> Array:
    out = np.empty_like(x)
    near = x < 2.5
    if perhaps(near.any()):
        out[near] = _lgamma_near_2(x[near])
    middle = (x >= 2.5) & (x < _STIRLING_FROM)
    if perhaps(middle.any()):
        y = x[middle]
        product = np.ones_like(y)
        for _ in range(6):  # 8 - 6 is below 2.5
            high = y >= 2.5
            y = np.where(high, y - 1.0, y)
            product = np.where(high, product * y, product)
        out[middle] = np.log(product) + _lgamma_near_2(y)
    rest = ~(near | middle)  # NaN is here
    if perhaps(rest.any()):
        y = x[rest]
        out[rest] = (y - 0.5) * (np.log(y) - 1.0) + (_HALF_LOG_2PI - 0.5) + stirling_rest(y)
    return out


def _lgamma_near_2(x: Array) -> Array:
    """lgamma on [0, 2.5]: log Gamma(2 + z), less log(1 + z) and log(z) where they apply."""
    steps = (x < 1.5).astype(np.float64) + (x < 0.5)
    z = x - 2.0 + steps
    out: Array = z * _polynomial(z, _lgamma_coefficients())
    out = np.where(steps > 0.0, out - np.log1p(z), out)
    return np.where(steps > 1.0, out - np.log(x), out)


def stirling_rest(x: Array) -> Array:
    """log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), for x >= 8."""
    t = 1.0 / (x * x)
    terms = [b / (2 * j * (2 * j - 1)) for j, b in enumerate(_BERNOULLI[:9], 1)]
    return np.asarray(_polynomial(t, tuple(reversed(terms))) / x)


@functools.cache
def _lgamma_coefficients() -> tuple[float, ...]:
    """Of lgamma(2 + z) / z from the highest power down; zeta(k) - 1 is zeta(k, 2)."""
    two = np.asarray([2.0])
    tail = [(-1) ** k * float(_hurwitz(k, two)[0]) / k for k in range(2, 30)]
    return (*reversed(tail), 1.0 - _EULER)


@in_double
def polygamma(x: Array, *, n: int) -> Array:
    """The n-th derivative of digamma."""
    below = x < 0.0
    y = np.where(below, 1.0 - x, x)
    out = _digamma_positive(y) if n == 0 else _polygamma_positive(y, n)
    if perhaps(below.any()):
        reflected = (-1) ** n * out - math.pi ** (n + 1) * _cotangent(x, n)
        out = np.where(below, reflected, out)
    if n:
        pole = (x <= 0.0) & (x == np.floor(x)) & np.isfinite(x)
        out = np.where(pole, np.inf if n % 2 else -np.inf, out)
    return out


def _polygamma_positive(x: Array, n: int) -> Array:
    factor = float(math.factorial(n)) if n <= 170 else math.inf
    return np.asarray((-1) ** (n + 1) * factor * _hurwitz(n + 1, x))


def _hurwitz(s: int, x: Array) -> Array:
    """zeta(s, x) for integers s >= 2 and x >= 0."""
    threshold = s + 12.0
    total = np.zeros_like(x)
    y = x
    for _ in range(int(threshold)):
        low = y < threshold
        if not perhaps(low.any()):
            break
        total = np.where(low, total + y ** float(-s), total)
        y = np.where(low, y + 1.0, y)
    # y^(1-s) (1 / (s-1) + 1 / (2 y) + sum B_2j / (2j)! s (s+1) ... (s+2j-2) y^(-2j))
    terms = []
    rising = 1.0
    for j, b in enumerate(_BERNOULLI, 1):
        rising *= s if j == 1 else (s + 2 * j - 3) * (s + 2 * j - 2)
        terms.append(b / math.factorial(2 * j) * rising)
    t = 1.0 / (y * y)
    series = t * _polynomial(t, tuple(reversed(terms)))
    return np.asarray(total + y ** (1.0 - s) * (series + 0.5 / y + 1.0 / (s - 1)))


def _digamma_positive(x: Array) -> Array:
    y, shift = x, np.zeros_like(x)
    for _ in range(int(_DIGAMMA_FROM)):
        low = y < _DIGAMMA_FROM
        if not perhaps(low.any()):
            break
        shift = np.where(low, shift + 1.0 / y, shift)
        y = np.where(low, y + 1.0, y)
    t = 1.0 / (y * y)
    terms = [b / (2 * j) for j, b in enumerate(_BERNOULLI, 1)]
    series = t * _polynomial(t, tuple(reversed(terms)))
    out = np.log(y) - 0.5 / y - series - shift
    z = (x - _ZERO) - _ZERO_REST
    near = np.abs(z) < _NEAR_ZERO
    if perhaps(near.any()):
        out[near] = z[near] * _polynomial(z[near], _digamma_coefficients())
    return out


@functools.cache
def _digamma_coefficients() -> tuple[float, ...]:
    """Of digamma(zero + z) / z: (-1)^(k+1) zeta(k + 1, zero), from the highest power down."""
    zero = np.asarray([_ZERO])
    return tuple((-1) ** (k + 1) * float(_hurwitz(k + 1, zero)[0]) for k in range(22, 0, -1))


def _cotangent(x: Array, n: int) -> Array:
    """The n-th derivative of cot, at pi x: a polynomial in cot, since cot' = -1 - cot^2."""
    powers = [0, 1]  # cot, by powers from the lowest up
    for _ in range(n):
        slope = [k * c for k, c in enumerate(powers)][1:]
        powers = [
            -((slope[k] if k < len(slope) else 0) + (slope[k - 2] if k >= 2 else 0))
            for k in range(len(slope) + 2)
        ]
    cot = 1.0 / np.tan(math.pi * (x - np.round(x)))
    if n == 0:  # the two sides of a pole have different signs, and x is on neither
        cot = np.where(np.isinf(cot), np.nan, cot)
    return _polynomial(cot, tuple(map(float, reversed(powers))))


def _polynomial(t: Array, coefficients: tuple[float, ...]) -> Array:
    """From the highest power down, by Horner's rule."""
    out = np.full_like(t, coefficients[0])
    for c in coefficients[1:]:
        out = out * t + c
    return out


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
        if perhaps(region.any()):
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
        if not perhaps((term > _EPS * total).any()):
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
        if not perhaps(going.any()):
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
