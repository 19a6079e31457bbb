"""The C functions of numbers that generated loops call, and the text that defines them.

They are kept in ``c/maths_*.h``. A generated file carries those that it calls and what these call,
so the files are taken apart into their definitions here. `maths_exact`, `maths_libm` and
`maths_integer` hold each function once, in words that are replaced by those of a dtype.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.core.dtypes import FLOAT32, FLOAT64

__all__ = ["CONVERSIONS", "LIBM", "NAMES", "filled", "needed"]

# In the order in which they may call each other.
_FILES: Final = ("half", "exp", "log", "trig", "erf", "pow")
_OF_FLOATS: Final = {
    FLOAT32: {"real": "float", "_fX": "_f32", "AE_LIBM": r"\1f"},
    FLOAT64: {"real": "double", "_fX": "_f64", "AE_LIBM": r"\1"},
}
_TEMPLATES: Final = {
    "exact": tuple(_OF_FLOATS.values()),
    "libm": tuple(_OF_FLOATS.values()),
    "integer": (
        {"whole": "int32_t", "natural": "uint32_t", "_iX": "_i32"},
        {"whole": "int64_t", "natural": "uint64_t", "_iX": "_i64"},
    ),
}


class _Definition(NamedTuple):
    """A function, table or macro: the comment above it, and all names that it mentions."""

    name: str
    comment: str
    text: str
    mentions: frozenset[str]


_COMMENT: Final = r"^/\*.*?\*/\n"
_MACRO: Final = r"^#define (?P<macro>\w+)[^\n]*\n"
_TABLE: Final = r"^static const \w+ (?P<table>\w+)\[.*?^\};\n"
_FUNCTION: Final = r"^AE_(?:INLINE|LANES) \w+ (?P<function>\w+)\([^\n]*(?:\}\n|\n\{\n.*?^\}\n)"
_PIECE: Final = re.compile(
    f"(?P<comment>{_COMMENT})|{_MACRO}|{_TABLE}|{_FUNCTION}", re.MULTILINE | re.DOTALL
)
_NAME: Final = re.compile(r"\b(?:aei?|AE)_\w+")


def _read(name: str) -> str:
    texts = files("autograd_engine.compiler.native") / "c"
    return (texts / f"maths_{name}.h").read_text(encoding="utf-8")


def _definitions(text: str) -> Iterator[_Definition]:
    comment = ""
    for piece in _PIECE.finditer(text):
        if piece["comment"]:
            comment = piece["comment"]
            continue
        name = piece["macro"] or piece["table"] or piece["function"]
        mentions = frozenset(_NAME.findall(piece[0])) - {name}
        yield _Definition(name, comment, piece[0], mentions)


def filled(template: str, dtype: np.dtype[Any]) -> str:
    """A text that is written once for floats, with the words of this dtype.

    Examples
    --------
    >>> filled("real ae_half_fX(real x);", np.dtype("float32"))
    'float ae_half_f32(float x);'
    """
    return _filled(template, _OF_FLOATS[dtype])


def _filled(template: str, words: dict[str, str]) -> str:
    text = template
    for word, replacement in words.items():
        if word == "AE_LIBM":
            text = re.sub(r"AE_LIBM\((\w+)\)", replacement, text)
        elif word.startswith("_"):
            text = text.replace(word, replacement)
        else:
            text = re.sub(rf"\b{word}\b(?!`)", replacement, text)
    return text


@functools.cache
def _library() -> dict[str, _Definition]:
    """Every definition by its name, each after those that it needs."""
    texts = [_read(name) for name in _FILES]
    for name, choices in _TEMPLATES.items():
        texts.extend(_filled(_read(name), words) for words in choices)
    return {found.name: found for text in texts for found in _definitions(text)}


def needed(names: Iterable[str]) -> str:
    """The C text that defines functions, with all that they call, for the top of a file.

    Parameters
    ----------
    names : iterable of str
        From `NAMES` and `CONVERSIONS`: ``"exp_f32"`` is the function ``float ae_exp_f32(float)``.

    Returns
    -------
    str
        In a fixed order, each definition once.

    Raises
    ------
    KeyError
        There is no such function.

    Examples
    --------
    >>> text = needed(["sigmoid_f32"])
    >>> "float ae_sigmoid_f32(float x)" in text, "float ae_exp_down_f32(float x)" in text
    (True, True)
    >>> "tanh" in text
    False
    """
    library = _library()
    wanted: set[str] = set()
    stack = [f"ae_{name}" for name in names]
    while stack:
        name = stack.pop()
        if name not in wanted:
            wanted.add(name)
            stack.extend(library[name].mentions & library.keys())
    parts, comment = [_read("common")], ""
    for name, definition in library.items():
        if name in wanted:
            if definition.comment != comment:
                comment = definition.comment
                parts.append("\n" + comment)
            parts.append(definition.text)
    return "".join(parts)


CONVERSIONS: Final = frozenset(
    found.name.removeprefix("ae_") for found in _definitions(_read("half"))
)
"""Functions that `needed` knows and that go from one dtype to another, for floats of 16 bits."""

NAMES: Final = (
    frozenset(n.removeprefix("ae_") for n in _library() if n.startswith("ae_")) - CONVERSIONS
)
"""The others, as ``name_f32``, ``name_f64``, ``name_i32`` or ``name_i64``."""

LIBM: Final = frozenset(
    found.name.removeprefix("ae_").removesuffix("_fX") for found in _definitions(_read("libm"))
)
"""Of these those that go element by element, without the dtype."""
