"""The operators that lead to variables of a program, for ``paddle.graph``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine.eager.graph_view import Arrow, Box, Graph, caption, elided, gap_box
from autograd_engine.spec import format_shape
from autograd_engine.static.program import Operator, Ref, Variable

__all__ = ["graph_of_variables"]

Key = tuple[str, int]


def graph_of_variables(results: Sequence[Variable], limit: int) -> Graph:
    """Operators of the block that `results` depend on, and the variables that these start from."""
    block = results[0].block
    needed: set[Key] = {(v.name, v.version) for v in results}
    operators: list[Operator] = []
    for operator in reversed(block.ops):
        if any(r.key in needed for r in operator.results):
            operators.append(operator)
            needed.update(o.key for o in operator.operands if isinstance(o, Ref))
    operators.reverse()
    made = {r.key for operator in operators for r in operator.results}
    leaves = {
        o.key: o
        for operator in operators
        for o in operator.operands
        if isinstance(o, Ref) and o.key not in made
    }
    for v in results:
        if (v.name, v.version) not in made:
            leaves.setdefault((v.name, v.version), Ref(v, v.version))
    return _draw(operators, list(leaves.values()), limit)


def _draw(operators: list[Operator], leaves: list[Ref], limit: int) -> Graph:
    shown, hidden = elided(operators, limit)
    kept = set(shown)
    boxes = [_leaf_box(ref) for ref in leaves]
    place: dict[Key, int] = {ref.key: n for n, ref in enumerate(leaves)}
    index: dict[Any, int] = {}
    gap = -1
    for operator in shown:
        if hidden and gap < 0 and operator is shown[limit // 2]:
            gap = len(boxes)
            boxes.append(gap_box(len(hidden)))
        index[operator] = len(boxes)
        boxes.append(Box(operator.type, (_made_at(operator),), "operation"))
    for operator in operators:
        for ref in operator.results:
            place[ref.key] = index.get(operator, gap)
    lines: dict[Arrow, None] = {}
    for operator in operators:
        target = index.get(operator, gap)
        for operand in operator.operands:
            if not isinstance(operand, Ref):
                continue
            source = place[operand.key]
            if source == target or (operator not in kept and source < len(leaves)):
                continue
            lines.setdefault(Arrow(source, target, f"{operand.var.name} {_spec(operand.var)}"))
    return Graph(tuple(boxes), tuple(lines), caption(len(operators), len(leaves), len(hidden)))


def _made_at(operator: Operator) -> str:
    at = operator.location
    return f"{at}  {at.text}".rstrip()


def _spec(variable: Variable) -> str:
    return f"{variable.spec.dtype.name}{format_shape(variable.spec.shape)}"


def _leaf_box(ref: Ref) -> Box:
    notes = (_spec(ref.var), f"stop_gradient={ref.var.stop_gradient}")
    return Box(ref.var.name, notes, "leaf")
