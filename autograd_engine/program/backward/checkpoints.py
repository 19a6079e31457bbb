"""Checkpoints: values of the forward half that a backward half computes again, and not keeps.

Checkpoints cut the operators before the backward half into segments, by their place in the block.
A value is kept from the forward half if it is

- a checkpoint, or made by no operator (data, parameters),
- made behind the last checkpoint: the backward half begins with it, and would only do it twice,
- read in another segment than its own on the way to the loss, as by a connection that skips some,
- made by an operator that must not run twice: it draws random numbers, writes a variable that
  persists, or acts on the world outside; or by a branch or a loop, which may do so inside.

Any other value that a gradient operator reads is replaced by a copy, ``<name>.subprog_<segment>``.
Copies are computed by operators of the forward half on the same operands, so they have the same
bits, right before the first of them is read. What a copy takes is in its own segment or is kept;
so when the backward half has left a segment, nothing of it is alive.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence, Set
from typing import Any, Final

from autograd_engine.program.backward.walk import BackwardPlan
from autograd_engine.program.ir.block import leading_to
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.op_role import mark, pass_on
from autograd_engine.program.ir.program import (
    Block,
    Key,
    Operator,
    Ref,
    Variable,
)

__all__ = ["read_originals", "recompute"]

_COPY: Final = re.compile(r"(.+)\.subprog_\d+")


def recompute(plan: BackwardPlan, targets: Iterable[Ref], checkpoints: Set[str]) -> None:
    """Have the planned operators read copies of what is not kept, and plan what computes these.

    Gradients start at `targets`; `checkpoints` are the names of what is kept.
    """
    block, draft = plan.block, plan.draft
    segments = _Segments(block, targets, checkpoints)
    copies = _Copies(block, segments)
    out: list[Operator] = []
    for operator in draft.operators:
        read = [
            operand.key
            for k, operand in enumerate(operator.operands)
            if isinstance(operand, Ref)
            and operator.op.reads_value(k)
            and not segments.kept(operand.key)
        ]
        out += copies.of(read)
        operator.operands = tuple(
            copies.instead(o) if operator.op.reads_value(k) else o
            for k, o in enumerate(operator.operands)
        )
        out.append(operator)
    draft.operators = out


class _Segments:
    """Which operator makes each value, in which segment, and what is kept."""

    def __init__(self, block: Block, targets: Iterable[Ref], checkpoints: Set[str]) -> None:
        self.operators = block.ops
        self.maker: dict[Key, int] = {}
        self._checkpoints = checkpoints
        self._ends: list[int] = []
        for k, operator in enumerate(self.operators):
            for ref in operator.results:
                self.maker[ref.key] = k
            if not checkpoints.isdisjoint(operator.output_arg_names):
                self._ends.append(k)
        self._crossing = self._read_elsewhere(targets)

    def number(self, position: int) -> int:
        """The segment of an operator: it ends with the one that makes a checkpoint."""
        return bisect_left(self._ends, position)

    def kept(self, key: Key) -> bool:
        position = self.maker.get(key)
        return (
            position is None
            or key[0] in self._checkpoints
            or self.number(position) == len(self._ends)
            or key in self._crossing
            or runs_once(self.operators[position])
        )

    def _read_elsewhere(self, targets: Iterable[Ref]) -> set[Key]:
        """What operators that lead to `targets` read from other segments."""
        crossing: set[Key] = set()
        reached = {ref.key for ref in targets}
        for operator in leading_to(self.operators, reached):
            number = self.number(self.maker[operator.results[0].key])
            for position, operand in enumerate(operator.operands):
                if not isinstance(operand, Ref) or not operator.op.reads_value(position):
                    continue
                made = self.maker.get(operand.key)
                if made is not None and self.number(made) != number:
                    crossing.add(operand.key)
        return crossing


class _Copies:
    """Copies of values, and the operators that make them."""

    def __init__(self, block: Block, segments: _Segments) -> None:
        self.block = block
        self.segments = segments
        self._copies: dict[Key, Variable] = {}

    def instead(self, operand: Any) -> Any:
        """The copy of an operand, where it has one; else itself."""
        copy = self._copies.get(operand.key) if isinstance(operand, Ref) else None
        return operand if copy is None else Ref(copy, 0)

    def of(self, keys: Iterable[Key]) -> list[Operator]:
        """Operators that make the copies which are not there yet, in order."""
        segments = self.segments
        needed: set[int] = set()
        waiting = list(keys)
        while waiting:
            key = waiting.pop()
            if key in self._copies or segments.kept(key):
                continue
            position = segments.maker[key]
            if position in needed:
                continue
            needed.add(position)
            # An operand that is only asked for its shape may be gone: its Spec is left.
            operator = segments.operators[position]
            waiting += [
                operand.key
                for k, operand in enumerate(operator.operands)
                if isinstance(operand, Ref) and operator.op.reads_value(k)
            ]
        return [self._again(position) for position in sorted(needed)]

    def _again(self, position: int) -> Operator:
        operator = self.segments.operators[position]
        results = tuple(Ref(self._copy(ref, position), 0) for ref in operator.results)
        op = operator.op
        operands = tuple(
            self.instead(o) if op.reads_value(k) else o for k, o in enumerate(operator.operands)
        )
        again = Operator(
            self.block, op, operands, results, operator.attrs, operator.location, "backward"
        )
        pass_on(operator, [again])
        return again

    def _copy(self, ref: Ref, position: int) -> Variable:
        var, number = ref.var, self.segments.number(position)
        while (name := f"{var.name}.subprog_{number}") in self.block.vars:
            number += 1
        copy = Variable(self.block, name, var.spec, stop_gradient=var.stop_gradient)
        self._copies[ref.key] = copy
        return copy


def runs_once(operator: Operator) -> bool:
    """Whether running it again would draw other numbers, or do something a second time.

    A branch or a loop may do that inside, and hands out what its gradient reads of it.
    """
    op = operator.op
    return (
        isinstance(op, BlockOp)
        or op.runs_always
        or any(ref.version or ref.var.persistable for ref in operator.results)
    )


# --- differentiating what reads copies


def read_originals(block: Block, targets: Sequence[Ref]) -> None:
    """Let what leads to `targets` read what its copies are copies of.

    A copy is the value itself, computed again. For an operator that is to be differentiated it has
    to be that: what is asked of the value (a gradient, a cut) is meant of both, and cotangents of
    both are added up where the tape adds them up.
    """
    originals = _originals(block)
    if not originals:
        return
    reached = {ref.key for ref in targets}
    for operator in leading_to(block.ops, reached):
        if any(isinstance(o, Ref) and o.var.name in originals for o in operator.operands):
            read = (
                originals.get(o.var.name, o) if isinstance(o, Ref) else o for o in operator.operands
            )
            mark(operator, "operands", tuple(read))
            block.program.changed()


def _originals(block: Block) -> dict[str, Ref]:
    found = {}
    for operator in block.ops:
        if operator.role != "backward":
            continue
        for ref in operator.results:
            match = _COPY.fullmatch(ref.var.name) if ".subprog_" in ref.var.name else None
            original = None if match is None else block.vars.get(match[1])
            if original is not None and original.spec == ref.var.spec:
                found[ref.var.name] = Ref(original, 0)
    return found
