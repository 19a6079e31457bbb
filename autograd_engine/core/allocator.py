"""Memory for arrays, where the C library hands it out and takes it back in small pieces.

A training step frees and allocates the same large arrays again and again. On glibc two things make
that slow, and both are changed when the engine is imported.

A freed block at the end of the heap goes back to the system, and the next allocation faults every
page in anew: 5,800 faults, and twice the time, for a forward and backward `gelu` of a million
elements. Two thresholds decide that. Raised, what has been freed stays with the process, up to
a sixteenth of the machine's memory (and 256 MB at least, 1 GB at most).

Arrays of some megabytes lie in pages of 4 KB, and a graph has more of those than the processor
keeps track of. NumPy asks for huge pages for arrays from 4 MB on; for what is smaller the heap is
extended once by `HEAP` bytes, of which no page is there until it is used, and huge pages are asked
for there: a tenth of the time of an elementwise training step of a million elements.

``AUTOGRAD_ENGINE_MALLOC=0`` in the environment leaves the allocator alone, as do thresholds that
the user has set. Elsewhere than on glibc nothing is done.
"""

from __future__ import annotations

import os
from typing import Any

__all__ = ["keep_freed_memory"]

# The parameters of glibc's mallopt(3), and of madvise(2).
M_TRIM_THRESHOLD = -1
M_TOP_PAD = -2
M_MMAP_THRESHOLD = -3
LEAST, MOST = 256 << 20, 1 << 30  # free bytes at the end of the heap that are kept
MMAP = 32 << 20  # the largest value that glibc takes: larger blocks are mapped on their own
HEAP = 192 << 20  # less than is kept
MADV_HUGEPAGE = 14
_DEFAULT_TOP_PAD = 128 << 10
_PAGE = 4096
# What says that the user has chosen, by itself or inside of GLIBC_TUNABLES.
_VARIABLES = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_")
_TUNABLES = ("trim_threshold", "mmap_threshold", "top_pad")
_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"


def keep_freed_memory() -> bool:
    """Raise the thresholds; whether that was done."""
    if os.environ.get("AUTOGRAD_ENGINE_MALLOC", "").strip().lower() in ("0", "off", "no", "false"):
        return False
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    if any(name in os.environ for name in _VARIABLES) or any(n in tunables for n in _TUNABLES):
        return False
    try:
        if not os.confstr("CS_GNU_LIBC_VERSION"):
            return False
        import ctypes

        libc = ctypes.CDLL(None)
        raised = bool(libc.mallopt(M_MMAP_THRESHOLD, MMAP)) and bool(
            libc.mallopt(M_TRIM_THRESHOLD, _kept())
        )
        if raised:
            _use_huge_pages(libc)
    except (AttributeError, ImportError, OSError, ValueError):
        return False
    return raised


def _kept() -> int:
    """How many free bytes at the end of the heap are not given back."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(max(memory >> 4, LEAST), MOST)


def _use_huge_pages(libc: Any) -> None:
    """Extend the heap at once, and ask for huge pages where nothing is yet."""
    import ctypes

    try:
        with open(_HUGE_PAGES, encoding="ascii") as file:
            if "[madvise]" not in file.read():  # always there, or never
                return
    except OSError:
        return
    libc.malloc.restype = libc.sbrk.restype = ctypes.c_void_p
    libc.mallopt(M_TOP_PAD, HEAP)
    block = libc.malloc(ctypes.c_size_t(MMAP // 2))
    libc.mallopt(M_TOP_PAD, _DEFAULT_TOP_PAD)
    if block:
        start, end = -(-block // _PAGE) * _PAGE, libc.sbrk(0)
        if 0 < end - start <= 2 * HEAP:  # else it is no part of the heap
            libc.madvise(
                ctypes.c_void_p(start), ctypes.c_size_t(end - start), ctypes.c_int(MADV_HUGEPAGE)
            )
        libc.free(ctypes.c_void_p(block))
