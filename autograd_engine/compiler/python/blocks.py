"""Control flow in generated functions: each block is a function of its own.

Only what is asked for is computed. A loop pushes nothing that nobody reads, so a program with
gradients that is run for its loss alone keeps nothing for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autograd_engine.compiler.live_operators import carried_for, live_operators
from autograd_engine.ops import control_flow
from autograd_engine.program.ir.control_flow_op import branches_of, kind_of, split_operands
from autograd_engine.program.ir.program import Block, Operator, Ref

if TYPE_CHECKING:
    from autograd_engine.compiler.python.function import Uses, Writer

__all__ = ["block_statement"]


def block_statement(
    writer: Writer, operator: Operator, index: int, uses: Uses
) -> tuple[str, Sequence[Ref]]:
    """The statement that runs `operator`, whose blocks are written before, and what it assigns."""
    kind = kind_of(operator)
    if kind in ("cond", "call"):
        return _branch(writer, operator, uses)
    if kind in ("while", "scan"):
        return _loop(writer, operator, index, uses)
    function = writer.constant(kind, getattr(control_flow, kind))
    operands = [_operand(writer, operator, k, index, uses) for k in range(len(operator.operands))]
    operands += [f"{k}={v!r}" for k, v in operator.attrs.items()]
    statement = f"{writer.value(operator.results[0])} = {function}({', '.join(operands)})"
    return statement, operator.results


def _operand(writer: Writer, operator: Operator, position: int, index: int, uses: Uses) -> str:
    ref: Any = operator.operands[position]
    gone = uses.last_value.get(ref.key, index) < index
    if gone and not operator.op.reads_value(position):
        return writer.spec(ref)
    return writer.value(ref)


def _branch(writer: Writer, operator: Operator, uses: Uses) -> tuple[str, Sequence[Ref]]:
    """``y, = (cond_true if truth(pred) else cond_false)(x)``"""
    asked = [k for k, ref in enumerate(operator.results) if ref.key in uses.read]
    blocks, first = branches_of(operator)
    names = []
    for block, what in zip(blocks, ("_true", "_false") if first else ("",), strict=True):
        outputs = [block.results[k] for k in asked]
        names.append(_function(writer, f"{operator.type}{what}", block, outputs))
    given: list[Any] = [writer.value(r) for r in operator.operands]  # type: ignore[arg-type]
    function = names[0]
    if first:
        truth = writer.constant("truth", control_flow.truth)
        function = f"({names[0]} if {truth}({given[0]}) else {names[1]})"
    call = f"{function}({', '.join(given[first:])})"
    return _assigned(writer, [operator.results[k] for k in asked], call)


def _loop(writer: Writer, operator: Operator, index: int, uses: Uses) -> tuple[str, Sequence[Ref]]:
    """``y, trips, = while_loop(cond, body, (x, ), (w, ), 0)``"""
    is_while = kind_of(operator) == "while"
    body = operator.attrs["body_block"]
    n = operator.attrs["carried"]
    carried, captured, stacks = split_operands(operator)
    first_push = n + 1 if is_while else n
    asked = {k for k, ref in enumerate(operator.results) if ref.key in uses.read}
    pushes = [k for k in range(first_push, len(operator.results)) if k in asked]
    outputs = [body.results[k - (first_push - n)] for k in pushes]
    kept = carried_for(operator, {k for k in asked if k < n}, outputs)
    arguments = [body.arguments[k] for k in kept] + body.arguments[n:]
    body_name = _function(
        writer,
        f"{operator.type}_body",
        body,
        [body.results[k] for k in kept] + outputs,
        [Ref(a, 0) for a in arguments],
    )
    parts = [body_name]
    if is_while:
        block = operator.attrs["cond_block"]
        seen = [Ref(block.arguments[k], 0) for k in kept]
        seen += [Ref(a, 0) for a in block.arguments[n:]]
        parts.insert(0, _function(writer, f"{operator.type}_cond", block, block.results, seen))
        function = writer.constant("while_loop", control_flow.while_loop)
    else:
        function = writer.constant("scan", control_flow.scan)
        parts.append(writer.value(operator.operands[0]))  # type: ignore[arg-type]
    parts.append(_tuple(writer, [carried[k] for k in kept]))
    parts.append(_tuple(writer, captured))
    if not is_while:
        parts.append(_tuple(writer, stacks))
    parts.append(str(len(pushes)))
    if not is_while:
        parts.append(str(bool(operator.attrs["reverse"])))
        parts.append(str(tuple(_for_the_last_time(ref, index, uses) for ref in stacks)))
    results = [operator.results[k] for k in kept]
    results += [operator.results[n]] if is_while else []
    results += [operator.results[k] for k in pushes]
    return _assigned(writer, results, f"{function}({', '.join(parts)})")


def _for_the_last_time(ref: Ref, index: int, uses: Uses) -> bool:
    """Whether nothing but this loop still has the stack, so that it can be taken apart."""
    maker = uses.made.get(ref.key)
    if maker is None or kind_of(maker) not in ("while", "scan"):
        return False
    return uses.last_value[ref.key] == index and ref.key not in uses.handed_on


def _function(
    writer: Writer,
    stem: str,
    block: Block,
    outputs: Sequence[Ref],
    inputs: Sequence[Ref] | None = None,
) -> str:
    if inputs is None:
        inputs = [Ref(a, 0) for a in block.arguments]
    name = writer.unique(stem)
    writer.function(name, live_operators(block.ops, outputs), inputs, outputs)
    return name


def _tuple(writer: Writer, refs: Sequence[Any]) -> str:
    return "(" + "".join(f"{writer.value(r)}, " for r in refs) + ")"


def _assigned(writer: Writer, results: Sequence[Ref], call: str) -> tuple[str, Sequence[Ref]]:
    names = "".join(f"{writer.value(r)}, " for r in results)
    return (f"{names}= {call}" if names else call), results
