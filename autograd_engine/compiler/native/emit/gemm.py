"""Products of matrices in C: calls of the BLAS, or written out where they are small.

For small matrices the call of a BLAS takes longer than the work.

A tile of the result stays in registers while it is summed up: a few rows by two vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.compiler.native.c_code.c_kernel import HELPERS, lanes
from autograd_engine.compiler.native.c_code.scalars import C_TYPES, literal
from autograd_engine.compiler.native.emit.address import Address
from autograd_engine.compiler.native.ir import Buffer, Product, Term

__all__ = ["ProductText"]

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


class ProductText:
    """Writes products; who emits a program says where operands are.

    Attributes
    ----------
    helpers : dict of str to None
        Declarations that texts need.
    """

    helpers: dict[str, None]

    def address(self, buffer: Buffer, offset: int = 0) -> Address:
        raise NotImplementedError

    def named(self, stem: str, text: str) -> str:
        raise NotImplementedError

    def product(self, step: Product) -> list[str]:
        out = step.outs[0]
        (m, k), n = step.a.shape[-2:], step.b.shape[-1]
        ta, lda = _matrix(step.a)
        tb, ldb = _matrix(step.b)
        kind = "f32" if out.dtype.char == "f" else "f64"
        alpha = literal(step.alpha, out.dtype)
        if step.scale is not None:
            assert step.scale.buffer is not None
            c = C_TYPES[out.dtype.char]
            scale = self.address(step.scale.buffer, step.scale.offset)
            alpha = f"{alpha} * *({c} *)({scale})"
        beta = literal(step.beta, out.dtype)
        assert step.a.buffer is not None
        assert step.b.buffer is not None
        addresses = (
            (step.a.buffer, step.a.offset),
            (step.b.buffer, step.b.offset),
            (out, 0),
        )
        loops, count, strides = _batch(step)
        if not loops and count == 1 and step.beta in (0.0, 1.0) and is_small(m, n, k, tb):
            return self._small_product(step, addresses, (m, n, k), ldb)
        if not loops and count == 1:
            a, b, c = (f"(void *)({self.address(x, o)})" for x, o in addresses)
            return [
                f"ae_gemm_{kind}({ta}, {tb}, {m}, {n}, {k}, {alpha}, {a}, {lda}, {b}, {ldb}, "
                f"{beta}, {c}, {n});"
            ]
        lines = []
        real = C_TYPES[out.dtype.char]
        for depth, (size, _) in enumerate(loops):
            pad = "    " * depth
            lines.append(f"{pad}for (int64_t i{depth} = 0; i{depth} < {size}; i{depth}++)")
        args = []
        for which, (buffer, offset) in enumerate(addresses):
            moved = "".join(f" + i{d} * {s[which]}" for d, (_, s) in enumerate(loops) if s[which])
            args.append(f"({real} *)({self.address(buffer, offset)}){moved}")
        pad = "    " * len(loops)
        lines.append(
            f"{pad}ae_gemm_batch_{kind}({count}, {ta}, {tb}, {m}, {n}, {k}, {alpha}, {args[0]}, "
            f"{lda}, {strides[0]}, {args[1]}, {ldb}, {strides[1]}, {beta}, {args[2]}, {n}, "
            f"{strides[2]});"
        )
        return lines

    def _small_product(
        self,
        step: Product,
        addresses: Sequence[tuple[Buffer, int]],
        sizes: tuple[int, int, int],
        ldb: int,
    ) -> list[str]:
        text, helpers = small_product(
            step.outs[0].dtype,
            *sizes,
            (step.a.strides[-2], step.a.strides[-1]),
            ldb,
            sizes[1],
            step.alpha,
            step.beta,
            step.scale is not None,
        )
        self.helpers.update(dict.fromkeys(helpers))
        args = [self.address(x, o) for x, o in addresses]
        if step.scale is not None:
            assert step.scale.buffer is not None
            args.append(self.address(step.scale.buffer, step.scale.offset))
        return [f"{self.named('product', text)}({', '.join(f'(void *)({a})' for a in args)});"]


def _matrix(term: Term) -> tuple[int, int]:
    """(whether it is transposed, distance of its rows) as BLAS takes it."""
    (rows, columns), (s, t) = term.shape[-2:], term.strides[-2:]
    if (t == 1 or columns == 1) and (s >= columns or rows == 1):
        return 0, s if rows > 1 else max(columns, 1)
    return 1, t if columns > 1 else max(rows, 1)


def _batch(step: Product) -> tuple[list[tuple[int, tuple[int, int, int]]], int, Any]:
    """Outer loops (size, strides), then a count of products and their strides."""
    lead = step.outs[0].shape[:-2]
    m, n = step.outs[0].shape[-2:]
    c_strides = []
    size = m * n
    for d in reversed(lead):
        c_strides.append(size)
        size *= d
    c_strides.reverse()
    dims = [
        (d, (step.a.strides[k], step.b.strides[k], c_strides[k]))
        for k, d in enumerate(lead)
        if d != 1
    ]
    merged: list[tuple[int, tuple[int, int, int]]] = []
    for d, strides in dims:
        if merged:
            before, outer = merged[-1]
            if all(o == s * d for o, s in zip(outer, strides, strict=True)):
                merged[-1] = (before * d, strides)
                continue
        merged.append((d, strides))
    if not merged:
        return [], 1, (0, 0, 0)
    count, strides = merged.pop()
    return merged, count, strides
