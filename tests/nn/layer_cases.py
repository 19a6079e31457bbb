"""The table of layers: `CASES`, each class at least once."""

from __future__ import annotations

from tests.nn import (  # each puts its rows into the table
    layer_cases_common,  # noqa: F401
    layer_cases_images,  # noqa: F401
    layer_cases_losses,  # noqa: F401
    layer_cases_norms,  # noqa: F401
)
from tests.nn.layer_case import CASES, Case

__all__ = ["CASES", "Case"]
