"""The description of an operator that callbacks receive as ``context["__current_op_desc__"]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograd_engine.static.program import Operator

__all__ = ["OpDesc"]


class OpDesc:
    """A read-only view of an operator, by names."""

    __slots__ = ("_operator",)

    def __init__(self, operator: Operator) -> None:
        self._operator = operator

    def type(self) -> str:
        return self._operator.type

    def input_names(self) -> list[str]:
        return list(self._operator.inputs)

    def output_names(self) -> list[str]:
        return list(self._operator.outputs)

    def input(self, name: str) -> list[str]:
        return [v.name for v in self._operator.inputs.get(name, [])]

    def output(self, name: str) -> list[str]:
        return [v.name for v in self._operator.outputs.get(name, [])]

    def input_arg_names(self) -> list[str]:
        return self._operator.input_names()

    def output_arg_names(self) -> list[str]:
        return self._operator.output_names()

    def attr_names(self) -> list[str]:
        return list(self._operator.attrs)

    def has_attr(self, name: str) -> bool:
        return name in self._operator.attrs

    def attr(self, name: str) -> Any:
        try:
            return self._operator.attrs[name]
        except KeyError:
            raise KeyError(
                f"{self.type()} has no attribute {name!r}; it has {self.attr_names()}"
            ) from None

    def __repr__(self) -> str:
        return repr(self._operator)
