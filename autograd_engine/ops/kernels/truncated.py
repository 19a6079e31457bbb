"""Draws from a normal distribution that is cut off on both sides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.ops.kernels.erf import erf
from autograd_engine.ops.kernels.erfinv import erfinv

__all__ = ["between"]

Array = NDArray[Any]

# Beyond this the values of erf are too near to 1 to tell those of the interval apart.
_FAR = 4.0
_TOP = 1.0 - 2.0**-53


def between(source: np.random.Generator, low: float, high: float, shape: tuple[int, ...]) -> Array:
    """Standard normal values, given that they are in [low, high].

    One uniform number makes one value, by the inverse of the distribution function. Far from 0
    there are a few more, see `_tail`.
    """
    if low > _FAR:
        return _tail(source, low, high, shape)
    if high < -_FAR:
        return -_tail(source, -high, -low, shape)
    first, last = erf(np.array([low, high]) * math.sqrt(0.5)).tolist()
    p = first + source.random(shape) * (last - first)
    drawn = erfinv(np.clip(p, -_TOP, _TOP)) * math.sqrt(2.0)
    return np.clip(drawn, low, high)


def _tail(source: np.random.Generator, low: float, high: float, shape: tuple[int, ...]) -> Array:
    """The same for 0 << low, from the density x exp(-x^2 / 2), whose inverse is elementary.

    G. Marsaglia, "Generating a variable from the tail of the normal distribution" (1964): a value
    is kept with probability low / x, and drawn again else.
    """
    out = np.empty(math.prod(shape))
    todo = np.arange(out.size)
    span = -math.expm1(0.5 * (low - high) * (low + high))
    while todo.size:
        u, v = source.random((2, todo.size))
        x = np.sqrt(low * low - 2.0 * np.log1p(-u * span))
        kept = v * x <= low
        out[todo[kept]] = np.minimum(x[kept], high)
        todo = todo[~kept]
    return out.reshape(shape)
