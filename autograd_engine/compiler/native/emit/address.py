"""Where values are when a program runs: in its arena, or in what it is given."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["CLOCK", "FEW", "RESOLVE", "Address"]


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
