"""Stacks, and arrays of tensors: lists, whose lengths and places are known while they are traced.

Where a place depends on values, as that of a loop's counter does, the loop is written out iteration
by iteration, in which it is known.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from autograd_engine.compiler.xla.array_module import is_traced
from autograd_engine.compiler.xla.operators import block_operator, sum_of
from autograd_engine.compiler.xla.run import Run, XlaUnavailable
from autograd_engine.compiler.xla.values import (
    ABSENT,
    Every,
    MaybeHollow,
    Stack,
    common,
    conform,
    nothing_like,
    plain,
    stacked,
)
from autograd_engine.ops import control_flow
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import Operator

__all__: list[str] = []


@block_operator("add_stacks")
def add_stacks(
    run: Run, operator: Operator, operands: list[Any], asked: Collection[int]
) -> dict[int, Any]:
    return {0: _sum(run, operands)}


def _sum(run: Run, values: Sequence[Any]) -> Any:
    if all(isinstance(v, list) for v in values):
        return [_sum(run, elements) for elements in zip(*values, strict=True)]
    if any(isinstance(v, (list, Stack)) for v in values):
        # All have the axes of iterations then, and are added at once.
        values = [stacked(v) if isinstance(v, list) else v for v in values]
        form = functools.reduce(common, values[1:], values[0])
        return _sum_of_stacks(run, [conform(v, form) for v in values])
    if values[0] is None:  # of an array that has nothing there
        return None
    return sum_of(run, values)


def _sum_of_stacks(run: Run, values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, MaybeHollow):
        array = _sum_of_stacks(run, [v.array for v in values])
        return MaybeHollow(array, _all([v.hollow for v in values]))
    if isinstance(first, Stack):
        return Stack(_sum_of_stacks(run, [v.elements for v in values]), first.size)
    if isinstance(first, list):
        return [_sum_of_stacks(run, elements) for elements in zip(*values, strict=True)]
    if isinstance(first, Every):  # all are the same
        value = first
        depth = 0
        while isinstance(value, Every):
            value, depth = value.value, depth + 1
        found: Any = np.asarray(value * len(values), value.dtype)
        for _ in range(depth):
            found = Every(found)
        return found
    return functools.reduce(jnp.add, values)


def _all(flags: Sequence[Any]) -> Any:
    return flags[0] if isinstance(flags[0], Every) else functools.reduce(jnp.logical_and, flags)


@block_operator("fill_stack")
def fill_stack(
    run: Run, operator: Operator, operands: list[Any], asked: Collection[int]
) -> dict[int, Any]:
    return {0: _filled(operands[0], operator.attrs["value"])}


def _filled(value: Any, number: float, depth: int = 0) -> Any:
    """That value in the place of every other, in stacks of so many stacks."""
    if value is None or value is ABSENT:
        return value
    if isinstance(value, list):
        return [_filled(v, number, depth) for v in value]
    if isinstance(value, Stack):
        return Stack(_filled(value.elements, number, depth + 1), value.size)
    like = plain(value)
    for _ in range(depth):
        if isinstance(like, Every):
            like = like.value
        else:
            like = jax.ShapeDtypeStruct(like.shape[1:], like.dtype)
    found = nothing_like(like, number)
    for _ in range(depth):
        found = MaybeHollow(*map(Every, found))
    return found


# --- arrays of tensors


def _read(run: Run, array: Any, i: Any) -> Any:
    return control_flow.array_read(array, i)


def _write(run: Run, array: Any, x: Any, i: Any) -> Any:
    return control_flow.array_write(array, x, i)


def _like(run: Run, array: Any, like: Any) -> Any:
    rest = like[len(array) :]
    return [*array[: len(like)], *(None if e is None else nothing_like(e) for e in rest)]


def _join(run: Run, array: Any, *, axis: int, stack: bool) -> Any:
    elements = [plain(v) for v in array]
    if not is_traced(elements) or None in elements:
        return control_flow.array_join(elements, axis=axis, stack=stack)
    return jnp.stack(elements, axis) if stack else jnp.concatenate(elements, axis)


def _split(run: Run, x: Any, like: Any, *, axis: int, stack: bool) -> Any:
    if stack:
        return list(jnp.moveaxis(x, axis, 0))
    ends = np.cumsum([plain(e).shape[axis] for e in like])[:-1]
    return list(jnp.split(x, ends, axis))


def _sizes(run: Run, array: Any, *, axis: int) -> Any:
    return control_flow.array_sizes([plain(e) for e in array], axis=axis)


_ARRAYS: Final[dict[str, Callable[..., Any]]] = {
    "array_join": _join,
    "array_length": lambda run, array: control_flow.array_length(array),
    "array_like": _like,
    "array_new": lambda run: [],
    "array_read": _read,
    "array_sizes": _sizes,
    "array_split": _split,
    "array_write": _write,
}


@block_operator(*_ARRAYS)
def on_array(
    run: Run, operator: Operator, operands: list[Any], asked: Collection[int]
) -> dict[int, Any]:
    op = operator.op
    assert isinstance(op, BlockOp)
    # A place, and what is split, are read as arrays.
    given = [plain(o) if op.input_at(k) == "i" else o for k, o in enumerate(operands)]
    if op.kind == "array_split":
        given[0] = plain(given[0])
    for k, value in enumerate(given):
        if op.input_at(k) == "i" and is_traced(value):
            raise XlaUnavailable("the place in the array depends on values")
        if isinstance(value, Stack):
            raise XlaUnavailable("the array is one of a loop whose iterations are not written out")
    try:
        return {0: _ARRAYS[op.kind](run, *given, **operator.attrs)}
    except (IndexError, ValueError) as error:
        raise XlaUnavailable(str(error)) from error
