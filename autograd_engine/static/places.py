"""Where programs run."""

from __future__ import annotations

import os

from autograd_engine.errors import ArgumentError
from autograd_engine.tensor.place import CPUPlace

__all__ = ["cpu_places"]


def cpu_places(device_count: int | None = None) -> list[CPUPlace]:
    """So many places; by default as many as the environment variable ``CPU_NUM`` says, or one.

    Examples
    --------
    >>> cpu_places(2)
    [Place(cpu), Place(cpu)]
    """
    count = device_count
    if count is None:
        given = os.environ.get("CPU_NUM", "1")
        count = int(given) if given.isdecimal() else 0
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ArgumentError(
            "cpu_places: device_count must be a positive int, got "
            f"{os.environ.get('CPU_NUM') if device_count is None else device_count!r}"
        )
    return [CPUPlace()] * count
