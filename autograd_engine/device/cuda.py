"""``paddle.device.cuda``: what programs call without asking first whether there is one."""

from __future__ import annotations

__all__ = ["device_count", "empty_cache", "synchronize"]


def __dir__() -> list[str]:
    return __all__


def device_count() -> int:
    """0: all arrays are on the CPU."""
    return 0


def empty_cache() -> None:
    """There is nothing to free."""


def synchronize(device: object = None) -> None:
    """Returns at once: what has been called has been computed."""
