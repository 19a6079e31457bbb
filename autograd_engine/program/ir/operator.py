"""Operators: the steps of a block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from autograd_engine.core.above import above
from autograd_engine.core.locations import Location
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.op_desc import Described
from autograd_engine.program.ir.op_role import placement
from autograd_engine.program.ir.variable import OperandRef, Ref, Variable

if TYPE_CHECKING:
    from autograd_engine.program.ir.block import Block

__all__ = ["Operator"]


class Operator(Described):
    """One step of a block.

    Attributes
    ----------
    type : str
        Name of the operation, or ``<operation>_grad``.
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
    number : int
        Counts the operators of all programs, in the order in which they were made.
    """

    __slots__ = (
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
        self.op_namescope = placement.namescope
        self.op_device = placement.device
        Operator.made += 1
        self.number = Operator.made

    @property
    def type(self) -> str:
        return self.op.name

    @property
    def inputs(self) -> dict[str, list[Variable]]:
        """Variables by input name; a literal operand is shown among the attributes instead."""
        slots: dict[str, list[Variable]] = {}
        for k, operand in enumerate(self.operands):
            variables = slots.setdefault(self.op.input_at(k), [])
            # By identity: == on Variables would append an operator.
            if isinstance(operand, Ref) and all(v is not operand.var for v in variables):
                variables.append(operand.var)
        return slots

    @property
    def outputs(self) -> dict[str, list[Variable]]:
        slots: dict[str, list[Variable]] = {}
        for k, ref in enumerate(self.results):
            slots.setdefault(self.op.output_at(k), []).append(ref.var)
        return slots

    def input_names(self) -> list[str]:
        return list(dict.fromkeys(o.var.name for o in self.operands if isinstance(o, Ref)))

    def output_names(self) -> list[str]:
        return [ref.var.name for ref in self.results]

    def __repr__(self) -> str:
        found: str = above.operator_text(self)
        return found
