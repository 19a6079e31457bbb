"""Arrays by name, in the files that NumPy calls ``.npz``: zip archives of ``.npy`` files.

They are read here without ``numpy.load``, which takes more than what is written here: compressed
members, which may be many times as long as they look, and pickled objects.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.dtypes import DTYPES
from autograd_engine.errors import FileFormatError
from autograd_engine.static.serialize_text import reading, refuse_foreign
from autograd_engine.static.serialize_values import array_bytes, array_from, shown

__all__ = ["State", "array_crc", "read_state", "state_bytes", "state_from", "state_writer"]

Array = NDArray[Any]
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

    def write(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, array in arrays.items():
                # The same content makes the same file: a fixed time instead of the present one.
                member = zipfile.ZipInfo(f"{name}.npy")
                member.external_attr = 0o644 << 16
                archive.writestr(member, array_bytes(array))
            archive.comment = _MARK + (b" " + save.encode() if save else b"")

    return write


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
    head = file.read(200)
    refuse_foreign(head, "file of arrays")
    if not head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        raise FileFormatError("is no file of arrays: it does not begin as a zip archive does")
    size = file.seek(0, io.SEEK_END)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _check_members(members, size)
            contents = [(m.filename, archive.read(m)) for m in members]
            comment = archive.comment
    except FileFormatError:
        raise
    except Exception as error:  # whatever zipfile makes of a damaged archive
        raise FileFormatError(f"is damaged: {shown(str(error))[1:-1]}") from error
    state = State()
    for name, content in contents:
        state[name.removesuffix(".npy")] = array_from(content, f"the array {shown(name)}")
    if comment.startswith(_MARK + b" "):
        state.save = comment[len(_MARK) + 1 :].decode("ascii", "replace")
    return state


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    """Stored as they are, one beside the other, so that they are no longer than the file."""
    names = set()
    for member in members:
        name = member.filename
        if not name.endswith(".npy") or name in names or not name.isprintable():
            raise FileFormatError(f"has a member {shown(name)}, which is no array, or comes twice")
        names.add(name)
        if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
            raise FileFormatError(
                f"has the compressed member {shown(name)}; write it with numpy.savez, which does "
                "not compress"
            )
        if member.flag_bits & 1:
            raise FileFormatError(f"has the encrypted member {shown(name)}")
    if sum(member.file_size for member in members) > size:
        raise FileFormatError("has members that claim more bytes than the file has")
