"""Gradient operators: one for each forward operator that a backward pass crosses.

``tanh_grad`` is no operation of its own: its kernel is the pullback of ``tanh`` run on ndarrays.
Run with the namespace that emits, the same pullback writes its rule out as plain operators, and
that is what happens before a gradient operator is itself differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_engine.ops.registry.pullback import Pullback

__all__ = ["GradOp"]


_KINDS = {False: "", True: "_strong", "whole": "_guarded"}


class GradOp:
    """The pullback of an operation as something that a program can hold.

    The operands are what the pullback reads, then the cotangents of the outputs. A variadic
    input or output takes as many operands as there were.

    Parameters
    ----------
    pullback : Pullback
    counts : dict of str to int
        How many operands each variadic name stands for.
    """

    _made: ClassVar[dict[tuple[Pullback, tuple[tuple[str, int], ...]], GradOp]] = {}

    __slots__ = ("_layout", "counts", "inputs", "name", "outputs", "pullback")

    def __init__(self, pullback: Pullback, counts: dict[str, int]) -> None:
        op = pullback.op
        self.pullback = pullback
        self.counts = counts
        self.name = f"{op.name}{_KINDS[pullback.strong]}_grad"
        # (name, number of operands or None for exactly one)
        self._layout = [(name, counts.get(self._base(name))) for name in pullback.saved]
        self.inputs: tuple[str, ...] = tuple(
            self._base(name) for name, count in self._layout for _ in range(_width(count))
        )
        self.inputs += tuple(f"{o}@GRAD" for o in op.outputs for _ in range(counts.get(o, 1)))
        self.outputs = tuple(f"{op.input_at(k)}@GRAD" for k in pullback.wanted)

    @classmethod
    def of(cls, pullback: Pullback, counts: dict[str, int]) -> GradOp:
        """The one gradient operation of this kind."""
        key = (pullback, tuple(counts.items()))
        found = cls._made.get(key)
        if found is None:
            found = cls._made[key] = cls(pullback, counts)
        return found

    @property
    def effect(self) -> bool:
        """Whether its rules do something besides computing gradients."""
        return self.pullback.op.effect

    runs_always = effect

    def _base(self, name: str) -> str:
        op = self.pullback.op
        known = (*op.inputs, *op.outputs)
        return name if name in known else name.removesuffix("_like")

    def input_at(self, position: int) -> str:
        return self.inputs[position]

    def output_at(self, position: int) -> str:
        return self.outputs[position]

    def reads_value(self, position: int) -> bool:
        """False where the operand is asked only for its shape and dtype."""
        k = position
        for name, count in self._layout:
            if k < _width(count):
                return self._base(name) == name
            k -= _width(count)
        return True

    def arrange(self, operands: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """(g, saved) as the pullback takes them, from flat operands."""
        rest = iter(operands)
        saved = tuple(
            next(rest) if count is None else tuple(next(rest) for _ in range(count))
            for _, count in self._layout
        )
        cotangents = list(rest)
        return (cotangents if self.pullback.op.multiple else cotangents[0]), saved


def _width(count: int | None) -> int:
    """How many operands a name takes; a variadic one may take none."""
    return 1 if count is None else count
