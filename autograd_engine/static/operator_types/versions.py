"""Which version of a variable operators read and write where they stand.

The reference runs operators one after the other on variables by name. Here operands name versions,
so what changes an order, or takes a write away, says which versions others read from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_engine.errors import BuildError
from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.program import Block, Operator, Ref, Variable

__all__ = [
    "forget_write",
    "gradients_forgotten",
    "is_made",
    "is_open",
    "put_in_place",
    "version_at",
    "written_between",
]


def version_at(block: Block, var: Variable, index: int) -> int:
    """Which version of `var` the operator at `index` finds."""
    for operator in reversed(block.ops[:index]):
        for ref in operator.results:
            if ref.var is var:
                return ref.version
    return 0


def is_open(block: Block) -> bool:
    """Whether operators may be added to a block: the first one, or one that is being built."""
    return block.idx == 0 or any(b is block for b in block.program._open)


def is_made(block: Block, ref: Ref, index: int) -> bool:
    """Whether a value is there when the operator at `index` runs."""
    var = ref.var
    if ref.version == 0 and (var.persistable or var.is_data or var.declared):
        return True
    if any(a is var for a in block.arguments) and ref.version == 0:
        return True
    return any(r.key == ref.key for operator in block.ops[:index] for r in operator.results)


def _replace(block: Block, change: Callable[[Operator | None, Ref], Ref]) -> None:
    """Have each value that the block reads or writes be what `change` makes of it."""

    def of(operator: Operator | None, ref: Any) -> Any:
        return change(operator, ref) if isinstance(ref, Ref) else ref

    for operator in block.ops:
        operator.operands = tuple([of(operator, o) for o in operator.operands])
        operator.results = tuple([of(operator, r) for r in operator.results])
        for inner in inner_blocks(operator):
            inner.captured = {
                of(operator, Ref(block.vars[name], n)).key: argument
                for (name, n), argument in inner.captured.items()
            }
    block.results[:] = [of(None, r) for r in block.results]


def gradients_forgotten(block: Block) -> None:
    """What is remembered of gradients was of other operators."""
    block.emitted.clear()
    block.program.changed()


def put_in_place(operator: Operator, index: int) -> None:
    """Move the operator that was appended last to `index`, before those that are there."""
    block = operator.block
    count = len(block.ops) - 1
    if isinstance(index, bool) or not isinstance(index, int) or not -count <= index <= count:
        raise BuildError(
            f"_insert_op: index must be an int from {-count} to {count}, the number of operators "
            f"of the block; got {index!r}"
        )
    index += count if index < 0 else 0
    if index == count:
        return
    block.ops.pop()
    operands: list[Any] = []
    for o in operator.operands:
        found = Ref(o.var, version_at(block, o.var, index)) if isinstance(o, Ref) else o
        if isinstance(found, Ref) and not is_made(block, found, index):
            raise BuildError(
                f"_insert_op: {operator.type} at {index} would read {found.var.name}, which an "
                "operator further on makes; insert it behind that"
            )
        operands.append(found)
    for inner in inner_blocks(operator):
        inner.captured = {
            (name, version_at(block, block.vars[name], index)): argument
            for (name, _), argument in inner.captured.items()
        }
    results = []
    for ref in operator.results:
        if ref.version:
            results.append(written_between(block, ref.var, index))
        else:
            results.append(ref)
    operator.operands, operator.results = tuple(operands), tuple(results)
    block.ops.insert(index, operator)
    gradients_forgotten(block)


def written_between(block: Block, var: Variable, index: int) -> Ref:
    """A version of `var` that is written at `index`; those after it follow."""
    before = version_at(block, var, index)
    last = before + 1
    later = {id(o) for o in block.ops[index:]}

    def change(operator: Operator | None, ref: Ref) -> Ref:
        if ref.var is not var or ref.version < before:
            return ref
        if ref.version > before:
            return Ref(var, ref.version + 1)
        reads_later = operator is None or id(operator) in later
        return Ref(var, last) if reads_later else ref

    # What the operators before it write is none of those that follow.
    _replace(block, change)
    return Ref(var, last)


def forget_write(block: Block, gone: Ref) -> None:
    """Let a version be as if it had never been written."""
    var, version = gone
    if version == 0:
        if not var.persistable and not var.is_data:
            var.declared = True
        return

    def change(operator: Operator | None, ref: Ref) -> Ref:
        if ref.var is var and ref.version >= version:
            return Ref(var, ref.version - 1)
        return ref

    _replace(block, change)
    var.version -= 1
    # By identity: == on Variables would append an operator.
    del block.written[next(k for k, v in enumerate(block.written) if v is var)]
