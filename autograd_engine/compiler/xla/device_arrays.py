"""Arrays on a device: state of a program, what it returns, and copies of what Tensors have.

An ndarray of a Tensor is never written to while anything else refers to it, if only weakly. So the
copy that a device has of one is good as long as that ndarray lives, and what was read of a device
need not be put there again.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence
from typing import Any, Final

import jax
import numpy as np

from autograd_engine.core.far_array import FarArray
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.spec import Array

__all__ = ["DeviceArray", "DeviceMemory", "fetch", "moving", "put", "shown", "state_of"]

moving: Final = renewed_lock()
"""Held from when a step is handed what it writes over until that holds what it has written."""


class DeviceArray(FarArray):
    """An array on a device, in whose place a step may put another.

    Attributes
    ----------
    value : jax.Array
    alone : bool
        Whether no more than one Tensor, or one optimizer's state, has it: a step may write to it.
    """

    __slots__ = ("_read", "alone", "value")

    def __init__(self, value: Any, alone: bool = False) -> None:
        self.value = value
        self.alone = alone
        self._read: weakref.ref[Array] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.value.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.value.dtype
        return dtype

    def shared(self) -> None:
        self.alone = False

    def read(self) -> Array:
        with moving, jax.enable_x64(True):
            array = None if self._read is None else self._read()
            if array is None:
                (array,) = fetch([self.value])
                self._read = _remember(array, self)
            return array

    def copied(self) -> Array:
        with moving, jax.enable_x64(True):
            return fetch([self.value])[0]

    def write(self, value: Any) -> None:
        """Put another jax.Array in its place; what was read is from now on no copy of it."""
        self.value = value
        if self._read is not None:
            array = self._read()
            self._read = None
            if array is not None:
                _copies.pop(id(array), None)


# By the id of an ndarray that is alive.
_copies: Final[dict[int, tuple[weakref.ref[Array], DeviceArray]]] = {}


# Likewise, what was handed over.
_met: Final[dict[int, weakref.ref[Array]]] = {}


def _remember(array: Array, far: DeviceArray) -> weakref.ref[Array]:
    found = weakref.ref(array, functools.partial(_forget, id(array)))
    _copies[id(array)] = found, far
    return found


def _forget(key: int, reference: Any) -> None:
    if key in _copies and _copies[key][0] is reference:
        del _copies[key]


def _copy_of(array: Array, device: Any) -> DeviceArray | None:
    """What a device has of the ndarray of a Tensor already."""
    known = _copies.get(id(array))
    if known is None or known[0]() is not array or known[1].value.device != device:
        return None
    return known[1]


def shown(array: Array | DeviceArray, device: Any) -> Any:
    """The array of a Tensor for a step that reads it.

    An ndarray is handed over as it is for the first time, which takes less time than to put it
    there: most batches come once. The second time it is put there, and stays.
    """
    if isinstance(array, DeviceArray):
        if array.value.device == device:
            return array.value
        return put(array.value, device)
    found = _copy_of(array, device)
    if found is not None:
        return found.value
    if array.base is not None or not array.flags.owndata:  # of others' memory nobody knows
        return array.copy()
    key = id(array)
    if key not in _met:
        _met[key] = weakref.ref(array, lambda _: _met.pop(key, None))
        return array
    found = DeviceArray(put(array, device))
    _remember(array, found)
    return found.value


def state_of(array: Array | DeviceArray, device: Any) -> DeviceArray:
    """The array of a Tensor for a step that writes to it."""
    if isinstance(array, DeviceArray):
        if array.alone and array.value.device == device:
            return array
        return DeviceArray(put(array.value, device), True)
    found = _copy_of(array, device)
    return found if found is not None and found.alone else DeviceArray(put(array, device), True)


class DeviceMemory:
    """One of the arrays of a step's state; see `program.scope_state.Memory`."""

    __slots__ = ("_at", "_cells", "_device")

    def __init__(self, cells: list[Any], at: int, device: Any) -> None:
        self._cells = cells
        self._at = at
        self._device = device

    @property
    def value(self) -> Any:
        """The jax.Array."""
        return self._cells[self._at]

    def read(self) -> Array:
        with jax.enable_x64(True):
            return fetch([self.value])[0]

    def write(self, array: Array) -> None:
        with jax.enable_x64(True):
            self._cells[self._at] = put(array, self._device)


def put(arrays: Any, device: Any) -> Any:
    """Copies on the device."""
    with jax.transfer_guard("allow"):  # they were asked for
        return jax.device_put(arrays, device, may_alias=False)


def fetch(arrays: Sequence[Any]) -> list[Array]:
    """Copies for the caller."""
    with jax.transfer_guard_device_to_host("allow"):  # they were asked for
        return [np.asarray(a).copy() for a in arrays]
