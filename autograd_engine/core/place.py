"""Where arrays are, and where programs run that XLA compiles.

Every tensor is on the CPU: `CPUPlace` is a name that programs of the reference use. A program that
XLA compiles has its state on the device that `set_device` has chosen.
"""

from __future__ import annotations

from typing import Final

__all__ = ["CPU", "CPUPlace", "Place", "current_place", "place_of", "set_current_place"]


class CPUPlace:
    """The CPU, which is where every tensor is.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.CPUPlace()
    Place(cpu)
    >>> paddle.zeros([1]).place == paddle.CPUPlace()
    True
    """

    __slots__ = ()

    def is_cpu_place(self) -> bool:
        """True."""
        return True

    def is_gpu_place(self) -> bool:
        """False, as for every device that this engine does not run on."""
        return False

    is_cuda_pinned_place = is_custom_place = is_ipu_place = is_gpu_place
    is_xpu_pinned_place = is_xpu_place = is_gpu_place

    def __repr__(self) -> str:
        return "Place(cpu)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CPUPlace)

    def __hash__(self) -> int:
        return hash(CPUPlace)


CPU: Final = CPUPlace()


class Place:
    """A device, by its kind and number.

    Attributes
    ----------
    kind : {"cpu", "gpu", "tpu"}
    index : int
    """

    __slots__ = ("index", "kind")

    def __init__(self, kind: str, index: int = 0) -> None:
        self.kind = kind
        self.index = index

    @property
    def is_plain_cpu(self) -> bool:
        """Whether it is where all that XLA does not compile runs."""
        return self.kind == "cpu" and self.index == 0

    def is_cpu_place(self) -> bool:
        return self.kind == "cpu"

    def is_gpu_place(self) -> bool:
        return self.kind == "gpu"

    def is_custom_place(self) -> bool:
        """Whether it is of a kind that the reference reaches by a plug-in."""
        return self.kind == "tpu"

    def get_device_id(self) -> int:
        return self.index

    def __str__(self) -> str:
        return "cpu" if self.is_plain_cpu else f"{self.kind}:{self.index}"

    def __repr__(self) -> str:
        return f"Place({self})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CPUPlace):
            return self.is_plain_cpu
        return isinstance(other, Place) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(CPUPlace) if self.is_plain_cpu else hash(str(self))


KINDS: Final = ("cpu", "gpu", "tpu")


def place_of(name: str) -> Place | None:
    """The place of a name such as ``"gpu:1"``; None where it is no such name.

    Examples
    --------
    >>> place_of("gpu")
    Place(gpu:0)
    """
    kind, colon, number = name.partition(":")
    if kind not in KINDS or (colon and not number.isdecimal()):
        return None
    return Place(kind, int(number or 0))


class _Current:
    place = Place("cpu")


def current_place() -> Place:
    """What `set_device` has chosen."""
    return _Current.place


def set_current_place(place: Place) -> None:
    _Current.place = place
