"""Which mode new arrays are made in: eager tensors, or variables of the default program."""

from __future__ import annotations

import threading

from autograd_engine.errors import ModeError

__all__ = [
    "building",
    "disable_static",
    "enable_static",
    "guards",
    "in_dynamic_mode",
    "set_guards",
    "require_dynamic",
    "require_static",
]


class _Guards(threading.local):
    depth: int = 0


class _Mode:
    static: bool = False


_guards = _Guards()


def enable_static() -> None:
    """From here on, creation functions and layers add to the default program.

    Examples
    --------
    >>> enable_static()
    >>> in_dynamic_mode()
    False
    >>> disable_static()
    """
    _Mode.static = True


def disable_static(place: object = None) -> None:
    """Back to eager mode, the default."""
    _Mode.static = False


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
    return _Mode.static or _guards.depth > 0


def guards() -> int:
    """How many blocks of `program_guard` are open in this thread."""
    return _guards.depth


def set_guards(depth: int) -> None:
    """Inside `program_guard` what is made belongs to its program in either mode."""
    _guards.depth = depth


def require_static(function: str) -> None:
    """Raise ModeError in eager mode."""
    if not building():
        raise ModeError(
            f"{function} builds a program, and eager mode is on: call paddle.enable_static() first"
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
            "call paddle.disable_static() first"
        )
