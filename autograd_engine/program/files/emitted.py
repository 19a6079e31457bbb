"""What blocks of documents remember of gradients that exist, so that they are not made again."""

from __future__ import annotations

from typing import Any

from autograd_engine.program.files.fields import (
    fail,
    read_fields,
    read_int,
    read_list,
    read_text,
    shown,
)
from autograd_engine.program.files.known_ops import named_operation
from autograd_engine.program.files.values import read_dtype
from autograd_engine.program.files.writer import SEEDED
from autograd_engine.program.ir.program import Block

__all__ = ["read_emitted"]


def read_emitted(block: Block, value: Any, where: str) -> None:
    """Fill `block.emitted`; what is computed gets numbers of its own there."""
    numbers: dict[int, int] = {}
    for k, entry in enumerate(read_list(value, where)):
        at = f"{where}[{k}]"
        if type(entry) is dict and "rule" in entry:
            fields = read_fields(entry, at, ("rule", "of", "number"))
            op = named_operation(fields["rule"], at)
            parts = _key(fields["of"], at)
            number = read_int(fields["number"], at)
            numbers[number] = block.emitted.setdefault((op, *parts), len(block.emitted))
            continue
        fields = read_fields(entry, at, ("key", "variable"))
        key = _key(fields["key"], at)
        name = fields["variable"]
        var = block.vars.get(name) if type(name) is str else None
        if var is None:
            fail(at, f"there is no variable {shown(name)} in block {block.idx}")
        if key and type(key[0]) is int and len(key) == 2:
            if type(key[1]) is not int or key[1] not in numbers:
                fail(at, f"{shown(key[1])} is the number of no rule before it")
            key = key[0], numbers[key[1]]
        elif not key or type(key[0]) is not str or key[0] not in SEEDED:
            fail(at, "is no key of a gradient")
        block.emitted[key] = var


def _key(value: Any, where: str) -> tuple[Any, ...]:
    made: list[Any] = []
    for part in read_list(value, where):
        kind = type(part)
        if kind is list:
            made.append(_key(part, where))
        elif part is None or kind is bool:
            made.append(part)
        elif kind is int:
            made.append(read_int(part, where, -(2**128), 2**128))
        elif kind is str:
            made.append(read_text(part, where))
        elif kind is dict and part.keys() == {"dtype"}:
            made.append(read_dtype(part["dtype"], where))
        elif kind is dict and part == {"ellipsis": True}:
            made.append(Ellipsis)
        else:
            fail(where, f"{shown(part)} is no part of a key")
    return tuple(made)
