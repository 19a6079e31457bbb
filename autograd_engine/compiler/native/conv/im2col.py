"""Correlations and filter gradients as products of matrices with columns.

The columns of an image are the matrix (channels * taps, positions) of what each position meets.
A tile of positions is as large as keeps its columns in cache; small images are worked on
together. Taps that meet the image itself (1 x 1) need no columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from autograd_engine.compiler.native.c_code.c_kernel import CKernel
from autograd_engine.compiler.native.conv.correlation import Correlation
from autograd_engine.core.compute_once import cached_property

__all__ = ["columns", "filter_columns"]

# Elements of columns per tile: about what the second-level cache and half of the third hold.
_TILE = 1 << 17
# Positions per product below which images are worked on together, or tiles are not cut.
_FEW = 128


@dataclass(frozen=True)
class _Plan:
    """How a correlation is cut into products."""

    job: Correlation
    workers: int

    @cached_property
    def together(self) -> int:
        """Images per product."""
        return max(1, min(self.job.images, _FEW // self.job.positions))

    @cached_property
    def blocks(self) -> int:
        return -(-self.job.images // self.together)

    @cached_property
    def depth(self) -> int:
        return self.job.depth * self.job.taps

    @cached_property
    def bare(self) -> bool:
        """Whether an image is its own columns."""
        job = self.job
        return (
            job.taps == 1 and not job.framed and job.positions == job.source
            and self.together == 1
        )  # fmt: skip

    @cached_property
    def row(self) -> int:
        """Positions of one index of the first axis."""
        return prod(a.count for a in self.job.axes[1:])

    @cached_property
    def rows(self) -> int:
        """Indices of the first axis per tile."""
        count = self.job.axes[0].count
        if self.bare or self.together > 1:
            return count
        least = -(-_FEW // self.row)
        n = max(least, _TILE // (self.depth * self.row), 1)
        tiles = -(-count // n)
        return -(-count // tiles)

    @cached_property
    def shared(self) -> bool:
        """Whether threads divide the images; else each product is divided."""
        return self.blocks >= self.workers

    @cached_property
    def width(self) -> int:
        """Most columns of a product."""
        return self.together * self.rows * self.row

    @cached_property
    def frame(self) -> int:
        return self.job.depth * self.job.frame if self.job.framed else 0

    @cached_property
    def column_size(self) -> int:
        return 0 if self.bare else self.depth * self.width


def _columns_text(name: str, plan: _Plan) -> str:
    """A function that writes the columns of the rows from `row` of the channels of one group."""
    job, t = plan.job, plan.job.element
    taps = [len(a.taps) for a in job.axes]
    table = ", ".join(str(job.last_offset(b)) for b in range(taps[-1]))
    lines = [
        f"static void {name}_columns(const {t} *restrict s, int64_t row, int64_t rows, "
        f"int64_t ld, {t} *restrict to)",
        "{",
        f"    static const int32_t along[{taps[-1]}] = {{{table}}};",
        f"    for (int64_t c = 0; c < {job.depth}; c++, s += {job.frame})",
    ]
    terms = ["s"]
    for a, pitch in enumerate(job.tap_pitch):
        lines.append(f"    for (int64_t t{a} = 0; t{a} < {taps[a]}; t{a}++)")
        terms.append(f"t{a} * {pitch}")
    lines.append(f"    for (int64_t b = 0; b < {taps[-1]}; b++, to += ld) {{")
    lines.append(f"        const {t} *q = {' + '.join(terms)} + along[b];")
    lines.append(f"        {t} *p = to;")
    counts = [a.count for a in job.axes]
    where = ["q"]
    if len(counts) > 1:
        lines.append("        for (int64_t r0 = row; r0 < row + rows; r0++)")
        where.append(f"r0 * {job.position_pitch[0]}")
        for a in range(1, len(counts) - 1):
            lines.append(f"        for (int64_t r{a} = 0; r{a} < {counts[a]}; r{a}++)")
            where.append(f"r{a} * {job.position_pitch[a]}")
        lines.append(
            f"            for (int64_t i = 0; i < {counts[-1]}; i++) "
            f"*p++ = ({' + '.join(where)})[i];"
        )
    else:
        lines.append("        for (int64_t i = 0; i < rows; i++) p[i] = q[row + i];")
    return "\n".join([*lines, "    }", "}", ""])


def _weights_text(name: str, job: Correlation) -> tuple[str, int]:
    """What makes the matrices of the filters, and its size; nothing where w has them already."""
    if job.plain_weights:
        return "", 0
    t, (group, filters, depth) = job.element, job.weight_pitch()
    taps = ", ".join(map(str, job.tap_indices()))
    return (
        f"""\
