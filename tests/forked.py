"""Children that are forked while another thread is in the middle of something."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

__all__ = ["Elsewhere", "forks", "in_child"]

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")


def in_child(check: Callable[[], bool], seconds: int = 20) -> bool:
    """What `check` says in a child; False where it does not end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
        pid = os.fork()
    if pid == 0:
        code = 2
        try:
            signal.alarm(seconds)
            code = 0 if check() else 1
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


class Elsewhere:
    """A function that another thread is in the middle of, inside of a ``with`` block."""

    def __init__(self, function: Callable[[Callable[[], None]], Any]) -> None:
        self._inside, self._go_on = threading.Event(), threading.Event()
        self._process = os.getpid()
        self._thread = threading.Thread(target=function, args=(self._stay,))

    def _stay(self) -> None:
        if os.getpid() == self._process and threading.current_thread() is self._thread:
            self._inside.set()
            self._go_on.wait(60)

    def __enter__(self) -> None:
        self._thread.start()
        assert self._inside.wait(60)

    def __exit__(self, *error: object) -> None:
        self._go_on.set()
        self._thread.join(60)
        assert not self._thread.is_alive()
