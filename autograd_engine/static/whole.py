"""Functions of several operations that append all of them to a program, or none."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

from autograd_engine.static.program import (
    Block,
    Operator,
    Variable,
    default_main_program,
)

__all__ = ["whole"]

P = ParamSpec("P")
T = TypeVar("T")


def whole(function: Callable[P, T]) -> Callable[P, T]:
    """`function` such that a call that fails leaves the programs of its operands as they were.

    Nothing is looked at unless it fails: operators are numbered as they are made, so those of the
    call are known by their numbers.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        before = Operator.made
        try:
            return function(*args, **kwargs)
        except BaseException:
            if Operator.made != before:
                blocks = {default_main_program().current_block(), *_blocks((args, kwargs))}
                for block in blocks:
                    block.undo(before)
            raise

    return call


def _blocks(value: Any) -> Iterator[Block]:
    """The blocks of all Variables in nested arguments."""
    if isinstance(value, Variable):
        yield value.block
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _blocks(part)
    elif isinstance(value, dict):
        yield from _blocks(tuple(value.values()))
