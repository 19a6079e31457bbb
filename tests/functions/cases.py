"""The cases of every public function that computes with tensors, by its public name."""

from __future__ import annotations

from . import (
    cases_activation,
    cases_creation,
    cases_indexing,
    cases_inplace,
    cases_linalg,
    cases_loss,
    cases_math,
    cases_movement,
    cases_statistics,
    cases_vision,
)
from .case import Case
from .derived import derived

__all__ = ["CASES", "family"]

WRITTEN: dict[str, dict[str, list[Case]]] = {
    "activation": cases_activation.CASES,
    "creation": cases_creation.CASES,
    "indexing": cases_indexing.CASES,
    "inplace": cases_inplace.CASES,
    "linalg": cases_linalg.CASES,
    "loss": cases_loss.CASES,
    "math": cases_math.CASES,
    "movement": cases_movement.CASES,
    "statistics": cases_statistics.CASES,
    "vision": cases_vision.CASES,
}
DERIVED = derived({name for held in WRITTEN.values() for name in held})
FAMILIES = {f: WRITTEN.get(f, {}) | DERIVED.get(f, {}) for f in WRITTEN | DERIVED}
CASES = {name: listed for family in FAMILIES.values() for name, listed in family.items()}
_FAMILY_OF = {name: family for family, held in FAMILIES.items() for name in held}


def family(label: str) -> str:
    """The family of the function that a label, ``name`` or ``name-case``, begins with."""
    return _FAMILY_OF[label.partition("-")[0]]
