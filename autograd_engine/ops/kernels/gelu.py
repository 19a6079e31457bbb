"""gelu(x) = x Phi(x), and its slope Phi(x) + x phi(x), in one pass over blocks that fit a cache.

Phi and phi are the distribution function and the density of the standard normal distribution. With
a = |x|, in float32,

    Phi(-a) = exp(-a^2 / 2) R(a),         R(a) = erfcx(a / sqrt 2) / 2

R falls gently, and is a continued fraction whose error is 1.3e-7 on [0, 2.83]. Phi(x) is Phi(-a) or
1 - Phi(-a) by the sign of x, so that both tails keep their relative accuracy. Beyond `_FAR`, where
the rounding of a^2 would show in the exponential, the few elements there are computed in float64.
Which way an element goes depends on the element alone.

The coefficients are those of least maximal relative error in R, by iterated weighted least squares.
For the tail, up to 14.5 where float32 has underflown, the error is 6.3e-10.

float64 takes 1 + erf, but below -1, where that would cancel, the product above, with erfcx by
rational functions (W. J. Cody, "Rational Chebyshev approximations for the error function", Math.
Comp. 1969) and a^2 in two parts, of which one is exact.
"""

from __future__ import annotations

import math

import numpy as np

from autograd_engine.core.dtypes import FLOAT64
from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.erf import erf

__all__ = ["gelu"]

_BLOCK = 1 << 15  # elements: calls cost little beside them, and four arrays fit in the cache
_FAR = np.array(2.8, np.float32)
_PDF_0 = 1.0 / math.sqrt(2.0 * math.pi)
_SQRT_HALF = math.sqrt(0.5)
# R(a) = c0 + b1 / (a + a1 + b2 / (a + a2 + b3 / (a + a3)))
_C0, _B1, _A1, _B2, _A2, _B3, _A3 = (
    np.array(v, np.float32)
    for v in (
        -0.0012097584110710294,
        0.42561274555602374,
        0.6798735791721316,
        -3.4381404032511105,
        5.887458405388008,
        17.20855855095506,
        -0.6569213212163235,
    )
)
_TAIL_P = (0.3989410003514323, 1.801296745088321, 4.660460474758279, 5.132884289179966)
_TAIL_Q = (1.0, 4.5149878478645755, 12.687045666944996, 17.30831389096072, 10.34542797231464)
# erfcx(y) is P(y) / Q(y) up to 4, beyond (1 / sqrt(pi) - z P(z) / Q(z)) / y with z = 1 / y^2.
_MIDDLE_P = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594e0,
    6.61191906371416295e1,
    2.98635138197400131e2,
    8.81952221241769090e2,
    1.71204761263407058e3,
    2.05107837782607147e3,
    1.23033935479799725e3,
)
_MIDDLE_Q = (
    1.0,
    1.57449261107098347e1,
    1.17693950891312499e2,
    5.37181101862009858e2,
    1.62138957456669019e3,
    3.29079923573345963e3,
    4.36261909014324716e3,
    3.43936767414372164e3,
    1.23033935480374942e3,
)
_FAR_P = (
    1.63153871373020978e-2,
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4,
)
_FAR_Q = (
    1.0,
    2.56852019228982242e0,
    1.87295284992346725e0,
    5.27905102951428412e-1,
    6.05183413124413191e-2,
    2.33520497626869185e-3,
)
_MINUS_HALF = np.array(-0.5, np.float32)
_DENSITY = np.array(_PDF_0, np.float32)
_ZERO = np.array(0.0, np.float32)


