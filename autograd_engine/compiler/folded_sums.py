"""Sums of many cotangents, added up as they arrive.

A variable that is read n times has n cotangents, and one ``add_n`` of them in the program. To run
it as it stands takes all n at a time: for a weight that each step of a recurrent network reads, as
many arrays as there are steps. But a sum is a left fold, so it is written in steps here. Each part
is added when it is there, with all before it, and then deleted. The bits are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from autograd_engine.core.dtypes import FLOAT32, HALVES
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program.ir.program import Operator, Ref, Variable

__all__ = ["folded"]

Key = tuple[str, int]

_ADD_N = REGISTRY["add_n"]
_CAST = REGISTRY["cast"]


def folded(
    operators: Sequence[Operator], outputs: Iterable[Ref], scattered: Collection[Key]
) -> Sequence[Operator]:
    """The operators with the long sums of the backward half in steps.

    Parameters
    ----------
    operators : sequence of Operator
    outputs : iterable of Ref
        What is returned, and so has to stay.
    scattered : collection of keys
        Values that are sparse when they arrive: these are joined at once.
    """
    sums = [k for k, o in enumerate(operators) if _is_long(o)]
    if not sums:
        return operators
    made = {r.key: k for k, o in enumerate(operators) for r in o.results}
    readers = Counter(ref.key for o in operators for ref in o.operands if isinstance(ref, Ref))
    readers.update(ref.key for ref in outputs)
    after: dict[int, list[Operator]] = {}
    instead: dict[int, Operator] = {}
    for at in sums:
        parts = [ref for ref in operators[at].operands if isinstance(ref, Ref)]
        if len(parts) == len(operators[at].operands) and all(
            ref.key in made and readers[ref.key] == 1 and ref.key not in scattered for ref in parts
        ):
            *steps, (_, last) = _steps(operators, at, parts, made)
            for k, step in steps:
                after.setdefault(k, []).append(step)
            instead[at] = last
    found = []
    for k, operator in enumerate(operators):
        found += [instead.get(k, operator), *after.get(k, ())]
    return found


def _is_long(operator: Operator) -> bool:
    return operator.op is _ADD_N and operator.role != "forward" and len(operator.operands) > 2


def _steps(
    operators: Sequence[Operator], at: int, parts: Sequence[Ref], made: dict[Key, int]
) -> list[tuple[int, Operator]]:
    """The sum as (index of the operator that a step follows, step); the last one is the whole.

    That of float16 is one of float32, which the last step rounds.
    """
    groups: dict[int, list[Ref]] = {}
    arrived = made[parts[0].key]
    for part in parts[1:]:
        arrived = max(arrived, made[part.key])
        groups.setdefault(arrived, []).append(part)
    whole, total = operators[at], parts[0]
    found: list[tuple[int, Operator]] = []

    def step(op: OpDef, operands: tuple[Ref, ...], attrs: dict[str, Any], k: int) -> None:
        nonlocal total
        located = whole if k == at else operators[k]
        result = whole.results[0] if k == at else _partial(whole, wide, len(found))
        made_of = Operator(
            whole.block, op, operands, (result,), attrs, located.location, whole.role
        )
        made_of.op_namescope, made_of.op_device = whole.op_namescope, whole.op_device
        found.append((k, made_of))
        total = result

    dtype = total.var.spec.dtype
    half = dtype in HALVES
    wide = Spec(total.var.spec.shape, FLOAT32) if half else total.var.spec
    if half:
        step(_CAST, (total,), {"dtype": wide.dtype.name}, made[total.key])
    *early, (_, last) = groups.items()
    for k, group in early:
        step(_ADD_N, (total, *group), whole.attrs, k)
    if half:
        step(_ADD_N, (total, *last), whole.attrs, arrived)
        step(_CAST, (total,), {"dtype": dtype.name}, at)
    else:
        step(_ADD_N, (total, *last), whole.attrs, at)
    return found


def _partial(whole: Operator, spec: Spec, number: int) -> Ref:
    """A variable of no block: only the text that is written knows it."""
    name = f"{whole.results[0].var.name}@PARTIAL@{number}"
    return Ref(Variable(whole.block, name, spec, stop_gradient=True), 0)
