"""Which mode new arrays are made in: eager tensors, or variables of the default program.

Static mode is one for the process, as in the reference; a `program_guard` is of its thread and
task.
"""

from __future__ import annotations

import threading
import weakref
from typing import Final, NamedTuple

from autograd_engine.core.locations import Location, caller
from autograd_engine.core.overrides import Setting
from autograd_engine.errors import ModeError

__all__ = [
    "building",
    "chosen_elsewhere",
    "disable_static",
    "enable_static",
    "guarded",
    "in_dynamic_mode",
    "require_dynamic",
    "require_static",
]


guarded: Final = Setting("autograd_engine.program_guard", False)
"""Whether a `program_guard` is open: what is made there belongs to its program in either mode."""


class _Switched(NamedTuple):
    """Who has chosen the mode, and where."""

    thread: weakref.ref[threading.Thread]
    name: str
    at: Location


class _Mode:
    static: bool = False
    switched: _Switched | None = None


def _switch(static: bool, at: Location) -> None:
    if static is not _Mode.static:
        thread = threading.current_thread()
        _Mode.switched = _Switched(weakref.ref(thread), thread.name, at)
        _Mode.static = static


def enable_static() -> None:
    """From here on, creation functions and layers add to the default program, in all threads.

    `static.program_guard` does so for a block, in its own thread.

    Examples
    --------
    >>> enable_static()
    >>> in_dynamic_mode()
    False
    >>> disable_static()
    """
    _switch(True, caller())


def disable_static(place: object = None) -> None:
    """Back to eager mode, the default, in all threads."""
    _switch(False, caller())


def in_dynamic_mode() -> bool:
    """True in eager mode.

    Examples
    --------
    >>> in_dynamic_mode()
    True
    """
    return not building()


def building() -> bool:
    """Whether operations without operands belong to a program: in static mode, or in a guard."""
    return _Mode.static or guarded.get()


def chosen_elsewhere() -> str:
    """What an error says besides, where another thread than this one has chosen the mode."""
    switched = _Mode.switched
    if switched is None or guarded.get() or switched.thread() is threading.current_thread():
        return ""
    state = "on" if _Mode.static else "off"
    return (
        f". Static mode, which is one for all threads, was switched {state} by the thread "
        f"{switched.name!r} at {switched.at.with_text}; a program_guard is of its "
        "thread alone: build inside of one, and leave the mode as it is"
    )


def require_static(function: str) -> None:
    """Raise ModeError in eager mode."""
    if not building():
        raise ModeError(
            f"{function} builds a program, and eager mode is on: call paddle.enable_static() first"
            + chosen_elsewhere()
        )


def require_dynamic(function: str) -> None:
    """Raise ModeError in static mode."""
    if building():
        if not _Mode.static:
            raise ModeError(
                f"{function} works on eager tensors, and a program_guard is open: call it outside "
                "the block"
            )
        raise ModeError(
            f"{function} works on eager tensors, and static mode is on: "
            "call paddle.disable_static() first" + chosen_elsewhere()
        )
