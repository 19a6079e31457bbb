"""Keeping freed memory for the next array, where the C library gives it back too eagerly.

A training step frees and allocates the same large arrays again and again. glibc returns a freed
block at the end of its heap to the system, and the next allocation faults every page in anew: 5,800
faults, and twice the time, for a forward and backward `gelu` of a million elements. Two of its
thresholds decide that; both are raised when the engine is imported. What has been freed then stays
with the process, up to `TRIM` bytes.

``AUTOGRAD_ENGINE_MALLOC=0`` in the environment leaves the allocator alone. Elsewhere than on glibc
nothing is done.
"""

from __future__ import annotations

import os

__all__ = ["keep_freed_memory"]

# The parameters of glibc's mallopt(3).
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
TRIM = 256 << 20  # free bytes at the end of the heap that are kept
MMAP = 32 << 20  # the largest value that glibc takes: larger blocks are mapped on their own


def keep_freed_memory() -> bool:
    """Raise the thresholds; whether that was done."""
    if os.environ.get("AUTOGRAD_ENGINE_MALLOC") == "0":
        return False
    if any(name in os.environ for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")):
        return False  # the user has chosen
    try:
        if not os.confstr("CS_GNU_LIBC_VERSION"):
            return False
        import ctypes

        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, ImportError, OSError, ValueError):
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, MMAP)) and bool(mallopt(M_TRIM_THRESHOLD, TRIM))
