"""Objects that a function gets at, and the places of theirs that it reads."""

from __future__ import annotations

import builtins
import functools
import importlib.util
import inspect
import operator
import os
import sys
import sysconfig
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from types import (
    BuiltinMethodType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any, Final

import numpy as np

from autograd_engine.core.change_counter import Counted
from autograd_engine.core.locations import Location
from autograd_engine.jit.code_reads import CLOSED, UNKNOWN, Frame, Value, names_of, step, strings_of
from autograd_engine.jit.outside_reads import OutsideRead, iterated, outside_attribute, outside_call
from autograd_engine.jit.places import (
    ABSENT,
    CLOSED_TYPES,
    PLAIN_TYPES,
    Place,
    default,
    elements_of,
    entry,
    keys_kept,
    keyword_default,
    own_attribute,
)

__all__ = ["MOST_PLACES", "FunctionFront", "ObjectReads"]

MOST_PLACES: Final = 20_000
# What an optimizer has for its learning rate, and how code asks for it.
_RATE: Final = frozenset({"_learning_rate", "_rate_was_set"})
_RATE_READERS: Final = frozenset({"get_lr", "state_dict", *_RATE})
# Code that uses one of these may name attributes in strings.
_BY_STRING: Final = frozenset(
    {"getattr", "hasattr", "setattr", "vars", "__dict__", "globals", "attrgetter", "methodcaller"}
)
# What the engine calls of objects that it is given.
_CALLED: Final = ("forward", "backward")
_SEQUENCES: Final = (list, tuple, deque)
_DICTS: Final = (dict, defaultdict, OrderedDict, Counter, MappingProxyType)
_ITEMS: Final = (*_SEQUENCES, *_DICTS)
_COLLECTIONS: Final = (*_ITEMS, set, frozenset)
_ARRAYS: Final = (np.ndarray, bytearray)
# Methods of collections that look at nothing in them.
_ADDING: Final = frozenset({"append", "appendleft", "extend", "insert", "add", "update"})


class FunctionFront:
    """What stands in front of a function, and calls it: what `to_static` returns."""

    dygraph_function: Any


class ObjectReads:
    """What a call of `function` reads.

    Attributes
    ----------
    places : dict
        By what tells them apart: the id of an object, and a name.
    beyond : str
        What is too large to be looked into, empty where nothing is.
    outside : dict
        Calls of clocks, files and the like, by where they are.
    """

    def __init__(self, function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        self.places: dict[Any, Place] = {}
        self.beyond = ""
        self.outside: dict[Any, OutsideRead] = {}
        self.at: Location | None = None
        self._labels: dict[int, str] = {}
        self._alive: list[Any] = []  # no id is taken twice
        self._frames: dict[int, Frame] = {}
        self._pending: dict[Frame, None] = {}
        self._all: dict[Frame, None] = {}
        # Keys of places that code writes objects to, which may be others when it reads them.
        self._written: set[Any] = set()
        self._set: set[str] = set()  # attributes of unknown values that code sets
        self._inside: dict[int, Value] = {}  # what collections hold
        self._handed_on: dict[int, tuple[Any, set[str]]] = {}
        self._seen: set[Any] = set()
        self._loose: dict[str, Location | None] = dict.fromkeys(_CALLED)  # read of unknown values
        self._names: set[str] = set()
        self._strings: set[str] = set()
        # Collections that are part of how arguments are nested: made anew for each call.
        self._nests: set[int] = set()
        self._current: Frame | None = None  # whose code is being looked at
        for value in (*args, *keywords.values()):
            self._nest(value)
        given = [self.of(v, f"argument {k}") for k, v in enumerate(args)]
        named = {k: self.of(v, f"argument {k}") for k, v in keywords.items()}
        self.hand_on(self.call(self.of(function, "self"), given, named))
        self._settle()

    def _nest(self, value: Any) -> None:
        if isinstance(value, (list, tuple, dict)):
            self._nests.add(id(value))
            for part in value.values() if isinstance(value, dict) else value:
                self._nest(part)

    def _settle(self) -> None:
        """Look at code again until it reads nothing new."""
        known = -1
        while True:
            while self._pending:
                frame = next(iter(self._pending))
                del self._pending[frame]
                self._current = frame
                step(frame, self)
            self._current = None
            if known == (known := len(self._seen) + len(self._loose) + len(self._strings)):
                return
            for value, done in list(self._handed_on.values()):
                self._read_loosely(value, done)
            known = -1 if self._pending else known

    # --- places

    def _found(
        self,
        owner: Any,
        name: Any,
        read: Callable[[], Any],
        label: str,
        counted: bool = False,
    ) -> Value:
        """What is in a place. A plain value is read when something sees it, others at once."""
        key = (id(owner), name)
        place = self.places.get(key)
        if place is None:
            place = Place(read, label, self.at, counted)
            if id(owner) not in self._nests:
                if len(self.places) >= MOST_PLACES:
                    self.beyond = self.beyond or label
                    return self.of(place.value, label)
                self.places[key] = place
                self._alive.append(owner)
        found = UNKNOWN if key in self._written else CLOSED
        if isinstance(place.value, PLAIN_TYPES):
            return found.joined(Value(pending=frozenset((key,))))
        place.used = True
        return found if place.value is ABSENT else found.joined(self.of(place.value, label))

    def read(self, value: Value) -> None:
        for key in value.pending:
            place = self.places.get(key)
            if place is not None:
                place.used = True

    def store(self, value: Value, places: Iterable[Any]) -> None:
        """A value goes to one of these places: what was computed from these alone is not seen."""
        keys = frozenset(places)
        self.hand_on(Value(value.objects, value.unknown, value.pending - keys))
        if not value.closed and not self._written >= keys:
            self._written |= keys
            self._pending |= self._all

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        for own in owner.objects.values():
            for cls in self._classes(own):
                held, setter = vars(cls).get(name), vars(cls).get("__setattr__")
                if isinstance(held, property) and held.fset is not None:
                    self.call(self.of(held.fset, name), [self.of(own), value], {})
                if isinstance(setter, FunctionType):
                    self.call(self.of(setter, name), [self.of(own), CLOSED, value], {})
        if owner.unknown:
            self._set.add(name)
            self._loose.setdefault(name, self.at)
        self.store(value, [(key, name) for key in owner.objects])

    def again(self, frame: Frame) -> None:
        self._pending[frame] = self._all[frame] = None

    # --- values

    def of(self, value: Any, label: str = "") -> Value:
        """An object as what an operand may be."""
        if isinstance(value, CLOSED_TYPES):
            return CLOSED
        key = _key(value)
        if isinstance(value, MethodType):
            self.of(value.__self__, "self")
        if key not in self._seen:
            self._seen.add(key)
            self._alive.append(value)
            self._labels.setdefault(id(value), label)
            self._meet(value)
        return Value({key: value})

    def _label(self, value: Any) -> str:
        return self._labels.get(id(value)) or type(value).__name__

    def _meet(self, value: Any) -> None:
        """What an object is guarded by wherever it occurs."""
        if isinstance(value, (type, ModuleType, FunctionType, MethodType, Frame)):
            return
        if isinstance(value, Counted):
            self._layer(value)
        elif _is_ours(type(value).__module__):
            self._state(value, None)
        elif any(_is_ours(cls.__module__) for cls in type(value).__mro__):
            classes = [cls for cls in type(value).__mro__ if _is_ours(cls.__module__)]
            self._state(value, {n for cls in classes for n in _names_of_class(cls)})

    def _layer(self, value: Any) -> None:
        """What a layer holds under a name, and the hooks of its calls.

        The code of the engine and of other libraries is not followed. So of their layers all plain
        attributes are looked at, and of a class that inherits from one of these those that their
        code names.
        """
        label, kinds = self._label(value), value._kinds
        self._whether(value, "kinds", keys_kept(kinds), f"what {label} holds", counted=True)
        held = [self._own(value, name) for name in kinds]
        for name in ("_forward_pre_hooks", "_forward_post_hooks"):
            hooks = getattr(value, name)
            self._whether(hooks, "keys", keys_kept(hooks), f"the keys of {label}.{name}")
            for hook in hooks.values():
                self.hand_on(self.of(hook, f"a hook of {label}"))
        foreign = [
            cls
            for cls in type(value).__mro__
            if is_foreign(cls.__module__) and cls.__name__ != "Layer" and "forward" in vars(cls)
        ]
        if is_foreign(type(value).__module__):
            self._state(value, None)
        elif foreign:
            self._state(value, {"training", *(n for cls in foreign for n in _names_of_class(cls))})
        if foreign:
            for one in held:
                self.hand_on(one)

    def _state(self, value: Any, names: set[str] | None) -> None:
        """What an object of the engine says, such as a learning rate, follows from plain values."""
        if isinstance(value, FunctionFront):
            return
        for name, held in list(_dict_of(value).items()):
            if name in _RATE or (names is not None and name not in names):
                continue
            if isinstance(held, PLAIN_TYPES) or _is_ours(type(held).__module__):
                self.read(self._own(value, name))

    def _own(self, value: Any, name: str) -> Value:
        """An attribute of the object itself."""
        read = functools.partial(own_attribute, value, name)
        counted = isinstance(value, Counted)
        return self._found(value, name, read, f"{self._label(value)}.{name}", counted)

    def _whether(
        self, owner: Any, name: str, read: Callable[[], Any], label: str, counted: bool = False
    ) -> None:
        """Something about an object that is as it was, or not."""
        key = (id(owner), (name,))
        if key not in self.places:
            self.places[key] = Place(read, label, self.at, counted)
            self.places[key].used = True
            self._alive.append(owner)

    # --- variables

    def variable(self, frame: Frame, name: str) -> Value:
        if name.startswith("@"):  # written into the code by a tool, such as pytest for `assert`
            return CLOSED
        self._prepare(frame)
        if name in frame.module:
            read = functools.partial(frame.module.__getitem__, name)
            return self._found(frame.module, name, read, f"the global {name}")
        found = UNKNOWN if (id(frame.module), name) in self._written else CLOSED
        return found.joined(self.of(getattr(builtins, name, None), name))

    def _prepare(self, frame: Frame) -> None:
        """Where code names attributes in strings, they are names as well."""
        code = frame.code
        if ("code", code) in self._seen:
            return
        self._seen.add(("code", code))
        names = set(names_of(code))
        self._names |= names
        if _BY_STRING.isdisjoint(names):
            return
        strings = set(strings_of(code))
        self._strings |= strings
        for name in sorted(strings):
            self._loose.setdefault(name, self.at)
            if name in frame.module and not name.startswith("@"):
                self.hand_on(self.variable(frame, name))

    def cell(self, frame: Frame, name: str) -> Value:
        cell = frame.cells.get(name)
        if cell is None:
            return CLOSED
        label = f"{name} of {_qualified(frame)}"
        return self._found(cell, name, lambda: cell.cell_contents, label)

    def imported(self, frame: Frame, name: str, level: int) -> Value:
        if level:
            package = frame.module.get("__package__") or ""
            name = importlib.util.resolve_name("." * level + name, package)
        found = CLOSED
        for part in (name.partition(".")[0], name):
            found = found.joined(self.of(sys.modules.get(part), part))
        return found

    # --- attributes

    def attribute(self, value: Value, name: str) -> Value:
        self._names.add(name)
        if value.unknown:
            self._loose.setdefault(name, self.at)
        elif value.closed:
            return Value(pending=value.pending)
        self.read(value)
        for one in value.objects.values():
            self._outside(outside_attribute(one, name, self.at))
        return _of_each(value, lambda one: self._attribute(one, name))

    def _attribute(self, value: Any, name: str) -> Value:
        if isinstance(value, ModuleType):
            if not is_foreign(value.__name__):
                found = self._own(value, name)
                if name not in vars(value) and "__getattr__" in vars(value):
                    found = found.joined(self.of(getattr(value, name, None), name))
                return found
            held = vars(value).get(name)
            if isinstance(held, (list, set, Mapping)):
                self.hand_on(self.of(held, f"{self._label(value)}.{name}"))  # such as os.environ
            return self.of(held, f"{self._label(value)}.{name}")
        if isinstance(value, (Frame, np.ndarray, bytearray, ContextVar, weakref.ref)):
            return self._used(value)
        if isinstance(value, _COLLECTIONS) and type(value).__module__ in (
            "builtins",
            "collections",
        ):
            known = name in _ADDING or (name == "get" and type(value) in _DICTS)
            method = getattr(value, name, None) if known else None
            if isinstance(method, BuiltinMethodType):
                return self.of(method, self._label(value))
            inside = self.elements(Value({id(value): value}))
            self.hand_on(inside)
            return CLOSED if inside.closed else UNKNOWN
        return self._of_object(value, name)

    def _of_object(self, value: Any, name: str, *, loosely: bool = False) -> Value:
        """An attribute of an object or a class, under the name that some code has.

        Read loosely, it is one only where the object, or a class of the user's, has it.
        """
        classes = self._classes(value)
        mine = [cls for cls in classes if name in vars(cls)]
        found, slot = CLOSED, False
        if any("__getattribute__" in vars(cls) for cls in classes):
            found = self._used(value)
        for cls in mine:  # all of them, for a method may call that of a base
            label = f"{cls.__qualname__}.{name}"
            raw = self._found(cls, name, functools.partial(own_attribute, cls, name), label)
            slot = slot or inspect.ismemberdescriptor(vars(cls)[name])
            found = found.joined(self._bound(value, name, raw, vars(cls)[name]))
        if slot:
            read = functools.partial(getattr, value, name)
            slotted = self._found(value, name, read, f"{self._label(value)}.{name}")
            found = found.joined(slotted)
        elif isinstance(value, type):
            if not mine and not loosely:
                found = self._used(value)
        elif mine or name in _dict_of(value) or name in self._strings:
            found = found.joined(self._own(value, name))
        elif not loosely:
            found = self._of_library(value, name)
        return found

    def _classes(self, value: Any) -> list[type]:
        """Those of the user's that an object has its attributes from."""
        own = value if isinstance(value, type) else type(value)
        return [cls for cls in own.__mro__ if not is_foreign(cls.__module__)]

    def _bound(self, value: Any, name: str, raw: Value, held: Any) -> Value:
        """What is found in a class, as an attribute of `value`."""
        if isinstance(held, staticmethod):
            return self.of(held.__func__, name)
        if isinstance(held, classmethod):
            cls = value if isinstance(value, type) else type(value)
            self.of(cls, cls.__qualname__)
            return self.of(MethodType(held.__func__, cls))
        if isinstance(value, type):
            return raw
        if isinstance(held, FunctionFront):
            held = _wrapped(held)
        if isinstance(held, FunctionType):
            return self.of(MethodType(held, value))
        if isinstance(held, property) and held.fset is not None and name in self._set:
            self.hand_on(self.of(MethodType(held.fset, value)))
        if isinstance(held, (property, functools.cached_property)) and _getter(held) is not None:
            return self.call(self.of(_getter(held), name), [self.of(value)], {})
        if inspect.ismemberdescriptor(held):
            return CLOSED
        if hasattr(type(held), "__get__"):
            self.hand_on(raw)
            return self._used(value)
        return raw

    def _of_library(self, value: Any, name: str) -> Value:
        """An attribute that no class of the user's has, nor the object."""
        held = inspect.getattr_static(type(value), name, None)
        if isinstance(held, FunctionType):
            return self.of(MethodType(held, value))
        if not _is_ours(type(value).__module__) and is_installed(type(value).__module__):
            return self._computed(value, name)
        if held is None:
            dynamic = inspect.getattr_static(type(value), "__getattr__", None)
            if isinstance(dynamic, FunctionType) and not is_foreign(_home(dynamic)):
                self._own(value, name)
                self._of_object(value, "__getattr__")
                args = [self.of(value), CLOSED]
                return self.call(self.of(dynamic, "__getattr__"), args, {})
            if dynamic is None:
                return self._own(value, name)  # it is not there, and must stay so
        return self._used(value)

    def _computed(self, value: Any, name: str) -> Value:
        """What an object of another library says, such as a configuration, by code of its own."""

        def read() -> Any:
            try:
                return getattr(value, name)
            except Exception as error:
                raise AttributeError(name) from error

        first, second = Place(read, name, None).value, Place(read, name, None).value
        self._hand_on(value)
        if first is second or isinstance(first, PLAIN_TYPES):
            return self._found(value, name, read, f"{self._label(value)}.{name}")
        return UNKNOWN.joined(self.of(first, f"{self._label(value)}.{name}"))

    # --- collections

    def item(self, value: Value, key: Value) -> Value:
        if value.closed:
            return Value(pending=value.pending)
        return _of_each(value, lambda one: self._item(one, key.constant))

    def _item(self, value: Any, key: Any) -> Value:
        if isinstance(value, _ARRAYS):
            return self._contents(value)
        if type(value) not in _ITEMS:
            return self._used(value)
        if not isinstance(key, PLAIN_TYPES) or (type(value) in _SEQUENCES and type(key) is not int):
            return self._elements(value)
        found = UNKNOWN if (id(value), "elements") in self._written else CLOSED
        return found.joined(self._element(value, key))

    def _element(self, value: Any, key: Any) -> Value:
        makes = isinstance(value, (defaultdict, Counter))  # what it is asked for, where it is not
        read = functools.partial(entry if makes else operator.getitem, value, key)
        return self._found(value, ("item", key), read, f"{self._label(value)}[{key!r}]")

    def _contents(self, array: Any) -> Value:
        label = f"the elements of {self._label(array)}"
        if isinstance(array, np.ndarray) and array.dtype.hasobject:
            for one in array.ravel().tolist():
                self._hand_on(one)
            self._whether(array, "elements", functools.partial(elements_of, array), label)
            return UNKNOWN
        return self._found(array, "elements", functools.partial(elements_of, array), label)

    def elements(self, value: Value) -> Value:
        """Those of a collection, which are all read."""
        self.read(value)
        return _of_each(
            value,
            lambda one: self._elements(one) if isinstance(one, _COLLECTIONS) else self._used(one),
        )

    def _elements(self, value: Any) -> Value:
        found = self._inside.get(id(value))
        if found is None:
            found = self._inside[id(value)] = self._look_inside(value)
        return UNKNOWN.joined(found) if (id(value), "elements") in self._written else found

    def _look_inside(self, value: Any) -> Value:
        label = self._label(value)
        keyed = isinstance(value, Mapping)
        if len(self.places) + len(value) > MOST_PLACES:
            self.beyond = self.beyond or label
            read = functools.partial(len, value)
            self._whether(value, "size", read, f"len({label})")
            return UNKNOWN
        if isinstance(value, (set, frozenset)):
            self._whether(value, "elements", functools.partial(frozenset, value), label)
            found = CLOSED
            for part in list(value):
                found = found.joined(self.of(part, f"an element of {label}"))
            return found
        if id(value) not in self._nests:
            if keyed:
                self._whether(value, "keys", keys_kept(value), f"the keys of {label}")
            else:
                size = functools.partial(len, value)
                self.read(self._found(value, ("size",), size, f"len({label})"))
        found = CLOSED
        objects: dict[Any, Any] = {}
        for key in tuple(value) if keyed else range(len(value)):
            one = self._element(value, key)
            self.read(one)
            if keyed:
                objects |= self.of(key, f"a key of {label}").objects
            objects |= one.objects
            found = UNKNOWN if one.unknown else found
        return found.joined(Value(objects))

    # --- calls

    def call(self, callee: Value, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        given = [*args, *keywords.values()]
        for value in given:
            self.read(value)
        closed = all(v.closed for v in given)
        self.read(callee)
        found = _of_each(callee, lambda one: self._call(one, args, keywords))
        if callee.unknown or callee.closed:  # such as a method of a Tensor
            for value in given:
                self.hand_on(value)
            found = found if closed else UNKNOWN.joined(found)
        return found

    def iterate(self, value: Value) -> Value:
        self._outside(iterated(value, self.at))
        return self.elements(value)

    def _outside(self, read: OutsideRead | None) -> None:
        if read is not None and read.at is not None:
            self.outside.setdefault((read.at.code, read.at.instruction, read.what), read)

    def _call(self, callee: Any, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        self._outside(outside_call(callee, args, keywords, self.at))
        if isinstance(callee, Frame):
            return self._call_frame(callee, args, keywords)
        if isinstance(callee, MethodType):
            own = self.of(callee.__self__, "self")
            return self._call(callee.__func__, [own, *args], keywords)
        if isinstance(callee, functools.partial):
            first = [self.of(v, self._label(callee)) for v in callee.args]
            self._partial(callee)
            named = {k: self.of(v, k) for k, v in callee.keywords.items()}
            function = self.of(callee.func, self._label(callee))
            return self.call(function, [*first, *args], {**named, **keywords})
        if isinstance(callee, FunctionType) and not is_foreign(_home(callee)):
            return self._call_frame(self._frame(callee), args, keywords)
        if isinstance(callee, (operator.attrgetter, operator.itemgetter, operator.methodcaller)):
            return self._get(callee, args)
        if callee is super:
            return self._super(args)
        wrapped = _wrapped(callee)
        if wrapped is not None:
            return self.call(self.of(wrapped, self._label(callee)), args, keywords)
        if isinstance(callee, weakref.ref):
            return self._referred(callee)
        if _is_function(callee):
            return self._call_library(callee, [*args, *keywords.values()])
        return self._call_object(callee, args, keywords)

    def _get(self, getter: Any, args: Sequence[Value]) -> Value:
        """What one of the getters of the module `operator` takes of its argument."""
        maker, names, *_ = getter.__reduce__()
        owner = args[0] if args else CLOSED
        if isinstance(getter, operator.methodcaller):
            named: Mapping[str, Any] = {}
            if isinstance(maker, functools.partial):  # it was made with keywords
                names, named = maker.args, maker.keywords
            label = self._label(getter)
            given = [self.of(v, label) for v in names[1:]]
            keywords = {k: self.of(v, label) for k, v in named.items()}
            return self.call(self.attribute(owner, names[0]), given, keywords)
        found = CLOSED
        for name in names:
            if isinstance(getter, operator.itemgetter):
                found = found.joined(self.item(owner, Value(constant=name)))
            else:
                parts = name.split(".")
                found = found.joined(functools.reduce(self.attribute, parts, owner))
        return found

    def _call_library(self, callee: Any, given: Sequence[Value]) -> Value:
        """A function of a library, which may call what it is given, and return any of it."""
        owner = getattr(callee, "__self__", None)
        if isinstance(owner, (*_ITEMS, set)) and callee.__name__ in _ADDING:
            for value in given:
                self.store(value, [(id(owner), "elements")])
            return CLOSED
        if type(owner) in _DICTS and callee.__name__ == "get" and given:
            self.hand_on(given[0])
            return functools.reduce(Value.joined, given[1:], self._item(owner, given[0].constant))
        for value in given:
            self.hand_on(value)
        self._hand_on(callee)
        if not all(v.closed or _are_plain_layers(v) for v in given):
            return UNKNOWN
        if owner is not None and not isinstance(owner, ModuleType):
            return UNKNOWN  # of an object
        module = _root(getattr(callee, "__module__", None) or type(callee).__module__)
        if module == "builtins":
            return CLOSED if getattr(callee, "__name__", "") in _MAKE_PLAIN else UNKNOWN
        return CLOSED if module in _WITHOUT_OBJECTS else UNKNOWN

    def _call_object(
        self, callee: Any, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value:
        found = CLOSED
        self._behind(callee)
        for hooked in ("_forward_pre_hooks", "_forward_post_hooks"):
            if _dict_of(callee).get(hooked):
                for value in (*args, *keywords.values()):
                    self.hand_on(value)
                found = UNKNOWN
        called = inspect.getattr_static(type(callee), "__call__", None)
        mine = isinstance(called, FunctionType) and not is_foreign(_home(called))
        forward = inspect.getattr_static(callee, "forward", None)
        name = "__call__" if mine or forward is None else "forward"
        method = self._of_object(callee, name)
        if not mine and name == "__call__":
            self._hand_on(callee)
        return found.joined(self.call(method, args, keywords))

    def _call_frame(
        self, frame: Frame, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value:
        frame.bind(args, keywords, self)
        if frame.generates:
            for value in (*args, *keywords.values()):
                self.hand_on(value)
            return UNKNOWN
        if self._current is not None:
            frame.users[self._current] = None
        elif not frame.open:  # its results are those of the function that is traced
            frame.open = True
            self.again(frame)
        return frame.returns

    def _super(self, args: Sequence[Value]) -> Value:
        if len(args) > 1:
            return args[1]
        frame = self._current
        while frame is not None and not frame.code.co_argcount:
            frame = frame.outer
        return CLOSED if frame is None else frame.variables.get(frame.code.co_varnames[0], CLOSED)

    def _referred(self, reference: Any) -> Value:
        return self._found(reference, "value", reference, f"the value of {self._label(reference)}")

    def _frame(self, function: FunctionType) -> Frame:
        frame = self._frames.get(id(function))
        if frame is None:
            code = function.__code__
            cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
            frame = Frame(code, function.__globals__, cells)
            self._frames[id(function)] = frame
            self._alive.append(function)
            self._prepare(frame)
            label = function.__qualname__
            self._labels[id(frame)] = label
            self._found(function, "__code__", lambda: function.__code__, f"the code of {label}")
            self._defaults(function, frame)
            self.again(frame)
        return frame

    def _defaults(self, function: FunctionType, frame: Frame) -> None:
        code, label = function.__code__, function.__qualname__
        count = len(function.__defaults__ or ())
        for k in range(count):
            read: Any = functools.partial(default, function, k)
            value = self._found(function, k, read, f"default {k} of {label}")
            frame.put(code.co_varnames[code.co_argcount - count + k], value, self)
        for name in function.__kwdefaults__ or {}:
            read = functools.partial(keyword_default, function, name)
            value = self._found(function, ("default", name), read, f"default {name} of {label}")
            frame.put(name, value, self)

    def _partial(self, value: Any) -> Value:
        """The arguments that it holds."""
        label = self._label(value)
        args = self.elements(self.of(value.args, f"args of {label}"))
        return args.joined(self.elements(self.of(value.keywords, f"keywords of {label}")))

    # --- what is handed on

    def hand_on(self, value: Value) -> None:
        self.read(value)
        for one in list(value.objects.values()):
            self._hand_on(one)

    def _used(self, value: Any) -> Value:
        """What an instruction of unknown effect makes of an object."""
        self._hand_on(value)
        return CLOSED if isinstance(value, _ARRAYS) else UNKNOWN

    def _hand_on(self, value: Any) -> None:
        """Anything may be done with an object."""
        key = _key(value)
        if key in self._handed_on or isinstance(value, CLOSED_TYPES):
            return
        self.of(value, self._label(value))
        self._handed_on[key] = (value, set())
        self._seen.add(("handed on", key))
        if isinstance(value, Frame):
            self._open(value)
        elif isinstance(value, FunctionType):
            self._hand_on(_wrapped(value))
            if not is_foreign(_home(value)):
                self._open(self._frame(value))
        elif isinstance(value, MethodType):
            own, function = value.__self__, value.__func__
            if isinstance(function, FunctionType) and not is_foreign(_home(function)):
                self._open(self._frame(function), self.of(own, "self"))
            else:
                self._hand_on(own)
                self._hand_on(function)
        elif isinstance(value, functools.partial):
            self.hand_on(self._partial(value))
            self._hand_on(value.func)
        elif isinstance(value, BuiltinMethodType):  # such as the append of a list
            if not isinstance(value.__self__, ModuleType):
                self._hand_on(value.__self__)
        elif isinstance(value, (staticmethod, classmethod)):
            self._hand_on(value.__func__)
        elif isinstance(value, (property, functools.cached_property)):
            self._hand_on(_getter(value))
        elif isinstance(value, ContextVar):
            read = value.get
            label = f"the value of {self._label(value)}"
            self.hand_on(self._found(value, "value", read, label))
        elif isinstance(value, weakref.ref):
            self.hand_on(self._referred(value))
        elif isinstance(value, _ARRAYS):
            self.read(self._contents(value))
        else:
            if isinstance(value, (*_SEQUENCES, set, frozenset, Mapping)):
                self.hand_on(self._elements(value))
            self._hand_on_object(value)

    def _open(self, frame: Frame, *own: Value) -> None:
        """Anything may call it, with anything for what comes after its own arguments."""
        frame.bind(own, {}, self)
        frame.open_to_all(self, len(own))
        self.hand_on(frame.returns)

    def _hand_on_object(self, value: Any) -> None:
        """What operators, `len`, subscripts and calls run."""
        self._behind(value)
        if isinstance(value, ModuleType):
            return
        for name in getattr(value, "_kinds", ()) if isinstance(value, Counted) else ():
            self.hand_on(self._own(value, name))
        for cls in self._classes(value):
            for name, held in list(vars(cls).items()):
                making = isinstance(value, type) or name not in ("__init__", "__new__")
                if name.startswith("__") and isinstance(held, FunctionType) and making:
                    if isinstance(value, type):
                        self._hand_on(held)
                    else:
                        self._hand_on(MethodType(held, value))

    def _behind(self, value: Any) -> None:
        """What stands in front of a function: a cache, or `to_static`."""
        fronts = getattr(type(value), "stands_in_front_of", ())
        for behind in [getattr(value, name) for name in fronts] or [_wrapped(value)]:
            self.hand_on(self.of(behind, self._label(value)))

    def _read_loosely(self, value: Any, done: set[str]) -> None:
        """Read of an object what is read of unknown values."""
        if isinstance(value, (Frame, MethodType)):
            return
        # A program reads the rate of its optimizers at each call; other code may ask for it too.
        if not _RATE_READERS.isdisjoint(self._names | self._strings):
            for name in _RATE & _dict_of(value).keys():
                self.read(self._own(value, name))
        own = value if isinstance(value, type) else type(value)
        if isinstance(value, type) and is_foreign(own.__module__):
            return
        for name, at in list(self._loose.items()):
            if name in done:
                continue
            done.add(name)
            self.at = at
            if isinstance(value, ModuleType):
                if name in vars(value):
                    self.hand_on(self._attribute(value, name))
            else:
                self.hand_on(self._of_object(value, name, loosely=True))


def _of_each(value: Value, look: Callable[[Any], Value]) -> Value:
    """What is found of the objects that a value may be."""
    found = UNKNOWN if value.unknown else CLOSED
    for one in value.objects.values():
        found = found.joined(look(one))
    return found


def _key(value: Any) -> Any:
    """What tells an object apart; methods are made anew each time that somebody asks for them."""
    if isinstance(value, MethodType):
        return id(value.__func__), id(value.__self__)
    if isinstance(value, BuiltinMethodType) and not isinstance(value.__self__, ModuleType):
        return value.__name__, id(value.__self__)
    return id(value)


def _home(function: FunctionType) -> Any:
    """The module that its code stands in; a decorator may have given it the name of another."""
    return function.__globals__.get("__name__", function.__module__)


def _wrapped(value: Any) -> Any:
    """The function that a cache, a decorator or `to_static` stands in front of."""
    if isinstance(value, FunctionFront):
        return value.dygraph_function
    if isinstance(value, (ModuleType, type)):
        return None
    return _dict_of(value).get("__wrapped__")


def _getter(held: Any) -> Any:
    return held.fget if isinstance(held, property) else held.func


def _dict_of(value: Any) -> Mapping[str, Any]:
    """Attributes of the object itself; no code of its own is asked for them."""
    try:
        found: Mapping[str, Any] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found


def _qualified(frame: Frame) -> str:
    while frame.outer is not None:
        frame = frame.outer
    return frame.code.co_qualname


def _names_of_class(cls: type) -> Iterable[str]:
    """Names that the code of a class of the engine has."""
    for held in vars(cls).values():
        if isinstance(held, FunctionType):
            yield from names_of(held.__code__)


def _are_plain_layers(value: Value) -> bool:
    """Whether they are layers of the engine, with no others in them: they return tensors."""
    return not value.unknown and all(map(_is_plain_layer, value.objects.values()))


def _is_plain_layer(value: Any) -> bool:
    if not isinstance(value, Counted) or not _is_ours(type(value).__module__):
        return False
    held: Any = value
    if held._forward_pre_hooks or held._forward_post_hooks:
        return False
    inside = [v for v in map(held.__dict__.get, held._kinds) if isinstance(v, Counted)]
    return all(map(_is_plain_layer, inside))


def _is_function(value: Any) -> bool:
    """Whether calling it runs code of its own, and none of an object that it stands for."""
    if isinstance(value, (type, FunctionType, BuiltinMethodType)):
        return True
    kind = type(value)
    stands_for = hasattr(kind, "forward") or hasattr(kind, "stands_in_front_of")
    return kind.__module__ == "builtins" or (
        _root(kind.__module__) in _WITHOUT_OBJECTS and not stands_for
    )


def _root(module: Any) -> str:
    return str(module).partition(".")[0]


def _is_ours(module: Any) -> bool:
    return _root(module) == _OURS


_OURS: Final = _root(__name__)
# Modules whose functions make plain values, arrays and tensors of such.
_WITHOUT_OBJECTS: Final = frozenset({"numpy", "math", _OURS})
# And those functions that are built in; others make collections, or find objects by name.
_MAKE_PLAIN: Final = frozenset(
    (
        *("abs", "all", "any", "bool", "bytes", "callable", "chr", "complex", "divmod"),
        *("enumerate", "filter", "float", "format", "frozenset", "getattr", "hasattr", "hash"),
        *("hex", "id", "int", "isinstance", "issubclass", "iter", "len", "map", "max", "min"),
        *("next", "oct", "ord", "pow", "print", "range", "repr", "reversed", "round", "slice"),
        *("str", "sum", "tuple", "zip"),
    )
)
_LIBRARY: Final = tuple(
    os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib")
)
_foreign: Final[dict[str, bool]] = {"__main__": False, "numpy": True, _OURS: True}


def is_foreign(module: Any) -> bool:
    """Whether it is of the standard library or of one that was installed.

    Their code depends on nothing that a program would change with.
    """
    root = _root(module)
    known = _foreign.get(root)
    if known is None:
        known = _is_library(root)
        if root in sys.modules:
            _foreign[root] = known
    return known


def _place_of(root: str) -> str | None:
    found = sys.modules.get(root)
    path = getattr(found, "__file__", None) or next(iter(getattr(found, "__path__", ())), None)
    return None if path is None else str(path)


def _is_library(root: str) -> bool:
    path = _place_of(root)
    if path is None:
        return root in sys.stdlib_module_names
    return is_installed(root) or path.startswith(_LIBRARY)


def is_installed(module: Any) -> bool:
    """Whether it is of a library that was installed."""
    parts = (_place_of(_root(module)) or "").split(os.sep)
    return "site-packages" in parts or "dist-packages" in parts
