"""Locks that outlive a fork.

A child process has one thread, the one that forked. A lock that another held stays locked in the
child, and nobody is left to let go of it: whoever asks for it waits for ever. So every lock of the
engine is one of these, of which there are two kinds:

- `renewed_lock`: free in the child, unless the thread that forked holds it. What another thread did
  under it is left as it stood, so each step of that must leave something whole; where it cannot,
  `abandoned` puts it right.
- `awaited_lock`: a fork waits until it is free. For what changes several things that have to be
  seen together, and under which none of the user's code runs.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import os
import sys
import threading
import weakref
from collections.abc import Callable
from types import MethodType
from typing import Any, Final

__all__ = ["awaited_lock", "parse_source", "renew_in_child", "renewed_lock"]

_Abandoned = Callable[[], Callable[[], None] | None]

_renewed: Final[dict[weakref.ref[Any], _Abandoned | None]] = {}
_awaited: Final[dict[weakref.ref[Any], tuple[int, int]]] = {}


def renewed_lock(abandoned: Callable[[], None] | None = None) -> threading.RLock:
    """A lock that is free in a child process.

    Parameters
    ----------
    abandoned : method or function, optional
        Called in every child, after all locks were renewed, unless the thread that forked holds
        the lock: puts right what another thread may have left half done under it. A method does
        not keep its object alive.
    """
    lock = threading.RLock()
    renew_in_child(lock, abandoned)
    return lock


def renew_in_child(lock: Any, abandoned: Callable[[], None] | None = None) -> None:
    """Do as `renewed_lock` with a lock of somebody else's."""
    _renewed[weakref.ref(lock, _renewed.pop)] = None if abandoned is None else _weakly(abandoned)


def _weakly(function: Callable[[], None]) -> _Abandoned:
    """`function` while its object lives.

    The callbacks of `weakref.WeakMethod` fail where it dies together with the object.
    """
    if not isinstance(function, MethodType):
        return lambda: function
    owner, method = weakref.ref(function.__self__), function.__func__

    def living() -> Any:
        found = owner()
        return None if found is None else MethodType(method, found)

    return living


def awaited_lock(rank: int, number: int = 0) -> threading.RLock:
    """A lock that nobody else holds while a process forks.

    Parameters
    ----------
    rank, number : int
        The order in which a fork takes such locks, the lower first: that of everybody who holds
        two of them at a time.
    """
    lock = threading.RLock()
    _awaited[weakref.ref(lock, _awaited.pop)] = rank, number
    renew_in_child(lock)  # one that was made while the others were waited for
    return lock


# --- of Python's own


def parse_source(text: str | bytes, mode: str = "exec") -> Any:
    """`ast.parse`, one thread at a time.

    In Python 3.11 the depth of a tree that is being made is counted for all threads together,
    and where the count does not come out even there is a ``SystemError``.
    """
    with _parsing:
        try:
            return ast.parse(text, mode=mode)
        except SystemError:  # the thread of somebody who does not ask for the lock
            return ast.parse(text, mode=mode)


_parsing: Final = renewed_lock()


# --- around a fork

_forking: Final = threading.RLock()  # one thread at a time: the locks below are its own
_taken: Final[list[Any]] = []


def _before() -> None:
    with contextlib.suppress(Exception):  # a module that cannot be imported
        _finish_imports()
    _forking.acquire()
    for ref, _ in sorted(_awaited.copy().items(), key=lambda item: item[1]):
        lock = ref()
        if lock is not None:
            lock.acquire()
            _taken.append(lock)


def _after_in_parent() -> None:
    while _taken:
        _taken.pop().release()
    _forking.release()


def _after_in_child() -> None:
    put_right = []
    for ref, abandoned in list(_renewed.items()):
        lock = ref()
        if lock is None or (hasattr(lock, "_is_owned") and lock._is_owned()):
            continue
        lock._at_fork_reinit()
        if abandoned is not None:
            put_right.append(abandoned)
    _after_in_parent()
    for find in put_right:
        function = find()
        if function is not None:
            function()


def _finish_imports() -> None:
    """Wait for modules that other threads are importing: a child could not import them any more.

    Python has a lock for each module under way, and does not renew it.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(_IMPORTED_LATE):
            spec = getattr(module, "__spec__", None)
            if getattr(spec, "_initializing", False):
                importlib.import_module(name)


_IMPORTED_LATE: Final = ("autograd_engine", "numpy")

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
