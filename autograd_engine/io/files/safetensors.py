"""Files of safetensors, read and written by the library of that name."""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import numpy as np

from autograd_engine.core.dtypes import DTYPES, bfloat16
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, FileFormatError, MissingLibraryError
from autograd_engine.program.files.fields import shown
from autograd_engine.program.scope import ScopeTensor

__all__ = ["SafeTensors", "begins", "read", "taken"]

_LONGEST_HEADER: Final = 10**8  # of the library
# What NumPy has, of the dtypes that the format has names for.
_NAMES: Final = {
    "BOOL": "bool",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
}


class SafeTensors(dict[str, Any]):
    """Tensors by name.

    Attributes
    ----------
    metadata : dict of str to str
        What the file says besides.
    """

    def __init__(self, tensors: Mapping[str, Any], metadata: Mapping[str, str]) -> None:
        super().__init__(tensors)
        self.metadata = dict(metadata)


def _library() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise MissingLibraryError(
            "files of safetensors are read and written by the safetensors package, which is not "
            'installed: pip install "autograd-engine[safetensors]"'
        ) from None
    return safetensors


# --- writing


class Taken(NamedTuple):
    """What can be written: arrays by name, and metadata."""

    arrays: dict[str, Array]
    metadata: dict[str, str] | None

    def write(self, file: IO[bytes]) -> None:
        """The library writes to the name of the file, without a copy of all."""
        library = _library()
        try:
            library.numpy.save_file(self.arrays, file.name, self.metadata)
        except library.SafetensorError as error:
            raise OSError(f"safetensors could not write the file: {error}") from error

    def content(self) -> bytes:
        written: bytes = _library().numpy.save(self.arrays, self.metadata)
        return written


def taken(state: Any, metadata: Mapping[str, str] | None) -> Taken:
    """What to write for a dict of Tensors.

    Raises
    ------
    FileFormatError
        For anything else in it.
    """
    _library()
    if metadata is None:
        metadata = getattr(state, "metadata", {})
    if not isinstance(metadata, Mapping) or not all(
        _is_text(text) for item in metadata.items() for text in item
    ):
        raise ArgumentError("save: metadata must be a dict of strings: str(value) for each")
    if not isinstance(state, Mapping):
        raise FileFormatError(
            f"save: a .safetensors file holds a dict of Tensors, and this is a "
            f"{type(state).__name__}: save {{'name': x}}, or choose a path without .safetensors"
        )
    return Taken({name: _held(name, v) for name, v in state.items()}, dict(metadata) or None)


def _is_text(value: Any) -> bool:
    """Whether that can be written in UTF-8."""
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)


def _held(name: Any, value: Any) -> Array:
    if not _is_text(name) or name == "__metadata__":
        raise FileFormatError(f"save: the key {shown(name)} is no name of a tensor in .safetensors")
    if isinstance(value, (Tensor, ScopeTensor)):
        value = value._data if isinstance(value, Tensor) else np.array(value)
    if type(value) not in (np.ndarray, np.memmap):  # of others the numbers are not all
        nested = " Join keys, {'model.weight': w}." if isinstance(value, Mapping) else ""
        raise FileFormatError(
            f"save: state[{name!r}] is a {type(value).__name__}, and a .safetensors file holds "
            f"Tensors by name and no more.{nested} Save it apart, as text in metadata={{...}}, or "
            "choose a path without .safetensors for all"
        )
    if value.dtype.name not in _NAMES.values():
        raise FileFormatError(
            f"save: state[{name!r}] is {value.dtype.name}, which .safetensors files have no name "
            "for: choose a path without .safetensors, or save real and imaginary parts"
        )
    little = value.astype(value.dtype.newbyteorder("<"), copy=False)
    return np.asarray(little, order="C")


# --- reading


def begins(head: bytes) -> bool:
    """Whether a file with that beginning is one."""
    return head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= _LONGEST_HEADER


def read(file: IO[bytes], path: Path | None, return_numpy: bool) -> SafeTensors:
    """The tensors of a file, which the library opens by its path where it has one."""
    if path is not None:
        return _read(file, path, return_numpy)
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / "content"
        with open(copy, "wb") as written:
            shutil.copyfileobj(file, written)
        return _read(file, copy, return_numpy)


def _read(file: IO[bytes], path: Path, return_numpy: bool) -> SafeTensors:
    library = _library()
    found: dict[str, Any] = {}
    widened = []
    try:
        with library.safe_open(path, framework="np") as opened:
            metadata = opened.metadata() or {}
            for name in sorted(opened.keys()):
                dtype = opened.get_slice(name).get_dtype()
                if dtype == "BF16":
                    found[name] = _bfloat16(file, name)
                    if found[name].dtype == np.float32:
                        widened.append(name)
                elif dtype not in _NAMES:
                    raise FileFormatError(
                        f"{name!a} is {dtype}, and NumPy has no such numbers: where the file was "
                        "made, save it as float32"
                    )
                else:
                    found[name] = opened.get_tensor(name)
    except (FileFormatError, OSError, MemoryError):
        raise
    except Exception as error:  # whatever the library makes of a damaged file
        raise FileFormatError(
            f"is damaged, or only a part of it is there: {shown(str(error))[1:-1]}"
        ) from error
    if widened:
        warnings.warn(
            f"{len(widened)} tensors are bfloat16 ({widened[0]!a:.60}), and ml_dtypes is not "
            'installed, pip install "autograd-engine[bfloat16]": they are loaded as float32, which '
            "has their values",
            stacklevel=5,
        )
    if not return_numpy:
        found = {name: _tensor(name, array) for name, array in found.items()}
    return SafeTensors(found, metadata)


def _bfloat16(file: IO[bytes], name: str) -> Array:
    """The numbers of a tensor; in float32, of which they are the first 16 bits, if need be.

    The library has opened the file before: what its header says fits the file.
    """
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    entry = json.loads(file.read(length))[name]
    start, end = entry["data_offsets"]
    file.seek(8 + length + start)
    bits = np.frombuffer(file.read(end - start), "<u2").reshape(entry["shape"])
    try:
        return bits.astype(np.uint16).view(bfloat16())
    except MissingLibraryError:
        return (bits.astype(np.uint32) << 16).view(np.float32)


def _tensor(name: str, array: Array) -> Tensor:
    if array.dtype.name not in DTYPES:
        raise FileFormatError(
            f"{name!a} is {array.dtype.name}, which no Tensor holds: load(path, return_numpy=True)"
        )
    return Tensor._wrap(array)
