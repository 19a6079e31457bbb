"""What branches and loops do when a program runs, and operators on arrays of tensors.

The blocks inside them are functions of arrays by then. A stack is a list of arrays, one for each
iteration, in the order of the iterations whichever way a loop goes; the arrays may differ in shape.

An array of tensors is a list, too. Nothing writes to one that is there: each write makes another,
of the same elements, so all versions of it stand beside each other, as those of any variable do.
Where nothing was written yet there is None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from autograd_engine.core.spec import Array, Spec
from autograd_engine.ops.registry.symbolic_zero import hollow, is_hollow, without_sign

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
ARRAYS: Final = (
    "array_join",
    "array_length",
    "array_like",
    "array_new",
    "array_read",
    "array_sizes",
    "array_split",
    "array_write",
)


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
    if elements[0] is None:  # of an array that has nothing there
        return None
    # As `add_n` does: what stands for no gradient is not added.
    computed = [e for e in elements if not is_hollow(e)] or elements[:1]
    total = computed[0]
    for element in computed[1:]:
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


# --- arrays of tensors


def array_new() -> list[Any]:
    return []


def array_length(array: list[Any]) -> Array:
    return np.array([len(array)], np.int64)


def array_write(array: list[Any], x: Any, i: Any) -> list[Any]:
    """`x` in the place `i`; an array that is shorter becomes as long."""
    index = _index("array_write", i)
    made = [*array, *[None] * (index + 1 - len(array))]
    made[index] = x
    return made


def array_read(array: list[Any], i: Any) -> Any:
    index = _index("array_read", i)
    if index >= len(array):
        raise IndexError(
            f"array_read: i is {index}, and the array has {len(array)} "
            f"element{'s' * (len(array) != 1)}: write it first, or compare i with array_length"
        )
    if array[index] is None:
        raise IndexError(f"array_read: nothing was written to place {index} of the array")
    return array[index]


def _index(where: str, i: Any) -> int:
    if i.size != 1:
        raise ValueError(f"{where}: i must have one element, it has shape {list(i.shape)}")
    index = int(i.item())
    if index < 0:
        raise IndexError(f"{where}: i must not be negative, it is {index}")
    return index


def array_like(array: list[Any], like: list[Any]) -> list[Any]:
    """As many elements as `like` has; zeros that stand for no gradient where there are fewer."""
    rest = like[len(array) :]
    return [*array[: len(like)], *(None if e is None else hollow(e) for e in rest)]


def array_join(array: list[Any], *, axis: int, stack: bool) -> Array:
    if not array:
        raise ValueError("tensor_array_to_tensor: the array is empty; write to it first")
    for k, element in enumerate(array):
        if element is None:
            raise ValueError(f"tensor_array_to_tensor: nothing was written to place {k}")
    return np.stack(array, axis) if stack else np.concatenate(array, axis)


def array_split(x: Any, like: list[Any], *, axis: int, stack: bool) -> list[Any]:
    """What `array_join` has made `x` of, in the sizes of `like`."""
    if stack:
        return list(np.moveaxis(x, axis, 0))
    ends = np.cumsum([e.shape[axis] for e in like])[:-1]
    return list(np.split(x, ends, axis))


def array_sizes(array: list[Any], *, axis: int) -> Array:
    """The sizes along an axis; 1 where elements have no such axis, and are stacked along it."""
    sizes = [e.shape[axis] if axis < e.ndim else 1 for e in array]
    return np.array(sizes, np.int32)
