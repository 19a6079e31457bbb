"""Correlations without columns: pixels in lanes, a tile of filters and pixels in registers.

For every channel and tap, `vectors` vectors of neighbouring pixels are loaded and multiplied by
the weights of `filters` filters. A tile is `rows` rows of `columns` vectors; the last tile of a
row, and of a column of rows, ends with it, so it overlaps the one before and nothing is masked.

For the gradient of filters sums of several taps are in registers: for a channel of the images and
a few filters, each vector of the cotangent is multiplied by what each tap of a small set meets. A
row that vectors do not fill ends with one that overlaps the one before, in which what was counted
is masked: in both factors, since 0 * inf is no zero.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import NamedTuple

from autograd_engine.compiler.native.c_code.c_kernel import (
    CKernel,
    lanes,
    simd_bytes,
    widest,
)
from autograd_engine.compiler.native.conv.correlation import Correlation

__all__ = ["Tile", "best_tile", "direct", "filter_direct"]

# Multiplications of one tile that are written out: more are a loop over taps.
_UNROLLED = 400


class Tile(NamedTuple):
    """What is kept in registers."""

    lanes: int
    filters: int
    rows: int
    columns: int
    cycles: float  # of the whole correlation of one image, estimated

    @property
    def vectors(self) -> int:
        return self.rows * self.columns


def _cycles(filters: int, vectors: int) -> float:
    """Cycles per tap: two products, or two loads, of which unaligned ones cost more; latency."""
    return max(filters * vectors / 2, (filters + 1.4 * vectors) / 2, 4.0)


def best_tile(job: Correlation) -> Tile:
    """The tile with the smallest estimate."""
    *outer, last = job.axes
    rows = outer[-1].count if outer else 1
    registers = 32 if simd_bytes() == 64 else 16
    widths = [widest(job.dtype, last.count)]
    if widths[0] > 2:
        widths.append(widths[0] // 2)
    found = []
    for width, filters, tall, wide in product(
        widths, range(1, min(job.filters, 12) + 1), range(1, min(rows, 8) + 1), range(1, 9)
    ):
        vectors = tall * wide
        used = filters * vectors + (2 if vectors == 1 or filters == 1 else vectors + 1)
        if used > registers or wide * width > last.count:
            continue
        full, rest = divmod(job.filters, filters)
        tap = full * _cycles(filters, vectors) + (_cycles(rest, vectors) if rest else 0)
        # A tile also starts and stores its sums.
        overhead = job.filters * vectors * 1.5 + 12
        tiles = -(-rows // tall) * -(-last.count // (wide * width))
        tiles *= prod(a.count for a in outer[:-1])
        cycles = tiles * (job.depth * job.taps * tap + overhead)
        found.append(Tile(width, filters, tall, wide, cycles * job.groups))
    return min(found, key=lambda tile: (tile.cycles, -tile.lanes))


def direct(name: str, job: Correlation, workers: int) -> CKernel:
    """A function of (x, w, y, scratch) that adds nothing to y but sets all its positions."""
    tile = best_tile(job)
    vector = lanes(job.dtype, tile.lanes)
    blocks = -(-job.filters // tile.filters)
    heights = sorted({min(tile.filters, job.filters - b * tile.filters) for b in range(blocks)})
    parts = 1 if job.images >= workers else min(-(-2 * workers // job.images), job.groups * blocks)
    packed = job.groups * job.filters * job.depth * job.taps
    frame = job.depth * job.frame if job.framed else 0
    t = job.element
    text = [
        job.frame_text(name) if job.framed else "",
        job.pack_text(name, tile.filters),
        *(_tile_text(name, job, tile, vector.type, n) for n in heights),
        _body_text(name, job, tile, parts, frame),
        f"""\
