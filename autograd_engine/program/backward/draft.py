"""Operators of a backward half while they are planned: nothing of it is in the program yet.

What exists is not made again: every value is remembered under what it computes. Asking again for
one that the program holds, or that is planned already, returns it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from autograd_engine.core.dtypes import FLOAT32
from autograd_engine.core.locations import Location
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.op_role import pass_on
from autograd_engine.program.ir.program import Block, OperandRef, Operator, Ref, Variable

__all__ = ["Draft"]


class Draft:
    """What is going to be appended to the block `into`, and computes gradients of the block `of`.

    Names of values are those of `of`. In another block they may stand for others, so what is
    remembered there says which block it is about.
    """

    def __init__(self, into: Block, location: Location, of: Block) -> None:
        self.into = into
        self._about = None if of is into else of.idx
        self.location = location
        self.seeds: list[Operator] = []  # what makes the first cotangents, before `operators`
        self.operators: list[Operator] = []
        self.variables: dict[str, Variable] = {}
        self.emitted: dict[Hashable, Variable] = {}  # planned values, by what they compute
        self._taken: set[str] = set()

    def existing(self, key: Hashable) -> Variable | None:
        """What is known to compute `key`, planned or in the block."""
        if self._about is not None:
            key = "of", self._about, key
        found = self.emitted.get(key)
        return self.into.emitted.get(key) if found is None else found

    def remember(self, key: Hashable, value: Variable) -> None:
        """From now on `value` is known to compute `key`."""
        self.emitted[key if self._about is None else ("of", self._about, key)] = value

    def number(self, key: Hashable) -> int:
        """A number that the block keeps for `key`, where that is long and asked for often."""
        if self._about is not None:
            key = "of", self._about, key
        emitted = self.into.emitted
        found: int = emitted.setdefault(key, len(emitted))
        return found

    def unused(self, candidates: Iterable[str]) -> str:
        """The first of these names that nothing has; it is taken from now on."""
        for name in candidates:
            if name not in self.into.vars and name not in self._taken:
                break
        self._taken.add(name)
        return name

    def variable(self, name: str, like: Ref, *, wide: bool = False) -> Variable:
        """A variable of the block, of the shape and dtype of `like`; with `wide`, of float32."""
        spec = like.var.spec
        var = Variable(self.into, name, Spec(spec.shape, FLOAT32) if wide else spec)
        var.is_stack = like.var.is_stack
        self.variables[name] = var
        return var

    def follow(
        self,
        operator: Operator,
        op: GradOp | BlockOp,
        operands: Sequence[OperandRef],
        results: Sequence[Variable],
        attrs: dict[str, Any],
    ) -> None:
        """Plan an operator that computes gradients of another, whose line and marks it has."""
        made = tuple([Ref(v, 0) for v in results])
        gradient = Operator(
            self.into, op, tuple(operands), made, attrs, operator.location, "backward"
        )
        self.operators.append(gradient)
        pass_on(operator, [gradient])

    def once(
        self,
        key: Hashable,
        variable: Callable[[], Variable],
        op: OpDef | BlockOp,
        operands: tuple[OperandRef, ...],
        attrs: dict[str, Any],
        *,
        seed: bool = False,
    ) -> Variable:
        """What is known to compute `key`; where there is none, the result of a planned operator.

        The walk itself needs it, so it is at the line of the call that walks.
        """
        found = self.existing(key)
        if found is None:
            found = variable()
            self.remember(key, found)
            operator = Operator(
                self.into, op, operands, (Ref(found, 0),), attrs, self.location, "backward"
            )
            (self.seeds if seed else self.operators).append(operator)
        return found