def gelu(x: Array) -> tuple[Array, Array]:
    """x Phi(x) and its derivative, for each element of an array of floats.

    Returns
    -------
    out, slope : arrays of the shape and dtype of `x`
        In float32 the relative error of Phi is below 6e-7, in either tail too. 0 and 0 at minus
        infinity, infinity and 1 at infinity, NaN at NaN. Never warns.

    Examples
    --------
    >>> out, slope = gelu(np.array([-1.0, 0.0, np.inf]))
    >>> out.round(4).tolist(), slope.round(4).tolist()
    ([-0.1587, 0.0, inf], [-0.0833, 0.5, 1.0])
    """
    with np.errstate(all="ignore"):
        if x.dtype == FLOAT64:
            return _in_double(x)
        work = np.ascontiguousarray(x, np.float32).reshape(-1)
        out, slope = np.empty_like(work), np.empty_like(work)
        far = np.zeros(-(-work.size // 8) * 8, np.bool_)
        scratch = np.empty(min(work.size, _BLOCK), np.float32)
        above = np.empty(scratch.shape, np.bool_)
        for k in range(0, work.size, _BLOCK):
            part = slice(k, k + _BLOCK)
            _block(work[part], out[part], slope[part], far[: work.size][part], scratch, above)
        where = _places(far)
        for k in range(0, where.size, _BLOCK):
            _tail(work, out, slope, where[k : k + _BLOCK])
        return (
            out.astype(x.dtype, copy=False).reshape(x.shape),
            slope.astype(x.dtype, copy=False).reshape(x.shape),
        )


def _in_double(x: Array) -> tuple[Array, Array]:
    near = np.array(np.clip(x, -40.0, 40.0)).reshape(-1)  # beyond, Phi is 0 or 1 and phi is 0
    half = near * _SQRT_HALF
    below = 0.5 * (erf(half) + 1.0)
    bell = np.exp(-(half * half))
    where = np.flatnonzero(near < -1.0)
    if where.size:
        a = -near[where]
        bell[where] = e = _bell(a)
        below[where] = 0.5 * e * _erfcx(a * _SQRT_HALF)
    out = np.maximum(x.reshape(-1), -40.0) * below
    return out.reshape(x.shape), (below + near * (_PDF_0 * bell)).reshape(x.shape)


def _bell(a: Array) -> Array:
    """exp(-a^2 / 2): the rounding of a^2 would show, so it is that of a few bits, and the rest."""
    head = np.round(a * 16.0) / 16.0
    return np.asarray(np.exp(-0.5 * head * head) * np.exp(-0.5 * (a - head) * (a + head)))


def _erfcx(y: Array) -> Array:
    """exp(y^2) erfc(y) for y from 0.5 on."""
    middle = np.minimum(y, 4.0)
    z = 1.0 / (y * y)
    far = (1.0 / math.sqrt(math.pi) - z * np.polyval(_FAR_P, z) / np.polyval(_FAR_Q, z)) / y
    return np.where(y > 4.0, far, np.polyval(_MIDDLE_P, middle) / np.polyval(_MIDDLE_Q, middle))


def _block(x: Array, out: Array, slope: Array, far: Array, scratch: Array, above: Array) -> None:
    """Write the results of one block; `far` is where they are still to be corrected."""
    a, r, e = slope, out, scratch[: x.size]  # few arrays, for all of them to stay in the cache
    above = above[: x.size]
    np.absolute(x, a)
    np.greater(a, _FAR, far)
    np.multiply(a, a, e)
    np.multiply(e, _MINUS_HALF, e)
    np.exp(e, e)
    np.add(a, _A3, r)
    np.divide(_B3, r, r)
    np.add(r, a, r)
    np.add(r, _A2, r)
    np.divide(_B2, r, r)
    np.add(r, a, r)
    np.add(r, _A1, r)
    np.divide(_B1, r, r)
    np.add(r, _C0, r)
    np.multiply(r, e, r)
    # Phi(x) is Phi(-a) or 1 - Phi(-a), which is |(x > 0) - Phi(-a)|.
    np.greater(x, _ZERO, above)
    np.copyto(a, above)
    np.subtract(a, r, a)
    np.absolute(a, a)
    np.multiply(x, a, out)
    np.multiply(e, x, e)
    np.multiply(e, _DENSITY, e)
    np.add(e, a, slope)


def _places(flags: Array) -> Array:
    """Where the few `flags` are that are set; their number is a multiple of 8, seen at once."""
    words = np.flatnonzero(flags.view(np.uint64) != 0)
    places = np.add.outer(8 * words, np.arange(8)).reshape(-1)
    return np.asarray(places[flags[places]])


def _tail(x: Array, out: Array, slope: Array, where: Array) -> None:
    """Overwrite the results at some places."""
    given = x[where].astype(np.float64)
    a = np.minimum(np.abs(given), 40.0)
    e = np.exp(-0.5 * (a * a))
    below = e * np.polyval(_TAIL_P, a) / np.polyval(_TAIL_Q, a)
    turn = a * (_PDF_0 * e)
    up = given > 0.0
    out[where] = np.where(up, given, 0.0) - a * below
    slope[where] = np.where(up, 1.0 - below + turn, below - turn)
