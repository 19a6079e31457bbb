"""What a package shows: what it imports, and what is imported when it is first asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from autograd_engine.core.names.missing_names import missing

__all__ = ["face", "lazily", "listed"]

Find = Callable[[str], Any]


def lazily(package: str, lazy: Mapping[str, str], submodules: str = "") -> Find:
    """A ``__getattr__`` for `package`.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    lazy : dict of str to str
        For each module, without ``autograd_engine.`` in front, the names that it has.
    submodules : str
        Modules of the package itself.
    """
    origins = {name: module for module, names in lazy.items() for name in names.split()}
    modules = set(submodules.split())

    def found_in(name: str) -> Any:
        if name == "__path__":  # which each import from a module that is no package asks for
            raise AttributeError(name)
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        origin = origins.get(name)
        if origin is None:
            raise missing(package, name)
        found = getattr(importlib.import_module(f"autograd_engine.{origin}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return found_in


def listed(
    module: str, lazy: Mapping[str, str] | None = None
) -> tuple[Find, Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that lists in ``__all__`` what users find."""
    return lazily(module, lazy or {}), lambda: vars(sys.modules[module])["__all__"]


def face(
    package: str, lazy: Mapping[str, str] | None = None, submodules: str = ""
) -> tuple[Find, Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package that shows what others define.

    It exports what `lazily` finds, and besides all that it holds when this is called, but for
    modules and names with an underscore: what a type checker takes to be exported too.
    """
    held = vars(sys.modules[package]).items()
    names = {name for name, value in held if name[0] != "_" and not isinstance(value, ModuleType)}
    names |= {*submodules.split(), *" ".join((lazy or {}).values()).split()}
    exported = sorted(names)
    return lazily(package, lazy or {}, submodules), lambda: exported, exported
