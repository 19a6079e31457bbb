"""Recurrent layers and the linear recurrences of their gradients: C loops over the time steps.

Each step is a product with the weight, added to what flows in, and one loop over the units.

So one matrix is multiplied with many small ones in turn, and it is packed once. A BLAS packs its
operands anew in each call, which for the few rows of a batch takes as long as a third of the work.
Here the matrix lies in panels, two vectors wide, from one call to the next; a tile of a few rows
and one panel of the result stays in registers while it is summed up.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autograd_engine.compiler.native.c_code.c_kernel import HELPERS, lanes, simd_bytes
from autograd_engine.compiler.native.c_code.c_text import c_type
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.dtypes import BLAS_REALS, FLOAT32
from autograd_engine.ops.kernels.recurrent import RECURRENT, slopes_of

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


# What a unit does: `a0`, `a1`, ... are the sums of its gates, `s0`, `s1` its states before and
# after, `k0`, ... the slopes or what a layer keeps. S is the suffix of the dtype.
_LAYERS: Final = {
    "lstm_scan": """\
k0 = ae_sigmoid_S(a0); k1 = ae_sigmoid_S(a1); k2 = ae_tanh_S(a2); k3 = ae_sigmoid_S(a3);
T c = k1 * before1 + k0 * k2;
k4 = ae_tanh_S(c);
after1 = c; after0 = k3 * k4;
""",
    "tanh": "after0 = ae_tanh_S(a0);\n",
    "relu": "after0 = a0 > 0 || a0 != a0 ? a0 : 0;\n",
    "gru_scan": """\
k0 = ae_sigmoid_S(a0); k1 = ae_sigmoid_S(a1); k3 += bias[u];
k2 = ae_tanh_S(a2 + k0 * k3);
after0 = (before0 - k2) * k1 + k2;
""",
}
_SCAN: Final = {
    "plain": "after0 += k0 * a0;\n",
    "gru": "after0 += k0 * a0 + k1 * a1 + k2 * a2 + k3 * a3 + k4 * before0;\n",
    "lstm": """\
T c = after1 + (k0 * a0 + k1 * a1 + k2 * a2 + k4 * before1);
after1 = c; after0 += k3 * a3 + k5 * c;
""",
}
_ADJOINT: Final = {
    "plain": "a0 += k0 * after0;\n",
    "gru": """\
T h = after0;
a0 += k0 * h; a1 += k1 * h; a2 += k2 * h; a3 += k3 * h;
before0 += k4 * h;
""",
    "lstm": """\
