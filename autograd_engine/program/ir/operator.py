"""Operators: the steps of a block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from autograd_engine.core.above import above
from autograd_engine.core.locations import Location
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.ir.appended import Appended
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.op_role import LOSS, ROLES, device, namescope, role_variables
from autograd_engine.program.ir.variable import OperandRef, Ref, Variable

if TYPE_CHECKING:
    from autograd_engine.program.ir.block import Block

__all__ = ["Operator"]


class Operator:
    """One step of a block.

    Attributes
    ----------
    type : str
        Name of the operation, or ``<operation>_grad``; what `Block.append_op` was given.
    op : OpDef, GradOp or BlockOp
    operands : tuple
        A Ref, a Literal, or (for a gradient operator, where no cotangent arrives) None.
    results : tuple of Ref
    attrs : dict
    role : {"forward", "backward", "optimize", "lr_sched"}
    of_loss : bool
        It computes what gradients start from, or the cotangent there.
    trains : tuple of (str, str)
        Parameters, each with the gradient of it that this operator writes.
    op_namescope, op_device : str
        See `name_scope` and `device_guard`.
    location : Location
        The user's line.
    appended : Appended or None
        How `Block.append_op` was asked for it.
    number : int
        Counts the operators of all programs, in the order in which they were made.
    """

    __slots__ = (
        "appended",
        "attrs",
        "block",
        "location",
        "number",
        "of_loss",
        "op",
        "op_device",
        "op_namescope",
        "operands",
        "results",
        "role",
        "trains",
    )
    made: ClassVar[int] = 0

    def __init__(
        self,
        block: Block,
        op: OpDef | GradOp | BlockOp,
        operands: tuple[OperandRef, ...],
        results: tuple[Ref, ...],
        attrs: dict[str, Any],
        location: Location,
        role: str,
    ) -> None:
        self.block = block
        self.op = op
        self.operands = operands
        self.results = results
        self.attrs = attrs
        self.location = location
        self.role = role
        self.of_loss = False
        self.trains: tuple[tuple[str, str], ...] = ()
        self.appended: Appended | None = None
        self.op_namescope = namescope.get()
        self.op_device = device.get()
        Operator.made += 1
        self.number = Operator.made

    @property
    def type(self) -> str:
        return self.op.name if self.appended is None else self.appended.type

    @property
    def inputs(self) -> dict[str, list[Variable]]:
        """Variables by input name; a literal operand is shown among the attributes instead."""
        if self.appended is not None:
            return self.appended.variables_read(self)
        slots: dict[str, list[Variable]] = {}
        for k, operand in enumerate(self.operands):
            variables = slots.setdefault(self.op.input_at(k), [])
            # By identity: == on Variables would append an operator.
            if isinstance(operand, Ref) and all(v is not operand.var for v in variables):
                variables.append(operand.var)
        return slots

    @property
    def outputs(self) -> dict[str, list[Variable]]:
        if self.appended is not None:
            return self.appended.variables_written(self)
        slots: dict[str, list[Variable]] = {}
        for k, ref in enumerate(self.results):
            slots.setdefault(self.op.output_at(k), []).append(ref.var)
        return slots

    # --- by the names of inputs, outputs and attributes, as the reference spells it

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs, not of the variables that are there."""
        return list(self.inputs)

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs, not of the variables that are there."""
        return list(self.outputs)

    def input(self, name: str) -> list[str]:
        """Names of the variables of an input; none where it has none."""
        return [v.name for v in self.inputs.get(name, ())]

    def output(self, name: str) -> list[str]:
        """Names of the variables of an output; none where it has none."""
        return [v.name for v in self.outputs.get(name, ())]

    @property
    def input_arg_names(self) -> list[str]:
        """Names of the variables that it reads, each once."""
        return list(dict.fromkeys(o.var.name for o in self.operands if isinstance(o, Ref)))

    @property
    def output_arg_names(self) -> list[str]:
        """Names of the variables that it writes."""
        return [ref.var.name for ref in self.results]

    def all_attrs(self) -> dict[str, Any]:
        """All attributes by name."""
        found: dict[str, Any] = above.operator_attributes(self)
        return found

    @property
    def attr_names(self) -> list[str]:
        """Names of all attributes."""
        return list(self.all_attrs())

    def has_attr(self, name: str) -> bool:
        """Whether there is an attribute of that name."""
        return name in self.all_attrs()

    def attr(self, name: str) -> Any:
        """The value of an attribute; a KeyError that lists the known ones where there is none."""
        attrs = self.all_attrs()
        if name not in attrs:
            known = ", ".join(sorted(attrs))
            raise KeyError(f"{self.type} has no attribute {name!r}; it has {known}")
        return attrs[name]

    def attr_type(self, name: str) -> Any:
        """The Python type of an attribute."""
        return type(self.attr(name))

    def set_attr(self, name: str, value: Any) -> None:
        """Set an attribute; what the operator computes from here on is of the same shape.

        Raises
        ------
        KeyError
            Where there is no attribute of that name.
        ArgumentError, BuildError
        """
        above.set_attr(self, name, value)

    _set_attr = set_attr

    def _rename_input(self, old_name: str, new_name: str) -> None:
        """Let it read another variable of its block."""
        above.rename_input(self, old_name, new_name)

    def _rename_output(self, old_name: str, new_name: str) -> None:
        """Let it write another variable of its block."""
        above.rename_output(self, old_name, new_name)

    @property
    def idx(self) -> int:
        """Its place in the block."""
        return next(k for k, operator in enumerate(self.block.ops) if operator is self)

    @property
    def op_role(self) -> int:
        """The role as a number: forward 0, backward 1, optimize 2, lr_sched 16, of a loss + 256."""
        return ROLES[self.role] + (LOSS if self.of_loss else 0)

    @property
    def op_role_var(self) -> list[str]:
        """Each parameter with its gradient, where this operator writes or takes it."""
        return role_variables(self)

    def to_string(self, throw_on_error: bool = True) -> str:
        """What ``print`` shows."""
        return repr(self)

    def __repr__(self) -> str:
        found: str = above.operator_text(self)
        return found
