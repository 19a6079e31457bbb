"""Convolutions, by C kernels of their own, and windows as columns."""

from __future__ import annotations

import math
import re
from itertools import product
from typing import Any

from autograd_engine.compiler.native.c_code.c_kernel import HELPERS, CKernel
from autograd_engine.compiler.native.conv import select as convolution
from autograd_engine.compiler.native.lowering.movement import PARTS, picked
from autograd_engine.compiler.native.lowering.padding import pad
from autograd_engine.compiler.native.runtime import threads
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.spec import Like, Spec
from autograd_engine.ops.kernels.windows import Ints, Padding, window_count
from autograd_engine.ops.padding import Pads, _core, _padded

__all__ = ["by_kernel", "spec_of"]


def spec_of(operand: Any) -> Spec:
    return Spec(operand.shape, operand.dtype)


def by_kernel(np: Loops, made: CKernel | None, operands: tuple[Any, ...]) -> tuple[Traced, ...]:
    if made is None:
        raise NotLowered("there is no C kernel for these sizes")
    text = re.sub(rf"\b{made.name}", "NAME", made.source)
    return np.kernel(
        text,
        [v for v in operands if isinstance(v, Traced)],
        [(s.shape, s.dtype) for s in np.results],
        scratch=max(made.scratch, 1) * np.results[0].dtype.itemsize,
        helpers=tuple(HELPERS[h] for h in made.helpers),
    )


@lowers(*convolution.OPERATIONS)
def _conv(np: Loops, *operands: Any, **attrs: Any) -> Traced:
    if not np.blas:
        raise NotLowered("NumPy ships no BLAS that C could call")
    given = list(map(spec_of, operands))
    made = convolution.conv(np.origin.op.name, given, np.results, attrs, threads())
    return by_kernel(np, made, operands)[0]


def _counts(size: Ints, kernel: Ints, stride: Ints, padding: Padding, dilation: Ints) -> Ints:
    return tuple(
        window_count(*along) for along in zip(size, kernel, stride, padding, dilation, strict=True)
    )


@lowers("unfold")
def _unfold(
    np: Loops, x: Traced, *, kernel: Ints, stride: Ints, padding: Padding, dilation: Ints
) -> Traced:
    counts = _counts(x.shape[2:], kernel, stride, padding, dilation)
    if any(map(any, padding)):
        x = pad(np, x, pads=((0, 0), (0, 0), *padding))
    n, c, *strides = x.term.strides
    steps = [a * s for a, s in zip(strides, stride, strict=True)]
    gaps = [a * d for a, d in zip(strides, dilation, strict=True)]
    columns = Traced(np, x.term.seen((*x.shape[:2], *kernel, *counts), (n, c, *gaps, *steps)))
    return columns.reshape(x.shape[0], x.shape[1] * math.prod(kernel), math.prod(counts))


@lowers("fold_like")
def _fold_like(
    np: Loops,
    y: Traced,
    like: Like,
    *,
    kernel: Ints,
    stride: Ints,
    padding: Padding,
    dilation: Ints,
) -> Traced:
    if math.prod(kernel) > PARTS:
        raise NotLowered("so large windows are added up by NumPy")
    counts = _counts(like.shape[2:], kernel, stride, padding, dilation)
    columns = y.reshape(*like.shape[:2], *kernel, *counts)
    parts = []
    for tap in product(*map(range, kernel)):
        met = [
            slice(d * i, d * i + s * (o - 1) + 1, s)
            for i, o, s, d in zip(tap, counts, stride, dilation, strict=True)
        ]
        parts.append((columns[(slice(None), slice(None), *tap)], picked((..., *met))))
    pads: Pads = ((0, 0), (0, 0), *padding)
    shape: Any = _padded(like.shape, pads)
    return np.assembled(shape, y.dtype, parts, adds=True)[_core(shape, pads)]
