"""Operators of a program as boxes and arrows, for ``paddle.graph`` and ``Program.draw``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from autograd_engine.autograd.explain.graph_view import (
    Arrow,
    Box,
    Cluster,
    Graph,
    caption,
    elided,
    gap_box,
)
from autograd_engine.core.spec import format_shape
from autograd_engine.program.ir.program import (
    Block,
    Operator,
    Parameter,
    Program,
    Ref,
    Variable,
)

__all__ = ["graph_of_program", "graph_of_variables"]

Key = tuple[str, int]
_KINDS: Final = {"backward": "gradient", "optimize": "update"}


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
    drawing = _Drawing(limit)
    drawing.block(operators, _leaves(operators, [Ref(v, v.version) for v in results]))
    return drawing.graph()


def graph_of_program(program: Program, limit: int) -> Graph:
    """All operators of a program, those of its inner blocks in clusters."""
    operators = program.global_block().ops
    drawing = _Drawing(limit)
    drawing.block(operators, _leaves(operators, []))
    return drawing.graph()


def _leaves(operators: Sequence[Operator], results: Sequence[Ref]) -> list[Ref]:
    """What is read and not computed; and those of the results that are not."""
    made = {r.key for operator in operators for r in operator.results}
    leaves = {
        o.key: o
        for operator in operators
        for o in operator.operands
        if isinstance(o, Ref) and o.key not in made
    }
    for ref in results:
        if ref.key not in made:
            leaves.setdefault(ref.key, ref)
    return list(leaves.values())


class _Drawing:
    """Boxes and arrows, block by block.

    Parameters
    ----------
    limit : int
        Of more operators of a block than this, the middle is left out.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.boxes: list[Box] = []
        self.lines: dict[Arrow, None] = {}
        self.clusters: list[Cluster] = []
        self.operations = self.leaves = self.hidden = 0

    def graph(self) -> Graph:
        text = caption(self.operations, self.leaves, self.hidden)
        return Graph(tuple(self.boxes), tuple(self.lines), text, tuple(self.clusters))

    def _box(self, box: Box) -> int:
        self.boxes.append(box)
        return len(self.boxes) - 1

    def block(
        self, operators: Sequence[Operator], leaves: Sequence[Ref], cluster: int = -1
    ) -> dict[Key, int]:
        """Draw the operators of one block; the boxes that its values come from."""
        shown, hidden = elided(operators, self.limit)
        kept = set(shown)
        place = {ref.key: self._box(_leaf_box(ref)) for ref in leaves}
        first_operation = len(self.boxes)
        index: dict[Any, int] = {}
        gap = -1
        for operator in shown:
            if hidden and gap < 0 and operator is shown[self.limit // 2]:
                gap = self._box(gap_box(len(hidden)))
            kind = _KINDS.get(operator.role, "operation")
            index[operator] = self._box(Box(operator.type, (_made_at(operator),), kind))
        self.operations += len(operators)
        self.leaves += len(leaves)
        self.hidden += len(hidden)
        for operator in operators:
            for ref in operator.results:
                place[ref.key] = index.get(operator, gap)
        for operator in operators:
            target = index.get(operator, gap)
            for operand in operator.operands:
                if not isinstance(operand, Ref):
                    continue
                source = place[operand.key]
                if source == target or (operator not in kept and source < first_operation):
                    continue
                self._arrow(source, target, operand)
        for operator in shown:
            for name, value in operator.attrs.items():
                if isinstance(value, Block):
                    self._inner(value, name, operator, index[operator], cluster)
        return place

    def _arrow(self, source: int, target: int, ref: Ref) -> None:
        self.lines.setdefault(Arrow(source, target, f"{ref.var.name} {_spec(ref.var)}"))

    def _inner(self, block: Block, name: str, operator: Operator, box: int, parent: int) -> None:
        """A block inside an operator: what it takes, does and returns."""
        number, start = len(self.clusters), len(self.boxes)
        title = f"block {block.idx}: {name} of {operator.type}"
        self.clusters.append(Cluster(title, (), parent))
        inner = [Ref(v, 0) for v in block.arguments]
        place = self.block(block.ops, inner, number)
        end = self._box(Box("returned", (), "gap"))
        for ref in block.results:
            if ref.key in place:
                self._arrow(place[ref.key], end, ref)
        taken = {n for c in self.clusters[number + 1 :] for n in c.boxes}
        own = tuple(n for n in range(start, end + 1) if n not in taken)
        self.clusters[number] = Cluster(title, own, parent)
        self.lines.setdefault(Arrow(end, box, name))


def _made_at(operator: Operator) -> str:
    at = operator.location
    return f"{at}  {at.text}".rstrip()


def _spec(variable: Variable) -> str:
    return f"{variable.spec.dtype.name}{format_shape(variable.spec.shape)}"


def _leaf_box(ref: Ref) -> Box:
    kind = "Parameter " if isinstance(ref.var, Parameter) else ""
    notes = (_spec(ref.var), f"stop_gradient={ref.var.stop_gradient}")
    return Box(f"{kind}{ref.var.name}", notes, "leaf")
