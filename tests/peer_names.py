"""The names of other libraries, and what is told of them here: `tools/names/peers.py`."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["ROOT", "peers", "told"]

ROOT = Path(__file__).resolve().parents[1]


@functools.cache
def peers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("peers", ROOT / "tools" / "names" / "peers.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["peers"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def told() -> list[Any]:
    """A record of each name at each place where it is typed."""
    return list(peers().told())
