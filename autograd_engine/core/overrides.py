"""Settings that a ``with`` block overrides, for the thread and the asyncio task that is inside it.

A `ContextVar` gives each thread and each task a setting of its own. Generators have none of their
own: they set that of whoever runs them, and two that are suspended inside a block are left in any
order. Where each puts back what it found, the second one left brings back what the first one set,
for good. So what is open here is a chain; an override takes itself out of it wherever it stands,
and what holds is what those say that are still open.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, ClassVar, Final, Generic, TypeVar

from autograd_engine.core.checks import left_unentered

__all__ = ["Override", "OverridingBlock", "Overrides", "Replaced", "Setting"]

T = TypeVar("T")


class Override:
    """A change of a setting, until the block that makes it is left.

    Attributes
    ----------
    outer : Override or None
        What it changes; None for the default.
    left : bool
        Whether it was left by code that does not see it: by another thread, or another task, that
        ended a generator. From then on it changes nothing.
    stays : bool
        Made by a call and not by a block: it stays until the block around it is left.
    """

    __slots__ = ("left", "outer", "stays", "token")

    def __init__(self) -> None:
        self.outer: Any = None
        self.left = self.stays = False
        self.token: Token[Any] | None = None

    def fold(self) -> None:
        """Find what holds inside, from what `outer` says and what this one changes."""
        raise NotImplementedError

    def succeed(self, earlier: Any) -> None:
        """Take over from one that `stays` what this one leaves alone."""


O = TypeVar("O", bound=Override)  # noqa: E741


class Overrides(Generic[O]):
    """A setting, and the overrides that are open, innermost first, in this thread and task.

    ``current()`` is the innermost one. To ask costs less than an attribute of a `threading.local`.
    """

    def __init__(self, name: str, default: O) -> None:
        self.default: Final = default
        self._variable: ContextVar[O] = ContextVar(name, default=default)
        self.current: Callable[[], O] = self._variable.get

    def enter(self, override: O) -> None:
        """Let `override` hold from here on, until it is left."""
        before = self.current()
        self._add(override, before, before)

    def put(self, override: O) -> O:
        """Let `override` hold until the block around this call is left.

        Returns
        -------
        Override
            What held before, for `take_back`.
        """
        override.stays = True
        before = self.current()
        if before.stays:
            override.succeed(before)
        self._add(override, before.outer if before.stays else before, before)
        return before

    def take_back(self, override: O, before: O) -> None:
        """Undo `put`, where nothing has been overridden since."""
        if self.current() is override:
            self._variable.set(before)

    def _add(self, override: O, outer: O, before: O) -> None:
        while outer.left:
            outer = outer.outer
        override.outer = outer
        override.fold()
        try:
            override.token = self._variable.set(override)
        except BaseException:  # an interrupt, and nobody will leave it
            self._variable.set(before)
            raise

    def leave(self, override: O) -> list[O] | None:
        """Take `override` out.

        Returns
        -------
        list of Override, or None
            Those that were entered later and are still open, the latest first; None where it was
            not entered here.
        """
        token = override.token
        if token is None:  # an interrupt came first
            return None
        now = self.current()
        try:
            self._variable.reset(token)
        except ValueError:
            # It was entered elsewhere: a generator ends in another thread, or is closed by the
            # event loop in a task of its own. Those who still stand inside see that it is over.
            override.left = True
            override.fold()
            return None
        outer = override.outer
        if now is override and token.old_value is outer and not outer.left:
            return []
        inside: list[O] = []
        at: Any = now
        while at is not override:
            if not at.left:
                inside.append(at)
            at = at.outer
        if inside and inside[-1].stays:  # a call in this very block, which ends with it
            inside.pop()
        while outer.left:
            outer = outer.outer
        for later in reversed(inside):
            later.outer = outer
            later.fold()
            outer = later
        self._variable.set(outer)
        return inside

    def holds(self, override: O) -> bool:
        """Whether this thread and task are inside of `override`."""
        at: Any = self.current()
        while at is not None and at is not override:
            at = at.outer
        return at is override

    def refold(self) -> None:
        """Find again what holds here, where the default has changed."""
        chain: list[O] = []
        at: Any = self.current()
        while at is not None:
            chain.append(at)
            at = at.outer
        for override in reversed(chain[:-1]):
            override.fold()

    def reset(self) -> None:
        """Forget whatever has been overridden here."""
        self._variable.set(self.default)


class OverridingBlock:
    """A context manager whose block overrides a setting.

    One object may be entered again inside of its own block, and by several threads and tasks at
    once: each leaves what it has entered.
    """

    _overrides: ClassVar[Overrides[Any]]

    def __init__(self) -> None:
        self._open: list[Override] = []

    def _override(self) -> Override:
        """What a block that begins now changes."""
        raise NotImplementedError

    def __enter__(self) -> None:
        override = self._override()
        self._open.append(override)
        try:
            self._overrides.enter(override)
        except BaseException:  # an interrupt, and nobody will call __exit__
            self._open.remove(override)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave()

    def _leave(self) -> tuple[Override, list[Any] | None]:
        """What was left, and what `Overrides.leave` says."""
        if not self._open:
            raise left_unentered(self)
        found = self._open.pop()
        if self._open and found is not self._overrides.current():
            self._open.append(found)
            found = next((o for o in reversed(self._open) if self._overrides.holds(o)), found)
            self._open.remove(found)
        return found, self._overrides.leave(found)


class Replaced(Override, Generic[T]):
    """A value in the place of the one outside."""

    __slots__ = ("given", "value")

    def __init__(self, value: T) -> None:
        super().__init__()
        self.given = self.value = value

    def fold(self) -> None:
        self.value = self.outer.value if self.left else self.given


class Setting(Generic[T]):
    """A value that blocks replace.

    Examples
    --------
    >>> indent = Setting("indent", 0)
    >>> with indent.replaced(2):
    ...     indent.get()
    2
    >>> indent.get()
    0
    """

    def __init__(self, name: str, default: T) -> None:
        self.overrides: Final = Overrides(name, Replaced(default))

    def get(self) -> T:
        return self.overrides.current().value

    def put(self, value: T) -> None:
        """Set it until the block around this call is left."""
        self.overrides.put(Replaced(value))

    @contextlib.contextmanager
    def replaced(self, value: T) -> Iterator[None]:
        """Inside the ``with`` block it is `value`."""
        override = Replaced(value)
        try:  # before anything is set: an interrupt may come in between
            self.overrides.enter(override)
            yield
        finally:
            self.overrides.leave(override)
