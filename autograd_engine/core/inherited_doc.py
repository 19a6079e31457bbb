"""Docstrings of classes that say what is their own, and take over what their bases say."""

from __future__ import annotations

import inspect
import operator
import re

__all__ = ["InheritedDoc"]

_TITLES = "Parameters|Attributes|Shapes|Returns|Raises|Notes|References|Examples"
_SECTION = rf"(?m)^({_TITLES})\n-{{3,}}\n"
_ENTRY = r"(?m)^(\S.*?)(?: : .*)?\n(?:(?: .*)?\n)*"


class InheritedDoc:
    """The ``__doc__`` of a class, which is completed when it is first read.

    Arguments of the constructor that it leaves out are described as the nearest base does that
    describes them, in the order of the constructor. So is what is raised.
    """

    def __init__(self, cls: type, own: str) -> None:
        self._cls = cls
        self._own = own

    def __get__(self, instance: object, owner: type | None = None) -> str:
        cls = self._cls
        summary, own = _parts(self._own)
        bases = [_parts(base.__doc__ or "")[1] for base in cls.__mro__[1:-1]]
        arguments = list(inspect.signature(cls).parameters)
        last = [title for title in own if title in ("Notes", "References", "Examples")]
        sections = {"Parameters": _described(arguments, [own, *bases])}
        sections |= {title: own[title] for title in own if title not in ("Parameters", *last)}
        sections.setdefault("Raises", next((s["Raises"] for s in bases if "Raises" in s), ""))
        sections |= {title: own[title] for title in last}
        texts = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items() if text]
        cls.__doc__ = doc = "\n\n".join([summary, *texts])
        return doc


def _parts(doc: str) -> tuple[str, dict[str, str]]:
    """What is before the sections of a docstring, and these by their titles."""
    summary, *rest = re.split(_SECTION, inspect.cleandoc(doc))
    return summary.strip(), dict(zip(rest[::2], map(str.strip, rest[1::2]), strict=True))


def _described(arguments: list[str], docs: list[dict[str, str]]) -> str:
    """The entries of the first text, and of each other one those for arguments that lack one."""
    places = {name: k for k, name in enumerate(arguments)}
    known: set[str] = set()
    found: list[tuple[int, str]] = []
    for k, doc in enumerate(docs):
        for entry in re.finditer(_ENTRY, doc.get("Parameters", "") + "\n"):
            names = [n.lstrip("*") for n in entry[1].split(", ")]
            free = [n for n in names if n not in known and n in places]
            if free or k == 0:
                text = entry[0] if k == 0 else entry[0].replace(entry[1], ", ".join(free), 1)
                found.append((min(map(places.__getitem__, free), default=len(places)), text))
                known |= {*names}
    return "\n".join(text.strip() for _, text in sorted(found, key=operator.itemgetter(0)))
