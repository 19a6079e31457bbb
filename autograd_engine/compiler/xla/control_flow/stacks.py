"""Stacks, and arrays of tensors.

An array whose places are known while it is traced is a list. One that is written to at places that
depend on values has memory for so many elements, and gets more as a loop does: see `loops`. What is
made of all of its elements has a size then that depends on values, which XLA has not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograd_engine.compiler.xla.memory import dtype_of, is_traced
from autograd_engine.compiler.xla.operators import block_operator, sum_of
from autograd_engine.compiler.xla.run import Run, XlaUnavailable
from autograd_engine.compiler.xla.values import (
    ABSENT,
    Every,
    MaybeHollow,
    Stack,
    TensorArray,
    as_tensor_array,
    common,
    conform,
    longer,
    nothing_like,
    opened,
    plain,
    split,
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
    if any(isinstance(v, (list, Stack, TensorArray)) for v in values):
        # All have the axes of iterations then, and are added at once.
        arrays = any(isinstance(v, TensorArray) for v in values)
        if not arrays:
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
    if isinstance(first, TensorArray):
        elements = _sum_of_stacks(run, [v.rows.elements[0] for v in values])
        written = first.rows.elements[1]
        return first._replace(rows=Stack([elements, written], first.rows.size))
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
    if isinstance(value, TensorArray):
        elements, written = value.rows.elements
        rows = Stack([_filled(elements, number, depth + 1), written], value.rows.size)
        return TensorArray(rows, value.length)
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


def _place(run: Run, i: Any) -> Any:
    if i.size != 1:
        raise XlaUnavailable(f"i must have one element, it has shape {list(i.shape)}")
    place = jnp.asarray(i).reshape(()).astype(np.int64)
    run.require(place >= 0)
    return place


def _read(run: Run, operator: Operator, array: Any, i: Any) -> Any:
    if isinstance(array, list) and not is_traced(i):
        return control_flow.array_read(array, i)
    (elements, written), size = as_tensor_array(array).rows
    if elements is ABSENT:
        raise XlaUnavailable("nothing was written to the array")
    place = _place(run, i)
    arrays, rebuilt = split([elements, written])
    rows = [lax.dynamic_index_in_dim(a, place, keepdims=False) for a in arrays]
    element, there = opened(rebuilt(rows))
    run.require(jnp.asarray(there) & (place < size))
    return element


def _write(run: Run, operator: Operator, array: Any, x: Any, i: Any) -> Any:
    if isinstance(array, list) and not is_traced(i):
        return control_flow.array_write(array, x, i)
    array, place, key = as_tensor_array(array), _place(run, i), id(operator)
    run.note(True, {key: place + 1})
    size = max(array.rows.size, run.limit(key))
    before = longer(array.rows, size).elements
    element = [x, True]
    of_all = jax.tree.map(lambda leaf: _row_outline(leaf, size), element)
    both = common(before, of_all, (size,))
    form = jax.tree.map(lambda leaf: _row_outline(leaf, size, True), both)
    rows, rebuilt = split(conform(before, form, (size,)))
    one = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), form)
    new, _ = split(conform(element, one))
    made = [lax.dynamic_update_index_in_dim(r, v, place, 0) for r, v in zip(rows, new, strict=True)]
    return TensorArray(Stack(rebuilt(made), size), jnp.maximum(array.length, place + 1))


def _row_outline(leaf: Any, size: int, stacked: bool = False) -> Any:
    """Shape and dtype of so many rows."""
    if isinstance(leaf, Every):
        leaf, stacked = leaf.value, False
    shape = np.shape(leaf)
    return jax.ShapeDtypeStruct(shape if stacked else (size, *shape), dtype_of(leaf))


def _length(run: Run, operator: Operator, array: Any) -> Any:
    if isinstance(array, list):
        return control_flow.array_length(array)
    return jnp.asarray(array.length).reshape(1)


def _like(run: Run, operator: Operator, array: Any, like: Any) -> Any:
    if isinstance(array, list) and isinstance(like, list):
        rest = like[len(array) :]
        return [*array[: len(like)], *(None if e is None else nothing_like(e) for e in rest)]
    array, like = as_tensor_array(array), as_tensor_array(like)
    zeros = _filled(like, 0.0)
    form = common(common(array, zeros), zeros)
    size = form.rows.size
    (elements, written), (nothing, before) = (
        conform(v, form).rows.elements for v in (array, zeros)
    )
    beyond = jnp.arange(size) >= array.length

    def chosen(other: Any, own: Any) -> Any:
        if isinstance(own, Every):
            return own
        return jnp.where(beyond.reshape(size, *[1] * (own.ndim - 1)), other, own)

    rows = jax.tree.map(chosen, [nothing, before], [elements, written])
    return TensorArray(Stack(rows, size), like.length)


def _join(run: Run, operator: Operator, array: Any, *, axis: int, stack: bool) -> Any:
    elements = [plain(v) for v in array]
    if not is_traced(elements) or None in elements:
        return control_flow.array_join(elements, axis=axis, stack=stack)
    return jnp.stack(elements, axis) if stack else jnp.concatenate(elements, axis)


def _split(run: Run, operator: Operator, x: Any, like: Any, *, axis: int, stack: bool) -> Any:
    if stack:
        return list(jnp.moveaxis(x, axis, 0))
    ends = np.cumsum([plain(e).shape[axis] for e in like])[:-1]
    return list(jnp.split(x, ends, axis))


def _sizes(run: Run, operator: Operator, array: Any, *, axis: int) -> Any:
    return control_flow.array_sizes([plain(e) for e in array], axis=axis)


# What is made of all elements together.
_OF_ALL: Final = ("array_join", "array_sizes", "array_split")

_ARRAYS: Final[dict[str, Callable[..., Any]]] = {
    "array_join": _join,
    "array_length": _length,
    "array_like": _like,
    "array_new": lambda run, operator: [],
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
    for value in given:
        if isinstance(value, Stack):
            raise XlaUnavailable("the array is one of a loop whose iterations are not written out")
        if isinstance(value, TensorArray) and op.kind in _OF_ALL:
            raise XlaUnavailable("how many elements the array has depends on values")
    try:
        return {0: _ARRAYS[op.kind](run, operator, *given, **operator.attrs)}
    except (IndexError, ValueError) as error:
        raise XlaUnavailable(str(error)) from error
