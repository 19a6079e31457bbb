"""What changes in a program that no longer trains.

Random masks become what they are worth on average (their attribute ``training``), batch
normalisation reads its running statistics, and nothing writes these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from autograd_engine import unique_name
from autograd_engine.core.dtypes import common_dtype
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.backward.decompose import as_variable
from autograd_engine.program.builder import emitting
from autograd_engine.program.ir.control_flow_op import body_of, kind_of
from autograd_engine.program.ir.program import (
    Block,
    Key,
    Operator,
    Program,
    Ref,
)
from autograd_engine.program.operands import spec_of

__all__ = ["Statistics", "running_statistics", "write_inference_form"]


class Statistics(NamedTuple):
    """A standardisation, and the running statistics that follow its moments."""

    operator: Operator
    mean: Ref
    variance: Ref


def running_statistics(blocks: Iterable[Block]) -> tuple[list[Statistics], set[int]]:
    """What batch normalisations keep, and the operators that keep it, by `id`."""
    found: list[Statistics] = []
    writers: set[int] = set()
    for block in blocks:
        made = {r.key: op for op in block.ops for r in op.results}
        followed: dict[int, dict[str, Ref]] = {}
        updates: set[Key] = set()
        for operator in block.ops:
            first = operator.operands[0] if operator.operands else None
            if operator.op.name == "running_statistic":
                running, statistic = operator.operands
                assert isinstance(running, Ref)
                assert isinstance(statistic, Ref)
                source = made[statistic.key]
                position = [r.key for r in source.results].index(statistic.key)
                names = followed.setdefault(id(source), {})
                names[source.op.output_at(position)] = running
                updates.add(operator.results[0].key)
                writers.add(id(operator))
            elif operator.op.name == "assign" and isinstance(first, Ref) and first.key in updates:
                writers.add(id(operator))
        found += (
            Statistics(op, followed[id(op)]["mean"], followed[id(op)]["variance"])
            for op in block.ops
            if followed.get(id(op), {}).keys() >= {"mean", "variance"}
        )
    return found, writers


def write_inference_form(program: Program, statistics: Iterable[Statistics]) -> None:
    """Change `program`, which nobody else has seen yet, to what it is when it does not train."""
    for block in program.blocks:
        for operator in block.ops:
            if isinstance(operator.op, OpDef) and "training" in operator.attrs:
                operator.attrs = {**operator.attrs, "training": False}
            appended = operator.appended
            if appended is not None and "is_test" in appended.attrs:
                attrs = {**appended.attrs, "is_test": True}
                operator.appended = appended._replace(attrs=attrs)
    with unique_name.guard(unique_name.after(v.name for v in program.list_vars())):
        for found in statistics:
            _standardize_with(found)
    for block in program.blocks:
        _drop_stacks(block)
    program.changed()


def _standardize_with(found: Statistics) -> None:
    """Put what standardises with given moments in the place of an operator that takes its own."""
    operator = found.operator
    block, out = operator.block, operator.results[0].var
    x = operator.operands[0]
    assert isinstance(x, Ref)
    axes = operator.attrs["axis"]
    shape = tuple(1 if a in axes else -1 for a in range(x.var.ndim))
    sink: list[Operator] = []
    prefix = out.name.rpartition(".tmp_")[0] or out.name
    with emitting(prefix, operator.role, operator.location, sink, block):
        value, mean, variance = map(as_variable, (x, found.mean, found.variance))
        result = standardize_with(value, mean, variance, shape, operator.attrs["epsilon"])
        if operator.op.name == "standardize_affine":
            factor, term = (ops.reshape(as_variable(v), shape=shape) for v in operator.operands[1:])
            result = result * factor + term
    del block.vars[result.name]
    sink[-1].results = (Ref(out, 0),)
    for ref in operator.results[1:]:
        del block.vars[ref.var.name]
    at = next(k for k, op in enumerate(block.ops) if op is operator)
    block.ops[at : at + 1] = sink


def _drop_stacks(block: Block) -> None:
    """What loops push for gradients only, and nobody reads now."""
    read = {o.key for op in block.ops for o in op.operands if isinstance(o, Ref)}
    read.update(r.key for r in block.results)
    for operator in block.ops:
        if kind_of(operator) == "while":
            _drop_unread(operator, read)


def _drop_unread(operator: Operator, read: set[Key]) -> None:
    body, carried = body_of(operator), operator.attrs["carried"]
    results, pushes = list(operator.results[: carried + 1]), list(body.results[:carried])
    stacks = operator.results[carried + 1 :]
    for ref, pushed in zip(stacks, body.results[carried:], strict=True):
        if ref.key in read:
            results.append(ref)
            pushes.append(pushed)
        else:
            del operator.block.vars[ref.var.name]
    operator.results, body.results = tuple(results), pushes


def standardize_with(x: Any, mean: Any, variance: Any, spread: Any, epsilon: float) -> Any:
    """Standardise with given moments, in the dtype in which all meet."""
    common = common_dtype([spec_of(v).dtype for v in (x, mean, variance)])
    mean, variance = (
        v if spec_of(v).dtype == common else ops.cast(v, dtype=common.name)
        for v in (mean, variance)
    )
    deviation = ops.sqrt(ops.reshape(variance, shape=spread) + epsilon)
    return (x - ops.reshape(mean, shape=spread)) / deviation
