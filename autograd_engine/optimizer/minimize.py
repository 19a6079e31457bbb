"""Updates as operators of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.locations import caller
from autograd_engine.core.spec import Spec
from autograd_engine.errors import ArgumentError, BuildError
from autograd_engine.nn.parameters import persistable_variable
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.optimizer.groups import Group, State, decayed, update_dtype
from autograd_engine.program.builder import (
    append_operator,
    emitting,
    restored_on_error,
    spec_of,
)
from autograd_engine.program.ir.op_role import namescope, scope_name
from autograd_engine.program.ir.program import (
    Block,
    Operator,
    Ref,
    Variable,
    default_startup_program,
    program_guard,
)

if TYPE_CHECKING:
    from autograd_engine.optimizer.optimizer import Optimizer

__all__ = ["append_each", "append_updates", "kept_variables"]

_CAST = REGISTRY["cast"]


def append_updates(
    optimizer: Optimizer, pairs: Sequence[tuple[Variable, Variable]]
) -> list[Operator]:
    """Clip in the order given, then decay and update in the order of names."""
    if not pairs:
        return []
    program = pairs[0][0].block.program
    block = program.current_block()  # inside a branch, the updates are of the branch
    startup = default_startup_program()
    with (
        restored_on_error(*(p for p, _ in pairs)),
        block.restored_on_error(),
        startup.global_block().restored_on_error(),
    ):
        with (
            namescope.replaced(scope_name(program, "/", "gradient_clip")),
            program_guard(program, startup),
            _emitting("gradient_clip", block),
        ):
            clipped = optimizer._clipped(pairs)
        optimizer._programs.add(program)
        updates = []
        for p, g in sorted(clipped, key=lambda pair: pair[0].name):
            with namescope.replaced(scope_name(program, "/", "optimizer")):
                updates.append(_append_update(optimizer, p, g, block))
        return updates


def append_each(
    optimizer: Optimizer, pairs: Sequence[tuple[Variable, Variable]], block: Block
) -> None:
    """Clip and update, where the block knows the variables for rates and state already."""
    with block.restored_on_error():
        with _emitting("gradient_clip", block):
            clipped = optimizer._clipped(pairs)
        for p, g in clipped:
            _append_update(optimizer, p, g, block)


def _emitting(prefix: str, block: Block) -> Any:
    return emitting(prefix, "optimize", caller(), block=block)


def _append_update(optimizer: Optimizer, param: Variable, grad: Variable, block: Block) -> Operator:
    group = optimizer._group(param)
    attrs = optimizer._attrs_of(param, group)
    decay = optimizer._decay_of(param, group)
    master = optimizer._has_master(param.spec.dtype)
    with _emitting(f"{param.name}_regularized", block):
        if decay is not None:
            grad = decayed(decay, ops, param, grad)
        if master:
            grad = ops.cast(grad, dtype="float32")
    dtype = update_dtype(param.spec.dtype)
    rate = _rate(optimizer, param, group, dtype, block)
    trained = _master(optimizer, param) if master else param
    state = [
        _state_variable(optimizer, param, name, s, attrs) for name, s in optimizer.state.items()
    ]
    operator = _append(optimizer, [trained, grad, rate, *state], attrs, block)
    if master:
        with _emitting(param.name, block):
            source = operator.results[:1]
            written = (param.seen_from(block).write(),)
            append_operator(block, _CAST, source, written, {"dtype": param.spec.dtype.name})
    return operator


def _append(
    optimizer: Optimizer, variables: list[Variable], attrs: dict[str, Any], block: Block
) -> Operator:
    operation = REGISTRY[optimizer.operation]
    attrs = operation.complete_attrs(attrs)
    param, grad, rate, *state = (v.seen_from(block) for v in variables)
    written = [param, *state]
    operands = tuple(Ref(v, v.version) for v in (param, grad, rate, *state))
    inferred = operation.infer_tuple([spec_of(o) for o in operands], attrs)
    for v, spec in zip(written, inferred, strict=True):
        if v.spec != spec:  # a run would write it, and what reads it next was built for another
            raise BuildError(
                f"{optimizer.operation}: would write {spec} to {v.name}, which is {v.spec}"
            )
    with _emitting(param.name, block):
        results = tuple(v.write() for v in written)
        return append_operator(block, operation, operands, results, attrs)


def _rate(
    optimizer: Optimizer, param: Variable, group: Group, dtype: np.dtype[Any], block: Block
) -> Any:
    rate = _rate_variable(optimizer, param.block, dtype)
    factor = optimizer._rate_factor(param, group)
    if factor == 1.0:
        return rate
    emitted, key = block.emitted, ("learning_rate", optimizer, dtype, factor)
    if key not in emitted:
        with _emitting(rate.name, block):
            emitted[key] = ops.multiply(rate, factor)
    return emitted[key]


def _rate_variable(optimizer: Optimizer, block: Block, dtype: np.dtype[Any]) -> Variable:
    """One for each dtype, kept by the program: they end together.

    A rate that was set, and that of a scheduler, reaches the program at its next run.
    """
    key = ("learning_rate", optimizer, dtype)
    found: Variable | None = block.emitted.get(key)
    if found is None:
        name = unique_name.generate("learning_rate")
        found = persistable_variable(block, name, Spec((), dtype), optimizer.get_lr())
        block.emitted[key] = found
        supplies = block.program.supplies
        supplies[name] = optimizer._supplied_rate

        def undo() -> None:
            supplies.pop(name, None)

        block.program.undoing.append(undo)
    return found


def _state_variable(
    optimizer: Optimizer,
    param: Variable,
    name: str,
    state: State,
    attrs: dict[str, Any],
) -> Variable:
    """One for each parameter, also where the optimizer is applied again."""
    emitted, key = param.block.emitted, ("optimizer_state", optimizer, param, name)
    found: Variable | None = emitted.get(key)
    if found is None:
        shape = tuple(int(d) for d in param.spec.shape)
        spec = state.spec(shape, param.spec.dtype, attrs)
        full_name = unique_name.generate(f"{param.name}_{state.suffix or name}")
        value = state.first(attrs, optimizer.get_lr())
        found = emitted[key] = persistable_variable(param.block, full_name, spec, value)
    return found


def _master(optimizer: Optimizer, param: Variable) -> Variable:
    """The float32 copy of a float16 parameter, which the startup program makes of it."""
    emitted, key = param.block.emitted, ("optimizer_state", optimizer, param, "master")
    found: Variable | None = emitted.get(key)
    if found is not None:
        return found
    startup = default_startup_program().global_block()
    if param.name not in startup.vars:
        raise ArgumentError(
            f"multi_precision: the startup program does not make {param.name}, so it cannot make "
            "the float32 copy of it; pass minimize the startup_program of the parameter"
        )
    spec = Spec(param.spec.shape, np.dtype(np.float32))
    name = unique_name.generate(f"{param.name}_fp32_master")
    found, copy = (
        block.add_var(Variable(block, name, spec, stop_gradient=True, persistable=True))
        for block in (param.block, startup)
    )
    first = startup.vars[param.name]
    source = (Ref(first, first.version),)
    startup.append(
        Operator(startup, _CAST, source, (Ref(copy, 0),), {"dtype": "float32"}, caller(), "forward")
    )
    emitted[key] = found
    return found


def kept_variables(optimizer: Optimizer, block: Block) -> dict[tuple[str, str], Variable]:
    """The variables of state in a block, by parameter and state."""
    return {
        (key[2].name, key[3]): var
        for key, var in block.emitted.items()
        if isinstance(key, tuple) and key[:1] == ("optimizer_state",) and key[1] is optimizer
    }
