"""Complex numbers of no axes in rules: they stay arrays.

NumPy makes a scalar of each result without axes, and rounds the product of two complex scalars
otherwise than its ufuncs round that of arrays: with one rounding more, where a processor fuses
products with sums. A rule computes with operators on what it is given; recorded, or written out in
a program, each step of it is a call of a ufunc. So a pullback of complex operands hands its rules
arrays of a class of their own, of which NumPy makes no scalars, and what they return is made plain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dtypes import COMPLEX

__all__ = ["ZeroD", "kept", "plain"]


class ZeroD(np.ndarray[Any, Any]):
    """An array without axes whose results have none, and are arrays, too."""

    __slots__ = ()


def kept(value: Any) -> Any:
    """What a rule is given: complex numbers without axes as `ZeroD`."""
    if value.__class__ in (tuple, list):
        return value.__class__([kept(v) for v in value])
    if isinstance(value, (np.ndarray, np.generic)) and not value.ndim and value.dtype in COMPLEX:
        return np.asarray(value).view(ZeroD)
    return value


def plain(value: Any) -> Any:
    """The result of a rule as others take it."""
    return np.asarray(value) if value.__class__ is ZeroD else value
