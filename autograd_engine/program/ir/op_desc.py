"""Operators by names, as the reference spells what it says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_engine.core.above import above
from autograd_engine.program.ir.op_role import LOSS, ROLES, role_variables

if TYPE_CHECKING:
    from autograd_engine.program.ir.program import Operator

__all__ = ["Described", "OpDesc"]


class Described:
    """What can be asked of an `Operator` by the names of its inputs, outputs and attributes.

    Attributes are those of the operation, operands that are numbers, and what the operator is for:
    ``op_role``, ``op_role_var``, ``op_namescope`` and ``op_device``.
    """

    __slots__ = ()

    def input(self: Operator, name: str) -> list[str]:  # type: ignore[misc]
        """Names of the variables of an input; none where it has none."""
        return [v.name for v in self.inputs.get(name, ())]

    def output(self: Operator, name: str) -> list[str]:  # type: ignore[misc]
        """Names of the variables of an output; none where it has none."""
        return [v.name for v in self.outputs.get(name, ())]

    @property
    def input_arg_names(self: Operator) -> list[str]:  # type: ignore[misc]
        """Names of the variables that it reads, each once."""
        return self.input_names()

    @property
    def output_arg_names(self: Operator) -> list[str]:  # type: ignore[misc]
        """Names of the variables that it writes."""
        return self.output_names()

    def all_attrs(self: Operator) -> dict[str, Any]:  # type: ignore[misc]
        """All attributes by name."""
        found: dict[str, Any] = above.operator_attributes(self)
        return found

    @property
    def attr_names(self: Operator) -> list[str]:  # type: ignore[misc]
        """Names of all attributes."""
        return list(self.all_attrs())

    def has_attr(self: Operator, name: str) -> bool:  # type: ignore[misc]
        """Whether there is an attribute of that name."""
        return name in self.all_attrs()

    def attr(self: Operator, name: str) -> Any:  # type: ignore[misc]
        """The value of an attribute; a KeyError that lists the known ones where there is none."""
        attrs = self.all_attrs()
        if name not in attrs:
            known = ", ".join(sorted(attrs))
            raise KeyError(f"{self.type} has no attribute {name!r}; it has {known}")
        return attrs[name]

    @property
    def op_role(self: Operator) -> int:  # type: ignore[misc]
        """The role as a number: forward 0, backward 1, optimize 2, lr_sched 16, of a loss + 256."""
        return ROLES[self.role] + (LOSS if self.of_loss else 0)

    @property
    def op_role_var(self: Operator) -> list[str]:  # type: ignore[misc]
        """Each parameter with its gradient, where this operator writes or takes it."""
        return role_variables(self)


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
