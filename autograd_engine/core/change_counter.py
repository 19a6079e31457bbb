"""Objects that many programs are made for, and that say cheaply that none of them has changed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final

__all__ = ["Counted", "ChangeCounter"]


class ChangeCounter:
    """`latest` is another number after any attribute of a `Counted` object was set or deleted."""

    latest: int = 0
    _numbers: Final[Iterator[int]] = itertools.count(1)

    @classmethod
    def note(cls) -> None:
        """One step of the counter, so that two threads get two numbers."""
        cls.latest = next(cls._numbers)


class Counted:
    """Whose attributes are set in the way that is counted."""

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        ChangeCounter.note()

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        ChangeCounter.note()
