"""Of CUDA devices, ``paddle.device.cuda``: there are none, and nothing to wait for or to free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import listed

__all__ = ["device_count", "empty_cache", "synchronize"]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


def device_count() -> int:
    """0, so that programs that ask go on on the CPU.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.device.cuda.device_count()
    0
    """
    return 0


def empty_cache() -> None:
    """Nothing: no memory of a device is kept."""


def synchronize(device: object = None) -> None:
    """Nothing: what was computed is there when a call returns."""
