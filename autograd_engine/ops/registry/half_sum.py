"""Sums of cotangents of 16 bits: added up in float32, and rounded once, when the last is there.

In float16 2048 + 1 is 2048. The sum of two is the same either way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dtypes import HALVES, DType, rounded, widened
from autograd_engine.ops.registry.scattered_cotangent import (
    Scattered,
    dense,
    iadd_scattered,
)

__all__ = ["HalfSum", "is_half"]


def is_half(g: Any) -> bool:
    """Whether `g` is of floats of 16 bits: an array or NumPy scalar, a Tensor, or `Scattered`."""
    dtype = getattr(g, "dtype", None)
    if dtype.__class__ is DType:
        dtype = dtype.dtype
    return dtype in HALVES


class HalfSum:
    """A sum that is not rounded yet; only who makes it sees it, so it grows in place.

    Attributes
    ----------
    dtype : np.dtype or DType
        Of the cotangents.
    total : ndarray or Scattered
        In float32.
    """

    __slots__ = ("dtype", "total")

    def __init__(self, first: Any) -> None:
        first = _finished(first)
        self.dtype = first.dtype
        self.total = _wide(first)

    @classmethod
    def of(cls, old: Any, new: Any) -> HalfSum:
        """The sum of what has arrived so far, one of these or a cotangent, and of a new one."""
        found = old if old.__class__ is HalfSum else cls(old)
        new = _finished(new)
        if new.__class__ is Scattered:
            found.total = iadd_scattered(found.total, new.astype("float32"))
        else:
            found.total += _wide(new)
        return found

    def rounded(self) -> Any:
        """The sum in their dtype, as `Scattered` where all of it is."""
        return _round(self.total, self.dtype)

    def dense(self) -> Any:
        """The sum in their dtype, written out."""
        return _round(dense(self.total), self.dtype)


def _wide(g: Any) -> Any:
    return widened(g) if g.__class__ is np.ndarray else g.astype("float32")


def _round(total: Any, dtype: Any) -> Any:
    return rounded(total, dtype) if total.__class__ is np.ndarray else total.astype(dtype)


def _finished(g: Any) -> Any:
    """`g`; a sum that somebody else has made, and left scattered, is rounded as any other."""
    return g.dense() if g.__class__ is Scattered and g.base is not None else g
