"""C kernels of maxima over windows, and of what their indices scatter and gather.

An element wins if it is larger than the best so far, or the first NaN: so the first of equal
elements stays, and a NaN stays against all.
"""

from __future__ import annotations

from itertools import product
from math import prod

from autograd_engine.compiler.native.c_code.c_kernel import CKernel
from autograd_engine.compiler.native.pool.axes import PoolAxis, grain, pitch_of, row_bounds

__all__ = ["gather", "maximum", "scatter"]

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
