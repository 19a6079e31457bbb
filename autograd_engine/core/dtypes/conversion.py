"""Between float32 and floats of 16 bits.

NumPy converts float16 element by element, and takes thirty times as long for one that is subnormal,
as most gradients of float16 are. Here large arrays are converted in vectors, to the same bits.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dtypes.families import FLOAT16, FLOAT32

__all__ = ["rounded", "widened"]

_Array = NDArray[Any]

# Elements: from which on steps on whole arrays take less time than NumPy's loop does, if what it
# makes is subnormal, and in any case.
_SOME: Final = 256
_MANY: Final = 8192
_AT_ONCE: Final = 1 << 14  # they and what is computed of them stay in the cache

_SIGN: Final = 0x8000
_MAGNITUDE: Final = 0x7FFFFFFF  # of float32: the exponent, and the fraction
_EXPONENT: Final = 0x7F800000
_SMALLEST_EXPONENT: Final = 0x38800000  # that of `_SMALLEST`
_SMALLEST: Final = 2.0**-14  # normal float16
_DROPPED: Final = 13  # bits: a float32 has 23 of the fraction, a float16 has 10
_INFINITE: Final = np.float32(2.0**16)  # is above the largest number, and rounds to infinity
_REBIASED: Final = np.float32(2.0**-112)  # exponents count from 127 and from 15


def widened(array: _Array) -> _Array:
    """An array of 16 bits in float32."""
    if array.dtype is FLOAT16 and _is_plain(array):
        if not array.flags.c_contiguous:
            return widened(array.T).T
        return _every().take(array.view(np.uint16), mode="clip")
    return array.astype(FLOAT32)


def _is_plain(array: Any) -> bool:
    return array.__class__ is np.ndarray and array.size >= _SOME and array.flags.forc


def _is_slow(array: _Array) -> bool:
    """Whether NumPy's loop takes longer; of some elements that hangs on the smallest."""
    return array.size >= _MANY or bool(np.minimum.reduce(np.abs(array), axis=None) < _SMALLEST)


@functools.cache
def _every() -> _Array:
    """All numbers that float16 has, by their bits."""
    return np.arange(1 << 16, dtype=np.uint16).view(FLOAT16).astype(FLOAT32)


def rounded(array: _Array, dtype: np.dtype[Any]) -> _Array:
    """An array in another dtype; to the nearest, ties to even, and beyond the range to infinity."""
    if dtype is FLOAT16 and array.dtype is FLOAT32 and _is_plain(array) and _is_slow(array):
        if not array.flags.c_contiguous:
            return rounded(array.T, dtype).T
        return _to_float16(array)
    return array.astype(dtype)


def _to_float16(array: _Array) -> _Array:
    out = np.empty(array.shape, FLOAT16)
    given, bits = array.reshape(-1).view(np.uint32), out.reshape(-1).view(np.uint16)
    magnitudes = np.empty(min(_AT_ONCE, array.size), FLOAT32)
    units = np.empty(magnitudes.shape, np.uint32)
    with np.errstate(all="ignore"):
        for start in range(0, array.size, _AT_ONCE):
            source = given[start : start + _AT_ONCE]
            x, unit = magnitudes[: source.size], units[: source.size]
            x_bits = x.view(np.uint32)
            np.bitwise_and(source, _MAGNITUDE, out=x_bits)
            np.minimum(x, _INFINITE, out=x)
            # A number whose last bit is what `x` is rounded to: beside it, the rest falls away.
            np.bitwise_and(x_bits, _EXPONENT, out=unit)
            np.maximum(unit, _SMALLEST_EXPONENT, out=unit)
            unit += _DROPPED << 23
            x += unit.view(FLOAT32)
            x -= unit.view(FLOAT32)
            # With exponents of float16 a subnormal of one format is a subnormal of the other.
            x *= _REBIASED
            x_bits >>= _DROPPED
            np.right_shift(source, 16, out=unit)
            unit &= _SIGN
            np.bitwise_or(x_bits, unit, out=bits[start : start + _AT_ONCE], casting="unsafe")
    return out
