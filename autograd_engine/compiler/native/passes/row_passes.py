"""Passes over the elements of a row: which there are, and what one keeps for the next."""

from __future__ import annotations

from typing import Final

from autograd_engine.compiler.native.c_code.scalars import SCALARS
from autograd_engine.compiler.native.ir import (
    Buffer,
    Map,
    Reduce,
    Step,
)
from autograd_engine.compiler.native.passes.schedule import FULL, ROW, Group

__all__ = ["crossing", "pass_of", "phases_of", "time_of"]

_CHEAP: Final = frozenset(("abs", "maximum", "minimum", "sign"))
# Up to so many operations, elements are computed anew rather than kept.
_CHEAP_COST: Final = 3


def phases_of(group: Group) -> dict[int, int]:
    """The pass over a row in which each buffer of the group is computed.

    What takes the elements of a row together is there when its pass has ended: before the next.
    """
    phases: dict[int, int] = {}
    makers = {s.outs[0].number: s for s in group.steps}
    for step in group.steps:
        out = step.outs[0].number
        phase = 0
        for term in step.terms:
            if term.buffer is not None and term.buffer.number in phases:
                phase = max(phase, phases[term.buffer.number])
        row_result = isinstance(makers[out], Reduce) and group.levels[out] == ROW
        phases[out] = phase + 1 if row_result else phase
    return phases


def crossing(group: Group) -> list[Buffer]:
    """Buffers of elements that a later pass reads again and that are not cheap to compute anew."""
    phases = phases_of(group)
    found: dict[int, Buffer] = {}
    if not any(phases.values()):
        return []
    costs = _costs(group)
    for step in group.steps:
        use = pass_of(step, phases, group)
        for term in step.terms:
            buffer = term.buffer
            if buffer is None or group.levels.get(buffer.number) != FULL:
                continue
            if phases[buffer.number] < use and costs[buffer.number] > _CHEAP_COST:
                found[buffer.number] = buffer
    return list(found.values())


def pass_of(step: Step, phases: dict[int, int], group: Group) -> int:
    """The pass in which a step reads elements."""
    out = step.outs[0].number
    if isinstance(step, Reduce) and group.levels[out] == ROW:
        return phases[out] - 1
    return phases[out]


def _costs(group: Group) -> dict[int, int]:
    """What computing an element of each buffer anew takes: cheap operations of what is read."""
    costs: dict[int, int] = {}
    for step in group.steps:
        number = step.outs[0].number
        if not isinstance(step, Map) or _is_long(step):
            costs[number] = _CHEAP_COST + 1
        elif step.function in ("gather", "position"):
            costs[number] = 1
        else:
            costs[number] = 3 if step.function in ("divide", "reciprocal") else 1
            costs[number] += sum(
                costs[t.buffer.number]
                for t in step.args
                if t.buffer is not None and group.levels.get(t.buffer.number) == FULL
            )
    return costs


def _is_long(step: Map) -> bool:
    """Whether it takes more than a few instructions."""
    scalar = SCALARS.get(step.function)
    return scalar is not None and scalar.text is None and scalar.maths not in _CHEAP


def time_of(step: Step) -> float:
    """Nanoseconds an element, roughly."""
    if isinstance(step, Reduce):
        return 0.1
    assert isinstance(step, Map)
    return 0.5 if _is_long(step) else 0.1
