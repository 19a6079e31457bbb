"""The cases of every public function that computes with tensors, by its public name."""

from __future__ import annotations

from .derived import derived
from .families import WRITTEN

__all__ = ["CASES", "family"]

DERIVED = derived({name for held in WRITTEN.values() for name in held})
FAMILIES = {f: WRITTEN.get(f, {}) | DERIVED.get(f, {}) for f in WRITTEN | DERIVED}
CASES = {name: listed for family in FAMILIES.values() for name, listed in family.items()}
_FAMILY_OF = {name: family for family, held in FAMILIES.items() for name in held}


def family(label: str) -> str:
    """The family of the function that a label, ``name`` or ``name-case``, begins with."""
    return _FAMILY_OF[label.partition("-")[0]]
