"""The table of operator types, all of it: importing this module fills it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.static.executor.feeds import similar
from autograd_engine.static.operator_types import (
    arithmetic as arithmetic,
    blocks as blocks,
    creation as creation,
    images as images,
    losses as losses,
    matrices as matrices,
    movement as movement,
    reductions as reductions,
    training as training,
)
from autograd_engine.static.operator_types.declaring import TYPES, OperatorType

__all__ = ["TYPES", "operator_type"]


def operator_type(name: Any) -> OperatorType:
    """The type of that name; an ArgumentError with those that are near."""
    found = TYPES.get(name) if isinstance(name, str) else None
    if found is not None:
        return found
    if not isinstance(name, str):
        raise ArgumentTypeError(
            f"append_op: type must be the name of an operator type, got {type(name).__name__}"
        )
    raise ArgumentError(f"append_op: there is no operator type {name!r}; {_near(name)}")


def _near(name: str) -> str:
    close = similar(name, TYPES)
    if close:
        return f"did you mean {close!r}?"
    listed: Sequence[str] = sorted(TYPES)
    return f"there are {len(listed)}: {', '.join(listed)}"
