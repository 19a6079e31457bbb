"""Classes are made with the arguments of other libraries too, or say what to write instead.

A constructor that is given a keyword it does not have, or values in the order of PyTorch, asks the
table of `keywords` what they are here, which is loaded then, and not before. So does the call of a
layer.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from autograd_engine.core.inherited_doc import InheritedDoc

if TYPE_CHECKING:
    from autograd_engine.core.names.keywords import Owner

__all__ = ["Given", "Respelled", "forwarded", "respelled"]

C = TypeVar("C", bound=type)
Init = Callable[..., None]
Given: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments, those with keywords behind."""


def respelled(cls: C) -> C:
    """Have the constructor that `cls` defines take the arguments of other libraries."""
    init = vars(cls).get("__init__")
    if init is not None and not hasattr(init, "__wrapped__"):
        cls.__init__ = _taking_others(cls, init)  # type: ignore[misc]
    return cls


class Respelled:
    """Base of classes whose constructors, and those of subclasses in this package, are such.

    Their docstrings leave out what those of their bases say of arguments; see `InheritedDoc`. A
    static method `_reorder` of the class, which has the order of PyTorch, is asked first.
    """

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("autograd_engine."):
            respelled(cls)
            if cls.__doc__ is not None:  # there are none under python -OO
                cls.__doc__ = InheritedDoc(cls, cls.__doc__)  # type: ignore[assignment]


def _taking_others(cls: type, init: Init) -> Init:
    code = init.__code__
    named = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    known = frozenset(named)
    most = math.inf if code.co_flags & inspect.CO_VARARGS else code.co_argcount - 1
    any_name = bool(code.co_flags & inspect.CO_VARKEYWORDS)

    reorder: Callable[..., Given] | None = getattr(cls, "_reorder", None)

    @functools.wraps(init)
    def construct(self: Any, *args: Any, **kwargs: Any) -> None:
        if reorder is not None:
            args, kwargs = reorder(args, kwargs)
        tells = len(args) > most or any(value.__class__ is bool for value in args)
        tells = tells and most != math.inf and _first(type(self)) is cls
        if any_name or (not tells and kwargs.keys() <= known):
            init(self, *args, **kwargs)
            return
        from autograd_engine.core.names.keywords import ordered, translated

        owner = _owner(self, init)
        if tells:
            args, kwargs = (), ordered(owner, args, kwargs)
        given = {name: value for name, value in kwargs.items() if name in known}
        other = {name: value for name, value in kwargs.items() if name not in known}
        taken = {**dict(zip(named, args, strict=False)), **given}
        made = translated(owner, taken, other)
        init(self, *args, **given, **made.arguments)
        for method, told in made.finish:
            getattr(self, method)(**told)

    return construct


def _first(cls: type) -> type:
    """The class of this package whose constructor users call."""
    ours = (base for base in cls.__mro__ if base.__module__.startswith("autograd_engine."))
    return next(base for base in ours if "__init__" in vars(base))


def _owner(instance: Any, method: Callable[..., Any]) -> Owner:
    """What `method` takes, in the name of the class of this package that `instance` is of."""
    from autograd_engine.core.names.keywords import Owner

    bases = type(instance).__mro__
    title = next(
        base.__name__
        for base in bases
        if base.__module__.startswith("autograd_engine.") and not base.__name__.startswith("_")
    )
    parameters = list(inspect.signature(method).parameters.values())[1:]
    return Owner.of(title, {base.__name__ for base in bases}, parameters)


def forwarded(layer: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a call of `layer`, those of other libraries as its `forward` has them."""
    forward: Any = type(layer).forward
    if not forward.__module__.startswith("autograd_engine."):
        return kwargs
    known = inspect.signature(forward).parameters
    if kwargs.keys() <= known.keys() or any(p.kind is p.VAR_KEYWORD for p in known.values()):
        return kwargs
    from autograd_engine.core.names.keywords import translated

    owner = _owner(layer, forward)
    given = {name: value for name, value in kwargs.items() if name in known}
    other = {name: value for name, value in kwargs.items() if name not in known}
    placed = dict(zip(owner.positional, inputs, strict=False))
    return given | translated(owner, {**placed, **given}, other).arguments
