"""Products of matrices in C: calls of the BLAS, or written out where they are small."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine.compiler.native.c_code.scalars import C_TYPES, literal
from autograd_engine.compiler.native.emit.addresses import Address
from autograd_engine.compiler.native.emit.small_gemm import is_small, small_product
from autograd_engine.compiler.native.ir import Buffer, Product, Term

__all__ = ["ProductText"]


class ProductText:
    """Writes products; who emits a program says where operands are.

    Attributes
    ----------
    helpers : dict of str to None
        Declarations that texts need.
    """

    helpers: dict[str, None]

    def address(self, buffer: Buffer, offset: int = 0) -> Address:
        raise NotImplementedError

    def named(self, stem: str, text: str) -> str:
        raise NotImplementedError

    def product(self, step: Product) -> list[str]:
        out = step.outs[0]
        (m, k), n = step.a.shape[-2:], step.b.shape[-1]
        ta, lda = _matrix(step.a)
        tb, ldb = _matrix(step.b)
        kind = "f32" if out.dtype.char == "f" else "f64"
        alpha = literal(step.alpha, out.dtype)
        if step.scale is not None:
            assert step.scale.buffer is not None
            c = C_TYPES[out.dtype.char]
            scale = self.address(step.scale.buffer, step.scale.offset)
            alpha = f"{alpha} * *({c} *)({scale})"
        beta = literal(step.beta, out.dtype)
        assert step.a.buffer is not None
        assert step.b.buffer is not None
        addresses = (
            (step.a.buffer, step.a.offset),
            (step.b.buffer, step.b.offset),
            (out, 0),
        )
        loops, count, strides = _batch(step)
        if not loops and count == 1 and step.beta in (0.0, 1.0) and is_small(m, n, k, tb):
            return self._small_product(step, addresses, (m, n, k), ldb)
        if not loops and count == 1:
            a, b, c = (f"(void *)({self.address(x, o)})" for x, o in addresses)
            return [
                f"ae_gemm_{kind}({ta}, {tb}, {m}, {n}, {k}, {alpha}, {a}, {lda}, {b}, {ldb}, "
                f"{beta}, {c}, {n});"
            ]
        lines = []
        real = C_TYPES[out.dtype.char]
        for depth, (size, _) in enumerate(loops):
            pad = "    " * depth
            lines.append(f"{pad}for (int64_t i{depth} = 0; i{depth} < {size}; i{depth}++)")
        args = []
        for which, (buffer, offset) in enumerate(addresses):
            moved = "".join(f" + i{d} * {s[which]}" for d, (_, s) in enumerate(loops) if s[which])
            args.append(f"({real} *)({self.address(buffer, offset)}){moved}")
        pad = "    " * len(loops)
        lines.append(
            f"{pad}ae_gemm_batch_{kind}({count}, {ta}, {tb}, {m}, {n}, {k}, {alpha}, {args[0]}, "
            f"{lda}, {strides[0]}, {args[1]}, {ldb}, {strides[1]}, {beta}, {args[2]}, {n}, "
            f"{strides[2]});"
        )
        return lines

    def _small_product(
        self,
        step: Product,
        addresses: Sequence[tuple[Buffer, int]],
        sizes: tuple[int, int, int],
        ldb: int,
    ) -> list[str]:
        text, helpers = small_product(
            step.outs[0].dtype,
            *sizes,
            (step.a.strides[-2], step.a.strides[-1]),
            ldb,
            sizes[1],
            step.alpha,
            step.beta,
            step.scale is not None,
        )
        self.helpers.update(dict.fromkeys(helpers))
        args = [self.address(x, o) for x, o in addresses]
        if step.scale is not None:
            assert step.scale.buffer is not None
            args.append(self.address(step.scale.buffer, step.scale.offset))
        return [f"{self.named('product', text)}({', '.join(f'(void *)({a})' for a in args)});"]


def _matrix(term: Term) -> tuple[int, int]:
    """(whether it is transposed, distance of its rows) as BLAS takes it."""
    (rows, columns), (s, t) = term.shape[-2:], term.strides[-2:]
    if (t == 1 or columns == 1) and (s >= columns or rows == 1):
        return 0, s if rows > 1 else max(columns, 1)
    return 1, t if columns > 1 else max(rows, 1)


def _batch(step: Product) -> tuple[list[tuple[int, tuple[int, int, int]]], int, Any]:
    """Outer loops (size, strides), then a count of products and their strides."""
    lead = step.outs[0].shape[:-2]
    m, n = step.outs[0].shape[-2:]
    c_strides = []
    size = m * n
    for d in reversed(lead):
        c_strides.append(size)
        size *= d
    c_strides.reverse()
    dims = [
        (d, (step.a.strides[k], step.b.strides[k], c_strides[k]))
        for k, d in enumerate(lead)
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
