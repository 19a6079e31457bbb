"""What functions of NumPy that are written in Python do to axes, without what they take on top.

On small arrays these take longer than the element work: `np.take_along_axis`, `np.expand_dims`,
`np.flip`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from autograd_engine.core.spec import Array

__all__ = ["backwards", "line_key", "take_lines", "with_axes"]

Key = tuple[Any, ...]

_KEPT = 1 << 12  # sizes up to which keys are kept


def _lines(others: tuple[int, ...], axis: int) -> Key:
    """Each position on the axes other than `axis`, of these sizes, lying along its own axis."""
    ndim = len(others) + 1
    sizes = (*others[:axis], 0, *others[axis:])
    return tuple(
        np.arange(n).reshape([-1 if i == k else 1 for i in range(ndim)])
        for k, n in enumerate(sizes)
        if k != axis
    )


_kept_lines = lru_cache(maxsize=256)(_lines)


def line_key(index: Array, axis: int) -> Key:
    """The key with which an array is read, or written, at `index` on each line along `axis`."""
    shape = index.shape
    others = (*shape[:axis], *shape[axis + 1 :])
    found = (_kept_lines if sum(others) <= _KEPT else _lines)(others, axis)
    return (*found[:axis], index, *found[axis:])


def take_lines(x: Array, index: Array, axis: int) -> Array:
    """The elements at `index` on each line of `x` along `axis`: their other sizes are equal."""
    return np.asarray(x[line_key(index, axis)])


def with_axes(x: Array, axis: tuple[int, ...]) -> Array:
    """`np.expand_dims`, which takes as long as a reduction: mostly there is one axis to put in."""
    if x.__class__ is np.ndarray:
        shape = x.shape
        if not shape:
            return x.reshape((1,) * len(axis))
        if len(axis) == 1 and 0 <= (at := axis[0]) <= len(shape):
            return x.reshape(*shape[:at], 1, *shape[at:])
    return np.expand_dims(x, axis)


def backwards(x: Array, axis: int) -> Array:
    """A view of `x` with the elements along `axis` in reverse order."""
    return x[(*[slice(None)] * axis, slice(None, None, -1))]
