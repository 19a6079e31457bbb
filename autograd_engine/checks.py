"""Arguments that are switches."""

from __future__ import annotations

from typing import Any

from autograd_engine.errors import ArgumentError

__all__ = ["require_bools"]


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