T h = after0, c = after1 + k5 * h;
a0 += k0 * c; a1 += k1 * c; a2 += k2 * c; a3 += k3 * h;
after1 = c; before1 += k4 * c;
""",
}


class _Sizes:
    """Of one recurrence, and how its text names what a unit has.

    The products with the weight, or with blocks of its rows, are `PanelProduct` where these are
    faster than a BLAS. What they need is collected: functions, scratch, statements before the loop.
    """

    def __init__(self, np: Loops, x: Traced, time: int, batch: int, size: int, states: int) -> None:
        if x.dtype not in BLAS_REALS:
            raise NotLowered("it takes float32 and float64")
        if not np.blas:
            raise NotLowered("NumPy ships no BLAS that C could call")
        self.time, self.batch, self.size, self.states = time, batch, size, states
        self.suffix = "f32" if x.dtype == FLOAT32 else "f64"
        self.dtype, self.type = x.dtype, c_type(x.dtype)
        self.functions: list[str] = []
        self.before: list[str] = []
        self.helpers: dict[str, None] = {}
        self.scratch = 0

    @property
    def plane(self) -> int:
        return self.batch * self.size

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (self.states, self.time + 1, self.batch, self.size)

    def reserve(self, count: int) -> str:
        """Where `count` elements of scratch are."""
        self.scratch += count
        return f"scratch + {self.scratch - count}"

    def product(self, rows: tuple[int, int], a: str, lda: int, c: str, ldc: int, back: bool) -> str:
        """c += a W, or a W' unless `back`, with these of the rows of the weight."""
        first, count = rows[0] * self.size, (rows[1] - rows[0]) * self.size
        n, k = (self.size, count) if back else (count, self.size)
        weight = f"weight + {first * self.size}"
        name = f"NAME_by{len(self.functions)}"
        panels = PanelProduct(name, self.dtype, self.batch, n, k, lda, ldc, not back)
        if panels.pays and self.time > 1:
            packed = self.reserve(panels.size)
            self.functions.append(panels.text)
            self.helpers[panels.helper] = None
            self.before.append(panels.pack(weight, packed))
            return panels.product(a, packed, c)
        return (
            f"ae_gemm_{self.suffix}(0, {int(not back)}, {self.batch}, {n}, {k}, 1, {a}, {lda}, "
            f"{weight}, {self.size}, 1, {c}, {ldc});"
        )

    def products(self, blocks: tuple[tuple[int, int], ...], gates: int, back: bool) -> list[str]:
        """For each range of gates the product of h with the weight, or of the gates, into h."""
        lines, first = [], 0
        for start, stop in blocks:
            rows, at = (first, first + stop - start), f"a + {start * self.size}"
            first = rows[1]
            given = ("h", self.size), (at, gates * self.size)
            (source, lda), (target, ldc) = given[::-1] if back else given
            lines.append(self.product(rows, source, lda, target, ldc, back))
        return lines

    def units(self, gates: int, kept: int, body: str) -> list[str]:
        """`body` for each unit, with what it has in the places that it is kept in."""
        names = [(f"a{k}", f"row[{k * self.size} + u]") for k in range(gates)]
        names += [(f"k{k}", f"kept[{k * self.plane} + at]") for k in range(kept)]
        for k in range(self.states):
            here = f"states[{k * (self.time + 1) * self.plane} + t * {self.plane} + at"
            names += [(f"before{k}", f"{here}]"), (f"after{k}", f"{here} + {self.plane}]")]
        defined = [f"#define {name} ({place})" for name, place in names]
        text = body.replace("_S(", f"_{self.suffix}(").replace("T ", f"{self.type} ")
        return [
            *defined,
            f"for (int64_t b = 0; b < {self.batch}; b++) {{",
            f"{self.type} *restrict row = a + b * {gates * self.size};",
            "#pragma omp simd",
            f"for (int64_t u = 0; u < {self.size}; u++) {{",
            f"int64_t at = b * {self.size} + u;",
            text.rstrip(),
            "} }",
            *(f"#undef {name}" for name, _ in names),
        ]


def _function(
    s: _Sizes, pointers: list[str], before: list[str], loop: str, steps: list[str]
) -> str:
    pointers = [*pointers, f"{s.type} *restrict scratch"]
    return "\n".join(
        [
            *s.functions,
            f"static void NAME({', '.join(pointers)})",
            "{",
            "(void)scratch;",
            *before,
            *s.before,
            f"for ({loop}) {{",
            *steps,
            "}",
            "}",
            "",
        ]
    )


def _copy_start(s: _Sizes) -> list[str]:
    return [
        f"for (int64_t k = 0; k < {s.states}; k++)",
        f"memcpy(states + k * {(s.time + 1) * s.plane}, start + k * {s.plane}, "
        f"sizeof({s.type}) * {s.plane});",
    ]


