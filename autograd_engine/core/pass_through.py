"""Exceptions that a run of a program hands on as they are, with the user's own traceback."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["passes_through", "pass_through"]

E = TypeVar("E", bound=BaseException)

_MARK = "_autograd_engine_comes_through"


def pass_through(error: E, note: str | None = None) -> E:
    """`error`, marked: it says itself what has happened, or code of the user's has raised it."""
    if not passes_through(error):
        setattr(error, _MARK, True)
        if note is not None:
            error.add_note(note)
    return error


def passes_through(error: BaseException) -> bool:
    """Whether `error` is marked."""
    return getattr(error, _MARK, False) is True
