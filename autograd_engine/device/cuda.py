"""Of CUDA devices, ``paddle.device.cuda``; see `paddle.device`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_engine.compiler.devices import places, wait
from autograd_engine.core.lazy import listed

__all__ = ["device_count", "empty_cache", "synchronize"]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


def device_count() -> int:
    """How many there are: 0 also where nobody has asked for a backend that reaches them.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.device.cuda.device_count()
    0
    """
    return len(places("gpu"))


def empty_cache() -> None:
    """Nothing: no memory is kept that nobody uses."""


def synchronize(device: object = None) -> None:
    """Wait until what was called is done."""
    wait()
