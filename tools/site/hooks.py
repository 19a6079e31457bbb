"""What MkDocs is told besides `mkdocs.yml`: pages made of other files, includes, references.

Anything that is missing is logged as a warning, and warnings fail the build.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from typing import Any

import migration
import operations
import sources
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from reference import Reference

log = logging.getLogger("mkdocs.hooks.site")
SPAN = re.compile(r"(?<![`\[])`([A-Za-z_]\w*(?:\.\w+)*)(\([^`]*\))?`(?![`{\]])")
# Names that begin so are of the engine, wherever they are written.
PREFIXES = (
    "F", "audio", "autograd", "device", "errors", "fft", "geometric", "incubate", "io", "jit",
    "linalg", "metric", "nn", "optimizer", "regularizer", "signal", "static", "testing", "utils",
    "vision",
)  # fmt: skip

reference: Reference


def on_files(files: Files, config: MkDocsConfig) -> Files:
    global reference
    reference = Reference()
    for name, error in reference.broken.items():
        log.warning("%s is exported, and cannot be had: %s", name, error)
    for name in reference.undocumented():
        log.warning("%s is public and has no docstring", name)
    generated = [
        *sources.other_pages(),
        ("ops.md", operations.page()),
        *migration.pages(),
        *reference.files(),
    ]
    for path, content in generated:
        files.append(File.generated(config, path, content=content))
    nav = config.nav or []
    listed = set(_targets(nav))
    rest = [
        {str(content).partition("\n")[0].lstrip("# "): path}
        for path, content in generated
        if path.startswith("examples/") and path.endswith(".md") and path not in listed
    ]
    config.nav = _placed(nav, {"reference/": reference.nav(), "examples/": rest})
    return files


def _targets(nav: list[Any]) -> Iterator[str]:
    """The pages that a menu names."""
    for item in nav:
        value = next(iter(item.values())) if isinstance(item, dict) else item
        yield from _targets(value) if isinstance(value, list) else [value]


def _placed(nav: list[Any], pages: dict[str, list[Any]]) -> list[Any]:
    """The menu, with the pages that are made in the place of the directory that stands for them."""
    found: list[Any] = []
    for item in nav:
        title, value = next(iter(item.items())) if isinstance(item, dict) else ("", item)
        if isinstance(value, list):
            found.append({title: _placed(value, pages)})
        elif value in pages:
            found += [{title: pages[value]}] if title else pages[value]
        else:
            found.append(item)
    return found


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    path = page.file.src_uri
    if path.startswith("reference/"):
        inside = _module_of(path)
    else:
        inside = ""
        try:
            markdown = sources.included(sources.relink(markdown, path), path)
        except sources.Missing as error:
            log.warning("%s: %s", path, error)
    parts = sources.FENCE.split(markdown)
    return "".join(p if i % 2 else _referred(p, path, inside) for i, p in enumerate(parts))


def _module_of(path: str) -> str:
    found = [p.title for p in reference.pages if path in (p.path, *(b.path for b in p.below))]
    return found[0] if found else "paddle"


def _referred(text: str, path: str, inside: str) -> str:
    """Code spans that name something public lead to it; `inside` is the module of a reference.

    Outside of the reference only dotted names count, for `x` and `size` are often something else.
    """

    def refer(match: re.Match[str]) -> str:
        name = match[1]
        first, dot, _ = name.partition(".")
        if not inside and (not dot or (first != "paddle" and first not in PREFIXES)):
            return match[0]
        found = reference.find(name, inside or "paddle")
        if found is None:
            if first == "paddle" and dot and not _is_there(name):
                log.warning("%s: there is no %s", path, name)
            return match[0]
        page, anchor = found
        if (
            page == path
            and f"{{#{anchor} " in match.string[max(match.start() - 300, 0) : match.start()]
        ):
            return match[0]
        target = os.path.relpath(page, os.path.dirname(path) or ".") if page != path else ""
        return f"[{match[0]}]({target}{'#' + anchor if anchor else ''})"

    return SPAN.sub(refer, text)


def _is_there(name: str) -> bool:
    """Whether a name that has no entry exists all the same: an attribute, an instance's method."""
    import autograd_engine

    value: Any = autograd_engine
    for part in name.split(".")[1:]:
        try:
            value = getattr(value, part)
        except Exception:  # what is not there raises errors of several kinds
            return False
    return True


def on_nav(nav: Any, config: MkDocsConfig, files: Files) -> Any:
    """Every page is in the navigation."""
    reached = {page.file.src_uri for page in nav.pages}
    for file in files.documentation_pages():
        if file.src_uri not in reached and not file.src_uri.startswith("reference/"):
            log.warning("%s is in no menu: add it to `nav` in mkdocs.yml", file.src_uri)
    return nav
