"""What callbacks are told of an operator, as the reference spells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograd_engine.program.ir.program import Operator

__all__ = ["OpDesc"]


class OpDesc:
    """A read-only view of an operator: what callbacks find as ``context["__current_op_desc__"]``.

    It says what holds when it is asked.
    """

    __slots__ = ("_operator",)

    def __init__(self, operator: Operator) -> None:
        self._operator = operator

    def type(self) -> str:
        """Name of the operation, or ``<operation>_grad``."""
        return self._operator.type

    def input_names(self) -> list[str]:
        """Names of the inputs, not of the variables that are there."""
        return list(self._operator.inputs)

    def output_names(self) -> list[str]:
        """Names of the outputs, not of the variables that are there."""
        return list(self._operator.outputs)

    def input(self, name: str) -> list[str]:
        """Names of the variables of an input; none where it has none."""
        return self._operator.input(name)

    def output(self, name: str) -> list[str]:
        """Names of the variables of an output; none where it has none."""
        return self._operator.output(name)

    def input_arg_names(self) -> list[str]:
        """Names of the variables that it reads, each once."""
        return self._operator.input_arg_names

    def output_arg_names(self) -> list[str]:
        """Names of the variables that it writes."""
        return self._operator.output_arg_names

    def attr_names(self) -> list[str]:
        """Names of all attributes."""
        return self._operator.attr_names

    def has_attr(self, name: str) -> bool:
        """Whether there is an attribute of that name."""
        return self._operator.has_attr(name)

    def attr(self, name: str) -> Any:
        """The value of an attribute; a KeyError that lists the known ones where there is none."""
        return self._operator.attr(name)

    def __repr__(self) -> str:
        return repr(self._operator)
