"""Beams, and linear recurrences, over time."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


@row("band_scan")
def _band_scan(run: Run, weight: Any, inflow: Any) -> Any:
    dtype = jnp.result_type(weight, inflow)
    states = inflow.shape[2]

    def step(before: Any, given: Any) -> Any:
        factor, state = given
        for k in range(min(weight.shape[-1], states)):
            state = state.at[:, k:].add(factor[:, k:, k] * before[:, : states - k])
        return state, state

    start = jnp.zeros(inflow.shape[1:], dtype)
    return lax.scan(step, start, (jnp.asarray(weight), jnp.asarray(inflow, dtype)))[1]


@row("band_scan_adjoint")
def _band_scan_adjoint(run: Run, weight: Any, outflow: Any) -> Any:
    """The transpose of `band_scan` in what flows in."""
    outflow = jnp.asarray(outflow, jnp.result_type(weight, outflow))
    (inflow,) = jax.linear_transpose(lambda x: _band_scan(run, weight, x), outflow)(outflow)
    return inflow


@row("gather_tree")
def _gather_tree(run: Run, ids: Any, parents: Any) -> Any:
    beams = ids.shape[2]
    run.within(parents, 0, beams)
    parents, ids = jnp.clip(jnp.asarray(parents), 0, max(beams - 1, 0)), jnp.asarray(ids)

    def step(beam: Any, given: Any) -> Any:
        words, before = given
        taken = jnp.take_along_axis(words, beam, axis=1)
        return jnp.take_along_axis(before, beam, axis=1), taken

    start = jnp.broadcast_to(jnp.arange(beams, dtype=parents.dtype), ids.shape[1:])
    return lax.scan(step, start, (ids, parents), reverse=True)[1]
