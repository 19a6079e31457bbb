"""The gradient of one block, as a block: what that of a branch, and of a loop, is made of.

What it reads of the forward block it is handed: the operator returns it besides, a loop as a stack
with an entry for each iteration. The branch that did not run returns something `absent` for it,
which nobody reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from autograd_engine.core.dims import Dim, fresh_dim
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.ir.block import unused_name
from autograd_engine.program.ir.control_flow_op import BlockOp, kind_of
from autograd_engine.program.ir.program import (
    Block,
    Key,
    Operator,
    Ref,
    Variable,
)

if TYPE_CHECKING:
    from autograd_engine.program.backward.walk import BackwardPlan

__all__ = [
    "BlockGradient",
    "Cotangents",
    "Incoming",
    "InnerGradient",
    "Wanted",
    "handed_out",
]

Wanted: TypeAlias = Sequence[tuple[int, Ref]]
Cotangents: TypeAlias = Sequence[Variable | None]


@dataclass(eq=False)
class BlockGradient:
    """What the gradient of a branch or loop is made for; see `control_flow_gradient`."""

    plan: BackwardPlan
    operator: Operator
    wanted: Wanted
    cotangents: Cotangents
    priors: dict[int, Variable]


@dataclass(eq=False)
class Incoming:
    """A cotangent that the block of a gradient is given: an argument of that name."""

    slot: tuple[Any, ...]
    sure: bool = field(default=True, kw_only=True)
    var: Variable | None = None


class InnerGradient:
    """The gradient of one block, as a block, while what it takes is found out."""

    def __init__(
        self,
        plan: BackwardPlan,
        block: Block,
        seeds: Sequence[tuple[Ref, Incoming]],
        keys: set[Key],
        unrounded: Sequence[Ref],
    ) -> None:
        program = block.program
        self.forward = block
        self.block = program.new_block(plan.into.idx, forward_idx=block.idx)
        self.plan = plan.inside(block, seeds, keys, self.block, unrounded)
        # Their names are taken, before arguments are named.
        self.block.vars.update(self.plan.draft.variables)
        self.arguments: dict[tuple[Any, ...], Variable] = {}
        for _, incoming in seeds:
            if incoming.var is not None:
                self.arguments[incoming.slot] = incoming.var
        self.made: dict[Key, Variable] = {}  # values of the forward block that are made again
        self.again: list[Operator] = []
        self._positions = {a.name: k for k, a in enumerate(block.arguments)}
        self._from_nothing = {
            operator.results[0].key: operator for operator in block.ops if not operator.operands
        }
        plan.contexts[self.block] = self.plan.context()

    def argument(self, slot: tuple[Any, ...], like: Variable, name: str) -> Variable:
        found = self.arguments.get(slot)
        if found is None:
            found = self.block.add_argument(name, like.spec, stop_gradient=like.stop_gradient)
            found.is_stack = like.is_stack
            self.arguments[slot] = found
        return found

    def give_back(self, argument: Variable, value: float) -> None:
        """Return the gradient planned for an argument of the forward block, or zeros."""
        like = Ref(argument, 0)
        found = self.plan.cotangents.gradient.get(like.key)
        if found is None:
            found = self.plan.cotangents.filled(like, value)
            self.block.vars[found.name] = found
            if self.plan.cotangents.stays_unrounded(like):
                found = self.plan.cotangents.unrounded(like, found)
                self.block.vars[found.name] = found
        self.block.results.append(Ref(found, 0))

    def close(self, local: Callable[[Ref, bool], Ref]) -> None:
        """Write the operators into the block; `local` says what stands there for forward values."""
        block = self.block

        def read(ref: Ref, value: bool) -> Ref:
            again = self.made_again(ref)
            return local(ref, value) if again is None else Ref(again, 0)

        operators = [*self.plan.draft.seeds, *self.plan.draft.operators]
        for operator in operators:
            operator.operands = tuple(
                read(o, operator.op.reads_value(k))
                if isinstance(o, Ref) and o.var.block is not block
                else o
                for k, o in enumerate(operator.operands)
            )
        block.ops[:] = [*self.again, *operators]

    def position_of(self, ref: Ref) -> int | None:
        """Which argument of the forward block it is, if it is one."""
        return None if ref.version else self._positions.get(ref.var.name)

    def made_again(self, ref: Ref) -> Variable | None:
        """A value that takes nothing to make, and draws nothing, is made rather than kept."""
        found = self.made.get(ref.key)
        if found is not None:
            return found
        operator = self._from_nothing.get(ref.key)
        if operator is None or not isinstance(operator.op, OpDef) or operator.op.runs_always:
            return None
        var = Variable(self.block, unused_name(self.block, ref.var.name), ref.var.spec)
        var.stop_gradient = ref.var.stop_gradient
        self.block.vars[var.name] = self.made[ref.key] = var
        again = Operator(
            self.block,
            operator.op,
            (),
            (Ref(var, 0),),
            operator.attrs,
            operator.location,
            "backward",
        )
        self.again.append(again)
        return var


def handed_out(
    operator: Operator, block: Block, ref: Ref, value: bool, others: Sequence[Any]
) -> Ref:
    """The result of `operator` that is the value of `ref` in its block; another one if needed."""
    known = block.handed_out.get((ref.key, value))
    if known is not None:
        return operator.results[known]
    program, outside = block.program, operator.block
    source = ref
    if not value:
        source = _append(operator, block, "hollow", (ref,), ref.var, f"{ref.var.name}@SHAPE", {})
    looped = kind_of(operator) not in ("cond", "call")
    spec = ref.var.spec
    outer = Variable(
        outside,
        unused_name(outside, f"{ref.var.name}@KEPT" if value else f"{ref.var.name}@KEPT_SHAPE"),
        Spec((fresh_dim(), *spec.shape), spec.dtype) if looped else spec,
        stop_gradient=ref.var.stop_gradient or not value,
    )
    outer.is_stack = looped or ref.var.is_stack
    before = operator.results
    block.results.append(source)
    for other in others:
        shape = tuple(None if isinstance(d, Dim) else d for d in spec.shape)
        attrs = {"shape": shape, "dtype": spec.dtype.name, "stack": ref.var.is_stack}
        name = f"{outer.name}@ABSENT"
        other.results.append(_append(operator, other, "absent", (), ref.var, name, attrs))
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
    around: Operator,
    block: Block,
    kind: str,
    operands: tuple[Ref, ...],
    like: Variable,
    name: str,
    attrs: dict[str, Any],
) -> Ref:
    var = Variable(block, unused_name(block, name), like.spec, stop_gradient=True)
    var.is_stack = like.is_stack
    block.vars[var.name] = var
    result = Ref(var, 0)
    location = block.ops[-1].location if block.ops else around.location
    operator = Operator(block, BlockOp.of(kind), operands, (result,), attrs, location, "backward")
    block.ops.append(operator)

    def undo() -> None:
        if operator in block.ops:
            block.ops.remove(operator)
        block.vars.pop(var.name, None)

    block.program.undoing.append(undo)
    return result
