"""Archives of arrays: what NumPy calls ``.npz``, zip files of ``.npy`` files.

One more member may say what the arrays are parts of. Archives are read here without ``numpy.load``,
which takes more than what is written here: compressed members, which may be many times as long as
they look, and pickled objects.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final, NamedTuple

from numpy.typing import NDArray

from autograd_engine.errors import FileFormatError
from autograd_engine.program.files.fields import shown
from autograd_engine.program.files.json_text import refuse_foreign
from autograd_engine.program.files.npy import Descriptions, array_parts, read_array

__all__ = ["STRUCTURE", "Archive", "begins_archive", "read_archive", "write_archive"]

Array = NDArray[Any]
STRUCTURE: Final = "structure.json"
_STARTS: Final = (b"PK\x03\x04", b"PK\x05\x06")
_END: Final = b"PK\x05\x06"
_END_LENGTH: Final = 22


class Archive(NamedTuple):
    """What an archive holds: arrays by name, the text of the structure, and its comment."""

    arrays: dict[str, Array]
    structure: bytes | None
    comment: bytes


def write_archive(
    file: IO[bytes],
    arrays: Iterable[tuple[str, Array]],
    comment: bytes,
    structure: str | None = None,
) -> None:
    """Write arrays to a file one after the other, and without a copy of any."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        if structure is not None:
            content = structure.encode()
            _write_member(archive, STRUCTURE, len(content), iter([content]))
        for name, array in arrays:
            _write_member(archive, f"{name}.npy", *array_parts(array))
        archive.comment = comment


def _write_member(
    archive: zipfile.ZipFile, name: str, length: int, pieces: Iterator[bytes | memoryview]
) -> None:
    # The same content makes the same file: a fixed time instead of the present one.
    member = zipfile.ZipInfo(name)
    member.external_attr = 0o644 << 16
    member.file_size = length
    with archive.open(member, "w") as out:
        for piece in pieces:
            out.write(piece)


def begins_archive(head: bytes) -> bool:
    """Whether a file with that beginning is one."""
    return head.startswith(_STARTS)


def read_archive(file: IO[bytes], dtypes: Descriptions) -> Archive:
    """What a file holds, which goes on from its beginning to its end.

    Raises
    ------
    FileFormatError
        When it is none of ours, or damaged.
    """
    head = file.read(200)
    refuse_foreign(head, "file of arrays")
    if not begins_archive(head):
        raise FileFormatError("is no file of arrays: it does not begin as a zip archive does")
    size = file.seek(0, io.SEEK_END)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _check_members(members, size)
            _check_ends(file, archive, size)
            arrays, structure = {}, None
            for member in members:
                if member.filename == STRUCTURE:
                    structure = archive.read(member)
                    continue
                with archive.open(member) as content:
                    arrays[member.filename.removesuffix(".npy")] = read_array(
                        content, member.file_size, f"the array {shown(member.filename)}", dtypes
                    )
            return Archive(arrays, structure, archive.comment)
    except (FileFormatError, MemoryError):
        raise
    except Exception as error:  # whatever zipfile makes of a damaged archive
        raise FileFormatError(
            f"is damaged, or only a part of it is there: {shown(str(error))[1:-1]}"
        ) from error


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    """Stored as they are, one beside the other, so that they are no longer than the file."""
    names = set()
    for member in members:
        name = member.filename
        if name.endswith("data.pkl"):
            raise FileFormatError(
                f"has the pickle {shown(name)}, as PyTorch writes; a pickle can run any code when "
                "it is read, so it is not: with PyTorch, "
                "safetensors.torch.save_file(state_dict, 'x.safetensors'), and load this file"
            )
        if not name.endswith((".npy", STRUCTURE)) or name in names or not name.isprintable():
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


def _check_ends(file: IO[bytes], archive: zipfile.ZipFile, size: int) -> None:
    """The archive is all that the file holds: zipfile takes what stands before and behind it."""
    first = min((member.header_offset for member in archive.infolist()), default=0)
    length = len(archive.comment)
    file.seek(max(0, size - _END_LENGTH - length))
    end = file.read(_END_LENGTH)
    if first or end[:4] != _END or end[20:] != length.to_bytes(2, "little"):
        raise FileFormatError(
            "is damaged: it begins with, or ends in, what is no part of an archive, or is cut off"
        )
