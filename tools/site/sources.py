"""Pages of files that are not pages: the README, programs and notebooks of `examples/`.

What a page shows is taken from the file when the site is built, and is nowhere a second time. Links
are those of the repository; `relink` makes them those of the site.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"(^ *```.*?^ *```$)", re.DOTALL | re.MULTILINE)
INCLUDE = re.compile(r"^<!-- include: (\S+?)(?:#([\w-]+))? -->$", re.MULTILINE)
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)#\s]+)(#[^)\s]*)?\)")

# Files at the root of the repository that are pages of the site.
AT_THE_ROOT = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "LICENSE": "license.md",
}


class Missing(Exception):
    """Something that a page asks for is not there."""


def page_of(path: str) -> str | None:
    """The page of the site that shows a file of the repository."""
    if path in AT_THE_ROOT:
        return AT_THE_ROOT[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if re.fullmatch(r"examples/[a-z]\w*\.(py|ipynb)", path) and (ROOT / path).is_file():
        return str(Path(path).with_suffix(".md"))
    return None


def origin_of(page: str) -> str:
    """The file of the repository that a page shows."""
    at_root = {shown: path for path, shown in AT_THE_ROOT.items()}
    if page in at_root:
        return at_root[page]
    return page if page.startswith("examples/") else f"docs/{page}"


def relink(text: str, page: str, written_for: str | None = None) -> str:
    """Relative links, which lead from a file of the repository, as they lead from the page."""
    start = os.path.dirname(written_for or origin_of(page))

    def link(match: re.Match[str]) -> str:
        head, target, anchor = match[1], match[2], match[3] or ""
        if re.match(r"[a-z]+:", target):
            return match[0]
        shown = page_of(os.path.normpath(os.path.join(start, target)))
        if shown is None:
            return match[0]  # and MkDocs says that it leads nowhere
        return f"{head}{os.path.relpath(shown, os.path.dirname(page) or '.')}{anchor})"

    return "".join(
        part if i % 2 else LINK.sub(link, part) for i, part in enumerate(FENCE.split(text))
    )


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower()))


def section(path: str, anchor: str, deep: bool = False) -> str:
    """What stands below a heading of a page, up to the next of its level.

    A section of a section becomes a section of the page, unless they are to stay as `deep`.
    """
    text = (ROOT / path).read_text(encoding="utf-8")
    level, kept, code = 0, list[str](), False
    for line in text.splitlines():
        code ^= line.lstrip().startswith("```")
        heading = None if code else re.match(r"(#+) (.*)", line)
        if level and heading and len(heading[1]) <= level:
            break
        if level:
            kept.append(line)
        elif heading and slug(heading[2]) == anchor:
            level = len(heading[1])
    if not level:
        raise Missing(f"{path} has no heading whose anchor is #{anchor}")
    if deep:
        return "\n".join(kept)
    deeper = re.compile(rf"^#{{{level - 1}}}(?=#)", re.MULTILINE)
    parts = FENCE.split("\n".join(kept).strip())
    return "".join(p if i % 2 else deeper.sub("", p) for i, p in enumerate(parts))


def included(text: str, page: str) -> str:
    """``<!-- include: README.md#speed -->`` replaced by that section, with its links."""

    def include(match: re.Match[str]) -> str:
        return relink(section(match[1], match[2]), page, written_for=match[1])

    return INCLUDE.sub(include, text)


# --- pages of other files


def home() -> str:
    """The README; its tables of measurements are on a page of their own."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    speed = section("README.md", "speed", deep=True)
    return text.replace(
        speed, "\nMeasured beside other systems: [Performance](docs/performance.md).\n"
    )


def program(path: Path) -> str:
    """A program: its docstring, and its text. Comments ``# --- title`` are headings."""
    source = path.read_text(encoding="utf-8")
    whole = re.match(r'"""(.*?)"""\n', source, re.DOTALL)
    if whole is None:
        raise Missing(f"{path.name} has no docstring")
    head, _, rest = whole[1].partition("\n")
    lines = [f"# {head.strip().rstrip('.')}\n", f"`python examples/{path.name}`\n"]
    usage, prose = re.search(r"^(?: {4}.*\n?)+", rest, re.MULTILINE), rest
    if usage:
        shown = re.sub(r"^ {4}", "", usage[0], flags=re.MULTILINE).rstrip()
        prose = rest.replace(usage[0], f"```sh\n{shown}\n```\n")
    lines.append(prose.strip() + "\n")
    for i, part in enumerate(re.split(r"^# --- ", source[whole.end() :], flags=re.MULTILINE)):
        if i:
            title, comment, part = _titled(part)
            lines.append(f"## {title}\n\n{comment}\n")
        if part.strip():
            lines.append(f"```python\n{part.strip()}\n```\n")
    return "\n".join(lines)


def _titled(part: str) -> tuple[str, str, str]:
    """(title, the rest of the comment, code) after ``# --- ``."""
    first, *others = part.splitlines()
    comment = [first]
    while others and others[0].startswith("# "):
        comment.append(others.pop(0).removeprefix("# "))
    title, _, text = " ".join(comment).partition(". ")
    if re.fullmatch(r"\d+", title):
        second, _, text = text.partition(". ")
        title = f"{title}. {second}"
    return title.rstrip("."), text, "\n".join(others)


def notebook(path: Path) -> tuple[str, dict[str, bytes]]:
    """(Markdown, pictures) of a notebook as it was run."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts, pictures = list[str](), dict[str, bytes]()
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        if source:
            parts.append(f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            parts += _output(output, path.stem, pictures)
    return "\n\n".join(parts) + "\n", pictures


def _output(output: dict[str, object], stem: str, pictures: dict[str, bytes]) -> Iterator[str]:
    data = output.get("data", {"text/plain": output.get("text", "")})
    assert isinstance(data, dict)
    texts = {
        kind: value if isinstance(value, str) else "".join(value) for kind, value in data.items()
    }
    if "image/png" in texts:
        name = f"examples/{stem}_{len(pictures)}.png"
        pictures[name] = base64.b64decode(texts["image/png"])
        yield f"![what the cell above draws]({os.path.basename(name)})"
    elif "<svg" in texts.get("text/html", ""):
        # A blank line would end the block of HTML.
        yield "<div>" + re.sub(r"\n\s*\n", "\n", texts["text/html"]) + "</div>"
    elif texts.get("text/plain", "").strip():
        plain = re.sub(r"\x1b\[[\d;]*m", "", texts["text/plain"]).strip("\n")
        yield f"```text\n{plain}\n```"


def other_pages() -> Iterator[tuple[str, str | bytes]]:
    """(path on the site, text or bytes) of all pages and pictures that `docs/` does not hold."""
    for path, page in AT_THE_ROOT.items():
        if path == "README.md":
            yield page, home()
        elif path == "LICENSE":
            yield page, f"# Licence\n\n```text\n{(ROOT / path).read_text(encoding='utf-8')}```\n"
        elif (ROOT / path).is_file():
            yield page, (ROOT / path).read_text(encoding="utf-8")
    for file in sorted((ROOT / "examples").iterdir()):
        if page_of(f"examples/{file.name}") is None:
            continue
        if file.suffix == ".py":
            yield f"examples/{file.stem}.md", program(file)
        else:
            text, pictures = notebook(file)
            yield f"examples/{file.stem}.md", text
            yield from pictures.items()
