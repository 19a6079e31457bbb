"""Run the examples of the pages, and store what they print.

    python tools/docs/run_examples.py                      # all pages that have examples, in place
    python tools/docs/run_examples.py docs/static.md

An example is a block of Python under a comment ``<!-- example: name -->``. Blocks of one name are
one script, ``train.py``, in a process of its own; between two of them is one empty line. What a
block prints stands below it, as a block of text. Exits with 1 when a script fails, and then leaves
the page as it was. The backend is the one that a user gets; `compiled.md` wants a C compiler.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"<!-- example: (\w+) -->\n```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL
)
END = "--- end of a block ---"


class Block(NamedTuple):
    name: str
    code: str
    output: str


class Failed(Exception):
    """A script has failed, or has warned."""


def examples(text: str) -> list[Block]:
    """The examples of a page, in order."""
    return [Block(name, code, output or "") for name, code, output in BLOCK.findall(text)]


def outputs(blocks: list[Block]) -> list[str]:
    """What each of the blocks prints. They are of one name."""
    with tempfile.TemporaryDirectory(prefix="examples-") as directory:
        script = Path(directory) / "train.py"
        # Where one block ends takes the place of the empty line, so that line numbers are as said.
        script.write_text(f"print({END!r})\n".join(b.code for b in blocks), encoding="utf-8")
        chosen = {
            name: os.environ[name] for name in os.environ if name != "AUTOGRAD_ENGINE_BACKEND"
        }
        done = subprocess.run(
            [sys.executable, "-W", "error::RuntimeWarning", script.name],
            capture_output=True,
            text=True,
            cwd=directory,
            env=chosen | {"PYTHONPATH": str(ROOT)},
            check=False,
            timeout=300,
        )
    if done.returncode or done.stderr:
        raise Failed(done.stderr or f"{blocks[0].name} exits with {done.returncode}")
    return done.stdout.split(f"{END}\n")


def now(text: str) -> dict[str, list[str]]:
    """For each name on a page, what its blocks print."""
    found = examples(text)
    return {
        name: outputs([b for b in found if b.name == name])
        for name in dict.fromkeys(b.name for b in found)
    }


def filled(text: str) -> str:
    """The page with what its examples print now."""
    printed = {name: iter(texts) for name, texts in now(text).items()}

    def block(match: re.Match[str]) -> str:
        name, code, _ = match.groups()
        output = next(printed[name])
        shown = f"\n```text\n{output}```\n" if output else ""
        return f"<!-- example: {name} -->\n```python\n{code}```\n{shown}"

    return BLOCK.sub(block, text)


def main(arguments: list[str]) -> int:
    pages = [Path(a) for a in arguments] or [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
    ]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        try:
            new = filled(text)
        except Failed as error:
            print(f"{page.name}: {error}", file=sys.stderr)
            return 1
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"{page.name}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
