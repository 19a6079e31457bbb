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

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from autograd_engine.program.backward.block_gradient import (
    BlockGradient,
    Cotangents,
    Incoming,
    InnerGradient,
    Wanted,
    handed_out,
)
from autograd_engine.program.backward.dataflow import LoopFlow, branch_reached
from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.control_flow_op import (
    BlockOp,
    branches_of,
    kind_of,
    split_operands,
)
from autograd_engine.program.ir.op_role import pass_on
from autograd_engine.program.ir.program import (
    Block,
    Operator,
    Ref,
    Variable,
)

if TYPE_CHECKING:
    from autograd_engine.program.backward.walk import Arrival, BackwardPlan

__all__ = ["pull_blocks"]


class LoopGradient(BlockGradient):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.given = split_operands(self.operator)
        self.flow = LoopFlow(self.operator, {k for k, _ in self.wanted}, self.plan.no_grad)
        self.flow.follow({k for k, g in enumerate(self.cotangents) if g is not None})
        self.body = self.flow.body
        self.carried = sorted(self.flow.cotangents)
        self.captured: dict[tuple[Any, ...], Ref] = {}
        self.stacks: dict[tuple[Any, ...], Ref] = {}

    def append(self) -> tuple[list[Variable], set[int]]:
        plan, operator, flow = self.plan, self.operator, self.flow
        n, first = flow.n, flow.first
        stacks = len(self.given[2])
        begin = len(operator.operands) - stacks  # position of the first stack
        sums = [(k, ref) for k, ref in self.wanted if first + n <= k < begin]
        elements = [(k, ref) for k, ref in self.wanted if k >= begin]
        initial = [self._start(j) for j in self.carried]
        initial += [self._start_of_sum(k, ref) for k, ref in sums]
        inner = self._inner(sums, elements)
        results = self._results(inner, sums, elements)
        inner.close(lambda ref, value: self._local(inner, ref, value))
        carried = [("carried", j) for j in self.carried] + [("sum", k) for k, _ in sums]
        slots = [*carried, *self.captured, *self.stacks]
        inner.block.arguments[:] = [inner.arguments[slot] for slot in slots]
        trips = operator.results[n] if first == 0 else operator.operands[0]
        reverse = not operator.attrs.get("reverse", False)
        plan.draft.operators.append(
            Operator(
                plan.into,
                BlockOp.of("scan", f"{operator.type}_grad"),
                (trips, *initial, *self.captured.values(), *self.stacks.values()),
                tuple(Ref(v, 0) for v in results),
                {
                    "body_block": inner.block,
                    "carried": len(carried),
                    "captured": len(self.captured),
                    "reverse": reverse,
                },
                operator.location,
                "backward",
            )
        )
        by_position = dict(zip(self.carried, results, strict=False))
        found = {first + j: v for j, v in by_position.items()}
        rest = results[len(self.carried) :]
        found.update((k, v) for (k, _), v in zip([*sums, *elements], rest, strict=True))
        return [found[k] for k, _ in self.wanted], {k for k, _ in self.wanted}

    def _start(self, j: int) -> Ref:
        """The cotangent of what is carried at the end: given, or zeros."""
        given = self.cotangents[j]
        if given is None:
            final = self.operator.results[j]
            given = self.plan.cotangents.filled(final, 0.0)
        return Ref(given, given.version)

    def _start_of_sum(self, k: int, ref: Ref) -> Ref:
        """What the cotangents of something captured are added to."""
        prior = self.priors.get(k)
        if prior is None:
            prior = self.plan.cotangents.filled(ref, -0.0)
        return Ref(prior, prior.version)

    def _inner(self, sums: Wanted, elements: Wanted) -> InnerGradient:
        body, flow = self.body, self.flow
        seeds: list[tuple[Ref, Incoming]] = [
            (Ref(body.arguments[k - flow.first], 0), Incoming(("sum", k))) for k, _ in sums
        ]
        for k, _ in elements:
            if k in self.priors:
                prior = self.priors[k]
                self.stacks["prior", k] = Ref(prior, prior.version)
                seeds.append((Ref(body.arguments[k - flow.first], 0), Incoming(("prior", k))))
        for j in reversed(self.carried):
            sure = self.cotangents[j] is not None and self._reached_again(j)
            seeds.append((body.results[j], Incoming(("carried", j), sure=sure)))
        for i in sorted(flow.pushed):
            g = self.cotangents[flow.first_push + i]
            assert g is not None
            self.stacks["cotangent", i] = Ref(g, g.version)
            seeds.append((body.results[flow.n + i], Incoming(("cotangent", i))))
        return InnerGradient(self.plan, body, seeds, flow.keys)

    def _reached_again(self, j: int) -> bool:
        """Whether what is carried gets a cotangent in each iteration, from the next one."""
        return Ref(self.body.arguments[j], 0).key in self.flow.arrived

    def _results(self, inner: InnerGradient, sums: Wanted, elements: Wanted) -> list[Variable]:
        cotangents, body, flow = self.plan.cotangents, self.body, self.flow
        wanted = dict(self.wanted)
        results = []
        for j in self.carried:
            ref = wanted.get(flow.first + j)
            results.append(
                cotangents.spare(self.operator.results[j])
                if ref is None
                else cotangents.contribution(ref)
            )
        results += [cotangents.contribution(ref) for _, ref in [*sums, *elements]]
        positions = [flow.first + j for j in self.carried] + [k for k, _ in [*sums, *elements]]
        for position in positions:
            argument = Ref(body.arguments[position - flow.first], 0)
            made = inner.gradient(argument.key, argument, 0.0)
            inner.block.results.append(Ref(made, 0))
        for j in self.carried:
            inner.argument(("carried", j), body.arguments[j], f"{body.arguments[j].name}@GRAD")
        return results

    def _local(self, inner: InnerGradient, ref: Ref, value: bool) -> Ref:
        """What stands for a value of the body in its gradient's."""
        again = inner.made_again(ref)
        if again is not None:
            return Ref(again, 0)
        carried, captured, stacks = self.given
        position = inner.position_of(ref)
        n, m = len(carried), len(carried) + len(captured)
        if position is not None and n <= position < m:
            outer = captured[position - n]
            self.captured["value", outer.key] = outer
            return Ref(inner.argument(("value", outer.key), outer.var, ref.var.name), 0)
        if position is not None and position >= m:
            outer = stacks[position - m]
        else:
            outer = handed_out(self.operator, self.body, ref, value, ())
        self.stacks["value", outer.key] = outer
        return Ref(inner.argument(("value", outer.key), ref.var, ref.var.name), 0)


