"""Arrays that lie where a backend keeps them, on a device say, and are read when asked for."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from autograd_engine.core.spec import Array

__all__ = ["FarArray", "FarState", "near"]


class FarArray:
    """An array that only a backend can compute with.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    """

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]: ...

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @abstractmethod
    def read(self) -> Array:
        """The values, as an ndarray that nobody writes to as long as another has it."""

    @abstractmethod
    def copied(self) -> Array:
        """The values, as an ndarray of the caller's own."""

    @abstractmethod
    def shared(self) -> None:
        """Note that more than one Tensor may have it: no step writes over it any more."""


def near(value: Any) -> Any:
    """The ndarray; whatever is no far array as it is."""
    return value.read() if isinstance(value, FarArray) else value


class FarState(list[Any]):
    """What an optimizer keeps for a parameter, some of it far arrays."""

    __slots__ = ()

    def copied(self) -> list[Array]:
        """As ndarrays of the caller's own."""
        return [a.copied() if isinstance(a, FarArray) else a.copy() for a in self]
