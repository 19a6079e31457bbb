"""Devices besides the CPU, which some backend reaches.

To ask what there is would load that backend's library, which takes a second, and memory of the
device. So questions are answered for it only once it was asked for: by `set_device`, by the
environment variable that chooses a backend, or by a program that it has compiled.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from autograd_engine.compiler.backend import BACKENDS, VARIABLE, Backend
from autograd_engine.core.place import KINDS, Place, current_place

__all__ = ["find", "places", "wait"]


def places(*kinds: str) -> list[Place]:
    """All devices of these kinds, by default of any, but for the one that every tensor is on.

    None of a backend that was not asked for.
    """
    found = [
        Place(kind, k)
        for backend in _reaching()
        if _was_asked_for(backend)
        for kind in kinds or KINDS
        for k in range(len(_module(backend).devices(kind)))
    ]
    return [place for place in found if not place.is_plain_cpu]


def find(place: Place) -> None:
    """Ask for a device.

    Raises
    ------
    LookupError
        When no backend reaches it.
    """
    problems = []
    for backend in _reaching():
        if backend.missing:
            problems.append(f"{backend.library}, which may reach it, is missing: {backend.missing}")
            continue
        count = len(_module(backend).devices(place.kind))
        if place.index < count:
            return
        problems.append(f"{backend.library} has {count} devices of the kind {place.kind!r}")
    raise LookupError("; ".join(problems))


def wait() -> None:
    """Wait until all that was begun on devices is done."""
    for backend in _reaching():
        if backend.devices in sys.modules:
            _module(backend).wait()


def _reaching() -> list[Backend]:
    return [backend for backend in BACKENDS.values() if backend.devices]


def _was_asked_for(backend: Backend) -> bool:
    asked = not current_place().is_plain_cpu or os.environ.get(VARIABLE) == backend.name
    return (asked and not backend.missing) or backend.devices in sys.modules


def _module(backend: Backend) -> Any:
    return importlib.import_module(backend.devices)
