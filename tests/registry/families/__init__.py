"""What each operation is tried on and compared with, in files named like the modules of `ops`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

__all__ = ["FAMILIES"]

FAMILIES: dict[str, ModuleType] = {
    found.name: import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)
}
