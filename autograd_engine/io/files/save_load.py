"""`save` and `load`: nested state in one file.

What is read is not trusted: what docs/format.md does not describe is refused.
"""

from __future__ import annotations

import io
import os
import re
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final, TypeAlias, cast

import numpy as np

from autograd_engine.core.atomic_file import Content, write_atomically
from autograd_engine.core.checks import require_type
from autograd_engine.core.dtypes import DTYPES
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileFormatError,
    MissingFileError,
)
from autograd_engine.io.files import safetensors as tensors_file
from autograd_engine.io.files.nested_write import (
    COMMENT,
    KIND,
    LARGEST,
    VERSION,
    nested,
)
from autograd_engine.program.files.archive import (
    ANY_NUMBERS,
    STRUCTURE,
    Archive,
    begins_archive,
    read_archive,
    read_array,
)
from autograd_engine.program.files.fields import (
    MAX_NDIM,
    fail,
    read_fields,
    read_int,
    read_list,
    read_text,
    shown,
)
from autograd_engine.program.files.json_text import parse, reading, refuse_foreign
from autograd_engine.program.files.state import is_state
from autograd_engine.program.files.text import load_program, program_bytes
from autograd_engine.program.files.values import read_value
from autograd_engine.program.ir.program import Program

__all__ = ["load", "save"]

Place: TypeAlias = str | os.PathLike[str] | IO[bytes]
_SAFETENSORS: Final = ".safetensors"
_SUFFIXES: Final = (".pdparams", ".pdopt", ".pdmodel", ".npz", _SAFETENSORS)


def save(
    obj: Any,
    path: Place,
    protocol: int = 4,
    *,
    safetensors: bool | None = None,
    metadata: Mapping[str, str] | None = None,
    use_binary_format: bool = False,
    pickle_protocol: int | None = None,
) -> None:
    """Save nested state in one file.

    Parameters
    ----------
    obj : dict, list, tuple, Tensor, ndarray, number, str, bytes, None or Program
        Dicts, lists and tuples hold any of these but programs. What a layer, an optimizer or a
        scheduler keeps is what its ``state_dict()`` returns: save that.
    path : str, path or binary file
        Directories are made where needed.
    protocol, pickle_protocol : int
        2, 3 or 4; accepted for the reference's sake: nothing is pickled.
    safetensors : bool, optional
        Write with the safetensors library: a dict of Tensors and arrays, not nested. By default
        where `path` ends in ``.safetensors``.
    metadata : dict of str to str, optional
        Of a ``.safetensors`` file.
    use_binary_format : bool
        Accepted for the reference's sake.

    Raises
    ------
    FileFormatError
        For what no file can hold: the message names its place, ``state['opt']['x'][3]``. Nothing
        is written then.
    ArgumentError, TypeError
        When `path` names no file, or an argument has a wrong type.
    MissingLibraryError
        When safetensors is needed and not installed.
    OSError
        As the system reports it.

    Notes
    -----
    A file is written beside its place and moved there when it is on the disk: an error or a crash
    leaves the file that was there. What goes to an open file is written to it directly. Arrays are
    not copied first: where another thread writes to one meanwhile, the file has some of the new
    numbers.

    Examples
    --------
    >>> import tempfile
    >>> import autograd_engine as paddle
    >>> w = paddle.create_parameter([2, 3], name="saved_w")
    >>> adam = paddle.optimizer.Adam(0.1, parameters=[w])
    >>> (w * w).sum().backward()
    >>> adam.step()
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     paddle.save({"w": w, "adam": adam.state_dict(), "epoch": 3}, f"{directory}/last.pd")
    ...     state = paddle.load(f"{directory}/last.pd")
    >>> adam.set_state_dict(state["adam"])
    >>> state["epoch"], bool((state["w"] == w).all())
    (3, True)
    """
    for number in (protocol, 4 if pickle_protocol is None else pickle_protocol):
        if type(number) is not int or not 2 <= number <= 4:
            raise ArgumentError(f"save: protocol must be 2, 3 or 4, got {number!r}; leave it out")
    require_type(safetensors, bool | None, "save: safetensors must be a bool")
    target = _target("save", path, "write")
    if safetensors is None:
        safetensors = isinstance(target, Path) and target.name.endswith(_SAFETENSORS)
    if safetensors:
        tensors = tensors_file.taken(obj, metadata)
        content: Content = tensors.write if isinstance(target, Path) else tensors.content()
    elif metadata is not None:
        raise ArgumentError(
            "save: metadata is for .safetensors files; put it into the state, under a key"
        )
    else:
        content = program_bytes(obj) if isinstance(obj, Program) else nested(obj).write
    if isinstance(target, Path):
        os.makedirs(target.parent, exist_ok=True)
        write_atomically(target, content)
    elif callable(content):
        content(cast(IO[bytes], _Forward(target)))
    else:
        target.write(cast(bytes, content))


