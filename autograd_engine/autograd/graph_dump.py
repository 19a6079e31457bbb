"""Drawings of a backward pass, and where its nodes were recorded, as files.

For each pass: the backward graph and the forward graph in dot, and the user's lines by node.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from autograd_engine.core.atomic_file import write_atomically
from autograd_engine.core.checks import require_type
from autograd_engine.core.locations import Location
from autograd_engine.eager.grad_node import forward_name, grad_name
from autograd_engine.eager.tape import Edge, Node, Slot
from autograd_engine.errors import ArgumentError

__all__ = ["GraphDump"]

_LEAF = (
    'shape="box" style="rounded,filled,bold" fontname="Arial" color="#148b97" fontcolor="#ffffff"'
)
_INNER = (
    'style="rounded,filled,bold" shape="box" color="#999999" fontcolor="#ffffff" '
    'width="1.3" height="0.84" fontname="Arial"'
)
_NOTE = (
    "Note : each node is followed by the line that recorded it. For the whole stack of the user's "
    'lines call paddle.set_flags({"FLAGS_call_stack_level": 3}) before the forward pass.'
)


class GraphDump:
    """Watches one backward pass and writes what it saw.

    Parameters
    ----------
    path : str
        A directory; made when there is none.
    roots : iterable of (edge, cotangent)

    Raises
    ------
    ArgumentError
        When `path` is no str.
    NotADirectoryError, OSError
        When it cannot be a directory.
    """

    def __init__(self, path: Any, roots: Iterable[tuple[Edge, Any]]) -> None:
        require_type(path, str, "dump_backward_graph_path must be a str", ArgumentError)
        self._directory = Path(path)
        if self._directory.exists() and not self._directory.is_dir():
            raise NotADirectoryError(f"dump_backward_graph_path {path!r} must be a directory")
        self._directory.mkdir(parents=True, exist_ok=True)
        self._ids: dict[Edge, int] = {}
        self._arrows: list[tuple[int, int, str]] = []
        for edge, _ in roots:
            self._number(edge)

    def observe(
        self, node: Node, g: Any, edges: tuple[Edge, ...], results: tuple[Any, ...]
    ) -> None:
        """Take note of one node that has run."""
        source = self._number(node)
        for edge, value in zip(edges, results, strict=True):
            if value is not None:
                shown = g if isinstance(node, Slot) else value
                self._arrows.append((source, self._number(edge), _array_label(shown)))

    def write(self) -> None:
        """Write the three files."""
        stamp = datetime.now().strftime("%Y-%m-%d_%H:%M:%S.%f")
        for name, text in (
            ("backward_graph.dot", self._backward()),
            ("ref_forward_graph.dot", self._forward()),
            ("call_stack.log", self._stacks()),
        ):
            write_atomically(self._directory / f"{stamp}_{name}", text)

    def _number(self, edge: Edge) -> int:
        return self._ids.setdefault(edge, len(self._ids))

    def _backward(self) -> str:
        lines = [
            f'\tnode_{n}[label="{grad_name(edge)}\\nPtr: {_address(edge)}" {_style(edge)}]'
            for edge, n in self._ids.items()
        ]
        lines += [
            f'\tnode_{a}->node_{b}[label="Place(cpu)\\n{label}"]' for a, b, label in self._arrows
        ]
        return _digraph(lines)

    def _forward(self) -> str:
        lines = [
            f'\tnode_{n}[label="{forward_name(edge)}\\nGradNode: {_address(edge)}" {_style(edge)}]'
            for edge, n in self._ids.items()
        ]
        lines += [f'\tnode_{b}->node_{a}[label="{label}"]' for a, b, label in self._arrows]
        return _digraph(lines)

    def _stacks(self) -> str:
        parts = [_NOTE]
        for edge in self._ids:
            parts.append(f"GradNodeBase {grad_name(edge)} ptr : {_address(edge)} call stack: ")
            if isinstance(edge, Node):
                parts += [_line(at) for at in getattr(edge, "stack", (edge.location,))]
        return "\n".join(parts) + "\n"


def _line(at: Location) -> str:
    return f'  File "{at.filename}", line {at.lineno}, in {at.code.co_name}\n    {at.text}'


def _digraph(lines: list[str]) -> str:
    return "\n".join(["digraph G {", *lines, "} // end G"]) + "\n"


def _style(edge: Edge) -> str:
    return _INNER if isinstance(edge, Node) else _LEAF


def _address(edge: Edge) -> str:
    return f"{id(edge):#x}"


def _array_label(value: Any) -> str:
    return f"{value.dtype.name}{list(value.shape)}"
