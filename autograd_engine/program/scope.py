"""Scopes: where a program's parameters live between runs."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from autograd_engine.core.dtypes import holds_numbers
from autograd_engine.core.locks import awaited_lock, renewed_lock
from autograd_engine.core.overrides import Setting
from autograd_engine.core.spec import Array
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ShapeError
from autograd_engine.program.scope_state import Held, State, in_order

__all__ = ["Scope", "ScopeTensor", "ScopeVariable", "global_scope", "scope_guard"]

Content: TypeAlias = Array | Held | None


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
        if not holds_numbers(new.dtype, wide=True):
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
        found = self._scope._values.get(self.name)
        return found.seen() if isinstance(found, Held) else found

    @value.setter
    def value(self, value: Array | None) -> None:
        with self._scope._claims.changing(self._scope, (self.name,)):
            self._scope._values[self.name] = value

    def get_tensor(self) -> ScopeTensor:
        return ScopeTensor(self)


class _Claims:
    """Names that running programs are going to write, for a scope and all below it.

    A run claims all of its names at once, so that none can hold what another waits for.
    """

    __slots__ = ("__weakref__", "changed", "changes", "held", "reading", "states")

    def __init__(self) -> None:
        self.changed = threading.Condition(renewed_lock(self._keep_own))
        self.held: list[tuple[int, Collection[str]]] = []
        self.reading = awaited_lock(1)  # a run reads all, or writes all, of its names under it
        # Steps that keep variables of these scopes in memory of their own, and how often the scopes
        # have changed otherwise than by these; both under `reading`.
        self.states: weakref.WeakSet[State] = weakref.WeakSet()
        self.changes = 0

    def _keep_own(self) -> None:
        """In a child: runs of other threads have not come with it."""
        me = threading.get_ident()
        self.held = [claim for claim in self.held if claim[0] == me]

    def free(self, names: set[str]) -> bool:
        """Whether no other thread holds any; a run inside a run of this thread goes ahead."""
        me = threading.get_ident()
        return all(holder == me or names.isdisjoint(held) for holder, held in self.held)

    @contextlib.contextmanager
    def changing(self, scope: Scope, names: Iterable[str]) -> Iterator[None]:
        """Inside the ``with`` block `names` of this very scope are written by hand."""
        with self.reading:
            if self.states:
                for name in names:
                    found = scope._values.get(name)
                    if isinstance(found, Held):
                        self.give_back(found.state)
            self.note_change()
            yield

    def note_change(self, but: State | None = None) -> None:
        """Every step looks at the scopes before it goes on."""
        if self.states:
            for state in self.states:
                if state is not but:
                    with state.lock:  # not in the middle of a step
                        state.ready = False
        self.changes += 1  # after that: one that is ready has seen all changes that are counted

    def give_back(self, state: State) -> None:
        """Put the variables of a step into their scopes."""
        with state.lock:
            state.ready = False
            for name, home in state.homes.items():
                found = home._values.get(name)
                if isinstance(found, Held) and found.state is state:
                    home._values[name] = state.copy(name)


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
        self._values: dict[str, Content] = {}
        self._parent: Scope | None = None
        self._children: list[Scope] = []
        self._claims = _Claims()

    # --- by hand

    def find_var(self, name: str) -> ScopeVariable | None:
        """The variable of that name here or in a scope above, None where there is none."""
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"Scope.find_var: name must be a str, got {type(name).__name__}"
            )
        home = self._home(name)
        return None if home is None else ScopeVariable(name, home)

    def var(self, name: str) -> ScopeVariable:
        """The variable of that name in this very scope, made if there is none."""
        if not isinstance(name, str):
            raise ArgumentTypeError(f"Scope.var: name must be a str, got {type(name).__name__}")
        if name not in self._values:
            with self._claims.changing(self, ()):  # it may hide one of a scope above
                self._values.setdefault(name, None)
        return ScopeVariable(name, self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise ArgumentError(
            "a scope cannot be pickled, nor copied by copy: paddle.static.save(program, path) "
            "keeps what a program has in it, and scope.find_var(name).get_tensor() gives an array"
        )

    def local_var_names(self) -> list[str]:
        return list(self._values)

    def size(self) -> int:
        """How many variables this very scope has."""
        return len(self._values)

    def erase(self, names: Iterable[str]) -> None:
        """Forget variables of this very scope; names that it does not have are passed over."""
        if isinstance(names, str):
            raise ArgumentTypeError(f"Scope.erase: names must be a list of them; write [{names!r}]")
        if not isinstance(names, Collection) or not all(isinstance(n, str) for n in names):
            raise ArgumentTypeError(f"Scope.erase: names must be a list of str, got {names!r:.60}")
        names = list(names)
        with self._claims.changing(self, names):
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
            found = self.contents(names)
            states = {v.state for v in found.values() if isinstance(v, Held)}
            with contextlib.ExitStack() as locks:
                for state in in_order(states):
                    locks.enter_context(state.lock)
                return {n: v.state.copy(n) if isinstance(v, Held) else v for n, v in found.items()}

    def contents(self, names: Iterable[str]) -> dict[str, Content]:
        """What stands in the scopes for `names`; under the lock that is held while reading."""
        homes = {name: self._home(name) for name in names}
        return {n: None if h is None else h._values[n] for n, h in homes.items()}

    def changes(self) -> int:
        """How often this scope, and those above and below, were changed by hand or by runs."""
        return self._claims.changes

    @contextlib.contextmanager
    def claimed(self, names: set[str], keep: State | None = None) -> Iterator[None]:
        """Wait until no other run is going to write any of `names`, and keep others waiting.

        Steps that hold some of them give theirs back, but for the one whose state is `keep`.
        """
        if not names:
            yield
            return
        claims, mine = self._claims, (threading.get_ident(), names)
        try:
            with claims.changed:
                claims.changed.wait_for(lambda: claims.free(names))
                claims.held.append(mine)
            if claims.states:
                with claims.reading:
                    for found in self.contents(names).values():
                        if isinstance(found, Held) and found.state is not keep:
                            claims.give_back(found.state)
            yield
        finally:
            with claims.changed:
                claims.held = [claim for claim in claims.held if claim is not mine]
                claims.changed.notify_all()

    def commit(
        self, values: Mapping[str, Array | Held], state: State | None = None, seen: int = -1
    ) -> None:
        """Write all of `values` or none: each where its name is found, new ones at the top.

        With a `state`, whose variables are among them: it is ready for the next step, if nothing
        else has changed since there were `seen` changes.
        """
        by_home: dict[Scope, dict[str, Content]] = {}
        top = self
        while top._parent is not None:
            top = top._parent
        claims = self._claims
        with claims.reading:
            for name, value in values.items():
                home = self._home(name) or top
                old = home._values.get(name)
                if old is value:
                    continue
                if isinstance(old, Held) and old.state is not state:
                    claims.give_back(old.state)
                by_home.setdefault(home, {})[name] = value
            whole = state is not None and claims.changes == seen
            if state is not None:
                claims.states.add(state)
                for home, new in by_home.items():
                    state.homes |= {n: home for n, v in new.items() if isinstance(v, Held)}
            if by_home:
                claims.note_change(state)
            before = [(home, dict(home._values)) for home in by_home] if len(by_home) > 1 else []
            try:
                for home, new in by_home.items():
                    home._values.update(new)  # one instruction: nothing interrupts it half-way
            except BaseException:
                for home, old_values in before:
                    home._values = old_values
                raise
            if state is not None and whole:
                state.ready = True


def held_for(variable: Any, scope: Any, function: str) -> ScopeVariable:
    """What `scope` holds for a variable of a program; see `Variable.get_value`."""
    where = f"{variable.name}.{function}()"
    if scope is not None and not isinstance(scope, Scope):
        raise ArgumentTypeError(
            f"{where}: scope must be a Scope or None, got {type(scope).__name__}"
        )
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


# One for all threads, until a guard names another for its own.
_current: Final = Setting("autograd_engine.scope", Scope())


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
    return _current.get()


@contextlib.contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Make `scope` the global one inside a ``with`` block.

    For the thread, and the asyncio task, that enters it.

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
        raise ArgumentTypeError(f"scope_guard takes a Scope, got {type(scope).__name__}")
    with _current.replaced(scope):
        yield