class _Forward:
    """An open file that is only written to.

    Some files tell where they stand and cannot go back, such as those that compress: without
    `tell` what is written is written in one go.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write
        self.flush = getattr(file, "flush", lambda: None)


def load(path: Place, *, return_numpy: bool = False, safetensors: bool | None = None) -> Any:
    """What `save` has written.

    Parameters
    ----------
    path : str, path or binary file
        Files of `save`, of `static.save`, and ``.safetensors``, ``.npz`` and ``.npy`` files.
    return_numpy : bool
        Give arrays for Tensors.
    safetensors : bool, optional
        Accepted for the reference's sake: what a file is, is seen from its content.

    Returns
    -------
    object
        Nested as it was saved. Tensors and Parameters come as Tensors with ``stop_gradient=True``
        and their names. Of ``.npz`` files a dict of ndarrays; of ``.safetensors`` files a dict of
        Tensors with an attribute ``metadata``.

    Raises
    ------
    FileNotFoundError
    FileFormatError
        When the file is none of these, or is damaged, or a pickle.
    ArgumentError, TypeError
        When `path` names no file.
    MissingLibraryError
        When safetensors is needed and not installed.

    See Also
    --------
    save
    """
    require_type(return_numpy, bool, "load: return_numpy must be a bool")
    source = _target("load", path, "read")
    if not isinstance(source, Path):
        with reading(f"the {type(source).__name__}"):
            return _read(_rest(source), None, return_numpy)
    if not source.exists() and source.with_name(source.name + ".pdiparams").exists():
        source = source.with_name(source.name + ".pdiparams")  # of a program for inference
    _check_exists(source)
    with reading(repr(str(source))), open(source, "rb") as file:
        return _read(file, source, return_numpy)


def _read(file: IO[bytes], path: Path | None, return_numpy: bool) -> Any:
    """The state of a file, whatever has written it."""
    head = file.read(200)
    file.seek(0)
    if not head:
        raise FileFormatError("is empty: nothing was saved there, or it was cut off")
    if begins_archive(head):
        archive = read_archive(file, ANY_NUMBERS)
        if archive.structure is not None:
            return nested_state(archive, return_numpy)
        as_tensors = is_state(archive) and not return_numpy
        return {k: Tensor._wrap(v) if as_tensors else v for k, v in archive.arrays.items()}
    if head.startswith(b"\x93NUMPY"):
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        return read_array(file, size, "the array", ANY_NUMBERS)
    if tensors_file.begins(head):
        return tensors_file.read(file, path, return_numpy)
    if head.lstrip().startswith(b"{"):
        return load_program(file.read(), "the program").program
    refuse_foreign(head, "checkpoint")
    raise FileFormatError(
        "is no file that paddle.save wrote, and none of static.save, numpy.savez or safetensors"
    )


# --- where


def _target(function: str, path: Any, method: str) -> Path | IO[bytes]:
    """The path, or the file that is open already."""
    if callable(getattr(path, method, None)) and not isinstance(path, Path):
        if isinstance(path, io.TextIOBase):
            mode = "wb" if method == "write" else "rb"
            raise ArgumentTypeError(f"{function}: the file must be binary: open(path, {mode!r})")
        return cast(IO[bytes], path)
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise ArgumentTypeError(
            f"{function}: path must be a str, a path or a binary file, got {type(path).__name__}"
        )
    text: str = os.fspath(path)
    if not os.path.basename(text) or "\0" in text:
        raise ArgumentError(
            f"{function}: the path must be of the form directory/name, got {text!r}; add a name"
        )
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise ArgumentError(
            f"{function}: the path {text!a} has half of a surrogate pair, or a character that "
            "names of files here cannot have"
        ) from None
    return Path(text)


def _rest(file: Any) -> IO[bytes]:
    """An open file from where it stands to its end, which can be gone through as one likes."""
    if isinstance(file, io.IOBase) and file.seekable() and not file.tell():
        return cast(IO[bytes], file)
    content = file.read()
    if not isinstance(content, bytes):
        raise ArgumentTypeError("load: the file must be binary: open(path, 'rb')")
    return io.BytesIO(content)


def _check_exists(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a directory; give the name of a file in it")
    if path.exists():
        return
    beside = [p for p in (path.with_name(path.name + s) for s in _SUFFIXES) if p.exists()]
    hint = f": there is {str(beside[0])!r}" if beside else "; give the path that save was given"
    raise MissingFileError(f"there is no file {str(path)!r}{hint}")


_MAX_TEXT: Final = 2**30
_MARK: Final = re.compile(COMMENT.rstrip(b"0123456789") + rb"\d+\Z")  # the text says which version
_HEX: Final = re.compile(r"-?0x[0-9a-f]+\Z")
_PLAIN: Final = ("float", "complex", "scalar", "dtype")  # read as attributes of programs are


def nested_state(archive: Archive, return_numpy: bool = False) -> Any:
    """The state that `nested` has described.

    Raises
    ------
    FileFormatError
        Naming the place.
    """
    if archive.structure is None or not _MARK.match(archive.comment):
        raise FileFormatError(
            f"is damaged: an archive with a member {STRUCTURE} has the comment {COMMENT.decode()!r}"
        )
    document = read_fields(
        parse(archive.structure, KIND, VERSION),
        "the file",
        ("format", "version", "state"),
        ("axes",),
    )
    making = _Making(_ordered(archive.arrays, document.get("axes", {})), return_numpy)
    state = making.value(document["state"], "state")
    if unused := archive.arrays.keys() - making.used:
        raise FileFormatError(f"has the array {shown(min(unused))}, which is no part of the state")
    return state


def flat_state(archive: Archive) -> dict[str, Array]:
    """The arrays by name, of a state that is a dict of arrays."""
    state = nested_state(archive, return_numpy=True)
    if isinstance(state, dict):
        for name, value in state.items():
            if type(name) is not str or not isinstance(value, np.ndarray):
                break
        else:
            return state
    raise FileFormatError(
        "holds more than arrays by name: read it with paddle.load(path), and give the part with "
        "the variables to program.set_state_dict"
    )


def _ordered(arrays: dict[str, Array], axes: Any) -> dict[str, Array]:
    """With the axes of each array in the order that it had."""
    if type(axes) is not dict:
        fail("axes", f"must be an object, got {shown(axes)}")
    made = dict(arrays)
    for member, given in axes.items():
        where = f"axes.{shown(member)}"
        if member not in arrays:
            fail(where, "there is no such array")
        order = [read_int(k, where, 0, MAX_NDIM) for k in read_list(given, where)]
        if sorted(order) != list(range(arrays[member].ndim)):
            fail(where, f"{order} are not the axes of an array of {arrays[member].ndim}")
        made[member] = arrays[member].transpose(np.argsort(order))
    return made


class _Making:
    """What has been made so far: what is one array in the file becomes one object."""

    def __init__(self, arrays: dict[str, Array], return_numpy: bool) -> None:
        self.used: set[str] = set()
        self._arrays = arrays
        self._return_numpy = return_numpy
        self._tensors: dict[tuple[str, str | None], Tensor] = {}

    def value(self, value: Any, where: str) -> Any:
        kind = type(value)
        if kind is list:
            return tuple([self.value(v, f"{where}[{k}]") for k, v in enumerate(value)])
        if kind is str:
            return read_text(value, where, _MAX_TEXT)
        if kind is not dict or len(value) != 1:
            return read_value(value, where)
        ((tag, held),) = value.items()
        if tag == "list":
            parts = read_list(held, where)
            return [self.value(v, f"{where}[{k}]") for k, v in enumerate(parts)]
        if tag in ("dict", "ordered_dict"):
            return self._dict(OrderedDict() if tag == "ordered_dict" else {}, held, where)
        if tag == "tensor":
            return self._tensor(held, where)
        if tag == "array":
            return self._array(held, where)
        if tag == "bytes":
            return self._bytes(held, where)
        if tag == "int":
            if type(held) is not str or not _HEX.match(held):
                fail(where, f"{shown(held)} is no integer in hexadecimal digits")
            return _large(int(held, 16), where)
        if tag not in _PLAIN:
            fail(where, f"{shown(tag)} is nothing that a state holds")
        return read_value(value, where)

    def _dict(self, made: dict[Any, Any], held: Any, where: str) -> dict[Any, Any]:
        for entry in read_list(held, where):
            written, part = read_list(entry, where, 2)
            key = self.value(written, where)
            if not _is_key(key) or key in made:
                fail(where, f"{shown(key)} is no key, or comes twice")
            made[key] = self.value(part, f"{where}[{shown(key)}]")
        return made

    def _member(self, held: Any, where: str) -> str:
        if type(held) is not str or held not in self._arrays:
            fail(where, f"there is no array {shown(held)} in the file")
        self.used.add(held)
        return held

    def _array(self, held: Any, where: str) -> Array:
        return self._arrays[self._member(held, where)]

    def _bytes(self, held: Any, where: str) -> bytes:
        array = self._array(held, where)
        if array.dtype != np.uint8 or array.ndim != 1:
            fail(where, "bytes are an array of uint8")
        return array.tobytes()

    def _tensor(self, held: Any, where: str) -> Any:
        name = None
        if type(held) is list:
            held, name = read_list(held, where, 2)
            name = read_text(name, where)
        array = self._array(held, where)
        if array.dtype.name not in DTYPES:
            fail(where, f"no Tensor holds {array.dtype.name}")
        if self._return_numpy:
            return array
        made = self._tensors.get((held, name))
        if made is None:
            made = self._tensors[held, name] = Tensor._wrap(array)
            if name is not None:
                made.name = name
        return made


def _large(value: int, where: str) -> int:
    if -LARGEST < value < LARGEST:
        fail(where, f"{value} is written as a number")
    return value


def _is_key(key: Any) -> bool:
    if type(key) is tuple:
        return all(map(_is_key, key))
    return key is None or type(key) in (bool, int, float, str)
