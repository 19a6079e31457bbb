"""Appending what was planned, with the callbacks of whoever wants to see each operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from autograd_engine.program.backward.walk import BackwardPlan
from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.op_desc import OpDesc
from autograd_engine.program.ir.program import Block, Operator

__all__ = ["Callback", "commit"]

Callback: TypeAlias = Callable[..., Any]


def commit(plan: BackwardPlan, callbacks: Sequence[Callback] = ()) -> None:
    """Append what was planned; `callbacks` run after each gradient operator."""
    block, draft = plan.into, plan.draft
    context = plan.context()
    block.emitted.update(draft.emitted)
    for operator in draft.seeds:
        _append(block, operator)
    for operator in draft.operators:
        _append(block, operator)
        if callbacks:
            _call_inside(plan, operator, callbacks)
            _call(callbacks, block, context, operator)


def _append(block: Block, operator: Operator) -> None:
    for ref in operator.results:
        if ref.var.name not in block.vars:
            block.add_var(ref.var)
    block.append(operator)


def _call_inside(plan: BackwardPlan, operator: Operator, callbacks: Sequence[Callback]) -> None:
    for block in inner_blocks(operator):
        for inner in block.ops:
            _call_inside(plan, inner, callbacks)
            _call(callbacks, block, plan.contexts.get(block, {}), inner)


def _call(
    callbacks: Sequence[Callback], block: Block, context: dict[str, Any], operator: Operator
) -> None:
    context["__current_op_desc__"] = OpDesc(operator)
    for callback in callbacks:
        callback(block=block, context=context)
