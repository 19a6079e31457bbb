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
from typing import TYPE_CHECKING, Any, TypeAlias

from autograd_engine.dims import Dim, fresh_dim
from autograd_engine.registry import OpDef
from autograd_engine.spec import Spec
from autograd_engine.static.block_op import (
    BlockOp,
    branches_of,
    inner_blocks,
    kind_of,
    split_operands,
)
from autograd_engine.static.flow import LoopFlow, branch_reached
from autograd_engine.static.program import Block, Operator, Ref, Variable

if TYPE_CHECKING:
    from autograd_engine.static.backward_plan import BackwardPlan

__all__ = ["Incoming", "gradient_operator", "own_values"]

Key: TypeAlias = tuple[str, int]
Wanted: TypeAlias = Sequence[tuple[int, Ref]]
Cotangents: TypeAlias = Sequence[Variable | None]


class Incoming:
    """A cotangent that the block of a gradient is given: an argument of that name."""

    def __init__(self, slot: tuple[Any, ...], *, sure: bool = True) -> None:
        self.slot = slot
        self.sure = sure
        self.var: Variable | None = None


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
        return _given_backward(plan, operator, wanted, cotangents)
    if kind_of(operator) in ("cond", "call"):
        return _BranchGradient(plan, operator, wanted, cotangents, priors).append()
    return _LoopGradient(plan, operator, wanted, cotangents, priors).append()


def own_values(operator: Operator) -> int:
    """How many of the first operands are values of their own inside, whatever they are outside.

    All others stand for variables around. What has arrived at one of these so far goes in as well.
    """
    if operator.attrs.get("backward_block") is not None:
        return len(operator.operands)
    if kind_of(operator) in ("cond", "call"):
        return 0
    return len(operator.op.inputs) - 1 + int(operator.attrs["carried"])


class _Inner:
    """The gradient of one block, as a block, while what it takes is found out."""

    def __init__(
        self,
        plan: BackwardPlan,
        block: Block,
        seeds: Sequence[tuple[Ref, Incoming]],
        keys: set[Key],
    ) -> None:
        from autograd_engine.static.backward_plan import BackwardPlan

        program = block.program
        self.forward = block
        self.block = program.new_block(plan.into.idx, forward_idx=block.idx)
        self.plan = BackwardPlan(
            block, seeds, keys, plan.no_grad, plan.location, seed_by_shape=False, into=self.block
        )
        plan.contexts |= self.plan.contexts
        # Their names are taken, before arguments are named.
        self.block.vars.update(self.plan.variables)
        self.arguments: dict[tuple[Any, ...], Variable] = {}
        for _, incoming in seeds:
            if incoming.var is not None:
                self.arguments[incoming.slot] = incoming.var
        self.made: dict[Key, Variable] = {}  # values of the forward block that are made again
        self.again: list[Operator] = []
        plan.contexts[self.block] = self.plan.context()

    def argument(self, slot: tuple[Any, ...], like: Variable, name: str) -> Variable:
        found = self.arguments.get(slot)
        if found is None:
            found = self.block.add_argument(name, like.spec, stop_gradient=like.stop_gradient)
            found.is_stack = like.is_stack
            self.arguments[slot] = found
        return found

    def gradient(self, key: Key, like: Ref, value: float) -> Variable:
        """The gradient planned for an argument of the forward block, or zeros."""
        found = self.plan.gradient.get(key)
        if found is None:
            found = self.plan.filled(like, value)
            self.block.vars[found.name] = found
        return found

    def close(self, local: Any) -> None:
        """Write the operators into the block; `local` says what stands there for forward values."""
        block = self.block
        operators = [*self.plan.seed_operators, *self.plan.operators]
        for operator in operators:
            operator.operands = tuple(
                local(o, operator.op.reads_value(k))
                if isinstance(o, Ref) and o.var.block is not block
                else o
                for k, o in enumerate(operator.operands)
            )
        block.ops[:] = [*self.again, *operators]

    def made_again(self, ref: Ref) -> Variable | None:
        """A value that takes nothing to make, and draws nothing, is made rather than kept."""
        found = self.made.get(ref.key)
        if found is not None:
            return found
        for operator in self.forward.ops:
            op = operator.op
            if not operator.operands and operator.results[0].key == ref.key:
                if not isinstance(op, OpDef) or op.runs_always:
                    return None
                var = Variable(self.block, _unused(self.block, ref.var.name), ref.var.spec)
                var.stop_gradient = ref.var.stop_gradient
                self.block.vars[var.name] = self.made[ref.key] = var
                self.again.append(
                    Operator(
                        self.block,
                        op,
                        (),
                        (Ref(var, 0),),
                        operator.attrs,
                        operator.location,
                        "backward",
                    )
                )
                return var
        return None


