"""Triangles and diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers
from autograd_engine.core.spec import Like
from autograd_engine.ops.diagonal import _diagonal_size, _embedded, _inside

__all__: list[str] = []


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
