"""Programs' files, damaged on purpose: by structure, by character, by byte."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

Path = tuple[Any, ...]

JUNK: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 3, 63, 2**31, 2**63 - 1, 2**63, 10**30, -(2**63) - 1,
    0.5, -0.0, 1e300, "", "x", "?0", "?", "((?0)//(2))", "float32", "object", "O", "f4,f4",
    "while", "cond", "__class__", "os.system", "'); import os; os.system('id'); ('",
    "\n__import__('os')", "\u2028", "\ud800", "a" * 1001, "tanh", "py_func", "constant",
    [], {}, [[]], [None], [0, 1], {"float": "nan"}, {"float": "x"}, {"block": 0}, {"block": 1},
    {"npy": "AAAA"}, {"npy": ""}, {"slice": [0, None, 0]}, {"slice": [None, None, None]},
    {"list": [{"list": []}]}, {"dict": [["a", 1], ["a", 1]]}, {"complex": [1.0, 2.0]},
    {"scalar": ["float32", 1e300]}, {"dtype": "float64"}, {"sum": [[2, "?0"]]}, {"sum": []},
    {"axes": [[0], "AAAA"]}, {"ellipsis": True}, {"value": 1.0, "dtype": "int32"},
    ["x", 1], ["x", 10**9], [2**40], [2**40, 2**40, 2**40], [0] * 65, [10**12],
)  # fmt: skip


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """The way to every value in a document."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for k in range(len(value)):
            yield from places(value[k], (*path, k))


def at(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


class Mutator:
    """Makes texts that are a little wrong of one that is right.

    Checksums are taken out, so that what is wrong has to be found by looking at it.
    """

    def __init__(self, text: str) -> None:
        document = json.loads(text)
        del document["checksum"]
        self.text = json.dumps(document)
        self.paths = [p for p in places(document) if p]
        self.shallow = [p for p in self.paths if len(p) < 6]
        self.kinds: dict[type, list[Path]] = {}
        for path in self.paths:
            self.kinds.setdefault(type(at(document, path)), []).append(path)

    def document(self, rng: random.Random, times: int = 1) -> str:
        """Some of its values replaced, left out, doubled or exchanged."""
        document = json.loads(self.text)
        for _ in range(times):
            # Most values are in operators; the few others are to be met as often.
            path = rng.choice(self.paths if rng.random() < 0.7 else self.shallow)
            try:
                self.mutate(document, path, rng)
            except (IndexError, KeyError, TypeError, ValueError):  # an earlier one took it away
                continue
        return json.dumps(document)

    def mutate(self, document: Any, path: Path, rng: random.Random) -> None:
        holder, key = at(document, path[:-1]), path[-1]
        kind = rng.randrange(7)
        if kind == 0:
            holder[key] = copy.deepcopy(rng.choice(JUNK))
        elif kind == 1:
            del holder[key]
        elif kind == 2 and isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
        elif kind == 3 and isinstance(holder, list):
            other = rng.randrange(len(holder))
            holder[key], holder[other] = holder[other], holder[key]
        elif kind == 4 and isinstance(holder, dict):
            names = ["op", "name", "extra", "control", "version", "attrs"]
            holder[rng.choice(names)] = holder.pop(key)
        elif kind == 5 and isinstance(holder[key], int):
            holder[key] += rng.choice([-1, 1, 2, -2, 100])
        else:  # something of the same kind from elsewhere
            holder[key] = copy.deepcopy(at(document, rng.choice(self.kinds[type(holder[key])])))


def mutated_text(text: str, rng: random.Random) -> str:
    """The text with characters changed, cut out or put in."""
    k = rng.randrange(len(text))
    kind = rng.randrange(4)
    if kind == 0:
        return text[:k] + chr(rng.randrange(32, 127)) + text[k + 1 :]
    if kind == 1:
        return text[:k]
    if kind == 2:
        return text[:k] + text[k + rng.randrange(1, 50) :]
    return text[:k] + rng.choice(["NaN", "[" * 200, '"', "\\u0000", "1e999", "9" * 50]) + text[k:]


def mutated_bytes(content: bytes, rng: random.Random) -> bytes:
    """The bytes with some of them changed, cut off or repeated."""
    made = bytearray(content)
    kind = rng.randrange(4)
    k = rng.randrange(len(made))
    if kind == 0:
        for _ in range(rng.randrange(1, 5)):
            made[rng.randrange(len(made))] = rng.randrange(256)
    elif kind == 1:
        del made[k:]
    elif kind == 2:
        made[k:k] = made[k : k + rng.randrange(1, 200)]
    else:
        made[k : k + 4] = b"\xff\xff\xff\xff"
    return bytes(made)
