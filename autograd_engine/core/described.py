"""Texts of objects that say what they were told."""

from __future__ import annotations

import inspect
from collections.abc import Sequence, Sized
from typing import Any

__all__ = ["Described", "describe"]

_LONGEST = 100


class Described:
    """A base whose ``repr`` is ``Name(argument=value, ...)``.

    It shows the arguments of the constructor that the object has as attributes, with a name that
    may begin with an underscore, and that are not their defaults.
    """

    def __repr__(self) -> str:
        return describe(self)


def describe(thing: Any, /, **known: Any) -> str:
    """The text of `thing`; `known` has what its attributes do not say, or something to add."""
    shown = {}
    for name, parameter in inspect.signature(type(thing)).parameters.items():
        if name in known:
            value = known.pop(name)
        else:
            held = (v for n in (name, f"_{name}") if (v := _held(thing, n)) is not parameter.empty)
            value = next(held, parameter.default)
        if not _same(value, parameter.default):
            shown[name] = value
    text = ", ".join(f"{name}={_text(value)}" for name, value in {**shown, **known}.items())
    return f"{type(thing).__name__}({text})"


def _held(thing: Any, name: str) -> Any:
    try:
        found = getattr(thing, name, inspect.Parameter.empty)
    except Exception:  # a property of a class of the user's: a text does not fail
        return inspect.Parameter.empty
    return inspect.Parameter.empty if inspect.ismethod(found) else found


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, (str, float, int, tuple)) and a == b)


def _text(value: Any) -> str:
    if inspect.isroutine(value) or isinstance(value, type):
        return str(getattr(value, "__qualname__", value))
    if isinstance(shape := getattr(value, "shape", None), Sequence):
        return f"<{type(value).__name__} {list(shape)}>"
    if isinstance(value, Sized) and not isinstance(value, (str, Described)):
        if len(value) > 4 or not isinstance(value, (tuple, list)):
            return f"<{type(value).__name__} of {len(value)}>"
        return "[" + ", ".join(map(_text, value)) + "]"
    text = repr(value)
    return text if len(text) <= _LONGEST and "\n" not in text else f"<{type(value).__name__}>"
