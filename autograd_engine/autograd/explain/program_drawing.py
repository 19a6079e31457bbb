"""Programs as pictures and as tables: ``Program.draw`` and what a notebook shows."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from autograd_engine.autograd.explain.graph_view import elided
from autograd_engine.autograd.explain.program_graph import graph_of_program
from autograd_engine.core.atomic_file import write_atomically
from autograd_engine.core.report import preformatted, table
from autograd_engine.core.spec import format_shape
from autograd_engine.errors import ArgumentError
from autograd_engine.program.ir.program import (
    Block,
    Literal,
    Operator,
    Program,
    Ref,
    Variable,
)
from autograd_engine.program.printing import attribute_text

__all__ = ["draw", "program_html"]

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
        raise TypeError(f"draw: path must be a str or a path, got {type(path).__name__}")
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
    at = operator.location
    return (
        f"#{number}",
        operator.type,
        ", ".join(_reads(operator)),
        ", ".join(f"{r.var.name} {_spec(r.var)}" for r in operator.results),
        ", ".join(f"{k}={attribute_text(v)}" for k, v in operator.attrs.items()),
        operator.role,
        f"{at}  {at.text}".rstrip(),
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
    return variable.name, _spec(variable), kind, str(variable.stop_gradient)


def _spec(variable: Variable) -> str:
    text = f"{variable.spec.dtype.name}{format_shape(variable.spec.shape)}"
    return f"list of {text}" if variable.is_stack else text
