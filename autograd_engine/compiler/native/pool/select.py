"""C kernels of the pooling operations: maxima with their indices, means, and their adjoints.

Means go one axis after the other: the rows that a row of windows meets are added up first, then the
windows of the sum; the adjoint spreads a row of windows over a row, and adds that to the rows they
meet. Of maxima an element wins if it is larger than the best so far, or the first NaN: so the first
of equal elements stays, and a NaN stays against all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from autograd_engine.compiler.native.c_code.c_kernel import CKernel, element_type, known
from autograd_engine.compiler.native.pool.axes import (
    PoolAxis,
    bin_axes,
    grain,
    pitch_of,
    row_bounds,
    window_axes,
)
from autograd_engine.core.spec import Spec

__all__ = ["OPERATIONS", "pool"]

OPERATIONS: Final = (
    "max_pool",
    "adaptive_max_pool",
    "max_pool_scatter",
    "max_pool_gather",
    "avg_pool",
    "avg_pool_input",
    "adaptive_avg_pool",
    "adaptive_avg_pool_input",
)


def pool(
    op_name: str,
    operand_specs: Sequence[Spec],
    result_specs: Sequence[Spec],
    attrs: Mapping[str, Any],
    workers: int,
) -> CKernel | None:
    """The C kernel of one of `OPERATIONS`.

    Parameters
    ----------
    op_name : str
    operand_specs, result_specs : sequence of Spec
        As in the table of operations; the operand that only tells a shape has no pointer.
    attrs : mapping
        Of the operation.
    workers : int
        The most threads that the kernel is called on: ``ae_threads()``.

    Returns
    -------
    CKernel or None
        None for dtypes and sizes that are not supported.
    """
    first, result = operand_specs[0], result_specs[0]
    t, shapes = element_type(first.dtype), known((*operand_specs, *result_specs))
    if t is None or result.dtype != first.dtype or shapes is None:
        return None
    name, given, made = f"ae_{op_name}", shapes[0], shapes[len(operand_specs)]
    if op_name in ("max_pool_scatter", "max_pool_gather"):
        if operand_specs[1].dtype != np.int64:
            return None
        build = scatter if op_name == "max_pool_scatter" else gather
        image, out = (made if op_name == "max_pool_scatter" else given), shapes[1]
        return build(name, t, prod(out[:2]), prod(image[2:]), prod(out[2:]))
    image, out = (made, given) if op_name.endswith("_input") else (given, made)
    if 0 in image[2:] or 0 in out[2:]:
        return None
    planes = prod(image[:2])
    adaptive = op_name.startswith("adaptive")
    axes = bin_axes(image, out) if adaptive else window_axes(image, out, attrs)
    if op_name in ("max_pool", "adaptive_max_pool"):
        return maximum(name, t, planes, axes)
    make = mean_input if op_name.endswith("_input") else mean
    exclusive, divisor = attrs.get("exclusive", True), attrs.get("divisor")
    return make(name, t, planes, axes, exclusive, divisor, workers)


# --- means


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


# --- maxima


# Elements of a window that are compared in one loop over the windows of a row.
_FUSED = 16
# Windows of a row that are worked on at a time.
_WINDOWS = 256


def maximum(name: str, t: str, planes: int, axes: list[PoolAxis]) -> CKernel:
    """A function of (x, y, index, scratch)."""
    size, count = prod(a.size for a in axes), prod(a.count for a in axes)
    taps = prod(a.kernel for a in axes)
    if all(a.full for a in axes) and taps <= _FUSED:
        row = _fused_row(t, axes)
    elif axes[-1].kernel:
        row = _row_by_taps(t, axes)
    else:
        row = _row_by_bins(t, axes)
    *outer, last = axes
    lines = [
        f"struct {name}_arrays {{ const {t} *x; {t} *y; int64_t *index; }};",
        f"static void {name}_body(void *context, int64_t lo, int64_t hi, int worker)",
        "{",
        f"    const struct {name}_arrays *k = context;",
        "    (void)worker;",
        "    for (int64_t n = lo; n < hi; n++) {",
        f"    const {t} *restrict x = k->x + n * {size};",
        f"    {t} *restrict y = k->y + n * {count};",
        f"    int64_t *restrict index = k->index + n * {count};",
    ]
    for i, axis in enumerate(outer):
        lines.append(f"    for (int64_t p{i} = 0; p{i} < {axis.count}; p{i}++)")
    lines += [
        "    {",
        *row,
        f"    y += {last.count};",
        f"    index += {last.count};",
        "    } }",
        "}",
        f"static void {name}(const {t} *x, {t} *y, int64_t *index, {t} *scratch)",
        "{",
        "    (void)scratch;",
        f"    struct {name}_arrays arrays = {{x, y, index}};",
        f"    ae_parallel({name}_body, &arrays, {planes}, {grain(size)});",
        "}",
        "",
    ]
    return CKernel(name, "\n".join(lines), 0)


def _fused_row(t: str, axes: list[PoolAxis]) -> list[str]:
    """All windows of a row at once, where every window is inside the input.

    Without a NaN the largest is a chain of maxima, and the first that equals it is where it is:
    selections that depend on one comparison each, which compilers turn into vectors.
    """
    *outer, last = axes
    pitch = pitch_of(axes)
    terms = [f"p{i} * {a.stride * pitch[i]}" for i, a in enumerate(outer)]
    offsets = [
        sum(i * p for i, p in zip(key, pitch, strict=True))
        for key in product(*(range(a.kernel) for a in axes))
    ]
    each = list(enumerate(offsets))
    integer = "int32_t" if t == "float" else "int64_t"
    step = min(_WINDOWS, last.count)
    left = f"{last.count} - j0 < {step} ? {last.count} - j0 : {step}"
    if last.count % step == 0:
        left = str(step)
    return [
        f"    int64_t base = {' + '.join(terms or ['0'])};",
        f"    for (int64_t j0 = 0; j0 < {last.count}; j0 += {step}) {{",
        f"    const {t} *restrict q = x + base + j0 * {last.stride};",
        f"    {integer} where[{step}], nan = 0;",
        f"    const {integer} stop = {left};",
        "    #pragma omp simd reduction(| : nan)",
        f"    for ({integer} j = 0; j < stop; j++) {{",
        *(f"        {t} v{i} = q[j * {last.stride} + {offset}];" for i, offset in each),
        f"        {t} best = v0;",
        *(f"        best = v{i} > best ? v{i} : best;" for i, _ in each[1:]),
        "        nan |= " + " | ".join(f"(v{i} != v{i})" for i, _ in each) + ";",
        f"        {integer} at = {offsets[-1]};",
        *(f"        at = v{i} == best ? {offset} : at;" for i, offset in each[-2::-1]),
        "        y[j0 + j] = best;",
        f"        where[j] = at + j * {last.stride};",
        "    }",
        f"    for ({integer} j = 0; nan && j < stop; j++) {{",
        f"        static const int32_t offsets[{len(offsets)}] = "
        f"{{{', '.join(map(str, offsets))}}};",
        f"        for (int i = {len(offsets) - 1}; i >= 0; i--) {{",
        f"            {t} v = q[j * {last.stride} + offsets[i]];",
        f"            if (v != v) {{ y[j0 + j] = v; where[j] = offsets[i] + j * {last.stride}; }}",
        "        }",
        "    }",
        f"    for ({integer} j = 0; j < stop; j++) "
        f"index[j0 + j] = base + j0 * {last.stride} + where[j];",
        "    }",
    ]


def _outer_taps(axes: list[PoolAxis], back: bool = False) -> list[str]:
    """Loops over the elements of a window along all axes but the last, to where `row` starts."""
    pitch = pitch_of(axes)
    base = " + ".join([f"i{i} * {pitch[i]}" for i in range(len(axes) - 1)] or ["0"])
    loops = [
        f"    for (int64_t i{i} = hi{i} - 1; i{i} >= lo{i}; i{i}--)"
        if back
        else f"    for (int64_t i{i} = lo{i}; i{i} < hi{i}; i{i}++)"
        for i in range(len(axes) - 1)
    ]
    return [*loops, "    {", f"    int64_t row = {base};"]


def _row_by_taps(t: str, axes: list[PoolAxis]) -> list[str]:
    """Tap after tap, each over the windows of a row in which it is inside the input.

    The largest first, then backwards where it is, so that the first place stays; windows with a
    NaN need the order of both.
    """
    last = axes[-1]
    least = "-INFINITY"

    def taps(back: bool, lines: list[str], reduction: str = "") -> list[str]:
        text = _outer_taps(axes, back)
        for tap in sorted(range(last.kernel), reverse=back):
            first, stop = last.reached(tap)
            if first < stop:
                text += [
                    f"    #pragma omp simd{reduction}",
                    f"    for (int64_t j = {first}; j < {stop}; j++) {{",
                    f"        int64_t at = row + j * {last.stride} + {tap - last.before};",
                    f"        {t} v = x[at], best = y[j];",
                    *(f"        {line}" for line in lines),
                    "    }",
                ]
        return [*text, "    }"]

    integer = "int32_t" if t == "float" else "int64_t"
    return [
        *row_bounds(axes),
        f"    {integer} nan = 0;",
        f"    for (int64_t j = 0; j < {last.count}; j++) {{ y[j] = {least}; index[j] = -1; }}",
        *taps(
            False,
            ["(void)at;", "y[j] = v > best ? v : best;", "nan |= v != v;"],
            " reduction(| : nan)",
        ),
        "    if (!nan) {",
        *taps(True, ["index[j] = v == best ? at : index[j];"]),
        "    } else {",
        f"    for (int64_t j = 0; j < {last.count}; j++) y[j] = {least};",
        *taps(
            False,
            [
                "int wins = (index[j] < 0) | (v > best) | ((v != v) & (best == best));",
                "y[j] = wins ? v : best;",
                "index[j] = wins ? at : index[j];",
            ],
        ),
        "    }",
    ]


def _row_by_bins(t: str, axes: list[PoolAxis]) -> list[str]:
    """Window after window, each of a size of its own."""
    last = axes[-1]
    return [
        *row_bounds(axes),
        f"    for (int64_t j = 0; j < {last.count}; j++) {{",
        f"    {last.bounds('j', 'lo', 'hi')}",
        f"    {t} best = 0; int64_t found = -1;",
        *_outer_taps(axes),
        "    for (int64_t i = lo; i < hi; i++) {",
        f"        {t} v = x[row + i];",
        "        int wins = (found < 0) | (v > best) | ((v != v) & (best == best));",
        "        best = wins ? v : best;",
        "        found = wins ? row + i : found;",
        "    }",
        "    }",
        "    y[j] = best;",
        "    index[j] = found;",
        "    }",
    ]


def scatter(name: str, t: str, planes: int, size: int, count: int) -> CKernel:
    """A function of (g, index, y, scratch); an index outside its plane is passed over.

    Indices are those of a maximum, or have been checked (`last_writes`); the comparison keeps
    what was given by mistake from being written elsewhere.
    """
    body = f"""\
        {t} *restrict y = k->y + n * {size};
        const {t} *restrict g = k->g + n * {count};
        const int64_t *restrict index = k->index + n * {count};
        memset(y, 0, sizeof({t}) * {size});
        for (int64_t i = 0; i < {count}; i++)
            if ((uint64_t)index[i] < {size}) y[index[i]] += g[i];
