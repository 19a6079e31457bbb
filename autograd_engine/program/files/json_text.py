"""Documents as JSON text: within limits, without repeated keys, with a checksum."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from autograd_engine.errors import FileFormatError
from autograd_engine.program.files.fields import shown

__all__ = ["FORMAT", "VERSION", "check_size", "parse", "reading", "refuse_foreign", "text_of"]

FORMAT: Final = "autograd_engine program"
VERSION: Final = 1
_MAX_TEXT: Final = 2**30
_MAX_VALUES: Final = 2 * 10**7  # what a text holds at most, so that it fits into memory as objects
_MAX_DEPTH: Final = 100

_PICKLES: Final = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"(dp", b"(lp", b"cnumpy")


@contextlib.contextmanager
def reading(source: str) -> Iterator[None]:
    """Inside the ``with`` block, errors say which file they are about."""
    try:
        yield
    except FileFormatError as error:
        raise FileFormatError(f"{source}: {error}") from error.__cause__
    except (RecursionError, MemoryError, OverflowError) as error:
        raise FileFormatError(f"{source}: holds more, or deeper, than can be read") from error


def text_of(document: dict[str, Any]) -> str:
    """The text of a document, a line for each variable and each operator."""
    head = {"format": FORMAT, "version": VERSION, **document}
    head["checksum"] = _checksum(head)
    program = head.pop("program")
    parts = [f"{_compact(k)}: {_compact(v)}" for k, v in head.items()]
    return "{\n" + ",\n".join([*parts, f'"program": {_program_text(program)}']) + "\n}\n"


def _program_text(program: dict[str, Any]) -> str:
    parts = [f"{_compact(k)}: {_compact(v)}" for k, v in program.items() if k != "blocks"]
    blocks = ",\n".join(map(_block_text, program["blocks"]))
    return "{\n" + ",\n".join([*parts, f'"blocks": [\n{blocks}\n]']) + "\n}"


def _block_text(block: dict[str, Any]) -> str:
    parts = []
    for key, value in block.items():
        if key in ("variables", "operators", "emitted") and value:
            lines = ",\n".join(map(_compact, value))
            parts.append(f"{_compact(key)}: [\n{lines}\n]")
        else:
            parts.append(f"{_compact(key)}: {_compact(value)}")
    return "{" + ",\n".join(parts) + "}"


def _compact(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _checksum(document: dict[str, Any]) -> str:
    """Of what the text says: neither its layout nor the order of its parts plays a role."""
    content = {k: v for k, v in document.items() if k != "checksum"}
    text = json.dumps(content, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def refuse_foreign(content: bytes, what: str) -> None:
    """Raise FileFormatError for the files of PaddlePaddle, and for any other pickle."""
    if content.startswith(_PICKLES):
        raise FileFormatError(
            "is a pickle, as PaddlePaddle and older versions of PyTorch write; a pickle can run "
            "any code when it is read, so it is not: where it was made, load it and write its "
            "arrays, numpy.savez('x.npz', **{k: v.numpy() for k, v in state.items()}) or "
            "safetensors.numpy.save_file({k: v.numpy() ...}, 'x.safetensors'); load that file here"
        )
    if content.startswith(b"\n") and b"\x10\xff\xff\xff\xff" in content[:64]:
        raise FileFormatError(
            "is a program of PaddlePaddle, in its own format; build the program with "
            "autograd_engine and save it again"
        )
    if content.startswith(b"\0" * 16) or b'"magic":"pir"' in content[:200]:
        raise FileFormatError(
            f"is a file of PaddlePaddle, in its own format, and no {what} of autograd_engine; save "
            "it again with autograd_engine"
        )


def parse(content: str | bytes, kind: str = "program", version: int = VERSION) -> dict[str, Any]:
    """The document of a text, whose "format" is autograd_engine's of that kind.

    Raises
    ------
    FileFormatError
        For what is no JSON, is damaged, or is of another version.
    """
    if isinstance(content, bytes):
        refuse_foreign(content, kind)
        try:
            content = content.decode()
        except UnicodeDecodeError as error:
            raise FileFormatError(f"is no text in UTF-8: {error.reason}") from None
    check_size(content)
    try:
        document = json.loads(
            content,
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_int=_int,
            parse_float=_float,
        )
    except json.JSONDecodeError as error:
        raise FileFormatError(f"is no JSON: {error}") from None
    except RecursionError:
        raise FileFormatError("is nested too deep") from None
    return _checked(document, kind, version)


_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_OTHER: Final = re.compile(r"[^\[\]{}]+")


def check_size(text: str) -> None:
    """Before anything is made of it: no more values than fit, no deeper than Python recurses."""
    if len(text) > _MAX_TEXT:
        raise FileFormatError(f"has {len(text)} characters, and {_MAX_TEXT} are the most")
    if text.count(",") + text.count("[") + text.count("{") > _MAX_VALUES:
        raise FileFormatError(f"holds more than {_MAX_VALUES} values")
    brackets = _OTHER.sub("", _STRING.sub("", text))
    for _ in range(_MAX_DEPTH):  # each round takes the innermost away
        inner = brackets.replace("[]", "").replace("{}", "")
        if len(inner) == len(brackets):
            return  # none are left, or they do not match, which is no JSON
        brackets = inner
    raise FileFormatError(f"is nested more than {_MAX_DEPTH} deep")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise FileFormatError(f"has an object with the key {shown(key)} twice")
            seen.add(key)
    return made


def _no_constant(text: str) -> NoReturn:
    raise FileFormatError(f'is no JSON: {text} is no number; it is written {{"float": "nan"}}')


def _int(text: str) -> int:
    if len(text) > 40:
        raise FileFormatError(f"holds an integer of {len(text)} digits")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or len(text) > 100:
        raise FileFormatError(f"holds {shown(text)}, which is no float64")
    return value


def _checked(document: Any, kind: str, newest: int) -> dict[str, Any]:
    wanted = f"autograd_engine {kind}"
    if type(document) is not dict or document.get("format") != wanted:
        raise FileFormatError(f'is no {kind}: "format" must be {wanted!r}')
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise FileFormatError(f"has {shown(version)} for its version")
    if version > newest:
        raise FileFormatError(
            f"is of version {version} of the format, and this autograd_engine reads up to "
            f"{newest}: update autograd_engine"
        )
    checksum = document.get("checksum")
    if checksum is not None and checksum != _checksum(document):
        raise FileFormatError(
            "is damaged: its checksum does not fit what it says (a file that was edited on purpose "
            'is read when its "checksum" is taken out)'
        )
    return document
