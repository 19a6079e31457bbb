"""Scans, as loops of XLA: their kernels would be as long as what they run over."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


@row("linear_recurrence")
def _linear_recurrence(run: Run, a: Any, b: Any, *, axis: int, reverse: bool = False) -> Any:
    factors, terms = (jnp.moveaxis(jnp.asarray(v), axis, 0) for v in (a, b))

    def step(before: Any, given: Any) -> Any:
        factor, term = given
        state = term + factor * before
        return state, state

    first = jnp.zeros(terms.shape[1:], terms.dtype)
    last = len(terms) - 1 if reverse else 0
    if len(terms):  # the first has none before it, whatever its factor is
        factors = factors.at[last].set(0)
    _, states = lax.scan(step, first, (factors.astype(terms.dtype), terms), reverse=reverse)
    return jnp.moveaxis(states, 0, axis)
