"""sinc(x) = sin(pi x) / (pi x), and its derivatives.

With t = pi x the function t -> sin(t) / t has the derivatives f_n that satisfy
t f_n + n f_(n-1) = sin(t + n pi / 2). Where |t| is above n this recurrence is stable; below, the
power series of f_n is summed, which has no singularity at 0.
"""

from __future__ import annotations

import math

import numpy as np

from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.branches import perhaps
from autograd_engine.ops.kernels.precision import in_double

__all__ = ["sinc"]


@in_double
def sinc(x: Array, *, n: int = 0) -> Array:
    """The n-th derivative of sin(pi x) / (pi x)."""
    t = math.pi * x
    near = np.abs(t) < max(n, 1.5)
    out = np.empty_like(t)
    if perhaps(near.any()):
        out[near] = _series(t[near], n)
    far = ~near  # NaN is here
    if perhaps(far.any()):
        u = math.pi * (x[far] - 2.0 * np.round(0.5 * x[far]))
        sine, cosine = np.sin(u), np.cos(u)
        circle = (sine, cosine, -sine, -cosine)  # sin(t + k pi / 2)
        f = sine / t[far]
        for k in range(1, n + 1):
            f = (circle[k % 4] - k * f) / t[far]
        out[far] = f
    return np.asarray(out * math.pi**n)


def _series(t: Array, n: int) -> Array:
    """sum (-1)^k t^(2k-n) / ((2k-n)! (2k+1)) over 2k >= n."""
    first = (n + 1) // 2
    square = t * t
    total = np.zeros_like(t)
    for k in range(first + 14 + n, first - 1, -1):
        total = total * square + (-1) ** k / (math.factorial(2 * k - n) * (2 * k + 1))
    return total * t if n % 2 else total
