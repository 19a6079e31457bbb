"""Batches and exceptions as messages.

What is sent is small: the memory of arrays is common to both processes (`slabs`); or it follows,
message by message.
"""

from __future__ import annotations

import math
import os
import pickle
import struct
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from autograd_engine.core.dtypes import is_own
from autograd_engine.io.collate import as_tensors
from autograd_engine.io.workers.channel import START, Link
from autograd_engine.io.workers.shared_memory import ReadSlots, WriteSlots

__all__ = ["BATCH", "END", "EPOCH", "ERROR", "Message", "Reader", "message"]

# What begins a message: of the parent an epoch, or the indices of a batch (nothing at all for the
# last one); of a worker a batch, the end of a stream, or an exception.
EPOCH, BATCH, END, ERROR = b"s", b"b", b"e", b"x"
_LONG: Final = 4096  # what the rest of a message has at most, where there is common memory
# What it is, how many buffers there are, the slot that they are in, its size if that is new, and
# whether the last of them is the rest of the message. Then where each begins, and its size.
_HEAD: Final = struct.Struct("<cIiQ?")
_NO_SLOT: Final = -1


@dataclass(frozen=True)
class Message:
    """What is sent for one task."""

    parts: list[Any]
    fd: int | None = None  # passed on after them, and closed

    def send(self, link: Link) -> None:
        """Send all of it."""
        try:
            for part in self.parts:
                link.send(part)
            if self.fd is not None:
                link.send_file(self.fd)
        finally:
            if self.fd is not None:
                os.close(self.fd)


def message(kind: bytes, value: Any, slots: WriteSlots | None) -> Message:
    """The message that says `value`, whose buffers are written to `slots` (None: sent as well)."""
    buffers: list[Any] = []

    def keep(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes:
            buffers.append(raw)
        return not raw.nbytes

    text = pickle.dumps(value, protocol=5, buffer_callback=keep)
    if slots is None or (not buffers and len(text) <= _LONG):
        head = _HEAD.pack(kind, len(buffers), _NO_SLOT, 0, False)
        return Message([head + text, *buffers])
    inside = len(text) > _LONG
    if inside:
        buffers.append(memoryview(text))
        text = b""
    slot, capacity, places, fd = slots.write(buffers)
    head = _HEAD.pack(kind, len(buffers), slot, 0 if fd is None else capacity, inside)
    return Message([head + _places(len(buffers)).pack(*places) + text], fd)


class Reader:
    """Batches from the messages of one worker, with Tensors for arrays, which nobody else has.

    Batch after batch has the same structure and sizes, so its message has the bytes of an earlier
    one: only the memory has changed. What such a message means is then known, as views of that
    memory, and a batch is made by copying them.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._slots = ReadSlots()
        self._last: dict[int, Any] = {}  # of each slot: the message,
        self._views: dict[int, Any] = {}  # and what it means, once it has come again

    def read(self, data: Any) -> tuple[bytes, Any]:
        """The kind and the value of a message."""
        kind, count, slot, renewed, inside = _HEAD.unpack_from(data, START)
        end = START + _HEAD.size
        if slot == _NO_SLOT:
            sent = [bytearray(memoryview(self._link.receive())[START:]) for _ in range(count)]
            value = pickle.loads(memoryview(data)[end:], buffers=sent)
            return kind, as_tensors(value, owned=True) if kind == BATCH else value
        known = not renewed and data == self._last.get(slot)
        if known and slot in self._views:
            return kind, as_tensors(self._views[slot], owned=False)
        if renewed:
            self._views.pop(slot, None)
            self._slots.renew(slot, self._link.receive_file(), renewed)
        places = _places(count).unpack_from(data, end)
        buffers = self._slots.read(slot, places)
        text: Any = buffers.pop() if inside else memoryview(data)[end + 16 * count :]
        if known and not inside:
            views = pickle.loads(text, buffers=buffers)
            if _arrays_in(views) == count:
                self._views[slot] = views
                return kind, as_tensors(views, owned=False)
        else:
            self._views.pop(slot, None)
        self._last[slot] = data
        value = pickle.loads(text, buffers=[buffer.copy() for buffer in buffers])
        return kind, as_tensors(value, owned=True)


def _places(count: int) -> struct.Struct:
    return struct.Struct(f"<{2 * count}Q")


def _arrays_in(value: Any) -> float:
    """How many arrays a structure has; NaN where it holds what may not be handed out twice."""
    kind = type(value)
    if kind is np.ndarray:
        return 1 if is_own(value.dtype) else math.nan
    if kind is list:
        return sum(map(_arrays_in, value))
    if kind is dict:
        return sum(map(_arrays_in, value.values()))
    return 0 if value is None or kind in (bool, int, float, complex, str, bytes) else math.nan