@lowers("lstm_scan", "rnn_scan", "gru_scan")
def _layer(
    np: Loops, inflow: Traced, weight: Traced, start: Traced, *bias: Traced, **attrs: Any
) -> Any:
    time, batch, gates, size = inflow.shape
    name = np.origin.op.name
    if name == "lstm_scan" and bias:
        inflow, bias = inflow + bias[0].reshape(gates, size), ()
    s = _Sizes(np, inflow, time, batch, size, start.shape[0])
    kept = {"lstm_scan": 5, "gru_scan": 4}.get(name, 0)
    shapes = [(time, kept, batch, size)] * bool(kept) + [s.state_shape]
    if not s.plane:
        zeros = [np.zeros(shape, inflow.dtype) for shape in shapes]
        return zeros if kept else zeros[0]
    t, width = s.type, gates * size
    here = s.reserve(batch * width)
    steps = [
        f"{t} *h = states + t * {s.plane}, *a = {here};",
        f"memcpy(a, inflow + t * {batch * width}, sizeof({t}) * {batch * width});",
    ]
    if kept:
        steps.append(f"{t} *kept = all + t * {kept * s.plane};")
    if name == "gru_scan":  # the product that the gate r scales lands where it is kept
        steps.append(f"memset(kept + {3 * s.plane}, 0, sizeof({t}) * {s.plane});")
        steps.append(s.product((0, 2), "h", size, "a", width, False))
        steps.append(s.product((2, 3), "h", size, f"kept + {3 * s.plane}", size, False))
    else:
        steps.append(s.product((0, gates), "h", size, "a", width, False))
    steps += s.units(gates, kept, _LAYERS[attrs.get("activation", name)])
    pointers = [f"const {t} *restrict {n}" for n in ("inflow", "weight", "start", "bias")]
    pointers = pointers[: 3 + len(bias)]
    pointers += [f"{t} *restrict all"] * bool(kept) + [f"{t} *restrict states"]
    text = _function(s, pointers, _copy_start(s), f"int64_t t = 0; t < {time}; t++", steps)
    results = np.kernel(
        text,
        [inflow, weight, start, *bias],
        [(shape, inflow.dtype) for shape in shapes],
        scratch=s.scratch * inflow.dtype.itemsize,
        helpers=tuple(s.helpers),
    )
    return results if kept else results[0]


@lowers("gate_slopes")
def _slopes(np: Loops, kept: Traced, states: Traced, *, kind: str) -> Any:
    return np.stack(slopes_of(kept, states, kind), axis=1)


@lowers("layer_adjoint")
def _layer_adjoint(
    np: Loops,
    weight: Traced,
    kept: Traced,
    values: Traced,
    stateflow: Traced,
    *gateflow: Traced,
    kind: str,
) -> Any:
    return _linear(
        np, weight, _slopes(np, kept, values, kind=kind), stateflow, *gateflow, kind=kind
    )


@lowers("gate_scan", "gate_scan_adjoint")
def _linear(
    np: Loops, weight: Traced, slopes: Traced, stateflow: Traced, *gateflow: Traced, kind: str
) -> Any:
    time, count, batch, size = slopes.shape
    s = _Sizes(np, slopes, time, batch, size, stateflow.shape[0])
    back = np.origin.op.name != "gate_scan"
    blocks = RECURRENT[kind]
    gates = blocks[-1][1]
    shapes = [(time, batch, gates, size), s.state_shape]
    if not s.plane:
        return [np.zeros(shape, slopes.dtype) for shape in shapes]
    t, width, elements = s.type, gates * size, time * batch * gates * size
    states = s.states * (time + 1) * s.plane
    flow = f"memcpy(all, gateflow, sizeof({t}) * {elements});"
    before = [
        flow if gateflow else f"memset(all, 0, sizeof({t}) * {elements});",
        f"memcpy(states, stateflow, sizeof({t}) * {states});",
    ]
    products = s.products(blocks, gates, back)
    units = s.units(gates, count, (_ADJOINT if back else _SCAN)[kind])
    steps = [
        f"{t} *h = states + t * {s.plane}, *a = all + t * {batch * width};",
        f"const {t} *kept = slopes + t * {count * s.plane};",
        *([*units, *products] if back else [*products, *units]),
    ]
    names = ["weight", "slopes", "stateflow", "gateflow"][: 3 + len(gateflow)]
    pointers = [f"const {t} *restrict {n}" for n in names]
    pointers += [f"{t} *restrict all", f"{t} *restrict states"]
    loop = f"int64_t t = {time} - 1; t >= 0; t--" if back else f"int64_t t = 0; t < {time}; t++"
    text = _function(s, pointers, before, loop, steps)
    return np.kernel(
        text,
        [weight, slopes, stateflow, *gateflow],
        [(shape, slopes.dtype) for shape in shapes],
        scratch=max(s.scratch, 1) * slopes.dtype.itemsize,
        helpers=tuple(s.helpers),
    )
