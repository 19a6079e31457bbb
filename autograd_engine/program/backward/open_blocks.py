"""Gradients that are asked for inside a branch or a loop, while it is built.

There, what is outside is an argument. A gradient by something outside flows through what the block
itself computes to its arguments, and from these on through what was computed outside. All operators
of it go into the block: they run when the branch does, in each iteration of the loop.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from autograd_engine.core.locations import Location, caller
from autograd_engine.errors import BuildError
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.program.backward.dataflow import keys_of, needed_keys
from autograd_engine.program.control_flow.block_function import through_iterations
from autograd_engine.program.ir.block import unused_name
from autograd_engine.program.ir.program import Block, Key, Operator, Ref, Variable

__all__ = [
    "check_iterations",
    "check_open",
    "check_targets",
    "enclosing",
    "restored_outwards",
    "seen_inside",
    "wanted_keys",
]

_ASSIGN = REGISTRY["assign"]


def enclosing(block: Block) -> Block | None:
    """The block around."""
    return block.program.blocks[block.parent_idx] if block.parent_idx >= 0 else None


def check_open(where: str, var: Variable, block: Block | None = None) -> None:
    """A BuildError for a Variable that `block` cannot read, by default the one that is built.

    It is of a branch or loop that is finished: nothing can follow there.
    """
    around: Block | None = var.block.program.current_block() if block is None else block
    while around is not None and around is not var.block:
        around = enclosing(around)
    if around is None:
        raise BuildError(
            f"{where}: {var.name} is known inside its branch or loop only (block {var.block.idx}): "
            "return it from the function that makes it, and use what cond or while_loop returns"
        )


def check_targets(where: str, targets: Sequence[Ref]) -> None:
    """Refuse targets of different blocks: no walk back meets them both."""
    for ref in targets:
        if ref.var.block is not targets[0].var.block:
            raise BuildError(
                f"{where}: {targets[0].var.name} and {ref.var.name} are in different blocks, one "
                "inside the other; ask for the gradients of each by itself"
            )


def wanted_keys(block: Block, sources: Sequence[Variable], no_grad: set[str]) -> set[Key]:
    """The values of a block that gradients are asked by: sources, and arguments they influence."""
    keys = keys_of([v for v in sources if v.block is block], no_grad)
    parent = enclosing(block)
    if parent is not None:
        outside = needed_keys(parent, wanted_keys(parent, sources, no_grad), no_grad)
        keys |= keys_of(
            [a for key, a in block.captured.items() if key in outside and not a.stop_gradient],
            no_grad,
        )
    return keys


def check_iterations(
    block: Block,
    targets: Sequence[Ref],
    sources: Sequence[Variable],
    no_grad: set[str],
) -> None:
    """Refuse gradients that would have to flow through the iterations before.

    What a loop carries is a value of the iteration here, and where it comes from is not known.
    """
    parent = enclosing(block)
    while parent is not None:
        if block.entering:
            outside = needed_keys(parent, wanted_keys(parent, sources, no_grad), no_grad)
            for name, first in block.entering.items():
                if first.key not in outside:
                    continue
                through = needed_keys(block, keys_of([block.vars[name]], no_grad), no_grad)
                if any(ref.key in through for ref in targets):
                    raise through_iterations(caller(), name)
        inner, block, parent = block, parent, enclosing(parent)
        targets = [Ref(block.vars[name], version) for name, version in inner.captured]


@contextlib.contextmanager
def restored_outwards(block: Block) -> Iterator[None]:
    """Inside the ``with`` block an exception undoes what was done to a block and those around."""
    with contextlib.ExitStack() as stack:
        around: Block | None = block
        while around is not None:
            stack.enter_context(around.restored_on_error())
            around = enclosing(around)
        yield


def seen_inside(ref: Ref, block: Block, location: Location) -> Ref:
    """What stands in `block` for a value of it, or of a block around."""
    if ref.var.block is block:
        return ref
    parent = enclosing(block)
    assert parent is not None
    outer = seen_inside(ref, parent, location)
    if block.repeated:
        outer = _kept(outer, location)
    return Ref(block.argument_for(outer), 0)


def _kept(ref: Ref, location: Location) -> Ref:
    """A copy of what a gradient reads from before a loop, which may go on to write the variable."""
    block, key = ref.var.block, ("kept", ref.key)
    if ref.var.is_stack:  # which nobody writes
        return ref
    found: Variable | None = block.emitted.get(key)
    if found is None:
        name = unused_name(block, f"{ref.var.name}@BEFORE")
        found = Variable(block, name, ref.spec, stop_gradient=ref.var.stop_gradient)
        block.add_var(found)
        made = (Ref(found, 0),)
        block.append(Operator(block, _ASSIGN, (ref,), made, {}, location, "backward"))
        block.emitted[key] = found
    return Ref(found, 0)
