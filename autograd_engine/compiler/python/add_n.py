"""Sums of many cotangents, added up as they arrive.

A variable that is read n times has n cotangents, and one ``add_n`` of them in the program. To run
it as it stands takes all n at a time: for a weight that each step of a recurrent network reads, as
many arrays as there are steps. But a sum is a left fold, so it is written in steps here. Each part
is added when it is there, with all before it, and then deleted. The bits are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.program.ir.program import Operator, Ref, Variable

__all__ = ["folded"]

Key = tuple[str, int]

_ADD_N = REGISTRY["add_n"]


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
    """The sum as (index of the operator that a step follows, step); the last one is the whole."""
    groups: dict[int, list[Ref]] = {}
    arrived = made[parts[0].key]
    for k, part in enumerate(parts):
        arrived = max(arrived, made[part.key])
        groups.setdefault(-1 if k == 0 else arrived, []).append(part)
    total, *rest = groups.pop(-1)
    assert not rest
    whole = operators[at]
    found = []
    for number, (k, group) in enumerate(groups.items()):
        last = number == len(groups) - 1
        result = whole.results[0] if last else _partial(whole, total.var, number)
        location = whole.location if last else operators[k].location
        step = Operator(
            whole.block, _ADD_N, (total, *group), (result,), whole.attrs, location, whole.role
        )
        step.op_namescope, step.op_device = whole.op_namescope, whole.op_device
        found.append((k, step))
        total = result
    return found


def _partial(whole: Operator, like: Variable, number: int) -> Ref:
    """A variable of no block: only the text that is written knows it."""
    name = f"{whole.results[0].var.name}@PARTIAL@{number}"
    return Ref(Variable(whole.block, name, like.spec, stop_gradient=True), 0)
