"""What part an operator plays in its program: its role, the scope of its name, its device.

The numbers are those of the reference, so that what reads programs by them goes on working.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from autograd_engine.core.overrides import Setting

if TYPE_CHECKING:
    from autograd_engine.program.ir.program import Operator, Program, Variable

__all__ = [
    "LOSS",
    "ROLES",
    "device",
    "mark",
    "mark_gradients",
    "mark_loss",
    "mark_seeds",
    "namescope",
    "pass_on",
    "role_variables",
    "scope_name",
]

ROLES: Final = {"forward": 0, "backward": 1, "optimize": 2, "lr_sched": 16}
LOSS: Final = 256  # added for the operator that computes a loss, and for its first cotangent


# What the operators that are made are marked with.
namescope: Final = Setting("autograd_engine.name_scope", "/")
device: Final = Setting("autograd_engine.device_guard", "")


def scope_name(program: Program, outer: str, prefix: str) -> str:
    """``/outer/prefix/``, with a number where the program has that already."""
    full = f"{outer}{prefix}"
    uses = program.name_scopes
    before = uses.get(full, -1)
    count = uses[full] = before + 1
    program.undoing.append(lambda: uses.__setitem__(full, before))
    return f"{full}_{count}/" if count else f"{full}/"


# --- marks that a backward half leaves


def mark_loss(loss: Variable) -> None:
    """The operator that computes `loss` is of a loss."""
    key = loss.name, loss.version
    for operator in reversed(loss.block.ops):
        if any(ref.key == key for ref in operator.results):
            mark(operator, "of_loss", True)
            return


def mark_seeds(operators: Sequence[Operator]) -> None:
    """These operators, which are planned, start the cotangent of a loss."""
    for operator in operators:
        operator.of_loss = True


def mark_gradients(pairs: Sequence[tuple[Variable, Variable]]) -> None:
    """Each operator that writes the gradient of a parameter names both, in `op_role_var`."""
    if not pairs:
        return
    of: dict[int, list[Variable]] = {}
    for param, grad in pairs:
        params = of.setdefault(id(grad), [])
        if all(p is not param for p in params):
            params.append(param)
    for operator in pairs[0][1].block.ops:
        for ref in operator.results:
            for param in of.get(id(ref.var), ()):
                named = param.name, ref.var.name
                if named not in operator.trains:
                    mark(operator, "trains", (named, *operator.trains))


def mark(operator: Operator, name: str, value: Any) -> None:
    """Set an attribute of an operator that may have been there before; a failure takes it back."""
    old = getattr(operator, name)
    setattr(operator, name, value)
    operator.block.program.undoing.append(lambda: setattr(operator, name, old))


def role_variables(operator: Operator) -> list[str]:
    """``[parameter, gradient, ...]`` of an operator that makes gradients, or that takes one."""
    appended = operator.appended
    if operator.role == "optimize" and appended is not None:
        slots = operator.inputs
        return [v.name for slot in ("Param", "Grad") for v in slots.get(slot, ())]
    if operator.role == "optimize" and getattr(operator.op, "inputs", ())[:2] == ("param", "grad"):
        return operator.input_arg_names[:2]
    return [name for pair in operator.trains for name in pair]


def pass_on(old: Operator, new: Sequence[Operator]) -> None:
    """Let the operators that take the place of `old`, or follow from it, have its marks."""
    for operator in new:
        operator.op_namescope, operator.op_device = old.op_namescope, old.op_device
        if old.trains or old.of_loss:
            made = set(operator.output_arg_names)
            operator.trains = tuple(pair for pair in old.trains if pair[1] in made)
            operator.of_loss = old.of_loss and not made.isdisjoint(old.output_arg_names)
