"""Recurrences over time, as loops of XLA; their slopes and formulas are those of the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run
from autograd_engine.ops.kernels.recurrent import RECURRENT, slopes_of


def _by_gate(state: Any, weight: Any) -> Any:
    """[batch, gate, hidden]: what a state gives to each gate."""
    batch, size = state.shape
    return (state @ weight.T).reshape(batch, weight.shape[0] // max(size, 1), size)


def _with_start(start: Any, states: Any) -> Any:
    """[state, time + 1, batch, hidden] of those of each step."""
    return jnp.moveaxis(jnp.concatenate([start[None], states]), 1, 0)


@row("lstm_scan")
def _lstm_scan(
    run: Run, inflow: Any, weight: Any, start: Any, *bias: Any
) -> tuple[Any, Any]:
    for each in bias:
        inflow = inflow + each.reshape(inflow.shape[2:])

    def step(state: Any, flow: Any) -> Any:
        h, c = state
        a = flow + _by_gate(h, weight)
        i, f, o = (jax.nn.sigmoid(a[:, k]) for k in (0, 1, 3))
        g = jnp.tanh(a[:, 2])
        c = f * c + i * g
        y = jnp.tanh(c)
        state = jnp.stack([o * y, c])
        return state, (jnp.stack([i, f, g, o, y]), state)

    _, (kept, states) = lax.scan(step, jnp.asarray(start), inflow)
    return kept, _with_start(start, states)


@row("gru_scan")
def _gru_scan(
    run: Run, inflow: Any, weight: Any, start: Any, bias: Any
) -> tuple[Any, Any]:
    def step(state: Any, flow: Any) -> Any:
        (h,) = state
        a = _by_gate(h, weight)
        r, z = (jax.nn.sigmoid(flow[:, k] + a[:, k]) for k in (0, 1))
        m = a[:, 2] + bias
        c = jnp.tanh(r * m + flow[:, 2])
        state = ((h - c) * z + c)[None]
        return state, (jnp.stack([r, z, c, m]), state)

    _, (kept, states) = lax.scan(step, jnp.asarray(start), inflow)
    return kept, _with_start(start, states)


@row("rnn_scan")
def _rnn_scan(run: Run, inflow: Any, weight: Any, start: Any, *, activation: str) -> Any:
    def step(state: Any, flow: Any) -> Any:
        a = flow[:, 0] + state[0] @ weight.T
        state = (jnp.tanh(a) if activation == "tanh" else jnp.maximum(a, 0.0))[None]
        return state, state

    _, states = lax.scan(step, jnp.asarray(start), inflow)
    return _with_start(start, states)


def _blocks(weight: Any, kind: str, size: int) -> Iterator[tuple[int, int, Any]]:
    """For each range of gates that sees the state, its rows of the weight."""
    first = 0
    for begin, stop in RECURRENT[kind]:
        last = first + (stop - begin) * size
        yield begin, stop, weight[first:last]
        first = last


def _gate_flow(slopes: Any, gateflow: tuple[Any, ...], kind: str) -> Any:
    steps, _, batch, size = slopes.shape
    gates = RECURRENT[kind][-1][1]
    return gateflow[0] if gateflow else jnp.zeros((steps, batch, gates, size), slopes.dtype)


@row("gate_scan")
def _gate_scan(
    run: Run, weight: Any, slopes: Any, stateflow: Any, *gateflow: Any, kind: str
) -> tuple[Any, Any]:
    """Written such that its transpose, too, moves nothing: each state is carried for itself."""
    _, count, _, size = slopes.shape
    gates = RECURRENT[kind][-1][1]

    def step(state: Any, given: Any) -> Any:
        slope, flow, a = given
        for begin, stop, block in _blocks(weight, kind, size):
            seen = _by_gate(state[0], block)
            a = a + jnp.pad(seen, ((0, 0), (begin, gates - stop), (0, 0)))
        if kind == "lstm":
            driven = (slope[:3] * jnp.moveaxis(a[:, :3], 1, 0)).sum(0)
            c = flow[1] + driven + slope[4] * state[1]
            state = flow[0] + slope[3] * a[:, 3] + slope[5] * c, c
        else:
            h = flow[0] + (slope[:gates] * jnp.moveaxis(a, 1, 0)).sum(0)
            state = (h + slope[gates] * state[0] if count > gates else h,)
        return state, (a, state)

    flows = slopes, jnp.moveaxis(stateflow[:, 1:], 1, 0), _gate_flow(slopes, gateflow, kind)
    _, (made, states) = lax.scan(step, tuple(stateflow[:, 0]), flows)
    first = stateflow[:, :1]
    return made, jnp.concatenate([first, jnp.stack(states)], axis=1)


@row("gate_scan_adjoint")
def _gate_scan_adjoint(
    run: Run, weight: Any, slopes: Any, stateflow: Any, *gateflow: Any, kind: str
) -> tuple[Any, Any]:
    """The transpose of `gate_scan` in what flows in."""

    def forwards(stateflow: Any, gateflow: Any) -> tuple[Any, Any]:
        made: tuple[Any, Any] = _gate_scan(run, weight, slopes, stateflow, gateflow, kind=kind)
        return made

    stateflow = jnp.asarray(stateflow)
    flow = jnp.asarray(_gate_flow(slopes, gateflow, kind))
    to_states, to_gates = jax.linear_transpose(forwards, stateflow, flow)((flow, stateflow))
    return to_gates, to_states


@row("layer_adjoint")
def _layer_adjoint(
    run: Run, weight: Any, kept: Any, values: Any, stateflow: Any, *gateflow: Any, kind: str
) -> tuple[Any, Any]:
    slopes = jnp.stack(slopes_of(kept, values, kind), axis=1)
    made: tuple[Any, Any] = _gate_scan_adjoint(
        run, weight, slopes, stateflow, *gateflow, kind=kind
    )
    return made
