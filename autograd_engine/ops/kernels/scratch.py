"""Memory that a kernel needs while it runs."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["Scratch"]


class Scratch:
    """Arrays by name, given out again and again: new memory has to be mapped before it is used.

    Whoever takes an array under a name is done with what was taken under it before. One `Scratch`
    serves one thread at a time.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: dict[str, NDArray[np.uint8]] = {}

    def take(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """An array that holds anything, in C order."""
        dtype = np.dtype(dtype)
        nbytes = prod(shape) * dtype.itemsize
        memory = self._held.get(name)
        if memory is None or memory.size < nbytes:
            memory = self._held[name] = np.empty(nbytes, np.uint8)
        return np.ndarray(shape, dtype, memory)
