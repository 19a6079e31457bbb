"""Docstrings of NumPy's style as Markdown, and signatures as people read them."""

from __future__ import annotations

import inspect
import re
from types import ModuleType
from typing import Any

import griffe

__all__ = ["docstring", "signature", "summary", "without_arguments"]

TITLES = {
    "parameters": "Parameters",
    "other parameters": "Other parameters",
    "attributes": "Attributes",
    "returns": "Returns",
    "yields": "Yields",
    "raises": "Raises",
    "warns": "Warns",
}


def summary(value: Any) -> str:
    """The first sentence or line of a docstring, for a cell of a table."""
    text = inspect.getdoc(value) if callable(value) or isinstance(value, ModuleType) else ""
    return (text or "").partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def signature(name: str, value: Any, method: bool = False) -> str:
    """A call with the names of arguments and their defaults; types are in the docstring."""
    try:
        found = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return f"{name}(...)"
    if method and found and found[0].name in ("self", "cls"):
        found = found[1:]
    bare = [p.replace(annotation=p.empty, default=_Shown.of(p.default)) for p in found]
    text = f"{name}{inspect.Signature(bare)}"
    if len(text) <= 88:
        return text
    return f"{name}(\n    " + ",\n    ".join(_stars(bare)) + ",\n)"


class _Shown:
    """A default, shown in a few characters."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    @classmethod
    def of(cls, value: Any) -> Any:
        if value is inspect.Parameter.empty:
            return value
        name = getattr(value, "__name__", None)
        text = name if isinstance(name, str) else repr(value)
        return cls(text if not re.search(r" at 0x|^<", text) else "...")


def _stars(parameters: list[inspect.Parameter]) -> list[str]:
    """Each on a line of its own, with the lone ``/`` and ``*`` where they belong."""
    lines: list[str] = []
    for i, p in enumerate(parameters):
        before = parameters[i - 1].kind if i else None
        if before is p.POSITIONAL_ONLY and p.kind is not p.POSITIONAL_ONLY:
            lines.append("/")
        if p.kind is p.KEYWORD_ONLY and before not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            lines.append("*")
        lines.append(str(p))
    return lines


def docstring(value: Any, arguments: frozenset[str]) -> str:
    """The docstring of an object as Markdown; `arguments` are names that are no references."""
    text = inspect.getdoc(value) or ""
    if isinstance(value, ModuleType) and not text:
        return ""
    parts = [_section(s) for s in griffe.Docstring(text).parse("numpy", warnings=False)]
    return without_arguments("\n\n".join(p for p in parts if p), arguments)


def without_arguments(text: str, arguments: frozenset[str]) -> str:
    """Names of arguments, marked so that nothing is looked for under them."""

    def mark(match: re.Match[str]) -> str:
        return f"`{match[1]}`{{.argument}}" if match[1] in arguments else match[0]

    outside = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    pattern = re.compile(r"(?<!`)`(\w+)`(?![`{])")
    return "".join(p if p.startswith("```") else pattern.sub(mark, p) for p in outside)


def _section(section: Any) -> str:
    kind, value = section.kind.value, section.value
    if kind == "text":
        return _prose(value)
    if kind == "examples":
        blocks = [
            f"```pycon\n{text}\n```" if part.value == "examples" else _prose(text)
            for part, text in value
        ]
        return "**Examples**\n\n" + "\n\n".join(blocks)
    if kind in TITLES:
        return f"**{TITLES[kind]}**\n\n" + "\n".join(_item(kind, v) for v in _merged(value))
    if kind == "admonition":
        return f"**{section.title or value.kind}**\n\n{_prose(value.contents)}"
    raise NotImplementedError(f"a section of kind {kind!r} in a docstring")


def _prose(text: str) -> str:
    """Text of a docstring; what is indented in it is code, as it is in reStructuredText."""
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    return re.sub(r"::$", ":", text, flags=re.MULTILINE)


def _merged(items: list[Any]) -> list[tuple[list[str], str, str]]:
    """(names, type, description); arguments that are described together stay together."""
    rows: list[tuple[list[str], str, str]] = []
    for item in items:
        name = getattr(item, "name", None) or ""
        annotation = str(item.annotation or "")
        if rows and name and rows[-1][1:] == (annotation, item.description):
            rows[-1][0].append(name)
        else:
            rows.append(([name] if name else [], annotation, item.description))
    return rows


def _item(kind: str, row: tuple[list[str], str, str]) -> str:
    names, annotation, description = row
    shown = ", ".join(f"`{n}`{{.argument}}" for n in names)
    if kind in ("raises", "warns"):
        shown, annotation = ", ".join(f"`{a.strip()}`" for a in annotation.split(",")), ""
    kinds = _prose(annotation)
    head = " : ".join(part for part in (shown, kinds) if part)
    body = "\n".join("    " + line if line else "" for line in _prose(description).splitlines())
    return f"- {head}\n\n{body}\n" if body.strip() else f"- {head}"
