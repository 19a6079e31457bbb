"""The references of every operation of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .families import FAMILIES
from .referencing import SEED

__all__ = ["REFERENCES", "SEED"]

REFERENCES: dict[str, Callable[..., Any]] = {
    name: reference for family in FAMILIES.values() for name, reference in family.REFERENCES.items()
}
