"""Changing what is there: operators taken out, renamed, given other attributes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from autograd_engine.core.locations import say_where
from autograd_engine.core.spec import may_equal
from autograd_engine.errors import ArgumentTypeError, BuildError
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.backward.decompose import as_variable
from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.program import Block, Operator, Ref, Variable
from autograd_engine.static.operator_types.building import Building, require_fit, variable_named
from autograd_engine.static.operator_types.table import operator_type
from autograd_engine.static.operator_types.versions import (
    forget_write,
    gradients_forgotten,
    is_made,
    is_open,
    version_at,
    written_between,
)

__all__ = [
    "remove_op",
    "remove_var",
    "rename_input",
    "rename_output",
    "rename_var",
    "set_attr",
]

T = TypeVar("T")


def _of_its_line(
    function: Callable[[Operator, str, T], None],
) -> Callable[[Operator, str, T], None]:
    """`function` such that its errors name the line that has built the operator."""

    @functools.wraps(function)
    def call(operator: Operator, name: str, value: T, /) -> None:
        try:
            function(operator, name, value)
        except Exception as error:
            say_where(error, f"{operator.type} of {operator.location.with_text}")
            raise

    return call


def remove_op(block: Block, index: int) -> None:
    """`Block._remove_op`."""
    count = len(block.ops)
    if isinstance(index, bool) or not isinstance(index, int):
        raise ArgumentTypeError(f"_remove_op: index must be an int, got {type(index).__name__}")
    if not -count <= index < count:
        raise BuildError(f"_remove_op: there is no operator {index}; the block has {count}")
    _require_unread(block, block.ops[index])
    operator = block.ops.pop(index)
    for ref in operator.results:
        forget_write(block, ref)
    for inner in inner_blocks(operator):
        _drop_block(inner)
    gradients_forgotten(block)


def _require_unread(block: Block, operator: Operator) -> None:
    """Raise BuildError for what a block that is built would lack: nothing there can be fed."""
    if is_open(block):
        return
    for ref in operator.results:
        readers = [
            f"{other.type} of {other.location.with_text} reads: rename that input first"
            for other in block.ops
            if any(isinstance(o, Ref) and o.key == ref.key for o in other.operands)
        ]
        if any(r.key == ref.key for r in block.results):
            readers.append("the block returns: it has to make it")
        if readers and not ref.version:
            raise BuildError(
                f"_remove_op: {operator.type} of {operator.location.with_text} makes "
                f"{ref.var.name} in a block that is built, which {readers[0]}"
            )


def _drop_block(block: Block) -> None:
    """Take a block, and those inside of it, out of the program."""
    program = block.program
    for operator in block.ops:
        for inner in inner_blocks(operator):
            _drop_block(inner)
    gone = block.idx
    program.blocks.remove(block)
    for other in program.blocks:
        other.idx -= other.idx > gone
        other.parent_idx -= other.parent_idx > gone
        if other.forward_idx == gone:
            other.forward_idx = -1
        other.forward_idx -= other.forward_idx > gone


# --- names


def remove_var(block: Block, name: str) -> None:
    """`Block._remove_var`."""
    var = block.var(name)
    for operator in block.ops:
        if any(
            isinstance(r, Ref) and r.var is var for r in (*operator.operands, *operator.results)
        ):
            raise BuildError(
                f"_remove_var: {operator.type} of {operator.location.with_text} reads or writes "
                f"{name}; remove it first"
            )
    del block.vars[name]
    gradients_forgotten(block)


def rename_var(block: Block, name: str, new_name: str) -> Variable:
    """`Block._rename_var`."""
    var = block.var(name)
    if not isinstance(new_name, str) or not new_name:
        raise ArgumentTypeError(f"_rename_var: new_name must be a non-empty str, got {new_name!r}")
    if new_name in block.vars:
        raise BuildError(f"_rename_var: the block has a variable {new_name!r} already")
    block.vars = {new_name if n == name else n: v for n, v in block.vars.items()}
    var.name = new_name
    for operator in block.ops:
        if operator.appended is not None:
            operator.appended = operator.appended.with_name(name, new_name)
        operator.trains = tuple(
            [tuple(new_name if n == name else n for n in pair) for pair in operator.trains]  # type: ignore[misc]
        )
        for inner in inner_blocks(operator):
            inner.captured = {
                (new_name if n == name else n, k): v for (n, k), v in inner.captured.items()
            }
    gradients_forgotten(block)
    return var


def _named(operator: Operator, refs: Any, name: str, what: str) -> None:
    if not any(isinstance(r, Ref) and r.var.name == name for r in refs):
        known = ", ".join(dict.fromkeys(r.var.name for r in refs if isinstance(r, Ref))) or "none"
        raise BuildError(
            f"{operator.type} of {operator.location.with_text} has no {what} {name!r}; it has "
            f"{known}"
        )


def _variable(operator: Operator, name: str, function: str) -> Variable:
    return variable_named(operator.block, name, f"{function}: new_name")


@_of_its_line
def rename_input(operator: Operator, old_name: str, new_name: str) -> None:
    """`Operator._rename_input`."""
    block = operator.block
    _named(operator, operator.operands, old_name, "input")
    new = _variable(operator, new_name, "_rename_input")
    with block.restored_on_error():
        if new.declared:
            new.read_first()
        new = new.seen_from(block)
        at = operator.idx
        ref = Ref(new, version_at(block, new, at))
        if not is_made(block, ref, at):
            raise BuildError(
                f"_rename_input: {operator.type} of {operator.location.with_text} would read "
                f"{new_name}, which an operator further on makes"
            )
        operands = tuple(
            [ref if isinstance(o, Ref) and o.var.name == old_name else o for o in operator.operands]
        )
        _rebuilt(operator, operands, operator.attrs, None)


@_of_its_line
def rename_output(operator: Operator, old_name: str, new_name: str) -> None:
    """`Operator._rename_output`."""
    block = operator.block
    _named(operator, operator.results, old_name, "output")
    new = _variable(operator, new_name, "_rename_output")
    if new.block is not block:
        raise BuildError(f"_rename_output: {new_name} belongs to another block than the operator")
    position = next(k for k, r in enumerate(operator.results) if r.var.name == old_name)
    old = operator.results[position]
    with block.restored_on_error():
        if new.declared:
            ref = new.written_first(old.var.spec, old.var.stop_gradient)
        else:
            require_fit(f"_rename_output: {operator.type}", new, old.var)
            at = operator.idx
            ref = written_between(block, new, at)
            new.version += 1
            block.written.append(new)
    results = list(operator.results)
    results[position] = ref
    operator.results = tuple(results)
    forget_write(block, old)
    gradients_forgotten(block)


# --- attributes


@_of_its_line
def set_attr(operator: Operator, name: str, value: Any) -> None:
    """`Operator.set_attr`."""
    if name in ("op_device", "op_namescope"):
        setattr(operator, name, str(value))
        return
    operator.attr(name)  # there is one of that name
    appended = operator.appended
    if appended is None:
        if name not in operator.attrs or not isinstance(operator.op, OpDef):
            raise BuildError(
                f"set_attr: {name} of {operator.type} says what the operator is for, and cannot be "
                "set; its own attributes are " + (", ".join(operator.attrs) or "none")
            )
        attrs = {**operator.attrs, name: value}
        with operator.block.restored_on_error():
            _rebuilt(operator, operator.operands, attrs, None)
        return
    if name not in appended.attrs:
        raise BuildError(
            f"set_attr: {name} of {operator.type} says what the operator is for, and cannot be set"
        )
    with operator.block.restored_on_error():
        _rebuilt(operator, operator.operands, operator.attrs, {**appended.attrs, name: value})


def _rebuilt(
    operator: Operator, operands: tuple[Any, ...], attrs: dict[str, Any], given: Any
) -> None:
    """Let the operator be what it would be with these operands and attributes."""
    block = operator.block
    _require_no_gradient(operator)
    if operator.appended is not None:
        _appended_again(operator, operands, operator.appended.attrs if given is None else given)
    else:
        op = operator.op
        if not isinstance(op, OpDef):
            raise BuildError(
                f"{operator.type} of {operator.location.with_text} has blocks of its own, and "
                "cannot be changed: build it again"
            )
        specs = op.infer_tuple([o.spec for o in operands], attrs)
        for ref, spec in zip(operator.results, specs, strict=True):
            _require_like(operator, ref.var, spec)
        operator.operands, operator.attrs = operands, attrs
    block.program.changed()


def _appended_again(operator: Operator, operands: tuple[Any, ...], attrs: Any) -> None:
    block, appended = operator.block, operator.appended
    assert appended is not None
    kind = operator_type(appended.type)
    if kind.of_block:
        raise BuildError(
            f"{operator.type} of {operator.location.with_text} has a block of its own, and cannot "
            "be changed: build it again"
        )
    building = Building(block, kind, kind.complete(attrs), operator.role, operator.location)
    given: Any = operands
    read = {slot: [as_variable(given[k]) for k in at] for slot, at in appended.inputs}
    results = operator.results
    written = {
        slot: [results[k].var if isinstance(k, int) else block.var(k) for k in at]
        for slot, at in appended.outputs
    }
    goals = building.compute(read, written)
    by_target = {id(r.var): r for r in results}
    targets, made = [t for t, _ in goals], [v for _, v in goals]
    for target, v in goals:
        _require_like(operator, target, v.spec)
    refs = [by_target[id(t)] for t in targets]
    new = building.assemble(made, refs, targets)
    now = {o.key: o for o in operands if isinstance(o, Ref)}
    operator.operands = tuple(
        [now.get(o.key, o) if isinstance(o, Ref) else o for o in new.operands]
    )
    old = inner_blocks(operator)
    operator.op, operator.results, operator.attrs = new.op, new.results, new.attrs
    operator.appended = building.appended(
        operator, written, {id(t): r for t, r in zip(targets, refs, strict=True)}
    )
    for inner in old:
        _drop_block(inner)


def _require_like(operator: Operator, var: Variable, spec: Any) -> None:
    if var.spec.dtype != spec.dtype or not may_equal(var.spec.shape, spec.shape):
        raise BuildError(
            f"{operator.type} of {operator.location.with_text} would make {spec} then, and what "
            f"reads {var.name} was built for {var.spec}: append another operator in its place"
        )


def _require_no_gradient(operator: Operator) -> None:
    """Raise BuildError where a gradient was made of the operator as it is: it bears its line."""
    if operator.role != "backward" and any(
        other.role == "backward"
        and other.location is operator.location
        and other.type.removesuffix("_grad") in (operator.type, operator.op.name)
        for other in operator.block.ops
    ):
        raise BuildError(
            f"{operator.type} of {operator.location.with_text} has a gradient already, which would "
            "be that of another operator: change it before append_backward, or in a "
            "program.clone(for_test=True)"
        )
