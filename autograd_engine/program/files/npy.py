"""Arrays as ``.npy`` files, NumPy's own format; written and read piece by piece.

What is read here is not trusted: every function that reads takes `where`, the place in the file,
and raises FileFormatError with it.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping
from typing import IO, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dtypes import DTYPES
from autograd_engine.errors import FileFormatError
from autograd_engine.program.files.fields import MAX_NDIM, fail, shown

__all__ = [
    "ANY_NUMBERS",
    "DESCRIPTIONS",
    "Descriptions",
    "array_bytes",
    "array_from",
    "array_parts",
    "read_array",
]

Array = NDArray[Any]
Descriptions: TypeAlias = Mapping[str, np.dtype[Any]]

_PIECE: Final = 2**20

# The dtypes that an array may have, by what the header of a file says: those of the engine.
DESCRIPTIONS: Final[Descriptions] = {
    text: np.dtype(text) for text in (d.dtype.newbyteorder("<").str for d in DTYPES.values())
}
# All that NumPy computes with on every machine, in either order of bytes.
ANY_NUMBERS: Final[Descriptions] = {
    text: np.dtype(text)
    for d in (*(d.dtype for d in DTYPES.values()), *map(np.dtype, ("u2", "u4", "u8")))
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


def array_from(content: bytes, where: str) -> Array:
    """The array of an ``.npy`` file: of numbers only, and as long as it says."""
    return read_array(io.BytesIO(content), len(content), where)


def read_array(
    file: IO[bytes], length: int, where: str, dtypes: Descriptions = DESCRIPTIONS
) -> Array:
    """The array of an ``.npy`` file that takes the next `length` bytes of `file`."""
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
    if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
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
