"""The C text of a program: its functions, and the entry that calls them one after the other."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from autograd_engine.compiler.arena import Interval, offsets
from autograd_engine.compiler.native.c_code.c_text import nest
from autograd_engine.compiler.native.c_code.scalars import C_TYPES, in_memory, literal, loaded
from autograd_engine.compiler.native.emit.address import (
    CLOCK,
    FEW,
    RESOLVE,
    Address,
)
from autograd_engine.compiler.native.emit.gemm import ProductText, scratch_of
from autograd_engine.compiler.native.emit.loops import Accumulator, Loop, written_loop
from autograd_engine.compiler.native.emit.math_functions import NAMES
from autograd_engine.compiler.native.emit.reductions import combine, identity
from autograd_engine.compiler.native.emit.translation_units import one_source, units
from autograd_engine.compiler.native.ir import (
    Assemble,
    Buffer,
    Callback,
    Check,
    Kernel,
    Product,
    Step,
    Term,
)
from autograd_engine.compiler.native.lower import Lowered
from autograd_engine.compiler.native.passes.row_passes import crossing
from autograd_engine.compiler.native.passes.schedule import LATER, Group, steps_of

__all__ = ["Emitted", "Part", "emit"]

# Loops that take less than this are not worth another thread (nanoseconds, by `Loop.work`).
_SMALL: Final = 30_000
_STACK: Final = 4096
_CALLED: Final = re.compile(r"\bae_(\w+)\(")
# How many calls one C function makes.
_STRETCH: Final = 48


class Part(NamedTuple):
    """What runs one after the other: an entry of the library, or an operation of NumPy's.

    Attributes
    ----------
    entry : str
        Empty of an operation.
    callback : Callback or None
    """

    entry: str
    callback: Callback | None


class Emitted(NamedTuple):
    """A program as C.

    Attributes
    ----------
    source : str
        Without the runtime's header.
    units : list of str
        The same, to be compiled at once.
    parts : list of Part
    arena : int
        Bytes of memory that it works in.
    offsets : dict of int to int
        By the number of a buffer: its place in the arena.
    constants : list of Buffer
        Whose arrays are passed behind the inputs.
    order : list of Step or Group
    work : float
        Roughly, nanoseconds of one run.
    """

    source: str
    units: list[str]
    parts: list[Part]
    arena: int
    offsets: dict[int, int]
    constants: list[Buffer]
    order: list[Step | Group]
    work: float


def emit(lowered: Lowered, order: list[Step | Group], threads: int, timed: bool = False) -> Emitted:
    """Write a program whose steps are in order.

    Parameters
    ----------
    lowered : Lowered
    order : list of Step or Group
    threads : int
        How many threads there are.
    timed : bool
        Whether it writes down, behind the values in its arena, when each item has ended: the time
        in seconds, as float64, for the beginning and for each item.
    """
    return _Emitter(lowered, order, threads, timed).emitted()


class _Emitter(ProductText):
    def __init__(
        self, lowered: Lowered, order: list[Step | Group], threads: int, timed: bool
    ) -> None:
        self.timed = timed
        self.lowered = lowered
        self.order = order
        self.threads = threads
        self.inputs = len(lowered.inputs)
        self.constants: dict[int, int] = {}
        self.constant_buffers: list[Buffer] = []
        self.functions: dict[str, str] = {}
        self.texts: list[str] = []
        self.maths: set[str] = set()
        self.helpers: dict[str, None] = {}
        self.stored = self._stored()
        self.loops: dict[int, Loop] = {}
        self.scratch: dict[int, int] = {}  # by place in the order: bytes
        self.work = 0.0

    # --- what needs memory

    def _stored(self) -> set[int]:
        """Numbers of buffers that are read outside of the group that makes them."""
        stored = self.lowered.returned
        for item in self.order:
            inside = set(item.levels) if isinstance(item, Group) else set()
            for step in steps_of(item):
                stored.update(
                    t.buffer.number
                    for t in step.terms
                    if t.buffer is not None and t.buffer.number not in inside
                )
            if isinstance(item, Group):
                width = math.prod(item.domain[item.split() :])
                if width > _STACK:
                    stored.update(b.number for b in crossing(item))
                stored.update(s.outs[0].number for s in item.steps if s.outs[0].place)
                stored.update(n for n, level in item.levels.items() if level == LATER)
        return stored

    def _plan(self) -> None:
        """Lifetimes of all memory, and where it lies."""
        sizes: dict[int, int] = {}
        first: dict[int, int] = {}
        last: dict[int, int] = {}

        def touch(buffer: Buffer, time: int) -> None:
            root, _ = buffer.root
            if root.input is not None or root.constant is not None:
                return
            sizes[root.number] = root.size * root.dtype.itemsize
            first.setdefault(root.number, time)
            last[root.number] = time

        for time, item in enumerate(self.order):
            for step in steps_of(item):
                for term in step.terms:
                    if term.buffer is not None and self._in_memory(term.buffer):
                        touch(term.buffer, time)
                for out in step.outs:
                    if self._in_memory(out):
                        touch(out, time)
        for term in self.lowered.outputs:
            if term.buffer is not None:
                touch(term.buffer, len(self.order))
        for time, size in self.scratch.items():
            sizes[-1 - time] = size
            first[-1 - time] = last[-1 - time] = time
        places, self.arena = offsets([Interval(n, first[k], last[k]) for k, n in sizes.items()])
        self.offsets = dict(zip(sizes, places, strict=True))

    def _in_memory(self, buffer: Buffer) -> bool:
        return buffer.number in self.stored or buffer.number not in self._looped

    def _first_write(self) -> int:
        """From which item on a run is not given up: what the caller sees is written there."""
        for time, item in enumerate(self.order):
            for step in steps_of(item):
                if any(out.root[0].input is not None for out in step.outs):
                    return time
        return len(self.order)

    # --- the whole text

    def emitted(self) -> Emitted:
        self._looped = {n for item in self.order if isinstance(item, Group) for n in item.levels}
        layouts = self.lowered.layouts
        fixed = self._first_write()
        for time, item in enumerate(self.order):
            if isinstance(item, Group):
                loop = self.loops[time] = written_loop(
                    item, self.stored, layouts, self.maths, time < fixed
                )
                size = sum(
                    self._blocks(loop) * max(a.out.size, 1) * a.dtype.itemsize
                    for a in loop.accumulators
                    if self._apart(loop, a)
                )
                if size:
                    self.scratch[time] = size
                self.work += loop.work
            elif isinstance(item, Kernel) and item.scratch:
                self.scratch[time] = item.scratch
                self.work += 1e5
            elif isinstance(item, Product):
                if scratch := scratch_of(item):
                    self.scratch[time] = scratch
                self.work += 2e-2 * item.outs[0].size * item.a.shape[-1] * 1.0 + 300
        self._plan()
        parts: list[Part] = []
        body: list[list[str]] = []
        entries: list[str] = []
        for time, item in enumerate(self.order):
            if isinstance(item, Callback):
                self._close(body, parts, entries)
                parts.append(Part("", item))
                text = []
            else:
                text = [*self._comment(item), *self._item(time, item)]
            text = [*(self._stamp(0) if time == 0 else ()), *text, *self._stamp(time + 1)]
            if text:
                body.append(text)
        self._close(body, parts, entries)
        texts = (self.texts, entries, list(self.helpers), self.maths)
        return Emitted(
            one_source(*texts),
            units(*texts, self.threads),
            parts,
            self.arena + 8 * (len(self.order) + 1) * self.timed,
            self.offsets,
            self.constant_buffers,
            self.order,
            self.work,
        )

    def _stamp(self, k: int) -> list[str]:
        if not self.timed:
            return []
        self.helpers.setdefault(CLOCK)
        return [f"ae_stamp(arena + {self.arena + 8 * k});"]

    def _close(self, body: list[list[str]], parts: list[Part], entries: list[str]) -> None:
        if not body:
            return
        name = f"run_{sum(bool(p.entry) for p in parts)}"
        groups = [body[k : k + _STRETCH] for k in range(0, len(body), _STRETCH)]
        if len(groups) == 1:
            lines = [line for item in body for line in item]
        else:  # a compiler takes more than linear time for one long function
            lines = []
            for k, group in enumerate(groups):
                inner = f"{name}_{k}"
                text = [line for item in group for line in item]
                entries.append(_entry(f"static __attribute__((noinline)) int64_t {inner}", text))
                lines.append(f"if ({inner}(p)) return 1;")
        entries.append(f"int64_t {name}(void **p);\n" + _entry(f"int64_t {name}", lines))
        parts.append(Part(name, None))
        body.clear()

    def _comment(self, item: Step | Group) -> list[str]:
        """Which operations it is, of which lines."""
        made: dict[tuple[str, int], Any] = {}
        for step in steps_of(item):
            node = step.origin
            location = (
                node.origin.location if node is not None and node.origin is not None else None
            )
            made.setdefault((node.op.name if node is not None else "copy", id(location)), location)
        more = f", and {len(made) - 6} more" if len(made) > 6 else ""
        shown = dict.fromkeys(
            f"{name} of {location}" if location is not None else name
            for (name, _), location in list(made.items())[:6]
        )
        shape = list(item.domain) if isinstance(item, Group) else [list(o.shape) for o in item.outs]
        text = f"{', '.join(shown)}{more}: {shape}".replace("*/", "* /").replace("\\", "/")
        return ["", f"/* {text} */"]

    # --- one item

    def _item(self, time: int, item: Step | Group) -> list[str]:
        if isinstance(item, Group):
            return self._loop(time)
        if isinstance(item, Product):
            scratch = Address(0, self.offsets[-1 - time]) if time in self.scratch else None
            return self.product(item, scratch)
        if isinstance(item, Kernel):
            return self._kernel(time, item)
        if isinstance(item, Assemble):
            return self._assemble(item) if item.adds else ["/* it is in its place */"]
        raise AssertionError(f"no text for {item!r}")

    def address(self, buffer: Buffer, offset: int = 0) -> Address:
        """Where an element of a buffer is."""
        root, more = buffer.root
        start = (offset + more) * root.dtype.itemsize
        if root.input is not None:
            return Address(1 + root.input, start)
        if root.constant is not None:
            return Address(1 + self.inputs + self._constant(root), start)
        return Address(0, self.offsets[root.number] + start)

    def _constant(self, buffer: Buffer) -> int:
        found = self.constants.get(buffer.number)
        if found is None:
            found = self.constants[buffer.number] = len(self.constants)
            self.constant_buffers.append(buffer)
        return found

    def named(self, stem: str, text: str) -> str:
        """The name of a function with this text, one for all that are alike."""
        name = self.functions.get(text)
        if name is None:
            name = self.functions[text] = f"{stem}_{len(self.functions)}"
            text = text.replace("NAME", name)
            if len(self.order) > _STRETCH:  # called often: one body is enough
                text = text.replace("static ", "static __attribute__((noinline)) ", 1)
            self.texts.append(text)
        return name

    # --- loops

    def _blocks(self, loop: Loop) -> int:
        """In how many pieces it is run, where pieces keep sums of their own."""
        return self.threads if self._splits(loop) else 1

    def _splits(self, loop: Loop) -> bool:
        return self.threads > 1 and loop.work > _SMALL and loop.extent >= 2 * self.threads

    def _apart(self, loop: Loop, a: Accumulator) -> bool:
        """Whether sums need memory of their own before they are the result."""
        return self._blocks(loop) > 1 or a.dtype != a.out.dtype

    def _loop(self, time: int) -> list[str]:
        loop = self.loops[time]
        name = self.named("loop", loop.text)
        blocks = self._blocks(loop)
        pointers = [self.address(p.buffer, p.offset) for p in loop.pointers]
        before, after = [], []
        place = -1 - time
        used = 0
        for a in loop.accumulators:
            size = max(a.out.size, 1)
            out = self.address(a.out)
            if self._apart(loop, a):
                start = self.offsets[place] + used
                used += blocks * size * a.dtype.itemsize
                pointers[a.pointer] = Address(0, start)
                after.append(self._combined(a, Address(0, start), out, blocks, size))
            if a.out.size != 1:  # else the function starts from it
                before.append(
                    self._filled(
                        a, pointers[a.pointer], (blocks if self._apart(loop, a) else 1) * size
                    )
                )
        lines = ["{", *self._pointers(pointers)]
        lines += ["    " + line for line in before]
        if blocks > 1 and loop.accumulators:
            wrapper = self._wrapper_of_blocks(name, loop.extent, blocks)
            lines.append(f"    ae_parallel_blocks({wrapper}, q, {blocks});")
        elif self._splits(loop):
            wrapper = self._wrapper(name)
            grain = max(1, -(-loop.extent // (4 * self.threads)))
            lines.append(f"    ae_parallel({wrapper}, q, {loop.extent}, {grain});")
        else:
            lines.append(f"    {name}(q, 0, {loop.extent}, 0);")
        if loop.sliced:
            lines.append("    if (ae_stopped()) return 1;")
        return [*lines, *("    " + line for line in after), "}"]

    def _pointers(self, pointers: Sequence[Address]) -> list[str]:
        """Lines that make ``q``, the addresses that a function is given."""
        if len(pointers) <= FEW:
            return [f"    void *q[] = {{{', '.join(map(str, pointers)) or '0'}}};"]
        # A table: a compiler takes long for many stores, one after the other.
        self.helpers.setdefault(RESOLVE)
        numbers = ", ".join(f"{a.pointer}, {a.offset}" for a in pointers)
        return [
            f"    static const int64_t at[] = {{{numbers}}};",
            f"    void *q[{len(pointers)}];",
            f"    ae_addresses(p, at, q, {len(pointers)});",
        ]

    def _wrapper(self, name: str) -> str:
        text = (
            "static void NAME(void *context, int64_t lo, int64_t hi, int worker)\n{\n"
            f"    (void)worker;\n    {name}(context, lo, hi, 0);\n}}\n"
        )
        return self.named("split", text)

    def _wrapper_of_blocks(self, name: str, extent: int, blocks: int) -> str:
        text = (
            "static void NAME(void *context, int64_t lo, int64_t hi, int worker)\n{\n"
            "    (void)worker;\n"
            "    for (int64_t b = lo; b < hi; b++)\n"
            f"        {name}(context, {extent} * b / {blocks}, {extent} * (b + 1) / {blocks}, b);\n"
            "}\n"
        )
        return self.named("split", text)

    def _filled(self, a: Accumulator, address: Address, count: int) -> str:
        kind = C_TYPES[a.dtype]
        start = identity(a.kind, a.dtype)
        text = (
            f"static void NAME({kind} *p, int64_t n)\n{{\n"
            f"    for (int64_t i = 0; i < n; i++) p[i] = {start};\n}}\n"
        )
        return f"{self.named('fill', text)}((void *)({address}), {count});"

    def _combined(
        self, a: Accumulator, partial: Address, out: Address, blocks: int, size: int
    ) -> str:
        kind, result = C_TYPES[a.dtype], C_TYPES[a.out.dtype]
        text = (
            f"static void NAME(const {kind} *p, {result} *out, int64_t blocks, int64_t n)\n{{\n"
            "    for (int64_t i = 0; i < n; i++) {\n"
            f"        {kind} s = p[i];\n"
            "        for (int64_t b = 1; b < blocks; b++) {\n"
            f"            {kind} v = p[b * n + i];\n"
            f"            s = {combine(a.kind, 's', 'v')};\n        }}\n"
            f"        out[i] = ({result})s;\n    }}\n}}\n"
        )
        name = self.named("combine", text)
        return f"{name}((void *)({partial}), (void *)({out}), {blocks}, {size});"

    # --- kernels

    def _kernel(self, time: int, step: Kernel) -> list[str]:
        name = self.named("check" if isinstance(step, Check) else "kernel", step.text)
        for helper in step.helpers:
            self.helpers.setdefault(helper)
        self.maths.update(n for n in _CALLED.findall(step.text) if n in NAMES)
        args = [self.address(t.buffer, t.offset) for t in step.args if t.buffer is not None]
        args += [self.address(o) for o in step.outs]
        if step.scratch:
            args.append(Address(0, self.offsets[-1 - time]))
        call = f"{name}({', '.join(f'(void *)({a})' for a in args)})"
        return [f"if ({call}) return 1;" if isinstance(step, Check) else f"{call};"]

    # --- parts that overlap

    def _assemble(self, step: Assemble) -> list[str]:
        out = step.outs[0]
        kind = C_TYPES[out.dtype]
        lines = [
            f"for (int64_t i = 0; i < {out.size}; i++) (({kind} *)({self.address(out)}))[i] = "
            f"{literal(step.fill, out.dtype)};"
        ]
        for part, region in step.parts:
            text = _adding(kind, part, region, self.maths)
            where = self.address(out, region.offset)
            what = "0" if part.buffer is None else self.address(part.buffer, part.offset)
            name = self.named("add", text)
            lines.append(f"{name}((void *)({where}), (void *)({what}));")
        return lines


def _entry(head: str, lines: Iterable[str]) -> str:
    body = "".join(f"    {line}\n" if line else "\n" for line in lines)
    arena = "    char *arena = p[0];\n    (void)arena;\n"
    return f"{head}(void **p)\n{{\n{arena}{body}    return 0;\n}}\n"


def _adding(kind: str, part: Term, region: Term, used: set[str]) -> str:
    kept = kind if part.buffer is None else in_memory(part.buffer.dtype)

    def statement(names: list[str]) -> str:
        if part.buffer is None:
            value = literal(part.number, part.dtype)
        else:
            value = loaded(f"part[{_sum_of(names, part.strides)}]", part.buffer.dtype, used)
        return f"out[{_sum_of(names, region.strides)}] += {value};"

    body = nest(region.shape, statement)
    return f"static void NAME({kind} *out, const {kept} *part)\n{{\n{body}\n}}\n"


def _sum_of(names: Sequence[str], strides: Iterable[int]) -> str:
    return " + ".join(f"{n} * {s}" for n, s in zip(names, strides, strict=True) if s) or "0"
