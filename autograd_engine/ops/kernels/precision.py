"""Kernels that compute in a wider dtype than that of their operands, and round once at the end."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import FLOAT32, HALVES, result_type
from autograd_engine.core.spec import Array

__all__ = ["in_double", "in_single"]


def in_single(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel`, with float16 computed in float32."""

    def widened(a: Any) -> Any:
        return a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype in HALVES else a

    def rounded(a: Any, half: np.dtype[Any]) -> Any:
        a = np.asarray(a)
        return a.astype(half) if a.dtype == FLOAT32 else a

    @functools.wraps(kernel)
    def run(*arrays: Any, **attrs: Any) -> Any:
        half = next((a.dtype for a in arrays if a.dtype in HALVES), None)
        if half is None:
            return kernel(*arrays, **attrs)
        with np.errstate(over="ignore"):
            out = kernel(*map(widened, arrays), **attrs)
            return (
                tuple([rounded(a, half) for a in out])
                if isinstance(out, tuple)
                else rounded(out, half)
            )

    return run


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
