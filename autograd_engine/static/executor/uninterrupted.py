"""Runs that an interrupt does not cut in two.

Python raises KeyboardInterrupt between any two statements of the main thread. A backend that writes
state in place with more than one of them would leave it half new, so the interrupt waits until the
run is over.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["uninterrupted"]

T = TypeVar("T")


class _Main:
    thread = threading.main_thread().ident


def _forked() -> None:
    _Main.thread = threading.get_ident()  # the thread that has forked is the only one


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def uninterrupted(function: Callable[[], T]) -> Callable[[], T]:
    """The same function, in which no KeyboardInterrupt arises; one that came follows it."""
    sigint, get, put = signal.SIGINT, signal.getsignal, signal.signal
    here = threading.get_ident

    def call() -> T:
        if here() != _Main.thread:
            return function()
        handler = get(sigint)
        if not callable(handler):
            return function()
        came: list[Any] = []
        put(sigint, lambda *signal_and_frame: came.append(signal_and_frame))
        try:
            result = function()
        finally:
            put(sigint, handler)
            if came:
                handler(*came[-1])
        return result

    return call
