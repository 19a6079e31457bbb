"""Elementwise loops that round alike however their operands lie in memory.

NumPy has several loops for a function such as `log`. Which runs depends on the processor, and on
most of them also on whether the elements follow each other: vectors are computed by one routine,
elements with gaps between them or in reverse order by another, and the two differ in the last bit.
So the kernel of a row hands such a function elements that follow each other, in every mode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import FunctionType
from typing import Any, Final

import numpy as np
from numpy import ndarray

from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.compiled import LARGE, ROW, compiled

__all__ = ["EXACT", "rounded_alike", "steps_by_one", "ufunc_of"]

# Rounded as IEEE 754 says, or exact: the same bits in every loop.
EXACT: Final = frozenset(
    [
        np.absolute,
        np.add,
        np.bitwise_xor,
        np.divide,
        np.maximum,
        np.minimum,
        np.multiply,
        np.negative,
        np.sign,
        np.sqrt,
        np.square,
        np.subtract,
    ]
)


def rounded_alike(kernel: Any, row: str = "") -> Any:
    """`kernel`; if it is a ufunc that rounds as its loops do, on elements that follow each other.

    Readers that look for the ufunc of such a kernel find it with `ufunc_of`. As the kernel of a
    `row` with one operand it leaves large arrays to the C of that row.
    """
    if not isinstance(kernel, np.ufunc) or kernel in EXACT:
        return kernel
    ufunc, name = kernel, f"{ROW}{row}.kernel"
    least: float = LARGE if row else math.inf

    def unary(x: Array) -> Any:
        if x.size >= least and (loop := compiled(name, x)) is not None:
            return loop(x)
        return ufunc(x if x.flags.forc else _in_steps_by_one(x))

    def binary(x: Any, y: Any) -> Any:
        if x.__class__ is ndarray and not x.flags.c_contiguous:
            x = x.copy()
        if y.__class__ is ndarray and not y.flags.c_contiguous:
            y = y.copy()
        return ufunc(x, y)

    function: Any = unary if ufunc.nin == 1 else binary
    function.__name__ = function.__qualname__ = ufunc.__name__
    function.ufunc = ufunc
    function.asks_for_c = bool(row) and ufunc.nin == 1
    return function


def ufunc_of(kernel: Any) -> np.ufunc | None:
    """The ufunc that a kernel calls, and does nothing else."""
    if isinstance(kernel, FunctionType):
        kernel = vars(kernel).get("ufunc")
    return kernel if isinstance(kernel, np.ufunc) else None


def _in_steps_by_one(x: Array) -> Array:
    return x if steps_by_one(x.shape, x.strides, x.itemsize) else x.copy()


def steps_by_one(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether the innermost loop over an array that lies so meets one element after the other."""
    steps = [s for d, s in zip(shape, strides, strict=True) if d != 1]
    return not steps or (itemsize in steps and 0 not in steps)


def log_of_1_and(e: Array) -> Array:
    """log(1 + e) for e from 0 to 1.

    The logarithm of the rounded sum u, and what the rounding left out, e - (u - 1), to first order.
    NumPy computes logarithms several at a time, but log1p one by one.
    """
    u = e + 1.0
    return np.asarray(np.log(u) + (e - (u - 1.0)) / u)
