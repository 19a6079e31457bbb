"""Correlations of 3 x 3 taps by the minimal algorithm for 2 x 2 results, and its adjoint.

With B, G and A of the Toom-Cook interpolation at 0, 1, -1 and infinity, a tile of 2 x 2 results is

    y = A^T [ sum over c of (G w[c] G^T) * (B^T x[c] B) ] A,      * elementwise,

where the tile x[c] has 4 x 4 elements: 16 products instead of 36. Tiles are lanes, so for each of
the 16 elements the sum over c is one matrix product (filters, channels) x (channels, tiles). The
map is linear in w, and its adjoint is

    dw[c] = G^T [ sum over tiles of (A dy A^T) * (B^T x[c] B) ] G.

Note: only where values are moderate
    The sums B^T x B and A^T m A mix elements that a single result does not depend on: one infinite
    pixel would turn finite neighbours into NaN. The arrays are looked through first, and what is
    not finite, or so large that a sum could overflow, is left to the products of columns.
"""

from __future__ import annotations

from autograd_engine.compiler.native.c_code.c_kernel import CKernel
from autograd_engine.compiler.native.conv.correlation import Correlation
from autograd_engine.compiler.native.conv.winograd_strips import (
    Strips,
    filters_text,
    gradient_text,
    result_text,
    results_back_text,
    source_text,
)

__all__ = ["filter_winograd", "takes", "winograd"]


# Positions of a row whose transforms fit the stack.
_WIDEST = 2048


def takes(job: Correlation) -> bool:
    """Whether the algorithm applies: 3 x 3 neighbouring taps, every position, one group."""
    return (
        len(job.axes) == 2
        and all(len(a.taps) == 3 and a.gap == a.step == a.out_step == 1 for a in job.axes)
        and job.dense
        and job.groups == 1
        and job.axes[1].count <= _WIDEST
    )


def _moderate_text(name: str, plan: Strips) -> str:
    """Whether all of n values are finite and not huge."""
    t = plan.job.element
    bits = "32" if t == "float" else "64"
    fabs = "fabsf" if t == "float" else "fabs"
    return f"""\
static int {name}_moderate(const {t} *x, int64_t n)
{{
    int{bits}_t wild = 0;
    #pragma omp simd reduction(| : wild)
    for (int64_t i = 0; i < n; i++) wild |= !({fabs}(x[i]) <= {plan.limit});
    return !wild;
}}
struct {name}_scan {{ const {t} *x; int *wild; }};
static void {name}_look(void *context, int64_t lo, int64_t hi, int worker)
{{
    const struct {name}_scan *k = context;
    (void)worker;
    if (!{name}_moderate(k->x + lo, hi - lo)) __atomic_store_n(k->wild, 1, __ATOMIC_RELAXED);
}}
static int {name}_all_moderate(const {t} *x, int64_t n)
{{
    int wild = 0;
    struct {name}_scan scan = {{x, &wild}};
    ae_parallel({name}_look, &scan, n, 65536);
    return !wild;
}}
"""


def _multiply_text(name: str, plan: Strips) -> str:
    """One tile of U V: sums over channels of some filters and vectors of tiles."""
    job, t, vector = plan.job, plan.job.element, plan.vector
    high, wide = plan.tile
    text = []
    for n in sorted({min(high, job.filters - b) for b in range(0, job.filters, high)}):
        at = {
            f"a{o}_{v}": f"*({vector.type} *)(m + {o * plan.pitch + v * vector.width})"
            for o in range(n)
            for v in range(wide)
        }
        zeros = " ".join(f"{a} = zero;" for a in at)
        starts = "\n".join(f"        {a} = {place};" for a, place in at.items())
        loads = "\n".join(
            f"        {vector.type} x{v} = *(const {vector.type} *)(v + {v * vector.width});"
            for v in range(wide)
        )
        products = "\n".join(
            f"        {t} k{o} = u[{o}]; "
            + " ".join(f"a{o}_{v} += x{v} * k{o};" for v in range(wide))
            for o in range(n)
        )
        stores = "\n".join(f"    {place} = {a};" for a, place in at.items())
        text.append(f"""\
static inline void {name}_multiply{n}(
    const {t} *restrict u, const {t} *restrict v, {t} *restrict m, int64_t from, int64_t to)
{{
    const {vector.type} zero = {{0}};
    {vector.type} {", ".join(at)};
    if (from) {{
{starts}
    }} else {{
        {zeros}
    }}
    u += from * {n};
    v += from * {plan.pitch};
    for (int64_t c = from; c < to; c++, v += {plan.pitch}, u += {n}) {{
{loads}
{products}
    }}
{stores}
}}
""")
    return "".join(text)


