"""Elements in other places: views where that is possible, and parts of an array elsewhere."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy

from autograd_engine.compiler.native.lowering.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.spec import Like
from autograd_engine.ops.diagonal import _diagonal_size, _embedded, _inside
from autograd_engine.ops.kernels.windows import Ints, Padding, window_count
from autograd_engine.ops.padding import Pads, _core, _padded, _sources

__all__: list[str] = []

# Parts that are added up one after the other: more are a loop of NumPy's.
_PARTS = 256


def _along(axis: int, *entries: slice) -> tuple[slice, ...]:
    return (slice(None),) * axis + entries


def _picked(key: Any) -> Callable[[Traced], Traced]:
    return operator.itemgetter(key)


# --- order


@lowers("roll")
def _roll(np: Loops, x: Traced, *, shifts: Ints, axis: Ints) -> Traced:
    for by, a in zip(shifts, axis, strict=True):
        n = x.shape[a]
        by %= max(n, 1)
        if by:
            x = np.concatenate([x[_along(a, slice(n - by, n))], x[_along(a, slice(0, n - by))]], a)
    return x


@lowers("shift")
def _shift(np: Loops, x: Traced, *, axis: int, reverse: bool = False, fill: float = 0.0) -> Traced:
    n = x.shape[axis]
    end = np.full(_replaced(x.shape, axis, 1), fill, x.dtype)
    if reverse:
        return np.concatenate([x[_along(axis, slice(1, n))], end], axis)
    return np.concatenate([end, x[_along(axis, slice(0, n - 1))]], axis)


def _replaced(shape: Ints, axis: int, size: int) -> Ints:
    return (*shape[:axis], size, *shape[axis + 1 :])


@lowers("unstack")
def _unstack(np: Loops, x: Traced, *, axis: int) -> list[Traced]:
    return [Traced(np, x.term.dropped(axis, k)) for k in range(x.shape[axis])]


# --- triangles and diagonals


@lowers("tril", "triu")
def _triangle(np: Loops, x: Traced, *, diagonal: int = 0) -> Traced:
    rows, columns = x.shape[-2:]
    diagonal = min(max(diagonal, -rows), columns)
    behind = np.position((rows, columns), 1) - np.position((rows, columns), 0)
    kept = behind <= diagonal if np.origin.op.name == "tril" else behind >= diagonal
    return np.where(kept, x, np.number(0, x.dtype))


def _on_diagonal(offset: int, axis1: int, axis2: int) -> Callable[[Traced], Traced]:
    """The view of an array that is a diagonal of it, along a last axis."""

    def select(x: Traced) -> Traced:
        inside = _inside(x.shape, offset, axis1, axis2)
        size = int(_diagonal_size(x.shape[axis1], x.shape[axis2], inside))
        keep = [k for k in range(x.ndim) if k not in (axis1, axis2)]
        shape, strides = x.term.shape, x.term.strides
        start = max(inside, 0) * strides[axis2] + max(-inside, 0) * strides[axis1]
        term = x.term.seen(
            (*(shape[k] for k in keep), size),
            (*(strides[k] for k in keep), strides[axis1] + strides[axis2]),
            start if size and x.term.buffer is not None else 0,
        )
        return Traced(x.loops, term)

    return select


@lowers("diagonal")
def _diagonal(np: Loops, x: Traced, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Traced:
    return _on_diagonal(offset, axis1, axis2)(x)


@lowers("undiagonal_like")
def _undiagonal_like(
    np: Loops, x: Traced, like: Like, *, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Traced:
    return np.assembled(like.shape, x.dtype, [(x, _on_diagonal(offset, axis1, axis2))])


@lowers("diag_embed")
def _diag_embed(np: Loops, x: Traced, *, offset: int = 0, axis1: int, axis2: int) -> Traced:
    shape: Any = _embedded(x.shape, offset, axis1, axis2)
    return np.assembled(shape, x.dtype, [(x, _on_diagonal(offset, axis1, axis2))])


@lowers("mirror_triangle")
def _mirror_triangle(np: Loops, x: Traced, **attrs: Any) -> Traced:
    raise NotLowered("it belongs to a factorisation, which is LAPACK's")


# --- ends


@lowers("pad")
def _pad(np: Loops, x: Traced, *, pads: Pads, value: float = 0.0) -> Traced:
    shape: Any = _padded(x.shape, pads)
    fill = x.dtype.type(value).item()
    return np.assembled(shape, x.dtype, [(x, _picked(_core(shape, pads)))], fill=fill)


@lowers("extend")
def _extend(np: Loops, x: Traced, *, pads: Pads, mode: str) -> Traced:
    for axis, (before, after) in enumerate(pads):
        if before or after:
            sources = np.operand(_sources(x.shape[axis], before, after, mode).astype(numpy.int64))
            shape = _replaced(x.shape, axis, sources.size)
            at = sources.reshape(*(-1 if k == axis else 1 for k in range(x.ndim)))
            x = np.gathered(x, at, axis, shape)
    return x


@lowers("unextend")
def _unextend(np: Loops, x: Traced, *, pads: Pads, mode: str) -> Traced:
    for axis, (before, after) in enumerate(pads):
        if not before and not after:
            continue
        if before + after > _PARTS:
            raise NotLowered("so many ends are added up by NumPy")
        n = x.shape[axis] - before - after
        sources = _sources(n, before, after, mode).tolist()
        parts: list[Any] = [(x[_along(axis, slice(before, before + n))], _picked(...))]
        for k in (*range(before), *range(before + n, x.shape[axis])):
            at = slice(sources[k], sources[k] + 1)
            parts.append((x[_along(axis, slice(k, k + 1))], _picked(_along(axis, at))))
        x = np.assembled(_replaced(x.shape, axis, n), x.dtype, parts, adds=True)
    return x


# --- windows


@lowers("windows")
def _windows(np: Loops, x: Traced, *, axis: int, size: int, step: int) -> Traced:
    count = (x.shape[axis] - size) // step + 1
    strides = x.term.strides
    along = (*strides[:axis], strides[axis] * step, *strides[axis + 1 :], strides[axis])
    return Traced(np, x.term.seen((*_replaced(x.shape, axis, count), size), along))


@lowers("unwindows_like")
def _unwindows_like(np: Loops, x: Traced, like: Like, *, axis: int, size: int, step: int) -> Traced:
    if size > _PARTS:
        raise NotLowered("so long windows are added up by NumPy")
    count = x.shape[axis]
    parts = [
        (x[..., k], _picked(_along(axis, slice(k, k + (count - 1) * step + 1, step))))
        for k in range(size)
    ]
    return np.assembled(like.shape, x.dtype, parts, adds=True)


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
        x = _pad(np, x, pads=((0, 0), (0, 0), *padding))
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
    if math.prod(kernel) > _PARTS:
        raise NotLowered("so large windows are added up by NumPy")
    counts = _counts(like.shape[2:], kernel, stride, padding, dilation)
    columns = y.reshape(*like.shape[:2], *kernel, *counts)
    parts = []
    for tap in product(*map(range, kernel)):
        met = [
            slice(d * i, d * i + s * (o - 1) + 1, s)
            for i, o, s, d in zip(tap, counts, stride, dilation, strict=True)
        ]
        parts.append((columns[(slice(None), slice(None), *tap)], _picked((..., *met))))
    pads: Pads = ((0, 0), (0, 0), *padding)
    shape: Any = _padded(like.shape, pads)
    return np.assembled(shape, y.dtype, parts, adds=True)[_core(shape, pads)]
