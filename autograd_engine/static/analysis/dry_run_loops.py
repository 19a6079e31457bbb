"""Branches and loops in a rehearsal.

How often a loop runs is not known: the number is a symbol, ``trips``. Its body is rehearsed twice,
as the first iteration and as the last, which starts from what another has carried on. What the
iterations between push onto stacks is held in one piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from autograd_engine.core.dims import Dim, Size
from autograd_engine.ops.kernels import control_flow
from autograd_engine.static.analysis.fake_array import Memory, Planned
from autograd_engine.static.analysis.kernel_probe import Layout, plain

if TYPE_CHECKING:
    from autograd_engine.static.analysis.dry_run import Rehearsal

__all__ = ["REHEARSED", "rehearsed_block"]


class _Stack:
    """A list of arrays, one for each iteration: the last of them, and memory for the others.

    Attributes
    ----------
    element : Planned or _Stack
    trips : Dim or int
    rest : Memory or None
    """

    __slots__ = ("element", "rest", "trips")

    def __init__(self, element: Any, trips: Size, rest: Memory | None) -> None:
        self.element = element
        self.trips = trips
        self.rest = rest


def _bytes(value: Any) -> Size:
    """What one element of a stack holds."""
    if isinstance(value, _Stack):
        return _bytes(value.element) * value.trips
    if isinstance(value, Planned) and value.memory is not None:
        return value.memory.size
    return 0


def _own_bytes(values: Sequence[Any], others: Sequence[Any]) -> Size:
    """Bytes of the memory that `values` hold and `others` do not."""
    seen = {id(v.memory) for v in others if isinstance(v, Planned)}
    total: Size = 0
    for value in values:
        if isinstance(value, Planned):
            if id(value.memory) in seen:
                continue
            seen.add(id(value.memory))
        total = total + _bytes(value)
    return total


def _trips(rehearsal: Rehearsal) -> Size:
    """The number of iterations of another loop."""
    rehearsal.loops += 1
    name = "trips" if rehearsal.loops == 1 else f"trips_{rehearsal.loops}"
    rehearsal.symbols.names[name] = name
    return Dim.symbol(name)


def _hold(rehearsal: Rehearsal, size: Size) -> Memory | None:
    return rehearsal.meter.hold(size, rehearsal.operator()) if size != 0 else None


def _while_loop(
    rehearsal: Rehearsal,
    condition: Callable[..., Any],
    body: Callable[..., Any],
    carried: tuple[Any, ...],
    captured: tuple[Any, ...],
    pushes: int,
) -> tuple[Any, ...]:
    n, trips = len(carried), _trips(rehearsal)
    condition(*carried, *captured)
    first = body(*carried, *captured)
    # What was carried in has been counted with the iteration that made it.
    each = _own_bytes(first[n:], (*captured, *carried))
    carried = first[:n]
    del first
    rest = _hold(rehearsal, each * (trips - 1))
    last = body(*carried, *captured)
    carried = last[:n]
    stacks = [_Stack(e, trips, rest if k == 0 else None) for k, e in enumerate(last[n:])]
    condition(*carried, *captured)
    return (*carried, _number(), *stacks)


def _scan(
    rehearsal: Rehearsal,
    body: Callable[..., Any],
    count: Any,
    carried: tuple[Any, ...],
    captured: tuple[Any, ...],
    stacks: Sequence[Any],
    pushes: int,
    reverse: bool,
    last: Sequence[bool],
) -> tuple[Any, ...]:
    n = len(carried)
    trips = next((s.trips for s in stacks if isinstance(s, _Stack)), None)
    trips = _trips(rehearsal) if trips is None else trips
    elements = [s.element if isinstance(s, _Stack) else s for s in stacks]
    first = body(*carried, *captured, *elements)
    each = _own_bytes(first[n:], (*captured, *carried, *elements))
    carried = first[:n]
    del first
    for stack, free in zip(stacks, last, strict=True):
        if free and isinstance(stack, _Stack):
            stack.rest = None
    rest = _hold(rehearsal, each * (trips - 1))
    results = body(*carried, *captured, *elements)
    made = [_Stack(e, trips, rest if k == 0 else None) for k, e in enumerate(results[n:])]
    return (*results[:n], *made)


def _add_stacks(rehearsal: Rehearsal, *stacks: Any) -> Any:
    return _like(rehearsal, stacks[0])


def _fill_stack(rehearsal: Rehearsal, stack: Any, **_: Any) -> Any:
    return _like(rehearsal, stack)


def _like(rehearsal: Rehearsal, stack: Any) -> Any:
    """A stack of new arrays like those of another."""
    if not isinstance(stack, _Stack):
        return stack
    element = stack.element
    if isinstance(element, _Stack):
        element = _like(rehearsal, element)
        size = _bytes(element)
    else:
        size = element.nbytes
        memory = rehearsal.meter.hold(size, rehearsal.operator())
        element = Planned(element.shape, element.dtype, plain(element.ndim), memory)
    rest = _hold(rehearsal, size * (stack.trips - 1))
    rehearsal.note(rehearsal.operator(), rehearsal.meter.total)
    return _Stack(element, stack.trips, rest)


def _hollow(_: Rehearsal, like: Any, **__: Any) -> Planned:
    ndim = len(like.shape)
    every = frozenset(range(ndim))
    layout = Layout(tuple(range(ndim)), every, frozenset(), frozenset())
    return Planned(tuple(like.shape), like.dtype, layout, None, view=True)


def _absent(rehearsal: Rehearsal, **attrs: Any) -> Any:
    found = control_flow.absent(**attrs)
    return found if isinstance(found, list) else _hollow(rehearsal, found)


def _number() -> Planned:
    import numpy as np

    return Planned((), np.dtype(np.int64), plain(0), None)


def _larger(
    rehearsal: Rehearsal, one: Callable[..., Any], other: Callable[..., Any]
) -> Callable[..., Any]:
    """Of two branches the one that needs more memory."""

    def run(*operands: Any) -> Any:
        needs = []
        for branch in (one, other):
            start = len(rehearsal.steps)
            watched, rehearsal.watched = rehearsal.watched, None
            results = branch(*operands)
            peaks = [rehearsal.grows(s.peak) for s in rehearsal.steps[start:]]
            needs.append((max(peaks, default=0.0), rehearsal.grows(rehearsal.meter.total)))
            del results, rehearsal.steps[start:]
            rehearsal.watched = watched
        return (one if needs[0] >= needs[1] else other)(*operands)

    return run


_BLOCKS: Final = {
    "while_loop": _while_loop,
    "scan": _scan,
    "add_stacks": _add_stacks,
    "fill_stack": _fill_stack,
    "hollow": _hollow,
    "absent": _absent,
}
REHEARSED: Final = {id(getattr(control_flow, name)): f for name, f in _BLOCKS.items()}


def rehearsed_block(rehearsal: Rehearsal, function: Any) -> Callable[..., Any]:
    """What takes the place of a function of `kernels.control_flow`; of None, of a branch."""
    found: Any = _larger if function is None else REHEARSED[id(function)]
    return lambda *args, **kwargs: found(rehearsal, *args, **kwargs)
