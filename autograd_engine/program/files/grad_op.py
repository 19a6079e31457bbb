"""Gradient operators of documents: pullbacks of the table, and of nothing else.

Blocks remember gradients that exist, so that they are not made again; that is read here as well.
"""

from __future__ import annotations

import itertools
from typing import Any

from autograd_engine.core.spec import may_equal
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.program.files.attrs import named_operation
from autograd_engine.program.files.fields import (
    fail,
    read_bool,
    read_fields,
    read_int,
    read_list,
    read_text,
    shown,
)
from autograd_engine.program.files.values import read_dtype
from autograd_engine.program.files.writer import SEEDED
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Block

__all__ = ["read_gradop", "read_emitted"]


def read_gradop(op: OpDef, fields: Any, operands: Any, results: Any, where: str) -> GradOp:
    """The gradient operation that a document describes."""
    counts = _counts(op, fields.get("counts", {}), f"{where}.counts")
    given = len(op.inputs) - op.variadic + counts.get(op.inputs[-1] if op.inputs else "", 0)
    wanted = _positions(fields["wanted"], given, f"{where}.wanted")
    project = _positions(fields.get("project", []), given, f"{where}.project")
    for k in wanted:
        if op.rule_at(k) is None:
            fail(f"{where}.wanted", f"{op.name} has no gradient for {op.input_at(k)!r}")
    if not wanted:
        fail(f"{where}.wanted", "is empty")
    if project and op.broadcasts is None:
        fail(f"{where}.project", f"{op.name} broadcasts nothing")
    mask, projected = sum(1 << k for k in wanted), sum(1 << k for k in project)
    pullback = op.pullback(mask, projected)
    if read_bool(fields.get("strong", False), f"{where}.strong"):
        pullback = pullback.strengthened()
    if read_bool(fields.get("guarded", False), f"{where}.guarded"):
        pullback = pullback.guarded()
    saved = read_list(fields["saved"], f"{where}.saved")
    if saved != [*pullback.saved]:
        fail(
            f"{where}.saved",
            f"the gradient of {op.name} reads {list(pullback.saved)} in this version, and "
            f"{shown(str(saved))} in the file: build the program again",
        )
    _check_operands(pullback, counts, operands, results, where)
    return GradOp.of(pullback, counts)


def _counts(op: OpDef, value: Any, where: str) -> dict[str, int]:
    """How many operands each variadic name stands for."""
    names = [*op.inputs[-1:]] if op.variadic else []
    names += [op.outputs[0]] if op.variadic_output else []
    fields = read_fields(value, where, tuple(names))
    return {name: read_int(fields[name], where, 0, 10**6) for name in names}


def _positions(value: Any, count: int, where: str) -> list[int]:
    found = [read_int(k, where, 0, count) for k in read_list(value, where)]
    if any(a >= b for a, b in itertools.pairwise(found)):
        fail(where, "must be in rising order, without repetition")
    return found


def _check_operands(
    pullback: Pullback, counts: dict[str, int], operands: Any, results: Any, where: str
) -> None:
    op = pullback.op
    known = (*op.inputs, *op.outputs)
    bases = [n if n in known else n.removesuffix("_like") for n in pullback.saved]
    reads = sum(counts.get(base, 1) for base in bases)
    cotangents = sum(counts.get(o, 1) for o in op.outputs)
    if len(operands) != reads + cotangents:
        fail(
            where,
            f"the gradient of {op.name} takes {reads + cotangents} operands, got {len(operands)}",
        )
    if len(results) != len(pullback.wanted):
        fail(where, f"has {len(results)} results for {len(pullback.wanted)} wanted gradients")
    missing = [k for k, o in enumerate(operands) if o is None]
    if any(k < reads for k in missing) or (missing and not op.multiple):
        fail(where, "only a cotangent may be null, of an operation with several results")
    if len(missing) == cotangents:
        fail(where, "no cotangent arrives")
    _check_results(pullback, bases, counts, operands, results, where)


def _check_results(
    pullback: Pullback,
    bases: list[str],
    counts: dict[str, int],
    operands: Any,
    results: Any,
    where: str,
) -> None:
    """A gradient has the spec of what it belongs to, where the operator reads that."""
    op, place, start = pullback.op, 0, {}
    for base in bases:
        start[base] = place
        place += counts.get(base, 1)
    for k, ref in zip(pullback.wanted, results, strict=True):
        name = op.input_at(k)
        if name not in start:
            continue
        operand = operands[start[name] + max(0, k - len(op.inputs) + 1) * (name in counts)]
        spec = operand.spec
        if not may_equal(ref.var.spec.shape, spec.shape) or ref.var.spec.dtype != spec.dtype:
            fail(
                where,
                f"the gradient {ref.var.name!r} is {ref.var.spec}, of an operand that is {spec}",
            )


def read_emitted(block: Block, value: Any, where: str) -> None:
    """Fill `block.emitted`; what is computed gets numbers of its own there."""
    numbers: dict[int, int] = {}
    for k, entry in enumerate(read_list(value, where)):
        at = f"{where}[{k}]"
        if type(entry) is dict and "rule" in entry:
            fields = read_fields(entry, at, ("rule", "of", "number"))
            op = named_operation(fields["rule"], at)
            parts = _key(fields["of"], at)
            number = read_int(fields["number"], at)
            numbers[number] = block.emitted.setdefault((op, *parts), len(block.emitted))
            continue
        fields = read_fields(entry, at, ("key", "variable"))
        key = _key(fields["key"], at)
        name = fields["variable"]
        var = block.vars.get(name) if type(name) is str else None
        if var is None:
            fail(at, f"there is no variable {shown(name)} in block {block.idx}")
        if key and type(key[0]) is int and len(key) == 2:
            if type(key[1]) is not int or key[1] not in numbers:
                fail(at, f"{shown(key[1])} is the number of no rule before it")
            key = key[0], numbers[key[1]]
        elif not key or type(key[0]) is not str or key[0] not in SEEDED:
            fail(at, "is no key of a gradient")
        block.emitted[key] = var


def _key(value: Any, where: str) -> tuple[Any, ...]:
    made: list[Any] = []
    for part in read_list(value, where):
        kind = type(part)
        if kind is list:
            made.append(_key(part, where))
        elif part is None or kind is bool:
            made.append(part)
        elif kind is int:
            made.append(read_int(part, where, -(2**128), 2**128))
        elif kind is str:
            made.append(read_text(part, where))
        elif kind is dict and part.keys() == {"dtype"}:
            made.append(read_dtype(part["dtype"], where))
        elif kind is dict and part == {"ellipsis": True}:
            made.append(Ellipsis)
        else:
            fail(where, f"{shown(part)} is no part of a key")
    return tuple(made)
