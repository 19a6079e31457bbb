"""Generated statements in lines of a width that can be read."""

from __future__ import annotations

import itertools
from typing import Final

__all__ = ["wrapped"]

_WIDTH: Final = 100


def wrapped(line: str, comment: str = "") -> str:
    """A statement with a comment; one that is too long for a line is broken at its commas.

    Examples
    --------
    >>> wrapped("    y = f(x)", "float32[2]")
    '    y = f(x)  # float32[2]'
    """
    whole = f"{line}  # {comment}" if comment else line
    if len(whole) <= _WIDTH:
        return whole
    indent = line[: len(line) - len(line.lstrip())]
    above = f"{indent}# {comment}\n" if comment else ""
    if len(line) <= _WIDTH:
        return above + line
    code = line.strip()
    if code.startswith("del "):
        code = f"del ({code[4:]})"
    names, equals, call = code.partition(" = ")
    if not equals:
        return above + indent + _broken(code, indent)
    if len(names) > _WIDTH // 2 and "," in names:
        names = _broken(f"({names.rstrip(', ')})", indent)
    return f"{above}{indent}{names} = {_broken(call, indent)}"


def _broken(code: str, indent: str) -> str:
    """What is between the parentheses that close last, filled into lines of its own."""
    start, parts, end = _outermost(code)
    if not parts:
        return code
    lines, current = [], ""
    for part in parts:
        if current and len(indent) + len(current) + len(part) + 5 > _WIDTH:
            lines.append(current)
            current = ""
        current += f" {part}," if current else f"{part},"
    inner = "".join(f"{indent}    {text}\n" for text in [*lines, current])
    return f"{code[:start]}\n{inner}{indent}{code[end:]}"


def _outermost(code: str) -> tuple[int, list[str], int]:
    """Where the last pair of parentheses that is in no other starts, its parts, where it ends."""
    depth, quote, skip = 0, "", False
    start, cuts = 0, []
    found: tuple[int, list[str], int] = 0, [], 0
    for k, c in enumerate(code):
        if skip:
            skip = False
        elif quote:
            skip = c == "\\"
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
            if depth == 1:
                start, cuts = k + 1, [k]
        elif c in ")]}":
            depth -= 1
            if depth == 0 and c == ")":
                pairs = itertools.pairwise([*cuts, k])
                found = start, [part for a, b in pairs if (part := code[a + 1 : b].strip())], k
        elif c == "," and depth == 1:
            cuts.append(k)
    return found
