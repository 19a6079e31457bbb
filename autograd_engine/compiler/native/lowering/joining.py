"""Sums of arrays, and the parts of one.

Cotangents of slices, arrays that are zero but for a part, are summed in one array. Slicing in a
loop would else add up as many arrays of full size as there are slices.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from autograd_engine.compiler.native.ir import Assemble, Term
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers

__all__: list[str] = []

Box = tuple[tuple[int, int], ...]


@lowers("add_n")
def _add_n(np: Loops, *xs: Traced) -> Traced:
    parts: list[tuple[Term, Term]] = []
    others = []
    for x in xs:
        buffer = x.term.buffer
        maker = buffer.maker if buffer is not None and not x.term.converted else None
        if isinstance(maker, Assemble) and x.term.whole and not maker.adds and maker.fill == 0:
            parts += maker.parts
        else:
            others.append(x)
    if len(xs) - len(others) < 2:
        others, parts = list(xs), []
    if not parts and not others:  # parts of nothing, all of them
        return xs[0]
    total = _assembled(np, xs[0], parts) if parts else others.pop(0)
    for x in others:
        total = total + x
    return total


def _assembled(loops: Loops, like: Traced, parts: Sequence[tuple[Term, Term]]) -> Traced:
    out = loops.buffer(like.shape, like.dtype)
    whole = loops.all_of(out)
    moved = [
        (part, Term(out, region.shape, region.strides, region.offset)) for part, region in parts
    ]
    apart = _apart([_box(region, like.shape) for _, region in parts])
    loops.add(Assemble(moved, out, loops.origin, adds=not apart))
    return whole


def _box(region: Term, shape: tuple[int, ...]) -> Box:
    """Along each axis, the first index of a region and the one behind the last."""
    spans = [(n - 1) * s for n, s in zip(region.shape, region.strides, strict=True)]
    low = region.offset + sum(min(s, 0) for s in spans)
    high = region.offset + sum(max(s, 0) for s in spans)
    corners = np.unravel_index((low, high), shape or (1,))
    return tuple((int(first), int(last) + 1) for first, last in corners)


def _apart(boxes: Sequence[Box], axis: int = 0) -> bool:
    """Whether no two boxes overlap, from `axis` on."""
    if len(boxes) < 2:
        return True
    if axis == len(boxes[0]):
        return False
    groups: dict[tuple[int, int], list[Box]] = {}
    for box in boxes:
        groups.setdefault(box[axis], []).append(box)
    spans = sorted(groups)
    if any(a[1] > b[0] for a, b in pairwise(spans)):
        return _apart(boxes, axis + 1)  # these overlap along this axis: another one must part them
    return all(_apart(group, axis + 1) for group in groups.values())


@lowers("unstack")
def _unstack(np: Loops, x: Traced, *, axis: int) -> list[Traced]:
    return [Traced(np, x.term.dropped(axis, k)) for k in range(x.shape[axis])]
