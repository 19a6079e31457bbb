"""Samples and references of `ops/nn/attention.py`: query by query."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array
from ..sampling import Sample, positive, real

# batch, queries, keys, heads, width, width of values
_SIZES = {
    "plain": (2, 3, 2, 2, 3, 1),
    "one-key": (1, 2, 1, 1, 2, 2),
    "worth-c": (1, 9, 5, 2, 17, 3),
    "empty-batch": (0, 2, 2, 1, 2, 2),
    "no-queries": (1, 0, 2, 1, 2, 2),
    "no-keys": (1, 2, 0, 1, 2, 2),
    "strided": (1, 2, 3, 1, 2, 2),
}


def _attention() -> list[Sample]:
    samples = []
    for label, (batch, queries, keys, heads, width, values) in _SIZES.items():
        arrays = [
            real(batch, queries, heads, width),
            real(batch, keys, heads, width),
            real(batch, keys, heads, values),
        ]
        if label == "strided":
            arrays = [strided(a) for a in arrays]
        for causal in (False, True):
            attrs = {"scale": 0.5, "causal": causal}
            samples.append(Sample(f"{label}-causal" if causal else label, tuple(arrays), attrs))
    return samples


def _masked() -> list[Sample]:
    """Keys that the sum of the positions lets in; in the last shape a query sees none."""
    samples = []
    for sample in _attention():
        query, key, _ = sample.operands
        shape = query.shape[0], query.shape[2], query.shape[1], key.shape[1]
        seen = np.indices(shape).sum(axis=0) % 3 != 1
        if sample.label.startswith("plain"):
            seen = seen[:1, :, :1]
        if sample.label.startswith("strided"):
            seen = seen[0, 0]
            seen[1] = False
        samples.append(Sample(sample.label, (*sample.operands, seen), sample.attrs))
    return samples


def _biased() -> list[Sample]:
    return [
        Sample(s.label, (*s.operands[:3], real(*np.shape(s.operands[3]))), s.attrs)
        for s in _masked()
    ]


def _adjoint() -> list[Sample]:
    samples = []
    for label, (batch, queries, keys, heads, width, values) in _SIZES.items():
        arrays = [
            real(batch, queries, heads, values),
            real(batch, queries, heads, width),
            real(batch, keys, heads, width),
            real(batch, keys, heads, values),
            positive(batch, heads, queries, keys),
        ]
        if label == "strided":
            arrays = [strided(a) for a in arrays]
        if width > 3:  # sums of many large terms cancel, and nothing but their size says how exact
            arrays = [a / 4.0 for a in arrays]
        samples.append(Sample(label, tuple(arrays), {"scale": 0.5}))
    return samples


def attention(
    query: Array, key: Array, value: Array, scale: float, causal: bool
) -> tuple[Array, Array]:
    return masked_attention(query, key, value, np.ones((1, 1), np.bool_), scale, causal)


def masked_attention(
    query: Array,
    key: Array,
    value: Array,
    mask: Array,
    scale: float,
    causal: bool,
    bias: Array | None = None,
) -> tuple[Array, Array]:
    batch, queries, heads, _ = query.shape
    keys = key.shape[1]
    out = np.zeros((batch, queries, heads, value.shape[3]))
    weights = np.zeros((batch, heads, queries, keys))
    mask = np.broadcast_to(mask, weights.shape)
    term = np.broadcast_to(0.0 if bias is None else bias, weights.shape)
    for b, i, h in np.ndindex(batch, queries, heads):
        seen = [j for j in range(keys) if mask[b, h, i, j] and (j <= i or not causal)]
        e = [
            math.exp(scale * math.fsum(query[b, i, h] * key[b, j, h]) + term[b, h, i, j])
            for j in seen
        ]
        for j, share in zip(seen, e, strict=True):
            weights[b, h, i, j] = share / math.fsum(e)
            out[b, i, h] += weights[b, h, i, j] * value[b, j, h]
    return out, weights


def biased_attention(
    query: Array, key: Array, value: Array, bias: Array, scale: float, causal: bool
) -> tuple[Array, Array]:
    return masked_attention(query, key, value, np.ones((1, 1), np.bool_), scale, causal, bias)


def attention_adjoint(
    y: Array, query: Array, key: Array, value: Array, weights: Array, scale: float
) -> tuple[Array, Array, Array]:
    """Along each weight flows back what its value and its score have to do with `y`."""
    found = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for b, h, i in np.ndindex(*weights.shape[:3]):
        w = weights[b, h, i]
        arriving = [math.fsum(y[b, i, h] * row) for row in value[b, :, h]]
        mean = math.fsum(w * np.asarray(arriving))
        for j, (share, one) in enumerate(zip(w, arriving, strict=True)):
            slope = scale * share * (one - mean)
            found[0][b, i, h] += slope * key[b, j, h]
            found[1][b, j, h] += slope * query[b, i, h]
            found[2][b, j, h] += share * y[b, i, h]
    return found


SAMPLES: dict[str, list[Sample]] = {
    "attention": _attention(),
    "masked_attention": _masked(),
    "biased_attention": _biased(),
    "attention_adjoint": _adjoint(),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "attention": attention,
    "masked_attention": masked_attention,
    "biased_attention": biased_attention,
    "attention_adjoint": attention_adjoint,
}