static void {name}_matrix(const {t} *restrict w, {t} *restrict p)
{{
    static const int32_t taps[{job.taps}] = {{{taps}}};
    for (int64_t g = 0; g < {job.groups}; g++)
    for (int64_t o = 0; o < {job.filters}; o++)
    for (int64_t c = 0; c < {job.depth}; c++)
    for (int64_t i = 0; i < {job.taps}; i++)
        *p++ = w[g * {group} + o * {filters} + c * {depth} + taps[i]];
}}
""",
        job.groups * job.filters * job.depth * job.taps,
    )


def _source_lines(name: str, plan: _Plan, images: str) -> list[str]:
    """Frames and columns, or what serves as such, of `count` images from `n` on; in group g."""
    job, t = plan.job, plan.job.element
    source = f"k->x + (n + j) * {job.groups * job.depth * job.source} + g * " + str(
        job.depth * job.source
    )
    if plan.bare:
        return [f"    const {t} *col = {source.replace('(n + j)', 'n')};"]
    lines = [f"    for (int64_t j = 0; j < {images}; j++) {{"]
    if job.framed:
        lines.append(f"    if (row == 0) {name}_frame({job.depth}, {source}, frame);")
        where = "frame"
    else:
        where = f"{source} + {job.origin}"
    lines.append(
        f"    {name}_columns({where}, row, rows, {images} * rows * {plan.row}, "
        f"col + j * rows * {plan.row});"
    )
    return [*lines, "    }"]


def _loop_lines(name: str, plan: _Plan, scratch: str) -> list[str]:
    """The beginning of a loop over blocks of images, groups, and tiles of rows."""
    job, t, count = plan.job, plan.job.element, plan.job.axes[0].count
    lines = [f"    {t} *frame = {scratch}, *made = frame + {plan.frame};"]
    if job.framed:
        lines.append(f"    memset(frame, 0, sizeof({t}) * {plan.frame});")
    return [
        *lines,
        "    (void)frame; (void)made;",
        "    for (int64_t i = lo; i < hi; i++) {",
        f"    int64_t n = i * {plan.together};",
        f"    int64_t m = {job.images} - n < {plan.together} ? {job.images} - n : {plan.together};",
        f"    for (int64_t g = 0; g < {job.groups}; g++)",
        f"    for (int64_t row = 0; row < {count}; row += {plan.rows}) {{",
        f"    int64_t rows = {count} - row < {plan.rows} ? {count} - row : {plan.rows};",
        *([] if plan.bare else [f"    {t} *col = made;"]),
        *_source_lines(name, plan, "m"),
        f"    int64_t width = m * rows * {plan.row};",
    ]


def columns(name: str, job: Correlation, workers: int) -> CKernel:
    """A function of (x, w, y, scratch) that sets the positions of y."""
    plan = _Plan(job, workers)
    t, suffix = job.element, job.suffix
    matrix, size = _weights_text(name, job)
    straight = job.dense and plan.together == 1
    result = 0 if straight else job.filters * plan.width
    own = plan.frame + plan.column_size + result
    image = job.groups * job.filters * job.out
    target = f"k->y + n * {image} + g * {job.filters * job.out}"
    into = f"{target} + row * {plan.row}" if straight else f"made + {plan.column_size}"
    lines = [
        f"struct {name}_arrays {{ const {t} *x; const {t} *w; {t} *y; {t} *s; }};",
        f"static void {name}_body(void *context, int64_t lo, int64_t hi, int worker)",
        "{",
        f"    const struct {name}_arrays *k = context;",
        *_loop_lines(name, plan, f"k->s + worker * (int64_t){own}"),
        f"    {t} *z = {into};",
        f"    ae_gemm_{suffix}(0, 0, {job.filters}, width, {plan.depth}, 1, "
        f"k->w + g * {job.filters * plan.depth}, {plan.depth}, col, "
        f"{job.source if plan.bare else 'width'}, 0, z, {job.out if straight else 'width'});",
    ]
    if not straight:
        lines += _spread_lines(plan, image)
    call = (
        f"ae_parallel({name}_body, &arrays, {plan.blocks}, 1)"
        if plan.shared
        else f"{name}_body(&arrays, 0, {plan.blocks}, 0)"
    )
    pack = f"    {name}_matrix(w, scratch);\n" if size else ""
    text = [
        job.frame_text(name) if job.framed else "",
        matrix,
        "" if plan.bare else _columns_text(name, plan),
        "\n".join([*lines, "    } }", "}", ""]),
        f"static void {name}(const {t} *x, const {t} *w, {t} *y, {t} *scratch)\n{{\n{pack}"
        f"    struct {name}_arrays arrays = {{x, {'scratch' if size else 'w'}, y, "
        f"scratch + {size}}};\n    {call};\n}}\n",
    ]
    return CKernel(name, "".join(text), size + own * (workers if plan.shared else 1))


def _spread_lines(plan: _Plan, image: int) -> list[str]:
    """From the product (filters, images, positions) to the images."""
    job, t = plan.job, plan.job.element
    lines = [
        f"    for (int64_t o = 0; o < {job.filters}; o++)",
        "    for (int64_t j = 0; j < m; j++) {",
        f"    const {t} *from = z + o * width + j * rows * {plan.row};",
        f"    {t} *to = k->y + (n + j) * {image} + (g * {job.filters} + o) * {job.out} "
        f"+ {job.out_origin};",
    ]
    where = []
    for a, axis in enumerate(job.axes):
        lo, hi = ("row", "row + rows") if a == 0 else ("0", str(axis.count))
        lines.append(f"    for (int64_t r{a} = {lo}; r{a} < {hi}; r{a}++)")
        where.append(f"r{a} * {job.out_pitch[a]}")
    return [*lines, f"        to[{' + '.join(where)}] = *from++;", "    }"]


def filter_columns(name: str, job: Correlation, workers: int) -> CKernel:
    """A function of (g, x, dw, scratch): the adjoint of a forward correlation in w.

    Blocks of images are divided into shares, each with a sum of its own; shares are added in
    their order.
    """
    plan = _Plan(job, workers)
    t, suffix = job.element, job.suffix
    size = job.groups * job.filters * plan.depth
    shares = min(workers, plan.blocks) if plan.shared else 1
    lanes = 0 if plan.together == 1 else job.filters * plan.width
    own = plan.frame + plan.column_size + lanes
    image = job.groups * job.filters * job.out
    lines = [
        f"struct {name}_arrays {{ const {t} *x; const {t} *w; {t} *y; {t} *s; }};",
        f"static void {name}_body(void *context, int64_t from, int64_t to, int worker)",
        "{",
        f"    const struct {name}_arrays *k = context;",
        "    for (int64_t share = from; share < to; share++) {",
        f"    int64_t lo = share * {plan.blocks} / {shares};",
        f"    int64_t hi = (share + 1) * {plan.blocks} / {shares};",
        f"    {t} *sum = share ? k->s + (share - 1) * (int64_t){size} : k->y;",
        *_loop_lines(name, plan, f"k->s + {(shares - 1) * size} + worker * (int64_t){own}"),
        f"    const {t} *z = k->w + n * {image} + g * {job.filters * job.out} + row * {plan.row};",
    ]
    if plan.together > 1:
        lines += [
            f"    {t} *y = made + {plan.column_size};",
            f"    for (int64_t o = 0; o < {job.filters}; o++)",
            "    for (int64_t j = 0; j < m; j++)",
            f"        memcpy(y + o * width + j * {job.out}, z + j * {image} + o * {job.out}, "
            f"sizeof({t}) * {job.out});",
            "    z = y;",
        ]
    lines += [
        f"    ae_gemm_{suffix}(0, 1, {job.filters}, {plan.depth}, width, 1, z, "
        f"{job.out if plan.together == 1 else 'width'}, col, "
        f"{job.source if plan.bare else 'width'}, i > lo || row, "
        f"sum + g * {job.filters * plan.depth}, {plan.depth});",
        "    } } }",
        "}",
        "",
    ]
    call = (
        f"ae_parallel_blocks({name}_body, &arrays, {shares})"
        if shares > 1
        else f"{name}_body(&arrays, 0, 1, 0)"
    )
    text = [
        job.frame_text(name) if job.framed else "",
        "" if plan.bare else _columns_text(name, plan),
        "\n".join(lines),
        f"static void {name}(const {t} *g, const {t} *x, {t} *y, {t} *scratch)\n{{\n"
        f"    struct {name}_arrays arrays = {{x, g, y, scratch}};\n    {call};\n"
        f"    for (int64_t share = 1; share < {shares}; share++)\n"
        f"        for (int64_t i = 0; i < {size}; i++) y[i] += scratch[(share - 1) * {size} + i];\n"
        "}\n",
    ]
    return CKernel(name, "".join(text), (shares - 1) * size + own * workers)
