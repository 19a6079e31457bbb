"""Gradients of operators on arrays of tensors: more of these operators.

The cotangent of an array is an array as long. An element that nothing reads has a zero there that
stands for no gradient, so what comes out of such a cotangent is never sure to be more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from autograd_engine.program.ir.control_flow_op import BlockOp, kind_of
from autograd_engine.program.ir.program import Operator, Ref, Variable

if TYPE_CHECKING:
    from autograd_engine.program.backward.walk import Arrival, BackwardPlan

__all__ = ["ARRAY_GRADIENTS", "pull_array"]


def pull_array(
    plan: BackwardPlan,
    operator: Operator,
    wanted: list[tuple[int, Ref]],
    cotangents: Sequence[Variable | None],
) -> list[Arrival]:
    """What arrives at the `wanted` operands of an operator on an array."""
    (cotangent,) = cotangents
    assert cotangent is not None
    g = Ref(cotangent, cotangent.version)
    steps = _Steps(plan, operator)
    rule = ARRAY_GRADIENTS[kind_of(operator)]
    arrivals: list[Arrival] = []
    for k, ref in wanted:
        key = "blocks", operator.results[0].key, g.key, k
        found = plan.draft.existing(key)
        if found is None:
            found = rule(steps, k, g, *operator.operands)
            plan.draft.remember(key, found)
        arrivals.append((ref, found, False))
    return arrivals


class _Steps:
    """Plans operators, each at the line of the one that is differentiated."""

    def __init__(self, plan: BackwardPlan, operator: Operator) -> None:
        self.plan = plan
        self.operator = operator

    def last(self, kind: str, ref: Ref, *operands: Ref) -> Variable:
        """A cotangent of `ref`."""
        return self._follow(kind, self.plan.cotangents.contribution(ref), operands)

    def spare(self, kind: str, like: Ref, *operands: Ref) -> Ref:
        return Ref(self._follow(kind, self.plan.cotangents.spare(like), operands), 0)

    def _follow(self, kind: str, made: Variable, operands: Sequence[Ref]) -> Variable:
        attrs = self.operator.attrs if kind in ("array_join", "array_split") else {}
        attrs = {"value": 0.0} if kind in ("hollow", "fill_stack") else attrs
        self.plan.draft.follow(self.operator, BlockOp.of(kind), operands, [made], attrs)
        return made


def _read(steps: _Steps, _: int, g: Ref, array: Ref, i: Ref) -> Variable:
    return steps.last("array_write", array, steps.spare("fill_stack", array, array), g, i)


def _write(steps: _Steps, position: int, g: Ref, array: Ref, x: Ref, i: Ref) -> Variable:
    if position == 1:
        return steps.last("array_read", x, g, i)
    nothing = steps.spare("hollow", x, steps.spare("array_read", x, g, i))
    return steps.last("array_like", array, steps.spare("array_write", g, g, nothing, i), array)


def _join(steps: _Steps, _: int, g: Ref, array: Ref) -> Variable:
    return steps.last("array_split", array, g, array)


def _split(steps: _Steps, _: int, g: Ref, x: Ref, like: Ref) -> Variable:
    return steps.last("array_join", x, g)


def _like(steps: _Steps, _: int, g: Ref, array: Ref, like: Ref) -> Variable:
    return steps.last("array_like", array, g, array)


ARRAY_GRADIENTS: Final[dict[str, Callable[..., Any]]] = {
    "array_read": _read,
    "array_write": _write,
    "array_join": _join,
    "array_split": _split,
    "array_like": _like,
}
