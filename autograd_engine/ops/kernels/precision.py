"""Kernels that compute in a wider dtype than that of their operands, and round once at the end."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import result_type
from autograd_engine.core.spec import Array

__all__ = ["in_double"]


def in_double(function: Callable[..., Array]) -> Callable[..., Array]:
    """A kernel from a `function` of float64 arrays of one dimension and one shape.

    Special functions are computed in float64, whatever the dtype: one table of constants each. The
    kernel takes floating arrays that broadcast, and gives the dtype in which they meet. It never
    warns: what leaves the range of a dtype is infinite, what is outside the domain is NaN.
    """

    @functools.wraps(function)
    def kernel(*arrays: Array, **attrs: Any) -> Array:
        dtype = result_type(*arrays)
        spread = np.broadcast_arrays(*arrays)
        flat = [np.asarray(a, np.float64).reshape(-1) for a in spread]
        with np.errstate(all="ignore"):
            out = function(*flat, **attrs).astype(dtype, copy=False)
        return out.reshape(spread[0].shape)

    return kernel
