"""Attention of heads ``[batch, sequence, heads, width]``, and its adjoint.

C computes a head at a time (``compiler/kernels/c/attention.c``), where that is some work.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.compiled import compiled
from autograd_engine.ops.kernels.products import multiply

__all__ = ["attention", "attention_adjoint"]

# Multiplications of a head from which C pays. A head alone decides, so that its bits are those in
# any batch.
_WORTH: Final = 1 << 8
# Blocks of heads, each with scratch of its own, that threads may take.
_BLOCKS: Final = 8
_SPAN: Final = 64  # queries whose slopes C keeps at a time
_LANES: Final = 16  # of the longest vector, or more
_KEPT: Final = 1 << 20  # elements of a triangle up to which it is kept
# NumPy's stubs know no `initial` beside a kept axis.
_max: Any = np.maximum.reduce
_sum: Any = np.add.reduce


@lru_cache(maxsize=32)
def _later(queries: int, keys: int) -> Array:
    """Which keys stand after the query."""
    found = ~np.tri(queries, keys, dtype=np.bool_)
    found.flags.writeable = False
    return found


def _in_c(name: str, query: Array, value: Array) -> Any:
    work = query.shape[1] * value.shape[1] * query.shape[3]
    return compiled(name, query) if work >= _WORTH and value.size else None


def _readable(x: Array) -> Array:
    """With elements of the last axis that follow each other."""
    follow = x.strides[3] == x.itemsize or x.shape[3] == 1
    return x if follow and x.flags.aligned else x.copy()


@lru_cache(maxsize=256)
def _layout(
    query: tuple[int, ...], value: tuple[int, ...], *strides_and_size: Any
) -> tuple[NDArray[np.int64], int, int, int]:
    """What C is told of the arrays; the blocks of heads; and scratch of a block, for either.

    Besides two shapes it takes the strides of query, key, value and y (None if there is none), and
    the size of an element.
    """
    *strides, itemsize = strides_and_size
    batch, queries, heads, width = query
    keys, values = value[1], value[3]
    steps = [s // itemsize for given in strides for s in (given or (0, 0, 0))[:3]]
    layout = np.asarray([batch, heads, queries, keys, width, values, *steps], np.int64)
    wide = [_LANES + n for n in (keys, width, values)]
    forward = wide[0] * width + keys * wide[2]
    adjoint = wide[0] * values + (keys + queries) * wide[1] + queries * wide[2] + _SPAN * keys
    return layout, min(batch * heads, _BLOCKS), forward, adjoint


def attention(
    query: Array, key: Array, value: Array, *, scale: float, causal: bool = False
) -> tuple[Array, Array]:
    """W V, and the weights W = softmax(scale Q K'); with `causal` of keys up to the query alone."""
    batch, queries, heads, _ = query.shape
    keys = key.shape[1]
    run = _in_c("attention.attention", query, value)
    given = (_readable(query), _readable(key), _readable(value))
    if run is None:
        q, k, v = [x.swapaxes(1, 2) for x in given]
        scores = multiply(q, k.swapaxes(2, 3))
        scores *= scale
        if causal:
            later = _later if queries * keys <= _KEPT else _later.__wrapped__
            np.copyto(scores, -np.inf, where=later(queries, keys))
        scores -= _max(scores, axis=3, keepdims=True, initial=-np.inf)
        np.exp(scores, scores)
        scores /= _sum(scores, axis=3, keepdims=True)
        return np.ascontiguousarray(np.matmul(scores, v).swapaxes(1, 2)), scores
    query, key, value = given
    layout, blocks, room, _ = _layout(
        query.shape, value.shape, query.strides, key.strides, value.strides, None, query.itemsize
    )
    out = np.empty((batch, queries, heads, value.shape[3]), query.dtype)
    weights = np.empty((batch, heads, queries, keys), query.dtype)
    scratch = np.empty(blocks * room, query.dtype)
    run(query, key, value, out, weights, scratch, layout, blocks, room, scale, causal)
    return out, weights


def attention_adjoint(
    y: Array, query: Array, key: Array, value: Array, weights: Array, *, scale: float
) -> tuple[Array, Array, Array]:
    """S K, S' Q and W' Y, with S = scale W (T - <W, T>) and T = Y V'; < > is a sum over keys."""
    run = _in_c("attention.adjoint", query, value) if y.dtype == query.dtype else None
    given = (_readable(query), _readable(key), _readable(value), _readable(y))
    weights = np.ascontiguousarray(weights)
    if run is None:
        q, k, v, y = [x.swapaxes(1, 2) for x in given]
        slopes = multiply(y, v.swapaxes(2, 3))
        slopes -= _sum(slopes * weights, axis=3, keepdims=True)
        slopes *= weights
        slopes *= scale
        found = (
            np.matmul(slopes, k),
            np.matmul(slopes.swapaxes(2, 3), q),
            np.matmul(weights.swapaxes(2, 3), y),
        )
        dq, dk, dv = [np.ascontiguousarray(x.swapaxes(1, 2)) for x in found]
        return dq, dk, dv
    query, key, value, y = given
    layout, blocks, _, room = _layout(
        query.shape, value.shape, query.strides, key.strides, value.strides, y.strides, y.itemsize
    )
    dtype = y.dtype
    dq, dk, dv = (
        np.empty(query.shape, dtype),
        np.empty(key.shape, dtype),
        np.empty(value.shape, dtype),
    )
    scratch = np.empty(blocks * room, dtype)
    run(y, query, key, value, weights, dq, dk, dv, scratch, layout, blocks, room, scale)
    return dq, dk, dv
