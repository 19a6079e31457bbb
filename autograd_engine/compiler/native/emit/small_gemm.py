"""Products of small matrices, written out: for these the call of a BLAS takes longer than the work.

A tile of the result stays in registers while it is summed up: a few rows by two vectors.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from autograd_engine.compiler.native.c_code.c_kernel import HELPERS, lanes
from autograd_engine.compiler.native.c_code.scalars import C_TYPES, literal

__all__ = ["is_small", "small_product"]

_MOST: Final = 120_000  # multiplications
_ROWS: Final = 4


def is_small(m: int, n: int, k: int, transposed_b: int) -> bool:
    """Whether a product of these sizes is written out."""
    return not transposed_b and m * n * k <= _MOST and n >= 8 and k >= 2


def small_product(
    dtype: np.dtype[np.generic],
    m: int,
    n: int,
    k: int,
    steps: tuple[int, int],
    ldb: int,
    ldc: int,
    alpha: float,
    beta: float,
    scaled: bool,
) -> tuple[str, tuple[str, ...]]:
    """The text of ``NAME(a, b, c[, scale])``: c = alpha scale a b + beta c, and its helpers.

    Parameters
    ----------
    dtype : dtype
    m, n, k : int
    steps : (int, int)
        Distance of the rows of `a`, and of its columns.
    ldb, ldc : int
        Distance of the rows of the others.
    alpha, beta : float
    scaled : bool
        Whether there is a factor that is known at run time only.
    """
    real = C_TYPES[dtype.char]
    width = 32 // dtype.itemsize
    vector = lanes(dtype, width)
    more = f", const {real} *scale" if scaled else ""
    lines = [
        f"static void NAME(const {real} *a, const {real} *b, {real} *c{more})",
        "{",
        f"    const {real} alpha = {literal(alpha, dtype)}{' * *scale' if scaled else ''};",
    ]
    column = 0
    while n - column >= width:
        count = 2 if n - column >= 2 * width else 1
        lines += _tiles(vector.type, m, k, steps, ldb, ldc, beta, column, count, width)
        column += count * width
    if column < n:
        lines += _rest(real, m, n, k, steps, ldb, ldc, beta, column)
    return "\n".join([*lines, "}", ""]), (HELPERS[vector.helper],)


def _tiles(
    vector: str,
    m: int,
    k: int,
    steps: tuple[int, int],
    ldb: int,
    ldc: int,
    beta: float,
    column: int,
    count: int,
    width: int,
) -> list[str]:
    """All rows of a few vectors of columns."""
    lines = []
    for start, rows, stop in ((0, _ROWS, m - m % _ROWS), (m - m % _ROWS, m % _ROWS, m)):
        if start == stop:
            continue
        cells = [(r, v) for r in range(rows) for v in range(count)]
        lines.append(f"    for (int64_t i = {start}; i < {stop}; i += {rows}) {{")
        names = ", ".join(f"s{r}{v} = {{0}}" for r, v in cells)
        lines.append(f"        {vector} {names};")
        lines.append(f"        for (int64_t q = 0; q < {k}; q++) {{")
        for v in range(count):
            at = f"b + q * {ldb} + {column + v * width}"
            lines.append(f"            {vector} y{v} = *(const {vector} *)({at});")
        for r in range(rows):
            left = f"a[(i + {r}) * {steps[0]} + q * {steps[1]}]"
            lines += [f"            s{r}{v} += {left} * y{v};" for v in range(count)]
        lines.append("        }")
        for r, v in cells:
            at = f"c + (i + {r}) * {ldc} + {column + v * width}"
            target = f"*({vector} *)({at})"
            value = f"alpha * s{r}{v}" + (f" + {beta!r}f * {target}" if beta not in (0, 1) else "")
            value += f" + {target}" if beta == 1 else ""
            lines.append(f"        {target} = {value};")
        lines.append("    }")
    return lines


def _rest(
    real: str,
    m: int,
    n: int,
    k: int,
    steps: tuple[int, int],
    ldb: int,
    ldc: int,
    beta: float,
    column: int,
) -> list[str]:
    """The columns that fill no vector."""
    target = f"c[i * {ldc} + j]"
    before = f" + {beta!r} * {target}" if beta else ""
    return [
        f"    for (int64_t i = 0; i < {m}; i++)",
        f"        for (int64_t j = {column}; j < {n}; j++) {{",
        f"            {real} s = 0;",
        f"            for (int64_t q = 0; q < {k}; q++)",
        f"                s += a[i * {steps[0]} + q * {steps[1]}] * b[q * {ldb} + j];",
        f"            {target} = alpha * s{before};",
        "        }",
    ]
