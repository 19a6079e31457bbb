"""Writing gradient operators out as the operators of their rules, in their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program.builder import append_operator, emit, emitting
from autograd_engine.program.ir.block import inner_blocks, leading_to
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.op_role import pass_on
from autograd_engine.program.ir.program import (
    Block,
    Key,
    Literal,
    Operator,
    Ref,
    Variable,
)

__all__ = ["as_variable", "decompose", "decompose_on_path"]

_ALIAS = REGISTRY["alias"]
_FULL = REGISTRY["full"]


def decompose_on_path(block: Block, targets: Sequence[Ref], needed: set[Key]) -> None:
    """Write out the gradient operators that lie between `targets` and what is `needed`."""
    reached = {r.key for r in targets}
    marked: set[int] = set()
    for operator in leading_to(block.ops, reached):
        op, operands = operator.op, operator.operands
        read = [k for k, o in enumerate(operands) if isinstance(o, Ref) and o.key in needed]
        if isinstance(op, BlockOp) and read:
            _decompose_inside(operator)
        elif isinstance(op, GradOp) and any(map(op.reads_value, read)):
            marked.add(id(operator))
    if marked:
        decompose(block, lambda operator: id(operator) in marked)


def _decompose_inside(operator: Operator) -> None:
    """Write out the gradient operators of the blocks of `operator`, which are its own."""
    for block in inner_blocks(operator):
        if any(isinstance(inner.op, GradOp) for inner in block.ops):
            decompose(block, lambda inner: True)
        for inner in block.ops:
            _decompose_inside(inner)


def decompose(block: Block, which: Callable[[Operator], bool]) -> None:
    """Replace the gradient operators for which `which` holds; values stay the same bits."""
    written: list[Operator] = []
    operators, names = block.ops, set(block.vars)

    def undo() -> None:
        block.ops = operators
        for name in [n for n in block.vars if n not in names]:
            del block.vars[name]

    if block.program.guards:  # an error undoes it
        block.program.undoing.append(undo)
    for operator in operators:
        if isinstance(operator.op, GradOp) and which(operator):
            _write_out(operator, operator.op, written)
        else:
            written.append(operator)
    block.ops = written
    block.program.changed()


def _write_out(operator: Operator, gradop: GradOp, sink: list[Operator]) -> None:
    start = len(sink)
    prefix = f"{operator.results[0].var.name}"
    with emitting(prefix, operator.role, operator.location, sink, operator.block):
        g, saved = gradop.arrange([as_variable(o) for o in operator.operands])
        results = gradop.pullback.pull(ops, g, saved, operator.attrs)
        made = {id(r.var): o.op for o in sink[start:] for r in o.results}
        given = Counter(map(id, results))
        renamed: dict[int, Variable] = {}
        for ref, result in zip(operator.results, results, strict=True):
            op = made.get(id(result))
            if isinstance(op, OpDef) and not op.reads_result and given[id(result)] == 1:
                renamed[id(result)] = ref.var
            else:  # as the tape has it, see `eager.tape.own_values`
                source = Ref(result, result.version)
                append_operator(operator.block, _ALIAS, (source,), (ref,), {})
    _rename(sink, start, renamed)
    pass_on(operator, sink[start:])


def as_variable(operand: Any) -> Any:
    """An operand as a Variable of the version that it names."""
    if isinstance(operand, Literal):
        attrs = {"shape": (), "value": operand.value, "dtype": operand.dtype.name}
        return emit(_FULL, (), _FULL.complete_attrs(attrs))  # in a program, whatever the mode is
    if isinstance(operand, Ref) and operand.version != operand.var.version:
        var = operand.var
        past = Variable(
            var.block,
            var.name,
            var.spec,
            stop_gradient=var.stop_gradient,
            persistable=var.persistable,
        )
        past.is_stack, past.version = var.is_stack, operand.version
        return past
    return operand.var if isinstance(operand, Ref) else None


def _rename(sink: list[Operator], start: int, renamed: dict[int, Variable]) -> None:
    """Let the operators from `start` on write and read the final variables."""

    def swap(operand: Any) -> Any:
        if isinstance(operand, Ref) and id(operand.var) in renamed:
            return Ref(renamed[id(operand.var)], 0)
        return operand

    for operator in sink[start:]:
        for ref in operator.results:
            if id(ref.var) in renamed:
                operator.block.vars.pop(ref.var.name, None)
        operator.operands = tuple(map(swap, operator.operands))
        operator.results = tuple(map(swap, operator.results))
