"""What a traced function depends on besides its arguments, and whether that is as it was.

Guarded are the variables that the code of the function names, and of the functions of the user's
that it calls in turn: closure cells, globals, defaults, and the attributes of objects, classes and
modules found there that some of this code names (``self.training``, ``config.RATE``). Lists,
tuples, dicts, sets and arrays are looked into. Numbers, strings and other plain values must be
equal, of the same type; of arrays the elements; everything else, Tensors among it, must be the same
object. Code of the standard library, of NumPy and of the engine is not followed.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

from autograd_engine.core.change_counter import Edited, Edits
from autograd_engine.eager.tensor import Tensor
from autograd_engine.program.ir.program import Variable

__all__ = ["Guards", "same_value"]

_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None))
_CLOSED: Final = (*_PLAIN, Tensor, Variable, np.generic, CodeType)
_MOST: Final = 20_000
_GONE: Final = object()
# What an optimizer has for its learning rate, and how code asks for it.
_RATE: Final = frozenset({"_learning_rate", "_rate_was_set"})
_RATE_READERS: Final = frozenset({"get_lr", "state_dict", *_RATE})
# Code that uses one of these may name attributes in strings.
_BY_STRING: Final = frozenset({"getattr", "hasattr", "setattr", "vars", "__dict__", "globals"})


def same_value(a: Any, b: Any) -> bool:
    """Whether two values are one to a program: plain ones are equal, others the same."""
    if a is b:
        return True
    if a.__class__ is not b.__class__ or not isinstance(a, (*_PLAIN, frozenset)):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (
            a == b and math.copysign(1.0, a) == math.copysign(1.0, b)
        )
    if isinstance(a, complex):
        return same_value(a.real, b.real) and same_value(a.imag, b.imag)
    return bool(a == b)


class _Place:
    """Where a value was found: how to get at it, and what it was.

    `key` is that of the place among those of one function, where the function may write to it.
    """

    __slots__ = ("key", "label", "read", "value")

    def __init__(self, read: Callable[[], Any], value: Any, label: str, key: Any = None) -> None:
        self.read = read
        self.value = value
        self.label = label
        self.key = key

    def now(self) -> Any:
        try:
            return self.read()
        except (LookupError, AttributeError, ValueError, ReferenceError):
            return _GONE  # not there: it must stay so


class Guards:
    """Places that a function reads, with what was in them.

    Parameters
    ----------
    function : callable
    objects : sequence
        Objects that it is given, and that its program knows by identity.
    """

    def __init__(self, function: Any, objects: Sequence[Any] = ()) -> None:
        self._places: list[_Place] = []
        # Attributes of layers, of which there may be thousands: looked at when any was set.
        self._attributes: list[_Place] = []
        self._edits = Edits.latest
        self._seen: dict[int, Any] = {}
        self._names: set[str] = set()
        self._strings: set[str] = set()
        self._objects: list[tuple[Any, str, set[str]]] = []
        self._look_into(function, "self")
        for k, value in enumerate(objects):
            self._look_into(value, f"argument {k}")
        # What objects hold is looked into under the names that code uses, of which more is found
        # on the way.
        known = -1
        while known != (known := len(self._names) + len(self._strings) + len(self._objects)):
            for value, label, done in list(self._objects):
                self._object(value, label, done)

    def changed(self) -> str | None:
        """The first place whose value is another one; None where all are as they were."""
        latest = Edits.latest
        if latest != self._edits:
            label = _changed(self._attributes)
            if label is not None:
                return label
            self._edits = latest
        return _changed(self._places)

    def began_as(self, before: Guards) -> None:
        """Numbers that the function itself has changed are those that it began with.

        So a function that counts its calls is traced at each of them, which gives what it should.
        """
        every = [*before._places, *before._attributes]
        known = {p.key: p.value for p in every if p.key is not None}
        for place in (*self._places, *self._attributes):
            value = known.get(place.key, _GONE)
            if isinstance(value, _PLAIN) and isinstance(place.value, _PLAIN):
                place.value = value
        self._edits = -1

    def _add(self, owner: Any, name: Any, read: Callable[[], Any], label: str) -> None:
        place = _Place(read, None, label, (id(owner), name))
        place.value = place.now()
        counted = isinstance(owner, Edited) and name in owner.__dict__
        (self._attributes if counted else self._places).append(place)
        if place.value is not _GONE:
            self._look_into(place.value, label)

    # --- values

    def _look_into(self, value: Any, label: str) -> None:
        if isinstance(value, _CLOSED) or id(value) in self._seen or len(self._seen) > _MOST:
            return
        self._seen[id(value)] = value
        if isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, MethodType):
            self._look_into(value.__self__, "self")
            self._look_into(value.__func__, label)
        elif isinstance(value, functools.partial):
            self._look_into(value.args, f"args of {label}")
            self._look_into(value.keywords, f"keywords of {label}")
            self._look_into(value.func, label)
        elif isinstance(value, BuiltinMethodType):  # such as the append of a list
            self._look_into(value.__self__, label)
        elif isinstance(value, (staticmethod, classmethod)):
            self._look_into(value.__func__, label)
        elif isinstance(value, property):
            self._look_into(value.fget, label)
        elif isinstance(value, functools.cached_property):
            self._look_into(value.func, label)
        elif isinstance(value, (weakref.ref, ContextVar)):
            read: Any = value.get if isinstance(value, ContextVar) else value
            self._add(value, "value", read, f"the value of {label}")
        elif not self._collection(value, label):
            self._objects.append((value, label, set()))

    def _collection(self, value: Any, label: str) -> bool:
        """Look into the elements of what has some; whether that is all that it has."""
        if isinstance(value, (list, tuple, deque)):
            self._places.append(_Place(lambda: len(value), len(value), f"len({label})"))
            for k in range(len(value)):
                self._add(value, k, functools.partial(value.__getitem__, k), f"{label}[{k}]")
        elif isinstance(value, Mapping):
            keys = tuple(value)
            self._places.append(_Place(_Keys(value, keys), True, f"the keys of {label}"))
            for k in keys:
                self._add(value, k, functools.partial(value.__getitem__, k), f"{label}[{k!r}]")
        elif isinstance(value, (set, frozenset)):
            elements: Callable[[], Any] = functools.partial(frozenset, value)
            self._places.append(_Place(elements, elements(), label))
        elif isinstance(value, (np.ndarray, bytearray)):
            self._add(value, "elements", functools.partial(_elements, value), label)
        else:
            return False
        return type(value).__module__ in ("builtins", "collections", "numpy")

    # --- code

    def _function(self, function: FunctionType) -> None:
        self._look_into(getattr(function, "__wrapped__", None), function.__qualname__)
        code = function.__code__
        if _is_foreign(function.__module__):
            return
        label = function.__qualname__
        names = set(_names(code))
        self._names |= names
        if not _BY_STRING.isdisjoint(names):
            strings = set(_strings(code))
            self._strings |= strings
            names |= strings
        self._add(function, "__code__", lambda: function.__code__, f"the code of {label}")
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self._add(cell, name, functools.partial(_content, cell), f"{name} of {label}")
        module = function.__globals__
        for name in sorted(names & module.keys()):
            read = functools.partial(module.__getitem__, name)
            self._add(module, name, read, f"the global {name}")
        for name in sorted(names & sys.modules.keys()):  # imported by the function
            self._look_into(sys.modules[name], name)
        for k in range(len(function.__defaults__ or ())):
            read = functools.partial(_default, function, k)
            self._add(function, k, read, f"default {k} of {label}")
        for name in function.__kwdefaults__ or {}:
            read = functools.partial(_keyword, function, name)
            self._add(function, name, read, f"default {name} of {label}")
        if function.__dict__:
            self._objects.append((function, label, set()))

    # --- objects

    def _object(self, value: Any, label: str, done: set[str]) -> None:
        """Attributes of an object, a class or a module that the code names."""
        module = isinstance(value, ModuleType)
        own = value if isinstance(value, (type, ModuleType)) else type(value)
        home = own.__name__ if module else own.__module__
        foreign = _is_foreign(home)
        classes: list[type] = []
        if isinstance(own, type) and not foreign:
            classes = [c for c in own.__mro__ if not _is_foreign(c.__module__)]
        if not done:
            done.add("")
            self._behind(value, label)
            if isinstance(value, Edited):
                self._layer(value, label)
            if not isinstance(value, (type, ModuleType)) and _is_ours(home):
                self._state(value, label)
            for cls in classes:  # what operators, len, subscripts and calls run
                for name, member in list(vars(cls).items()):
                    making = isinstance(value, type) or name not in ("__init__", "__new__")
                    if name.startswith("__") and isinstance(member, FunctionType) and making:
                        self._look_into(member, f"{label}.{name}")
        if isinstance(value, type) and foreign:
            return
        # A program reads the rate of its optimizers at each call; other code may ask for it too.
        if not _RATE_READERS.isdisjoint(self._names | self._strings):
            for name in _RATE & getattr(value, "__dict__", {}).keys() - done:
                done.add(name)
                self._add(value, name, functools.partial(_own, value, name), f"{label}.{name}")
        for name in ({"forward"} | self._names | self._strings) - done:
            done.add(name)
            if module and foreign:
                if isinstance(held := vars(value).get(name), (list, set, Mapping)):
                    self._look_into(held, f"{label}.{name}")  # such as os.environ
            else:
                self._attribute(value, name, f"{label}.{name}", classes)

    def _attribute(self, value: Any, name: str, label: str, classes: Sequence[type]) -> None:
        slot = False
        found = [cls for cls in classes if name in vars(cls)]
        for cls in found:  # all of them, for a method may call that of a base
            read = functools.partial(_member, cls, name)
            self._add(cls, name, read, f"{cls.__qualname__}.{name}")
            slot = slot or inspect.ismemberdescriptor(vars(cls)[name])
        if slot:
            self._add(value, name, functools.partial(getattr, value, name), label)
        elif not isinstance(value, type) and (
            found or name in getattr(value, "__dict__", ()) or name in self._strings
        ):
            self._add(value, name, functools.partial(_own, value, name), label)

    def _behind(self, value: Any, label: str) -> None:
        """What stands in front of a function: a cache, or `to_static`."""
        from autograd_engine.jit.static_function import StaticFunction

        if isinstance(value, StaticFunction):
            self._look_into(value.dygraph_function, label)
        elif fronts := getattr(type(value), "stands_in_front_of", ()):
            for name in fronts:
                self._look_into(getattr(value, name), label)
        elif not isinstance(value, ModuleType):
            self._look_into(inspect.getattr_static(value, "__wrapped__", None), label)

    def _layer(self, value: Any, label: str) -> None:
        """What a layer holds under a name, and the hooks of its calls.

        The code of the engine is not followed, so of a class that inherits from one of its layers
        all plain attributes are looked at.
        """
        kinds = value._kinds
        self._attributes.append(_Place(_Keys(kinds, tuple(kinds)), True, f"what {label} holds"))
        for name in kinds:
            self._add(value, name, functools.partial(_own, value, name), f"{label}.{name}")
        for name in ("_forward_pre_hooks", "_forward_post_hooks"):
            self._look_into(getattr(value, name), f"{label}.{name}")
        own, *bases = type(value).__mro__
        if not _is_ours(own.__module__) and any(
            _is_ours(cls.__module__) and cls.__name__ != "Layer" and "forward" in vars(cls)
            for cls in bases
        ):
            self._state(value, label)

    def _state(self, value: Any, label: str) -> None:
        """What an object of the engine says, such as a learning rate, follows from plain values."""
        from autograd_engine.jit.static_function import StaticFunction

        if isinstance(value, StaticFunction):
            return
        for name, held in list(getattr(value, "__dict__", {}).items()):
            if name not in _RATE and (isinstance(held, _PLAIN) or _is_ours(type(held).__module__)):
                self._add(value, name, functools.partial(_own, value, name), f"{label}.{name}")


def _changed(places: list[_Place]) -> str | None:
    for place in places:
        now = place.now()
        if now is not place.value and not same_value(now, place.value):
            return place.label
    return None


class _Keys:
    """Whether a mapping has the keys it had, in their order."""

    __slots__ = ("_keys", "_mapping")

    def __init__(self, found: Mapping[Any, Any], keys: tuple[Any, ...]) -> None:
        self._mapping = found
        self._keys = keys

    def __call__(self) -> bool:
        return tuple(self._mapping) == self._keys


def _content(cell: Any) -> Any:
    return cell.cell_contents


def _default(function: FunctionType, position: int) -> Any:
    return (function.__defaults__ or ())[position]


def _keyword(function: FunctionType, name: str) -> Any:
    return (function.__kwdefaults__ or {})[name]


def _own(value: Any, name: str) -> Any:
    return value.__dict__[name]


def _member(cls: type, name: str) -> Any:
    return vars(cls)[name]


def _elements(array: Any) -> Any:
    """What an array holds, as something that compares; where these are objects, the objects."""
    if isinstance(array, bytearray):
        return bytes(array)
    if array.dtype.hasobject:
        return frozenset(enumerate(map(id, array.ravel().tolist())))
    return f"{array.shape} {array.dtype.str}".encode() + array.tobytes()


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Code, and that of the functions written inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _names(code: CodeType) -> Iterator[str]:
    for one in _codes(code):
        yield from one.co_names


def _strings(code: CodeType) -> Iterator[str]:
    """Strings in code that may name something."""
    for one in _codes(code):
        for constant in one.co_consts:
            for part in constant if isinstance(constant, (tuple, frozenset)) else (constant,):
                if isinstance(part, str) and part.isidentifier():
                    yield part


def _is_ours(module: Any) -> bool:
    return str(module).partition(".")[0] == _OURS


_OURS: Final = __name__.partition(".")[0]
_FOREIGN: Final = (sys.stdlib_module_names | {"numpy", _OURS}) - {"__main__"}


def _is_foreign(module: Any) -> bool:
    """Whether it is a module whose code depends on nothing that a program would change with."""
    return str(module).partition(".")[0] in _FOREIGN
