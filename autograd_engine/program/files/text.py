"""Programs as text and back: `Program.to_string`, `Program.parse_from_string`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograd_engine.errors import ArgumentTypeError, FileFormatError
from autograd_engine.program.files.fields import (
    fail,
    read_fields,
    read_list,
    shown,
)
from autograd_engine.program.files.json_text import parse, reading, text_of
from autograd_engine.program.files.reader import program_from
from autograd_engine.program.files.writer import document
from autograd_engine.program.ir.program import Program, Variable

__all__ = ["Loaded", "load_program", "program_bytes", "program_from_string", "program_to_string"]


@dataclass(eq=False)
class Loaded:
    """A program that was read, with what else its file says."""

    program: Program
    feeds: list[str]
    fetches: list[Variable]
    save: str  # which save wrote the file; empty where nobody said

    def __reduce__(self) -> Any:
        content = program_bytes(self.program, self.feeds, [v.name for v in self.fetches], self.save)
        return load_program, (content, "the copy of a program")


def program_to_string(
    program: Program, throw_on_error: bool = True, with_details: bool = False
) -> str:
    """`Program.to_string`."""
    for name, value in (("throw_on_error", throw_on_error), ("with_details", with_details)):
        if not isinstance(value, bool):
            raise ArgumentTypeError(f"to_string: {name} must be a bool, got {type(value).__name__}")
    try:
        made: dict[str, Any] = {"program": document(program)}
    except FileFormatError:
        if throw_on_error:
            raise
        return repr(program)
    if with_details:
        made["printed"] = repr(program).splitlines()
    return text_of(made)


def program_from_string(text: str | bytes) -> Program:
    """`Program.parse_from_string`."""
    if not isinstance(text, (str, bytes, bytearray, memoryview)):
        raise ArgumentTypeError(
            f"parse_from_string: text must be a str or bytes, got {type(text).__name__}"
        )
    return load_program(text if isinstance(text, str) else bytes(text), "the text").program


def program_bytes(
    program: Program,
    feeds: Sequence[str] | None = None,
    fetches: Sequence[str] | None = None,
    save: str = "",
) -> bytes:
    """The content of a file with `program`, and with what to feed and to fetch."""
    made: dict[str, Any] = {"save": save} if save else {}
    if feeds is not None and fetches is not None:
        made |= {"feeds": [*feeds], "fetches": [*fetches]}
    return text_of(made | {"program": document(program)}).encode()


def load_program(content: str | bytes | Path, source: str) -> Loaded:
    """The program of a text, or of a file.

    Raises
    ------
    FileNotFoundError
    FileFormatError
        Naming `source`, and where in it the mistake is.
    """
    if isinstance(content, Path):
        content = content.read_bytes()
    with reading(source):
        whole = read_fields(
            parse(content),
            "the file",
            ("format", "version", "program"),
            ("checksum", "save", "feeds", "fetches", "printed"),
        )
        program = program_from(whole["program"])
        feeds = [v.name for v in _named(program, whole.get("feeds", []), "feeds")]
        fetches = _named(program, whole.get("fetches", []), "fetches")
        save = whole.get("save", "")
        if type(save) is not str or len(save) > 100:
            fail("save", f"{shown(save)} is no name of a save")
    return Loaded(program, feeds, fetches, save)


def _named(program: Program, value: Any, where: str) -> list[Variable]:
    found = program.global_block().vars
    for name in read_list(value, where):
        if type(name) is not str or name not in found:
            fail(where, f"there is no variable {shown(name)} in the program")
    return [found[name] for name in value]
