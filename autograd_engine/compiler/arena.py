"""One block of memory in which arrays lie side by side while they live."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ALIGNMENT", "Interval", "aligned", "offsets"]

ALIGNMENT: Final = 64  # bytes: a line of the cache, and the widest vector


class Interval(NamedTuple):
    """`nbytes` that are in use from the step `first` to the step `last`, both included."""

    nbytes: int
    first: int
    last: int


class _Free:
    """Gaps in a block, found by size and by where they begin and end."""

    def __init__(self) -> None:
        self.by_size: list[tuple[int, int]] = []
        self.starts: dict[int, int] = {}
        self.stops: dict[int, int] = {}

    def _add(self, start: int, size: int) -> None:
        insort(self.by_size, (size, start))
        self.starts[start] = size
        self.stops[start + size] = size

    def _remove(self, start: int, size: int) -> None:
        del self.by_size[bisect_left(self.by_size, (size, start))]
        del self.starts[start]
        del self.stops[start + size]

    def release(self, start: int, size: int) -> None:
        before = self.stops.get(start)
        if before is not None:
            self._remove(start - before, before)
            start, size = start - before, size + before
        behind = self.starts.get(start + size)
        if behind is not None:
            self._remove(start + size, behind)
            size += behind
        self._add(start, size)

    def take(self, size: int) -> int | None:
        """The place of the smallest gap that is large enough."""
        k = bisect_left(self.by_size, (size, -1))
        if k == len(self.by_size):
            return None
        found, start = self.by_size[k]
        self._remove(start, found)
        if found > size:
            self._add(start + size, found - size)
        return start

    def grow(self, total: int) -> int:
        """The place of bytes that end beyond `total`: a gap at the end is made longer."""
        last = self.stops.get(total)
        if last is None:
            return total
        self._remove(total - last, last)
        return total - last


def offsets(intervals: Sequence[Interval]) -> tuple[list[int], int]:
    """A place for each interval, so that those that are in use at one time do not overlap.

    Parameters
    ----------
    intervals : sequence of Interval

    Returns
    -------
    places : list of int
        Multiples of `ALIGNMENT`.
    total : int
        Bytes of the block.

    Examples
    --------
    >>> offsets([Interval(100, 0, 1), Interval(50, 1, 2), Interval(90, 2, 3)])
    ([0, 128, 0], 192)
    """
    places = [0] * len(intervals)
    sizes = [-(-max(i.nbytes, 1) // ALIGNMENT) * ALIGNMENT for i in intervals]
    free, total = _Free(), 0
    ends: dict[int, list[int]] = {}
    starts: dict[int, list[int]] = {}
    for k, interval in enumerate(intervals):
        starts.setdefault(interval.first, []).append(k)
        ends.setdefault(interval.last + 1, []).append(k)
    for step in sorted({*starts, *ends}):
        for k in ends.get(step, ()):
            free.release(places[k], sizes[k])
        # The largest first: they fill the gaps that others would leave.
        for k in sorted(starts.get(step, ()), key=lambda k: -intervals[k].nbytes):
            place = free.take(sizes[k])
            if place is None:
                place = free.grow(total)
                total = place + sizes[k]
            places[k] = place
    return places, total


def aligned(nbytes: int) -> NDArray[Any]:
    """Bytes that begin at a multiple of `ALIGNMENT`."""
    memory = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + nbytes]