class BranchGradient(BlockGradient):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.blocks, self.first = branches_of(self.operator)
        self.slots: dict[tuple[Any, ...], Ref] = {}

    def append(self) -> tuple[list[Variable], set[int]]:
        plan, operator = self.plan, self.operator
        blocks, first = self.blocks, self.first
        reached = {k for k, g in enumerate(self.cotangents) if g is not None}
        positions = {k for k, _ in self.wanted}
        always = set(self.priors)
        always |= set.intersection(
            *(branch_reached(b, first, reached, positions, plan.no_grad) for b in blocks)
        )
        inners = [self._inner(block) for block in blocks]
        results = []
        for k, ref in self.wanted:
            # Adding -0.0 changes nothing, not even the sign of a zero.
            value = 0.0 if plan.cotangents.awaits(ref) == 1 else -0.0
            results.append(plan.cotangents.contribution(ref))
            for inner, block in zip(inners, blocks, strict=True):
                argument = Ref(block.arguments[k - first], 0)
                made = inner.gradient(argument.key, argument, value)
                inner.block.results.append(Ref(made, 0))
        for inner in inners:
            inner.close(lambda ref, value, inner=inner: self._local(inner, ref, value))
        likes = {slot: v for inner in inners for slot, v in inner.arguments.items()}
        self.slots = {slot: ref for slot, ref in self.slots.items() if slot in likes}
        for inner in inners:
            inner.block.arguments[:] = [
                inner.argument(slot, likes[slot], likes[slot].name) for slot in self.slots
            ]
        plan.draft.operators.append(
            Operator(
                plan.into,
                BlockOp.of(kind_of(operator), f"{operator.type}_grad"),
                (*operator.operands[:first], *self.slots.values()),
                tuple(Ref(v, 0) for v in results),
                _attributes([inner.block for inner in inners]),
                operator.location,
                "backward",
            )
        )
        return results, always

    def _inner(self, block: Block) -> InnerGradient:
        keys = {(block.arguments[k - self.first].name, 0) for k, _ in self.wanted}
        seeds: list[tuple[Ref, Incoming]] = []
        for k, prior in self.priors.items():
            slot = ("prior", k)
            self.slots[slot] = Ref(prior, prior.version)
            seeds.append((Ref(block.arguments[k - self.first], 0), Incoming(slot)))
        for k, g in reversed(list(enumerate(self.cotangents))):
            if g is not None:
                self.slots["cotangent", k] = Ref(g, g.version)
                seeds.append((block.results[k], Incoming(("cotangent", k))))
        return InnerGradient(self.plan, block, seeds, keys)

    def _local(self, inner: InnerGradient, ref: Ref, value: bool) -> Ref:
        """What stands for a value of the forward block in its gradient's."""
        again = inner.made_again(ref)
        if again is not None:
            return Ref(again, 0)
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
    operands = [Ref(g, g.version) for g in given] + list(operator.operands)
    by_position = {k: plan.cotangents.contribution(ref) for k, ref in wanted}
    inputs = operator.operands[: attrs["inputs"]]
    results = [
        by_position[k] if k in by_position else plan.cotangents.spare(ref)
        for k, ref in enumerate(inputs)
        if isinstance(ref, Ref) and ref.var.spec.dtype.kind in "fc"
    ]
    body = _copied(attrs["backward_block"], plan.into.idx)
    plan.draft.operators.append(
        Operator(
            plan.into,
            BlockOp.of("call", f"{operator.type}_grad"),
            tuple(operands),
            tuple(Ref(v, 0) for v in results),
            {"body_block": body, "backward_block": None, "inputs": 0},
            operator.location,
            "backward",
        )
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


def pull_blocks(
    plan: BackwardPlan,
    operator: Operator,
    wanted: list[tuple[int, Ref]],
    cotangents: Sequence[Variable | None],
    sure: bool,
) -> list[Arrival]:
    """What arrives at the `wanted` operands of a branch or loop, planning what is not there yet."""
    if kind_of(operator) == "add_stacks":
        assert cotangents[0] is not None
        return [(ref, cotangents[0], sure) for _, ref in wanted]
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
        pass_on(operator, plan.draft.operators[-1:])
        for (k, _), var in zip(missing, made, strict=True):
            plan.draft.emitted[keys[k]] = var
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
    """Plan the gradient of a branch or loop.

    Parameters
    ----------
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


def _own_values(operator: Operator) -> int:
    """How many of the first operands are values of their own inside, whatever they are outside.

    All others stand for variables around. What has arrived at one of these so far goes in as well.
    """
    if operator.attrs.get("backward_block") is not None:
        return len(operator.operands)
    if kind_of(operator) in ("cond", "call"):
        return 0
    return len(operator.op.inputs) - 1 + int(operator.attrs["carried"])
