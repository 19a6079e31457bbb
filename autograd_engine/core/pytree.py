"""Nests: lists, tuples, named tuples and dicts, of anything else, which are the leaves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from autograd_engine.errors import ArgumentError

__all__ = ["Structure", "leaves", "map", "rebuild", "same", "structure"]

Structure: TypeAlias = Any


def structure(value: Any) -> Structure:
    """What nests have in common that differ in their leaves only.

    Raises
    ------
    ArgumentError
        For what is nested deeper than Python recurses.
    """
    try:
        return _structure(value)
    except RecursionError:
        raise ArgumentError(
            f"a {type(value).__name__} is nested too deep: no more than some hundred lists, tuples "
            "or dicts may lie in each other"
        ) from None


def _structure(value: Any) -> Structure:
    if isinstance(value, dict):
        return type(value), tuple((k, _structure(v)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return type(value), tuple(_structure(v) for v in value)
    return None if value is not None else "None"


def same(a: Structure, b: Structure) -> bool:
    """Whether two structures are the same, where a tuple is as good as a list."""
    if not (isinstance(a, tuple) and isinstance(b, tuple)):
        return bool(a == b)
    (kind, parts), (other, others) = a, b
    if issubclass(kind, dict) or issubclass(other, dict):
        return (
            issubclass(kind, dict)
            and issubclass(other, dict)
            and [k for k, _ in parts] == [k for k, _ in others]
            and all(same(p[1], q[1]) for p, q in zip(parts, others, strict=True))
        )
    pairs = zip(parts, others, strict=True)
    return len(parts) == len(others) and all(same(p, q) for p, q in pairs)


def leaves(value: Any) -> list[Any]:
    """The leaves from left to right; None is a structure of its own."""
    return list(_walk(value))


def _walk(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for v in value.values():
            yield from _walk(v)
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _walk(v)
    elif value is not None:
        yield value


def rebuild(of: Structure, values: Sequence[Any], what: str = "") -> Any:
    """The nest of that structure with these leaves.

    Raises
    ------
    ArgumentError
        When there are more or fewer leaves.
    """
    rest = iter(values)
    made = _rebuild(of, rest)
    if next(rest, rest) is not rest:
        raise ArgumentError(f"{what}: more values than the structure has places")
    return made


def _rebuild(of: Structure, rest: Iterator[Any]) -> Any:
    if of is None:
        return next(rest)
    if of == "None":
        return None
    kind, parts = of
    if issubclass(kind, dict):
        made = {k: _rebuild(part, rest) for k, part in parts}
        if issubclass(kind, defaultdict):  # what it makes of a missing key is no part of a nest
            return kind(None, made)
        return made if kind is dict else kind(made)
    items = [_rebuild(part, rest) for part in parts]
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def map(function: Callable[[Any], Any], value: Any) -> Any:
    """The nest of what `function` makes of the leaves."""
    return rebuild(structure(value), [function(v) for v in leaves(value)])
