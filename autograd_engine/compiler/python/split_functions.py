"""Long generated functions as several short ones.

Compiling takes memory with the length of a function, more than running it does. What one piece
makes and another reads goes through a list; what is deleted in the text is deleted there too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from autograd_engine.core.locations import define_generated
from autograd_engine.program.ir.program import Operator

__all__ = ["Defined", "defined"]

Line: TypeAlias = tuple[str, Operator | None]

_LONG: Final = 4000  # lines
_PIECE: Final = 1000
_NAME: Final = re.compile(r"[A-Za-z_]\w*")


class Defined(NamedTuple):
    """Functions that were written and defined.

    Attributes
    ----------
    source, filename : str
    lines : dict of int to Operator
        The operator of each line of the text that runs one.
    """

    source: str
    filename: str
    lines: dict[int, Operator]


def defined(text: Sequence[Line], name: str, kept: str, scope: dict[str, Any]) -> Defined:
    """Define the functions of a text in `scope`, long ones in pieces; see `in_pieces`.

    Parameters
    ----------
    text : sequence of (str, Operator or None)
    name : str
        Seen in tracebacks and profiles.
    kept : str
        A name that the text does not use.
    scope : dict
    """
    pieces = [piece for f in functions(text) for piece in in_pieces(f, kept)]
    texts = ["".join(f"{line}\n" for line, _ in piece) for piece in pieces]
    filename = define_generated(texts, name, scope)
    made_by = (operator for piece in pieces for _, operator in piece)
    lines = {k: operator for k, operator in enumerate(made_by, 1) if operator is not None}
    return Defined("".join(texts), filename, lines)


def functions(text: Sequence[Line]) -> Iterator[list[Line]]:
    """The functions of a text, in order."""
    starts = [k for k, (line, _) in enumerate(text) if line.startswith("def ")]
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        yield list(text[start:stop])


def in_pieces(function: list[Line], kept: str) -> list[list[Line]]:
    """Functions that together do what `function` does, the one of its name last.

    Parameters
    ----------
    function : list of (str, Operator or None)
        Its lines. All statements stand at one depth, each name is assigned once.
    kept : str
        A name that it does not use.
    """
    if len(function) <= _LONG:
        return [function]
    (head, _), *body = function
    name, _, rest = head.removeprefix("def ").partition("(")
    parameters = _NAME.findall(rest)
    pieces = _cut(body)
    assigned = [[_assigned(line) for line, _ in piece] for piece in pieces]
    known = {n for piece in assigned for names in piece for n in names} | set(parameters)
    read = [[known.intersection(_NAME.findall(line)) for line, _ in piece] for piece in pieces]
    first: dict[str, int] = dict.fromkeys(parameters, -1)
    last: dict[str, int] = {}
    for k, piece in enumerate(read):
        for names in piece:
            for n in names:
                first.setdefault(n, k)
                last[n] = k
    slots = {n: k for k, n in enumerate(n for n in first if last.get(n, -1) > first[n])}
    made = [
        _piece(f"{name}__{k}", kept, k, piece, assigned[k], read[k], slots, last)
        for k, piece in enumerate(pieces)
    ]
    whole = [head, f"    {kept} = [None] * {len(slots)}"]
    whole += [f"    {kept}[{slots[n]}] = {n}" for n in parameters if n in slots]
    whole += [f"    del {', '.join(parameters)}"] if parameters else []
    whole += [f"    {name}__{k}({kept})" for k in range(len(pieces) - 1)]
    whole.append(f"    return {name}__{len(pieces) - 1}({kept})")
    return [*made, [(line, None) for line in whole]]


def _cut(body: list[Line]) -> list[list[Line]]:
    pieces, start = [], 0
    for k, (_, operator) in enumerate(body):
        if k - start >= _PIECE and operator is not None and operator is not body[k - 1][1]:
            pieces.append(body[start:k])
            start = k
    return [*pieces, body[start:]]


def _assigned(line: str) -> list[str]:
    names, equals, _ = line.partition(" = ")
    return _NAME.findall(names) if equals and "(" not in names else []


def _piece(
    name: str,
    kept: str,
    index: int,
    piece: list[Line],
    assigned: list[list[str]],
    read: list[set[str]],
    slots: dict[str, int],
    last: dict[str, int],
) -> list[Line]:
    text: list[Line] = [(f"def {name}({kept}):", None)]
    here: set[str] = set()
    for line, new, names in zip(piece, assigned, read, strict=True):
        for n in sorted(names - here):
            if n in slots and n not in new:
                slot = f"{kept}[{slots[n]}]"
                final = last[n] == index
                text.append((f"    {n} = {slot}", None))
                text += [(f"    {slot} = None", None)] if final else []
        here |= names
        text.append(line)
        text += ((f"    {kept}[{slots[n]}] = {n}", None) for n in new if last[n] > index)
    return text
