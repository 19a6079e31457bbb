"""The devices that jax has, by the names that users write."""

from __future__ import annotations

from typing import Any

import jax

from autograd_engine.core.place import Place, current_place

__all__ = ["current_device", "device_at", "devices", "wait"]


def devices(kind: str) -> list[Any]:
    """Those of a kind, "cpu", "gpu" or "tpu"; none where there are none."""
    try:
        return list(jax.local_devices(backend=kind))
    except RuntimeError:  # which is how jax says that it knows of none
        return []


def wait() -> None:
    """Wait until all arrays are there."""
    jax.block_until_ready(jax.live_arrays())


def device_at(place: Place) -> Any:
    """The device of a place.

    Raises
    ------
    LookupError
        When there is none.
    """
    found = devices(place.kind)
    if place.index >= len(found):
        raise LookupError(f"jax has {len(found)} devices of the kind {place.kind!r}")
    return found[place.index]


def current_device() -> Any:
    """Where programs run that are compiled now."""
    return device_at(current_place())
