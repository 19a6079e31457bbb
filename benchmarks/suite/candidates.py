"""What is timed: a step, and how to wait for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Candidate", "Maker"]


@dataclass(frozen=True)
class Candidate:
    """One training step in one library.

    Parameters
    ----------
    step : callable
        Makes one step, and returns its loss in the library's own form, perhaps before it is known.
    finish : callable
        Waits for the step that returned this loss, and returns it as a float.
    backend : callable
        Once a step was made: what of the library ran it, where that is not plain.
    """

    step: Callable[[], Any]
    finish: Callable[[Any], float] = float
    backend: Callable[[], str] = str


Maker = Callable[[], Candidate]
