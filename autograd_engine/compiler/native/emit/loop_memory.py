"""Where the elements of a group lie in memory, and the loops that run through them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.compiler.native.c_code.c_text import place
from autograd_engine.compiler.native.c_code.scalars import C_TYPES
from autograd_engine.compiler.native.ir import (
    Buffer,
    Map,
    Reduce,
    Step,
    Term,
    contiguous_strides,
)
from autograd_engine.compiler.native.passes.schedule import (
    FULL,
    LATER,
    Group,
    reduced_axes,
    strides_over,
)

__all__ = ["Access", "LoopMemory", "Pointer", "start_of_table"]

Shape = tuple[int, ...]


class Pointer(NamedTuple):
    """What a function is given: an element of a buffer."""

    buffer: Buffer
    offset: int


class Access(NamedTuple):
    """How elements of the domain lie in memory: strides along rows, and along a row."""

    pointer: int
    dtype: np.dtype[Any]
    rows: Shape
    inner: Shape


class LoopMemory:
    """The loops of a group, and the addresses of what it reads and writes.

    Parameters
    ----------
    group : Group
    layouts : dict of int to tuple
        Strides of buffers that do not lie in C order.

    Attributes
    ----------
    pointers : list of Pointer
        What the function is given, in order.
    types : dict of int to str
        The C type that each points to.
    row_axes, inner_axes : list of list of int
        Axes of the domain that are one loop: over rows, and in a row.
    row_sizes, inner_sizes : list of int
    row_names, inner_names : list of str
        The counters of these loops.
    width : int
        Elements of a row.
    """

    def __init__(self, group: Group, layouts: dict[int, Shape]) -> None:
        self.group = group
        self.layouts = layouts
        self.makers = {s.outs[0].number: s for s in group.steps}
        self.pointers: list[Pointer] = []
        self.pointer_names: dict[tuple[int, int], int] = {}
        self.types: dict[int, str] = {}
        self._dimensions()

    # --- the shape of the loops

    def _dimensions(self) -> None:
        """Axes that all memory runs through alike become one."""
        group, n = self.group, len(self.group.domain)
        k = group.split()
        every = [self._strides(t) for t in self._memory()]
        free = not group.has_rows and all(
            len(reduced_axes(s)) in (0, n) for s in group.steps if isinstance(s, Reduce)
        )
        if free:
            runs = _merged(group.domain, every, range(n))
            self.row_axes, self.inner_axes = runs[:-1], runs[-1:]
        else:
            self.row_axes = _merged(group.domain, every, range(k))
            self.inner_axes = _merged(group.domain, every, range(k, n))
        self.row_sizes = [math.prod(group.domain[a] for a in run) for run in self.row_axes]
        self.inner_sizes = [math.prod(group.domain[a] for a in run) for run in self.inner_axes]
        self.row_names = _counters("i", len(self.row_sizes))
        self.inner_names = _counters("j", len(self.inner_sizes))
        self.width = math.prod(self.inner_sizes)

    def _memory(self) -> Iterable[tuple[Term | Step, str]]:
        """Terms that are read from memory, and steps whose results are in memory."""
        for step in self.group.steps:
            for term in _read(step):
                if term.buffer is not None and term.buffer.number not in self.makers:
                    yield term, self._level(step)
            yield step, self.group.levels[step.outs[0].number]

    def _level(self, step: Step) -> str:
        level = self.group.levels[step.outs[0].number]
        return FULL if isinstance(step, Reduce) else level

    def _strides(self, item: tuple[Term | Step, str]) -> Shape:
        """Strides over the whole domain."""
        what, level = item
        n = len(self.group.domain)
        if isinstance(what, Term):
            assert what.buffer is not None
            moved = what.buffer.number in self.layouts
            strides = self._layout(what.buffer) if moved else strides_over(what)
        elif isinstance(what, Reduce) and level == LATER:
            strides = self._kept_strides(what)
        else:
            out = what.outs[0]
            strides = self._layout(out)
        return (*strides, *(0 for _ in range(n - len(strides))))

    def _layout(self, out: Buffer) -> Shape:
        layout = self.layouts.get(out.number) or contiguous_strides(out.shape)
        return tuple(s for s, d in zip(layout, out.shape, strict=True) if d != 1)

    def _kept_strides(self, step: Reduce) -> Shape:
        axes = reduced_axes(step)
        kept = [d for a, d in enumerate(self.group.domain) if a not in axes]
        strides = iter(contiguous_strides(tuple(kept)))
        return tuple(0 if a in axes else next(strides) for a in range(len(self.group.domain)))

    # --- memory

    def _pointer(self, buffer: Buffer, offset: int) -> int:
        key = (buffer.number, offset)
        found = self.pointer_names.get(key)
        if found is None:
            found = self.pointer_names[key] = len(self.pointers)
            self.pointers.append(Pointer(buffer, offset))
            self.types[found] = C_TYPES[buffer.dtype.char]
        return found

    def _access(self, item: tuple[Term | Step, str]) -> Access:
        what, _ = item
        strides = self._strides(item)
        rows = tuple(strides[run[-1]] for run in self.row_axes)
        inner = tuple(strides[run[-1]] for run in self.inner_axes)
        if isinstance(what, Term):
            assert what.buffer is not None
            pointer = self._pointer(what.buffer, what.offset)
            return Access(pointer, what.dtype, rows, inner)
        out = what.outs[0]
        return Access(self._pointer(out, 0), out.dtype, rows, inner)

    def _address(self, access: Access, inner: bool = True) -> str:
        names, strides = self.row_names, access.rows
        if inner:
            names, strides = [*names, *self.inner_names], (*strides, *access.inner)
        return f"p{access.pointer}[{place(names, strides)}]"


def _read(step: Step) -> Iterable[Term]:
    """What a step reads, as it moves along its domain."""
    if isinstance(step, Map) and step.function == "gather":
        return (start_of_table(step), step.args[1])
    return step.terms


def start_of_table(step: Map) -> Term:
    """The elements that a gather would read at index 0."""
    table = step.args[0]
    strides = tuple(0 if k == step.axis else s for k, s in enumerate(table.strides))
    return table.seen(step.outs[0].shape, strides)


def _counters(letter: str, count: int) -> list[str]:
    return [letter if k == 0 else f"{letter}{k}" for k in range(count)]


def _merged(domain: Shape, every: Sequence[Shape], axes: Iterable[int]) -> list[list[int]]:
    """Runs of axes that are one axis for all strides."""
    runs: list[list[int]] = []
    for a in axes:
        if runs:
            b = runs[-1][-1]
            if all(s[b] == s[a] * domain[a] for s in every):
                runs[-1].append(a)
                continue
        runs.append([a])
    return runs
