"""What is read from the files of programs and of states, checked: parts of JSON.

What is read here is not trusted. Every function that reads takes `where`, the place in the file,
and raises FileFormatError with it.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from autograd_engine.errors import FileFormatError

__all__ = [
    "INT64",
    "MAX_NAME",
    "MAX_NDIM",
    "MAX_NUMBERS",
    "fail",
    "read_bool",
    "read_fields",
    "read_int",
    "read_list",
    "read_name",
    "read_text",
    "shown",
]

MAX_NAME: Final = 1000
MAX_NDIM: Final = 64  # NumPy's
MAX_NUMBERS: Final = 1000  # that one operation takes as inputs
INT64: Final = 2**63


def fail(where: str, problem: str) -> NoReturn:
    raise FileFormatError(f"{where}: {problem}")


def shown(value: Any) -> str:
    """A value of a file in a message: short, on one line."""
    if isinstance(value, (list, dict)):
        return f"a {'list' if isinstance(value, list) else 'dict'} of {len(value)}"
    try:
        text = ascii(value)
    except Exception:  # more digits than Python shows, nested too deep, a repr that raises
        return f"<{type(value).__name__}>"
    return text if len(text) <= 60 else f"{text[:57]}..."


def read_fields(
    value: Any, where: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """An object with these keys and no others."""
    if type(value) is not dict:
        fail(where, f"must be an object, got {shown(value)}")
    for key in required:
        if key not in value:
            fail(where, f"has no {key!r}")
    for key in value:
        if key not in required and key not in optional:
            fail(where, f"has {shown(key)}, which this version does not know")
    return value


def read_list(value: Any, where: str, length: int | None = None) -> list[Any]:
    if type(value) is not list:
        fail(where, f"must be a list, got {shown(value)}")
    if length is not None and len(value) != length:
        fail(where, f"must have {length} entries, got {len(value)}")
    return value


def read_int(value: Any, where: str, low: int = 0, high: int = INT64) -> int:
    """An int from `low` up to `high`, which is left out."""
    if type(value) is not int or not low <= value < high:
        fail(where, f"must be an integer from {low} to {high - 1}, got {shown(value)}")
    return value


def read_bool(value: Any, where: str) -> bool:
    if type(value) is not bool:
        fail(where, f"must be true or false, got {shown(value)}")
    return value


def read_text(value: Any, where: str, limit: int = 10**6) -> str:
    """A string that can be written out again."""
    if type(value) is not str:
        fail(where, f"must be a string, got {shown(value)}")
    if len(value) > limit:
        fail(where, f"is {len(value)} characters long, and {limit} is the most")
    if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        fail(where, "holds half of a surrogate pair, which is no character")
    return value


def read_name(value: Any, where: str) -> str:
    """The name of a variable: it may hold anything that can be printed."""
    name = read_text(value, where, MAX_NAME)
    if not name or not name.isprintable():
        fail(where, f"{shown(name)} is no name: it must be printable, and not empty")
    return name
