"""The API reference: a page for each public module, from what `__all__` names and docstrings say.

Modules are looked at as they are at run time, for that is where names are that are made, bound or
loaded late. Nothing is listed by hand: what a module exports is on its page.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from api_text import docstring, signature, summary, without_arguments

import autograd_engine

PACKAGE = autograd_engine.__name__
ROOT = "paddle"
LARGE = 60  # a module with more members has a page for each file that defines some of them
FEWEST = 2  # unless there are fewer in it

HEAD = """\
# API reference

Everything public, as `__all__` of each module has it, written from the docstrings.
`import autograd_engine as paddle`; `F` is `paddle.nn.functional` in examples.

| module | | names |
|---|---|---|
"""


@dataclass
class Entry:
    """A public object under its public name, and the page that it is on."""

    name: str  # paddle.nn.functional.relu
    value: Any
    page: str = ""
    members: dict[str, Any] = field(default_factory=dict)  # of a class

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def owner(self) -> str:
        return self.name.rpartition(".")[0]


@dataclass
class Page:
    path: str
    title: str
    intro: str
    entries: list[Entry] = field(default_factory=list)
    below: list[Page] = field(default_factory=list)


def home_of(value: Any) -> str:
    """The module that defines a public object, without the name of the package."""
    return (getattr(value, "__module__", None) or "").removeprefix(f"{PACKAGE}.")


def is_ours(value: Any) -> bool:
    return (getattr(value, "__module__", None) or "").partition(".")[0] == PACKAGE


def exports(module: ModuleType) -> tuple[dict[str, Any], dict[str, Exception]]:
    """What a module exports, and what it says it exports but cannot give.

    `dir` knows of names that are loaded when they are asked for.
    """
    names = module.__dir__() if "__dir__" in vars(module) else module.__all__
    found, broken = dict[str, Any](), dict[str, Exception]()
    for name in sorted({n for n in names if n[0] != "_"}, key=lambda n: (n.lower(), n)):
        try:
            found[name] = getattr(module, name)
        except Exception as error:  # whatever stands in the way: the build says so
            broken[name] = error
    return found, broken


def public_modules() -> dict[str, ModuleType]:
    """Public name to module; of several names the shortest."""
    found: dict[str, ModuleType] = {}
    waiting = [(ROOT, autograd_engine)]
    for name, module in waiting:  # it grows; shorter names come first
        if any(known is module for known in found.values()):
            continue
        found[name] = module
        inner = exports(module)[0].items()
        waiting += [(f"{name}.{n}", v) for n, v in inner if isinstance(v, ModuleType)]
    return dict(sorted(found.items()))


def members_of(cls: type, known: dict[int, Entry]) -> dict[str, Any]:
    """What a class has that no public base of it has: name to function, property, attribute."""
    found: dict[str, Any] = {}
    for base in cls.__mro__:
        if not is_ours(base) or (base is not cls and id(base) in known):
            break
        for name, value in vars(base).items():
            if name.startswith("_") or name in found or name in getattr(base, "__slots__", ()):
                continue
            plain = value.__func__ if isinstance(value, staticmethod | classmethod) else value
            if isinstance(plain, property | functools.cached_property) or callable(plain):
                found[name] = plain
    return found


class Reference:
    """All pages, and where each name is."""

    def __init__(self) -> None:
        self.modules = public_modules()
        self.entries: dict[str, Entry] = {}
        self.by_id: dict[int, Entry] = {}  # the entry that documents an object
        self.broken: dict[str, Exception] = {}
        self.pages: list[Page] = []
        for name, module in self.modules.items():
            self._collect(name, module)
        for entry in self.entries.values():
            if inspect.isclass(entry.value) and self.by_id[id(entry.value)] is entry:
                entry.members = members_of(entry.value, self.by_id)

    def _collect(self, name: str, module: ModuleType) -> None:
        path = "reference/" + name.replace(".", "/")
        intro = docstring(module, frozenset())
        page = Page(f"{path}/index.md" if name == ROOT else f"{path}.md", name, intro)
        members, broken = exports(module)
        self.broken |= {f"{name}.{short}": error for short, error in broken.items()}
        entries = [
            Entry(f"{name}.{short}", value)
            for short, value in members.items()
            if not isinstance(value, ModuleType)
        ]
        homes: dict[str, list[Entry]] = {}
        for entry in entries:
            homes.setdefault(home_of(entry.value), []).append(entry)
        for home, group in sorted(homes.items()):
            # What stands in a directory of such files, `tensor/elementwise.py`, is a family.
            family = len(entries) > LARGE and len(group) >= FEWEST and self._is_family(home, name)
            if family:
                text = inspect.getdoc(inspect.getmodule(group[0].value)) or home
                title = home.rpartition(".")[2].replace("_", " ")
                below = Page(
                    f"{path}/parts/{home.rpartition('.')[2]}.md", title, text.partition("\n")[0]
                )
                page.below.append(below)
            for entry in group:
                self._place(entry, below if family else page)
        page.entries.sort(key=lambda e: e.short.lower())
        self.pages.append(page)

    @staticmethod
    def _is_family(home: str, name: str) -> bool:
        inside = name.replace(ROOT, "", 1).lstrip(".")
        return "." in home and home.startswith(("tensor.", f"{inside}.", "nn.layer."))

    def _place(self, entry: Entry, page: Page) -> None:
        entry.page = page.path
        page.entries.append(entry)
        self.entries[entry.name] = entry
        first = self.by_id.setdefault(id(entry.value), entry)
        if first.value is not entry.value:  # numbers and strings may share an id with nothing
            self.by_id[id(entry.value)] = entry

    # --- names

    def find(self, text: str, inside: str = ROOT) -> tuple[str, str] | None:
        """(page, anchor) of a name as people write it, or None: ``paddle.add``, ``F.relu``."""
        name = re.sub(r"^F\.", "nn.functional.", text)
        for prefix in (f"{inside}.", "", f"{ROOT}."):
            full = prefix + name
            if full in self.entries:
                return self.entries[full].page, full
            owner, _, member = full.rpartition(".")
            if owner in self.entries and member in self.entries[owner].members:
                return self.entries[owner].page, full
            if full in self.modules:
                return self.page_of(full).path, ""
        return None

    def page_of(self, module: str) -> Page:
        return next(p for p in self.pages if p.title == module)

    # --- text

    def files(self) -> Iterator[tuple[str, str]]:
        """(path, Markdown) of all pages."""
        rows = []
        for page in self.pages:
            count = len(page.entries) + sum(len(b.entries) for b in page.below)
            head = page.intro.partition("\n")[0]
            link = page.path.removeprefix("reference/")
            rows.append(f"| [`{page.title}`]({link}) | {head} | {count} |\n")
            yield page.path, self.module_text(page)
            for below in page.below:
                yield below.path, self.family_text(page, below)
        yield "reference/index.md", HEAD + "".join(rows)

    def nav(self) -> list[dict[str, Any]]:
        """The part of the site's navigation."""
        parts: list[dict[str, Any]] = [{"All modules": "reference/index.md"}]
        for page in self.pages:
            if page.below:
                inner: list[Any] = [{"Overview": page.path}]
                parts.append({page.title: inner + [{b.title: b.path} for b in page.below]})
            else:
                parts.append({page.title: page.path})
        return parts

    def module_text(self, page: Page) -> str:
        lines = [f"# {page.title}\n", page.intro + "\n"]
        inner = [n for n in self.modules if n.rpartition(".")[0] == page.title]
        if inner:
            lines.append("Modules: " + ", ".join(f"`{n}`" for n in inner) + ".\n")
        for below in page.below:
            link = os.path.relpath(below.path, os.path.dirname(page.path))
            lines.append(f"## [{below.title}]({link})\n\n{below.intro}\n")
            lines.append(self.table(below.entries))
        if page.below:
            lines.append("## others\n")
        if page.entries:
            lines.append(self.table(page.entries))
        lines += [self.entry_text(e) for e in page.entries]
        return "\n".join(lines)

    def family_text(self, page: Page, below: Page) -> str:
        parts = [f"# {page.title}: {below.title}\n", below.intro + "\n", self.table(below.entries)]
        return "\n".join(parts + [self.entry_text(e) for e in below.entries])

    def table(self, entries: list[Entry]) -> str:
        rows = [
            f"| `{e.name}` | {without_arguments(summary(e.value), parameters(e.value))} |"
            for e in entries
        ]
        return "\n".join(["| name | |", "|---|---|", *rows, ""])

    def entry_text(self, entry: Entry) -> str:
        head = f'### {entry.short} {{#{entry.name} data-toc-label="{entry.short}"}}\n'
        first = self.by_id[id(entry.value)]
        if first is not entry and not isinstance(entry.value, int | float | str | bool):
            return f"{head}\nThe same as `{first.name}`. {summary(entry.value)}\n"
        if inspect.isclass(entry.value):
            return head + self.class_text(entry)
        if callable(entry.value):
            return head + self.callable_text(entry.name, entry.value)
        # Constants: a class documents its instances better than they do themselves.
        return f"{head}\n`{entry.value!r}`, a `{type(entry.value).__name__}`.\n"

    def callable_text(self, name: str, value: Any, method: bool = False) -> str:
        text = docstring(value, parameters(value))
        return f"\n```python\n{signature(name, value, method)}\n```\n\n{text}\n"

    def class_text(self, entry: Entry) -> str:
        lines = [f"\n```python\nclass {signature(entry.name, entry.value)}\n```\n"]
        bases = [self.by_id[id(b)].name for b in entry.value.__mro__[1:] if id(b) in self.by_id]
        if bases:
            lines.append("Bases: " + ", ".join(f"`{b}`" for b in bases) + "\n")
        lines.append(docstring(entry.value, parameters(entry.value)) + "\n")
        same: list[str] = []
        for name, value in sorted(entry.members.items()):
            known = self.by_id.get(id(value))
            if known is not None:
                same.append(f"`{name}`" if known.short == name else f"`{name}` is `{known.name}`")
            elif inspect.getdoc(value):
                lines.append(self.member_text(entry, name, value))
        if same:
            lines.append(
                "#### Functions that are methods\n\nThe first argument is the object: "
                + ", ".join(same)
                + "\n"
            )
        return "\n".join(lines)

    def member_text(self, entry: Entry, name: str, value: Any) -> str:
        full = f"{entry.name}.{name}"
        head = f'#### {name} {{#{full} data-toc-label="{name}"}}\n'
        if isinstance(value, property | functools.cached_property):
            return f"{head}\n*property*\n\n{docstring(value, frozenset())}\n"
        if inspect.isclass(value):
            return f"{head}\n{docstring(value, frozenset())}\n"
        return head + self.callable_text(f"{entry.short}.{name}", value, method=True)

    def undocumented(self) -> list[str]:
        """Public functions and classes without a docstring of their own."""
        return [
            e.name
            for e in self.entries.values()
            if callable(e.value) and is_ours(e.value) and not (e.value.__doc__ or "").strip()
        ]


def parameters(value: Any) -> frozenset[str]:
    """Names in a docstring that mean an argument, not a function of that name."""
    try:
        return frozenset(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return frozenset()
