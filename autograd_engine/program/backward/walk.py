"""The reverse walk over the operators of a block: reverse mode, as a program.

It is the walk of the tape (`eager.tape.run_backward`). Operators are met from the last to the
first; where cotangents have arrived at the results of one, its rule says what arrives at its
operands, and each value sums what arrives at it. Here the rules are planned as operators, in full
before anything is appended: a failure leaves the program as it was.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias

from autograd_engine.core.locations import Location
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.program.backward.block_gradient import Incoming
from autograd_engine.program.backward.control_flow_gradient import pull_blocks
from autograd_engine.program.backward.cotangents import Arrived, Cotangents
from autograd_engine.program.backward.dataflow import Reach, reach
from autograd_engine.program.backward.draft import Draft
from autograd_engine.program.backward.operation_gradient import pull_operation
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Block, Key, Ref, Variable

__all__ = ["Arrival", "BackwardPlan", "plan_backward"]

Seeds: TypeAlias = Sequence[tuple[Ref, Variable | Incoming | Arrived | None]]
# A cotangent of a value; whether it is more than a zero for a branch that did not run.
Arrival: TypeAlias = tuple[Ref, Variable, bool]


def plan_backward(
    block: Block,
    seeds: Seeds,
    wanted: set[Key],
    no_grad: set[str],
    location: Location,
    *,
    seed_by_shape: bool,
    into: Block | None = None,
    unrounded: Iterable[Ref] = (),
) -> BackwardPlan:
    """Plan the gradients of a block.

    Parameters
    ----------
    block : Block
    seeds : list of (Ref, Variable or None)
        Targets with the cotangents that start there; None stands for ones.
    wanted : set of (str, int)
        Which versions of which variables gradients are asked for.
    no_grad : set of str
        Names at which gradients stop.
    into : Block, optional
        Where the operators go, if not into `block`: the gradient of a branch or of the body of a
        loop is a block of its own. The targets then come with `Incoming` cotangents; with those
        that have `Arrived` where a walk that began inside `block` goes on here.
    unrounded : iterable of Ref
        Values whose sums somebody else goes on adding to.
    """
    flow = reach(block, [ref.key for ref, _ in seeds], wanted, no_grad)
    draft = Draft(block if into is None else into, location, block)
    plan = BackwardPlan(block, flow, draft, unrounded)
    cotangents = plan.cotangents
    for ref, given in seeds:
        if ref.key in flow.needed:
            _start(cotangents, ref, given, seed_by_shape)
    for operator in reversed(block.ops):
        arrived = [cotangents.gradient.get(ref.key) for ref in operator.results]
        reached = {k for k, cotangent in enumerate(arrived) if cotangent is not None}
        if not reached:
            continue
        asked = flow.wanted(operator, reached)
        sure = cotangents.surely([operator.results[k] for k in reached])
        pull = pull_blocks if isinstance(operator.op, BlockOp) else pull_operation
        for ref, contribution, certain in pull(plan, operator, asked, arrived, sure):
            cotangents.arrive(ref, contribution, certain)
    return plan


def _start(
    cotangents: Cotangents, ref: Ref, given: Variable | Incoming | Arrived | None, by_shape: bool
) -> None:
    if isinstance(given, Incoming):
        given.var = cotangents.contribution(ref, wide=cotangents.stays_unrounded(ref))
        cotangents.arrive(ref, given.var, given.sure)
    elif isinstance(given, Arrived):
        cotangents.arrive(ref, given.var, given.sure)
    elif given is None:
        cotangents.arrive(ref, cotangents.ones(ref, by_shape=by_shape))
    else:
        cotangents.arrive(ref, cotangents.given(ref, given))


class BackwardPlan:
    """The gradients of `block`, made but not yet appended to `into`."""

    def __init__(
        self, block: Block, flow: Reach, draft: Draft, unrounded: Iterable[Ref] = ()
    ) -> None:
        self.block = block
        self.into = draft.into
        self.no_grad = flow.no_grad
        self.draft = draft
        # Among them the gradients, when the walk is over.
        self.cotangents = Cotangents(draft, block.idx, flow.expected, unrounded)
        # The gradient operations that were made, by what they are made of.
        self.gradient_operations: dict[Hashable, tuple[Pullback, GradOp]] = {}
        # What callbacks are told of the blocks inside the operators.
        self.contexts: dict[Block, dict[str, Any]] = {}

    def inside(
        self,
        block: Block,
        seeds: Sequence[tuple[Ref, Incoming]],
        wanted: set[Key],
        into: Block,
        unrounded: Iterable[Ref],
    ) -> BackwardPlan:
        """The gradients of a block inside an operator of this one, in a block of their own."""
        inner = plan_backward(
            block,
            seeds,
            wanted,
            self.no_grad,
            self.draft.location,
            seed_by_shape=False,
            into=into,
            unrounded=unrounded,
        )
        self.contexts |= inner.contexts
        return inner

    def context(self) -> dict[str, Any]:
        """Names of gradients, and of what they are gradients of."""
        return {v.name: name for (name, _), v in self.cotangents.gradient.items()}
