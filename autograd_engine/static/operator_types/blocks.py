"""Types that run a block: loops and branches.

The reference's blocks read and write variables of the blocks around by name. Here what a block
reads has become an argument of it when it was read first, and what it writes is carried or handed
out.
"""

from __future__ import annotations

from typing import Any

from autograd_engine import unique_name
from autograd_engine.errors import ArgumentError, BuildError
from autograd_engine.program.control_flow.block_function import (
    BlockFunction,
    check_condition,
    share_arguments,
)
from autograd_engine.program.control_flow.cond import append_cond
from autograd_engine.program.control_flow.while_loop import append_while
from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.program import Block, Operator, Ref, Variable
from autograd_engine.static.operator_types.declaring import Given, declare

__all__: list[str] = []


def _condition(kind: str, slot: str, block: Block, read: Given) -> Variable:
    listed = read.get(slot, [])
    if len(listed) != 1:
        raise ArgumentError(f"append_op: {kind} takes one condition, got {len(listed)}")
    check_condition(f"append_op: the input {slot!r} of {kind}", listed[0])
    return listed[0].seen_from(block)


def _require_ready(kind: str, block: Block, sub_block: Block) -> None:
    program = block.program
    if any(b is sub_block for b in program._open):
        raise BuildError(f"append_op: {kind}: the sub_block is still open; call program.rollback()")
    if sub_block.program is not program or sub_block.parent_idx != block.idx:
        raise BuildError(
            f"append_op: {kind}: the sub_block is none of block {block.idx}; make it with "
            "program.create_block()"
        )
    for operator in block.ops:
        if any(b is sub_block for b in inner_blocks(operator)):
            raise BuildError(
                f"append_op: {kind}: the sub_block belongs to {operator.type} at "
                f"{operator.location.with_text}"
            )
    for (name, version), argument in sub_block.captured.items():
        var = block.vars[name]
        if argument.version and var.declared and not version:
            raise BuildError(
                f"append_op: {kind}: the block writes {name}, which has no value where it does not "
                "run: write one before, with fill_constant"
            )


def _while(block: Block, read: Given, *, sub_block: Block, is_test: bool) -> Operator:
    _require_ready("while", block, sub_block)
    condition = _condition("while", "Condition", block, read)
    before = Ref(condition, condition.version)
    test, body = BlockFunction(block.program, block), BlockFunction.of(sub_block)
    test.block.results.append(Ref(test.block.argument_for(before), 0))
    written = sub_block.captured.get(before.key)
    if written is None or not written.version:
        raise BuildError(
            f"append_op: while: the block does not write the condition {condition.name}, so the "
            "loop would never end"
        )
    append_while(block, unique_name.generate("while"), [test, body])
    return block.ops[-1]


def _conditional(
    block: Block, read: Given, *, sub_block: Block, is_scalar_condition: bool
) -> Operator:
    _require_ready("conditional_block", block, sub_block)
    condition = _condition("conditional_block", "Cond", block, read)
    branches = [BlockFunction.of(sub_block), BlockFunction(block.program, block)]
    share_arguments(branches)
    append_cond(unique_name.generate("cond"), condition, branches, [])
    return block.ops[-1]


_DETAILS: dict[str, Any] = {"sub_block": Block}
declare(
    "while",
    "X?* Condition* -> Out* StepScopes~",
    _while,
    of_block=True,
    **_DETAILS,
    is_test=False,
)
declare(
    "conditional_block",
    "Cond* Input?* -> Out* Scope~",
    _conditional,
    of_block=True,
    **_DETAILS,
    is_scalar_condition=False,
)
