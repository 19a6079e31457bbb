"""Operations that read or write at indices.

Indices are checked before anything is read or written at them: a run with one that is out of range
is given up, and NumPy says what is wrong.
"""

from __future__ import annotations

import math
from typing import Any

from autograd_engine.compiler.native.c_code.c_text import (
    c_type,
    combining,
    indices_in_range,
    lines_of,
    over_lines,
    split_over,
)
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.dtypes import FLOATS, INTEGERS, UINT64
from autograd_engine.core.spec import Like

__all__ = ["last_of", "row_numbers", "scattered", "taken_along"]

# Up to this size of an axis, comparing all of it with an index is cheaper than a loop of its own.
_SHORT = 128


def row_numbers(np: Loops, index: Traced, size: int, *, wraps: bool) -> Traced:
    """An index as int64 without negative ones, once it is seen to be in range."""
    if index.dtype not in INTEGERS or index.dtype == UINT64:
        raise NotLowered(f"indices of {index.dtype.name} are checked by NumPy")
    index = np.cast(index, np.dtype("int64"))
    if not index.size:
        return index
    term = index.term
    number = term.buffer.number if term.buffer is not None else 0
    least, beyond = np.ranges.get(number, (0, 0))
    if 0 <= least < beyond <= size:
        return index
    key = ("rows", number, term.offset, term.shape, term.strides, term.number, size)
    found = np.checked.get((*key, False), np.checked.get((*key, wraps)))
    if found is None:
        found = np.check(indices_in_range(index.size, -size if wraps else 0, size), index)
        found = np.where(found < 0, found + size, found) if wraps else found
        np.checked[(*key, wraps)] = np.in_range(found, 0, size)
    return found


@lowers("gather")
def _gather(
    np: Loops, x: Traced, index: Traced, *, axis: int, wraps: bool = False, sparse: bool = False
) -> Traced:
    rows = row_numbers(np, index, x.shape[axis], wraps=wraps)
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    if not math.prod(shape):
        return np.zeros(shape, x.dtype)
    x = np.copied(x) if x.term.buffer is None else x
    strides = x.term.strides
    along = (*strides[:axis], *(0 for _ in index.shape), *strides[axis + 1 :])
    at = rows.reshape(*index.shape, *(1 for _ in x.shape[axis + 1 :]))
    return np.elements(x, shape, along, at, unit=strides[axis])


