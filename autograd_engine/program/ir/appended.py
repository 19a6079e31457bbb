"""How `Block.append_op` was asked for an operator: in the words of the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from autograd_engine.program.ir.operator import Operator
    from autograd_engine.program.ir.variable import Variable

__all__ = ["Appended", "Slots"]

Slots: TypeAlias = tuple[tuple[str, tuple[int | str, ...]], ...]


class Appended(NamedTuple):
    """The type, slots and attributes of an operator, where they are not those of its operation.

    Slots name operands and results by position, so that a copy of the operator has the same ones.

    Attributes
    ----------
    type : str
    inputs, outputs : tuple of (str, tuple of int or str)
        Positions by slot. An output that nothing computes stands there by its name.
    attrs : dict
        All attributes of the type.
    """

    type: str
    inputs: Slots
    outputs: Slots
    attrs: Mapping[str, Any]

    def with_name(self, old: str, new: str) -> Appended:
        """With another name for a variable that nothing computes."""
        outputs = tuple(
            [(s, tuple([new if k == old else k for k in at])) for s, at in self.outputs]
        )
        return self._replace(outputs=outputs)

    def variables_read(self, operator: Operator) -> dict[str, list[Variable]]:
        """Variables by input slot."""
        operands: Any = operator.operands
        return {slot: [operands[k].var for k in at] for slot, at in self.inputs}

    def variables_written(self, operator: Operator) -> dict[str, list[Variable]]:
        """Variables by output slot."""
        own, results = operator.block.vars, operator.results
        return {
            slot: [own[k] if isinstance(k, str) else results[k].var for k in at]
            for slot, at in self.outputs
        }
