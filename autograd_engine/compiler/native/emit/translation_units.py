"""A program as several C sources, so that they are compiled at once on several processors."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from autograd_engine.compiler.native.emit.math_functions import needed

__all__ = ["one_source", "units"]

_HEAD: Final = re.compile(
    r"^static (?:__attribute__\(\(noinline\)\) )?((?:void|int64_t) ((?:\w+?)_\d+)\([^)]*\))\s*\{",
    re.MULTILINE,
)
_HIDDEN: Final = '__attribute__((visibility("hidden"))) '
# A source that is shorter than this (in characters) is not worth a second compiler.
_SHORT: Final = 24_000


def one_source(
    functions: Sequence[str],
    entries: Sequence[str],
    helpers: Collection[str],
    maths: Collection[str],
) -> str:
    """All in one text, each function before those that call it."""
    return "\n".join([needed(maths), *helpers, *functions, *entries])


def units(
    functions: Sequence[str],
    entries: Sequence[str],
    helpers: Collection[str],
    maths: Collection[str],
    count: int,
) -> list[str]:
    """At most `count` texts that are linked to one library.

    Parameters
    ----------
    functions : sequence of str
        Each defines a static function called ``<stem>_<number>``, and what only that one uses.
    entries : sequence of str
        What calls them.
    helpers : collection of str
        Declarations that functions may need.
    maths : collection of str
        Names of the functions in `maths` that they call.
    count : int
    """
    total = sum(map(len, functions)) + sum(map(len, entries))
    count = min(count, 1 + total // _SHORT)
    heads = [_HEAD.findall(text) for text in functions]
    if count < 2 or any(len(found) == 0 for found in heads):
        return [one_source(functions, entries, helpers, maths)]
    prototypes = [f"{_HIDDEN}{found[-1][0]};\n" for found in heads]
    shared = [_exported(text, found[-1][1]) for text, found in zip(functions, heads, strict=True)]
    bins: list[list[str]] = [[] for _ in range(count)]
    sizes = [0] * count
    bins[0] += entries
    sizes[0] = sum(map(len, entries)) // 2  # calls compile faster than loops
    for text in sorted(shared, key=len, reverse=True):
        k = sizes.index(min(sizes))
        bins[k].append(text)
        sizes[k] += len(text)
    return [_unit(prototypes, texts, helpers, maths) for texts in bins if texts]


def _exported(text: str, name: str) -> str:
    """`text` with that function for other sources to call."""
    return re.sub(
        rf"^static (?:__attribute__\(\(noinline\)\) )?(?=(?:void|int64_t) {name}\()",
        _HIDDEN,
        text,
        flags=re.MULTILINE,
    )


def _unit(
    prototypes: Sequence[str],
    texts: Sequence[str],
    helpers: Collection[str],
    maths: Collection[str],
) -> str:
    body = "\n".join(texts)
    used = {name for name in maths if f"ae_{name}(" in body}
    return "\n".join([needed(used), *helpers, *prototypes, body])
