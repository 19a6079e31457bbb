"""C kernels of means over windows and their adjoint, one axis after the other.

The rows that a row of windows meets are added up first, then the windows of the sum; the adjoint
spreads a row of windows over a row, and adds that to the rows they meet.
"""

from __future__ import annotations

from math import prod

from autograd_engine.compiler.native.c_code.c_kernel import CKernel
from autograd_engine.compiler.native.pool.axes import PoolAxis, grain, pitch_of, row_bounds

__all__ = ["mean", "mean_input"]


def _weight(t: str, axes: list[PoolAxis], exclusive: bool, divisor: float | None) -> list[str]:
    """Declares `weight`, of the windows of a row; what of it depends on the last axis is left."""
    if divisor:
        return [f"    const {t} weight = ({t}){float(divisor)!r};"]
    terms = [f"({t}){a.weight(f'p{i}', exclusive)}" for i, a in enumerate(axes[:-1])]
    return [f"    const {t} weight = {' * '.join(terms) or '1'};"]


def _along(t: str, last: PoolAxis, exclusive: bool, divisor: float | None) -> str:
    return "weight" if divisor else f"(weight * ({t}){last.weight('j', exclusive)})"


def _outer(axes: list[PoolAxis]) -> list[str]:
    """Loops over the rows of windows."""
    loops = [f"    for (int64_t p{i} = 0; p{i} < {a.count}; p{i}++)" for i, a in enumerate(axes)]
    return [*loops[:-1], "    {", *row_bounds(axes)]


def _rows(axes: list[PoolAxis]) -> tuple[list[str], str]:
    """Loops over the rows that a row of windows meets, and where each starts."""
    pitch = pitch_of(axes)[:-1]
    loops = [f"    for (int64_t i{i} = lo{i}; i{i} < hi{i}; i{i}++)" for i in range(len(pitch))]
    return loops, " + ".join([f"i{i} * {p}" for i, p in enumerate(pitch)] or ["0"])


def _function(name: str, t: str, planes: int, sizes: tuple[int, int], width: int,
              lines: list[str]) -> str:  # fmt: skip
    """A kernel that works on planes with a row of its own; `sizes` are those of a and y."""
    return "\n".join([
        f"struct {name}_arrays {{ const {t} *a; {t} *y; {t} *s; }};",
        f"static void {name}_body(void *context, int64_t from, int64_t to, int worker)",
        "{",
        f"    const struct {name}_arrays *k = context;",
        f"    {t} *restrict row = k->s + worker * (int64_t){width};",
        "    for (int64_t n = from; n < to; n++) {",
        f"    const {t} *restrict a = k->a + n * {sizes[0]};",
        f"    {t} *restrict y = k->y + n * {sizes[1]};",
        *lines,
        "    }",
        "}",
        f"static void {name}(const {t} *a, {t} *y, {t} *scratch)",
        "{",
        f"    struct {name}_arrays arrays = {{a, y, scratch}};",
        f"    ae_parallel({name}_body, &arrays, {planes}, {grain(max(sizes))});",
        "}",
        "",
    ])  # fmt: skip


def mean(
    name: str, t: str, planes: int, axes: list[PoolAxis], exclusive: bool,
    divisor: float | None, workers: int,
) -> CKernel:  # fmt: skip
    """A function of (x, y, scratch)."""
    last = axes[-1]
    size, count = prod(a.size for a in axes), prod(a.count for a in axes)
    loops, start = _rows(axes)
    by = _along(t, last, exclusive, divisor)
    lines = [
        *_outer(axes),
        *_weight(t, axes, exclusive, divisor),
        f"    for (int64_t i = 0; i < {last.size}; i++) row[i] = 0;",
        *loops,
        f"    for (int64_t i = 0; i < {last.size}; i++) row[i] += a[{start} + i];",
    ]
    if last.full and last.kernel <= 8:
        total = " + ".join(f"row[j * {last.stride} + {b}]" for b in range(last.kernel))
        lines += [
            "    #pragma omp simd",
            f"    for (int64_t j = 0; j < {last.count}; j++) y[j] = ({total}) / {by};",
        ]
    else:
        lines += [
            f"    for (int64_t j = 0; j < {last.count}; j++) {{",
            f"        {last.bounds('j', 'lo', 'hi')}",
            f"        {t} sum = 0;",
            "        #pragma omp simd reduction(+ : sum)",
            "        for (int64_t i = lo; i < hi; i++) sum += row[i];",
            f"        y[j] = sum / {by};",
            "    }",
        ]
    lines += [f"    y += {last.count};", "    }"]
    text = _function(name, t, planes, (size, count), last.size, lines)
    return CKernel(name, text, last.size * workers)


def mean_input(
    name: str, t: str, planes: int, axes: list[PoolAxis], exclusive: bool,
    divisor: float | None, workers: int,
) -> CKernel:  # fmt: skip
    """A function of (g, dx, scratch)."""
    last = axes[-1]
    size, count = prod(a.size for a in axes), prod(a.count for a in axes)
    loops, start = _rows(axes)
    by = _along(t, last, exclusive, divisor)
    lines = [
        f"    memset(y, 0, sizeof({t}) * {size});",
        *_outer(axes),
        *_weight(t, axes, exclusive, divisor),
        f"    for (int64_t i = 0; i < {last.size}; i++) row[i] = 0;",
    ]
    if last.apart and last.kernel <= 8:
        lines += [
            f"    for (int64_t j = 0; j < {last.count}; j++) {{",
            f"        {t} share = a[j] / {by};",
            *(f"        row[j * {last.stride} + {b}] = share;" for b in range(last.kernel)),
            "    }",
        ]
    else:
        lines += [
            f"    for (int64_t j = 0; j < {last.count}; j++) {{",
            f"        {last.bounds('j', 'lo', 'hi')}",
            f"        {t} share = a[j] / {by};",
            "        for (int64_t i = lo; i < hi; i++) row[i] += share;",
            "    }",
        ]
    lines += [
        *loops,
        f"    for (int64_t i = 0; i < {last.size}; i++) y[{start} + i] += row[i];",
        f"    a += {last.count};",
        "    }",
    ]
    text = _function(name, t, planes, (count, size), last.size, lines)
    return CKernel(name, text, last.size * workers)
