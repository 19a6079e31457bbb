"""Gradients that are asked for inside a branch or a loop, while it is built.

There, what is outside is an argument, so a gradient by it flows through what the block itself
computes. Where it would also have to flow outside, it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograd_engine.errors import BuildError
from autograd_engine.program.backward.dataflow import keys_of, needed_keys
from autograd_engine.program.ir.program import Block, Key, Ref, Variable

__all__ = ["check_inside", "check_open", "stands_for"]


def check_open(where: str, var: Variable) -> None:
    """A BuildError for a Variable of a branch or loop that is built: nothing can follow there."""
    stands_for(where, var.block.program.current_block(), var)


def stands_for(where: str, block: Block, var: Variable) -> Variable | None:
    """What is `var` in `block`: itself, an argument, or None where the block does not read it."""
    if var.block is block:
        return var
    parent = _parent(block)
    if parent is None:
        raise BuildError(
            f"{where}: {var.name} is known inside its branch or loop only (block {var.block.idx}): "
            "return it from the function that makes it, and use what cond or while_loop returns"
        )
    outer = stands_for(where, parent, var)
    if outer is None:
        return None
    keys = [(outer.name, version) for version in range(outer.version, -1, -1)]
    return next((block.captured[key] for key in keys if key in block.captured), None)


def check_inside(
    where: str, targets: Sequence[Ref], sources: Sequence[Variable], no_grad: set[str]
) -> None:
    """Refuse gradients of which a part would have to flow outside of the block of `targets`."""
    block = targets[0].var.block
    for ref in targets:
        if ref.var.block is not block:
            raise BuildError(
                f"{where}: {targets[0].var.name} and {ref.var.name} are in different blocks, one "
                "inside the other; ask for the gradients of each by itself"
            )
    parent = _parent(block)
    if parent is None:
        return
    outside = _reach(parent, sources, no_grad)
    asked = {id(stands_for(where, block, v)) for v in sources}
    for key, argument in block.captured.items():
        if key not in outside or id(argument) in asked or argument.name in no_grad:
            continue
        through = needed_keys(block, keys_of([argument], no_grad), no_grad)
        if any(ref.key in through for ref in targets):
            raise BuildError(
                f"{where}: inside a branch or a loop, {targets[0].var.name} depends on what is "
                f"asked for through {key[0]}, which is computed outside: take the gradient there, "
                f"of what cond or while_loop returns; or by {key[0]}, or put it into no_grad_set"
            )


def _reach(block: Block, sources: Sequence[Variable], no_grad: set[str]) -> set[Key]:
    """Values of a block that `sources` influence, in it or further out."""
    keys = keys_of([v for v in sources if v.block is block], no_grad)
    parent = _parent(block)
    if parent is not None:
        outside = _reach(parent, sources, no_grad)
        keys |= {(arg.name, 0) for key, arg in block.captured.items() if key in outside}
    return needed_keys(block, keys, no_grad)


def _parent(block: Block) -> Block | None:
    return block.program.blocks[block.parent_idx] if block.parent_idx >= 0 else None
