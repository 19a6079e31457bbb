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

Note: tiles in strips
    A strip is a row of tiles of one image. A block of strips is transformed to 16 matrices, in
    which tiles are lanes: strip after strip, each as whole vectors of which the next overwrites the
    rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from autograd_engine.compiler.native.c_code.c_kernel import CKernel, Lanes, lanes, simd_bytes
from autograd_engine.compiler.native.conv.correlation import Correlation
from autograd_engine.core.compute_once import cached_property

__all__ = ["filter_winograd", "takes", "winograd"]


@dataclass(frozen=True)
class Strips:
    """The strips of a correlation, and the blocks of them that are multiplied at once."""

    job: Correlation
    wanted: int  # tiles per block

    @cached_property
    def vector(self) -> Lanes:
        return lanes(self.job.dtype, simd_bytes() // self.job.dtype.itemsize)

    @cached_property
    def down(self) -> int:
        """Tiles along the first axis."""
        return -(-self.job.axes[0].count // 2)

    @cached_property
    def across(self) -> int:
        """Tiles of a strip."""
        return -(-self.job.axes[1].count // 2)

    @cached_property
    def padded(self) -> int:
        """Tiles of a strip as they are computed: whole vectors, the next strip overwrites."""
        return -(-self.across // self.vector.width) * self.vector.width

    @cached_property
    def strips(self) -> int:
        return self.job.images * self.down

    @cached_property
    def block(self) -> int:
        """Strips per block: the number near `wanted` tiles that wastes the fewest lanes."""
        middle = max(1, self.wanted // self.across)
        wide = self.tile[1] * self.vector.width
        around = range(max(1, middle * 2 // 3), max(2, middle * 4 // 3 + 1))
        best = min(around, key=lambda n: (-(-n * self.across // wide) * wide / n, -n))
        return min(best, self.strips)

    @cached_property
    def blocks(self) -> int:
        return -(-self.strips // self.block)

    @cached_property
    def tile(self) -> tuple[int, int]:
        """Filters and vectors of tiles in registers."""
        if simd_bytes() == 64:
            return (8, 3)
        return (4, 3) if self.job.filters % 6 else (6, 2)

    @cached_property
    def pitch(self) -> int:
        """Tiles of a block in memory."""
        wide = self.tile[1] * self.vector.width
        return self.spread(
            max(
                -(-self.block * self.across // wide) * wide,
                (self.block - 1) * self.across + self.padded,
            )
        )

    def spread(self, size: int) -> int:
        """`size` as an odd number of cache lines: rows so far apart do not share cache sets."""
        line = 64 // self.job.dtype.itemsize
        return (-(-size // line) | 1) * line

    @cached_property
    def u(self) -> int:
        """Elements of each of the 16 matrices of U."""
        return self.spread(self.job.filters * self.job.depth)

    @cached_property
    def v(self) -> int:
        return self.spread(self.job.depth * self.pitch)

    @cached_property
    def m(self) -> int:
        return self.spread(self.job.filters * self.pitch)

    @cached_property
    def chunk(self) -> int:
        """Channels per sum: a tile of V of so many channels stays in the first-level cache."""
        return -(-self.job.depth // -(-self.job.depth // 96))

    @cached_property
    def row(self) -> int:
        """Elements of a row of the source with zeros around it."""
        return 2 * self.padded + 2

    @cached_property
    def limit(self) -> str:
        return "0x1p50f" if self.job.dtype.itemsize == 4 else "0x1p400"


def filters_text(name: str, plan: Strips) -> str:
    """U = G w G^T, as [16][block of filters][channel][filter]."""
    job, t = plan.job, plan.job.element
    _, filters, depth = job.weight_pitch()
    high = plan.tile[0]
    taps = ", ".join(map(str, job.tap_indices()))
    return f"""\
static void {name}_filters(const {t} *restrict w, {t} *restrict u)
{{
    static const int32_t taps[9] = {{{taps}}};
    for (int64_t b = 0; b < {job.filters}; b += {high}) {{
        int64_t n = {job.filters} - b < {high} ? {job.filters} - b : {high};
        for (int64_t c = 0; c < {job.depth}; c++)
        for (int64_t o = 0; o < n; o++) {{
            const {t} *q = w + (b + o) * {filters} + c * {depth};
            {t} h[4][3];
            for (int j = 0; j < 3; j++) {{
                {t} w0 = q[taps[j]], w1 = q[taps[3 + j]], w2 = q[taps[6 + j]];
                {t} s = ({t})0.5 * (w0 + w2);
                h[0][j] = w0;
                h[1][j] = s + ({t})0.5 * w1;
                h[2][j] = s - ({t})0.5 * w1;
                h[3][j] = w2;
            }}
            {t} *to = u + (b * {job.depth}) + c * n + o;
            for (int i = 0; i < 4; i++) {{
                {t} s = ({t})0.5 * (h[i][0] + h[i][2]);
                to[(4 * i) * {plan.u}] = h[i][0];
                to[(4 * i + 1) * {plan.u}] = s + ({t})0.5 * h[i][1];
                to[(4 * i + 2) * {plan.u}] = s - ({t})0.5 * h[i][1];
                to[(4 * i + 3) * {plan.u}] = h[i][2];
            }}
        }}
    }}
}}
"""


def source_text(name: str, plan: Strips) -> str:
    """V = B^T x B of one strip of all channels, as [16][channel][tile]."""
    job, t = plan.job, plan.job.element
    rows, columns = job.axes
    lo = max(0, -columns.first)
    hi = min(plan.row, columns.size - columns.first)
    return f"""\
static void {name}_source(const {t} *restrict x, int64_t strip, {t} *restrict v)
{{
    static const {t} nothing[{columns.size}];
    {t} d[4][{plan.row}] = {{{{0}}}}, even[{plan.padded + 1}], odd[{plan.padded + 1}];
    int64_t top = 2 * strip + {rows.first};
    for (int64_t c = 0; c < {job.depth}; c++, x += {job.source}, v += {plan.pitch}) {{
        const {t} *r[4];
        for (int i = 0; i < 4; i++) {{
            int in = top + i >= 0 && top + i < {rows.size};
            r[i] = (in ? x + (top + i) * {columns.size} : nothing) + {columns.first + lo};
        }}
        const {t} *r0 = r[0], *r1 = r[1], *r2 = r[2], *r3 = r[3];
        for (int64_t j = 0; j < {max(0, hi - lo)}; j++) {{
            d[0][{lo} + j] = r0[j] - r2[j];
            d[1][{lo} + j] = r1[j] + r2[j];
            d[2][{lo} + j] = r2[j] - r1[j];
            d[3][{lo} + j] = r1[j] - r3[j];
        }}
        for (int i = 0; i < 4; i++) {{
            for (int64_t j = 0; j < {plan.padded + 1}; j++) {{
                even[j] = d[i][2 * j];
                odd[j] = d[i][2 * j + 1];
            }}
            {t} *to = v + i * {4 * plan.v};
            for (int64_t j = 0; j < {plan.padded}; j++) {{
                to[j] = even[j] - even[j + 1];
                to[j + {plan.v}] = odd[j] + even[j + 1];
                to[j + {2 * plan.v}] = even[j + 1] - odd[j];
                to[j + {3 * plan.v}] = odd[j] - odd[j + 1];
            }}
        }}
    }}
}}
"""


def result_text(name: str, plan: Strips) -> str:
    """y = A^T m A of one strip of all filters."""
    job, t = plan.job, plan.job.element
    height, width = (a.count for a in job.axes)
    step = plan.m
    odd = f"if (2 * strip + 1 < {height}) " if height % 2 else ""
    last = (
        f"        y0[{width - 1}] = e[{plan.across - 1}];\n"
        f"        {odd}y1[{width - 1}] = h[{plan.across - 1}];\n"
        if width % 2
        else ""
    )
    return f"""\
static void {name}_result(const {t} *restrict m, int64_t strip, {t} *restrict y)
{{
    {t} e[{plan.padded}], o[{plan.padded}], h[{plan.padded}], g[{plan.padded}];
    for (int64_t f = 0; f < {job.filters}; f++, m += {plan.pitch}, y += {job.out}) {{
        for (int64_t j = 0; j < {plan.padded}; j++) {{
            {t} s[4], d[4];
            for (int i = 0; i < 4; i++) {{
                const {t} *q = m + i * {step} + j;
                {t} m0 = q[0], m1 = q[{4 * step}], m2 = q[{8 * step}], m3 = q[{12 * step}];
                s[i] = m0 + m1 + m2;
                d[i] = m1 - m2 - m3;
            }}
            e[j] = s[0] + s[1] + s[2];
            o[j] = s[1] - s[2] - s[3];
            h[j] = d[0] + d[1] + d[2];
            g[j] = d[1] - d[2] - d[3];
        }}
        {t} *y0 = y + 2 * strip * {width}, *y1 = y0 + {width};
        for (int64_t j = 0; j < {width // 2}; j++) {{ y0[2 * j] = e[j]; y0[2 * j + 1] = o[j]; }}
        {odd}for (int64_t j = 0; j < {width // 2}; j++) {{
            y1[2 * j] = h[j];
            y1[2 * j + 1] = g[j];
        }}
        (void)y1;
{last}    }}
}}
"""


def results_back_text(name: str, plan: Strips) -> str:
    """M = A dy A^T of one strip of all filters, as [16][filter][tile]."""
    job, t = plan.job, plan.job.element
    height, width = (a.count for a in job.axes)
    second = f"2 * strip + 1 < {height} ? r0 + {width} : nothing" if height % 2 else f"r0 + {width}"
    last = f"e[{width // 2}] = d[i][{width - 1}]; o[{width // 2}] = 0;" if width % 2 else ""
    return f"""\
static void {name}_back(const {t} *restrict y, int64_t strip, {t} *restrict m)
{{
    static const {t} nothing[{width}];
    {t} d[4][{width}], e[{plan.padded}] = {{0}}, o[{plan.padded}] = {{0}};
    (void)nothing;
    for (int64_t f = 0; f < {job.filters}; f++, y += {job.out}, m += {plan.pitch}) {{
        const {t} *r0 = y + 2 * strip * {width}, *r1 = {second};
        for (int64_t j = 0; j < {width}; j++) {{
            d[0][j] = r0[j];
            d[1][j] = r0[j] + r1[j];
            d[2][j] = r0[j] - r1[j];
            d[3][j] = -r1[j];
        }}
        for (int i = 0; i < 4; i++) {{
            for (int64_t j = 0; j < {width // 2}; j++) {{
                e[j] = d[i][2 * j];
                o[j] = d[i][2 * j + 1];
            }}
            {last}
            {t} *to = m + i * {4 * plan.m};
            for (int64_t j = 0; j < {plan.padded}; j++) {{
                to[j] = e[j];
                to[j + {plan.m}] = e[j] + o[j];
                to[j + {2 * plan.m}] = e[j] - o[j];
                to[j + {3 * plan.m}] = -o[j];
            }}
        }}
    }}
}}
"""


def gradient_text(name: str, plan: Strips) -> str:
    """dw = G^T u G."""
    job, t = plan.job, plan.job.element
    size = job.filters * job.depth
    return f"""\
static void {name}_gradient(const {t} *restrict u, {t} *restrict dw)
{{
    for (int64_t i = 0; i < {size}; i++, u++, dw += 9) {{
        {t} h[3][4];
        for (int j = 0; j < 4; j++) {{
            {t} u0 = u[j * {size}], u1 = u[(4 + j) * {size}];
            {t} u2 = u[(8 + j) * {size}], u3 = u[(12 + j) * {size}];
            h[0][j] = u0 + ({t})0.5 * (u1 + u2);
            h[1][j] = ({t})0.5 * (u1 - u2);
            h[2][j] = ({t})0.5 * (u1 + u2) + u3;
        }}
        for (int j = 0; j < 3; j++) {{
            dw[3 * j] = h[j][0] + ({t})0.5 * (h[j][1] + h[j][2]);
            dw[3 * j + 1] = ({t})0.5 * (h[j][1] - h[j][2]);
            dw[3 * j + 2] = ({t})0.5 * (h[j][1] + h[j][2]) + h[j][3];
        }}
    }}
}}
"""


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
