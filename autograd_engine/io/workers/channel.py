"""Messages between the process of the program and a worker.

On Linux a socket that keeps messages apart, so that one call of the system takes one: while a
training step has filled the caches, what is short here is what counts. Elsewhere a pipe of
multiprocessing. Nothing is buffered here, and no thread is behind it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from typing import Any, Final

__all__ = ["PASSES_FILES", "START", "Link", "link_pair"]

PASSES_FILES: Final = sys.platform == "linux" and hasattr(socket, "send_fds")
_PIECE: Final = 1 << 16  # bytes of one packet: less than a socket holds
_LAST, _MORE = b"\0", b"\1"
START: Final = 1  # where what was sent begins in what is received
_NOW: Final = getattr(socket, "MSG_DONTWAIT", 0)


class Link:
    """One end. It can be passed to a process that is being started."""

    def __init__(self, end: Any) -> None:
        self._end = end

    def fileno(self) -> int:
        """What can be waited for."""
        return self._end.fileno()  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close this end; the other one reads EOFError."""
        self._end.close()

    def send(self, data: Any) -> None:
        """Send a message of bytes; waits while the other end does not read."""
        self._end.send_bytes(b"".join((_LAST, data)))

    def receive(self) -> Any:
        """The next message, from `START` on; waits for it."""
        return self._end.recv_bytes()

    def take(self) -> Any:
        """The next message, from `START` on, if one has come; else None."""
        return self._end.recv_bytes() if self._end.poll() else None

    def send_file(self, fd: int) -> None:
        """Pass on a file descriptor."""
        raise NotImplementedError

    def receive_file(self) -> int:
        """The file descriptor that the other end has passed on."""
        raise NotImplementedError


class _Packets(Link):
    """Over a socket of the kind SOCK_SEQPACKET; a long message is cut up."""

    def send(self, data: Any) -> None:
        end, rest = self._end, memoryview(data)
        while len(rest) > _PIECE:
            end.sendmsg((_MORE, rest[:_PIECE]))
            rest = rest[_PIECE:]
        end.sendmsg((_LAST, rest))

    def receive(self) -> Any:
        return self._whole(self._end.recv(_PIECE + 1))

    def take(self) -> Any:
        try:
            return self._whole(self._end.recv(_PIECE + 1, _NOW))
        except BlockingIOError:
            return None

    def _whole(self, packet: bytes) -> Any:
        if packet[:1] == _LAST:
            return packet
        message = bytearray(_LAST)
        while packet[:1] == _MORE:
            message += memoryview(packet)[1:]
            packet = self._end.recv(_PIECE + 1)
        if not packet:
            raise EOFError
        message += memoryview(packet)[1:]
        return message

    def send_file(self, fd: int) -> None:
        socket.send_fds(self._end, [_LAST], [fd])

    def receive_file(self) -> int:
        _, fds, _, _ = socket.recv_fds(self._end, 1, 1)
        if not fds:
            raise EOFError
        os.set_inheritable(fds[0], False)
        return fds[0]


def link_pair(context: Any) -> tuple[Link, Link]:
    """Two ends, for processes that `context` of multiprocessing starts."""
    if PASSES_FILES:
        with contextlib.suppress(OSError):
            here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            return _Packets(here), _Packets(there)
    here, there = context.Pipe()
    return Link(here), Link(there)
