"""The table of layers: `CASES`, each class at least once."""

from __future__ import annotations

import layer_cases_common  # noqa: F401 - puts its rows into the table
import layer_cases_images  # noqa: F401
import layer_cases_losses  # noqa: F401
import layer_cases_norms  # noqa: F401
from layer_case import CASES, Case

__all__ = ["CASES", "Case"]
