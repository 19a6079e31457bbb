"""Which mode new arrays are made in: eager tensors, or variables of the default program."""

from __future__ import annotations

from typing import Final

from autograd_engine.core.overrides import Setting
from autograd_engine.errors import ModeError

__all__ = [
    "building",
    "disable_static",
    "enable_static",
    "guarded",
    "in_dynamic_mode",
    "require_dynamic",
    "require_static",
]


guarded: Final = Setting("autograd_engine.program_guard", False)
"""Whether a `program_guard` is open: what is made there belongs to its program in either mode."""


class _Mode:
    static: bool = False


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
    return _Mode.static or guarded.get()


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
