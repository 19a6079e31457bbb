"""Scopes: where a program's parameters live between runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.errors import ArgumentError, ShapeError

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
        try:
            new = np.array(value, dtype=None if old is None else old.dtype)
        except (TypeError, ValueError) as error:
            raise ArgumentError(
                f"{self._variable.name} takes an array of numbers, got {type(value).__name__}: "
                f"{error}"
            ) from error
        if new.dtype.kind not in "biufc":
            raise ArgumentError(
                f"{self._variable.name} takes an array of numbers, got dtype {new.dtype}"
            )
        if old is not None and new.shape != old.shape:
            raise ShapeError(
                f"{self._variable.name} has shape {list(old.shape)}; got {list(new.shape)}"
            )
        self._variable.value = new

    def shape(self) -> list[int]:
        return [] if self._variable.value is None else list(self._variable.value.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        value = self._variable.value
        if value is None:
            raise ArgumentError(
                f"{self._variable.name} has no value yet: run the startup program in this scope, "
                "or give it one with .set(array)"
            )
        return np.array(value, dtype=dtype)

    def __repr__(self) -> str:
        return f"ScopeTensor({self._variable.value!r})"


class ScopeVariable:
    """A named array of a scope, None until a program has written it."""

    __slots__ = ("_scope", "name")

    def __init__(self, name: str, scope: Scope) -> None:
        self.name = name
        self._scope = scope

    @property
    def value(self) -> Array | None:
        return self._scope._values.get(self.name)

    @value.setter
    def value(self, value: Array | None) -> None:
        self._scope._values[self.name] = value

    def get_tensor(self) -> ScopeTensor:
        return ScopeTensor(self)


class _Claims:
    """Names that running programs are going to write, for a scope and all below it.

    A run claims all of its names at once, so that none can hold what another waits for.
    """

    __slots__ = ("changed", "held", "reading")

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.Lock())
        self.held: list[tuple[int, Collection[str]]] = []
        self.reading = threading.Lock()  # a run reads all, or writes all, of its names under it

    def free(self, names: set[str]) -> bool:
        """Whether no other thread holds any; a run inside a run of this thread goes ahead."""
        me = threading.get_ident()
        return all(holder == me or names.isdisjoint(held) for holder, held in self.held)


class Scope:
    """Arrays by name; what a scope does not have is looked for in the one that made it.

    Examples
    --------
    >>> scope = Scope()
    >>> scope.find_var("w") is None
    True
    >>> scope.var("w").get_tensor().set([1.0, 2.0])
    >>> scope.find_var("w").get_tensor().shape()
    [2]
    >>> scope.new_scope().find_var("w").get_tensor().shape()
    [2]
    """

    def __init__(self) -> None:
        self._values: dict[str, Array | None] = {}
        self._parent: Scope | None = None
        self._children: list[Scope] = []
        self._claims = _Claims()

    # --- by hand

    def find_var(self, name: str) -> ScopeVariable | None:
        """The variable of that name here or in a scope above, None where there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Scope.find_var: name must be a str, got {type(name).__name__}")
        home = self._home(name)
        return None if home is None else ScopeVariable(name, home)

    def var(self, name: str) -> ScopeVariable:
        """The variable of that name in this very scope, made if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Scope.var: name must be a str, got {type(name).__name__}")
        self._values.setdefault(name, None)
        return ScopeVariable(name, self)

    def local_var_names(self) -> list[str]:
        return list(self._values)

    def size(self) -> int:
        """How many variables this very scope has."""
        return len(self._values)

    def erase(self, names: Iterable[str]) -> None:
        """Forget variables of this very scope; names that it does not have are passed over."""
        if isinstance(names, str):
            raise TypeError(f"Scope.erase: names must be a list of them; write [{names!r}]")
        if not isinstance(names, Collection) or not all(isinstance(n, str) for n in names):
            raise TypeError(f"Scope.erase: names must be a list of str, got {names!r:.60}")
        for name in names:
            self._values.pop(name, None)

    def new_scope(self) -> Scope:
        """A scope below this one, which finds what this one has."""
        child = Scope()
        child._parent = self
        child._claims = self._claims
        self._children.append(child)
        return child

    def kids(self) -> list[Scope]:
        """The scopes that `new_scope` made and `drop_kids` has not dropped."""
        return list(self._children)

    _kids = kids

    def drop_kids(self) -> None:
        """Forget the scopes below, with all that is in them, unless it is held elsewhere."""
        self._children.clear()

    # --- by a run

    def _home(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and name not in scope._values:
            scope = scope._parent
        return scope

    def snapshot(self, names: Iterable[str]) -> dict[str, Array | None]:
        """The values of `names` as some runs have left them all, None where there is none."""
        with self._claims.reading:
            homes = {name: self._home(name) for name in names}
            return {n: None if h is None else h._values[n] for n, h in homes.items()}

    @contextlib.contextmanager
    def claimed(self, names: set[str]) -> Iterator[None]:
        """Wait until no other run is going to write any of `names`, and keep others waiting."""
        if not names:
            yield
            return
        claims, mine = self._claims, (threading.get_ident(), names)
        try:
            with claims.changed:
                claims.changed.wait_for(lambda: claims.free(names))
                claims.held.append(mine)
            yield
        finally:
            with claims.changed:
                claims.held = [claim for claim in claims.held if claim is not mine]
                claims.changed.notify_all()

    def commit(self, values: Mapping[str, Array]) -> None:
        """Write all of `values` or none: each where its name is found, new ones at the top."""
        by_home: dict[Scope, dict[str, Array]] = {}
        top = self
        while top._parent is not None:
            top = top._parent
        with self._claims.reading:
            for name, value in values.items():
                by_home.setdefault(self._home(name) or top, {})[name] = value
            before = [(home, dict(home._values)) for home in by_home] if len(by_home) > 1 else []
            try:
                for home, new in by_home.items():
                    home._values.update(new)  # one instruction: nothing interrupts it half-way
            except BaseException:
                for home, old in before:
                    home._values = old
                raise


def held_for(variable: Any, scope: Any, function: str) -> ScopeVariable:
    """What `scope` holds for a variable of a program; see `Variable.get_value`."""
    where = f"{variable.name}.{function}()"
    if scope is not None and not isinstance(scope, Scope):
        raise TypeError(f"{where}: scope must be a Scope or None, got {type(scope).__name__}")
    found = (scope or global_scope()).find_var(variable.name) if variable.persistable else None
    if found is not None and found.value is not None:
        return found
    if not variable.persistable:
        raise ArgumentError(
            f"{where}: {variable.name} is not kept between runs, so no scope holds a value of it; "
            "feed it, or fetch it with Executor.run"
        )
    raise ArgumentError(
        f"{where}: {variable.name} has no value in the scope yet: run the startup program first"
    )


class _Current(threading.local):
    # One for all threads, until a guard names another for its own.
    scope = Scope()


_current: Final = _Current()


def global_scope() -> Scope:
    """The scope in which programs run, unless they are given another.

    Returns
    -------
    Scope

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.static.global_scope().find_var("nothing of this name") is None
    True
    """
    return _current.scope


@contextlib.contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Make `scope` the global one inside a ``with`` block, for the thread that enters it.

    Parameters
    ----------
    scope : Scope

    Raises
    ------
    TypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> mine = paddle.static.Scope()
    >>> with paddle.static.scope_guard(mine):
    ...     paddle.static.global_scope() is mine
    True
    """
    if not isinstance(scope, Scope):
        raise TypeError(f"scope_guard takes a Scope, got {type(scope).__name__}")
    old, _current.scope = _current.scope, scope
    try:
        yield
    finally:
        _current.scope = old
