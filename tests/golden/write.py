"""Writes the texts anew: ``python -m tests.golden.write``, in the root of the repository.

The difference that version control shows then is what a change did to programs.
"""

from __future__ import annotations

from pathlib import Path

from tests.golden.programs import PROGRAMS, build

__all__ = ["KINDS", "path_of", "text_of"]

KINDS = ("printed.txt", "python.txt")


def path_of(name: str, kind: str) -> Path:
    return Path(__file__).parent / f"{name}.{kind}"


def text_of(name: str, kind: str) -> str:
    """What ``print`` shows of a program, or what it is as Python."""
    built = build(name)
    if kind == "printed.txt":
        return f"{built.main}\n{built.startup}"
    return str(built.main.to_python(built.fetches))


if __name__ == "__main__":
    for program in PROGRAMS:
        for form in KINDS:
            path_of(program, form).write_text(text_of(program, form), encoding="utf-8")
