"""Pieces of C text that kernels of this backend are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd_engine.compiler.native.c_code.scalars import in_memory
from autograd_engine.core.dtypes import BOOLS, HALVES

__all__ = [
    "c_type",
    "combining",
    "indices_in_range",
    "lines_of",
    "nest",
    "over_lines",
    "place",
    "split_over",
]

Shape = tuple[int, ...]
Dtype = np.dtype[Any]


def c_type(dtype: Dtype) -> str:
    return in_memory(dtype)


def combining(kind: str, into: str, value: str, dtype: Dtype) -> str:
    """A statement that adds a value to another, or takes the larger or smaller; NaN stays."""
    if dtype in HALVES and kind != "set":
        raise TypeError(f"{dtype.name} is computed with in registers alone")
    if kind == "add":
        return f"{into} += {value};" if dtype not in BOOLS else f"{into} |= {value};"
    if kind == "set":
        return f"{into} = {value};"
    sign = ">" if kind == "maximum" else "<"
    return f"{into} = ({into} {sign} {value} || {into} != {into}) ? {into} : {value};"


def indices_in_range(size: int, low: int, high: int) -> str:
    """A check: whether `size` indices lie in `low` to `high` - 1."""
    return (
        "static int64_t NAME(const int64_t *index)\n{\n    int64_t bad = 0;\n"
        f"    for (int64_t i = 0; i < {size}; i++)\n"
        f"        bad |= (int64_t)((index[i] < {low}ll) | (index[i] >= {high}ll));\n"
        "    return bad;\n}\n"
    )


def nest(shape: Shape, body: Callable[[list[str]], str]) -> str:
    """Loops over `shape`, with a statement that is given the names of their counters."""
    names = [f"i{k}" for k in range(len(shape))]
    lines = [
        f"{'    ' * (k + 1)}for (int64_t {name} = 0; {name} < {size}; {name}++)"
        for k, (name, size) in enumerate(zip(names, shape, strict=True))
    ]
    return "\n".join([*lines, f"{'    ' * (len(shape) + 1)}{body(names)}"])


def place(names: Sequence[str], strides: Sequence[int]) -> str:
    """The sum of counters times strides."""
    parts = [f"{n} * {s}" if s != 1 else n for n, s in zip(names, strides, strict=True) if s]
    return " + ".join(parts) or "0"


def lines_of(shape: Shape, axis: int) -> tuple[int, int, int]:
    """(lines before the axis, its size, elements behind it)."""
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def split_over(
    parameters: Sequence[tuple[str, str]], n: int, body: str, *, grain: int, before: str = ""
) -> str:
    """A function whose body runs [lo, hi) of `n`, split over the threads.

    Parameters
    ----------
    parameters : sequence of (str, str)
        Type and name of its pointers.
    body : str
        Statements that know `lo`, `hi` and the parameters.
    grain : int
        Not worth a thread of its own.
    before : str
        Statements that run once.
    """
    given = ", ".join(f"{t}{name}" for t, name in parameters)
    unpacked = "".join(f"    {t}{name} = q[{k}];\n" for k, (t, name) in enumerate(parameters))
    packed = ", ".join(f"(void *){name}" for _, name in parameters)
    return (
        "static void NAME_part(void *context, int64_t lo, int64_t hi, int worker)\n{\n"
        f"    void **q = context;\n    (void)worker;\n{unpacked}{body}}}\n"
        f"static void NAME({given})\n{{\n{before}"
        f"    void *q[] = {{{packed}}};\n"
        f"    ae_parallel(NAME_part, q, {n}, {grain});\n}}\n"
    )


def over_lines(parameters: Sequence[tuple[str, str]], shape: Shape, axis: int, body: str) -> str:
    """`split_over` the lines along an axis, moved so that each pointer is at its first line.

    `body` is run for each of the lines before the axis, with `start`, the place of its first
    element.
    """
    lead, size, width = lines_of(shape, axis)
    inner = (
        "    for (int64_t line = lo; line < hi; line++) {\n"
        f"        int64_t start = line * {size * width};\n{body}    }}\n"
    )
    grain = (1 << 14) // max(1, size * width) + 1
    return split_over(parameters, lead, inner, grain=grain)