"""
    return _at_indices(name, t, "g", body, planes, grain(size))


def gather(name: str, t: str, planes: int, size: int, count: int) -> CKernel:
    """A function of (x, index, y, scratch); what is outside its plane is NaN. See `scatter`."""
    body = f"""\
        const {t} *restrict x = k->x + n * {size};
        const int64_t *restrict index = k->index + n * {count};
        {t} *restrict y = k->y + n * {count};
        for (int64_t i = 0; i < {count}; i++)
            y[i] = (uint64_t)index[i] < {size} ? x[index[i]] : ({t})NAN;
"""
    return _at_indices(name, t, "x", body, planes, grain(count))


def _at_indices(name: str, t: str, source: str, body: str, planes: int, least: int) -> CKernel:
    """A function of (source, index, y, scratch) that runs `body` for each plane."""
    return CKernel(
        name,
        f"""\
struct {name}_arrays {{ const {t} *{source}; const int64_t *index; {t} *y; }};
static void {name}_body(void *context, int64_t lo, int64_t hi, int worker)
{{
    const struct {name}_arrays *k = context;
    (void)worker;
    for (int64_t n = lo; n < hi; n++) {{
{body}    }}
}}
static void {name}(const {t} *{source}, const int64_t *index, {t} *y, {t} *scratch)
{{
    (void)scratch;
    struct {name}_arrays arrays = {{{source}, index, y}};
    ae_parallel({name}_body, &arrays, {planes}, {least});
}}
""",
        0,
    )
