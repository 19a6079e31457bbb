"""Memory that two processes have in common, without a name.

It has a file descriptor only, which is passed to the other process through the socket between them.
So nothing is left over, however the processes end: there is nothing in /dev/shm to unlink.

A worker has as many slots as tasks that it may be given ahead, and fills them in turn. It is given
a task for every batch that has been copied out, so the slot that comes next is always free, and
neither a lock nor a message says so.
"""

from __future__ import annotations

import mmap
import os
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.io.workers.channel import PASSES_FILES

__all__ = ["HAS_MEMORY", "ReadSlots", "WriteSlots"]

HAS_MEMORY: Final = PASSES_FILES and hasattr(os, "memfd_create") and hasattr(os, "posix_fallocate")
_ALIGNMENT: Final = 64
_PIECE: Final = 1 << 16
Bytes = NDArray[np.uint8]


def _new_file(size: int) -> int:
    """The descriptor of a file without a name, with memory behind each of its pages.

    Memory that is asked for now is refused with an OSError; a write to a page for which there is
    none would kill the process.
    """
    fd = os.memfd_create("autograd_engine_io")
    try:
        os.posix_fallocate(fd, 0, size)
    except BaseException:
        os.close(fd)
        raise
    return fd


class WriteSlots:
    """The slots of a worker, in the worker."""

    def __init__(self, count: int) -> None:
        self._slots: list[Bytes | None] = [None] * count
        self._next = 0

    def write(self, buffers: list[Any]) -> tuple[int, int, list[int], int | None]:
        """Copy buffers into the next slot.

        Returns
        -------
        (slot, capacity, [start, size, start, size, ...], descriptor)
            The descriptor is that of a new file, for the other process and then to be closed; None
            where the slot is what it was.
        """
        places: list[int] = []
        end = 0
        for buffer in buffers:
            places += (end, buffer.nbytes)
            end += -(-buffer.nbytes // _ALIGNMENT) * _ALIGNMENT
        slot, fd = self._next, None
        memory = self._slots[slot]
        if memory is None or memory.size < end:
            self._slots[slot] = None  # given back first
            capacity = -(-(end + end // 4) // _PIECE) * _PIECE
            fd = _new_file(capacity)
            memory = np.frombuffer(mmap.mmap(fd, capacity), np.uint8)
            self._slots[slot] = memory
        for start, buffer in zip(places[::2], buffers, strict=True):
            memory[start : start + buffer.nbytes] = np.frombuffer(buffer, np.uint8)
        self._next = (slot + 1) % len(self._slots)
        return slot, memory.size, places, fd


class ReadSlots:
    """The slots of a worker, in the process that reads them."""

    def __init__(self) -> None:
        self._slots: dict[int, Bytes] = {}

    def renew(self, slot: int, fd: int, capacity: int) -> None:
        """Map the new file of a slot; closes the descriptor."""
        try:
            self._slots.pop(slot, None)
            memory = mmap.mmap(fd, capacity, access=mmap.ACCESS_READ)
        finally:
            os.close(fd)
        self._slots[slot] = np.frombuffer(memory, np.uint8)

    def read(self, slot: int, places: tuple[int, ...]) -> list[Bytes]:
        """The buffers in a slot, as they are until the slot is written again."""
        memory, ends = self._slots[slot], iter(places)
        return [memory[start : start + size] for start, size in zip(ends, ends, strict=True)]
