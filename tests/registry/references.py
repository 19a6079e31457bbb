"""The references of every operation of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import (
    references_activations,
    references_basic,
    references_indexing,
    references_linalg,
    references_losses,
    references_math,
    references_movement,
    references_recurrent,
    references_statistics,
    references_updates,
    references_vision,
)
from .references_basic import SEED

__all__ = ["REFERENCES", "SEED"]

REFERENCES: dict[str, Callable[..., Any]] = {
    **references_activations.REFERENCES,
    **references_basic.REFERENCES,
    **references_indexing.REFERENCES,
    **references_linalg.REFERENCES,
    **references_losses.REFERENCES,
    **references_math.REFERENCES,
    **references_movement.REFERENCES,
    **references_recurrent.REFERENCES,
    **references_statistics.REFERENCES,
    **references_updates.REFERENCES,
    **references_vision.REFERENCES,
}
