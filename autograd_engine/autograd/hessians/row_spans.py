"""Stacks of directions of which only those in a range are not zero.

The unit directions of a slice of the parameters are rows of an identity: in all other directions
the slice does not move, nor does what is computed from it by operations that are linear in it. A
`Span` holds the rows of the range alone, so products and sums take as much less time as it is
shorter. Where spans meet in a sum, the range grows to hold them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.autograd.batching.batched import Batched, Batching, value_of
from autograd_engine.autograd.batching.rules import aligned
from autograd_engine.core.spec import Array, Spec
from autograd_engine.ops.registry.opdef import NONDIFF, REGISTRY, OpDef

__all__ = ["JOIN", "Span", "on_rows"]


class Span(Batched):
    """The directions from `begin` on, as many as ``value`` has, of `total`; zero in the others."""

    __slots__ = ("begin", "total")

    def __init__(self, value: Any, xp: Batching, begin: int, total: int) -> None:
        super().__init__(value, xp)
        self.begin = begin
        self.total = total

    @property
    def count(self) -> int:
        return self.total

    def written(self) -> Batched:
        """The same with all directions."""
        return _joined(self.xp, [self], (0, self.total))


def on_rows(
    xp: Batching,
    op: OpDef,
    operands: Sequence[Any],
    attrs: Mapping[str, Any],
    plain: Callable[..., Any],
) -> Any:
    """What `op` makes of operands of which some are spans.

    Parameters
    ----------
    xp : Batching
    op : OpDef
    operands : sequence
    attrs : mapping
    plain : callable
        Does it with stacks of all directions.
    """
    given = [
        o.spec if isinstance(o, Batched) and not op.reads_value(k) else o
        for k, o in enumerate(operands)
    ]
    stacks = {k: o for k, o in enumerate(given) if isinstance(o, Batched)}
    if not any(o.__class__ is Span for o in stacks.values()):
        return plain(*given, **attrs)
    ranges = [_range(o) for o in stacks.values()]
    total = next(o.count for o in stacks.values())
    own = REGISTRY.get(op.name) is op
    adds = own and op.name in _SUMS and len(stacks) == len(given)
    if adds and len(set(ranges)) > 1 and len({o.dtype for o in stacks.values()}) == 1:
        parts = [xp.negative(o) if _SUMS[op.name] and k else o for k, o in stacks.items()]
        return _joined(xp, parts, (min(r[0] for r in ranges), max(r[1] for r in ranges)))
    common = _common(xp, op, given, stacks, ranges) if own else None
    if common is None:
        full = [o.written() if o.__class__ is Span else o for o in given]
        return plain(*full, **attrs)
    narrow = [_rows(xp, o, common) if k in stacks else o for k, o in enumerate(given)]
    results = plain(*narrow, **attrs)
    if op.multiple:
        return tuple([Span(r.value, xp, common[0], total) for r in results])
    return Span(results.value, xp, common[0], total)


# Whether what follows the first operand is subtracted.
_SUMS: Final = {"add": False, "add_n": False, "subtract": True}


def _range(stack: Batched) -> tuple[int, int]:
    if isinstance(stack, Span):
        return stack.begin, stack.begin + int(stack.value.shape[0])
    return 0, stack.count


def _common(
    xp: Batching,
    op: OpDef,
    operands: Sequence[Any],
    stacks: Mapping[int, Any],
    ranges: Sequence[tuple[int, int]],
) -> tuple[int, int] | None:
    """The directions outside of which the result is known to be zero; None if there are none."""
    if op.tangent == "multilinear" or op.name == "multiply" or (op.name, *stacks) == ("divide", 0):
        begin, end = max(r[0] for r in ranges), min(r[1] for r in ranges)
        return (begin, end) if begin < end else None
    if op.tangent != "linear" or len(set(ranges)) > 1:
        return None
    # Beside stacks there may be zeros, and what the operation is not linear in.
    for k, operand in enumerate(operands):
        if not op.reads_value(k) or (k in stacks) is (op.rule_at(k) is not None):
            continue
        if k in stacks or not xp.is_zero(operand):
            return None
    return ranges[0]


def _rows(xp: Batching, stack: Any, wanted: tuple[int, int]) -> Batched:
    begin, end = _range(stack)
    value = value_of(stack)
    if (begin, end) != wanted:
        value = xp.base.getitem(value, key=(slice(wanted[0] - begin, wanted[1] - begin),))
    return Batched(value, xp)


def _joined(xp: Batching, parts: Sequence[Any], wanted: tuple[int, int]) -> Batched:
    """The sum of stacks, in the directions of a range that holds those of all."""
    shape = np.broadcast_shapes(*[p.shape for p in parts])
    begin, end = wanted
    values = [aligned(xp, value_of(p), len(shape)) for p in parts]
    starts = tuple([_range(p)[0] - begin for p in parts])
    value = xp.base[JOIN](*values, starts=starts, shape=(end - begin, *shape))
    total = parts[0].count
    return Batched(value, xp) if end - begin == total else Span(value, xp, begin, total)


def _join(*blocks: Array, starts: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    out = np.zeros(shape, blocks[0].dtype)
    for block, start in zip(blocks, starts, strict=True):
        out[start : start + len(block)] += block
    return out


JOIN: Final = OpDef(
    "join_rows",
    _join,
    inputs="*blocks",
    infer=lambda *blocks, starts, shape: Spec(shape, blocks[0].dtype),
    tangent="linear",
).vjp(blocks=NONDIFF)
