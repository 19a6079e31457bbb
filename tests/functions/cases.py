"""The cases of every public function that computes with tensors, by its public name."""

from __future__ import annotations

from . import (
    cases_activations,
    cases_creation,
    cases_indexing,
    cases_inplace,
    cases_linalg,
    cases_losses,
    cases_math,
    cases_movement,
    cases_statistics,
    cases_vision,
)
from .case import Case

__all__ = ["CASES"]

CASES: dict[str, list[Case]] = {
    **cases_activations.CASES,
    **cases_creation.CASES,
    **cases_indexing.CASES,
    **cases_inplace.CASES,
    **cases_linalg.CASES,
    **cases_losses.CASES,
    **cases_math.CASES,
    **cases_movement.CASES,
    **cases_statistics.CASES,
    **cases_vision.CASES,
}
