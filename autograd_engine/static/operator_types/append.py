"""`Block.append_op`: an operator by its type, in the words of the reference.

The function of the type is called on the variables, and what it appends is looked at. One
operation of the table is one operator, which reads and writes the given variables. Several become
the body of a `call`: one operator as well, whose gradient, file and code are those of any block.
Either keeps type, slots and attributes as they were given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from autograd_engine.core.locations import caller, saying_where
from autograd_engine.errors import ArgumentError, ArgumentTypeError, BuildError
from autograd_engine.program.ir.appended import Appended
from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.op_role import LOSS, ROLES
from autograd_engine.program.ir.program import Block, Operator, Ref, Variable
from autograd_engine.static.operator_types.building import (
    Building,
    require_fit,
    variable_named,
)
from autograd_engine.static.operator_types.declaring import Given, OperatorType, Slot
from autograd_engine.static.operator_types.table import operator_type
from autograd_engine.static.operator_types.versions import is_open, put_in_place
from autograd_engine.static.persistable import require_known

__all__ = ["append_op"]

_ROLES: Final = {number: role for role, number in ROLES.items()}


@saying_where(lambda block, type, *_: str(type))
def append_op(
    block: Block,
    type: Any,
    inputs: Mapping[str, Any] | None,
    outputs: Mapping[str, Any] | None,
    attrs: Mapping[str, Any] | None,
    others: Mapping[str, Any],
    index: int | None = None,
) -> Operator:
    """`Block.append_op`, or `Block._insert_op` with an `index`."""
    require_known("append_op", others, ("stop_gradient",))
    kind = operator_type(type)
    for argument, value in (("inputs", inputs), ("outputs", outputs), ("attrs", attrs)):
        if value is not None and not isinstance(value, Mapping):
            raise ArgumentTypeError(
                f"append_op: {argument} must be a dict, got {value.__class__.__name__}"
            )
    require_open(block, "append_op")
    attrs = attrs or {}
    full = kind.complete(attrs)
    kind.slots("input", inputs or {})
    kind.slots("output", outputs or {})
    with block.restored_on_error():
        read = {s: _variables(block, kind.name, s, v) for s, v in (inputs or {}).items()}
        written = {
            s: _variables(block, kind.name, s, v, made=True) for s, v in (outputs or {}).items()
        }
        _check_counts(kind, read, kind.inputs, "input")
        _check_counts(kind, written, kind.outputs, "output")
        _check_written(kind, written)
        make = _with_block if kind.of_block else _by_function
        operator = make(block, kind, full, read, written, _role(kind, attrs))
        if attrs.get("op_role", 0) & LOSS:
            operator.of_loss = True
        for name in ("op_device", "op_namescope"):
            if name in attrs:
                setattr(operator, name, str(attrs[name]))
        if others.get("stop_gradient"):
            for ref in operator.results:
                ref.var.stop_gradient = True
        if index is not None:
            put_in_place(operator, index)
    return operator


def _by_function(
    block: Block,
    kind: OperatorType,
    attrs: dict[str, Any],
    read: Given,
    written: Given,
    role: str,
) -> Operator:
    """An operator that computes what the function of its type makes of the inputs."""
    building = Building(block, kind, attrs, role, caller())
    goals = building.compute({slot: _seen(block, vs) for slot, vs in read.items()}, written)
    targets, made = [target for target, _ in goals], [v for _, v in goals]
    refs = [_target(building, target, v) for target, v in goals]
    operator = building.assemble(made, refs, targets)
    by_target = {id(v): ref for v, ref in zip(targets, refs, strict=True)}
    operator.appended = building.appended(operator, written, by_target)
    block.append(operator)
    return operator


def _with_block(
    block: Block,
    kind: OperatorType,
    attrs: dict[str, Any],
    read: Given,
    written: Given,
    role: str,
) -> Operator:
    """An operator that runs a block; what that reads and writes is what it says, not the slots."""
    operator: Operator = kind.function(block, read, **attrs)
    operands = [o.var.name if isinstance(o, Ref) else None for o in operator.operands]
    results = [r.var.name for r in operator.results]
    inputs = [
        (slot.name, tuple([operands.index(v.name) for v in vs if v.name in operands]))
        for slot in sorted(kind.inputs)
        for vs in [read.get(slot.name, ())]
    ]
    outputs: list[tuple[str, tuple[int | str, ...]]] = [
        (slot.name, tuple([results.index(v.name) if v.name in results else v.name for v in vs]))
        for slot in sorted(kind.outputs)
        if (vs := written.get(slot.name, ()))
    ]
    kept = {k: v for k, v in attrs.items() if not isinstance(v, Block)}
    operator.appended = Appended(kind.name, tuple(inputs), tuple(outputs), kept)
    return operator


def require_open(block: Block, function: str) -> None:
    """Raise BuildError for a block that is inside of an operator, and built."""
    if is_open(block):
        return
    owner = next(
        (
            op
            for b in block.program.blocks
            for op in b.ops
            if any(i is block for i in inner_blocks(op))
        ),
        None,
    )
    of = "" if owner is None else f", of {owner.type} at {owner.location.with_text}"
    raise BuildError(
        f"{function}: block {block.idx}{of} is built, and what is added to it would not be seen: "
        "add it inside of the function that builds the block"
    )


def _role(kind: OperatorType, attrs: Mapping[str, Any]) -> str:
    number = attrs.get("op_role")
    if number is None or kind.role != "forward":
        return kind.role
    return _ROLES.get(int(number) & ~LOSS, "forward")


# --- variables


def _variables(
    block: Block, op: str, slot: str, value: Any, *, made: bool = False
) -> list[Variable]:
    if value is None:
        return []
    program = block.program
    if isinstance(value, Variable) and value.block.program is program:
        return [value]
    listed = value if isinstance(value, (list, tuple)) else [value]
    if all(isinstance(v, Variable) and v.block.program is program for v in listed):
        return list(listed)
    where = f"append_op: the {'output' if made else 'input'} {slot!r} of {op}"
    return [variable_named(block, v, where) for v in listed]


def _check_counts(kind: OperatorType, given: Given, slots: Sequence[Slot], what: str) -> None:
    for slot in slots:
        if slot.name in given and (count := len(given[slot.name])) > 1 and not slot.many:
            raise ArgumentError(
                f"append_op: the {what} {slot.name!r} of {kind.name} is one variable, got {count}"
            )


def _check_written(kind: OperatorType, written: Given) -> None:
    variables = [v for found in written.values() for v in found]
    if len(variables) == 1:
        return
    if not variables and kind.outputs:
        names = ", ".join(slot.name for slot in kind.outputs)
        raise ArgumentError(
            f"append_op: {kind.name} writes nothing; name a variable for one of its outputs at "
            f"least: {names}"
        )
    for k, v in enumerate(variables):
        if any(v is other for other in variables[:k]):
            raise ArgumentError(f"append_op: {kind.name} writes {v.name} twice")


def _seen(block: Block, variables: Sequence[Variable]) -> list[Variable]:
    for v in variables:
        if v.declared:
            v.read_first()
    return [v.seen_from(block) for v in variables]


def _target(building: Building, var: Variable, made: Variable) -> Ref:
    """The version of `var` that an operator writes, whose result is `made` so far."""
    if var.declared:
        if var.block is building.block:
            return var.written_first(made.spec, made.stop_gradient)
        var.take_spec(made.spec)  # of a block around, which has no value for it yet
    require_fit(f"append_op: {building.kind.name}", var, made)
    return var.seen_from(building.block).write()
