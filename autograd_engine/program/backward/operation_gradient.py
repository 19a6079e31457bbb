"""The gradient operator of one operation: what its rules read, and what is there already."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine.core.dtypes import APART, BOOL
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.ops.registry.strong_zeros import zeros_are_strong
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Literal, OperandRef, Operator, Ref, Variable

if TYPE_CHECKING:
    from autograd_engine.program.backward.walk import Arrival, BackwardPlan

__all__ = ["counts", "projected", "pull_operation", "saved_operands"]

_UNLESS_HOLLOW = REGISTRY["unless_hollow"]


def pull_operation(
    plan: BackwardPlan,
    operator: Operator,
    wanted: list[tuple[int, Ref]],
    cotangents: Sequence[Variable | None],
    sure: bool,
) -> list[Arrival]:
    """What arrives at the `wanted` operands of `operator`, planning what does not exist yet.

    Every gradient is remembered under what it computes, that is the rule, the operands that it
    reads in their versions, and the attributes.
    """
    op = operator.op
    assert isinstance(op, OpDef)
    project = projected(operator)
    keys: dict[int, Hashable] = {}
    there: dict[int, Variable] = {}
    missing = []
    computed: dict[tuple[int, int], Hashable] = {}
    given = (
        tuple([None if c is None else (c.name, c.version) for c in cotangents]),
        _freeze(operator.attrs),
    )
    for k, ref in wanted:
        # The operands of a variadic input have one rule, which reads the same for each.
        kind = min(k, len(op.inputs) - 1), project >> k & 1
        if kind not in computed:
            computed[kind] = _computed(plan, operator, *kind, given, sure)
        keys[k] = k, computed[kind]
        found = plan.draft.existing(keys[k])
        if found is None:
            missing.append((k, ref))
        else:
            there[k] = found
    if missing:
        made = _emit(plan, operator, missing, cotangents, sure, project)
        for (k, _), var in zip(missing, made, strict=True):
            there[k] = var
            plan.draft.remember(keys[k], var)
    sure &= op is not _UNLESS_HOLLOW  # whose cotangent is hollow where its result is
    return [(ref, there[k], sure) for k, ref in wanted]


def _computed(
    plan: BackwardPlan,
    operator: Operator,
    position: int,
    project: int,
    given: Hashable,
    sure: bool,
) -> int:
    """What the gradient at an operand computes, as a number that the block keeps for it.

    Of an operation with many operands the key is as long as they are, and each asks for it.
    """
    op = operator.op
    assert isinstance(op, OpDef)
    dtypes = operand_dtypes(operator)
    pullback = _strong(op.pullback(1 << position, project << position, dtypes), sure)
    saved = saved_operands(operator, pullback.saved)
    reads = tuple([r.key if isinstance(r, Ref) else _freeze(r) for r in saved])
    return plan.draft.number((op, pullback.strong, pullback.halves, position, reads, given))


def _strong(pullback: Pullback, sure: bool) -> Pullback:
    if zeros_are_strong():
        return pullback.strengthened()
    # Behind a branch that did not run, all cotangents are zeros, and have to stay so.
    return pullback if sure else pullback.guarded()


def _emit(
    plan: BackwardPlan,
    operator: Operator,
    wanted: Sequence[tuple[int, Ref]],
    cotangents: Sequence[Variable | None],
    sure: bool,
    project: int,
) -> list[Variable]:
    """Plan the gradient operator that makes the cotangents of the `wanted` operands."""
    op = operator.op
    assert isinstance(op, OpDef)
    positions = tuple([k for k, _ in wanted])
    dtypes = operand_dtypes(operator)
    apart = () if APART.isdisjoint(dtypes) else tuple(dtypes)
    kind = op, positions, project, sure, len(operator.operands), len(cotangents), apart
    known = plan.gradient_operations.get(kind)
    if known is None:
        pullback = _strong(op.pullback(sum(1 << k for k in positions), project, dtypes), sure)
        known = pullback, GradOp.of(pullback, counts(operator))
        plan.gradient_operations[kind] = known
    pullback, gradop = known
    operands = saved_operands(operator, pullback.saved)
    operands += [None if c is None else Ref(c, c.version) for c in cotangents]
    made = [plan.cotangents.contribution(ref) for _, ref in wanted]
    plan.draft.follow(operator, gradop, operands, made, operator.attrs)
    return made


def projected(operator: Operator) -> int:
    """Bits of the operands whose cotangents are to be summed over broadcast axes."""
    op = operator.op
    assert isinstance(op, OpDef)
    shapes = [r.spec.shape for r in operator.operands if r is not None]
    return op.projected(shapes, operator.results[0].var.spec.shape)


def operand_dtypes(operator: Operator) -> list[np.dtype[Any]]:
    """The dtypes of the operands, as `OpDef.pullback` takes them."""
    return [BOOL if r is None else r.spec.dtype for r in operator.operands]


def counts(operator: Operator) -> dict[str, int]:
    """How many operands (or results) each variadic name stands for."""
    op = operator.op
    assert isinstance(op, OpDef)
    found = {}
    if op.variadic:
        found[op.inputs[-1]] = len(operator.operands) - len(op.inputs) + 1
    if op.variadic_output:
        found[op.outputs[0]] = len(operator.results)
    return found


def saved_operands(operator: Operator, saved: tuple[str, ...]) -> list[OperandRef]:
    """The operands and results that the names in `saved` stand for, flat."""
    op = operator.op
    assert isinstance(op, OpDef)
    out: list[OperandRef] = []
    if not op.variadic and not op.variadic_output:
        operands, results = operator.operands, operator.results
        return [operands[k] if k >= 0 else results[~k] for k in _places(op, saved)]
    for name in saved:
        base = name if name in (*op.inputs, *op.outputs) else name.removesuffix("_like")
        if base in op.inputs:
            out += [r for k, r in enumerate(operator.operands) if op.input_at(k) == base]
        else:
            out += [r for k, r in enumerate(operator.results) if op.output_at(k) == base]
    return out


@functools.cache
def _places(op: OpDef, saved: tuple[str, ...]) -> tuple[int, ...]:
    """Where the names in `saved` stand among the operands; among the results, counted from -1."""
    known = {name: k for k, name in enumerate(op.inputs)}
    known |= {name: ~k for k, name in enumerate(op.outputs) if name not in known}
    return tuple(known[n] if n in known else known[n.removesuffix("_like")] for n in saved)


def _freeze(value: Any) -> Hashable:
    """An attribute as something that can be hashed."""
    if isinstance(value, dict):
        return tuple((k, _freeze(v)) for k, v in sorted(value.items())) if value else ()
    if isinstance(value, Literal):
        return _freeze(value.value), value.dtype
    if isinstance(value, (list, tuple)):
        return tuple(map(_freeze, value))
    if isinstance(value, slice):
        return "slice", value.start, value.stop, value.step
    if isinstance(value, float):
        return "float", repr(value)  # 0.0 and -0.0 differ, NaN equals itself
    return value if isinstance(value, Hashable) else id(value)
