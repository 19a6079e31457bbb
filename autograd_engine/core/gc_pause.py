"""Python's cyclic collector, while much is made that stays."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Iterator
from typing import Final

__all__ = ["collector_paused"]


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Planning makes many objects, all of which stay: the collector would walk them in vain,
    again and again, which makes the time grow faster than the program.
    """
    was_enabled = gc.isenabled()
    pause = threading.get_ident()
    if was_enabled:
        _pauses.append(pause)
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
            _pauses.remove(pause)


_pauses: Final[list[int]] = []  # threads that are going to enable it again


def _forked() -> None:
    """The other threads have not come with this one: it takes over what they were going to do."""
    others = [thread for thread in _pauses if thread != threading.get_ident()]
    if others:
        _pauses[:] = [thread for thread in _pauses if thread not in others]
        if not _pauses:
            gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
