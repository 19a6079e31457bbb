"""Operators with blocks inside: branches and loops."""

from __future__ import annotations

from typing import ClassVar

__all__ = ["BlockOp"]


class BlockOp:
    """What an operator does with the blocks among its attributes.

    Attributes
    ----------
    kind : {"cond", "while", "scan"}
    name : str
        The kind, or what it is the gradient of: ``while_grad`` is a scan.
    """

    _made: ClassVar[dict[tuple[str, str], BlockOp]] = {}

    __slots__ = ("inputs", "kind", "name", "outputs")

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind
        self.name = name
        self.inputs: tuple[str, ...] = ("Cond", "X") if kind == "cond" else ("X",)
        if kind == "scan":
            self.inputs = ("Trips", "X")
        self.outputs = ("Out",)

    @classmethod
    def of(cls, kind: str, name: str) -> BlockOp:
        """The one of this kind and name."""
        found = cls._made.get((kind, name))
        if found is None:
            found = cls._made[kind, name] = cls(kind, name)
        return found

    def __repr__(self) -> str:
        return f"<block op {self.name}>"

    def input_at(self, position: int) -> str:
        """Name of the input that the operand at `position` belongs to."""
        return self.inputs[min(position, len(self.inputs) - 1)]

    def output_at(self, position: int) -> str:
        return self.outputs[0]

    def reads_value(self, position: int) -> bool:
        """Whether the value of the operand is read, not only its shape."""
        return True
