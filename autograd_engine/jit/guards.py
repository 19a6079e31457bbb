"""What a traced function depends on besides its arguments, and whether that is as it was.

Guarded are the variables that the code of the function names, and of the functions of the user's
that it names in turn: closure cells, globals, defaults, and the attributes of objects found there
that some of this code names (``self.training``, ``model.layers[0].weight``). Lists, tuples and
dicts are looked into. Numbers, strings and other plain values must be equal, of the same type;
everything else, Tensors among it, must be the same object. Modules and classes are not looked into.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

from autograd_engine.eager.tensor import Tensor
from autograd_engine.source import PACKAGE_DIR

__all__ = ["Guards", "same_value"]

_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None))
_MOST: Final = 20_000
_GONE: Final = object()


def same_value(a: Any, b: Any) -> bool:
    """Whether two values are one to a program: plain ones are equal, others the same."""
    if a is b:
        return True
    if a.__class__ is not b.__class__ or not isinstance(a, _PLAIN):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (
            a == b and math.copysign(1.0, a) == math.copysign(1.0, b)
        )
    return bool(a == b)


class _Place:
    """Where a value was found: how to get at it, and what it was."""

    __slots__ = ("label", "read", "value")

    def __init__(self, read: Callable[[], Any], value: Any, label: str) -> None:
        self.read = read
        self.value = value
        self.label = label


class Guards:
    """Places that a function reads, with what was in them.

    Parameters
    ----------
    function : callable
    """

    def __init__(self, function: Any) -> None:
        self._places: list[_Place] = []
        self._seen: dict[int, Any] = {}
        self._names: set[str] = set()
        self._objects: list[tuple[Any, str, set[str]]] = []
        self._callable(function, "self")
        # What objects hold is looked into under the names that code uses, of which more is found
        # on the way.
        known = -1
        while known != (known := len(self._names) + len(self._objects)):
            for value, label, done in list(self._objects):
                self._object(value, label, done)

    def changed(self) -> str | None:
        """The first place whose value is another one; None where all are as they were."""
        for place in self._places:
            try:
                now = place.read()
            except (LookupError, AttributeError, ValueError, ReferenceError):
                now = _GONE
            if now is not place.value and not same_value(now, place.value):
                return place.label
        return None

    def _add(self, read: Callable[[], Any], label: str) -> None:
        try:
            value = read()
        except (LookupError, AttributeError, ValueError):  # not there yet: it must stay so
            value = _GONE
        self._places.append(_Place(read, value, label))
        if value is not _GONE:
            self._look_into(value, label)

    def _look_into(self, value: Any, label: str) -> None:
        if (
            isinstance(value, (*_PLAIN, Tensor, np.ndarray, np.generic, ModuleType, type))
            or id(value) in self._seen
            or len(self._seen) > _MOST
        ):
            return
        if isinstance(value, (FunctionType, MethodType, functools.partial)):
            self._callable(value, label)
            return
        self._seen[id(value)] = value
        if isinstance(value, (list, tuple)):
            self._places.append(_Place(lambda: len(value), len(value), f"len({label})"))
            for k in range(len(value)):
                self._add(functools.partial(value.__getitem__, k), f"{label}[{k}]")
        elif isinstance(value, dict):
            keys = tuple(value)
            self._places.append(_Place(_Keys(value, keys), True, f"the keys of {label}"))
            for k in keys:
                self._add(functools.partial(value.__getitem__, k), f"{label}[{k!r}]")
        else:
            self._objects.append((value, label, set()))

    def _callable(self, value: Any, label: str) -> None:
        """A function, with the object that it is a method of, or an object that can be called."""
        while isinstance(value, functools.partial):
            for k, argument in enumerate((*value.args, *value.keywords.values())):
                self._look_into(argument, f"argument {k} of {label}")
            value = value.func
        if isinstance(value, MethodType):
            self._look_into(value.__self__, "self")
            value = value.__func__
        if isinstance(value, FunctionType):
            self._function(value)
            self._callable(getattr(value, "__wrapped__", None), label)
        elif value is not None:
            self._look_into(value, label)

    def _object(self, value: Any, label: str, done: set[str]) -> None:
        """Attributes of an object of the user's that the code names."""
        for name in (self._names | {"forward", "__call__"}) - done:
            done.add(name)
            method = inspect.getattr_static(type(value), name, None)
            if isinstance(method, property):
                method = method.fget
            if isinstance(method, FunctionType):
                self._function(method)
            elif name in getattr(value, "__dict__", ()):
                self._add(functools.partial(value.__dict__.__getitem__, name), f"{label}.{name}")
            elif inspect.ismemberdescriptor(method) or isinstance(method, _PLAIN[:-1]):
                self._add(functools.partial(getattr, value, name), f"{label}.{name}")

    def _function(self, function: FunctionType) -> None:
        if id(function) in self._seen or _is_ours(function.__code__):
            return
        self._seen[id(function)] = function
        label = function.__qualname__
        names = set(_names(function.__code__))
        self._names |= names
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            self._add(functools.partial(getattr, cell, "cell_contents"), f"{name} of {label}")
        module = function.__globals__
        for name in sorted(names & module.keys()):
            self._add(functools.partial(module.__getitem__, name), f"the global {name}")
        for k in range(len(function.__defaults__ or ())):
            self._add(functools.partial(_default, function, k), f"default {k} of {label}")
        for name in function.__kwdefaults__ or {}:
            self._add(functools.partial(_keyword, function, name), f"default {name} of {label}")


class _Keys:
    """Whether a dict has the keys it had, in their order."""

    __slots__ = ("_dict", "_keys")

    def __init__(self, found: dict[Any, Any], keys: tuple[Any, ...]) -> None:
        self._dict = found
        self._keys = keys

    def __call__(self) -> bool:
        return tuple(self._dict) == self._keys


def _default(function: FunctionType, position: int) -> Any:
    return (function.__defaults__ or ())[position]


def _keyword(function: FunctionType, name: str) -> Any:
    return (function.__kwdefaults__ or {})[name]


def _names(code: CodeType) -> Iterator[str]:
    """Names that code reads, functions written inside of it included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(PACKAGE_DIR)
