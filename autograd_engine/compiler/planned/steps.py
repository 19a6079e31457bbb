"""What a planned function does, line by line, before its arrays have memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.compiler.planned.buffers import Buffer, Local, Place
from autograd_engine.program.ir.program import Operator

__all__ = ["Code", "Elementwise", "Loop", "Pass", "Step", "buffers_of"]

Part = Any
"""A Place, a Local, `Code`, or an object that the text refers to by a name."""


class Code(str):
    """Text that stands as it is."""

    __slots__ = ()


def buffers_of(part: Part) -> Iterator[Buffer]:
    """The buffers that an array may lie in."""
    if isinstance(part, Place):
        if isinstance(part.base, Buffer):
            yield part.base.root()[0]
    elif isinstance(part, Local):
        for buffer in part.roots:
            yield buffer.root()[0]


class Step:
    """One statement.

    Attributes
    ----------
    template : str
        Text with ``{}`` for each of `parts`.
    parts : tuple
    writes : tuple of Place
        What it writes; must not be what it reads unless NumPy allows it.
    makes : tuple of Local
        What it assigns.
    origin : Operator or None
    always : bool
        Whether it keeps its place among others that do something besides computing.
    """

    __slots__ = ("always", "makes", "origin", "parts", "template", "writes")

    def __init__(
        self,
        template: str,
        parts: Sequence[Part],
        writes: Sequence[Place] = (),
        makes: Sequence[Local] = (),
        origin: Operator | None = None,
        *,
        always: bool = False,
    ) -> None:
        self.template = template
        self.parts = tuple(parts)
        self.writes = tuple(writes)
        self.makes = tuple(makes)
        self.origin = origin
        self.always = always

    def reads(self) -> Iterator[Part]:
        """Places and Locals among its parts, those too that it writes."""
        return (p for p in self.parts if isinstance(p, (Place, Local)))

    def touched(self) -> Iterator[Buffer | Local]:
        """What it may read or write: buffers, and Locals."""
        for part in self.reads():
            yield from buffers_of(part)
            if isinstance(part, Local):
                yield part

    def written(self) -> Iterator[Buffer | Local]:
        for place in self.writes:
            yield from buffers_of(place)
        yield from self.makes


class Elementwise(Step):
    """``ufunc(*sources, out)``; a cast where `ufunc` is None."""

    __slots__ = ("out", "quiet", "sources", "ufunc")

    def __init__(
        self,
        ufunc: np.ufunc | None,
        sources: Sequence[Place | Local],
        out: Place,
        origin: Operator | None = None,
        quiet: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.ufunc = ufunc
        self.sources = tuple(sources)
        self.out = out
        self.quiet = quiet
        template, parts = _called(ufunc, self.sources, out)
        if quiet:
            kinds = ", ".join(f"{k}={v!r}" for k, v in dict(quiet).items())
            template, parts = f"with {{}}({kinds}): {template}", (np.errstate, *parts)
        super().__init__(template, parts, (out,), (), origin)


def _called(ufunc: Any, sources: Sequence[Part], out: Part) -> tuple[str, tuple[Part, ...]]:
    if ufunc is None:
        return "{}({}, {}, 'unsafe')", (np.copyto, out, *sources)
    marks = ", ".join(["{}"] * len(sources))
    # maximum and minimum take no third array by its place
    last = "out={}" if ufunc in (np.maximum, np.minimum) else "{}"
    return f"{{}}({marks}, {last})", (ufunc, *sources, out)


class Pass(NamedTuple):
    """What a loop runs over: places for its slots, `length` long, in blocks of `block`."""

    places: tuple[Place, ...]
    length: int
    block: int


class Loop(Step):
    """Elementwise steps on one block of large arrays after the other.

    Attributes
    ----------
    body : list of Elementwise
        On `slots` and `scratch`.
    slots : list of Place
        Whole arrays, as `body` names them.
    kinds : list of str
        Of each slot: "part", of which it takes a block at a time, "head", of which it takes the
        beginning, or "whole".
    passes : list of Pass
    scratch : list of Place
        As long as a block.
    guard : tuple of Place
        Vectors that must hold one number each for it to be right, else `instead` is.
    """

    __slots__ = ("body", "guard", "instead", "kinds", "passes", "scratch", "slots")

    def __init__(
        self,
        body: Sequence[Elementwise],
        slots: Sequence[Place],
        kinds: Sequence[str],
        passes: Sequence[Pass],
        scratch: Sequence[Place],
        guard: Sequence[Place] = (),
        instead: Loop | None = None,
    ) -> None:
        self.body = list(body)
        self.slots = list(slots)
        self.kinds = list(kinds)
        self.passes = list(passes)
        self.scratch = list(scratch)
        self.guard = tuple(guard)
        self.instead = instead
        places = [p for one in passes for p in one.places]
        if instead is not None:
            places += [p for one in instead.passes for p in one.places]
        outs = {id(step.out) for step in body}
        writes = [
            p
            for one in passes
            for slot, p in zip(slots, one.places, strict=True)
            if id(slot) in outs
        ]
        super().__init__("", (*places, *scratch, *guard), writes, (), body[0].origin)
