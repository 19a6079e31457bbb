"""Attention as products of matrices, with what lies between them."""

from __future__ import annotations

import math

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers

__all__: list[str] = []


def _heads(x: Traced) -> Traced:
    """``[batch, heads, sequence, width]``, and back."""
    return x.swapaxes(1, 2)


@lowers("attention")
def _attention(
    np: Loops, query: Traced, key: Traced, value: Traced, *, scale: float, causal: bool
) -> tuple[Traced, Traced]:
    return _averages(np, query, key, value, None, scale, causal)


@lowers("masked_attention")
def _masked_attention(
    np: Loops,
    query: Traced,
    key: Traced,
    value: Traced,
    seen: Traced,
    *,
    scale: float,
    causal: bool,
) -> tuple[Traced, Traced]:
    return _averages(np, query, key, value, seen, scale, causal)


@lowers("biased_attention")
def _biased_attention(
    np: Loops,
    query: Traced,
    key: Traced,
    value: Traced,
    bias: Traced,
    *,
    scale: float,
    causal: bool,
) -> tuple[Traced, Traced]:
    return _averages(np, query, key, value, None, scale, causal, bias)


def _averages(
    np: Loops,
    query: Traced,
    key: Traced,
    value: Traced,
    seen: Traced | None,
    scale: float,
    causal: bool,
    bias: Traced | None = None,
) -> tuple[Traced, Traced]:
    if not (query.size and value.size):
        raise NotLowered("it has no elements")
    scores = np.matmul(_heads(query) * scale, _heads(key).swapaxes(2, 3))
    if bias is not None:
        scores = scores + bias
    if causal:
        here, there = (np.position(scores.shape, axis) for axis in (2, 3))
        earlier = np.map("less_equal", there, here)
        seen = earlier if seen is None else np.map("logical_and", seen, earlier)
        masked = seen is not earlier
    else:
        masked = seen is not None
    if seen is not None:
        scores = np.where(seen, scores, -math.inf)
    e = np.map("exp", scores - np.reduce("max", scores, 3, True))
    weights = e / np.reduce("sum", e, 3, True)
    if masked:
        counted = np.where(seen, np.ones(scores.shape, scores.dtype), 0.0)
        some = np.map("greater", np.reduce("max", counted, 3, True), 0.0)
        weights = np.where(some, weights, 0.0)
    return _heads(np.matmul(weights, _heads(value))), weights


@lowers("attention_adjoint")
def _attention_adjoint(
    np: Loops,
    y: Traced,
    query: Traced,
    key: Traced,
    value: Traced,
    weights: Traced,
    *,
    scale: float,
) -> tuple[Traced, Traced, Traced]:
    if not (query.size and value.size):
        raise NotLowered("it has no elements")
    y, query, key, value = map(_heads, (y, query, key, value))
    towards = np.matmul(y, value.swapaxes(2, 3))
    slopes = weights * (towards - np.reduce("sum", weights * towards, 3, True)) * scale
    return (
        _heads(np.matmul(slopes, key)),
        _heads(np.matmul(slopes.swapaxes(2, 3), query)),
        _heads(np.matmul(weights.swapaxes(2, 3), y)),
    )
