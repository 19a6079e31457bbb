"""What the operations of `linalg` should compute, said in another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

REFERENCES: dict[str, Callable[..., Any]] = {}
