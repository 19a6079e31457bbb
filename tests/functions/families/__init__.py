"""The calls of public functions, in files named like the modules that have them."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..case import Case

__all__ = ["WRITTEN"]

WRITTEN: dict[str, dict[str, list[Case]]] = {
    found.name: import_module(f"{__name__}.{found.name}").CASES for found in iter_modules(__path__)
}
