"""Nested state as an archive: what may stand in it, and how it is written.

Arrays are members of the archive. How they are nested, and all that is no array, is the member
``structure.json``, in the vocabulary in which attributes of programs are written: see
docs/format.md.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from typing import IO, Any, Final, NamedTuple, NoReturn

import numpy as np

from autograd_engine.core.dtypes import DTYPES, INEXACT, DType, is_own, kind
from autograd_engine.core.size import Size
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import FileFormatError
from autograd_engine.program.files.archive import ANY_NUMBERS, write_archive
from autograd_engine.program.files.fields import shown
from autograd_engine.program.files.json_text import check_size
from autograd_engine.program.files.values import value_json
from autograd_engine.program.ir.program import Program, Variable
from autograd_engine.program.scope import ScopeTensor

__all__ = ["COMMENT", "KIND", "LARGEST", "VERSION", "Nested", "nested"]

Path = tuple[Any, ...]

KIND: Final = "checkpoint"
VERSION: Final = 1
COMMENT: Final = f"autograd_engine {KIND} {VERSION}".encode()
LARGEST: Final = 2**128  # of the integers that are written as numbers of JSON
_DEEPEST: Final = 30
_LONGEST: Final = 100  # characters of the name of a member, which come from keys
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.\-]")


class Nested(NamedTuple):
    """State that can be written: arrays by the names of their members, and the text of the rest."""

    arrays: dict[str, Array]
    structure: str

    def write(self, file: IO[bytes]) -> None:
        write_archive(file, self.arrays.items(), COMMENT, self.structure)


def nested(state: Any) -> Nested:
    """What to write for `state`. Nothing of it is copied.

    Raises
    ------
    FileFormatError
        For what no file can hold, naming the place.
    """
    taking = _Taking()
    document: dict[str, Any] = {
        "format": f"autograd_engine {KIND}",
        "version": VERSION,
        "state": taking.value(state, ()),
    }
    if taking.axes:
        document["axes"] = taking.axes
    text = json.dumps(document, allow_nan=False)
    try:
        check_size(text)
    except FileFormatError as error:
        raise FileFormatError(
            f"save: state {error}; keep long lists of numbers as arrays, numpy.array(values)"
        ) from None
    return Nested(taking.arrays, text)


def _text(key: Any) -> str:
    try:
        return f"{key!r:.60}"
    except Exception:  # of more digits than Python shows, nested too deep
        return shown(key)


def refuse(path: Path, what: str) -> NoReturn:
    place = "state" + "".join(f"[{_text(key)}]" for key in path)  # as it would be typed
    raise FileFormatError(f"save: {place} {what}")


class _Taking:
    """What has been found so far.

    Attributes
    ----------
    arrays : dict of str to ndarray
        By member; what is one array in the state is one in the file.
    axes : dict of str to list of int
        The order in memory of the axes of arrays that lie neither by rows nor by columns.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.axes: dict[str, list[int]] = {}
        self._members: dict[tuple[str, int], str] = {}
        self._given: list[Any] = []  # lives as long as the numbers in `_members`
        self._names: set[str] = set()
        self._open: set[int] = set()

    def value(self, value: Any, path: Path) -> Any:
        kind = type(value)
        if kind is int:
            return value if -LARGEST < value < LARGEST else {"int": hex(value)}
        if value is None or kind in (bool, float, complex, str):
            return self._plain(value, path)
        if isinstance(value, Tensor):
            return {"tensor": self._tensor(value._data, getattr(value, "_name", None), path)}
        if kind in _CONTAINERS:
            return self._container(value, path)
        if isinstance(value, np.ndarray):
            if kind not in (np.ndarray, np.memmap):
                refuse(path, f"is a numpy.{kind.__name__}: save numpy.array(x), an ndarray")
            return {"array": self._array(value, path)}
        if kind is bytes:
            return {"bytes": self._array(np.frombuffer(value, np.uint8), path, "bytes", value)}
        if isinstance(value, ScopeTensor):
            return {"tensor": self._tensor(np.array(value), value._variable.name, path)}
        if isinstance(value, (np.generic, np.dtype)) and _plain_numpy(value):
            return self._plain(value, path)
        refuse(path, f"is {_described(value)}")

    def _plain(self, value: Any, path: Path) -> Any:
        try:
            return value_json(value, "")
        except FileFormatError:
            refuse(
                path,
                f"is {value!a:.60}, with half of a surrogate pair, which is no text: save "
                "x.encode('utf-8', 'surrogatepass')",
            )

    # --- containers

    def _container(self, value: Any, path: Path) -> Any:
        if id(value) in self._open:
            refuse(path, "contains itself: save each part once")
        _check_depth(path)
        self._open.add(id(value))
        try:
            if isinstance(value, dict):
                tag = "ordered_dict" if type(value) is OrderedDict else "dict"
                items = [
                    [self._key(key, path), self.value(part, (*path, key))]
                    for key, part in value.items()
                ]
                return {tag: items}
            parts = [self.value(part, (*path, k)) for k, part in enumerate(value)]
            return {"list": parts} if isinstance(value, list) else parts
        finally:
            self._open.discard(id(value))

    def _key(self, key: Any, path: Path) -> Any:
        if key is None or type(key) in (bool, int, float, str):
            return self.value(key, (*path, key))
        if type(key) is tuple:
            _check_depth(path)
            return [self._key(part, (*path, key)) for part in key]
        instead = ": save key.item()" if isinstance(key, np.generic) else ""
        refuse(
            path,
            f"has the key {_text(key)}, a {type(key).__name__}: keys are strings, numbers of "
            f"Python, None and tuples of them{instead}",
        )

    # --- arrays

    def _tensor(self, array: Array, name: str | None, path: Path) -> Any:
        member = self._array(array, path, "tensor")
        return member if name is None else [member, self._plain(name, path)]

    def _array(self, array: Array, path: Path, kind: str = "array", given: Any = None) -> str:
        """The member for an array, one for all places of one kind where it is, or `given` is."""
        given = array if given is None else given
        known = self._members.get((kind, id(given)))
        if known is not None:
            return known
        if array.dtype.newbyteorder("<").str not in ANY_NUMBERS and not is_own(array.dtype):
            refuse(path, _other_dtype(array))
        member = self._named(path)
        if not array.flags.forc:
            axes = sorted(range(array.ndim), key=lambda k: -abs(array.strides[k]))
            if array.transpose(axes).flags.c_contiguous:
                array, self.axes[member] = array.transpose(axes), axes
        self.arrays[member] = array
        self._members[kind, id(given)] = member
        self._given.append(given)
        return member

    def _named(self, path: Path) -> str:
        """A name for a member, of letters that are safe on every system, and told by no other."""
        keys = (key if type(key) is str else _text(key) for key in path)
        parts = [_NOT_IN_NAMES.sub("_", key).strip(".") or "_" for key in keys]
        name = base = "/".join(parts)[-_LONGEST:].strip("/.") or "value"
        count = 1
        while name.lower() in self._names:
            count += 1
            name = f"{base}~{count}"
        self._names.add(name.lower())
        return name


