"""Arrays of a single value that stand for what was never computed.

A branch that did not run has no gradient; where a program needs an array for it, it is a view of
one of the zeros below, and can be told from a gradient that happens to be zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.spec import Array, Like

__all__ = ["hollow", "is_hollow", "without_sign"]

_zeros: dict[tuple[str, bool], Array] = {}
_ids: set[int] = set()


def hollow(like: Like, value: float = 0.0) -> Array:
    """Zeros of that shape and dtype, in no memory; adding -0.0 changes nothing, not even 0.0."""
    dtype = like.dtype
    key = dtype.str, math.copysign(1.0, value) < 0.0
    zero = _zeros.get(key)
    if zero is None:
        zero = np.asarray(value, dtype)
        zero.flags.writeable = False
        zero = _zeros.setdefault(key, zero)
        _ids.add(id(zero))
    return np.ndarray(like.shape, dtype, zero, 0, (0,) * len(like.shape))


def is_hollow(array: Any) -> bool:
    """Whether `array` was made by `hollow`."""
    return array.__class__ is np.ndarray and id(array.base) in _ids


def without_sign(array: Any) -> Any:
    """0.0 for a hollow -0.0 that nothing was added to; anything else as it is."""
    return hollow(array) if is_hollow(array) else array
