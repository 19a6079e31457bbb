"""Attention of heads ``[batch, sequence, heads, width]``, and its adjoint.

C computes a head at a time (``compiler/kernels/c/attention.c``), where that is some work.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

from autograd_engine.core.dtypes import BOOLS
from autograd_engine.core.spec import Array, Shape
from autograd_engine.errors import ShapeError
from autograd_engine.ops.kernels.compiled import compiled
from autograd_engine.ops.kernels.products import multiply

__all__ = ["attention", "attention_adjoint", "biased_attention", "masked_attention"]

# Multiplications of a head from which C pays. A head alone decides, so that its bits are those in
# any batch.
_WORTH: Final = 1 << 8
# Blocks of heads, each with scratch of its own, that threads may take.
_BLOCKS: Final = 8
_SPAN: Final = 64  # queries whose slopes C keeps at a time
_LANES: Final = 16  # of the longest vector, or more
_KEPT: Final = 1 << 20  # elements of a triangle up to which it is kept
# NumPy's stubs know no `initial` beside a kept axis.
_empty = np.empty
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
def _scratch(query: Shape, value: Shape) -> tuple[Shape, Shape]:
    """Of either function: the blocks of heads, and what each needs."""
    batch, queries, heads, width = query
    keys, values = value[1], value[3]
    wide = [_LANES + n for n in (keys, width, values)]
    forward = wide[0] * width + keys * wide[2]
    adjoint = wide[0] * values + (keys + queries) * wide[1] + queries * wide[2] + _SPAN * keys
    blocks = min(batch * heads, _BLOCKS)
    return (blocks, forward), (blocks, adjoint)


def attention(
    query: Array, key: Array, value: Array, *, scale: float, causal: bool = False
) -> tuple[Array, Array]:
    """W V, and the weights W = softmax(scale Q K'); with `causal` of keys up to the query alone."""
    run = _in_c("attention.attention", query, value)
    if run is None:
        return _in_numpy(query, key, value, None, scale, causal)
    given = _readable(query), _readable(key), _readable(value)
    out, weights, scratch = _results(query, key, value)
    run(*given, out, weights, scratch, scale, causal)
    return out, weights


def masked_attention(
    query: Array, key: Array, value: Array, seen: Array, *, scale: float, causal: bool = False
) -> tuple[Array, Array]:
    """The same of those keys that are `seen`; zeros for a query that sees none.

    `seen` are bools, or numbers as such, that broadcast to ``[batch, heads, queries, keys]``.
    """
    if seen.dtype not in BOOLS:
        seen = np.not_equal(seen, 0)
    return _with_mask("attention.masked", query, key, value, seen, scale, causal)


def biased_attention(
    query: Array, key: Array, value: Array, bias: Array, *, scale: float, causal: bool = False
) -> tuple[Array, Array]:
    """The same with the weights softmax(scale Q K' + bias)."""
    return _with_mask("attention.biased", query, key, value, bias, scale, causal)


def _with_mask(
    name: str, query: Array, key: Array, value: Array, mask: Array, scale: float, causal: bool
) -> tuple[Array, Array]:
    shape = query.shape[0], query.shape[2], query.shape[1], key.shape[1]
    if mask.shape != shape:
        mask = mask.reshape(_four_axes(mask.shape, shape))
    run = _in_c(name, query, value)
    if run is None:
        return _in_numpy(query, key, value, mask, scale, causal)
    given = _readable(query), _readable(key), _readable(value)
    out, weights, scratch = _results(query, key, value)
    run(*given, mask if mask.flags.aligned else mask.copy(), out, weights, scratch, scale, causal)
    return out, weights


@lru_cache(maxsize=256)
def _four_axes(mask: Shape, shape: Shape) -> Shape:
    if np.broadcast_shapes(mask, shape) != shape:
        raise ShapeError(f"attention: a mask {list(mask)} is for more than {list(shape)} weights")
    return (1,) * (4 - len(mask)) + mask


def _results(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Places for the result, the weights and what C needs besides."""
    (batch, queries, heads, _), dtype = query.shape, query.dtype
    return (
        _empty((batch, queries, heads, value.shape[3]), dtype),
        _empty((batch, heads, queries, key.shape[1]), dtype),
        _empty(_scratch(query.shape, value.shape)[0], dtype),
    )


def _in_numpy(
    query: Array, key: Array, value: Array, mask: Array | None, scale: float, causal: bool
) -> tuple[Array, Array]:
    """Of any of them; a mask of bools says what is seen, and one of numbers is added."""
    seen = mask if mask is not None and mask.dtype in BOOLS else None
    q, k, v = [_readable(x).swapaxes(1, 2) for x in (query, key, value)]
    scores = multiply(q, k.swapaxes(2, 3))
    scores *= scale
    if mask is not None and seen is None:
        scores += mask
    if causal:
        queries, keys = scores.shape[2:]
        later = _later if queries * keys <= _KEPT else _later.__wrapped__
        hidden = later(queries, keys)
        np.copyto(scores, -np.inf, where=hidden)
    if seen is not None:
        np.copyto(scores, -np.inf, where=~seen)
        if causal:
            seen = seen & ~hidden
        none = ~np.logical_or.reduce(seen, axis=3, keepdims=True)
        np.copyto(scores, 0.0, where=none)
    scores -= _max(scores, axis=3, keepdims=True, initial=-np.inf)
    np.exp(scores, scores)
    scores /= _sum(scores, axis=3, keepdims=True)
    if seen is not None:
        np.copyto(scores, 0.0, where=none)
    return np.ascontiguousarray(np.matmul(scores, v).swapaxes(1, 2)), scores


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
    dtype = y.dtype
    results = _empty(query.shape, dtype), _empty(key.shape, dtype), _empty(value.shape, dtype)
    scratch = _empty(_scratch(query.shape, value.shape)[1], dtype)
    run(y, query, key, value, weights, *results, scratch, scale)
    return results
