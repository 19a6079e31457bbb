"""Operators of a startup program: what writes the first values of parameters and of state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_engine.core.locations import caller
from autograd_engine.core.spec import Spec
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program.ir.program import (
    Block,
    Operator,
    Ref,
    Variable,
    default_startup_program,
)

if TYPE_CHECKING:
    from autograd_engine.nn.initializer.base import Initializer

__all__ = ["initialize", "initialize_again"]


def initialize(name: str, spec: Spec, initializer: Initializer) -> None:
    """Have the default startup program write `name`."""
    startup = default_startup_program().global_block()
    if name in startup.vars:
        return
    kernel, attrs = _operation(initializer, spec)
    var = Variable(startup, name, spec, stop_gradient=True, persistable=True)
    startup.add_var(var)
    full = kernel.complete_attrs(attrs)
    startup.append(Operator(startup, kernel, (), (Ref(var, 0),), full, caller(), "forward"))


def initialize_again(var: Variable, initializer: Initializer, block: Any = None) -> None:
    """Have a startup program write `var` another time, where it stands."""
    if not var.persistable:
        raise ArgumentError(
            f"{type(initializer).__name__}: {var.name} is computed by the program, and has no "
            "value to begin with; give a parameter"
        )
    startup = default_startup_program().global_block() if block is None else block
    if not isinstance(startup, Block):
        raise TypeError(
            f"{type(initializer).__name__}: block must be the block of a program, got "
            f"{type(block).__name__}"
        )
    known = startup.vars.get(var.name)
    if known is None:
        known = Variable(startup, var.name, var.spec, stop_gradient=True, persistable=True)
        startup.add_var(known)
        result = Ref(known, 0)
    else:
        result = known.write()
    kernel, attrs = _operation(initializer, var.spec)
    full = kernel.complete_attrs(attrs)
    startup.append(Operator(startup, kernel, (), (result,), full, caller(), "forward"))


def _operation(initializer: Initializer, spec: Spec) -> tuple[OpDef, dict[str, Any]]:
    shape = tuple(int(d) for d in spec.shape)
    name, attrs = initializer.operation(shape, spec.dtype.name)
    return REGISTRY[name], attrs
