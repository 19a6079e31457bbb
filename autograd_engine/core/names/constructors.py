"""Classes are made with the arguments of other libraries too, or say what to write instead.

A constructor that is given a keyword it does not have, or values in the order of PyTorch, asks
`constructor_keywords` what they are here; that table is loaded then, and not before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

__all__ = ["Given", "Respelled", "respelled"]

C = TypeVar("C", bound=type)
Init = Callable[..., None]
Given: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments, those with keywords behind."""

_KEYWORDS_OF_ANY_NAME = 8  # what inspect.CO_VARKEYWORDS is


def respelled(cls: C) -> C:
    """Have the constructor that `cls` defines take the arguments of other libraries."""
    init = vars(cls).get("__init__")
    if init is not None and not hasattr(init, "__wrapped__"):
        cls.__init__ = _taking_others(cls, init)  # type: ignore[misc]
    return cls


class Respelled:
    """Base of classes whose constructors, and those of subclasses in this package, are such.

    A static method `_reorder` of the class, which has the order of PyTorch, is asked first.
    """

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("autograd_engine."):
            respelled(cls)


def _taking_others(cls: type, init: Init) -> Init:
    code = init.__code__
    named = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    known = frozenset(named)
    any_name = bool(code.co_flags & _KEYWORDS_OF_ANY_NAME)

    reorder: Callable[..., Given] | None = getattr(cls, "_reorder", None)

    @functools.wraps(init)
    def construct(self: Any, *args: Any, **kwargs: Any) -> None:
        if reorder is not None:
            args, kwargs = reorder(args, kwargs)
        if any_name or kwargs.keys() <= known:
            init(self, *args, **kwargs)
            return
        from autograd_engine.core.names.constructor_keywords import translated

        made = translated(type(self), named, args, kwargs)
        init(self, *args, **made.arguments)
        for method, told in made.finish:
            getattr(self, method)(**told)

    return construct
