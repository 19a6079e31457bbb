"""What branches and loops do when a program runs.

The blocks inside them are functions of arrays by then. A stack is a list of arrays, one for each
iteration, in the order of the iterations whichever way a loop goes; the arrays may differ in shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from autograd_engine.core.spec import Array, Spec
from autograd_engine.ops import tensor_arrays
from autograd_engine.ops.registry.symbolic_zero import hollow, without_sign
from autograd_engine.ops.tensor_arrays import (
    array_join,
    array_length,
    array_like,
    array_new,
    array_read,
    array_sizes,
    array_split,
    array_write,
)

__all__ = [
    "ARRAYS",
    "absent",
    "add_stacks",
    "array_join",
    "array_length",
    "array_like",
    "array_new",
    "array_read",
    "array_sizes",
    "array_split",
    "array_write",
    "fill_stack",
    "hollow",
    "scan",
    "truth",
    "while_loop",
]

Values: TypeAlias = tuple[Any, ...]

# Those on arrays of tensors.
ARRAYS: Final = tuple(tensor_arrays.__all__)


def truth(condition: Array) -> bool:
    """The value of a condition."""
    if condition.size != 1:
        raise ValueError(
            f"the condition has {condition.size} elements, of shape {list(condition.shape)}, and "
            "must have one: reduce it with paddle.all or paddle.any"
        )
    return bool(condition.item())


def while_loop(
    condition: Callable[..., Values],
    body: Callable[..., Values],
    carried: Values,
    captured: Values,
    pushes: int,
) -> Values:
    """``while condition(*carried, *captured): carried = body(*carried, *captured)``

    Returns
    -------
    tuple
        What is carried in the end, how many iterations there were, and a stack of each of the
        last `pushes` results of the body.
    """
    stacks: list[list[Any]] = [[] for _ in range(pushes)]
    n, trips = len(carried), 0
    while truth(condition(*carried, *captured)[0]):
        results = body(*carried, *captured)
        carried = results[:n]
        for stack, value in zip(stacks, results[n:], strict=True):
            stack.append(value)
        trips += 1
    return (*carried, np.asarray(trips), *stacks)


def scan(
    body: Callable[..., Values],
    trips: Array,
    carried: Values,
    captured: Values,
    stacks: Sequence[list[Any]],
    pushes: int,
    reverse: bool,
    last: Sequence[bool],
) -> Values:
    """``carried = body(*carried, *captured, *elements)`` for the elements of each iteration.

    A stack that is read for the `last` time is taken apart on the way.
    """
    n, count = len(carried), int(trips)
    if not count:  # sums start at -0.0, which is not to be seen where nothing is added
        carried = tuple(map(_without_sign, carried))
    order = range(count - 1, -1, -1) if reverse else range(count)
    made: list[list[Any]] = [[None] * count for _ in range(pushes)]
    for t in order:
        elements = [stack[t] for stack in stacks]
        for stack, free in zip(stacks, last, strict=True):
            if free:
                stack[t] = None
        results = body(*carried, *captured, *elements)
        carried = results[:n]
        for k in range(pushes):
            made[k][t] = results[n + k]
    return (*carried, *made)


def _without_sign(value: Any) -> Any:
    return list(map(_without_sign, value)) if isinstance(value, list) else without_sign(value)


def add_stacks(*stacks: list[Any]) -> list[Any]:
    """Sums, element by element, from left to right."""
    return [_sum(elements) for elements in zip(*stacks, strict=True)]


def _sum(elements: Sequence[Any]) -> Any:
    if isinstance(elements[0], list):
        return add_stacks(*elements)
    total = elements[0]
    if total is None:  # of an array that has nothing there
        return None
    for element in elements[1:]:
        total = np.asarray(total + element)
    return total


def fill_stack(stack: list[Any], *, value: float) -> list[Any]:
    """That value in the place of every other."""
    return [_filled(element, value) for element in stack]


def _filled(element: Any, value: float) -> Any:
    if element is None:
        return None
    if isinstance(element, list):
        return fill_stack(element, value=value)
    return hollow(element, value)


def absent(*, shape: Sequence[int | None], dtype: str, stack: bool) -> Any:
    """What stands for a value of a branch that did not run: no element where a size is unknown."""
    if stack:
        return []
    return hollow(Spec(tuple(0 if d is None else d for d in shape), np.dtype(dtype)))
