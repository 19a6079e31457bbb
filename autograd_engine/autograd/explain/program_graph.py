"""Operators of a program as boxes and arrows, for ``paddle.graph`` and ``Program.draw``.

And as tables, which notebooks show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from autograd_engine.autograd.explain.graph_view import (
    Arrow,
    Box,
    Cluster,
    Drawing,
    Graph,
    caption,
    elided,
    leaf_box,
    made_at,
)
from autograd_engine.autograd.explain.programs import leading
from autograd_engine.core.atomic_file import write_atomically
from autograd_engine.core.report import preformatted, table
from autograd_engine.core.spec import format_shape
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.program.ir.program import (
    Block,
    Literal,
    Operator,
    Parameter,
    Program,
    Ref,
    Variable,
)
from autograd_engine.program.printing import attribute_text

__all__ = ["graph_of_program", "graph_of_variables", "draw", "program_html"]

Key = tuple[str, int]
_KINDS: Final = {"backward": "gradient", "optimize": "update"}


def graph_of_variables(results: Sequence[Variable], limit: int) -> Graph:
    """Operators of the block that `results` depend on, and the variables that these start from."""
    goals = [Ref(v, v.version) for v in results]
    operators, _ = leading(results[0].block, [ref.key for ref in goals])
    drawing = _Drawing(limit)
    drawing.block(operators, _leaves(operators, goals))
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


class _Drawing(Drawing):
    """Boxes and arrows, block by block.

    Parameters
    ----------
    limit : int
        Of more operators of a block than this, the middle is left out.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.clusters: list[Cluster] = []
        self.operators = self.leaves = self.hidden = 0

    def graph(self) -> Graph:
        text = caption(self.operators, self.leaves, self.hidden)
        return Graph(tuple(self.boxes), tuple(self.lines), text, tuple(self.clusters))

    def block(
        self, operators: Sequence[Operator], leaves: Sequence[Ref], cluster: int = -1
    ) -> dict[Key, int]:
        """Draw the operators of one block; the boxes that its values come from."""
        shown, hidden = elided(operators, self.limit)
        kept = set(shown)
        place = {ref.key: self.box(_leaf_box(ref)) for ref in leaves}
        first_operation = len(self.boxes)
        index = self.operations(shown, hidden, _operator_box)
        self.operators += len(operators)
        self.leaves += len(leaves)
        self.hidden += len(hidden)
        for operator in operators:
            for ref in operator.results:
                place[ref.key] = index[operator]
        for operator in operators:
            target = index[operator]
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
        end = self.box(Box("returned", (), "gap"))
        for ref in block.results:
            if ref.key in place:
                self._arrow(place[ref.key], end, ref)
        taken = {n for c in self.clusters[number + 1 :] for n in c.boxes}
        own = tuple(n for n in range(start, end + 1) if n not in taken)
        self.clusters[number] = Cluster(title, own, parent)
        self.lines.setdefault(Arrow(end, box, name))


def _operator_box(operator: Operator) -> Box:
    kind = _KINDS.get(operator.role, "operation")
    return Box(operator.type, (made_at(operator.location),), kind)


def _spec(variable: Variable) -> str:
    return f"{variable.spec.dtype.name}{format_shape(variable.spec.shape)}"


def _leaf_box(ref: Ref) -> Box:
    return leaf_box(ref.var, isinstance(ref.var, Parameter), _spec(ref.var))


_FORMATS: Final = {".dot": "dot", ".gv": "dot", ".svg": "svg"}
_MOST_ROWS: Final = 200


