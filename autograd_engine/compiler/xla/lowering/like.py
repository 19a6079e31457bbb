"""Operations that take what they return from another array."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


@row("unless_zero")
def _unless_zero(run: Run, x: Any, *gs: Any) -> Any:
    there = jnp.any(jnp.stack([jnp.any(g != 0) for g in gs]))
    return jnp.where(there, x, jnp.zeros_like(x))


@row("sum_like")
def _sum_like(run: Run, x: Any, like: Any) -> Any:
    extra = x.ndim - len(like.shape)
    kept = [a for a, n in enumerate(like.shape, extra) if n == 1 and x.shape[a] != 1]
    return jnp.sum(x, axis=(*range(extra), *kept)).reshape(like.shape)
