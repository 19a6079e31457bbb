"""How long each part of a native program takes: the same program with a clock between parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine.compiler.native.emit.program_text import emit
from autograd_engine.compiler.native.ir import (
    Assemble,
    Callback,
    Kernel,
    Product,
    Step,
)
from autograd_engine.compiler.native.passes.schedule import Group, steps_of
from autograd_engine.compiler.native.runtime import get_runtime, header
from autograd_engine.compiler.native.toolchain.compiler import find_toolchain
from autograd_engine.compiler.native.toolchain.library_cache import load

if TYPE_CHECKING:
    from autograd_engine.compiler.native.function import NativeBound

__all__ = ["timed_run"]

_RUNS = 5


def timed_run(bound: NativeBound) -> list[tuple[str, float, int, str]]:
    """Of each part of a run: what it is, seconds, bytes that it reads and writes, the user's line.

    The shortest of a few runs on the arrays of `bound`, whose state they move on.
    """
    function = bound.function
    toolchain = find_toolchain()
    assert toolchain is not None
    runtime = get_runtime(toolchain)
    order = function.emitted.order
    emitted = emit(function.lowered, order, runtime.threads, timed=True)
    sources = [f"{header(later_unit=k > 0)}\n{u}" for k, u in enumerate(emitted.units)]
    library = load(sources, toolchain, "the program with clocks")
    runtime.bind(library)
    timed = type(function)(function.graph, function.lowered, emitted, library, (0.0, 0.0))
    run = type(bound)(timed, bound.arrays)
    took = None
    for _ in range(_RUNS):  # the first finds nothing in the caches
        run()
        times = np.diff(run.tail(len(order) + 1))
        took = times if took is None else np.minimum(took, times)
    assert took is not None
    return [
        (_described(item), float(seconds), _bytes(item), _line(item))
        for item, seconds in zip(order, took, strict=True)
    ]


def _described(item: Step | Group) -> str:
    names = dict.fromkeys(s.origin.op.name for s in steps_of(item) if s.origin is not None)
    shown = ", ".join(list(names)[:4]) + (", ..." if len(names) > 4 else "")
    if isinstance(item, Group):
        return f"loop {list(item.domain)}: {shown or 'copy'}"
    kinds = {Product: "product", Kernel: "kernel", Callback: "NumPy", Assemble: "parts"}
    kind = next((text for cls, text in kinds.items() if isinstance(item, cls)), "step")
    shape = [list(o.shape) for o in item.outs]
    return f"{kind} {shown or 'copy'} {shape[0] if len(shape) == 1 else shape}"


def _line(item: Step | Group) -> str:
    for step in steps_of(item):
        origin = getattr(step.origin, "origin", None)
        if origin is not None:
            return str(origin.location)
    return ""


def _bytes(item: Step | Group) -> int:
    steps = steps_of(item)
    made = {o.number for s in steps for o in s.outs}
    seen: dict[Any, int] = {}
    for step in steps:
        for term in step.terms:
            if term.buffer is not None and term.buffer.number not in made:
                read = min(term.size, term.buffer.size) * term.dtype.itemsize
                seen[term.buffer.number, term.offset, term.shape] = read
        for out in step.outs:
            if not isinstance(item, Group) or item.levels.get(out.number) != "row":
                seen[out.number] = out.size * out.dtype.itemsize
    return sum(seen.values())
