"""Why a variable of a program has no gradient: what its operators say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograd_engine.autograd.explain.report import Explanation, Reason
from autograd_engine.core.dtypes import FLOATS
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.grad_node import lines
from autograd_engine.errors import NotATensorError
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.ir.program import (
    Block,
    Operator,
    Program,
    Ref,
    Variable,
    default_main_program,
)

__all__ = ["explain_variable", "leading"]

Key = tuple[str, int]
_GRAD = "@GRAD"


def explain_variable(x: Any, loss: Any, program: Program | None) -> Explanation:
    """`explain` for variables.

    Raises
    ------
    NotATensorError
        When `x` is no Variable and no name, or `loss` neither of them nor None.
    BuildError
        When the program has no variable of that name.
    """
    for argument, value in (("x", x), ("loss", loss)):
        if not isinstance(value, Variable | str) and not (argument == "loss" and value is None):
            raise NotATensorError(
                f"explain: {argument} must be a Variable or its name where a program is explained, "
                f"got {type(value).__name__}"
            )
    if program is not None:
        block = program.global_block()
    else:
        known = x if isinstance(x, Variable) else loss
        block = (
            known.block if isinstance(known, Variable) else default_main_program().global_block()
        )
    var = block.var(x) if isinstance(x, str) else x
    target = block.var(loss) if isinstance(loss, str) else loss
    subject = f"{var.name} ({var.spec.dtype.name}{format_shape(var.spec.shape)})"
    if block.has_var(var.name + _GRAD):
        note = f"it is {var.name}{_GRAD}: fetch it by that name"
        return Explanation(subject, "fine", notes=(note,))
    reasons, path = _why_none(block, var, target)
    return Explanation(subject, "none", tuple(reasons), tuple(path))


def _why_none(block: Block, x: Variable, loss: Variable | None) -> tuple[list[Reason], list[str]]:
    if x.spec.dtype not in FLOATS:
        text = (
            f"it holds {x.spec.dtype.name}, and only floating variables carry gradients: declare "
            "it with dtype='float32'"
        )
        return [Reason("not_floating", text)], []
    if x.stop_gradient:
        return [_stopped(block, x)], []
    backward = [o for o in block.ops if o.role == "backward"]
    if loss is None:
        if not backward:
            return [_no_backward()], []
        loss = _loss_of(block, backward)
        if loss is None:
            return [_not_asked(x)], []
    reached, blocked, came = _onward(block, x)
    goal = (loss.name, loss.version)
    path = _path(came, goal)
    if goal in reached:
        return [_not_asked(x) if backward else _no_backward()], path
    _, needed = leading(block, [goal])
    reasons = [reason for keys, reason in blocked if keys & needed]
    if reasons:
        return reasons, []
    return [_not_connected(block, x, loss)], []


def _stopped(block: Block, x: Variable) -> Reason:
    maker = next((o for o in block.ops if any(r.var is x for r in o.results)), None)
    if x.is_data:
        text = (
            "its stop_gradient is True, the default of static.data: set "
            f"{x.name}.stop_gradient = False before append_backward or gradients"
        )
        return Reason("stop_gradient", text)
    if maker is None:
        text = "its stop_gradient is True: set it to False before append_backward or gradients"
        return Reason("stop_gradient", text)
    at = maker.location
    if all(o.var.stop_gradient for o in maker.operands if isinstance(o, Ref)):
        text = (
            f"{maker.type} at {lines(at)} made it from operands none of which carries a gradient "
            f"({', '.join(maker.input_arg_names) or 'none'}): set stop_gradient = False on the one "
            "that is to be differentiated, before it is used"
        )
    else:
        text = (
            f"its stop_gradient is True since {maker.type} at {lines(at)} made it (which may have "
            "no gradient), or was set to True later"
        )
    return Reason("stop_gradient", text, str(at))


def _no_backward() -> Reason:
    return Reason(
        "no_backward",
        "the program has no backward half: call paddle.static.append_backward(loss), or "
        "paddle.static.gradients(loss, x)",
    )


def _not_asked(x: Variable) -> Reason:
    return Reason(
        "no_gradient_asked",
        "the loss depends on it, and its gradient was not asked for (parameter_list, no_grad_set, "
        f"or it came later): call paddle.static.gradients(loss, {x.name})",
    )


def _loss_of(block: Block, backward: list[Operator]) -> Variable | None:
    """What the latest backward half starts from: its first operator makes the seed."""
    for operator in backward:
        name = operator.results[0].var.name.partition(_GRAD)[0]
        if block.has_var(name):
            return block.var(name)
    return None


def _onward(
    block: Block, x: Variable
) -> tuple[set[Key], list[tuple[set[Key], Reason]], dict[Key, tuple[Operator, Key]]]:
    """(values that a gradient can flow back from, where it is stopped, how each was reached)."""
    reached: set[Key] = {(x.name, version) for version in range(x.version + 1)}
    blocked: list[tuple[set[Key], Reason]] = []
    came: dict[Key, tuple[Operator, Key]] = {}
    for operator in block.ops:
        op = operator.op
        if not isinstance(op, OpDef) or operator.role != "forward":
            continue
        for k, ref in enumerate(operator.operands):
            if not isinstance(ref, Ref) or ref.key not in reached:
                continue
            results = {r.key for r in operator.results}
            if op.rule_at(k) is None:
                blocked.append((results, _no_rule(operator, k, ref)))
                continue
            for j, result in enumerate(operator.results):
                if op.output_at(j) in op.nondiff_outputs or result.var.stop_gradient:
                    blocked.append(({result.key}, _stops(operator, j, result)))
                elif result.key not in reached:
                    reached.add(result.key)
                    came[result.key] = operator, ref.key
    return reached, blocked, came


def _no_rule(operator: Operator, position: int, ref: Ref) -> Reason:
    return Reason(
        "not_differentiable",
        f"{ref.var.spec.dtype.name} input {operator.op.input_at(position)!r} of {operator.type} at "
        f"{lines(operator.location)} is not differentiable ({ref.var.name})",
        str(operator.location),
    )


def _stops(operator: Operator, position: int, result: Ref) -> Reason:
    at = operator.location
    dtype = result.var.spec.dtype
    if dtype not in FLOATS:
        return Reason(
            "integer_cast",
            f"cut by {operator.type} at {lines(at)}: {result.var.name} holds {dtype.name}, and no "
            "gradient flows through integers",
            str(at),
        )
    if operator.op.output_at(position) in getattr(operator.op, "nondiff_outputs", ()):
        return Reason(
            "not_differentiable",
            f"output {operator.op.output_at(position)!r} of {operator.type} at {lines(at)} is not "
            "differentiable",
            str(at),
        )
    return Reason(
        "stop_gradient",
        f"cut at {result.var.name}, made by {operator.type} at {lines(at)}: its stop_gradient is "
        "True; set it to False",
        str(at),
    )


def leading(block: Block, goals: Iterable[Key]) -> tuple[list[Operator], set[Key]]:
    """The operators that values are computed by, and all values on the way, or that they read."""
    needed = set(goals)
    operators = []
    for operator in reversed(block.ops):
        if any(r.key in needed for r in operator.results):
            operators.append(operator)
            needed.update(o.key for o in operator.operands if isinstance(o, Ref))
    return operators[::-1], needed


def _path(came: dict[Key, tuple[Operator, Key]], goal: Key) -> list[str]:
    steps = []
    while goal in came:
        operator, goal = came[goal]
        steps.append(f"{operator.type} at {lines(operator.location)}")
    return steps if len(steps) <= 20 else [*steps[:10], "...", *steps[-10:]]


def _not_connected(block: Block, x: Variable, loss: Variable) -> Reason:
    users = [
        o
        for o in block.ops
        if o.role == "forward" and any(isinstance(r, Ref) and r.var is x for r in o.operands)
    ]
    if not users:
        return Reason("unused", "no operator of the program reads it")
    last = users[-1]
    return Reason(
        "not_connected",
        f"{loss.name} is not computed from it: it is read last by {last.type} at "
        f"{lines(last.location)}, whose result {last.results[0].var.name} the loss does not use",
        str(last.location),
    )
