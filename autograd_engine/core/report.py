"""Reports: lines and tables, as text, and as HTML for notebooks, escaped and without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

__all__ = ["Report", "Table", "preformatted", "table"]

_TABLE = (
    '<table cellpadding="4" style="border-collapse:collapse;text-align:right;'
    'font-family:monospace;white-space:pre">'
)


def preformatted(text: str) -> str:
    """Plain text as it is."""
    from html import escape

    return f'<pre style="margin:0;line-height:1.35">{escape(text)}</pre>'


def table(rows: Iterable[Sequence[object]], head: Sequence[object] = ()) -> str:
    """A table of texts; every one of them is escaped."""
    from html import escape

    lines = [_TABLE]
    if head:
        lines.append("<tr>" + "".join(f"<th>{escape(str(c))}</th>" for c in head) + "</tr>")
    for row in rows:
        lines.append("<tr>" + "".join(f"<td>{escape(str(c))}</td>" for c in row) + "</tr>")
    return "\n".join([*lines, "</table>"])


class Table:
    """Texts in columns under a head.

    Parameters
    ----------
    head : sequence of str
    rows : iterable of sequence of str
    indent : str
        In front of each line of the text.
    numbers : int
        How many columns, the first ones, are flush right in the text.
    """

    def __init__(
        self,
        head: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        indent: str = "  ",
        numbers: int = 0,
    ) -> None:
        self.head, self.rows = head, list(rows)
        self.indent, self.numbers = indent, numbers

    def __str__(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

        def line(row: Sequence[str]) -> str:
            cells = [
                text.rjust(width) if k < self.numbers else text.ljust(width)
                for k, (text, width) in enumerate(zip(row, widths, strict=True))
            ]
            return self.indent + "  ".join(cells).rstrip()

        return "\n".join(map(line, lines))


class Report:
    """What is read as text, and in a notebook as HTML of the same parts."""

    def _parts(self) -> Iterable[str | Table]:
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(map(str, self._parts()))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        html: list[str] = []
        for kind, parts in groupby(self._parts(), type):
            if kind is Table:
                html += [table(t.rows, t.head) for t in parts if isinstance(t, Table)]
            else:
                html.append(preformatted("\n".join(map(str, parts)).strip("\n")))
        return "\n".join(html)
