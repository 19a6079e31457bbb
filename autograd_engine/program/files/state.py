"""Arrays by name, in archives: the values of a program's variables."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Final

import numpy as np

from autograd_engine.core.above import above
from autograd_engine.core.dtypes import DTYPES
from autograd_engine.core.spec import Array
from autograd_engine.errors import FileFormatError
from autograd_engine.program.files.archive import DESCRIPTIONS, Archive, read_archive, write_archive
from autograd_engine.program.files.json_text import reading

__all__ = [
    "State",
    "array_crc",
    "is_state",
    "read_state",
    "state_bytes",
    "state_from",
    "state_of_archive",
    "state_writer",
]

_MARK: Final = b"autograd_engine state 1"


class State(dict[str, Array]):
    """Arrays by name.

    Attributes
    ----------
    save : str
        Which save wrote the file, the same in all files of one; empty where nobody said.
    """

    save: str = ""


def state_writer(arrays: Mapping[str, Array], save: str = "") -> Callable[[IO[bytes]], None]:
    """What writes the arrays to a file, one after the other.

    Raises
    ------
    FileFormatError
        For a name or an array that the format cannot hold. Nothing is written yet.
    """
    for name, array in arrays.items():
        if not name.isprintable() or len(name.encode()) > 4000:
            raise FileFormatError(f"the array {name!a:.80} cannot be saved: give it another name")
        if array.dtype.name not in DTYPES:
            raise FileFormatError(
                f"the array {name!r} has dtype {array.dtype}, and a file holds numbers only; cast "
                f"it to one of {', '.join(DTYPES)}"
            )

    comment = _MARK + (b" " + save.encode() if save else b"")
    return lambda file: write_archive(file, arrays.items(), comment)


def state_bytes(arrays: Mapping[str, Array], save: str = "") -> bytes:
    """The content of a file of arrays."""
    file = io.BytesIO()
    state_writer(arrays, save)(file)
    return file.getvalue()


def array_crc(array: Array) -> int:
    """A number that tells arrays of other values apart."""
    return zlib.crc32(np.ascontiguousarray(array).tobytes())


def read_state(path: Path) -> State:
    """The arrays of a file.

    Raises
    ------
    FileNotFoundError
    FileFormatError
        When it is none of ours, or damaged.
    """
    with reading(repr(str(path))), open(path, "rb") as file:
        return _read(file)


def state_from(content: bytes, source: str) -> State:
    """The arrays of the content of a file."""
    with reading(source):
        return _read(io.BytesIO(content))


def _read(file: IO[bytes]) -> State:
    return state_of_archive(read_archive(file, DESCRIPTIONS))


def state_of_archive(archive: Archive) -> State:
    """The arrays by name; of what `paddle.save` wrote, where that is a dict of arrays."""
    if archive.structure is not None:
        return State(above.flat_state(archive))
    state = State(archive.arrays)
    if archive.comment.startswith(_MARK + b" "):
        state.save = archive.comment[len(_MARK) + 1 :].decode("ascii", "replace")
    return state


def is_state(archive: Archive) -> bool:
    """Whether `state_writer` wrote it: NumPy's own archives have no comment."""
    return archive.comment.startswith(_MARK)
