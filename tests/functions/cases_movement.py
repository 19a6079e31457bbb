"""Calls of the public functions of `movement`."""

from __future__ import annotations

from .case import Case

CASES: dict[str, list[Case]] = {}
