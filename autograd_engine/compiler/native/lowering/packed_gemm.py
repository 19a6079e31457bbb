"""Products with one matrix, of many small matrices in turn: it is packed once.

A BLAS packs its operands anew in each call, which for the few rows of a batch takes as long as a
third of the work. Here the matrix lies in panels, two vectors wide, from one call to the next; a
tile of a few rows and one panel of the result stays in registers while it is summed up.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autograd_engine.compiler.native.c_code.c_kernel import HELPERS, lanes, simd_bytes
from autograd_engine.compiler.native.c_code.c_text import c_type

__all__ = ["PanelProduct"]

# Rows from which, and bytes of the matrix from which a BLAS is as fast.
_ROWS: Final = 256
_BYTES: Final = 1 << 20
_TILE: Final = 6
# Multiplications that are worth a thread.
_GRAIN: Final = 1 << 18


class PanelProduct:
    """``c += a b``, with a matrix b that stays.

    Parameters
    ----------
    name : str
        What its functions begin with.
    dtype : dtype
    m, n, k : int
        a is m x k, b is k x n.
    lda, ldc : int
        Distance of the rows of `a` and of `c`.
    transposed : bool
        b is given as n x k.
    """

    def __init__(
        self,
        name: str,
        dtype: np.dtype[Any],
        m: int,
        n: int,
        k: int,
        lda: int,
        ldc: int,
        transposed: bool,
    ) -> None:
        self.name, self.type = name, c_type(dtype)
        self.m, self.n, self.k, self.lda, self.ldc = m, n, k, lda, ldc
        self.transposed = transposed
        self.vector = lanes(dtype, simd_bytes() // dtype.itemsize)
        self.wide = 2 * self.vector.width
        self.panels = -(-n // self.wide)
        self.itemsize = dtype.itemsize

    @property
    def pays(self) -> bool:
        """Whether it is faster than a BLAS."""
        return self.m < _ROWS and self.n * self.k * self.itemsize <= _BYTES

    @property
    def helper(self) -> str:
        return HELPERS[self.vector.helper]

    @property
    def size(self) -> int:
        """Elements that the packed matrix takes."""
        return self.panels * self.k * self.wide

    def pack(self, b: str, packed: str) -> str:
        return f"{self.name}_pack({b}, {packed});"

    def product(self, a: str, packed: str, c: str) -> str:
        grain = max(1, _GRAIN // (self.m * self.k * self.wide))
        return (
            f"{{ const void *q[] = {{{a}, {packed}, {c}}};\n"
            f"ae_parallel({self.name}_body, q, {self.panels}, {grain}); }}"
        )

    @property
    def text(self) -> str:
        name, t, k, wide = self.name, self.type, self.k, self.wide
        at = f"(p * {wide} + j) * {k} + q" if self.transposed else f"q * {self.n} + p * {wide} + j"
        tall, rest = divmod(self.m, _TILE)
        rows = sorted({_TILE} if tall else set()) + ([rest] if rest else [])
        sweep = []
        if tall:
            sweep.append(
                f"for (int64_t i = 0; i < {tall * _TILE}; i += {_TILE})\n"
                f"{name}_tile{_TILE}(a + i * {self.lda}, b, c + i * pitch, pitch);"
            )
        if rest:
            i = tall * _TILE
            sweep.append(f"{name}_tile{rest}(a + {i * self.lda}, b, c + {i} * pitch, pitch);")
        body = "\n".join(sweep)
        left = self.n % wide
        panel = f"{t} *c = r + p * {wide}; const int64_t pitch = {self.ldc};\n{body}"
        if left:
            panel = f"""\
if (p < {self.panels - 1}) {{
{panel}
}} else {{
{t} c[{self.m * wide}]; const int64_t pitch = {wide};
for (int64_t i = 0; i < {self.m}; i++) for (int64_t j = 0; j < {wide}; j++)
    c[i * {wide} + j] = j < {left} ? r[i * {self.ldc} + p * {wide} + j] : 0;
{body}
for (int64_t i = 0; i < {self.m}; i++) for (int64_t j = 0; j < {left}; j++)
    r[i * {self.ldc} + p * {wide} + j] = c[i * {wide} + j];
}}"""
        return (
            "".join(self._tile(n) for n in rows)
            + f"""\
static void {name}_pack(const {t} *restrict b, {t} *restrict packed)
{{
    for (int64_t p = 0; p < {self.panels}; p++)
        for (int64_t q = 0; q < {k}; q++)
            for (int64_t j = 0; j < {wide}; j++)
                *packed++ = p * {wide} + j < {self.n} ? b[{at}] : 0;
}}
static void {name}_body(void *context, int64_t lo, int64_t hi, int worker)
{{
    void **given = context;
    const {t} *a = given[0];
    {t} *r = given[2];
    (void)worker;
    for (int64_t p = lo; p < hi; p++) {{
        const {t} *b = (const {t} *)given[1] + p * {k * wide};
{panel}
    }}
}}
"""
        )

    def _tile(self, rows: int) -> str:
        """A tile of the result: `rows` by the width of a panel."""
        v, width = self.vector.type, self.vector.width
        each = [(i, j) for i in range(rows) for j in (0, 1)]
        at = {(i, j): f"*({v} *)(c + {i} * pitch + {j * width})" for i, j in each}
        lines = [
            f"static void {self.name}_tile{rows}(const {self.type} *restrict a, "
            f"const {self.type} *restrict b, {self.type} *restrict c, int64_t pitch)",
            "{",
            *(f"    {v} s{i}_{j} = {at[i, j]};" for i, j in each),
            f"    for (int64_t q = 0; q < {self.k}; q++, b += {self.wide}) {{",
            f"        {v} b0 = *(const {v} *)b, b1 = *(const {v} *)(b + {width});",
            *(
                f"        {{ {self.type} x = a[{i * self.lda} + q]; s{i}_0 += x * b0; "
                f"s{i}_1 += x * b1; }}"
                for i in range(rows)
            ),
            "    }",
            *(f"    {at[i, j]} = s{i}_{j};" for i, j in each),
            "}",
            "",
        ]
        return "\n".join(lines)
