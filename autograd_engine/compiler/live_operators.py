"""Which operators of a block a run needs for what is asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import Block, Operator, Ref

__all__ = ["always_runs", "arguments_read", "carried_for", "live_operators"]


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


def carried_for(operator: Operator, asked: set[int], pushed: Sequence[Ref]) -> list[int]:
    """Positions of what has to be carried for the results that are asked for."""
    body: Block = operator.attrs["body_block"]
    n = operator.attrs["carried"]
    kept = set(asked)
    if "cond_block" in operator.attrs:
        block: Block = operator.attrs["cond_block"]
        kept |= arguments_read(block, block.results, n)
    while True:
        outputs = [*(body.results[k] for k in sorted(kept)), *pushed]
        found = arguments_read(body, outputs, n)
        if found <= kept:
            return sorted(kept)
        kept |= found


def arguments_read(block: Block, outputs: Sequence[Ref], n: int | None = None) -> set[int]:
    """Positions of the arguments, of the first `n` of them, that these outputs depend on."""
    live = live_operators(block.ops, outputs)
    read = {o.key for operator in live for o in operator.operands if isinstance(o, Ref)}
    read |= {ref.key for ref in outputs}
    return {k for k, a in enumerate(block.arguments[:n]) if (a.name, 0) in read}