def _check_depth(path: Path) -> None:
    if len(path) >= _DEEPEST:
        refuse(path, f"is nested more than {_DEEPEST} deep: move its parts up, under other keys")


_CONTAINERS: Final = (dict, OrderedDict, list, tuple, Size)


def _plain_numpy(value: Any) -> bool:
    return (value.dtype if isinstance(value, np.generic) else value).name in DTYPES


def _other_dtype(array: Array) -> str:
    if kind(array.dtype) in "OUST":
        return f"is an array of dtype {array.dtype}, which holds no numbers: save x.tolist()"
    if kind(array.dtype) in "mM":
        return f"is an array of dtype {array.dtype}: save x.astype('int64')"
    if array.dtype in INEXACT:
        return f"is an array of dtype {array.dtype}: save x.astype('float64')"
    return f"is an array of dtype {array.dtype}: save its fields as arrays of numbers"


def _described(value: Any) -> str:
    """What something is that cannot be saved, and what to save instead."""
    kind = type(value)
    name = kind.__name__
    if isinstance(value, type) or (callable(value) and not hasattr(value, "state_dict")):
        return f"a function or class, {getattr(value, '__name__', name)!r}: save its name, a str"
    if isinstance(value, Variable):
        return (
            f"{value.name}, a variable of a program, which has no values: save program.state_dict()"
        )
    if isinstance(value, Program):
        return "a Program: paddle.static.save(program, path), or save it as the whole state"
    if callable(getattr(value, "state_dict", None)):
        return f"a {name}: save its state_dict(), and give that to set_state_dict() when it is made"
    for base, instead in _INSTEAD.items():
        if isinstance(value, base):
            return f"a {name}: save {instead}"
    if hasattr(value, "read") or hasattr(value, "write"):
        return f"a {name}, an open file: save its name, or its content"
    return (
        f"a {name}, which no file can hold: save dicts, lists and tuples of Tensors, arrays, "
        "numbers, strings and bytes, and make objects of them when they are loaded"
    )


_INSTEAD: Final[dict[type, str]] = {
    dict: "dict(x)",
    list: "list(x)",
    tuple: "tuple(x)",
    set: "sorted(x), a list",
    frozenset: "sorted(x), a list",
    range: "list(x)",
    bytearray: "bytes(x)",
    memoryview: "bytes(x)",
    np.dtype: "x.name",
    np.generic: "x.item()",
    DType: "x.name",
    bool: "bool(x)",
    int: "int(x)",
    float: "float(x)",
    str: "str(x)",
    np.random.Generator: "x.bit_generator.state, a dict",
    np.random.BitGenerator: "x.state, a dict",
}