def winograd(name: str, job: Correlation, workers: int, otherwise: CKernel) -> CKernel:
    """A function of (x, w, y, scratch); `otherwise` is called where values are not moderate."""
    plan = Strips(job, 96)
    t, (high, wide) = job.element, plan.tile
    u = 16 * plan.u
    v, m = 16 * plan.v, 16 * plan.m
    full, rest = divmod(job.filters, high)
    lanes_wide = wide * plan.vector.width
    tail = (
        f"{name}_multiply{rest}(ui + {full * high * job.depth}, vi + t, "
        f"mi + {full * high * plan.pitch} + t, c, end);"
        if rest
        else ""
    )
    loop = (
        f"for (int64_t b = 0; b < {full}; b++) {name}_multiply{high}"
        f"(ui + b * {high * job.depth}, vi + t, mi + b * {high * plan.pitch} + t, c, end);"
        if full
        else ""
    )
    body = f"""\
struct {name}_arrays {{ const {t} *x; const {t} *u; {t} *y; {t} *s; }};
static void {name}_body(void *context, int64_t lo, int64_t hi, int worker)
{{
    const struct {name}_arrays *k = context;
    {t} *v = k->s + worker * (int64_t){v + m}, *m = v + {v};
    memset(v, 0, sizeof({t}) * {v});
    for (int64_t i = lo; i < hi; i++) {{
        int64_t first = i * {plan.block};
        int64_t n = {plan.strips} - first < {plan.block} ? {plan.strips} - first : {plan.block};
        for (int64_t j = 0; j < n; j++) {{
            int64_t image = (first + j) / {plan.down}, strip = (first + j) % {plan.down};
            {name}_source(k->x + image * {job.depth * job.source}, strip, v + j * {plan.across});
        }}
        for (int e = 0; e < 16; e++) {{
            const {t} *ui = k->u + e * {plan.u};
            const {t} *vi = v + e * {plan.v};
            {t} *mi = m + e * {plan.m};
            for (int64_t c = 0; c < {job.depth}; c += {plan.chunk}) {{
            int64_t end = {job.depth} - c < {plan.chunk} ? {job.depth} : c + {plan.chunk};
            for (int64_t t = 0; t < n * {plan.across}; t += {lanes_wide}) {{
                {loop}
                {tail}
            }} }}
        }}
        for (int64_t j = 0; j < n; j++) {{
            int64_t image = (first + j) / {plan.down}, strip = (first + j) % {plan.down};
            {name}_result(m + j * {plan.across}, strip, k->y + image * {job.filters * job.out});
        }}
    }}
}}
static void {name}(const {t} *x, const {t} *w, {t} *y, {t} *scratch)
{{
    if (!{name}_all_moderate(x, {job.images * job.depth * job.source})
        || !{name}_all_moderate(w, {job.filters * job.depth * 9})) {{
        {otherwise.name}(x, w, y, scratch);
        return;
    }}
    scratch = ({t} *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63);
    {name}_filters(w, scratch);
    struct {name}_arrays arrays = {{x, scratch, y, scratch + {u}}};
    ae_parallel({name}_body, &arrays, {plan.blocks}, {max(1, plan.blocks // (4 * workers))});
}}
"""
    text = "".join(
        [
            otherwise.source,
            _moderate_text(name, plan),
            filters_text(name, plan),
            source_text(name, plan),
            _multiply_text(name, plan),
            result_text(name, plan),
            body,
        ]
    )
    helpers = tuple({plan.vector.helper, *otherwise.helpers})
    return CKernel(name, text, max(u + (v + m) * workers + 16, otherwise.scratch), helpers)


def filter_winograd(name: str, job: Correlation, workers: int, otherwise: CKernel) -> CKernel:
    """A function of (g, x, dw, scratch): the adjoint in w; see `winograd`."""
    plan = Strips(job, 256)
    t, suffix = job.element, job.suffix
    size = job.filters * job.depth
    shares = min(workers, plan.blocks)
    own = 16 * (plan.v + plan.m)
    line = 64 // job.dtype.itemsize
    sums = -(-16 * size // line) * line
    body = f"""\
struct {name}_arrays {{ const {t} *g; const {t} *x; {t} *sum; {t} *s; }};
static void {name}_body(void *context, int64_t from, int64_t to, int worker)
{{
    const struct {name}_arrays *k = context;
    {t} *v = k->s + worker * (int64_t){own}, *m = v + {16 * plan.v};
    for (int64_t share = from; share < to; share++) {{
        {t} *sum = k->sum + share * {sums};
        int64_t lo = share * {plan.blocks} / {shares}, hi = (share + 1) * {plan.blocks} / {shares};
        for (int64_t i = lo; i < hi; i++) {{
            int64_t first = i * {plan.block};
            int64_t n = {plan.strips} - first < {plan.block} ? {plan.strips} - first : {plan.block};
            for (int64_t j = 0; j < n; j++) {{
                int64_t image = (first + j) / {plan.down}, strip = (first + j) % {plan.down};
                {name}_source(k->x + image * {job.depth * job.source}, strip,
                    v + j * {plan.across});
                {name}_back(k->g + image * {job.filters * job.out}, strip, m + j * {plan.across});
            }}
            for (int e = 0; e < 16; e++)
                ae_gemm_{suffix}(0, 1, {job.filters}, {job.depth}, n * {plan.across}, 1,
                    m + e * {plan.m}, {plan.pitch}, v + e * {plan.v}, {plan.pitch},
                    i > lo, sum + e * {size}, {job.depth});
        }}
    }}
}}
static void {name}(const {t} *g, const {t} *x, {t} *y, {t} *scratch)
{{
    if (!{name}_all_moderate(g, {job.images * job.filters * job.out})
        || !{name}_all_moderate(x, {job.images * job.depth * job.source})) {{
        {otherwise.name}(g, x, y, scratch);
        return;
    }}
    scratch = ({t} *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63);
    struct {name}_arrays arrays = {{g, x, scratch, scratch + {sums * shares}}};
    ae_parallel_blocks({name}_body, &arrays, {shares});
    for (int64_t share = 1; share < {shares}; share++)
        for (int64_t i = 0; i < {16 * size}; i++) scratch[i] += scratch[share * {sums} + i];
    {name}_gradient(scratch, y);
}}
"""
    text = "".join(
        [
            otherwise.source,
            _moderate_text(name, plan),
            source_text(name, plan),
            results_back_text(name, plan),
            gradient_text(name, plan),
            body,
        ]
    )
    return CKernel(
        name, text, max(sums * shares + own * workers + line, otherwise.scratch),
        otherwise.helpers,
    )  # fmt: skip
