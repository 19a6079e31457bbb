"""Modified Bessel functions of the first kind I_n, and exp(-|x|) I_n.

Up to |x| = 30, from the ratios r_k = I_k / I_(k-1), by the recurrence
I_(k-1) = I_(k+1) + (2k / x) I_k taken downwards,

    r_k = x / (2k + x r_(k+1)),     exp(x) / I_0(x) = 1 + 2 (r_1 + r_1 r_2 + r_1 r_2 r_3 + ...).

All terms are positive, so nothing cancels, and nothing is divided by x. Above, Hankel's asymptotic
series (Abramowitz and Stegun, 9.7.1), whose terms fall below the rounding error.
"""

from __future__ import annotations

import math

import numpy as np

from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.branches import perhaps
from autograd_engine.ops.kernels.precision import in_double

__all__ = ["bessel_i", "bessel_ie"]

# Up to which |x|, and the number of ratios after which those left out are below rounding.
_BANDS = ((2.0, 20), (8.0, 36), (30.0, 72))


@in_double
def bessel_i(x: Array, *, n: int) -> Array:
    """I_n(x)."""
    half = np.exp(0.5 * np.abs(x))  # twice a half: I_n is finite where exp is not
    scaled = _scaled(x, n)
    # 0 * inf far out, where both halves overflow
    far = np.where(x < 0.0, -np.inf, np.inf) if n % 2 else np.inf
    return np.where(np.isinf(x), far, scaled * half * half)


@in_double
def bessel_ie(x: Array, *, n: int) -> Array:
    """exp(-|x|) I_n(x)."""
    return _scaled(x, n)


def _scaled(x: Array, n: int) -> Array:
    a = np.abs(x)
    out = np.full_like(a, np.nan)
    low = -1.0
    for high, count in _BANDS:
        high += n * n  # the order moves both the ratios and where the series is good
        band = (a > low) & (a <= high)
        if perhaps(band.any()):
            out[band] = _by_ratios(a[band], n, count + n * (n + 1))
        low = high
    far = a > low
    if perhaps(far.any()):
        out[far] = _asymptotic(a[far], n)
    return np.where(x < 0.0, -out, out) if n % 2 else out


def _by_ratios(a: Array, n: int, count: int) -> Array:
    ratio, total = np.zeros_like(a), np.zeros_like(a)
    product = np.ones_like(a)
    for k in range(count, 0, -1):
        ratio = a / (2.0 * k + a * ratio)
        total = ratio * (1.0 + total)
        if k <= n:
            product = product * ratio
    return np.asarray(product / (1.0 + 2.0 * total))


def _asymptotic(a: Array, n: int) -> Array:
    """sum (-1)^k (4n^2 - 1) (4n^2 - 9) ... (4n^2 - (2k-1)^2) / (k! (8a)^k) / sqrt(2 pi a)."""
    t = 1.0 / (8.0 * a)
    total, term = np.ones_like(a), np.ones_like(a)
    for k in range(1, 26):
        term = term * (t * (((2 * k - 1) ** 2 - 4 * n * n) / k))
        total = total + term
    return np.asarray(total / np.sqrt(2.0 * math.pi * a))
