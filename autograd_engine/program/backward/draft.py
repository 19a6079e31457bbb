"""Operators of a backward half while they are planned: nothing of it is in the program yet.

What exists is not made again: every value is remembered under what it computes. Asking again for
one that the program holds, or that is planned already, returns it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from autograd_engine.core.locations import Location
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import Block, OperandRef, Operator, Ref, Variable

__all__ = ["Draft"]


class Draft:
    """What is going to be appended to the block `into`.

    Attributes
    ----------
    seeds : list of Operator
        What makes the first cotangents; they come before `operators`.
    operators : list of Operator
    variables : dict of str to Variable
    emitted : dict of Hashable to Variable
        Planned values, by what they compute.
    """

    def __init__(self, into: Block, location: Location) -> None:
        self.into = into
        self.location = location
        self.seeds: list[Operator] = []
        self.operators: list[Operator] = []
        self.variables: dict[str, Variable] = {}
        self.emitted: dict[Hashable, Variable] = {}
        self._taken: set[str] = set()

    def existing(self, key: Hashable) -> Variable | None:
        """What is known to compute `key`, planned or in the block."""
        found = self.emitted.get(key)
        return self.into.emitted.get(key) if found is None else found

    def number(self, key: Hashable) -> int:
        """A number that the block keeps for `key`, where that is long and asked for often."""
        emitted = self.into.emitted
        found: int = emitted.setdefault(key, len(emitted))
        return found

    def unused(self, candidates: Iterable[str]) -> str:
        """The first of these names that nothing has; it is taken from now on."""
        name = next(n for n in candidates if n not in self.into.vars and n not in self._taken)
        self._taken.add(name)
        return name

    def variable(self, name: str, like: Ref) -> Variable:
        """A variable of the block, of the shape and dtype of `like`."""
        var = Variable(self.into, name, like.var.spec)
        var.is_stack = like.var.is_stack
        self.variables[name] = var
        return var

    def append(
        self,
        op: OpDef | BlockOp,
        operands: tuple[OperandRef, ...],
        result: Variable,
        attrs: dict[str, Any],
        *,
        seed: bool = False,
    ) -> None:
        """Plan an operator that the walk itself needs, at the line of the call that walks."""
        operator = Operator(
            self.into, op, operands, (Ref(result, 0),), attrs, self.location, "backward"
        )
        (self.seeds if seed else self.operators).append(operator)
