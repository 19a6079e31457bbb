"""Linear recurrences over time and states."""

from __future__ import annotations

from typing import Any

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
    dtype = jnp.result_type(weight, outflow)
    states = outflow.shape[2]

    def step(carried: Any, given: Any) -> Any:
        factor, state = given
        state = state + carried
        carried = jnp.zeros_like(state)
        for k in range(min(weight.shape[-1], states)):
            carried = carried.at[:, : states - k].add(factor[:, k:, k] * state[:, k:])
        return carried, state

    start = jnp.zeros(outflow.shape[1:], dtype)
    given = jnp.asarray(weight), jnp.asarray(outflow, dtype)
    return lax.scan(step, start, given, reverse=True)[1]
