"""One operator for what the function of a type makes of some variables."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from autograd_engine import unique_name
from autograd_engine.compiler.live_operators import live_operators
from autograd_engine.core.locations import Location
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.errors import (
    ArgumentError,
    BuildError,
    DTypeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.program import mode
from autograd_engine.program.builder import emitting
from autograd_engine.program.control_flow.block_function import as_variable
from autograd_engine.program.ir.appended import Appended, Slots
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import (
    Block,
    Operator,
    Ref,
    Variable,
    default_main_program,
    program_guard,
)
from autograd_engine.static.executor.feeds import similar
from autograd_engine.static.operator_types.declaring import Given, OperatorType

__all__ = ["Building", "require_fit", "variable_named"]

_ASSIGN = REGISTRY["assign"]


def variable_named(block: Block, value: Any, where: str) -> Variable:
    """A Variable, or the one of that name, here or in a block around."""
    if isinstance(value, str):
        found = block._find_var_recursive(value)
        if found is None:
            close = similar(value, block.vars)
            hint = f"did you mean {close!r}?" if close else "make it with block.create_var"
            raise BuildError(f"{where}: there is no variable {value!r}; {hint}")
        return found
    if not isinstance(value, Variable):
        raise NotATensorError(
            f"{where} must be a Variable, the name of one, or a list of them; got "
            f"{value.__class__.__name__}"
        )
    if value.block.program is not block.program:
        own = block._find_var_recursive(value.name)
        hint = f"use that of this one, block.var({value.name!r})" if own is not None else "feed it"
        raise BuildError(f"{where}: {value.name} belongs to another program; {hint}")
    return value


def _program_of(block: Block) -> contextlib.AbstractContextManager[None]:
    """Inside, what has no operands belongs to the program of `block`."""
    if mode.building() and default_main_program() is block.program:
        return contextlib.nullcontext()
    return program_guard(block.program)


def require_fit(who: str, var: Variable, made: Variable) -> None:
    """Raise an error unless `var`, which is there already, can take the value of `made`."""
    have, want = made.spec, var.spec
    if have.dtype != want.dtype:
        raise DTypeError(
            f"{who} would write {have.dtype.name} to {var.name}, which is {want.dtype.name}: cast "
            "it before, or write another variable"
        )
    if not may_equal(have.shape, want.shape):
        raise ShapeError(
            f"{who} would write {format_shape(have.shape)} to {var.name}, which is "
            f"{format_shape(want.shape)}: reshape it before, or write another variable"
        )


class Building:
    """One operator while it is made."""

    def __init__(
        self,
        block: Block,
        kind: OperatorType,
        attrs: dict[str, Any],
        role: str,
        location: Location,
    ) -> None:
        self.block = block
        self.kind = kind
        self.attrs = attrs
        self.role = role
        self.location = location
        self.read: dict[str, list[Ref]] = {}
        self.sink: list[Operator] = []

    def compute(self, values: Given, written: Given) -> list[tuple[Variable, Variable]]:
        """What the function makes of `values`, each for the variable that is to have it."""
        self.read = {slot: [Ref(v, v.version) for v in vs] for slot, vs in values.items()}
        arguments: list[Any] = []
        for slot in self.kind.inputs:
            found = values.get(slot.name, [])
            arguments.append(found if slot.many else found[0] if found else None)
        prefix = unique_name.generate(self.kind.name)
        with (
            _program_of(self.block),
            emitting(prefix, self.role, self.location, self.sink, self.block),
        ):
            try:
                returned = self.kind.function(*arguments, **self.attrs)
            except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError) as error:
                if type(error).__module__.startswith("autograd_engine"):
                    raise
                raise ArgumentError(
                    f"append_op: {self.kind.name} cannot take these inputs and attributes: {error}"
                ) from error
            return self._paired(returned, written)

    def _paired(self, returned: Any, written: Given) -> list[tuple[Variable, Variable]]:
        slots = [slot for slot in self.kind.outputs if slot.computed]
        if len(slots) == 1:
            returned = (returned,)
        pairs: list[tuple[Variable, Variable]] = []
        made = {id(r.var) for op in self.sink for r in op.results}
        for slot, value in zip(slots, returned, strict=True):
            targets = written.get(slot.name, ())
            values = value if slot.many else [value]
            if targets and len(values) != len(targets):
                raise ArgumentError(
                    f"append_op: {self.kind.name} makes {len(values)} variables for "
                    f"{slot.name!r}, and {len(targets)} are given"
                )
            for target, v in zip(targets, values, strict=False):
                found = as_variable(v, self.block, [target.spec.dtype])
                if id(found) not in made:  # an operand as it is, or the same value once more
                    found = ops.assign(found)
                made.discard(id(found))
                pairs.append((target, found))
        return pairs

    def assemble(
        self, made: Sequence[Variable], refs: Sequence[Ref], targets: Sequence[Variable]
    ) -> Operator:
        """One operator, of no block yet, that writes `refs` in the place of what was `made`."""
        live = self._live(made)
        given = {ref.key for refs in self.read.values() for ref in refs}
        if len(live) == 1:
            alone = live[0]
            read = {o.key for o in alone.operands if isinstance(o, Ref)}
            results = {id(r.var) for r in alone.results}
            if given <= read and all(id(v) in results for v in made):
                return self._alone(alone, made, refs)
        return self._call(live, made, refs, targets)

    def _live(self, goals: Sequence[Variable]) -> list[Operator]:
        """The operators that the results need; variables of the others are taken away."""
        sink = self.sink
        if len(sink) == 1:
            return sink
        kept = live_operators(sink, [Ref(v, v.version) for v in goals])
        for operator in sink:
            if operator not in kept:
                for ref in operator.results:
                    self.block.vars.pop(ref.var.name, None)
        return kept

    def _alone(self, operator: Operator, made: Sequence[Variable], refs: Sequence[Ref]) -> Operator:
        """The one operator that the function has made."""
        written = {id(v): ref for v, ref in zip(made, refs, strict=True)}
        operator.results = tuple([written.get(id(r.var), r) for r in operator.results])
        for v in made:
            del self.block.vars[v.name]
        return operator

    def _call(
        self,
        live: Sequence[Operator],
        made: Sequence[Variable],
        refs: Sequence[Ref],
        targets: Sequence[Variable],
    ) -> Operator:
        """One operator for all that the function has made, in a block of its own."""
        block = self.block
        body = block.program.new_block(block.idx)
        for read in self.read.values():
            for ref in read:
                body.argument_for(ref)
        inner = {id(r.var) for op in live for r in op.results}
        for operator in live:
            operator.block = body
            operator.operands = tuple(
                [
                    Ref(body.argument_for(o), 0)
                    if isinstance(o, Ref) and id(o.var) not in inner
                    else o
                    for o in operator.operands
                ]
            )
            for ref in operator.results:
                var = block.vars.pop(ref.var.name)
                var.block = body
                body.vars[var.name] = var
        body.ops[:] = live
        arguments = {name: argument for (name, _), argument in body.captured.items()}
        for target, value in zip(targets, made, strict=True):
            result = Ref(value, value.version)
            if target.name in arguments and self._follows(value):
                written = arguments[target.name].write()
                body.append(self._operator(body, _ASSIGN, (result,), (written,), {}))
                result = written
            body.results.append(result)
        operands = tuple([Ref(block.vars[name], n) for name, n in body.captured])
        attrs = {"body_block": body, "backward_block": None, "inputs": 0}
        call = BlockOp.of("call", self.kind.name)
        return self._operator(block, call, operands, tuple(refs), attrs)

    def _operator(
        self,
        block: Block,
        op: Any,
        operands: tuple[Ref, ...],
        results: tuple[Ref, ...],
        attrs: dict[str, Any],
    ) -> Operator:
        return Operator(block, op, operands, results, attrs, self.location, self.role)

    def _follows(self, value: Variable) -> bool:
        """Whether it is a running statistic, which inference leaves as it is."""
        return any(
            op.op.name == "running_statistic" and op.results[0].var is value for op in self.sink
        )

    def appended(self, operator: Operator, written: Given, refs: Mapping[int, Ref]) -> Appended:
        """How `operator` was asked for."""
        keys = [o.key if isinstance(o, Ref) else None for o in operator.operands]
        results = {id(r.var): k for k, r in enumerate(operator.results)}
        inputs: Slots = tuple(
            [
                (slot.name, tuple([keys.index(r.key) for r in self.read.get(slot.name, ())]))
                for slot in sorted(self.kind.inputs)
            ]
        )
        outputs: Slots = tuple(
            [
                (
                    slot.name,
                    tuple([results[id(refs[id(v)].var)] if id(v) in refs else v.name for v in vs]),
                )
                for slot in sorted(self.kind.outputs)
                if (vs := written.get(slot.name, ()))
            ]
        )
        return Appended(self.kind.name, inputs, outputs, self.attrs)
