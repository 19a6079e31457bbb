"""Where the buffers of a plan lie: results written over what is read for the last time, and the
rest side by side in one block, in which those not alive at one time share places.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from autograd_engine.compiler.arena import Interval, offsets
from autograd_engine.compiler.planned.buffers import Buffer, Local, Place
from autograd_engine.compiler.planned.steps import Elementwise, Step, buffers_of
from autograd_engine.ops.kernels.elementwise import EXACT

__all__ = ["arena", "last_uses", "written_over"]


def last_uses(steps: Sequence[Step]) -> dict[Buffer | Local, int]:
    """The step that last touches a buffer or a Local."""
    last: dict[Buffer | Local, int] = {}
    for k, step in enumerate(steps):
        for token in (*step.touched(), *step.written()):
            last[token] = k
    return last


def written_over(steps: Sequence[Step], pinned: Set[Buffer]) -> None:
    """Let elementwise steps write over operands that they are the last to read.

    `pinned` are buffers whose parts have their places already.
    """
    last = last_uses(steps)
    seen: set[Any] = set()
    for k, step in enumerate(steps):
        if isinstance(step, Elementwise) and step.ufunc in EXACT:
            _write_over(step, k, last, seen, pinned)
        seen.update(step.touched())


def _write_over(
    step: Elementwise, k: int, last: dict[Any, int], seen: set[Any], pinned: Set[Buffer]
) -> None:
    out = step.out
    if not isinstance(out.base, Buffer):
        return
    target, shift = out.base.root()
    fixed = target in pinned
    if target.persistent or (not fixed and target in seen) or out.offset:
        return
    if not fixed and (shift or target.nbytes != out.nbytes):
        return
    for source in step.sources:
        if not (isinstance(source, Place) and isinstance(source.base, Buffer)):
            continue
        root, start = source.base.root()
        if (
            last.get(root) == k
            and root is not target
            and not root.persistent
            and root not in pinned
            and start + source.offset == 0
            and root.nbytes == out.nbytes
            and source.shape == out.shape
            and source.strides == out.strides
            and all(_apart(other, source, root) for other in step.sources)
        ):
            if fixed:
                root.put_into(target, shift)
            else:
                target.put_into(root)
                last[root] = last[target]
                seen.add(root)
            return


def _apart(other: Any, source: Place, root: Buffer) -> bool:
    """Whether `other` is the same as `source`, or in other memory."""
    return (isinstance(other, Place) and other.key == source.key) or all(
        b is not root for b in buffers_of(other)
    )


def arena(steps: Sequence[Step]) -> tuple[dict[Buffer, int], int]:
    """The place of each buffer in one block, and the bytes of the block."""
    first: dict[Buffer, int] = {}
    last: dict[Buffer, int] = {}
    for k, step in enumerate(steps):
        for token in step.touched():
            if isinstance(token, Buffer) and not token.persistent:
                first.setdefault(token, k)
                last[token] = k
    buffers = list(first)
    places, total = offsets([Interval(b.nbytes, first[b], last[b]) for b in buffers])
    return dict(zip(buffers, places, strict=True)), total
