"""Where the buffers of a plan lie: results written over what is read for the last time, and the
rest side by side in one block, in which those not alive at one time share places.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence, Set
from typing import Any, Final, NamedTuple

from autograd_engine.compiler.planned.buffers import Buffer, Local, Place
from autograd_engine.compiler.planned.steps import Elementwise, Step, buffers_of
from autograd_engine.ops.kernels.elementwise import EXACT

__all__ = ["arena", "last_uses", "written_over", "ALIGNMENT", "Interval", "offsets"]

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

    def grow(self, size: int, total: int) -> int:
        """The place of `size` bytes that end beyond `total`: a gap at the end is made longer."""
        last = self.stops.get(total)
        if last is None:
            return total
        self._remove(total - last, last)
        return total - last


def offsets(intervals: Sequence[Interval], alignment: int = ALIGNMENT) -> tuple[list[int], int]:
    """A place for each interval, so that those that are in use at one time do not overlap.

    Parameters
    ----------
    intervals : sequence of Interval
    alignment : int
        All places are multiples of it.

    Returns
    -------
    places : list of int
    total : int
        Bytes of the block.

    Examples
    --------
    >>> offsets([Interval(100, 0, 1), Interval(50, 1, 2), Interval(90, 2, 3)])
    ([0, 128, 0], 192)
    """
    places = [0] * len(intervals)
    sizes = [-(-max(i.nbytes, 1) // alignment) * alignment for i in intervals]
    free, total = _Free(), 0
    ends: dict[int, list[int]] = {}
    starts: dict[int, list[int]] = {}
    for k, interval in enumerate(intervals):
        starts.setdefault(interval.first, []).append(k)
        ends.setdefault(interval.last + 1, []).append(k)
    for step in sorted({*starts, *ends}):
        for k in ends.get(step, ()):
            free.release(places[k], sizes[k])
        for k in sorted(starts.get(step, ()), key=lambda k: -sizes[k]):
            place = free.take(sizes[k])
            if place is None:
                place = free.grow(sizes[k], total)
                total = place + sizes[k]
            places[k] = place
    return places, total


def last_uses(steps: Sequence[Step]) -> dict[Buffer | Local, int]:
    """The step that last touches a buffer or a Local."""
    last: dict[Buffer | Local, int] = {}
    for k, step in enumerate(steps):
        for token in (*step.touched(), *step.written()):
            last[token] = k
    return last


def written_over(steps: Sequence[Step], pinned: Set[Buffer]) -> None:
    """Let elementwise steps write over operands that they are the last to read.

    `pinned` are buffers whose parts have their places already.
    """
    last = last_uses(steps)
    seen: set[Any] = set()
    for k, step in enumerate(steps):
        if isinstance(step, Elementwise) and step.ufunc in EXACT:
            _write_over(step, k, last, seen, pinned)
        seen.update(step.touched())


def _write_over(
    step: Elementwise, k: int, last: dict[Any, int], seen: set[Any], pinned: Set[Buffer]
) -> None:
    out = step.out
    if not isinstance(out.base, Buffer):
        return
    target, shift = out.base.root()
    fixed = target in pinned
    if target.persistent or (not fixed and target in seen) or out.offset:
        return
    if not fixed and (shift or target.nbytes != out.nbytes):
        return
    for source in step.sources:
        if not (isinstance(source, Place) and isinstance(source.base, Buffer)):
            continue
        root, start = source.base.root()
        if (
            last.get(root) == k
            and root is not target
            and not root.persistent
            and root not in pinned
            and start + source.offset == 0
            and root.nbytes == out.nbytes
            and source.shape == out.shape
            and source.strides == out.strides
            and all(_apart(other, source, root) for other in step.sources)
        ):
            if fixed:
                root.put_into(target, shift)
            else:
                target.put_into(root)
                last[root] = last[target]
                seen.add(root)
            return


def _apart(other: Any, source: Place, root: Buffer) -> bool:
    """Whether `other` is the same as `source`, or in other memory."""
    return (isinstance(other, Place) and other.key == source.key) or all(
        b is not root for b in buffers_of(other)
    )


def arena(steps: Sequence[Step]) -> tuple[dict[Buffer, int], int]:
    """The place of each buffer in one block, and the bytes of the block."""
    first: dict[Buffer, int] = {}
    last: dict[Buffer, int] = {}
    for k, step in enumerate(steps):
        for token in step.touched():
            if isinstance(token, Buffer) and not token.persistent:
                first.setdefault(token, k)
                last[token] = k
    buffers = list(first)
    places, total = offsets([Interval(b.nbytes, first[b], last[b]) for b in buffers])
    return dict(zip(buffers, places, strict=True)), total
