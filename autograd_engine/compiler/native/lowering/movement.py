"""Elements in other places: views where that is possible, and parts of an array elsewhere."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.spec import Like
from autograd_engine.ops.kernels.windows import Ints

__all__ = ["PARTS", "along", "picked", "replaced"]

# Parts that are added up one after the other: more are a loop of NumPy's.
PARTS = 256


def along(axis: int, *entries: slice) -> tuple[slice, ...]:
    return (slice(None),) * axis + entries


def picked(key: Any) -> Callable[[Traced], Traced]:
    return operator.itemgetter(key)


def replaced(shape: Ints, axis: int, size: int) -> Ints:
    return (*shape[:axis], size, *shape[axis + 1 :])


@lowers("roll")
def _roll(np: Loops, x: Traced, *, shifts: Ints, axis: Ints) -> Traced:
    for by, a in zip(shifts, axis, strict=True):
        n = x.shape[a]
        by %= max(n, 1)
        if by:
            x = np.concatenate([x[along(a, slice(n - by, n))], x[along(a, slice(0, n - by))]], a)
    return x


@lowers("windows")
def _windows(np: Loops, x: Traced, *, axis: int, size: int, step: int) -> Traced:
    count = (x.shape[axis] - size) // step + 1
    strides = x.term.strides
    along = (*strides[:axis], strides[axis] * step, *strides[axis + 1 :], strides[axis])
    return Traced(np, x.term.seen((*replaced(x.shape, axis, count), size), along))


@lowers("unwindows_like")
def _unwindows_like(np: Loops, x: Traced, like: Like, *, axis: int, size: int, step: int) -> Traced:
    if size > PARTS:
        raise NotLowered("so long windows are added up by NumPy")
    count = x.shape[axis]
    parts = [
        (x[..., k], picked(along(axis, slice(k, k + (count - 1) * step + 1, step))))
        for k in range(size)
    ]
    return np.assembled(like.shape, x.dtype, parts, adds=True)
