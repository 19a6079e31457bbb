"""Hooks of variables: what a function of the user's does to a gradient, in backward halves.

The function is called once, when it is registered, with a variable that stands for the gradient.
The operators that it makes are kept beside the program, and copied to where a walk has the
gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from autograd_engine.core.checks import check_callback
from autograd_engine.core.dtypes import COMPLEX, INEXACT
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.hooks import Hooks, RemovableHandle
from autograd_engine.errors import (
    BuildError,
    DTypeError,
    NotATensorError,
    NotDifferentiableError,
    ShapeError,
)
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program.backward.draft import Draft
from autograd_engine.program.control_flow.block_function import BlockFunction, restored
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Key, Operator, Ref, Variable

__all__ = ["Recorded", "hooked", "register_variable_hook"]


class Recorded(NamedTuple):
    """What a hook does: operators on a gradient and on values around."""

    operators: tuple[Operator, ...]
    gradient: Ref
    result: Ref
    around: dict[Key, Ref]  # what arguments stand for


def register_variable_hook(var: Variable, hook: Callable[[Any], Any]) -> RemovableHandle:
    """`Variable.register_hook`."""
    check_callback("register_hook", "hook", hook, "grad")
    if var.stop_gradient or var.spec.dtype not in INEXACT:
        raise NotDifferentiableError(
            f"register_hook: {var.name} stops gradients, so no gradient reaches the hook; set "
            "stop_gradient=False before it is used"
        )
    block = var.block.program.current_block()
    if var.block is not block:
        raise BuildError(
            f"register_hook: {var.name} is of another block than the one that is built: register "
            "the hook where the variable is made, or pass the hook what a branch or loop returns"
        )
    recorded = _record(var, hook)
    hooks = var.hooks.setdefault(var.version, Hooks()) if var.hooks else Hooks()
    var.hooks = {**(var.hooks or {}), var.version: hooks}
    handle = hooks.register(recorded)

    def undo() -> None:
        handle.remove()

    block.program.undoing.append(undo)
    return handle


def _record(var: Variable, hook: Callable[[Any], Any]) -> Recorded:
    program, around = var.block.program, var.block
    count = len(program.blocks)
    with restored(program):
        function = BlockFunction(program, around)
        block = function.block
        gradient = block.add_argument(f"{var.name}@GRAD", var.spec, stop_gradient=False)
        result = _checked(var, function.call(hook, [gradient]), gradient)
        if len(program.blocks) > count + 1 or any(a.version for a in block.captured.values()):
            raise BuildError(
                "register_hook: in a program a hook computes: it can hold no branch and no loop, "
                "and write no variable; use paddle.where"
            )
        outer = {
            (a.name, 0): Ref(around.vars[name], version)
            for (name, version), a in block.captured.items()
        }
        found = Recorded(tuple(block.ops), Ref(gradient, 0), Ref(result, result.version), outer)
        del program.blocks[count:]
    return found


def _checked(var: Variable, result: Any, gradient: Variable) -> Variable:
    if result is None:
        return gradient
    if not isinstance(result, Variable):
        raise NotATensorError(
            f"register_hook: the hook of {var.name} must return a Variable or None, got "
            f"{type(result).__name__}"
        )
    if not may_equal(result.spec.shape, var.spec.shape):
        raise ShapeError(
            f"register_hook: the hook of {var.name} returned shape "
            f"{format_shape(result.spec.shape)} for a gradient of {format_shape(var.spec.shape)}"
        )
    if result.spec.dtype != var.spec.dtype:
        raise DTypeError(
            f"register_hook: the hook of {var.name} returned {result.spec.dtype.name} for a "
            f"gradient of {var.spec.dtype.name}; cast it"
        )
    return result


def hooked(draft: Draft, ref: Ref, gradient: Variable) -> Variable:
    """What the hooks of a value make of its gradient, in the order of their registration."""
    hooks = tuple((ref.var.hooks or {}).get(ref.version, {}).items())
    if hooks:
        gradient = _conjugate(draft, ref, gradient)
    for key, recorded in hooks:
        name = "hook", gradient.name, key
        made = draft.existing(name)
        if made is None:
            made = _copied(draft, recorded, gradient)
            draft.remember(name, made)
        gradient = made
    return _conjugate(draft, ref, gradient) if hooks else gradient


def _conjugate(draft: Draft, ref: Ref, gradient: Variable) -> Variable:
    """A cotangent of a complex value as users see it, and the other way round."""
    if ref.var.spec.dtype not in COMPLEX:
        return gradient
    operand = Ref(gradient, gradient.version)
    names = (f"{ref.var.name}@GRAD@HOOKED{n or ''}" for n in range(1 << 30))
    return draft.once(
        ("conj", operand.key),
        lambda: draft.variable(draft.unused(names), ref),
        REGISTRY["conj"],
        (operand,),
        {},
    )


def _copied(draft: Draft, recorded: Recorded, gradient: Variable) -> Variable:
    values = {**recorded.around, recorded.gradient.key: Ref(gradient, gradient.version)}

    def value(operand: Any) -> Any:
        return values[operand.key] if isinstance(operand, Ref) else operand

    for operator in recorded.operators:
        assert isinstance(operator.op, (OpDef, GradOp))
        operands, made = tuple(map(value, operator.operands)), []
        for ref in operator.results:
            names = (f"{ref.var.name}@HOOK{n or ''}" for n in range(1 << 30))
            own = draft.variable(draft.unused(names), ref)
            own.stop_gradient = ref.var.stop_gradient
            values[ref.key] = Ref(own, 0)
            made.append(Ref(own, 0))
        draft.operators.append(
            Operator(
                draft.into,
                operator.op,
                operands,
                tuple(made),
                operator.attrs,
                operator.location,
                "backward",
            )
        )
    found: Variable = value(recorded.result).var
    return found
