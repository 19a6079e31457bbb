"""What many functions and blocks check alike."""

from __future__ import annotations

from typing import Any

from autograd_engine.errors import ArgumentError, ModeError

__all__ = ["left_unentered", "require_bools"]


def require_bools(function: str, **values: Any) -> None:
    """Raise ArgumentError unless each of `values` is True or False.

    What merely counts as true is refused: most often it was meant for another parameter.
    """
    for name, value in values.items():
        if not isinstance(value, bool):
            shown = repr(value) if isinstance(value, (str, int, float)) else type(value).__name__
            raise ArgumentError(
                f"{function}: {name} must be True or False, got "
                f"{'None' if value is None else shown}"
            )


def left_unentered(manager: object) -> ModeError:
    """What to raise where a context manager is left more often than entered."""
    name = type(manager).__name__
    return ModeError(f"{name} was left without being entered: write `with {name}(...):`")
