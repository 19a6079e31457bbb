"""Products of matrices in C: calls of the BLAS, or written out where they are small.

For small matrices the call of a BLAS takes longer than the work.

A tile of the result stays in registers while it is summed up: a few rows by two vectors.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from autograd_engine.compiler.native.c_code.c_kernel import HELPERS, Lanes, lanes
from autograd_engine.compiler.native.c_code.scalars import C_TYPES, in_memory, literal
from autograd_engine.compiler.native.emit.address import Address
from autograd_engine.compiler.native.ir import Buffer, Product, Term, contiguous_strides, term_of
from autograd_engine.core.dtypes import FLOAT32

__all__ = ["ProductText", "scratch_of"]

_MOST: Final = 120_000  # multiplications
_ROWS: Final = 4


def is_small(m: int, n: int, k: int, transposed_b: bool) -> bool:
    """Whether a product of these sizes is written out."""
    return not transposed_b and m * n * k <= _MOST and n >= 8 and k >= 2


def small_product(step: Product, ldb: int) -> tuple[str, tuple[str, ...]]:
    """The text of ``NAME(a, b, c[, scale])``: c = alpha scale a b + beta c, and its helpers.

    Parameters
    ----------
    step : Product
    ldb : int
        Distance of the rows of `b`.
    """
    out = step.outs[0]
    n, dtype = out.shape[-1], out.dtype
    real, vector = C_TYPES[dtype], lanes(dtype, 32 // dtype.itemsize)
    scaled = step.scale is not None
    more = f", const {real} *scale" if scaled else ""
    lines = [
        f"static void NAME(const {real} *a, const {real} *b, {real} *c{more})",
        "{",
        f"    const {real} alpha = {literal(step.alpha, dtype)}{' * *scale' if scaled else ''};",
    ]
    column = 0
    while n - column >= vector.width:
        count = 2 if n - column >= 2 * vector.width else 1
        lines += _tiles(vector, step, ldb, column, count)
        column += count * vector.width
    if column < n:
        lines += _rest(real, step, ldb, column)
    return "\n".join([*lines, "}", ""]), (HELPERS[vector.helper],)


def _tiles(vector: Lanes, step: Product, ldb: int, column: int, count: int) -> list[str]:
    """All rows of a few vectors of columns."""
    (m, k), (down, along), n = step.a.shape[-2:], step.a.strides[-2:], step.outs[0].shape[-1]
    lines = []
    for start, rows, stop in ((0, _ROWS, m - m % _ROWS), (m - m % _ROWS, m % _ROWS, m)):
        if start == stop:
            continue
        cells = [(r, v) for r in range(rows) for v in range(count)]
        lines.append(f"    for (int64_t i = {start}; i < {stop}; i += {rows}) {{")
        names = ", ".join(f"s{r}{v} = {{0}}" for r, v in cells)
        lines.append(f"        {vector.type} {names};")
        lines.append(f"        for (int64_t q = 0; q < {k}; q++) {{")
        for v in range(count):
            at = f"b + q * {ldb} + {column + v * vector.width}"
            lines.append(f"            {vector.type} y{v} = *(const {vector.type} *)({at});")
        for r in range(rows):
            left = f"a[(i + {r}) * {down} + q * {along}]"
            lines += [f"            s{r}{v} += {left} * y{v};" for v in range(count)]
        lines.append("        }")
        for r, v in cells:
            at = f"c + (i + {r}) * {n} + {column + v * vector.width}"
            target = f"*({vector.type} *)({at})"
            before = f" + {target}" if step.beta == 1 else ""
            lines.append(f"        {target} = alpha * s{r}{v}{before};")
        lines.append("    }")
    return lines


def _rest(real: str, step: Product, ldb: int, column: int) -> list[str]:
    """The columns that fill no vector."""
    (m, k), (down, along), n = step.a.shape[-2:], step.a.strides[-2:], step.outs[0].shape[-1]
    target = f"c[i * {n} + j]"
    before = f" + {step.beta!r} * {target}" if step.beta else ""
    return [
        f"    for (int64_t i = 0; i < {m}; i++)",
        f"        for (int64_t j = {column}; j < {n}; j++) {{",
        f"            {real} s = 0;",
        f"            for (int64_t q = 0; q < {k}; q++)",
        f"                s += a[i * {down} + q * {along}] * b[q * {ldb} + j];",
        f"            {target} = alpha * s{before};",
        "        }",
    ]


# Elements of float32 that operands of 16 bits are converted to at a time.
_AT_ONCE: Final = 1 << 18


class _Widened(NamedTuple):
    """How operands of 16 bits are converted before they are multiplied.

    Attributes
    ----------
    deep : int
        Over how many of the elements of a sum, of a single product.
    many : int
        Or how many products of a batch.
    sizes : tuple of int
        Elements of float32 of either operand; 0 of one that is float32.
    """

    deep: int
    many: int
    sizes: tuple[int, int]


def _widened(step: Product) -> _Widened | None:
    halves = [t.converted for t in (step.a, step.b)]
    if not any(halves):
        return None
    (m, k), n = step.a.shape[-2:], step.b.shape[-1]
    loops, count, (a, b, _) = _batch(step)
    each = (m * halves[0], n * halves[1])
    if not loops and count == 1:
        deep = min(k, max(64, _AT_ONCE // max(sum(each), 1)))
        return _Widened(deep, 1, (each[0] * deep, each[1] * deep))
    many = min(count, max(1, _AT_ONCE // max(sum(each) * k, 1)))
    # What a batch shares is converted once.
    sizes = each[0] * k * (many if a else 1), each[1] * k * (many if b else 1)
    return _Widened(k, many, sizes)


def scratch_of(step: Product) -> int:
    """Bytes of memory that a product works in."""
    found = _widened(step)
    return 0 if found is None else 4 * sum(found.sizes)


class ProductText:
    """Writes products; who emits a program says where operands are.

    Attributes
    ----------
    helpers : dict of str to None
        Declarations that texts need.
    """

    helpers: dict[str, None]
    maths: set[str]

    def address(self, buffer: Buffer, offset: int = 0) -> Address:
        raise NotImplementedError

    def named(self, stem: str, text: str) -> str:
        raise NotImplementedError

    def product(self, step: Product, scratch: Address | None) -> list[str]:
        out = step.outs[0]
        if scratch is not None:
            return self._of_halves(step, scratch)
        (m, k), n = step.a.shape[-2:], step.b.shape[-1]
        left, right = step.a.matrix(), step.b.matrix()
        assert left is not None
        assert right is not None
        (ta, lda), (tb, ldb) = left, right
        kind = "f32" if out.dtype == FLOAT32 else "f64"
        real, beta = C_TYPES[out.dtype], literal(step.beta, out.dtype)
        scale = None if step.scale is None else self._start(step.scale)
        at = [self._start(t) for t in (step.a, step.b, term_of(out))]
        loops, count, strides = _batch(step)
        if not loops and count == 1 and step.beta in (0.0, 1.0) and is_small(m, n, k, tb):
            text, helpers = small_product(step, ldb)
            self.helpers.update(dict.fromkeys(helpers))
            given = ", ".join(f"(void *)({a})" for a in (*at, scale) if a is not None)
            return [f"{self.named('product', text)}({given});"]
        alpha = literal(step.alpha, out.dtype)
        if scale is not None:
            alpha = f"{alpha} * *({real} *)({scale})"
        sizes = f"{ta:d}, {tb:d}, {m}, {n}, {k}, {alpha}"
        if not loops and count == 1:
            a, b, c = (f"(void *)({x})" for x in at)
            return [f"ae_gemm_{kind}({sizes}, {a}, {lda}, {b}, {ldb}, {beta}, {c}, {n});"]
        lines = []
        for depth, (size, _) in enumerate(loops):
            pad = "    " * depth
            lines.append(f"{pad}for (int64_t i{depth} = 0; i{depth} < {size}; i{depth}++)")
        args = []
        for which, address in enumerate(at):
            moved = "".join(f" + i{d} * {s[which]}" for d, (_, s) in enumerate(loops) if s[which])
            args.append(f"({real} *)({address}){moved}")
        pad = "    " * len(loops)
        lines.append(
            f"{pad}ae_gemm_batch_{kind}({count}, {sizes}, {args[0]}, {lda}, {strides[0]}, "
            f"{args[1]}, {ldb}, {strides[1]}, {beta}, {args[2]}, {n}, {strides[2]});"
        )
        return lines

    def _of_halves(self, step: Product, scratch: Address) -> list[str]:
        """Products of floats of 16 bits, part by part in float32."""
        found, out = _widened(step), step.outs[0]
        assert found is not None
        (m, k), n = step.a.shape[-2:], step.b.shape[-1]
        loops, count, strides = _batch(step)
        single = not loops and count == 1
        lines = []
        at = ["", "", ""]  # behind the loops, of both operands and the result
        for depth, (size, moved) in enumerate(loops):
            lines.append(f"    for (int64_t i{depth} = 0; i{depth} < {size}; i{depth}++)")
            at = [f"{t} + i{depth} * {s}" for t, s in zip(at, moved, strict=True)]
        size, part = (k, found.deep) if single else (count, found.many)
        lines += [
            f"    for (int64_t q = 0; q < {size}; q += {part}) {{",
            f"        int64_t part = {size} - q < {part} ? {size} - q : {part};",
        ]
        given, ways = [], []
        for which, term in enumerate((step.a, step.b)):
            stride = None if single else strides[which]
            way, text, more = self._part(which, term, k, at[which], stride)
            ways.append(way)
            lines += text
            given += more
        deep, beta = "part" if single else k, literal(step.beta, out.dtype)
        call = f"{', '.join(ways)}, {m}, {n}, {deep}, alpha, {', '.join(given)}"
        if single:
            lines.append(f"        ae_gemm_f32({call}, q ? 1.0f : {beta}, c, {n});")
        else:
            c = f"c{at[2]} + q * {strides[2]}, {n}, {strides[2]}"
            lines.append(f"        ae_gemm_batch_f32(part, {call}, {beta}, {c});")
        scaled = step.scale is not None
        kinds = [in_memory(t.buffer.dtype) for t in (step.a, step.b) if t.buffer is not None]
        head = f"const {kinds[0]} *a, const {kinds[1]} *b, float *c, float *as"
        text = [
            f"static void NAME({head}{', const float *scale' * scaled})",
            "{",
            f"    const float alpha = {literal(step.alpha, out.dtype)}{' * *scale' * scaled};",
            f"    float *bs = as + {found.sizes[0]};",
            "    (void)bs;",
            *lines,
            "    }",
            "}",
            "",
        ]
        places = [*map(self._start, (step.a, step.b, term_of(out))), scratch]
        places += [self._start(step.scale)] if step.scale is not None else []
        called = self.named("product", "\n".join(text))
        return [f"{called}({', '.join(f'(void *)({p})' for p in places)});"]

    def _part(
        self, which: int, term: Term, k: int, at: str, stride: int | None
    ) -> tuple[str, list[str], list[str]]:
        """A part of an operand: whether it is transposed, what converts it, what a call is given.

        Parameters
        ----------
        which : int
            0 of the left operand, 1 of the right one.
        at : str
            What is added to its address in the loops around.
        stride : int or None
            From one product to the next; None of a single product, whose sums are cut instead.
        """
        name, layout, single = "ab"[which], term.matrix(), stride is None
        assert layout is not None
        turned, distance = layout
        wide = term.shape[-1 if which else -2]
        deep_rows = turned == (which == 0)  # a row of it holds one element of each sum
        step = (distance if deep_rows else 1) if single else stride
        start, way = f"{name}{at} + q * {step}", f"{turned:d}"
        if not term.converted:
            given = [start, str(distance), *([] if single else [str(stride)])]
            return way, [], given
        assert term.buffer is not None
        half, deep = term.buffer.dtype.name, "part" if single else str(k)
        self.maths.add(f"widen_{half}")
        rows, columns = (deep, str(wide)) if deep_rows else (str(wide), deep)
        text = [
            f"        const int64_t {name}n[] = {{{stride or 0}, {rows}, {columns}, {distance}}};",
            f"        ae_widen_{half}({name}s, (void *)({start}), "
            f"{'part' if stride else 1}, {name}n);",
        ]
        return way, text, [f"{name}s", columns, *([] if single else [str(stride and wide * k)])]

    def _start(self, term: Term) -> Address:
        assert term.buffer is not None
        return self.address(term.buffer, term.offset)


def _batch(step: Product) -> tuple[list[tuple[int, tuple[int, int, int]]], int, Any]:
    """Outer loops (size, strides), then a count of products and their strides."""
    shape = step.outs[0].shape
    strides_of = (step.a.strides, step.b.strides, contiguous_strides(shape))
    dims = [
        (d, (strides_of[0][k], strides_of[1][k], strides_of[2][k]))
        for k, d in enumerate(shape[:-2])
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
