"""Memory of what a program computes: one block, where values lie side by side while they live.

An address is there, or in what a function is given.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

__all__ = ["Arena", "CLOCK", "FEW", "RESOLVE", "Address"]


class Address(NamedTuple):
    """A place in memory: one of the pointers of a run, and bytes from there."""

    pointer: int
    offset: int

    def __str__(self) -> str:
        if self.pointer == 0:
            return f"arena + {self.offset}"
        base = f"p[{self.pointer}]"
        return f"(char *){base} + {self.offset}" if self.offset else base


# From so many addresses on they are kept in a table.
FEW: Final = 40
# What reads that table.
RESOLVE: Final = """static inline __attribute__((unused)) void ae_addresses(
    void **p, const int64_t *at, void **q, int64_t n)
{
    for (int64_t i = 0; i < n; i++) q[i] = (char *)p[at[2 * i]] + at[2 * i + 1];
}
"""

# Notes the time, in a program that is timed.
CLOCK: Final = """#include <time.h>
static inline __attribute__((unused)) void ae_stamp(void *place)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *(double *)place = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
"""


ALIGNMENT: Final = 64


class Arena:
    """Offsets of values whose lifetimes are known.

    Parameters
    ----------
    sizes : dict of int to int
        Bytes of each value.
    first, last : dict of int to int
        When it is written first, and read last.

    Attributes
    ----------
    offsets : dict of int to int
    size : int
        Bytes of all.
    """

    def __init__(
        self, sizes: Mapping[int, int], first: Mapping[int, int], last: Mapping[int, int]
    ) -> None:
        self.offsets: dict[int, int] = {}
        self.size = 0
        self._free: list[tuple[int, int]] = []  # (offset, bytes), apart and in order
        ending: dict[int, list[int]] = {}
        starting: dict[int, list[int]] = {}
        for value in sizes:
            starting.setdefault(first[value], []).append(value)
            ending.setdefault(last[value], []).append(value)
        for time in sorted({*starting, *ending}):
            # The largest first: they fill the gaps that others would leave.
            for value in sorted(starting.get(time, ()), key=lambda v: -sizes[v]):
                self.offsets[value] = self._take(_rounded(sizes[value]))
            self._give((self.offsets[v], _rounded(sizes[v])) for v in ending.get(time, ()))

    def _take(self, size: int) -> int:
        """The tightest gap, or the end."""
        best = min(
            (k for k, (_, gap) in enumerate(self._free) if gap >= size),
            key=lambda k: self._free[k][1],
            default=None,
        )
        if best is not None:
            offset, gap = self._free.pop(best)
            if gap > size:
                self._free.insert(best, (offset + size, gap - size))
            return offset
        offset = self.size
        if self._free and sum(self._free[-1]) == self.size:
            offset, _ = self._free.pop()
        self.size = offset + size
        return offset

    def _give(self, blocks: Iterable[tuple[int, int]]) -> None:
        for offset, size in blocks:
            k = bisect.bisect_left(self._free, (offset, 0))
            if k < len(self._free) and offset + size == self._free[k][0]:
                size += self._free.pop(k)[1]
            if k and sum(self._free[k - 1]) == offset:
                k -= 1
                offset, more = self._free.pop(k)
                size += more
            self._free.insert(k, (offset, size))


def _rounded(size: int) -> int:
    return -(-max(size, 1) // ALIGNMENT) * ALIGNMENT
