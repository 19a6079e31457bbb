"""Where values left the graph: notes for `explain`, taken where a history is dropped on purpose.

A tensor without a history says nothing of one that it could have had. So ``detach``, ``numpy``,
``set_value``, ``stop_gradient = True``, casts to integers, and gradients that are taken without
``create_graph`` note the line and the operation whose
result they cut off. Nothing is kept alive by it, and nothing is noted of tensors that carry no
gradient, nor of any ordinary operation.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

from autograd_engine.core.locations import PACKAGE_DIR, Location, user_frame_from
from autograd_engine.core.spec import Array
from autograd_engine.eager.sequence import newer

__all__ = [
    "NO_GRAPH",
    "Block",
    "Cut",
    "cut_of",
    "follow_cut",
    "note_block",
    "note_cut",
    "recent_blocks",
    "recent_cuts",
]

NO_GRAPH: Final = "create_graph=False"
"""The kind of a cut: derivatives that were asked for as values."""

_SWITCHES: Final = (
    contextlib.__file__,
    os.path.join(PACKAGE_DIR, "core", "overrides.py"),
    os.path.join(PACKAGE_DIR, "eager", "grad_mode.py"),
)
_MOST: Final = 256  # lines that are remembered; the longest unused are forgotten


class Cut:
    """One place where values left the graph.

    Attributes
    ----------
    kind : str
        What the user called: ``detach()``, ``numpy()``, ``set_value()``, ...
    location : Location
    source : str
        What they were the values of: the result of an operation with its line, or a leaf.
    seq : int or None
        The number of the operation they came from; None for a leaf.
    leaf : weakref or None
        The leaf.
    when : int
        The number that the next operation would have had.
    """

    __slots__ = ("_at", "_made", "kind", "leaf", "seq", "when")

    def __init__(self, kind: str, tensor: Any, at: tuple[CodeType, int]) -> None:
        node = tensor._node
        self.kind = kind
        self._at = at
        self.when = newer()
        if node is None:
            self.seq: int | None = None
            self.leaf: weakref.ref[Any] | None = weakref.ref(tensor)
            self._made = None
        else:
            self.seq, self.leaf = node.seq, None
            self._made = node.pullback.op, node.code, node.instruction

    @property
    def location(self) -> Location:
        return Location(*self._at)

    @property
    def op(self) -> str | None:
        """The operation whose result it was; None for a leaf."""
        return None if self._made is None else str(self._made[0].name)

    @property
    def op_at(self) -> Location | None:
        return None if self._made is None else Location(*self._made[1:])

    @property
    def source(self) -> str:
        if self.op is not None:
            return f"the result of {self.op} ({self.op_at})"
        leaf = self.leaf() if self.leaf is not None else None
        return "a leaf" if leaf is None else f"the leaf {leaf.name}"

    def leaf_is(self, tensor: Any) -> bool:
        """Whether these were the values of that leaf."""
        return self.leaf is not None and self.leaf() is tensor


class Block:
    """A line that began a block in which nothing is recorded; see `Cut` for `when`."""

    __slots__ = ("_at", "kind", "when")

    def __init__(self, kind: str, frame: FrameType) -> None:
        self.kind = kind
        self._at = frame.f_code, frame.f_lasti
        self.when = newer()

    @property
    def location(self) -> Location:
        return Location(*self._at)


# By (id of the code, instruction, kind), the latest at the end. The entries hold the code.
_cuts: dict[tuple[int, int, str], Cut] = {}
_blocks: dict[tuple[int, int, str], Block] = {}
_by_array: dict[int, tuple[_ArrayRef, Cut]] = {}


class _ArrayRef(weakref.ref[Array]):
    """A weak reference that knows the number its array had."""

    __slots__ = ("key",)

    key: int


def _forget(reference: _ArrayRef) -> None:
    _by_array.pop(reference.key, None)


class _InUserCode(threading.local):
    """Set while a gradient that the user wrote is being run: called instead of noting a cut.

    It takes the kind, and the tensor whose history ends there, if that is one.
    """

    watch: Callable[[str, Any], None] | None = None


in_user_code: Final = _InUserCode()


def note_cut(kind: str, tensor: Any, *results: Array, at: Location | None = None) -> None:
    """Values of `tensor`, which carries a gradient, become `results`, which do not.

    `at` is the line of the user's, where that is known.
    """
    watch = in_user_code.watch
    if watch is not None:
        watch(kind, tensor)
        return
    if at is None:
        frame = user_frame_from(sys._getframe(1))
        code, instruction = frame.f_code, frame.f_lasti
    else:
        code, instruction = at.code, at.instruction
    cut = Cut(kind, tensor, (code, instruction))
    _remember(_cuts, (id(code), instruction, kind), cut)
    for array in results:
        _mark(array, cut)


def note_block(kind: str) -> None:
    """A block of the user's begins, in which nothing is recorded."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename in _SWITCHES:
        frame = frame.f_back
    if frame is not None and not frame.f_code.co_filename.startswith(PACKAGE_DIR):
        _remember(_blocks, (id(frame.f_code), frame.f_lasti, kind), Block(kind, frame))


def _remember(table: dict[Any, Any], key: Any, value: Any) -> None:
    table.pop(key, None)
    table[key] = value
    if len(table) > _MOST:
        for oldest in list(table)[:-_MOST]:  # another thread may have been quicker
            table.pop(oldest, None)


def follow_cut(given: Array, made: Array) -> None:
    """`made` is a copy of `given`: a way through NumPy and back is one cut."""
    cut = cut_of(given)
    if cut is not None:
        _mark(made, cut)


def _mark(array: Array, cut: Cut) -> None:
    reference = _ArrayRef(array, _forget)
    key = reference.key = id(array)
    _by_array[key] = reference, cut


def cut_of(array: Array | None) -> Cut | None:
    """The cut that these values come from, if they were noted."""
    found = _by_array.get(id(array))
    return found[1] if found is not None and found[0]() is array else None


def recent_cuts() -> list[Cut]:
    """Cuts by line, the latest first."""
    return list(reversed(list(_cuts.values())))


def recent_blocks() -> list[Block]:
    """Lines that began blocks in which nothing is recorded, the latest first."""
    return list(reversed(list(_blocks.values())))
