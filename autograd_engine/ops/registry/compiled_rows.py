"""Kernels and rules of elementwise rows that leave large arrays to C, where there is C.

Which one computes depends on the row, the dtype and the number of elements. The C is traced from
the kernel of the row (`compiler.kernels`), which stays what it was: readers find it by `in_numpy`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from autograd_engine.core.dtypes import BOOLS, FLOATS
from autograd_engine.ops.kernels.compiled import ROW, compiled

if TYPE_CHECKING:
    from autograd_engine.ops.registry.opdef import OpDef

__all__ = ["are_numbers", "left_to_c"]


def are_numbers(attrs: list[Any]) -> bool:
    """Whether these attributes can be operands of a loop."""
    return all(isinstance(v, (int, float)) for v in attrs)


def left_to_c(op: OpDef) -> Callable[..., Any] | None:
    """The kernel of a row with C for large arrays; None of what C has no part in.

    A ufunc, or an operator of Python's, has one step and needs none.
    """
    kernel = op.kernel
    changes = op.tangent == "elementwise" or (op.dtypes == "common" and op.tangent is not None)
    floats = op.dtypes == "floating" or (op.dtypes in ("any", "common") and changes)
    computes = op.elementwise and floats
    moves = op.casts or op.random or op.variadic or op.elements or op.result == "view"
    if not computes or moves or not isinstance(kernel, FunctionType) or "like" in op.inputs:
        return None
    if vars(kernel).get("asks_for_c"):
        return kernel
    name, names, gapless = f"{ROW}{op.name}.kernel", tuple(op.attrs), op.result == "contiguous"

    usual = len(op.inputs) <= 2 and not names

    def large(operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        x, y = operands[0], operands[-1]
        if usual and x.__class__ is ndarray is y.__class__ and x.dtype is y.dtype:
            run = compiled(name, x)
            if run is None:
                return kernel(*operands)
            return run(*map(np.ascontiguousarray, operands)) if gapless else run(*operands)
        like = next((v for v in operands if v.__class__ is ndarray and v.dtype in FLOATS), None)
        numbers = [attrs[n] if n in attrs else op.attrs[n] for n in names]
        if like is None or not are_numbers(numbers):
            return kernel(*operands, **attrs)
        run = compiled(name, like)
        kinds = [v.dtype for v in operands if isinstance(v, (ndarray, np.generic))]
        if run is None or not all(d is like.dtype or d in BOOLS for d in kinds):
            return kernel(*operands, **attrs)
        if gapless:
            operands = tuple([np.ascontiguousarray(v) for v in operands])
        return run(*operands, *numbers)

    form = _general if op.attrs else (_unary, _binary, _selection)[len(op.inputs) - 1]
    function: Any = wraps(kernel)(form(kernel, large, op.c_from))
    function.in_numpy = kernel
    return function  # type: ignore[no-any-return]


# Written out: on small arrays a loop over operands would cost more than all of the test.


def _unary(kernel: Callable[..., Any], large: Callable[..., Any], least: int) -> Callable[..., Any]:
    def unary(x: Any) -> Any:
        if x.size >= least:
            return large((x,), {})
        return kernel(x)

    return unary


def _binary(
    kernel: Callable[..., Any], large: Callable[..., Any], least: int
) -> Callable[..., Any]:
    def binary(x: Any, y: Any) -> Any:
        if (x.__class__ is ndarray and x.size >= least) or (
            y.__class__ is ndarray and y.size >= least
        ):
            return large((x, y), {})
        return kernel(x, y)

    return binary


def _selection(
    kernel: Callable[..., Any], large: Callable[..., Any], least: int
) -> Callable[..., Any]:
    def selection(condition: Any, x: Any, y: Any) -> Any:
        if condition.size >= least:  # a selection has the same bits in C and in NumPy
            return large((condition, x, y), {})
        return kernel(condition, x, y)

    return selection


def _general(
    kernel: Callable[..., Any], large: Callable[..., Any], least: int
) -> Callable[..., Any]:
    def general(*operands: Any, **attrs: Any) -> Any:
        for x in operands:
            if x.__class__ is ndarray and x.size >= least:
                return large(operands, attrs)
        return kernel(*operands, **attrs)

    return general
