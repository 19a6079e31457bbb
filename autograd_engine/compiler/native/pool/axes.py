"""The windows along one axis of a pooling with known sizes, as numbers and as C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograd_engine.compiler.native.ir import contiguous_strides
from autograd_engine.core.compute_once import cached_property
from autograd_engine.ops.kernels.windows import Ints

__all__ = ["PoolAxis", "bin_axes", "grain", "pitch_of", "row_bounds", "window_axes"]


@dataclass(frozen=True)
class PoolAxis:
    """Windows p of `count`; those of adaptive pooling (`kernel` 0) are bins.

    Window p goes from stride p - before to `kernel` elements further, bin p from
    floor(p size / count) to ceil((p + 1) size / count); both are cut at the ends of the input.
    """

    size: int
    count: int
    kernel: int
    stride: int
    before: int
    after: int

    @cached_property
    def full(self) -> bool:
        """Whether all windows are inside the input, and of one size."""
        last = (self.count - 1) * self.stride + self.kernel
        return bool(self.kernel) and self.before == 0 and last <= self.size

    @cached_property
    def apart(self) -> bool:
        """Whether windows neither overlap nor leave gaps between them."""
        return self.full and self.stride == self.kernel

    def reached(self, tap: int) -> Ints:
        """The windows, from and to, in which element `tap` of a window is inside the input."""
        first = max(0, -((tap - self.before) // self.stride))
        last = (self.size - 1 + self.before - tap) // self.stride + 1
        return first, max(first, min(self.count, last))

    def bounds(self, p: str, lo: str, hi: str) -> str:
        """Declarations of where window `p` starts and stops inside the input."""
        if not self.kernel:
            return (
                f"int64_t {lo} = {p} * {self.size} / {self.count}, "
                f"{hi} = (({p} + 1) * {self.size} + {self.count - 1}) / {self.count};"
            )
        start = f"{p} * {self.stride}"
        if self.full:
            return f"int64_t {lo} = {start}, {hi} = {lo} + {self.kernel};"
        return (
            f"int64_t {lo} = {start} - {self.before}, {hi} = {lo} + {self.kernel}; "
            f"if ({lo} < 0) {lo} = 0; if ({hi} > {self.size}) {hi} = {self.size};"
        )

    def weight(self, p: str, exclusive: bool) -> str:
        """How many elements, or elements and padding, window `p` has."""
        if self.full:
            return str(self.kernel)
        if not self.kernel:
            return (
                f"((({p} + 1) * {self.size} + {self.count - 1}) / {self.count} "
                f"- {p} * {self.size} / {self.count})"
            )
        start = f"({p} * {self.stride} - {self.before})"
        end = self.size if exclusive else self.size + self.after
        stop = f"({start} + {self.kernel} < {end} ? {start} + {self.kernel} : {end})"
        return f"({stop} - ({start} > 0 ? {start} : 0))" if exclusive else f"({stop} - {start})"


def window_axes(
    image: Sequence[int], out: Sequence[int], attrs: Mapping[str, Any]
) -> list[PoolAxis]:
    """The axes of an image (N, C, *size) under max_pool or avg_pool."""
    return [
        PoolAxis(n, count, k, s, *padding)
        for n, count, k, s, padding in zip(
            image[2:], out[2:], attrs["kernel"], attrs["stride"], attrs["padding"], strict=True
        )
    ]


def bin_axes(image: Sequence[int], out: Sequence[int]) -> list[PoolAxis]:
    """The axes of an image under adaptive pooling: windows where all bins have one size."""
    return [
        PoolAxis(n, count, 0 if n % count else n // count, n // count, 0, 0)
        for n, count in zip(image[2:], out[2:], strict=True)
    ]


def pitch_of(axes: Sequence[PoolAxis]) -> Ints:
    """Elements of an image between neighbours along each axis."""
    return contiguous_strides(tuple(a.size for a in axes))


def row_bounds(axes: Sequence[PoolAxis]) -> list[str]:
    """Where the windows of a row start and stop along all axes but the last."""
    return [f"    {a.bounds(f'p{i}', f'lo{i}', f'hi{i}')}" for i, a in enumerate(axes[:-1])]


def grain(elements: int) -> int:
    """Planes of so many elements that are not worth dividing."""
    return max(1, 32_768 // max(1, elements))