def draw(
    program: Program,
    path: str | PathLike[str] | None = None,
    format: str | None = None,
    limit: int = 500,
) -> str:
    """`Program.draw`."""
    if format not in (None, "dot", "svg"):
        raise ArgumentError(f"draw: format must be 'dot' or 'svg', got {format!r}")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 2:
        raise ArgumentError(f"draw: limit must be an integer of 2 or more, got {limit!r}")
    if path is not None and not isinstance(path, (str, PathLike)):
        raise ArgumentTypeError(f"draw: path must be a str or a path, got {type(path).__name__}")
    file = None if path is None else Path(fspath(path))
    if format is None and file is not None:
        format = _FORMATS.get(file.suffix.lower())
        if format is None:
            raise ArgumentError(
                f"draw: {str(path)!r} ends in {file.suffix or 'nothing'!r}; use .dot or .svg, or "
                "say format='dot' or 'svg'"
            )
    graph = graph_of_program(program, limit)
    text = graph.svg() if format == "svg" else graph.dot
    if file is not None:
        write_atomically(file, text)
    return text


def program_html(program: Program) -> str:
    """A table of operators and one of variables for each block, which can be folded away."""
    parts = [f"<b>Program</b> {_counts(program)}"]
    parts += [_block_html(block) for block in program.blocks]
    return "<div>\n" + "\n".join(parts) + "\n</div>"


def _counts(program: Program) -> str:
    operators = sum(len(block.ops) for block in program.blocks)
    parameters = len(program.all_parameters())
    words = [(operators, "operator"), (parameters, "parameter"), (len(program.blocks), "block")]
    return ", ".join(f"{n} {word}{'' if n == 1 else 's'}" for n, word in words)


def _block_html(block: Block) -> str:
    inner = ""
    if block.parent_idx >= 0:
        returned = ", ".join(r.var.name for r in block.results) or "nothing"
        inner = f" inside block {block.parent_idx}, returns {returned}"
    state = " open" if block.idx == 0 else ""
    return (
        f"<details{state}><summary>{escape(f'block {block.idx}{inner}')}</summary>\n"
        f"{_listed(block.ops, _operator_row, _OPERATOR_HEAD)}\n"
        f"<details><summary>{len(block.vars)} variables</summary>\n"
        f"{_listed(list(block.vars.values()), _variable_row, _VARIABLE_HEAD)}\n"
        "</details>\n</details>"
    )


_OPERATOR_HEAD: Final = ("", "operator", "reads", "gives", "attributes", "role", "made at")
_VARIABLE_HEAD: Final = ("name", "shape and dtype", "kind", "stop_gradient")


def _listed(items: list[Any], row: Any, head: tuple[str, ...]) -> str:
    shown, hidden = elided(items, _MOST_ROWS)
    if not hidden:
        return table((row(n, item) for n, item in enumerate(items)), head)
    first = _MOST_ROWS // 2
    start = len(items) - (len(shown) - first)
    return "\n".join(
        (
            table((row(n, item) for n, item in enumerate(shown[:first])), head),
            preformatted(f"... {len(hidden)} between are not shown ..."),
            table((row(start + n, item) for n, item in enumerate(shown[first:])), head),
        )
    )


def _operator_row(number: int, operator: Operator) -> tuple[str, ...]:
    return (
        f"#{number}",
        operator.type,
        ", ".join(_reads(operator)),
        ", ".join(f"{r.var.name} {_row_spec(r.var)}" for r in operator.results),
        ", ".join(f"{k}={attribute_text(v)}" for k, v in operator.attrs.items()),
        operator.role,
        made_at(operator.location),
    )


def _reads(operator: Operator) -> Iterator[str]:
    for operand in operator.operands:
        if isinstance(operand, Ref):
            yield operand.var.name
        elif isinstance(operand, Literal):
            yield attribute_text(operand.value)


def _variable_row(number: int, variable: Variable) -> tuple[str, ...]:
    kind = "parameter" if hasattr(type(variable), "trainable") else "kept in the scope"
    if not variable.persistable:
        kind = "fed" if variable.is_data else ""
    return variable.name, _row_spec(variable), kind, str(variable.stop_gradient)


def _row_spec(variable: Variable) -> str:
    return f"list of {_spec(variable)}" if variable.is_stack else _spec(variable)
