"""Samples of the operations of `losses`."""

from __future__ import annotations

from .sampling import Sample

SAMPLES: dict[str, list[Sample]] = {}
