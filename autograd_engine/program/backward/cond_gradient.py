"""The gradient of a branch: a `cond` on the same condition, or a call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from autograd_engine.core.dtypes import INEXACT
from autograd_engine.program.backward.block_gradient import (
    BlockGradient,
    Cotangents,
    Incoming,
    InnerGradient,
    Wanted,
    handed_out,
)
from autograd_engine.program.backward.dataflow import Flow
from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.control_flow_op import (
    BlockOp,
    branches_of,
    kind_of,
)
from autograd_engine.program.ir.program import (
    Block,
    Operator,
    Ref,
    Variable,
)

if TYPE_CHECKING:
    from autograd_engine.program.backward.walk import BackwardPlan

__all__ = ["BranchGradient", "given_backward"]


class BranchGradient(BlockGradient):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.blocks, self.first = branches_of(self.operator)
        self.slots: dict[tuple[Any, ...], Ref] = {}
        awaits = self.plan.cotangents.awaits
        # What is not all that arrives: the branches hand it out as they have added it up.
        self.unrounded = {k for k, ref in self.wanted if k in self.priors or awaits(ref) > 1}

    def append(self) -> tuple[list[Variable], set[int]]:
        plan, operator = self.plan, self.operator
        blocks, first = self.blocks, self.first
        reached = {k for k, g in enumerate(self.cotangents) if g is not None}
        positions = {k for k, _ in self.wanted}
        flow = Flow(plan.no_grad)
        # What had arrived before has said itself whether it is more than zeros.
        always = set.intersection(
            *(flow.branch_reached(b, first, reached, positions) for b in blocks)
        )
        inners = [self._inner(block) for block in blocks]
        results = []
        for k, ref in self.wanted:
            # Adding -0.0 changes nothing, not even the sign of a zero.
            value = 0.0 if plan.cotangents.awaits(ref) == 1 else -0.0
            results.append(plan.cotangents.contribution(ref, wide=k in self.unrounded))
            for inner, block in zip(inners, blocks, strict=True):
                inner.give_back(block.arguments[k - first], value)
        for inner in inners:
            inner.close(partial(self._local, inner))
        likes = {slot: v for inner in inners for slot, v in inner.arguments.items()}
        self.slots = {slot: ref for slot, ref in self.slots.items() if slot in likes}
        for inner in inners:
            inner.block.arguments[:] = [
                inner.argument(slot, likes[slot], likes[slot].name) for slot in self.slots
            ]
        plan.draft.follow(
            operator,
            BlockOp.of(kind_of(operator), f"{operator.type}_grad"),
            (*operator.operands[:first], *self.slots.values()),
            results,
            _attributes([inner.block for inner in inners]),
        )
        return results, always

    def _inner(self, block: Block) -> InnerGradient:
        keys = {(block.arguments[k - self.first].name, 0) for k, _ in self.wanted}
        seeds: list[tuple[Ref, Incoming]] = []
        surely: Any = self.plan.cotangents.surely
        for k, prior in self.priors.items():
            slot = ("prior", k)
            self.slots[slot] = Ref(prior, prior.version)
            sure = surely([self.operator.operands[k]])
            seeds.append((Ref(block.arguments[k - self.first], 0), Incoming(slot, sure=sure)))
        for k, g in reversed(list(enumerate(self.cotangents))):
            if g is not None:
                self.slots["cotangent", k] = Ref(g, g.version)
                sure = surely([self.operator.results[k]])
                seeds.append((block.results[k], Incoming(("cotangent", k), sure=sure)))
        unrounded = [Ref(block.arguments[k - self.first], 0) for k in self.unrounded]
        return InnerGradient(self.plan, block, seeds, keys, unrounded)

    def _local(self, inner: InnerGradient, ref: Ref, value: bool) -> Ref:
        """What stands for a value of the forward block in its gradient's."""
        position = inner.position_of(ref)
        if position is not None:
            outer: Any = self.operator.operands[self.first + position]
        else:
            others = [b for b in self.blocks if b is not inner.forward]
            outer = handed_out(self.operator, inner.forward, ref, value, others)
        slot = ("value", outer.key)
        self.slots[slot] = outer
        return Ref(inner.argument(slot, outer.var, ref.var.name), 0)


def _attributes(blocks: Sequence[Block]) -> dict[str, Any]:
    if len(blocks) == 1:
        return {"body_block": blocks[0], "backward_block": None, "inputs": 0}
    return {"true_block": blocks[0], "false_block": blocks[1]}


def given_backward(
    plan: BackwardPlan, operator: Operator, wanted: Wanted, cotangents: Cotangents
) -> tuple[list[Variable], set[int]]:
    """Call the block that was given for it, a copy: its own gradients are made in its blocks."""
    attrs = operator.attrs
    given = [
        plan.cotangents.filled(ref, 0.0) if g is None else g
        for ref, g in zip(operator.results, cotangents, strict=True)
    ]
    operands = [*(Ref(g, g.version) for g in given), *operator.operands]
    by_position = {k: plan.cotangents.contribution(ref) for k, ref in wanted}
    inputs = operator.operands[: attrs["inputs"]]
    results = [
        by_position[k] if k in by_position else plan.cotangents.spare(ref)
        for k, ref in enumerate(inputs)
        if isinstance(ref, Ref) and ref.var.spec.dtype in INEXACT
    ]
    body = _copied(attrs["backward_block"], plan.into.idx)
    plan.draft.follow(
        operator,
        BlockOp.of("call", f"{operator.type}_grad"),
        operands,
        results,
        _attributes([body]),
    )
    return [by_position[k] for k, _ in wanted], set(by_position)


def _copied(block: Block, parent_idx: int) -> Block:
    made = block.program.new_block(parent_idx, block.forward_idx)
    variables: dict[int, Variable] = {}
    for var in block.vars.values():
        copy = Variable(made, var.name, var.spec, stop_gradient=var.stop_gradient)
        copy.is_stack, copy.version = var.is_stack, var.version
        variables[id(var)] = made.vars[var.name] = copy

    def of(ref: Any) -> Any:
        return Ref(variables[id(ref.var)], ref.version) if isinstance(ref, Ref) else ref

    for operator in block.ops:
        inner = {id(b): _copied(b, made.idx) for b in inner_blocks(operator)}
        made.ops.append(
            Operator(
                made,
                operator.op,
                tuple(map(of, operator.operands)),
                tuple(map(of, operator.results)),
                {k: inner.get(id(v), v) for k, v in operator.attrs.items()},
                operator.location,
                operator.role,
            )
        )
    made.arguments[:] = [variables[id(v)] for v in block.arguments]
    made.results[:] = [of(r) for r in block.results]
    return made