class _BranchGradient:
    def __init__(
        self,
        plan: BackwardPlan,
        operator: Operator,
        wanted: Wanted,
        cotangents: Cotangents,
        priors: dict[int, Variable],
    ) -> None:
        self.plan = plan
        self.operator = operator
        self.wanted = wanted
        self.cotangents = cotangents
        self.priors = priors
        self.blocks, self.first = branches_of(operator)
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
            value = 0.0 if plan.awaits(ref) == 1 else -0.0
            results.append(plan.contribution(ref))
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
        plan.operators.append(
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

    def _inner(self, block: Block) -> _Inner:
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
        return _Inner(self.plan, block, seeds, keys)

    def _local(self, inner: _Inner, ref: Ref, value: bool) -> Ref:
        """What stands for a value of the forward block in its gradient's."""
        again = inner.made_again(ref)
        if again is not None:
            return Ref(again, 0)
        outer = _captured(inner.forward, ref, self.operator.operands[self.first :])
        if outer is None:
            others = [b for b in self.blocks if b is not inner.forward]
            outer = _handed_out(self.operator, inner.forward, ref, value, others)
        slot = ("value", outer.key)
        self.slots[slot] = outer
        return Ref(inner.argument(slot, outer.var, ref.var.name), 0)


def _attributes(blocks: Sequence[Block]) -> dict[str, Any]:
    if len(blocks) == 1:
        return {"body_block": blocks[0], "backward_block": None, "inputs": 0}
    return {"true_block": blocks[0], "false_block": blocks[1]}


# --- a gradient that the user wrote


def _given_backward(
    plan: BackwardPlan, operator: Operator, wanted: Wanted, cotangents: Cotangents
) -> tuple[list[Variable], set[int]]:
    """Call the block that was given for it, a copy: its own gradients are made in its blocks."""
    attrs = operator.attrs
    given = [
        plan.filled(ref, 0.0) if g is None else g
        for ref, g in zip(operator.results, cotangents, strict=True)
    ]
    operands = [Ref(g, g.version) for g in given] + list(operator.operands)
    by_position = {k: plan.contribution(ref) for k, ref in wanted}
    inputs = operator.operands[: attrs["inputs"]]
    results = [
        by_position[k] if k in by_position else plan.spare(ref)
        for k, ref in enumerate(inputs)
        if isinstance(ref, Ref) and ref.var.spec.dtype.kind in "fc"
    ]
    body = _copied(attrs["backward_block"], plan.into.idx)
    plan.operators.append(
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


class _LoopGradient:
    def __init__(
        self,
        plan: BackwardPlan,
        operator: Operator,
        wanted: Wanted,
        cotangents: Cotangents,
        priors: dict[int, Variable],
    ) -> None:
        self.plan = plan
        self.operator = operator
        self.wanted = wanted
        self.cotangents = cotangents
        self.priors = priors
        self.flow = LoopFlow(operator, {k for k, _ in wanted}, plan.no_grad)
        self.flow.follow({k for k, g in enumerate(cotangents) if g is not None})
        self.body = self.flow.body
        self.carried = sorted(self.flow.cotangents)
        self.captured: dict[tuple[Any, ...], Ref] = {}
        self.stacks: dict[tuple[Any, ...], Ref] = {}

    def append(self) -> tuple[list[Variable], set[int]]:
        plan, operator, flow = self.plan, self.operator, self.flow
        n, first = flow.n, flow.first
        stacks = len(split_operands(operator)[2])
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
        plan.operators.append(
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
            given = self.plan.filled(final, 0.0)
        return Ref(given, given.version)

    def _start_of_sum(self, k: int, ref: Ref) -> Ref:
        """What the cotangents of something captured are added to."""
        prior = self.priors.get(k)
        if prior is None:
            prior = self.plan.filled(ref, -0.0)
        return Ref(prior, prior.version)

    def _inner(self, sums: Wanted, elements: Wanted) -> _Inner:
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
        return _Inner(self.plan, body, seeds, flow.keys)

    def _reached_again(self, j: int) -> bool:
        """Whether what is carried gets a cotangent in each iteration, from the next one."""
        return Ref(self.body.arguments[j], 0).key in self.flow.arrived

    def _results(self, inner: _Inner, sums: Wanted, elements: Wanted) -> list[Variable]:
        plan, body, flow = self.plan, self.body, self.flow
        wanted = dict(self.wanted)
        results = []
        for j in self.carried:
            ref = wanted.get(flow.first + j)
            results.append(
                plan.spare(self.operator.results[j]) if ref is None else plan.contribution(ref)
            )
        results += [plan.contribution(ref) for _, ref in [*sums, *elements]]
        positions = [flow.first + j for j in self.carried] + [k for k, _ in [*sums, *elements]]
        for position in positions:
            argument = Ref(body.arguments[position - flow.first], 0)
            made = inner.gradient(argument.key, argument, 0.0)
            inner.block.results.append(Ref(made, 0))
        for j in self.carried:
            inner.argument(("carried", j), body.arguments[j], f"{body.arguments[j].name}@GRAD")
        return results

    def _local(self, inner: _Inner, ref: Ref, value: bool) -> Ref:
        """What stands for a value of the body in its gradient's."""
        again = inner.made_again(ref)
        if again is not None:
            return Ref(again, 0)
        carried, captured, stacks = split_operands(self.operator)
        arguments = self.body.arguments
        position = _position(arguments, ref)
        n, m = len(carried), len(carried) + len(captured)
        if position is not None and n <= position < m:
            outer = captured[position - n]
            self.captured["value", outer.key] = outer
            return Ref(inner.argument(("value", outer.key), outer.var, ref.var.name), 0)
        if position is not None and position >= m:
            outer = stacks[position - m]
        else:
            outer = _handed_out(self.operator, self.body, ref, value, ())
        self.stacks["value", outer.key] = outer
        return Ref(inner.argument(("value", outer.key), ref.var, ref.var.name), 0)


def _position(arguments: Sequence[Variable], ref: Ref) -> int | None:
    if ref.version:
        return None
    return next((k for k, a in enumerate(arguments) if a is ref.var), None)


def _captured(block: Block, ref: Ref, operands: Sequence[Any]) -> Ref | None:
    position = _position(block.arguments, ref)
    found: Ref | None = None if position is None else operands[position]
    return found


# --- what a block hands out


def _handed_out(
    operator: Operator, block: Block, ref: Ref, value: bool, others: Sequence[Any]
) -> Ref:
    """The result of `operator` that is the value of `ref` in its block; another one if needed."""
    known = block.handed_out.get((ref.key, value))
    if known is not None:
        return operator.results[known]
    program, outside = block.program, operator.block
    source = ref
    if not value:
        source = _append(block, "hollow", (ref,), ref.var, f"{ref.var.name}@SHAPE", {})
    looped = kind_of(operator) not in ("cond", "call")
    spec = ref.var.spec
    outer = Variable(
        outside,
        _unused(outside, f"{ref.var.name}@KEPT" if value else f"{ref.var.name}@KEPT_SHAPE"),
        Spec((fresh_dim(), *spec.shape), spec.dtype) if looped else spec,
        stop_gradient=ref.var.stop_gradient or not value,
    )
    outer.is_stack = looped or ref.var.is_stack
    before = operator.results
    block.results.append(source)
    for other in others:
        shape = tuple(None if isinstance(d, Dim) else d for d in spec.shape)
        attrs = {"shape": shape, "dtype": spec.dtype.name, "stack": ref.var.is_stack}
        other.results.append(_append(other, "absent", (), ref.var, f"{outer.name}@ABSENT", attrs))
    outside.vars[outer.name] = outer
    operator.results = (*before, Ref(outer, 0))
    block.handed_out[ref.key, value] = len(before)

    def undo() -> None:
        operator.results = before
        outside.vars.pop(outer.name, None)
        for b in (block, *others):
            b.results.pop()
        block.handed_out.pop((ref.key, value), None)

    program.undoing.append(undo)
    program.changed()
    return Ref(outer, 0)


def _append(
    block: Block,
    kind: str,
    operands: tuple[Ref, ...],
    like: Variable,
    name: str,
    attrs: dict[str, Any],
) -> Ref:
    var = Variable(block, _unused(block, name), like.spec, stop_gradient=True)
    var.is_stack = like.is_stack
    block.vars[var.name] = var
    result = Ref(var, 0)
    location = block.ops[-1].location if block.ops else _location()
    operator = Operator(block, BlockOp.of(kind), operands, (result,), attrs, location, "backward")
    block.ops.append(operator)

    def undo() -> None:
        if operator in block.ops:
            block.ops.remove(operator)
        block.vars.pop(var.name, None)

    block.program.undoing.append(undo)
    return result


def _location() -> Any:
    from autograd_engine.source import caller

    return caller()


def _unused(block: Block, name: str) -> str:
    unused, n = name, 0
    while unused in block.vars:
        n += 1
        unused = f"{name}_{n}"
    return unused
