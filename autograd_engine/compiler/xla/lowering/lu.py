"""Triangular factors, which XLA has; their kernels take a step for each row."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from autograd_engine.compiler.xla.rows import by_twin, row
from autograd_engine.compiler.xla.run import Run
from autograd_engine.core.dtypes import COMPLEX
from autograd_engine.ops.registry.opdef import REGISTRY


def _factors(name: str) -> None:
    @row(name)
    def function(run: Run, x: Any) -> Any:
        if x.dtype in COMPLEX or not x.size:  # there LAPACK measures a pivot in another way
            return by_twin(run, REGISTRY[name], (x,), {})
        factors, pivots, _ = lax.linalg.lu(jnp.asarray(x))
        zero = jnp.diagonal(factors, axis1=-2, axis2=-1) == 0
        info = jnp.where(zero.any(-1), zero.argmax(-1) + 1, 0)
        return factors, pivots + 1, info


_factors("lu")
_factors("lu_rectangular")


def _order(run: Run, pivots: Any, rows: int, backwards: bool) -> Any:
    """Which row comes at each place."""
    run.within(pivots, 1, rows + 1)
    places = jnp.clip(pivots.astype(jnp.int32) - 1, 0, max(rows - 1, 0))
    order = lax.linalg.lu_pivots_to_permutation(places, rows)
    return jnp.argsort(order, axis=-1) if backwards else order


@row("exchange_rows")
def _exchange_rows(run: Run, x: Any, pivots: Any, *, backwards: bool = False) -> Any:
    if not x.size:
        return jnp.asarray(x)
    order = _order(run, jnp.asarray(pivots), x.shape[-2], backwards)
    return jnp.take_along_axis(x, order[..., None], axis=-2)


@row("permutation_like")
def _permutation_like(run: Run, pivots: Any, like: Any) -> Any:
    m = like.shape[-2]
    if not m:
        return jnp.zeros((*pivots.shape[:-1], m, m), like.dtype)
    order = _order(run, pivots, m, True)
    return (order[..., None] == jnp.arange(m)).astype(like.dtype)
