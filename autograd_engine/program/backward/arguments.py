"""Arguments of `append_backward` and `gradients`, checked and resolved."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from autograd_engine.core.checks import check_callback
from autograd_engine.core.dtypes import INEXACT
from autograd_engine.core.locations import user_frame_from, warn_at
from autograd_engine.core.operand import Operand
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    BuildError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.backward.commit import Callback
from autograd_engine.program.ir.program import Block, Parameter, Ref, Variable

__all__ = [
    "check_callbacks",
    "check_distop_context",
    "check_variable",
    "checkpoint_names",
    "cotangents",
    "differentiable",
    "leaves_of",
    "listed_parameters",
    "no_grad_names",
    "same_program",
    "variables",
]


def check_variable(function: str, argument: str, value: Any, index: int | None = None) -> Variable:
    """The Variable that `value` is, or a NotATensorError."""
    if not isinstance(value, Variable):
        place = "" if index is None else f" as {argument}[{index}]"
        raise NotATensorError(
            f"{function}: {argument} must be a Variable of a static program, got "
            f"{type(value).__name__}{place}; for eager tensors call .backward() on the result"
        )
    return value


def variables(argument: str, value: Any) -> list[Variable]:
    """One Variable or several, as a list."""
    if not isinstance(value, (list, tuple)):
        check_variable("gradients", argument, value)
        return [value]
    for k, v in enumerate(value):
        check_variable("gradients", argument, v, k)
    return list(value)


def same_program(where: str, block: Block, var: Variable) -> None:
    """A BuildError for a Variable of another program: its name may mean something else here."""
    if var.block.program is not block.program:
        raise BuildError(
            f"{where}: {var.name} belongs to another program; pass a Variable of this one, or a "
            f"name, {var.name!r}"
        )


def check_callbacks(callbacks: Sequence[Callback] | None) -> Sequence[Callback]:
    """None is no callbacks."""
    if callbacks is None:
        return ()
    if not isinstance(callbacks, (list, tuple)):
        raise ArgumentTypeError(
            f"append_backward: callbacks must be a list or tuple of callables, got "
            f"{type(callbacks).__name__}; write [callback]"
        )
    for callback in callbacks:
        if not callable(callback):
            raise BuildError(f"append_backward: {callback!r} in callbacks is not callable")
        check_callback("append_backward", "callback", callback, "block", "context", by_name=True)
    return callbacks


def check_distop_context(value: Any) -> None:
    """None: nothing here distributes operators."""
    if value is not None:
        raise ArgumentError(
            f"append_backward: distop_context={value!r:.60}: programs are not distributed over "
            "devices here; leave it out"
        )


def cotangents(targets: list[Variable], value: Any) -> list[Variable | None]:
    """One for each target; None for ones."""
    if value is None:
        return [None] * len(targets)
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(values) != len(targets):
        raise BuildError(
            f"gradients: target_gradients has {len(values)} entries for {len(targets)} targets; "
            "give one each, None for ones"
        )
    for k, (target, grad) in enumerate(zip(targets, values, strict=True)):
        if grad is not None:
            check_variable("gradients", "target_gradients", grad, k)
            _check_cotangent(target, grad)
    return values


def _check_cotangent(target: Variable, grad: Variable) -> None:
    same_program("gradients: target_gradients", target.block, grad)
    a, b = target.spec.shape, grad.spec.shape
    if not may_equal(a, b):
        raise ShapeError(
            f"gradients: {target.name} has shape {format_shape(a)}, its gradient {grad.name} "
            f"{format_shape(b)}; they must be equal"
        )
    if target.spec.dtype != grad.spec.dtype:
        raise ArgumentTypeError(
            f"gradients: {target.name} is {target.spec.dtype.name}, its gradient {grad.name} "
            f"{grad.spec.dtype.name}; cast it"
        )


def no_grad_names(function: str, block: Block, value: Iterable[Operand | str] | None) -> set[str]:
    """Names at which gradients stop; a warning for one that nothing has."""
    if value is None:
        return set()
    if not isinstance(value, (set, list, tuple)):
        raise ArgumentTypeError(
            f"{function}: no_grad_set must be a set, list or tuple of Variables or names, got "
            f"{type(value).__name__}; write {_as_collection(value, '{', '}')}"
        )
    names = set()
    for k, member in enumerate(value):
        if not isinstance(member, (Variable, str)):
            place = "" if isinstance(value, set) else f" as no_grad_set[{k}]"
            raise ArgumentTypeError(
                f"{function}: a member of no_grad_set must be a Variable or a name, got "
                f"{type(member).__name__}{place}"
            )
        if isinstance(member, Variable):
            same_program(f"{function}: no_grad_set", block, member)
            names.add(member.name)
        elif not any(member in b.vars for b in block.program.blocks):
            _warn_unknown(function, "no_grad_set", member, "stops no gradient")
        else:
            names.add(member)
    return names


def listed_parameters(block: Block, value: Iterable[Operand | str]) -> list[Variable]:
    """Those in `parameter_list` that can have a gradient; a warning for unknown names."""
    found = _entries(block, "parameter_list", value)
    for entry, var in zip(value, found, strict=True):
        if var is None:
            _warn_unknown("append_backward", "parameter_list", entry, "gets no gradient")
    return [v for v in found if v is not None and differentiable(v)]


def differentiable(var: Variable) -> bool:
    """Whether a gradient of it may be asked for."""
    return not var.stop_gradient and not (isinstance(var, Parameter) and not var.trainable)


def leaves_of(block: Block) -> list[Variable]:
    """What wants a gradient and is made of nothing that does: data, and what is created.

    Parameters are asked for by themselves, and what a branch or loop is given by what is outside.
    """
    made = {id(v) for v in block.arguments}
    for operator in block.ops:
        op = operator.op
        if operator.role != "forward" or any(
            isinstance(r, Ref)
            and not r.var.stop_gradient
            and (not isinstance(op, OpDef) or op.rule_at(k) is not None)
            for k, r in enumerate(operator.operands)
        ):
            made.update(id(r.var) for r in operator.results)
    return [
        v
        for v in block.vars.values()
        if not v.stop_gradient
        and v.spec.dtype in INEXACT
        and not v.is_stack
        and not isinstance(v, Parameter)
        and id(v) not in made
    ]


def checkpoint_names(block: Block, value: Iterable[Operand | str] | None) -> set[str]:
    """Names of the variables that recomputing starts from."""
    if value is None:
        return set()
    names = set()
    for entry, var in zip(value, _entries(block, "checkpoints", value), strict=True):
        if var is None:
            raise BuildError(
                f"append_backward: checkpoints: there is no variable {entry!r} in this program; "
                "pass the Variable itself, or its .name"
            )
        if var.block is not block:
            raise BuildError(
                f"append_backward: checkpoints: {var.name} is inside a branch or a loop (block "
                f"{var.block.idx}); name what the branch or loop returns"
            )
        names.add(var.name)
    return names


def _entries(block: Block, argument: str, value: Iterable[Operand | str]) -> list[Variable | None]:
    """The Variables of a collection, None for unknown names."""
    where = f"append_backward: {argument}"
    if not isinstance(value, (list, tuple, set)):
        raise ArgumentTypeError(
            f"{where} must be a list, tuple or set of Variables or names, got "
            f"{type(value).__name__}; write {_as_collection(value, '[', ']')}"
        )
    found: list[Variable | None] = []
    for k, entry in enumerate(value):
        if isinstance(entry, str):
            found.append(_named(block, entry))
            continue
        if not isinstance(entry, Variable):
            raise ArgumentTypeError(
                f"{where}[{k}] must be a Variable or a name, got {type(entry).__name__}"
            )
        same_program(f"{where}[{k}]", block, entry)
        found.append(entry)
    return found


def _warn_unknown(function: str, argument: str, name: object, effect: str) -> None:
    warn_at(
        user_frame_from(sys._getframe(2)),
        f"{function}: {argument} names {name!r}, which is no variable of this program, and "
        f"{effect}: is it misspelt? Pass the Variable itself, or its .name",
        UserWarning,
    )


def _named(block: Block, name: str) -> Variable | None:
    """The Variable of that name outside of the block, or in it: an argument has an outer's name."""
    outer = None
    if block.parent_idx >= 0:
        outer = _named(block.program.blocks[block.parent_idx], name)
    return block.vars.get(name) if outer is None else outer


def _as_collection(value: Any, left: str, right: str) -> str:
    if isinstance(value, (frozenset, dict)):
        return "set(...)" if left == "{" else "list(...)"
    return f"{left}{getattr(value, 'name', None) or repr(value):.40}{right}"
