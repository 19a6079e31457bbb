"""Which operators of a block a run needs for what is asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import Operator, Ref

__all__ = ["always_runs", "live_operators"]


def live_operators(operators: Sequence[Operator], outputs: Iterable[Ref]) -> list[Operator]:
    """Operators that `outputs` depend on; those that draw random numbers stay, for the stream."""
    wanted = {r.key for r in outputs}
    live = []
    for operator in reversed(operators):
        keeps = always_runs(operator)
        if keeps or any(r.key in wanted for r in operator.results):
            live.append(operator)
            wanted.update(o.key for o in operator.operands if isinstance(o, Ref))
    return live[::-1]


def always_runs(operator: Operator) -> bool:
    """Whether it runs even where nothing asks for its results."""
    if isinstance(operator.op, BlockOp):
        return any(always_runs(inner) for b in inner_blocks(operator) for inner in b.ops)
    return operator.op.runs_always
