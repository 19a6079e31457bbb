"""Which boxes of images are kept."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


@row("nms")
def _nms(run: Run, boxes: Any, *, threshold: float, eta: float, offset: float) -> Any:
    count = boxes.shape[0]
    sides = (boxes[:, 2:] - boxes[:, :2] + offset).prod(-1)

    def each(i: Any, state: Any) -> Any:
        kept, most, least = state
        low = jnp.maximum(boxes[i, :2], boxes[:, :2])
        high = jnp.minimum(boxes[i, 2:], boxes[:, 2:])
        shared = jnp.where((high >= low).all(1), (high - low + offset).prod(1), 0.0)
        overlaps = jnp.nan_to_num(shared / (sides[i] + sides - shared)).astype(most.dtype)
        keeps = ~(most[i] > least)
        counts = keeps & (jnp.arange(count) > i)
        most = jnp.where(counts, jnp.maximum(most, overlaps), most)
        falls = keeps & (eta < 1.0) & (least > 0.5)
        return kept.at[i].set(keeps), most, jnp.where(falls, least * eta, least)

    wide = jnp.float64
    start = jnp.ones(count, bool), jnp.full(count, -jnp.inf, wide), jnp.asarray(threshold, wide)
    return lax.fori_loop(0, count, each, start)[0] if count else start[0]
