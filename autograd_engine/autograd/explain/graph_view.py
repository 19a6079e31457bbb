"""The graph behind a result, as dot text, as a drawing, as a table: ``paddle.graph``."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from autograd_engine.autograd.explain.graph_walk import arrows, specs_of, walk
from autograd_engine.core.atomic_file import write_atomically
from autograd_engine.core.locations import Location
from autograd_engine.core.report import preformatted, table
from autograd_engine.core.spec import Spec
from autograd_engine.eager.grad_node import freed_at, output_of, saved_entries, spec_text
from autograd_engine.eager.tape import Edge, Node, edge_of
from autograd_engine.eager.tensor import Parameter, Tensor
from autograd_engine.errors import ArgumentError, MissingLibraryError

__all__ = ["Arrow", "Box", "Cluster", "Drawing", "Graph", "graph_of_tensors", "leaf_box", "made_at"]

_STYLES = {
    "leaf": 'shape=box style="rounded,filled" fillcolor="#d5ebe3" color="#148b97"',
    "operation": 'shape=box style=filled fillcolor="#f4f4f4" color="#999999"',
    "gradient": 'shape=box style=filled fillcolor="#fbeee0" color="#c08a3e"',
    "update": 'shape=box style=filled fillcolor="#e3e8f7" color="#6a7cb8"',
    "gap": 'shape=plaintext fontcolor="#666666"',
}


class Box(NamedTuple):
    """An operation, a leaf, or ("gap") the part that is left out.

    Of a program, an operation may be a "gradient" or an "update".
    """

    title: str
    notes: tuple[str, ...]
    kind: str  # a key of _STYLES


class Arrow(NamedTuple):
    """A value on its way from one box to another, in the direction in which it was computed."""

    source: int
    target: int
    label: str


class Cluster(NamedTuple):
    """Boxes that belong together: a branch, or the body of a loop, of a program."""

    title: str
    boxes: tuple[int, ...]
    parent: int  # the index of the cluster around, -1 for none


@dataclass(frozen=True)
class Graph:
    """A drawing of a graph: in a notebook it shows itself.

    Attributes
    ----------
    boxes : tuple of Box
        Oldest first, leaves before operations.
    arrows : tuple of Arrow
        Between boxes, by their index.
    caption : str
        What is drawn, and how much of it.
    clusters : tuple of Cluster
        None but for programs with control flow.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> drawing = paddle.graph(paddle.sum(x * x))
    >>> drawing.caption
    '2 operations, 1 leaf'
    >>> [box.title for box in drawing.boxes][1:]
    ['multiply', 'sum']
    """

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    caption: str
    clusters: tuple[Cluster, ...] = ()

    @property
    def dot(self) -> str:
        """The graph in the language of graphviz."""
        lines = ["digraph G {", f'\tlabel={_quoted(self.caption)} fontname="Helvetica"']
        lines.append('\tnode [fontname="Helvetica" fontsize=11]')
        lines.append('\tedge [fontname="Helvetica" fontsize=9]')
        inside = {n for cluster in self.clusters for n in cluster.boxes}
        lines += self._box_lines((n for n in range(len(self.boxes)) if n not in inside), "\t")
        lines += self._cluster_lines(-1, "\t")
        for a in self.arrows:
            label = f" [label={_quoted(a.label)}]" if a.label else ""
            lines.append(f"\tn{a.source} -> n{a.target}{label}")
        return "\n".join([*lines, "}"]) + "\n"

    def _box_lines(self, boxes: Iterable[int], indent: str) -> Iterator[str]:
        for n in boxes:
            box = self.boxes[n]
            label = _quoted("\n".join((box.title, *box.notes)))
            yield f"{indent}n{n} [label={label} {_STYLES[box.kind]}]"

    def _cluster_lines(self, parent: int, indent: str) -> Iterator[str]:
        for k, cluster in enumerate(self.clusters):
            if cluster.parent == parent:
                yield f"{indent}subgraph cluster_{k} {{"
                yield f'{indent}\tlabel={_quoted(cluster.title)} style=rounded color="#999999"'
                yield from self._box_lines(cluster.boxes, f"{indent}\t")
                yield from self._cluster_lines(k, f"{indent}\t")
                yield f"{indent}}}"

    def svg(self) -> str:
        """The drawing as an SVG element.

        Raises
        ------
        MissingLibraryError
            Without the ``graphviz`` package, or without its program ``dot``.
        """
        try:
            graphviz = importlib.import_module("graphviz")
        except ImportError:
            raise MissingLibraryError(
                "graph(...).svg() draws with the graphviz package, which is not installed: pip "
                'install "autograd-engine[notebook]"; .dot and the HTML view need nothing'
            ) from None
        try:
            drawn: str = graphviz.Source(self.dot).pipe(format="svg", encoding="utf-8")
        except graphviz.ExecutableNotFound:
            raise MissingLibraryError(
                "graph(...).svg() draws with graphviz's program dot, which is not on the PATH: "
                "install graphviz with the package manager of the system; .dot and the HTML view "
                "need nothing"
            ) from None
        return drawn[drawn.index("<svg") :]

    def html(self) -> str:
        """The graph as a table: what each operation reads and where it was called."""
        reads: dict[int, list[str]] = {}
        gives: dict[int, str] = {}
        for a in self.arrows:
            source = self.boxes[a.source]
            name = source.title if source.kind == "leaf" else f"#{a.source}"
            reads.setdefault(a.target, []).append(name)
            gives.setdefault(a.source, a.label)
        rows = [
            (
                f"#{n}",
                box.title,
                ", ".join(reads.get(n, [])),
                gives.get(n, ""),
                "  ".join(box.notes),
            )
            for n, box in enumerate(self.boxes)
        ]
        head = ("", "operation or leaf", "reads", "gives", "made at")
        return preformatted(self.caption) + "\n" + table(rows, head)

    def _repr_html_(self) -> str:
        try:
            return self.svg()
        except MissingLibraryError:
            return self.html()

    def save(self, path: str | Path) -> None:
        """Write the drawing: ``.dot`` or ``.gv`` text, ``.svg``, or an ``.html`` page.

        The file is written whole or not at all.

        Raises
        ------
        ArgumentError
            For another suffix.
        MissingLibraryError
            For ``.svg`` without graphviz.
        """
        suffix = Path(path).suffix.lower()
        if suffix in (".dot", ".gv"):
            text = self.dot
        elif suffix == ".svg":
            text = self.svg()
        elif suffix in (".html", ".htm"):
            text = f'<!DOCTYPE html>\n<meta charset="utf-8">\n{self._repr_html_()}\n'
        else:
            raise ArgumentError(
                f"graph(...).save: {str(path)!r} ends in {suffix or 'nothing'!r}; use .dot, .svg "
                "or .html"
            )
        write_atomically(Path(path), text)

    def __repr__(self) -> str:
        return f"<Graph: {self.caption}; .dot, .svg(), .save('graph.svg')>"


_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")


def _quoted(text: str) -> str:
    """A label as dot reads it: characters as they are, lines centred."""
    text = _CONTROL.sub(" ", text).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n") + '"'


class Drawing:
    """Boxes, and arrows between them, as they are added."""

    def __init__(self) -> None:
        self.boxes: list[Box] = []
        self.lines: dict[Arrow, None] = {}

    def box(self, box: Box) -> int:
        self.boxes.append(box)
        return len(self.boxes) - 1

    def operations(
        self, shown: list[Any], hidden: list[Any], box_of: Callable[[Any], Box]
    ) -> dict[Any, int]:
        """The box of each operation; those that are left out have one in the middle."""
        index: dict[Any, int] = {}
        for n, operation in enumerate(shown):
            if hidden and n == len(shown) // 2:
                text = f"... {len(hidden)} operations between are not drawn ..."
                index.update(dict.fromkeys(hidden, self.box(Box(text, (), "gap"))))
            index[operation] = self.box(box_of(operation))
        return index


def graph_of_tensors(results: Sequence[Tensor], limit: int) -> Graph:
    roots = [edge_of(t) for t in results if not t.stop_gradient]
    if not roots:
        names = ", ".join(t.name for t in results)
        return Graph((), (), f"no graph: stop_gradient of {names} is True")
    known = {
        output_of(edge_of(t)): Spec(t._data.shape, t._data.dtype)
        for t in results
        if not t.stop_gradient
    }
    edges = walk(roots)
    nodes = [e for e in edges if isinstance(e, Node)][::-1]
    leaves = [e for e in edges if not isinstance(e, Node)]
    shown, hidden = elided(nodes, limit)
    kept = set(shown)
    touched = {source for node in shown for _, source, _ in arrows(node)} | set(roots)
    drawn = [t for t in leaves if t in touched]
    surplus = drawn[2 * limit :]
    del drawn[2 * limit :]
    drawing = Drawing()
    index: dict[Edge, int] = {t: drawing.box(_leaf_box(t)) for t in drawn}
    if surplus:
        text = f"... {len(surplus)} more leaves are not drawn ..."
        index.update(dict.fromkeys(surplus, drawing.box(Box(text, (), "gap"))))
    index |= drawing.operations(shown, hidden, _operation_box)
    near = edges
    if hidden:  # what is not drawn has no labels either
        wanted = kept | touched
        near = [e for e in edges if e in wanted]
    specs = specs_of(near, known)
    for node in [*shown, *hidden]:
        for _, source, output in arrows(node):
            if node not in kept and source not in kept:
                continue
            spec = specs.get((source, output))
            label = "" if spec is None else spec_text(spec.shape, spec.dtype.name)
            if isinstance(source, Node) and source.pullback.op.multiple:
                label = f"{_output_name(source, output)} {label}".rstrip()
            drawing.lines.setdefault(Arrow(index[source], index[node], label))
    text = caption(len(nodes), len(leaves), len(hidden))
    return Graph(tuple(drawing.boxes), tuple(drawing.lines), text)


def _output_name(node: Node, output: int) -> str:
    op = node.pullback.op
    return f"{op.outputs[0]}[{output}]" if op.variadic_output else op.output_at(output)


def elided(operations: Sequence[Any], limit: int) -> tuple[list[Any], list[Any]]:
    """(shown, left out): of more than `limit`, the middle is left out."""
    if len(operations) <= limit:
        return list(operations), []
    first = limit // 2
    last = len(operations) - (limit - first)
    return [*operations[:first], *operations[last:]], list(operations[first:last])


def caption(operations: int, leaves: int, hidden: int) -> str:
    noun = "operation" if operations == 1 else "operations"
    text = f"{operations} {noun}, {leaves} {'leaf' if leaves == 1 else 'leaves'}"
    if hidden:
        text += (
            f"; the {hidden} in the middle are not drawn: call graph(..., limit={operations}) "
            "for all"
        )
    return text


def _leaf_box(leaf: Any) -> Box:
    spec = spec_text(leaf._data.shape, leaf._data.dtype.name)
    return leaf_box(leaf, isinstance(leaf, Parameter), spec)


def leaf_box(leaf: Any, is_parameter: bool, spec: str) -> Box:
    """Of a tensor, or of a variable."""
    title = f"{'Parameter ' * is_parameter}{leaf.name}"
    return Box(title, (spec, f"stop_gradient={leaf.stop_gradient}"), "leaf")


def made_at(location: Location) -> str:
    """The line, and what stands there."""
    return f"{location}  {location.text}".rstrip()


def _operation_box(node: Node) -> Box:
    notes = [made_at(node.location)]
    constants = _constants(node)
    if constants:
        notes.append(f"constant: {constants}")
    freed = freed_at(node)
    if freed is not None:
        notes.append(f"freed by the backward pass at {freed}")
    return Box(node.name, tuple(notes), "operation")


def _constants(node: Node) -> str:
    """Operands that a gradient could be taken of, and is not."""
    op = node.pullback.op
    if op.variadic or freed_at(node) is not None:
        return ""
    kept = dict(saved_entries(node))
    texts = []
    for position, name in enumerate(op.inputs):
        if position not in node.pullback.wanted and op.rule_at(position) is not None:
            value = kept.get(name)
            spec = "" if value is None else f" {spec_text(value.shape, value.dtype.name)}"
            texts.append(name + spec)
    return ", ".join(texts)
