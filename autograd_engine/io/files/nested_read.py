"""Nested state out of an archive.

What is read here is not trusted: what docs/format.md does not describe is refused.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dtypes import DTYPES
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import FileFormatError
from autograd_engine.io.files.nested_write import (
    COMMENT,
    KIND,
    LARGEST,
    VERSION,
)
from autograd_engine.program.files.archive import STRUCTURE, Archive
from autograd_engine.program.files.fields import (
    MAX_NDIM,
    fail,
    read_fields,
    read_int,
    read_list,
    read_text,
    shown,
)
from autograd_engine.program.files.json_text import parse
from autograd_engine.program.files.values import read_value

__all__ = ["flat_state", "nested_state"]

Array = NDArray[Any]
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