static void {name}(const {t} *x, const {t} *w, {t} *y, {t} *scratch)
{{
    struct {name}_arrays arrays = {{x, scratch, y, scratch + {packed}}};
    {name}_pack(w, scratch);
    ae_parallel({name}_body, &arrays, {job.images * parts}, {_grain(job, parts, workers)});
}}
""",
    ]
    helpers = (vector.helper,) if vector.helper else ()
    return CKernel(name, "".join(text), packed + frame * workers, helpers)


def _grain(job: Correlation, parts: int, workers: int) -> int:
    """Items that are not worth dividing: about 20 microseconds."""
    work = job.groups * job.filters * job.depth * job.taps * job.positions / parts
    return max(1, min(-(-job.images * parts // (2 * workers)), int(200_000 / max(1, work))))


def _tile_text(name: str, job: Correlation, tile: Tile, vector: str, filters: int) -> str:
    """One tile: sums of all channels and taps, then stored."""
    rows, last = job.position_pitch[-2] if len(job.axes) > 1 else 0, job.axes[-1]
    at = [(i * rows, j * tile.lanes) for i in range(tile.rows) for j in range(tile.columns)]
    t, taps = job.element, [len(a.taps) for a in job.axes]
    unrolled, size = len(taps), 1
    while unrolled and size * taps[unrolled - 1] * filters * tile.vectors <= _UNROLLED:
        unrolled -= 1
        size *= taps[unrolled]
    rolled_last = unrolled == len(taps)  # even one row of taps is too long
    lines = [
        f"static inline void {name}_tile{filters}"
        f"(const {t} *restrict s, const {t} *restrict w, {t} *restrict y)",
        "{",
        f"    {vector} "
        + ", ".join(f"a{o}_{v} = {{0}}" for o in range(filters) for v in range(tile.vectors))
        + ";",
        f"    for (int64_t c = 0; c < {job.depth}; c++, s += {job.frame}) {{",
    ]
    base = ["s"]
    for a in range(min(unrolled, len(taps) - 1)):
        lines.append(f"    for (int64_t t{a} = 0; t{a} < {taps[a]}; t{a}++)")
        base.append(f"t{a} * {job.tap_pitch[a]}")
    offsets = []
    if rolled_last:
        table = ", ".join(str(job.last_offset(b)) for b in range(taps[-1]))
        lines.append(f"    {{ static const int32_t along[{taps[-1]}] = {{{table}}};")
        lines.append(f"    for (int64_t b = 0; b < {taps[-1]}; b++) {{")
        base.append("along[b]")
        offsets.append(0)
    else:
        lines.append("    { {")
        inner = [range(taps[a]) for a in range(unrolled, len(taps) - 1)]
        for key in product(*inner):
            start = sum(k * p for k, p in zip(key, job.tap_pitch[unrolled:], strict=True))
            offsets += [start + job.last_offset(b) for b in range(taps[-1])]
    lines.append(f"        const {t} *q = {' + '.join(base)};")
    for i, offset in enumerate(offsets):
        lines.append("        {")
        for v, (row, column) in enumerate(at):
            lines.append(
                f"        {vector} x{v} = *(const {vector} *)(q + {offset + row + column});"
            )
        for o in range(filters):
            lines.append(f"        {t} k{o} = w[{i * filters + o}];")
            lines += [f"        a{o}_{v} += x{v} * k{o};" for v in range(tile.vectors)]
        lines.append("        }")
    lines.append(f"        w += {len(offsets) * filters};")
    lines.append("    } } }")
    down = job.out_pitch[-2] if len(job.axes) > 1 else 0
    places = [(i * down, j * tile.lanes) for i in range(tile.rows) for j in range(tile.columns)]
    for o, (v, (row, column)) in product(range(filters), enumerate(places)):
        start = o * job.out + row + column * last.out_step
        if last.out_step == 1:
            lines.append(f"    *({vector} *)(y + {start}) = a{o}_{v};")
        elif tile.lanes == 1:
            lines.append(f"    y[{start}] = a{o}_{v};")
        else:
            lines.append(
                f"    for (int i = 0; i < {tile.lanes}; i++) "
                f"y[{start} + i * {last.out_step}] = a{o}_{v}[i];"
            )
    return "\n".join([*lines, "}", ""]).replace(" = {0}", " = {0}" if tile.lanes > 1 else " = 0")


def _body_text(name: str, job: Correlation, tile: Tile, parts: int, frame: int) -> str:
    """Images, or parts of the filters of images, from `lo` to `hi`."""
    t, last = job.element, job.axes[-1]
    blocks = -(-job.filters // tile.filters)
    rest = job.filters - (blocks - 1) * tile.filters
    depth = job.depth * job.taps
    source = job.groups * job.depth * job.source
    out = job.groups * job.filters * job.out
    lines = [
        f"struct {name}_arrays {{ const {t} *x; const {t} *p; {t} *y; {t} *f; }};",
        f"static void {name}_body(void *context, int64_t lo, int64_t hi, int worker)",
        "{",
        f"    const struct {name}_arrays *k = context;",
        "    (void)worker;",
    ]
    if job.framed:
        lines.append(f"    {t} *f = k->f + worker * (int64_t){frame};")
        lines.append(f"    memset(f, 0, sizeof({t}) * {frame});")
    lines += [
        "    for (int64_t i = lo; i < hi; i++) {",
        f"    int64_t n = i / {parts}, part = i % {parts};",
        f"    int64_t first = part * {job.groups * blocks} / {parts};",
        f"    int64_t stop = (part + 1) * {job.groups * blocks} / {parts};",
        f"    for (int64_t g = first / {blocks}; g * {blocks} < stop; g++) {{",
        f"    int64_t b0 = first > g * {blocks} ? first - g * {blocks} : 0;",
        f"    int64_t b1 = stop < (g + 1) * {blocks} ? stop - g * {blocks} : {blocks};",
        f"    const {t} *x = k->x + n * {source} + g * {job.depth * job.source};",
    ]
    if job.framed:
        lines.append(f"    {name}_frame({job.depth}, x, f);")
        lines.append(f"    const {t} *s = f;")
    else:
        lines.append(f"    const {t} *s = x + {job.origin};")
    lines.append(f"    {t} *y = k->y + n * {out} + g * {job.filters * job.out} + {job.out_origin};")
    into, outof = ["y"], ["s"]
    *outer, _ = job.axes
    for i, axis in enumerate(outer):
        step = tile.rows if i == len(outer) - 1 else 1
        lines.append(f"    for (int64_t r{i} = 0; r{i} < {axis.count}; r{i} += {step}) {{")
        lines.append(f"    int64_t p{i} = {_start(f'r{i}', axis.count, step)};")
        into.append(f"p{i} * {job.out_pitch[i]}")
        outof.append(f"p{i} * {job.position_pitch[i]}")
    wide = tile.columns * tile.lanes
    lines.append(f"    for (int64_t r = 0; r < {last.count}; r += {wide}) {{")
    lines.append(f"    int64_t p = {_start('r', last.count, wide)};")
    into.append(f"p * {last.out_step}")
    outof.append("p")
    lines.append(f"    const {t} *sp = {' + '.join(outof)};")
    lines.append(f"    {t} *yp = {' + '.join(into)};")
    lines.append("    for (int64_t b = b0; b < b1; b++) {")
    lines.append(
        f"    const {t} *p0 = k->p + g * {job.filters * depth} + b * {tile.filters * depth};"
    )
    call = "(sp, p0, yp + b * " + str(tile.filters * job.out) + ");"
    if rest != tile.filters:
        lines.append(f"    if (b == {blocks - 1}) {name}_tile{rest}{call}")
        lines.append(f"    else {name}_tile{tile.filters}{call}")
    else:
        lines.append(f"    {name}_tile{tile.filters}{call}")
    lines.append("    }" * (len(outer) + 4))
    return "\n".join([*lines, "}", ""])


def _start(variable: str, count: int, step: int) -> str:
    """Where the tile at `variable` starts: earlier where it would run over the end."""
    if count % step == 0:
        return variable
    return f"{variable} > {count - step} ? {count - step} : {variable}"


# --- the gradient of filters


# Positions over which sums stay in registers, at least.
_MANY = 2048


class _Tile(NamedTuple):
    """Sums in registers: of `filters` filters, and `rows` rows of `columns` taps."""

    filters: int
    rows: int
    columns: int


def _best_tile(job: Correlation) -> _Tile:
    registers = 32 if simd_bytes() == 64 else 16
    taps = [len(a.taps) for a in job.axes]
    tall = taps[-2] if len(taps) > 1 else 1

    def cycles(tile: _Tile) -> float:
        total = 0.0
        for n, rows, columns in product(
            _pieces(job.filters, tile.filters),
            _pieces(tall, tile.rows),
            _pieces(taps[-1], tile.columns),
        ):
            sums = n * rows * columns
            total += max(sums / 2, (n + 1.4 * rows * columns) / 2, 4.0) + 0.5
        return total

    found = [
        _Tile(n, rows, columns)
        for n, rows, columns in product(
            range(1, min(job.filters, 8) + 1), range(1, tall + 1), range(1, min(taps[-1], 12) + 1)
        )
        if n * rows * columns + n + (1 if n > 1 else 0) <= registers - 1
        and (rows == 1 or columns == taps[-1])
    ]
    return min(found, key=cycles)


def _pieces(total: int, size: int) -> list[int]:
    return [min(size, total - i) for i in range(0, total, size)]


def filter_direct(name: str, job: Correlation, workers: int) -> CKernel:
    """A function of (g, x, dw, scratch): the adjoint of a forward correlation in w.

    Threads divide channels; where those are few, also the images, in shares whose sums are added
    in their order.
    """
    t, tile = job.element, _best_tile(job)
    vector = lanes(job.dtype, widest(job.dtype, job.axes[-1].count))
    units = job.groups * job.depth
    shares = 1 if units >= workers else min(workers, job.images)
    size = units * job.filters * job.taps
    most = max(1, min(job.images, -(-_MANY // job.positions)))
    own = most * job.frame if job.framed else 0
    parts, calls = _sums_text(name, job, tile, vector.type, vector.width)
    source, image = units * job.source, job.groups * job.filters * job.out
    if job.framed:
        frame = [
            "        for (int64_t j = 0; j < m; j++)",
            f"            {name}_frame(1, x + j * {source}, f + j * {job.frame});",
            f"        const {t} *s = f;",
        ]
        start = [
            f"    {t} *f = k->s + {(shares - 1) * size} + worker * (int64_t){own};",
            f"    memset(f, 0, sizeof({t}) * {own});",
        ]
    else:
        frame, start = [f"        const {t} *s = x + {job.origin};"], []
    body = [
        f"struct {name}_arrays {{ const {t} *g; const {t} *x; {t} *y; {t} *s; }};",
        f"static void {name}_body(void *context, int64_t from, int64_t to, int worker)",
        "{",
        f"    const struct {name}_arrays *k = context;",
        "    (void)worker;",
        *start,
        "    for (int64_t i = from; i < to; i++) {",
        f"        int64_t share = i / {units}, unit = i % {units};",
        f"        int64_t g = unit / {job.depth}, c = unit % {job.depth};",
        f"        int64_t lo = share * {job.images} / {shares};",
        f"        int64_t hi = (share + 1) * {job.images} / {shares};",
        f"        {t} *dw = (share ? k->s + (share - 1) * (int64_t){size} : k->y) "
        f"+ g * {job.filters * job.depth * job.taps} + c * {job.taps};",
        f"        for (int64_t o = 0; o < {job.filters}; o++)",
        f"            memset(dw + o * {job.depth * job.taps}, 0, sizeof({t}) * {job.taps});",
        f"        for (int64_t n = lo; n < hi; n += {most}) {{",
        f"        int64_t m = hi - n < {most} ? hi - n : {most};",
        f"        const {t} *x = k->x + n * {source} + unit * {job.source};",
        f"        const {t} *z = k->g + n * {image} + g * {job.filters * job.out};",
        *frame,
        *calls,
        "        }",
        "    }",
        "}",
        f"static void {name}(const {t} *g, const {t} *x, {t} *y, {t} *scratch)",
        "{",
        f"    struct {name}_arrays arrays = {{g, x, y, scratch}};",
        f"    ae_parallel({name}_body, &arrays, {shares * units}, {_portion(job, shares, units)});",
        f"    for (int64_t share = 1; share < {shares}; share++)",
        f"        for (int64_t i = 0; i < {size}; i++) "
        f"y[i] += scratch[(share - 1) * (int64_t){size} + i];",
        "}",
        "",
    ]
    text = (job.frame_text(name) if job.framed else "") + parts + "\n".join(body)
    helpers = (vector.helper,) if vector.helper else ()
    return CKernel(name, text, (shares - 1) * size + own * workers, helpers)


def _portion(job: Correlation, shares: int, units: int) -> int:
    """Channels that are not worth dividing: about 20 microseconds."""
    work = job.images / shares * job.filters * job.taps * job.positions
    return max(1, min(units, int(200_000 / max(1, work))))


def _sums_text(
    name: str, job: Correlation, tile: _Tile, vector: str, width: int
) -> tuple[str, list[str]]:
    """Functions that add up one tile over images, and the loops that call them."""
    taps = [len(a.taps) for a in job.axes]
    tall = taps[-2] if len(taps) > 1 else 1
    made: dict[tuple[int, int, int, int], str] = {}
    high = job.tap_pitch[-1] if len(taps) > 1 else 0
    outer = range(len(taps) - 2)
    at = "".join(f" + t{a} * {job.tap_pitch[a]}" for a in outer)
    into = "".join(f" + t{a} * {prod(taps[a + 1 :])}" for a in outer)
    lines = [f"        for (int64_t t{a} = 0; t{a} < {taps[a]}; t{a}++) {{" for a in outer]
    # Blocks of filters: the full ones, a loop, and what is left.
    full, left = job.filters - job.filters % tile.filters, job.filters % tile.filters
    blocks = [(0, full, tile.filters), (full, job.filters, left)]
    for (first, stop, n), (row, rows), (column, columns) in product(
        [block for block in blocks if block[0] < block[1]],
        _starts(tall, tile.rows),
        _starts(taps[-1], tile.columns),
    ):
        key = (n, rows, column, columns)
        function = f"{name}_sum{'_'.join(map(str, key))}"
        if key not in made:
            made[key] = _sum_text(function, job, key, vector, width)
        lines += [
            f"        for (int64_t b = {first}; b < {stop}; b += {n})",
            f"            {function}(dw + b * {job.depth * job.taps} "
            f"+ {row * taps[-1] + column}{into},",
            f"                s + {row * high}{at}, z + b * {job.out}, m);",
        ]
    return "".join(made.values()), lines + ["        }" for _ in outer]


def _starts(total: int, size: int) -> list[tuple[int, int]]:
    return [(i, min(size, total - i)) for i in range(0, total, size)]


def _sum_text(
    function: str, job: Correlation, key: tuple[int, int, int, int], vector: str, width: int
) -> str:
    """Sums over `images` images of one tile of filters and taps, added to dw."""
    t, (n, rows, column, columns), count = job.element, key, job.axes[-1].count
    sums = list(product(range(n), range(rows), range(columns)))
    high = job.tap_pitch[-1] if len(job.axes) > 1 else 0
    units = job.groups * job.depth
    step = job.frame if job.framed else units * job.source
    zero = "0" if width == 1 else "{0}"

    def body(masked: bool) -> list[str]:
        def load(source: str) -> str:
            value = f"*(const {vector} *)({source})"
            return f"({vector})((({vector}_mask){value}) & mask)" if masked else value

        lines = [f"        {vector} g{o} = {load(f'p + {o * job.out}')};" for o in range(n)]
        for i, b in product(range(rows), range(columns)):
            offset = i * high + job.last_offset(column + b)
            lines.append(f"        {{ {vector} x = {load(f'q + {offset}')};")
            lines += [f"        a{o}_{i}_{b} += g{o} * x;" for o in range(n)]
            lines.append("        }")
        return lines

    lines = [
        f"static void {function}({t} *restrict dw, const {t} *restrict s, const {t} *restrict z, "
        "int64_t images)",
        "{",
        f"    {vector} " + ", ".join(f"a{o}_{i}_{b} = {zero}" for o, i, b in sums) + ";",
    ]
    left = count % width
    if left:
        values = ", ".join(["0"] * (width - left) + ["-1"] * left)
        lines.append(f"    const {vector}_mask mask = {{{values}}};")
    lines.append(
        f"    for (int64_t n = 0; n < images; n++, s += {step}, "
        f"z += {job.groups * job.filters * job.out}) {{"
    )
    source, cotangent = ["s"], ["z"]
    for i, axis in enumerate(job.axes[:-1]):
        lines.append(f"    for (int64_t r{i} = 0; r{i} < {axis.count}; r{i}++)")
        source.append(f"r{i} * {job.position_pitch[i]}")
        cotangent.append(f"r{i} * {job.out_pitch[i]}")
    lines += [
        "    {",
        f"    const {t} *q = {' + '.join(source)};",
        f"    const {t} *p = {' + '.join(cotangent)};",
        f"    for (int64_t j = 0; j < {count // width}; j++, q += {width}, p += {width}) {{",
        *body(False),
        "    }",
    ]
    if left:
        lines += [f"    q -= {width - left}; p -= {width - left};", *body(True)]
    lines.append("    } }")
    for o, i, b in sums:
        value = f"a{o}_{i}_{b}"
        if width > 1:
            value = _added(value, width)
        index = o * job.depth * job.taps + i * len(job.axes[-1].taps) + b
        lines.append(f"    dw[{index}] += {value};")
    return "\n".join([*lines, "}", ""])


def _added(vector: str, width: int) -> str:
    """The sum of the elements, in pairs."""
    terms = [f"{vector}[{i}]" for i in range(width)]
    while len(terms) > 1:
        half = len(terms) // 2
        terms = [f"({terms[i]} + {terms[i + half]})" for i in range(half)]
    return terms[0]
