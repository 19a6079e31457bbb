"""What classes have from rooms above theirs: `bindings` says where it is, first use loads it.

A method whose work is done further up, ``Program.to_python`` say, is declared and documented in its
class and asks for the function here; so no import points upwards.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["ORIGINS", "above"]

ORIGINS: dict[str, str] = {}
"""For each name the module that has it, without ``autograd_engine.`` in front."""


class _Above:
    """The functions by their names."""

    def __getattr__(self, name: str) -> Any:
        origin = ORIGINS.get(name)
        if origin is None:
            raise AttributeError(f"nothing above is called {name!r}")
        found = getattr(importlib.import_module(f"autograd_engine.{origin}"), name)
        setattr(self, name, found)
        return found


above = _Above()
