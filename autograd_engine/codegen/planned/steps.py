"""What a planned function does, line by line, before its arrays have memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograd_engine.codegen.planned.places import Buffer, Local, Place
from autograd_engine.static.program import Operator

__all__ = ["Code", "Elementwise", "Loop", "Step", "buffers_of"]

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
        """Places and Locals that it reads, or writes."""
        return (p for p in self.parts if isinstance(p, (Place, Local)))

    def touched(self) -> Iterator[Buffer]:
        for part in self.reads():
            yield from buffers_of(part)
        for local in self.makes:
            yield from buffers_of(local)


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


class Loop(Step):
    """Elementwise steps on one block of large arrays after the other.

    Attributes
    ----------
    body : list of Elementwise
        On places of whole arrays, and on those of `scratch`, which are as long as a block.
    outside : list of Place
        Whole arrays that blocks are taken of.
    scratch : list of Place
    count, block : int
        Length of the first axis, and of blocks of it.
    """

    __slots__ = ("block", "body", "count", "outside", "scratch")

    def __init__(
        self,
        body: Sequence[Elementwise],
        outside: Sequence[Place],
        scratch: Sequence[Place],
        count: int,
        block: int,
    ) -> None:
        self.body = list(body)
        self.outside = list(outside)
        self.scratch = list(scratch)
        self.count = count
        self.block = block
        fixed = [p for step in body for p in step.parts if isinstance(p, Place)]
        writes = [step.out for step in body]
        super().__init__("", (*fixed, *outside, *scratch), writes, (), body[0].origin)
