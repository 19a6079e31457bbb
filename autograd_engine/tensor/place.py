"""Places and devices: names that programs of the reference use. Everything runs on the CPU."""

from __future__ import annotations

import os
from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError

__all__ = ["CPUPlace", "cpu_places", "get_device", "is_tensor", "set_device"]


class CPUPlace:
    """The CPU.

    Examples
    --------
    >>> CPUPlace()
    Place(cpu)
    """

    def __repr__(self) -> str:
        return "Place(cpu)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CPUPlace)

    def __hash__(self) -> int:
        return hash(CPUPlace)


def get_device() -> str:
    """Always ``"cpu"``."""
    return "cpu"


def set_device(device: str) -> CPUPlace:
    """Accepts ``"cpu"``.

    Raises
    ------
    ArgumentError
        For any other device.
    """
    if device != "cpu":
        raise ArgumentError(f"set_device: this engine runs on 'cpu' only, got {device!r}")
    return CPUPlace()


def is_tensor(x: Any) -> bool:
    """Whether `x` is an eager Tensor."""
    return isinstance(x, Tensor)


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