def scattered(np: Loops, rows: Traced, x: Traced, shape: Any, axis: int) -> Traced:
    """Zeros of `shape` with each slice of `x` added at its row along `axis`."""
    lead, size, width = lines_of(shape, axis)
    count, t = rows.size, c_type(x.dtype)
    add = combining(
        "add", f"out[(line * {size} + r) * {width} + j]", _SOURCE.format(count, width), x.dtype
    )
    body = (
        "    for (int64_t k = lo; k < hi; k++)\n"
        f"        for (int64_t j = 0; j < {width}; j++) out[k * {width} + j] = 0;\n"
        f"    for (int64_t line = lo / {size}; line * {size} < hi; line++)\n"
        f"        for (int64_t i = 0; i < {count}; i++) {{\n"
        "            int64_t r = index[i];\n"
        f"            if (line * {size} + r < lo || line * {size} + r >= hi) continue;\n"
        "#pragma omp simd\n"
        f"            for (int64_t j = 0; j < {width}; j++) {add}\n"
        "        }\n"
    )
    pointers = [(f"const {t} *", "x"), ("const int64_t *", "index"), (f"{t} *", "out")]
    # Every thread looks at all indices: rows must be worth it.
    whole = lead * size
    grain = whole if width < 8 else max(1, (1 << 15) // width)
    text = split_over(pointers, whole, body, grain=grain)
    return np.kernel(text, [x, rows], [(tuple(shape), x.dtype)])[0]


_SOURCE = "x[(line * {0} + i) * {1} + j]"


@lowers("scatter_add_like")
def _scatter_add_like(
    np: Loops, x: Traced, index: Traced, like: Like, *, axis: int, sparse: bool = False
) -> Traced:
    rows = row_numbers(np, index, like.shape[axis], wraps=True)
    if not x.size or not math.prod(like.shape):
        return np.zeros(like.shape, x.dtype)
    return scattered(np, rows, x, like.shape, axis)


@lowers("scatter_add")
def _scatter_add(np: Loops, base: Traced, x: Traced, index: Traced, *, axis: int) -> Traced:
    rows = row_numbers(np, index, base.shape[axis], wraps=True)
    if not x.size or not base.size:
        return base
    return base + scattered(np, rows, x, base.shape, axis)


@lowers("take_along_axis")
def _take_along_axis(
    np: Loops, x: Traced, index: Traced, *, axis: int, wraps: bool = False
) -> Traced:
    rows = row_numbers(np, index, x.shape[axis], wraps=wraps)
    if not index.size:
        return np.zeros(index.shape, x.dtype)
    return taken_along(np, x, rows, axis)


def taken_along(np: Loops, x: Traced, rows: Traced, axis: int) -> Traced:
    if rows.shape[axis] == 1 and x.shape[axis] <= _SHORT and x.dtype in FLOATS:
        here = np.map("equal", np.position(x.shape, axis), rows)
        return np.reduce("sum", np.where(here, x, 0.0), axis, True)
    return np.gathered(x, rows, axis, rows.shape)


@lowers("put_along_axis_like")
def _put_along_axis_like(np: Loops, x: Traced, index: Traced, like: Like, *, axis: int) -> Traced:
    rows = row_numbers(np, index, like.shape[axis], wraps=True)
    if not x.size:
        return np.zeros(like.shape, x.dtype)
    if index.shape[axis] == 1:
        here = np.map("equal", np.position(like.shape, axis), rows)
        return np.where(here, x, np.number(0, x.dtype))
    _, size, width = lines_of(like.shape, axis)
    count, t = index.shape[axis], c_type(x.dtype)
    at = f"start / {size} * {count} + i * {width} + j"
    add = combining("add", f"out[start + index[{at}] * {width} + j]", f"x[{at}]", x.dtype)
    body = (
        f"        for (int64_t k = 0; k < {size * width}; k++) out[start + k] = 0;\n"
        f"        for (int64_t i = 0; i < {count}; i++)\n"
        f"            for (int64_t j = 0; j < {width}; j++) {add}\n"
    )
    pointers = [(f"const {t} *", "x"), ("const int64_t *", "index"), (f"{t} *", "out")]
    text = over_lines(pointers, like.shape, axis, body)
    return np.kernel(text, [x, rows], [(like.shape, x.dtype)])[0]


@lowers("one_hot")
def _one_hot(np: Loops, x: Traced, *, num_classes: int, dtype: str) -> Traced:
    rows = row_numbers(np, x, num_classes, wraps=False)
    shape = (*x.shape, num_classes)
    if not math.prod(shape):
        return np.zeros(shape, dtype)
    hot = np.map("equal", np.position(shape, len(shape) - 1), rows.reshape(*x.shape, 1))
    return np.cast(hot, np.dtype(dtype))


def last_of(np: Loops, rows: Traced, lines: int, size: int) -> Traced:
    """Of the positions in each line, those that no later one repeats."""
    count = rows.size // max(lines, 1)
    text = (
        "static void NAME(const int64_t *index, uint8_t *out, int64_t *last)\n{\n"
        f"    for (int64_t line = 0; line < {lines}; line++) {{\n"
        f"        const int64_t *at = index + line * {count};\n"
        f"        for (int64_t i = 0; i < {count}; i++) last[at[i]] = i;\n"
        f"        for (int64_t i = 0; i < {count}; i++)\n"
        f"            out[line * {count} + i] = last[at[i]] == i;\n"
        "    }\n}\n"
    )
    (out,) = np.kernel(text, [rows], [(rows.shape, bool)], scratch=8 * max(size, 1))
    return out
