"""Where arrays are: names that programs of the reference use. Everything is on the CPU."""

from __future__ import annotations

from typing import Final

__all__ = ["CPU", "CPUPlace"]


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
