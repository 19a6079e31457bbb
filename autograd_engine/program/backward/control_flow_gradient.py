"""Gradients of branches and loops: more branches and loops.

The gradient of a branch is a `cond` on the same condition, whose blocks are planned by the same
walk that plans a program's backward half. That of a loop is a `scan` over its iterations, the last
one first, which carries the cotangents of what the loop carries, and the sums of the cotangents of
what it captured. As these are operators like others, with blocks like others, they can be
differentiated in turn, to any order.

Sums are folded in the order in which the tape folds them. What has already arrived at a captured
variable therefore goes into the block, and what it contributes is added there.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from autograd_engine.program.backward.array_gradient import ARRAY_GRADIENTS, pull_array
from autograd_engine.program.backward.cond_gradient import BranchGradient, given_backward
from autograd_engine.program.backward.while_gradient import LoopGradient
from autograd_engine.program.ir.control_flow_op import kind_of
from autograd_engine.program.ir.program import Operator, Ref, Variable

if TYPE_CHECKING:
    from autograd_engine.program.backward.walk import Arrival, BackwardPlan

__all__ = ["pull_blocks"]


def pull_blocks(
    plan: BackwardPlan,
    operator: Operator,
    wanted: list[tuple[int, Ref]],
    cotangents: Sequence[Variable | None],
    sure: bool,
) -> list[Arrival]:
    """What arrives at the `wanted` operands of a branch or loop, planning what is not there yet."""
    if not wanted:
        return []
    if kind_of(operator) == "add_stacks":
        assert cotangents[0] is not None
        return [(ref, cotangents[0], sure) for _, ref in wanted]
    if kind_of(operator) in ARRAY_GRADIENTS:
        return pull_array(plan, operator, wanted, cotangents)
    # What goes in as a value of its own has a cotangent that is complete, and comes last. The tape
    # goes through what goes in, and what comes out, from the last to the first.
    last_in = _own_values(operator)
    wanted.sort(key=lambda pair: (pair[0] < last_in, -pair[0]))
    priors: dict[int, Variable] = {}
    for k, ref in wanted:
        prior = plan.cotangents.fold(ref) if k >= last_in else None
        if prior is not None:
            priors[k] = prior
    grads = tuple((k, c.name, c.version) for k, c in enumerate(cotangents) if c is not None)
    made_by = "blocks", operator.results[0].key, grads
    keys: dict[int, Hashable] = {
        k: (*made_by, k, priors[k].name if k in priors else None) for k, _ in wanted
    }
    existing = plan.draft.existing
    missing = [(k, ref) for k, ref in wanted if existing(keys[k]) is None]
    always = {k for k, _ in wanted}
    if missing:
        own = {k: v for k, v in priors.items() if any(k == m for m, _ in missing)}
        made, always = _emit(plan, operator, missing, cotangents, own)
        for (k, _), var in zip(missing, made, strict=True):
            plan.draft.remember(keys[k], var)
    arrivals: list[Arrival] = []
    for k, ref in wanted:
        found = existing(keys[k])
        assert found is not None
        arrivals.append((ref, found, sure and k in always))
    return arrivals


def _emit(
    plan: BackwardPlan,
    operator: Operator,
    wanted: Sequence[tuple[int, Ref]],
    cotangents: Sequence[Variable | None],
    priors: dict[int, Variable],
) -> tuple[list[Variable], set[int]]:
    """Plan the gradient of a branch or loop, which adds to the `priors` of operands.

    A cotangent for each wanted operand is returned, and the positions of those that are more than
    zeros whichever way the operator went.
    """
    if operator.attrs.get("backward_block") is not None:
        return given_backward(plan, operator, wanted, cotangents)
    if kind_of(operator) in ("cond", "call"):
        return BranchGradient(plan, operator, wanted, cotangents, priors).append()
    return LoopGradient(plan, operator, wanted, cotangents, priors).append()


def _own_values(operator: Operator) -> int:
    """How many of the first operands are values of their own inside, whatever they are outside.

    All others stand for variables around. What has arrived at one of these so far goes in as well.
    """
    if operator.attrs.get("backward_block") is not None:
        return len(operator.operands)
    if kind_of(operator) in ("cond", "call"):
        return 0
    return len(operator.op.inputs) - 1 + int(operator.attrs["carried"])
