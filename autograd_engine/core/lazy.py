"""Names of a package that are imported when they are first asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograd_engine.core.missing_names import missing

__all__ = ["lazily"]


def lazily(
    package: str, origins: Mapping[str, str], submodules: Sequence[str] = ()
) -> Callable[[str], Any]:
    """A ``__getattr__`` for `package`.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    origins : dict of str to str
        For each name the module that has it, without ``autograd_engine.`` in front.
    submodules : sequence of str
        Modules of the package itself.
    """

    def found_in(name: str) -> Any:
        if name in submodules:
            return importlib.import_module(f"{package}.{name}")
        origin = origins.get(name)
        if origin is None:
            raise missing(package, name)
        found = getattr(importlib.import_module(f"autograd_engine.{origin}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return found_in
