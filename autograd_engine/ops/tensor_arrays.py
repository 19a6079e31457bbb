"""What operators on arrays of tensors do when a program runs: such an array is a list.

Nothing writes to a list that is there: each write makes another one, of the same elements. So all
versions of an array stand beside each other, as those of any variable do. Elements may differ in
shape. Where nothing was written yet there is None.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.spec import Array
from autograd_engine.ops.registry.symbolic_zero import hollow

__all__ = [
    "array_join",
    "array_length",
    "array_like",
    "array_new",
    "array_read",
    "array_sizes",
    "array_split",
    "array_write",
]


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
