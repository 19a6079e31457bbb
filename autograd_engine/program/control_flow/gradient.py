"""Gradients of branches and loops: more branches and loops.

The gradient of a branch is a `cond` on the same condition, whose blocks are planned by the same
walk that plans a program's backward half. That of a loop is a `scan` over its iterations, the last
one first, which carries the cotangents of what the loop carries, and the sums of the cotangents of
what it captured. As these are operators like others, with blocks like others, they can be
differentiated in turn, to any order.

What the gradient reads of the forward block it is handed: the operator returns it besides, a loop
as a stack with an entry for each iteration. The branch that did not run returns something `absent`
for it, which nobody reads.

Sums are folded in the order in which the tape folds them. What has already arrived at a captured
variable therefore goes into the block, and what it contributes is added there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from autograd_engine.program.control_flow.cond_gradient import BranchGradient, given_backward
from autograd_engine.program.control_flow.while_gradient import LoopGradient
from autograd_engine.program.ir.control_flow_op import kind_of
from autograd_engine.program.ir.program import Operator, Ref, Variable

if TYPE_CHECKING:
    from autograd_engine.program.backward.planner import BackwardPlan

__all__ = ["gradient_operator", "own_values"]

Key: TypeAlias = tuple[str, int]
Wanted: TypeAlias = Sequence[tuple[int, Ref]]
Cotangents: TypeAlias = Sequence[Variable | None]


def gradient_operator(
    plan: BackwardPlan,
    operator: Operator,
    wanted: Wanted,
    cotangents: Cotangents,
    priors: dict[int, Variable],
) -> tuple[list[Variable], set[int]]:
    """Plan the gradient of a branch or loop.

    Parameters
    ----------
    plan : BackwardPlan
        What the operator is added to.
    wanted : list of (int, Ref)
        Operands that cotangents arrive at.
    cotangents : list of Variable or None
        Of the results.
    priors : dict of int to Variable
        What has arrived at an operand so far, and is to be added to.

    Returns
    -------
    (list of Variable, set of int)
        A cotangent for each wanted operand; the positions of those that are more than zeros
        whichever way the operator went.
    """
    if operator.attrs.get("backward_block") is not None:
        return given_backward(plan, operator, wanted, cotangents)
    if kind_of(operator) in ("cond", "call"):
        return BranchGradient(plan, operator, wanted, cotangents, priors).append()
    return LoopGradient(plan, operator, wanted, cotangents, priors).append()


def own_values(operator: Operator) -> int:
    """How many of the first operands are values of their own inside, whatever they are outside.

    All others stand for variables around. What has arrived at one of these so far goes in as well.
    """
    if operator.attrs.get("backward_block") is not None:
        return len(operator.operands)
    if kind_of(operator) in ("cond", "call"):
        return 0
    return len(operator.op.inputs) - 1 + int(operator.attrs["carried"])
