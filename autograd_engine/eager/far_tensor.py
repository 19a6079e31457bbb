"""Tensors whose array lies where a backend keeps it, until somebody asks for it.

Such a Tensor has a class of its own, derived from the one that it has otherwise: `_data` reads the
array, and the Tensor is then what it was. So nothing is spent on this where no Tensor is far.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from autograd_engine.core.far_array import FarArray
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor

__all__ = ["content", "place", "wrapped"]

_slot: Final[Any] = Tensor.__dict__["_data"]
_moving: Final = renewed_lock()  # a class and what is in the slot belong together


def content(tensor: Tensor) -> Array | FarArray:
    """The array of a Tensor, wherever it is."""
    found: Array | FarArray = _slot.__get__(tensor) if type(tensor) in _classes else tensor._data
    return found


def place(tensor: Tensor, array: Array | FarArray) -> None:
    """Let a Tensor have this array."""
    if array.__class__ is np.ndarray:
        tensor._data = array
        return
    cls: Any = type(tensor)
    if cls in _classes and _slot.__get__(tensor) is array:
        return
    with _moving:
        cls = type(tensor)
        _slot.__set__(tensor, array)
        if cls not in _classes:
            tensor.__class__ = _far(cls)


def wrapped(array: Array | FarArray) -> Tensor:
    """A Tensor around an array."""
    if array.__class__ is np.ndarray:
        return Tensor._wrap(array)
    made = Tensor._wrap(array)  # type: ignore[arg-type]
    made.__class__ = _far(Tensor)
    return made


def _read(self: Tensor) -> Array:
    with _moving:
        array = _slot.__get__(self)
        if isinstance(array, FarArray):
            array = array.read()
            _settle(self, array)
        found: Array = array
        return found


def _write(self: Tensor, array: Array) -> None:
    with _moving:
        _settle(self, array)


def _settle(tensor: Tensor, array: Array) -> None:
    _slot.__set__(tensor, array)
    cls: Any = type(tensor)
    if cls in _classes:
        tensor.__class__ = cls.__base__


_classes: Final[set[type]] = set()


@functools.cache
def _far(cls: type) -> type:
    """The class of Tensors of `cls` whose array is elsewhere."""
    members = {
        "__slots__": (),
        "__doc__": cls.__doc__,
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "_data": property(_read, _write),
        "_copied": getattr(cls, "_copied", None) or cls,
    }
    made = type(cls.__name__, (cls,), members)
    _classes.add(made)
    return made
