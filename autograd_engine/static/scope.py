"""Scopes: where a program's parameters live between runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.errors import ShapeError

__all__ = ["Scope", "ScopeTensor", "ScopeVariable", "global_scope", "scope_guard"]

Array = NDArray[Any]


class ScopeTensor:
    """The array behind a variable of a scope; reads as an array, written with `set`."""

    __slots__ = ("_variable",)

    def __init__(self, variable: ScopeVariable) -> None:
        self._variable = variable

    def set(self, value: Any, place: object = None) -> None:
        """Replace the array by a copy of `value`, which must have its shape."""
        old = self._variable.value
        new = np.array(value, dtype=None if old is None else old.dtype)
        if old is not None and new.shape != old.shape:
            raise ShapeError(
                f"{self._variable.name} has shape {list(old.shape)}; got {list(new.shape)}"
            )
        self._variable.value = new

    def shape(self) -> list[int]:
        return [] if self._variable.value is None else list(self._variable.value.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self._variable.value, dtype=dtype)

    def __repr__(self) -> str:
        return f"ScopeTensor({self._variable.value!r})"


class ScopeVariable:
    """A named array of a scope, None until a program has written it."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: Array | None = None) -> None:
        self.name = name
        self.value = value

    def get_tensor(self) -> ScopeTensor:
        return ScopeTensor(self)


class Scope:
    """Arrays by name.

    Examples
    --------
    >>> scope = Scope()
    >>> scope.find_var("w") is None
    True
    >>> scope.var("w").get_tensor().set([1.0, 2.0])
    >>> scope.find_var("w").get_tensor().shape()
    [2]
    """

    def __init__(self) -> None:
        self._variables: dict[str, ScopeVariable] = {}

    def find_var(self, name: str) -> ScopeVariable | None:
        return self._variables.get(name)

    def var(self, name: str) -> ScopeVariable:
        """The variable of that name, made if there is none."""
        return self._variables.setdefault(name, ScopeVariable(name))

    def local_var_names(self) -> list[str]:
        return list(self._variables)


class _Current(threading.local):
    # One for all threads, until a guard names another for its own.
    scope = Scope()


_current: Final = _Current()


def global_scope() -> Scope:
    """The scope in which programs run, unless they are given another."""
    return _current.scope


@contextlib.contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Make `scope` the global one inside a ``with`` block, for the thread that enters it."""
    if not isinstance(scope, Scope):
        raise TypeError(f"scope_guard takes a Scope, got {type(scope).__name__}")
    old, _current.scope = _current.scope, scope
    try:
        yield
    finally:
        _current.scope = old
