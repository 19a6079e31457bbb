"""Operations that read or write at indices, which are all required to be in range.

What is out of range is read or written at somewhere else here; the run is given up then.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


def _from_the_front(run: Run, index: Any, size: int, wraps: bool = True) -> Any:
    """Indices without negative ones, required to be in range."""
    run.within(index, -size if wraps else 0, size)
    return jnp.where(index < 0, index + size, index) if wraps else index


@row("gather")
def _gather(
    run: Run, x: Any, index: Any, *, axis: int, wraps: bool = False, sparse: bool = False
) -> Any:
    at = _from_the_front(run, index, x.shape[axis], wraps)
    if not x.shape[axis]:  # of nothing there is nothing to take, and no index is in range
        return jnp.zeros((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]), x.dtype)
    return jnp.take(x, at, axis=axis, mode="clip")


def _added(
    run: Run, base: Any, x: Any, index: Any, axis: int, of_zeros: bool = False
) -> Any:
    at = _from_the_front(run, index, base.shape[axis])
    key = (slice(None),) * axis + (at,)
    out = base.at[key].add(x.astype(base.dtype), mode="drop")
    if of_zeros:
        run.note_parts(out, [(x.astype(base.dtype), key)])
    return out


@row("scatter_add_like")
def _scatter_add_like(
    run: Run, x: Any, index: Any, like: Any, *, axis: int, sparse: bool = False
) -> Any:
    return _added(run, jnp.zeros(like.shape, x.dtype), x, index, axis, of_zeros=sparse)


@row("scatter_add")
def _scatter_add(run: Run, base: Any, x: Any, index: Any, *, axis: int) -> Any:
    return _added(run, jnp.asarray(base), x, index, axis)


@row("take_along_axis")
def _take_along_axis(run: Run, x: Any, index: Any, *, axis: int, wraps: bool = False) -> Any:
    at = _from_the_front(run, index, x.shape[axis], wraps)
    return jnp.take_along_axis(x, at, axis=axis, mode="clip")


@row("put_along_axis_like")
def _put_along_axis_like(run: Run, x: Any, index: Any, like: Any, *, axis: int) -> Any:
    at = _from_the_front(run, index, like.shape[axis])
    places = list(jnp.meshgrid(*map(jnp.arange, index.shape), indexing="ij", sparse=True))
    places[axis] = at
    return jnp.zeros(like.shape, x.dtype).at[tuple(places)].add(x, mode="drop")


@row("one_hot")
def _one_hot(run: Run, x: Any, *, num_classes: int, dtype: str) -> Any:
    run.within(x, 0, num_classes)
    return (x[..., None] == jnp.arange(num_classes)).astype(dtype)
