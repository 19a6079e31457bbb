"""A lock that a forked child can take, whoever held it in the parent."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType

__all__ = ["ProcessLock"]


class ProcessLock:
    """A `threading.Lock` that is free in a forked child.

    A thread that held it in the parent does not exist in the child, and would never let go.
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self.renew()
        _all.add(self)

    def renew(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.release()


_all: weakref.WeakSet[ProcessLock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_all):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
