"""Archives of arrays: what NumPy calls ``.npz``, zip files of ``.npy`` files.

One more member may say what the arrays are parts of. Archives are read here without ``numpy.load``,
which takes more than what is written here: compressed members, which may be many times as long as
they look, and pickled objects. The ``.npy`` files are written and read piece by piece.

What is read here is not trusted: every function that reads takes `where`, the place in the file,
and raises FileFormatError with it.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, Final, NamedTuple, TypeAlias

import numpy as np

from autograd_engine.core.dtypes import BOOLS, DTYPES, bfloat16
from autograd_engine.core.spec import Array
from autograd_engine.errors import FileFormatError
from autograd_engine.program.files.fields import MAX_NDIM, fail, shown
from autograd_engine.program.files.json_text import refuse_foreign

__all__ = [
    "STRUCTURE",
    "Archive",
    "begins_archive",
    "read_archive",
    "write_archive",
    "ANY_NUMBERS",
    "DESCRIPTIONS",
    "Descriptions",
    "array_bytes",
    "array_from",
    "array_parts",
    "read_array",
]

Descriptions: TypeAlias = Mapping[str, np.dtype[Any]]

_PIECE: Final = 2**20
BFLOAT16: Final = "bfloat16"
_BITS: Final[Descriptions] = {"<u2": np.dtype("<u2")}  # of bfloat16, which the format has not

# The dtypes that an array may have, by what the header of a file says: those of the engine.
_DTYPES: Final = [d.dtype for name, d in DTYPES.items() if name != BFLOAT16]
DESCRIPTIONS: Final[Descriptions] = {
    text: np.dtype(text) for text in (d.newbyteorder("<").str for d in _DTYPES)
}
# All that NumPy computes with on every machine, in either order of bytes.
ANY_NUMBERS: Final[Descriptions] = {
    text: np.dtype(text)
    for d in (*_DTYPES, *map(np.dtype, ("u2", "u4", "u8")))
    for text in (d.newbyteorder("<").str, d.newbyteorder(">").str)
}
_HEADER: Final = re.compile(
    rb"\{'descr': '([<>|][biufc]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,19}, ?)*(?:\d{1,19})?)\), \} *\n\Z"
)


def array_parts(array: Array) -> tuple[int, Iterator[bytes | memoryview]]:
    """How long the ``.npy`` file of an array is, and its content in pieces.

    The order of memory is kept where rows or columns come first; other arrays are written by rows.
    """
    if array.dtype.name == BFLOAT16:
        array = array.view(np.uint16)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    columns = little.flags.f_contiguous and not little.flags.c_contiguous
    ordered = little.T if columns else little
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head,
        {"descr": little.dtype.str, "fortran_order": bool(columns), "shape": array.shape},
    )
    header = head.getvalue()

    def pieces() -> Iterator[bytes | memoryview]:
        yield header
        content = np.ascontiguousarray(ordered).reshape(-1).view(np.uint8).data
        for start in range(0, len(content), _PIECE):
            # A copy: the checksum is of what is written, even where a thread writes to the array.
            yield bytes(content[start : start + _PIECE])

    return len(header) + array.nbytes, pieces()


def array_bytes(array: Array) -> bytes:
    """The content of an ``.npy`` file."""
    return b"".join(array_parts(array)[1])


def array_from(content: bytes, where: str, named: str = "") -> Array:
    """The array of an ``.npy`` file: of numbers only, and as long as it says."""
    return read_array(io.BytesIO(content), len(content), where, named=named)


def read_array(
    file: IO[bytes],
    length: int,
    where: str,
    dtypes: Descriptions = DESCRIPTIONS,
    *,
    named: str = "",
) -> Array:
    """The array of an ``.npy`` file that takes the next `length` bytes of `file`.

    One that is `named` bfloat16 holds the bits, as integers of 16.
    """
    if named:
        if named != BFLOAT16:
            fail(where, f"holds {shown(named)}, and only bfloat16 is named")
        return read_array(file, length, where, _BITS).view(bfloat16())
    start = file.read(10)
    if start[:8] != b"\x93NUMPY\x01\x00" or len(start) < 10:
        fail(where, "is no array in the format npy 1.0")
    size = int.from_bytes(start[8:10], "little")
    header = _HEADER.match(file.read(size))
    if header is None:
        fail(where, "has a header that no array of numbers has")
    dtype = dtypes.get(header[1].decode())
    if dtype is None:
        names = ", ".join(dict.fromkeys(d.name for d in dtypes.values()))
        fail(where, f"holds {shown(header[1].decode())}; use one of {names}")
    shape = tuple(int(d) for d in header[3].decode().split(",") if d.strip())
    if len(shape) > MAX_NDIM:
        fail(where, f"has {len(shape)} dimensions, and an array has {MAX_NDIM} at most")
    claimed, held = math.prod(shape) * dtype.itemsize, length - 10 - size
    if claimed != held:
        fail(where, f"claims {claimed} bytes for its shape {list(shape)}, and has {held}")
    array = _filled(file, shape, dtype, "F" if header[2] == b"True" else "C", where)
    if dtype in BOOLS and array.size and array.view(np.uint8).max() > 1:
        fail(where, "holds bools other than 0 and 1")
    return array.astype(np.dtype(dtype.type), copy=False)  # NumPy's own one: "is" holds


def _filled(
    file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any], order: Any, where: str
) -> Array:
    try:
        array = np.empty(shape, dtype, order)
    except ValueError as error:  # sizes of which one is 0, and the others have no bounds
        raise FileFormatError(f"{where}: no array has the shape {list(shape)}") from error
    content = array.reshape(-1, order=order).view(np.uint8).data
    start = 0
    while start < len(content):
        piece = file.read(min(_PIECE, len(content) - start))
        if not piece:
            fail(where, f"ends after {start} of {len(content)} bytes")
        content[start : start + len(piece)] = piece
        start += len(piece)
    if file.read(1):  # at its end a member of an archive is compared with its checksum
        fail(where, "goes on behind its end")
    return array


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
            named = BFLOAT16 if array.dtype.name == BFLOAT16 else ""
            _write_member(archive, f"{name}.npy", *array_parts(array), named=named)
        archive.comment = comment


def _write_member(
    archive: zipfile.ZipFile,
    name: str,
    length: int,
    pieces: Iterator[bytes | memoryview],
    named: str = "",
) -> None:
    # The same content makes the same file: a fixed time instead of the present one.
    member = zipfile.ZipInfo(name)
    member.external_attr = 0o644 << 16
    member.file_size = length
    member.comment = named.encode()
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
                        content,
                        member.file_size,
                        f"the array {shown(member.filename)}",
                        dtypes,
                        named=member.comment.decode("ascii", "replace"),
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
