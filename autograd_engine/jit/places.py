"""A place: where a value was found that a program depends on, and whether it is still there."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any, Final

import numpy as np

from autograd_engine.core.locations import Location
from autograd_engine.eager.tensor import Tensor
from autograd_engine.program.ir.program import Variable

__all__ = ["ABSENT", "CLOSED_TYPES", "PLAIN_TYPES", "Place", "first_changed", "same_value"]

PLAIN_TYPES: Final = (bool, int, float, complex, str, bytes, type(None))
# What is looked into no further.
CLOSED_TYPES: Final = (*PLAIN_TYPES, Tensor, Variable, np.generic, CodeType)
ABSENT: Final = object()


def same_value(a: Any, b: Any) -> bool:
    """Whether two values are one to a program: plain ones are equal, others the same."""
    if a is b:
        return True
    if a.__class__ is not b.__class__ or not isinstance(a, (*PLAIN_TYPES, frozenset)):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (
            a == b and math.copysign(1.0, a) == math.copysign(1.0, b)
        )
    if isinstance(a, complex):
        return same_value(a.real, b.real) and same_value(a.imag, b.imag)
    return bool(a == b)


class Place:
    """Where a value was found: how to get at it, and what it was.

    Attributes
    ----------
    read : callable
    value : object
    label : str
        What messages call it.
    at : Location or None
        The first line that reads it.
    counted : bool
        Whether it is an attribute whose changes `core.change_counter` counts.
    used : bool
        Whether what code does depends on it.
    """

    __slots__ = ("at", "counted", "label", "read", "used", "value")

    def __init__(
        self,
        read: Callable[[], Any],
        label: str,
        at: Location | None,
        counted: bool = False,
    ) -> None:
        self.read = read
        self.label = label
        self.at = at
        self.counted = counted
        self.used = False
        self.value = self.now()

    def now(self) -> Any:
        try:
            return self.read()
        except (LookupError, AttributeError, ValueError, ReferenceError):
            return ABSENT  # not there: it must stay so

    def difference(self) -> str:
        """What it was, and what it is."""
        old, new = _shown(self.value), _shown(self.now())
        return f"was {old} and is {new}" if old != new else f"is another {old}"


def _shown(value: Any) -> str:
    if value is ABSENT:
        return "not there"
    if isinstance(value, PLAIN_TYPES) and not isinstance(value, bytes):
        return reprlib.repr(value)
    return type(value).__name__


def first_changed(places: list[Place]) -> Place | None:
    """The first place whose value is another one."""
    for place in places:
        now = place.now()
        if now is not place.value and not same_value(now, place.value):
            return place
    return None


def keys_kept(found: Mapping[Any, Any]) -> Callable[[], bool]:
    """Whether a mapping has the keys it has now, in their order."""
    keys = tuple(found)
    return lambda: tuple(found) == keys


def default(function: FunctionType, position: int) -> Any:
    return (function.__defaults__ or ())[position]


def keyword_default(function: FunctionType, name: str) -> Any:
    return (function.__kwdefaults__ or {})[name]


def own_attribute(value: Any, name: str) -> Any:
    return value.__dict__[name]


def elements_of(array: Any) -> Any:
    """What an array holds, as something that compares; where these are objects, the objects."""
    if isinstance(array, bytearray):
        return bytes(array)
    if array.dtype.hasobject:
        return frozenset(enumerate(map(id, array.ravel().tolist())))
    return f"{array.shape} {array.dtype.str}".encode() + array.tobytes()


def entry(mapping: Mapping[Any, Any], key: Any) -> Any:
    """Of a mapping that makes what it is asked for, and is not to make this."""
    if key not in mapping:
        raise KeyError(key)
    return mapping[key]
