"""What many functions and blocks check alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.errors import ArgumentError, ArgumentTypeError, ModeError

__all__ = [
    "int_at_least",
    "is_int",
    "left_unentered",
    "plain_number",
    "positive_int",
    "require_bools",
]


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


def is_int(value: Any) -> bool:
    """Whether that is an int, of Python or of NumPy, and no bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def int_at_least(function: str, argument: str, value: Any, least: int = 1) -> int:
    """`value` as an int, which is no bool and not below `least`."""
    if not is_int(value) or value < least:
        raise ArgumentError(
            f"{function}: {argument} must be an int, {least} at least; got {value!r}"
        )
    return int(value)


def positive_int(function: str, argument: str, value: Any) -> int:
    """`value` as an int, which is no bool and above 0."""
    if not is_int(value) or value < 1:
        raise ArgumentError(f"{function}: {argument} must be a positive int, got {value!r}")
    return int(value)


def plain_number(function: str, argument: str, value: Any, *, infinite: bool = False) -> float:
    """A real number as a float: no bool, and a finite one unless it may be infinite."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(
            f"{function}: {argument} must be a number, got {type(value).__name__}"
        )
    if math.isnan(value) or (math.isinf(value) and not infinite):
        wanted = "a number" if infinite else "finite"
        raise ArgumentError(f"{function}: {argument} must be {wanted}, got {value}")
    return float(value)


def left_unentered(manager: object) -> ModeError:
    """What to raise where a context manager is left more often than entered."""
    name = type(manager).__name__
    return ModeError(f"{name} was left without being entered: write `with {name}(...):`")
