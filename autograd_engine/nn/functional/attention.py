"""Attention: averages of values, weighted by how queries and keys fit."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from autograd_engine.core.checks import as_number
from autograd_engine.core.dims import Dim, SymbolicNumber
from autograd_engine.core.dtypes import BOOLS, FLOATS, instead
from autograd_engine.core.spec import Array, format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.nn.functional.arguments import as_floats, check_number
from autograd_engine.nn.functional.dropouts import dropout
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, shape_of, spec_of
from autograd_engine.tensor.linalg.products import matmul

__all__ = ["scaled_dot_product_attention"]

_NAME = "scaled_dot_product_attention"
_KEPT = 1 << 20  # elements of a causal mask up to which it is kept


def _repeated(x: Any, times: int) -> Any:
    """``[batch, sequence, heads, width]``, each head `times` times in a row."""
    heads = int(spec_of(x).shape[2])  # `_sharing` has seen it
    return ops.gather(x, np.repeat(np.arange(heads), times), axis=2)


def _sharing(op: str, query: Any, key: Any, value: Any, shared: bool) -> int:
    """How many query heads share one of the keys and values."""
    q, k, v = shape_of(query)[2], shape_of(key)[2], shape_of(value)[2]
    if type(q) is int and q == k == v:
        return 1
    if isinstance(q, Dim) or isinstance(k, Dim) or isinstance(v, Dim):
        return 1
    if k != v or (q % k if k else q) or (q != k and not shared):
        raise ShapeError(
            f"{op}: query has {q} heads, key {k} and value {v}; they must be equal"
            + (", or those of query a multiple of the others" if shared else " (or enable_gqa)")
        )
    return q // k if k else 1


@atomic
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    backend: str | None = None,
    scale: float | None = None,
    enable_gqa: bool = True,
    name: str | None = None,
) -> Tensor:
    """softmax(query @ key.T * scale + mask) @ value for each head (Vaswani and others 2017).

    Parameters
    ----------
    query : Tensor or Variable
        ``[batch, queries, heads, width]``, or without the batch.
    key, value : Tensor or Variable
        ``[batch, keys, heads, width]``
    attn_mask : Tensor or Variable, optional
        Broadcasts to ``[batch, heads, queries, keys]``. Bools say which keys a query sees; numbers
        are added to the products.
    dropout_p : float
        Of the weights, while `training`.
    is_causal : bool
        Query i sees keys 0 to i only.
    backend : str, optional
        Accepted; there is one.
    scale : float, optional
        ``width ** -0.5`` when not given.
    enable_gqa : bool
        Let several query heads share a head of keys and values (Ainslie and others 2023).

    Returns
    -------
    ``[batch, queries, heads, width of value]``; zeros for a query that sees no key at all

    Raises
    ------
    ShapeError, ArgumentError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> q, k = paddle.zeros([1, 1, 1, 2]), paddle.zeros([1, 2, 1, 2])
    >>> v = paddle.to_tensor([[[[1.0]], [[3.0]]]])
    >>> scaled_dot_product_attention(q, k, v).tolist()
    [[[[2.0]]]]
    """
    if backend not in (None, "p2p"):
        raise ArgumentError(f"{_NAME}: backend must be None or 'p2p', got {backend!r}")
    query, key = as_floats(_NAME, query, "query"), as_floats(_NAME, key, "key")
    value = as_floats(_NAME, value, "value")
    shapes = shape_of(query), shape_of(key), shape_of(value)
    ndim = len(shapes[0])
    if not (ndim == len(shapes[1]) == len(shapes[2]) and 3 <= ndim <= 4):
        raise ShapeError(
            f"{_NAME}: query, key and value must all be [batch, sequence, heads, width] (or all "
            f"without the batch), got {', '.join(map(format_shape, shapes))}"
        )
    if ndim == 3:
        query, key, value = (ops.unsqueeze(x, axis=(0,)) for x in (query, key, value))
        out = scaled_dot_product_attention(
            query, key, value, attn_mask, dropout_p, is_causal, training, backend, scale, enable_gqa
        )
        return ops.squeeze(out, axis=(0,))
    if dropout_p.__class__ is not float:
        dropout_p = as_number(dropout_p)
    if isinstance(dropout_p, SymbolicNumber):
        dropout_p = dropout_p.within(f"{_NAME}: dropout_p", "from 0 to 1", 0, 1)
    elif isinstance(dropout_p, bool) or not 0.0 <= dropout_p <= 1.0:
        raise ArgumentError(f"{_NAME}: dropout_p must be from 0 to 1, got {dropout_p!r}")
    p = dropout_p if training else 0.0
    return attention(_NAME, query, key, value, attn_mask, p, is_causal, scale, enable_gqa)[0]


def attention(
    op: str,
    query: Any,
    key: Any,
    value: Any,
    mask: Any,
    dropout_p: float,
    causal: bool,
    scale: float | None,
    shared: bool,
) -> tuple[Any, Any]:
    """What `scaled_dot_product_attention` returns of batches, and the weights of the values."""
    if scale is None:
        width = shape_of(query)[3]
        if isinstance(width, Dim):
            raise ShapeError(f"{op}: the width of query is unknown; declare it, or give scale")
        scale = width**-0.5 if width else 1.0
    elif scale.__class__ is not float or scale != scale:
        scale = check_number(op, "scale", scale)
    times = _sharing(op, query, key, value, shared)
    if times != 1:
        key, value = _repeated(key, times), _repeated(value, times)
    drops = isinstance(dropout_p, SymbolicNumber) or dropout_p
    if mask is not None:
        mask = _mask_of(op, mask)
    if not drops and scale.__class__ is float:
        attrs = {"scale": scale, "causal": bool(causal)}
        if mask is None:
            return ops.attention(query, key, value, **attrs)
        if spec_of(mask).dtype in BOOLS:
            return ops.masked_attention(query, key, value, mask, **attrs)
        return ops.biased_attention(query, key, value, mask, **attrs)
    query, key, value = (ops.transpose(x, perm=(0, 2, 1, 3)) for x in (query, key, value))
    scores = matmul(query * scale, key, transpose_y=True)
    weights = _weights(scores, mask, causal)
    if drops:
        weights = dropout(weights, dropout_p)
    return ops.transpose(matmul(weights, value), perm=(0, 2, 1, 3)), weights


def _mask_of(op: str, mask: Any) -> Any:
    mask = as_operand(op, mask, "attn_mask")
    dtype = spec_of(mask).dtype
    if dtype not in BOOLS and dtype not in FLOATS:
        raise DTypeError(
            f"{op}: attn_mask must hold bools or floats, got {dtype.name}"
            f"{instead(dtype, 'attn_mask', 'bool')}"
        )
    return mask


@lru_cache(maxsize=32)
def _triangle(queries: int, keys: int) -> Array:
    found = np.tri(queries, keys, dtype=np.bool_)
    found.flags.writeable = False
    return found


def _earlier(scores: Any) -> Any:
    """Which keys stand no later than the query."""
    if isinstance(scores, Tensor):
        shape = scores._data.shape
        queries, keys = shape[-2:]
        kept = _triangle if queries * keys <= _KEPT else _triangle.__wrapped__
        return Tensor._wrap(kept(queries, keys))
    return ops.not_equal(ops.tril(ops.full_like(scores, value=1.0)), 0.0)


def _weights(scores: Any, mask: Any, causal: bool) -> Any:
    seen = None  # which keys a query sees, as bools; None for all
    if mask is not None:
        if spec_of(mask).dtype in FLOATS:
            scores = scores + mask
        else:
            seen = mask
    if causal:
        earlier = _earlier(scores)
        seen = earlier if seen is None else ops.logical_and(seen, earlier)
    if seen is None:
        return ops.softmax(scores, axis=3)
    scores = ops.where(seen, scores, -math.inf)
    if mask is None:  # the first key is always seen
        return ops.softmax(scores, axis=3)
    some = ops.any(seen, axis=(spec_of(seen).ndim - 1,), keepdims=True)
    weights = ops.softmax(ops.where(some, scores, 0.0), axis=3)
    return ops.where(some, weights, 0.0)
