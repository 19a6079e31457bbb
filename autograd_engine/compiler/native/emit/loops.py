"""A group of maps and reductions as one C function.

The function runs rows ``lo`` to ``hi`` of its domain (or elements, where rows are of no account)::

    static void loop_3(void **p, int64_t lo, int64_t hi, int64_t block)

It takes the addresses of what it reads and writes, and everything else is a constant of its text:
so groups that do the same have the same text, and become one function.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.compiler.native.c_code.c_text import place
from autograd_engine.compiler.native.c_code.scalars import (
    C_TYPES,
    expression,
    in_memory,
    in_register,
    literal,
    loaded,
    stored,
)
from autograd_engine.compiler.native.emit.lanes import in_lanes
from autograd_engine.compiler.native.emit.reductions import SIGNS, combine, identity, sums_in
from autograd_engine.compiler.native.ir import (
    Buffer,
    Map,
    Reduce,
    Step,
    Term,
    contiguous_strides,
)
from autograd_engine.compiler.native.passes.row_passes import (
    crossing,
    pass_of,
    phases_of,
    time_of,
)
from autograd_engine.compiler.native.passes.schedule import (
    FULL,
    LATER,
    ROW,
    Group,
    reduced_axes,
    strides_over,
)
from autograd_engine.core.dtypes import FLOATS

__all__ = ["Accumulator", "Loop", "written_loop"]


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
            self.types[found] = in_memory(buffer.dtype)
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


def _of_memory(term: Term) -> np.dtype[Any]:
    assert term.buffer is not None
    return term.buffer.dtype


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


# A one-dimensional domain is run in stretches: their sums are added up in float64.
STRETCH: Final = 2048
# Loops that take longer are run in slices, between which they may be stopped (nanoseconds).
_SLICE: Final = 1e7
# How many rows before they are read the rows of a table are asked for.
_AHEAD: Final = 4


class Accumulator(NamedTuple):
    """What is added up over rows: the function writes one of these for each block.

    Attributes
    ----------
    pointer : int
        Its place among the pointers.
    out : Buffer
    kind : str
    dtype : dtype
        In which it is added up.
    """

    pointer: int
    out: Buffer
    kind: str
    dtype: np.dtype[Any]


class Loop(NamedTuple):
    """A C function for a group.

    Attributes
    ----------
    text : str
        Of a function called ``NAME``.
    pointers : list of Pointer
    accumulators : list of Accumulator
    extent : int
        How far ``lo`` to ``hi`` goes.
    work : float
        Roughly, nanoseconds of it all.
    sliced : bool
        Whether it asks, between slices, if it is to stop.
    """

    text: str
    pointers: list[Pointer]
    accumulators: list[Accumulator]
    extent: int
    work: float
    sliced: bool


def written_loop(
    group: Group, stored: set[int], layouts: dict[int, Shape], used: set[str], stoppable: bool
) -> Loop:
    """The C function of a group.

    Parameters
    ----------
    group : Group
    stored : set of int
        Numbers of buffers that it makes and that have memory.
    layouts : dict of int to tuple
        Strides of those that do not lie in C order.
    used : set of str
        Names in `maths` are added.
    stoppable : bool
        Whether it may be given up halfway, if it takes long.
    """
    return _Writer(group, stored, layouts, used, stoppable).written()


class _Writer(LoopMemory):
    def __init__(
        self,
        group: Group,
        stored: set[int],
        layouts: dict[int, Shape],
        used: set[str],
        stoppable: bool,
    ) -> None:
        super().__init__(group, layouts)
        self.stored = stored
        self.used = used
        self.phases = phases_of(group)
        self.accumulators: list[Accumulator] = []
        self.locals: dict[int, str] = {}
        kept = {b.number for b in crossing(group)}
        self.scratch = kept - stored
        self.outside: list[str] = []
        self.hoisted = 0
        self.asked: set[int] = set()
        elements = math.prod(group.domain)
        cost = sum(time_of(s) for s in group.steps if self._level(s) == FULL)
        self.work = elements * cost
        self.sliced, self.slice = self._sliced() if stoppable else (-1, 0)

    # --- text

    def written(self) -> Loop:
        last = max(self.phases.values(), default=0)
        body: list[str] = []
        for phase in range(last + 1):
            body += self._row_statements(phase)
            body += self._pass(phase)
            body += self._row_results(phase)
        text = self._function(body)
        extent = self.row_sizes[0] if self.row_sizes else self.width if self.inner_sizes else 1
        return Loop(text, self.pointers, self.accumulators, extent, self.work, self.sliced >= 0)

    def _sliced(self) -> tuple[int, int]:
        """Which loop is run in slices, counted from outside, and how many turns make one.

        The innermost one that takes longer than a slice, each time it is run; -1: none does.
        """
        sizes = [*self.row_sizes, *self.inner_sizes]
        if not self.row_sizes and sizes:
            sizes = [-(-self.width // STRETCH)]
        found, each = (-1, 0), self.work
        for k, size in enumerate(sizes):
            if each > _SLICE and size > 1:
                found = k, max(1, int(size * _SLICE / each))
            each /= max(size, 1)
        return found

    def _counted(
        self, level: int, name: str, low: str, high: str, step: int = 1, pragma: str = ""
    ) -> list[str]:
        """The head of a loop; of the one that is run in slices the heads of two."""
        turn = f"{name}++" if step == 1 else f"{name} += {step}"
        lines = []
        if level == self.sliced:
            at, to, size = f"{name}_at", f"{name}_to", self.slice * step
            lines += [
                f"for (int64_t {at} = {low}; {at} < {high}; {at} += {size}) {{",
                "if (ae_stopped()) return;",
                f"int64_t {to} = {high} - {at} < {size} ? {high} : {at} + {size};",
            ]
            low, high = at, to
        lines += [pragma] if pragma else []
        return [*lines, f"for (int64_t {name} = {low}; {name} < {high}; {turn}) {{"]

    def _function(self, body: list[str]) -> str:
        head = ["static void NAME(void **p, int64_t lo, int64_t hi, int64_t block)", "{"]
        shifts, starts, ends = self._accumulating()
        heads = [f"    {self.types[k]} *p{k} = p[{k}];" for k in range(len(self.pointers))]
        scratch = [
            f"    {in_register(self.makers[b].outs[0].dtype)} t{self._local(b)}[{self.width}];"
            for b in sorted(self.scratch)
        ]
        loops, depth = self._row_loops()
        text = [*head, *heads, *shifts, *scratch, *starts, *loops]
        pad = "    " * (depth + 1)
        text += [pad + line if not line.startswith("#") else line for line in body]
        text += ["    " * k + "}" for k in range(depth, 0, -1)]
        text += ends
        if not self.accumulators:
            text.append("    (void)block;")
        if not loops:
            text.append("    (void)lo, (void)hi;")
        return "\n".join([*text, "}", ""])

    def _row_loops(self) -> tuple[list[str], int]:
        if not self.row_sizes:
            if not self.inner_sizes:
                return [], 0
            heads = self._counted(0, "start", "lo", "hi", STRETCH)
            depth = _opened(heads)
            end = f"int64_t end = {self._bound(0, 'start', 'hi')};"
            return [*_indented(heads, 1), "    " * (depth + 1) + end], depth
        heads = []
        for k, (name, size) in enumerate(zip(self.row_names, self.row_sizes, strict=True)):
            heads += self._counted(k, name, *(("lo", "hi") if k == 0 else ("0", str(size))))
        return _indented(heads, 1), _opened(heads)

    def _bound(self, level: int, name: str, high: str) -> str:
        """Where a stretch ends."""
        most = f"{name}_to" if level == self.sliced else high
        return f"{most} - {name} < {STRETCH} ? {most} : {name} + {STRETCH}"

    def _local(self, number: int) -> str:
        """Names count from 0 in each function."""
        found = self.locals.get(number)
        if found is None:
            found = self.locals[number] = str(len(self.locals))
        return found

    def _row_statements(self, phase: int) -> list[str]:
        """What is computed once a row before a pass over it."""
        lines = []
        for step in self.group.steps:
            out = step.outs[0]
            if self.group.levels[out.number] != ROW or self.phases[out.number] != phase:
                continue
            if isinstance(step, Map):
                value = self._value(step, lambda t: self._row_operand(t))
                lines.append(f"{in_register(out.dtype)} r{self._local(out.number)} = {value};")
                lines += self._store_row(step)
        return lines

    def _store_row(self, step: Step) -> list[str]:
        out = step.outs[0]
        if out.number not in self.stored:
            return []
        access = self._access((step, ROW))
        value = stored(f"r{self._local(out.number)}", out.dtype, self.used)
        return [f"{self._address(access, inner=False)} = {value};"]

    def _row_operand(self, term: Term) -> str:
        if term.buffer is None:
            return literal(term.number, term.dtype)
        if term.buffer.number in self.makers:
            return f"r{self._local(term.buffer.number)}"
        element = self._address(self._access((term, ROW)), inner=False)
        return loaded(element, _of_memory(term), self.used)

    def _value(self, step: Map, operand: Any) -> str:
        out = step.outs[0]
        if step.function == "position":
            return self._position(step)
        if step.function == "gather":
            return self._gather(step, operand)
        args = [operand(t) for t in step.args]
        numbers = [t.number if t.buffer is None else None for t in step.args]
        typed = step.args[1 if step.function == "where" else 0].dtype
        return expression(step.function, args, numbers, typed, out.dtype, self.used)

    def _position(self, step: Map) -> str:
        axis = sum(d != 1 for d in step.outs[0].shape[: step.axis])
        if step.outs[0].shape[step.axis] == 1:
            return "0"
        kind = C_TYPES[step.outs[0].dtype]
        runs = [*self.row_axes, *self.inner_axes]
        for text, run in zip([*self.row_names, *self.inner_names], runs, strict=True):
            if axis in run:
                below = math.prod(self.group.domain[a] for a in run if a > axis)
                index = f"{text} / {below}" if below > 1 else text
                if run[0] != axis:
                    index = f"({index}) % {self.group.domain[axis]}"
                return f"({kind})({index})"
        raise AssertionError("an axis is in no loop")

    def _gather(self, step: Map, operand: Any) -> str:
        table, index = step.args
        access = self._access((start_of_table(step), FULL))
        address = self._address(access)[:-1]
        self._ask_ahead(step, access)
        element = f"{address} + (int64_t){operand(index)} * {table.strides[step.axis]}]"
        return loaded(element, _of_memory(table), self.used)

    def _ask_ahead(self, step: Map, table: Access) -> None:
        """Ask for the lines of memory of a row of a table, a few rows before it is read.

        Rows that are looked up lie anywhere: the processor cannot guess which is the next.
        """
        index = step.args[1]
        if index.buffer is None or index.buffer.number in self.makers or not self.row_sizes:
            return
        at = self._access((index, FULL))
        line_by_line = tuple(at.rows) == contiguous_strides(tuple(self.row_sizes))
        width = self.width * _of_memory(step.args[0]).itemsize
        alone = table.inner == (1,) and not any(table.rows) and not any(at.inner)
        if not (line_by_line and alone and 128 <= width <= 4096) or table.pointer in self.asked:
            return
        self.asked.add(table.pointer)
        place = self._address(at).partition("[")[2][:-1]
        last = math.prod(self.row_sizes) - 1
        row = f"p{at.pointer}[{place} + {_AHEAD} < {last} ? {place} + {_AHEAD} : {last}]"
        self.outside += [
            f"const char *row{table.pointer} = (const char *)(p{table.pointer} + "
            f"(int64_t){row} * {step.args[0].strides[step.axis]});",
            f"for (int64_t c = 0; c < {width}; c += 64) "
            f"__builtin_prefetch(row{table.pointer} + c);",
        ]

    # --- one pass over the elements of a row

    def _pass(self, phase: int) -> list[str]:
        lines: list[str] = []
        names: dict[Any, str] = {}
        steps = [
            s
            for s in self.group.steps
            if pass_of(s, self.phases, self.group) == phase and self._level(s) == FULL
        ]
        if not steps:
            return []
        inside: list[str] = []
        clauses: dict[str, list[str]] = {}
        before = self.outside = []
        for step in steps:
            if isinstance(step, Reduce):
                self._reduction(step, names, inside, before, clauses)
            elif isinstance(step, Map):
                self._map(step, names, inside)
        pragma = ""
        if inside:
            reductions = "".join(
                f" reduction({sign}:{', '.join(vs)})" for sign, vs in clauses.items()
            )
            pragma = f"#pragma omp simd{reductions}"
        lines += before
        at = "start"
        if self._is_flat(phase) and (lanes := in_lanes(inside, self.used)):
            at = "at"
            lines += ["int64_t at = start;", *lanes]
        loops = self._inner_loops(pragma, at)
        lines += loops[0]
        lines += ["    " * loops[1] + line for line in inside]
        lines += ["    " * k + "}" for k in range(loops[1] - 1, -1, -1)]
        return lines

    def _is_flat(self, phase: int) -> bool:
        """Whether it is the one loop of the function, over stretches of all elements."""
        return bool(self.inner_sizes) and not self.row_sizes and not phase

    def _inner_loops(self, pragma: str, start: str) -> tuple[list[str], int]:
        if not self.inner_sizes:
            return [], 0
        if not self.row_sizes:
            return [pragma, f"for (int64_t j = {start}; j < end; j++) {{"], 1
        heads: list[str] = []
        last = len(self.inner_sizes) - 1
        for k, (name, size) in enumerate(zip(self.inner_names, self.inner_sizes, strict=True)):
            level = len(self.row_sizes) + k
            heads += self._counted(level, name, "0", str(size), 1, pragma if k == last else "")
        return _indented(heads, 0), _opened(heads)

    def _map(self, step: Map, names: dict[Any, str], inside: list[str]) -> None:
        out = step.outs[0]
        value = self._value(step, lambda t: self._element(t, names, inside))
        name = f"x{self._local(out.number)}"
        inside.append(f"{in_register(out.dtype)} {name} = {value};")
        names[out.number] = name
        if out.number in self.stored:
            element = stored(name, out.dtype, self.used)
            inside.append(f"{self._address(self._access((step, FULL)))} = {element};")
        elif out.number in self.scratch:
            inside.append(f"t{self._local(out.number)}[{self._inner_index()}] = {name};")

    def _inner_index(self) -> str:
        return place(self.inner_names, contiguous_strides(tuple(self.inner_sizes)))

    def _element(self, term: Term, names: dict[Any, str], inside: list[str]) -> str:
        """An operand at one element."""
        if term.buffer is None:
            return literal(term.number, term.dtype)
        number = term.buffer.number
        step = self.makers.get(number)
        if step is None:
            return self._loaded(self._access((term, FULL)), _of_memory(term), names, inside)
        if self.group.levels[number] == ROW:
            return f"r{self._local(number)}"
        found = names.get(number)
        if found is not None:
            return found
        if number in self.stored:
            return self._loaded(
                self._access((step, FULL)), _of_memory(term), names, inside, number
            )
        if number in self.scratch:
            return f"t{self._local(number)}[{self._inner_index()}]"
        assert isinstance(step, Map)
        value = self._value(step, lambda t: self._element(t, names, inside))
        name = f"x{self._local(number)}"
        inside.append(f"{in_register(term.dtype)} {name} = {value};")
        names[number] = name
        return name

    def _loaded(
        self,
        access: Access,
        dtype: np.dtype[Any],
        names: dict[Any, str],
        inside: list[str],
        number: int | None = None,
    ) -> str:
        key = (access.pointer, access.rows, access.inner)
        found = names.get(key)
        if found is None:
            found, place = f"a{len(names)}", inside
            if not any(access.inner) and number is None:
                # What is one for the row is read before: nothing of the group writes it.
                self.hoisted += 1
                found, place = f"b{self.hoisted}", self.outside
            names[key] = found
            value = loaded(self._address(access), dtype, self.used)
            place.append(f"{in_register(dtype)} {found} = {value};")
        if number is not None:
            names[number] = found
        return found

    # --- reductions

    def _reduction(
        self,
        step: Reduce,
        names: dict[Any, str],
        inside: list[str],
        before: list[str],
        clauses: dict[str, list[str]],
    ) -> None:
        out = step.outs[0]
        value = self._element(step.arg, names, inside)
        local = f"s{self._local(out.number)}"
        kind = step.kind
        if not self._takes_rows(step):
            access = self._accumulator(step)
            address = self._address(access)
            inside.append(f"{address} = {combine(kind, address, value)};")
            return
        before.append(f"{C_TYPES[out.dtype]} {local} = {identity(kind, out.dtype)};")
        if kind in ("max", "min"):
            sign = ">" if kind == "max" else "<"
            if out.dtype in FLOATS:
                before.append(f"int {local}_nan = 0;")
                inside.append(f"{local}_nan |= {value} != {value};")
                clauses.setdefault("|", []).append(f"{local}_nan")
            inside.append(f"{local} = {value} {sign} {local} ? {value} : {local};")
            clauses.setdefault(kind, []).append(local)
            return
        inside.append(f"{local} = {combine(kind, local, value)};")
        clauses.setdefault(SIGNS[kind], []).append(local)

    def _takes_rows(self, step: Reduce) -> bool:
        """Whether it takes the elements of a row together."""
        axes = reduced_axes(step)
        return all(a in axes for run in self.inner_axes for a in run)

    def _accumulator(self, step: Reduce) -> Access:
        access = self._access((step, LATER))
        if not any(a.pointer == access.pointer for a in self.accumulators):
            out = step.outs[0]
            self.accumulators.append(
                Accumulator(access.pointer, out, step.kind, sums_in(step, self._total(step)))
            )
        return access

    def _total(self, step: Reduce) -> bool:
        """Whether one number is left of it all."""
        return len(reduced_axes(step)) == len(self.group.domain)

    def _row_results(self, phase: int) -> list[str]:
        """What a pass over a row has taken together."""
        lines = []
        for step in self.group.steps:
            if not isinstance(step, Reduce) or not self._takes_rows(step):
                continue
            if pass_of(step, self.phases, self.group) != phase:
                continue
            out = step.outs[0]
            local = f"s{self._local(out.number)}"
            if step.kind in ("max", "min") and out.dtype in FLOATS:
                nan = literal(math.nan, out.dtype)
                lines.append(f"{local} = {local}_nan ? {nan} : {local};")
            if self.group.levels[out.number] == ROW:
                kind = C_TYPES[out.dtype]
                lines.append(f"{kind} r{self._local(out.number)} = {local};")
                lines += self._store_row(step)
                continue
            access = self._accumulator(step)
            total = (
                f"total{self._local(out.number)}"
                if self._total(step)
                else self._address(access, inner=False)
            )
            lines.append(f"{total} = {combine(step.kind, total, local)};")
        return lines

    def _accumulating(self) -> tuple[list[str], list[str], list[str]]:
        """Lines that find the memory of a block, that start what is one number, and store it."""
        shifts, starts, ends = [], [], []
        by_out = {s.outs[0].number: s for s in self.group.steps}
        for a in self.accumulators:
            step = by_out[a.out.number]
            assert isinstance(step, Reduce)
            self.types[a.pointer] = C_TYPES[a.dtype]
            shifts.append(f"    p{a.pointer} += block * {max(a.out.size, 1)};")
            if self._total(step):
                name = f"total{self._local(a.out.number)}"
                kind = C_TYPES[a.dtype]
                starts.append(f"    {kind} {name} = {identity(a.kind, a.dtype)};")
                ends.append(f"    p{a.pointer}[0] = {name};")
        return shifts, starts, ends


def _opened(heads: list[str]) -> int:
    """How many braces these lines open."""
    return sum(line.endswith("{") for line in heads)


def _indented(heads: list[str], depth: int) -> list[str]:
    """Each line as deep as the braces before it."""
    lines = []
    for line in heads:
        lines.append(line if line.startswith("#") else "    " * depth + line)
        depth += line.endswith("{")
    return lines
