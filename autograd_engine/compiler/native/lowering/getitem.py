"""Reading at a key, and the cotangents of that."""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy

from autograd_engine.compiler.native.c_code.c_text import (
    c_type,
    combining,
    nest,
    place,
)
from autograd_engine.compiler.native.ir import contiguous_strides
from autograd_engine.compiler.native.lowering.indexing import row_numbers
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.spec import Like
from autograd_engine.ops.getitem import Key, Part, parts_of

__all__ = ["places_of", "written"]

Shape = tuple[int, ...]


class Places(NamedTuple):
    """The elements of an array that a key takes.

    Attributes
    ----------
    shape : tuple of int
        Of what is taken.
    offset : int
    strides : tuple of int
        Along `shape`; 0 along the axes that index arrays give.
    rows : Traced or None
        Elements to go further, for each of what the index arrays give together; broadcasts to
        `shape`.
    """

    shape: Shape
    offset: int
    strides: Shape
    rows: Traced | None


def places_of(np: Loops, shape: Shape, strides: Shape, indices: Any, key: Key) -> Places:
    """Where the elements are that `key` takes from memory with these strides."""
    if "mask" in key:
        raise NotLowered("how many elements a mask takes is known when it is looked at")
    parts = parts_of(shape, indices, key)
    arrays = any(p.entry == "index" for p in parts if isinstance(p.entry, str))
    out: list[tuple[int, int]] = []
    given: list[tuple[Part, Traced | int]] = []
    offset, where, broken, last = 0, 0, False, -2
    for k, part in enumerate(parts):
        entry, axis = part.entry, part.axis
        if isinstance(entry, str) or (isinstance(entry, int) and arrays):
            where = where if given else len(out)
            broken = broken or (bool(given) and last != k - 1)
            last = k
            given.append((part, part.array if isinstance(entry, str) else entry))
        elif isinstance(entry, int):
            offset += entry % shape[axis] * strides[axis]
        elif entry is None:
            out.append((1, 0))
        elif isinstance(entry, slice):
            start, stop, step = entry.indices(shape[axis])
            count = len(range(start, stop, step))
            offset += start * strides[axis] if count else 0
            out.append((count, step * strides[axis]))
        else:
            out += [(shape[a], strides[a]) for a in range(axis, axis + part.taken)]
    if not given:
        return Places(tuple(n for n, _ in out), offset, tuple(s for _, s in out), None)
    where = 0 if broken else where
    rows: Any = None
    for part, index in given:
        if isinstance(index, int):
            offset += index % shape[part.axis] * strides[part.axis]
            continue
        along = row_numbers(np, index, shape[part.axis], wraps=True)
        along = along * strides[part.axis] if strides[part.axis] != 1 else along
        rows = along if rows is None else rows + along
    behind = out[where:]
    full = (*(n for n, _ in out[:where]), *rows.shape, *(n for n, _ in behind))
    steps = (*(s for _, s in out[:where]), *(0 for _ in rows.shape), *(s for _, s in behind))
    return Places(full, offset, steps, rows.reshape(*rows.shape, *(1 for _ in behind)))


@lowers("index")
def _index(np: Loops, x: Traced, *indices: Traced, key: Key) -> Traced:
    at = places_of(np, x.shape, x.term.strides, indices, key)
    if not math.prod(at.shape):
        return np.zeros(at.shape, x.dtype)
    if x.term.buffer is None:
        return np.number(x.term.number, x.dtype, at.shape)
    if at.rows is None:
        return Traced(np, x.term.seen(at.shape, at.strides, at.offset))
    return np.elements(x, at.shape, at.strides, at.rows, offset=at.offset)


def written(
    np: Loops, base: Traced | None, shape: Shape, values: Traced, at: Places, kind: str
) -> Traced:
    """A copy of `base`, or zeros, with values set or combined at places, in order."""
    dtype = values.dtype if base is None else base.dtype
    values = np.cast(values, dtype)
    values = Traced(np, values.term.broadcast(at.shape))
    if not values.size:
        return np.zeros(shape, dtype) if base is None else base
    one = values.term.buffer is None or (not any(values.term.strides))
    if one:
        values = values.reshape(-1)[:1] if values.ndim else values.reshape(1)
    t = c_type(dtype)
    bytes_ = math.prod(shape) * dtype.itemsize
    pointers = [f"const {t} *v", f"{t} *out"]
    operands = [values]
    if base is not None:
        pointers.insert(0, f"const {t} *base")
        operands.insert(0, base)
        start = f"    if (base != out) memcpy(out, base, {bytes_});\n"
    else:
        start = f"    memset(out, 0, {bytes_});\n"
    row_strides: Shape = (0,) * len(at.shape)
    if at.rows is not None:
        pointers.insert(len(operands), "const int64_t *rows")
        operands.append(np.packed(at.rows))
        full = Traced(np, np.number(0, numpy.int64).term)
        seen = full.term.seen(at.rows.shape, contiguous_strides(at.rows.shape)).broadcast(at.shape)
        row_strides = seen.strides

    def statement(names: list[str]) -> str:
        index = f"{at.offset} + {place(names, at.strides)}"
        if at.rows is not None:
            index += f" + rows[{place(names, row_strides)}]"
        value = "v[0]" if one else f"v[{place(names, contiguous_strides(at.shape))}]"
        return combining(kind, f"out[{index}]", value, dtype)

    text = f"static void NAME({', '.join(pointers)})\n{{\n{start}{nest(at.shape, statement)}\n}}\n"
    inplace = {} if base is None else {0: 0}
    return np.kernel(text, operands, [(shape, dtype)], inplace=inplace)[0]


@lowers("index_add_like")
def _index_add_like(np: Loops, x: Traced, like: Like, *indices: Traced, key: Key) -> Traced:
    shape: Any = like.shape
    at = places_of(np, shape, contiguous_strides(shape), indices, key)
    return written(np, None, shape, x, at, "add")


@lowers("unslice_like")
def _unslice_like(np: Loops, x: Traced, like: Like, *, key: Any) -> Traced:
    return np.assembled(like.shape, x.dtype, [(x, operator.itemgetter(key))])


@lowers("unslice_add")
def _unslice_add(np: Loops, base: Traced, *xs: Traced, keys: tuple[Any, ...]) -> Traced:
    parts: list[Any] = [(base, operator.itemgetter(Ellipsis))]
    parts += [(x, operator.itemgetter(key)) for x, key in zip(xs, keys, strict=True)]
    return np.assembled(base.shape, base.dtype, parts, adds=True)
