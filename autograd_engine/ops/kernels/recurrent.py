"""Recurrent networks over all time steps of a batch, and linear recurrences of the same form.

Each step works in the cache, on memory that is there already. Arrays of time steps are contiguous
for each step and, but for what flows in from outside ([time, batch, gate, hidden], as one product
of matrices makes it), for each gate. Where the time steps of a sequence are some work, C computes
all of them at once (`compiled`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.compiled import compiled

__all__ = [
    "RECURRENT",
    "gate_scan",
    "gate_scan_adjoint",
    "gate_slopes",
    "gru_scan",
    "layer_adjoint",
    "lstm_scan",
    "rnn_scan",
    "slopes_of",
]

# The gates that see the last state, as ranges: the rows of the weight belong to them in turn.
RECURRENT: Final = {"plain": ((0, 1),), "gru": ((0, 2), (3, 4)), "lstm": ((0, 4),)}

# Units of a sequence, counted over all steps, and steps, from which C pays for packing the weight.
_UNITS: Final = 512
_STEPS: Final = 4
# Panels that the weight is packed in are up to so many elements wide.
_PANEL: Final = 64
# What C calls the kinds of recurrences.
_KINDS: Final = {"plain": 0, "gru": 1, "lstm": 2}
_ACTIVATIONS: Final = {"tanh": 0, "relu": 3}


def _in_c(function: str, steps: int, size: int, like: Array) -> Callable[..., Any] | None:
    """The C function. A sequence alone decides, so that its bits are those in any batch."""
    if steps < _STEPS or steps * size < _UNITS:
        return None
    return compiled(f"recurrent.{function}", like)


def _scratch(weight: Array, batch: int, columns: int) -> tuple[Array, Array]:
    """For the packed weight, as a matrix of so many columns, and for a product with it."""
    wide = columns + _PANEL
    rows = weight.size // columns
    return np.empty(rows * wide, weight.dtype), np.empty(batch * wide, weight.dtype)


def _layer(
    run: Callable[..., Any],
    inflow: Array,
    weight: Array,
    start: Array,
    bias: tuple[Array, ...],
    kept: int,
    kind: int,
) -> tuple[Array, Array]:
    steps, batch, gates, size = inflow.shape
    states = _states(start, steps)
    values = np.empty((steps, kept, batch, size), inflow.dtype)
    inflow, weight, added = map(np.ascontiguousarray, (inflow, weight, *(bias or (start,))))
    scratch = _scratch(weight, batch, gates * size)
    sizes = steps, batch, size, gates
    run(inflow, weight, added, values, states, *scratch, *sizes, kind, bool(bias))
    return values, states


def _linear(
    run: Callable[..., Any],
    weight: Array,
    slopes: Array,
    stateflow: Array,
    gateflow: tuple[Array, ...],
    kind: str,
    adjoint: bool,
) -> tuple[Array, Array]:
    steps, _, batch, size = slopes.shape
    gates, states = _flows(slopes, stateflow, gateflow, kind)
    weight, slopes = np.ascontiguousarray(weight), np.ascontiguousarray(slopes)
    scratch = _scratch(weight, batch, size if adjoint else len(weight))
    sizes = steps, batch, size
    run(weight, slopes, gates, states, *scratch, *sizes, _KINDS[kind], adjoint, bool(gateflow))
    return gates, states


def _flows(
    slopes: Array, stateflow: Array, gateflow: tuple[Array, ...], kind: str
) -> tuple[Array, Array]:
    """What flows into gates and states, to be added to; without any, gates have no values yet."""
    steps, _, batch, size = slopes.shape
    shape = (steps, batch, RECURRENT[kind][-1][1], size)
    gates = np.array(gateflow[0], order="C") if gateflow else np.empty(shape, slopes.dtype)
    return gates, np.array(stateflow, order="C")


def _states(start: Array, steps: int) -> Array:
    """[state, time + 1, batch, hidden], of which time 0 is set."""
    count, batch, size = start.shape
    states = np.empty((count, steps + 1, batch, size), start.dtype)
    states[:, 0] = start
    return states


def _by_gate(weight: Array) -> Array:
    """[gate, hidden before, hidden]: what a state is multiplied by for each gate."""
    size = weight.shape[1]
    return weight.reshape(-1, size, size).transpose(0, 2, 1)


def _sigmoid(x: Array, one: Array) -> None:
    """1 / (1 + exp(-x)), in place; where the exponential overflows it is 0."""
    np.negative(x, out=x)
    np.exp(x, out=x)
    np.add(x, one, out=x)
    np.reciprocal(x, out=x)


def lstm_scan(inflow: Array, weight: Array, start: Array, *bias: Array) -> tuple[Array, Array]:
    """Gates i, f, g, o and the tanh of the cell; the states h and c."""
    steps, batch, _, size = inflow.shape
    run = _in_c("layer", steps, size, inflow)
    if run is not None:
        return _layer(run, inflow, weight, start, bias, 5, _KINDS["lstm"])
    for each in bias:
        inflow = inflow + each.reshape(4, size)
    states = _states(start, steps)
    kept = np.empty((steps, 5, batch, size), inflow.dtype)
    part = np.empty((batch, size), inflow.dtype)
    weights = _by_gate(weight)
    one = np.ones((), inflow.dtype)
    h, c = states[:, 0]
    with np.errstate(over="ignore"):
        for flow, row, h_next, c_next in zip(
            inflow.transpose(0, 2, 1, 3), kept, states[0, 1:], states[1, 1:], strict=True
        ):
            gates = row[:4]
            i, f, g, o, tanh_c = row
            np.matmul(h, weights, out=gates)
            np.add(gates, flow, out=gates)
            _sigmoid(row[:2], one)
            np.tanh(g, out=g)
            _sigmoid(o, one)
            np.multiply(f, c, out=c_next)
            np.multiply(i, g, out=part)
            np.add(c_next, part, out=c_next)
            np.tanh(c_next, out=tanh_c)
            np.multiply(o, tanh_c, out=h_next)
            h, c = h_next, c_next
    return kept, states


def gru_scan(inflow: Array, weight: Array, start: Array, bias: Array) -> tuple[Array, Array]:
    """Gates r, z, c and m, the product that r scales; the state h."""
    steps, batch, _, size = inflow.shape
    run = _in_c("layer", steps, size, inflow)
    if run is not None:
        return _layer(run, inflow, weight, start, (bias,), 4, _KINDS["gru"])
    states = _states(start, steps)
    kept = np.empty((steps, 4, batch, size), inflow.dtype)
    weights = _by_gate(weight)
    one = np.ones((), inflow.dtype)
    h = states[0, 0]
    with np.errstate(over="ignore"):
        for flow, row, h_next in zip(
            inflow.transpose(0, 2, 1, 3), kept, states[0, 1:], strict=True
        ):
            r, z, c, m = row
            np.matmul(h, weights[:2], out=row[:2])
            np.add(row[:2], flow[:2], out=row[:2])
            _sigmoid(row[:2], one)
            np.matmul(h, weights[2], out=m)
            np.add(m, bias, out=m)
            np.multiply(r, m, out=c)
            np.add(c, flow[2], out=c)
            np.tanh(c, out=c)
            np.subtract(h, c, out=h_next)
            np.multiply(h_next, z, out=h_next)
            np.add(h_next, c, out=h_next)
            h = h_next
    return kept, states


def rnn_scan(inflow: Array, weight: Array, start: Array, *, activation: str) -> Array:
    """The state h."""
    run = _in_c("layer", len(inflow), inflow.shape[-1], inflow)
    if run is not None:
        return _layer(run, inflow, weight, start, (), 0, _ACTIVATIONS[activation])[1]
    states = _states(start, len(inflow))
    (weights,) = _by_gate(weight)
    zero = np.zeros((), inflow.dtype)
    h = states[0, 0]
    for flow, h_next in zip(inflow[:, :, 0], states[0, 1:], strict=True):
        np.matmul(h, weights, out=h_next)
        np.add(h_next, flow, out=h_next)
        if activation == "tanh":
            np.tanh(h_next, out=h_next)
        else:
            np.maximum(h_next, zero, out=h_next)
        h = h_next
    return states


# --- linear recurrences


def lstm_slopes(i: Any, f: Any, g: Any, o: Any, y: Any, c: Any) -> tuple[Any, ...]:
    """For i, f, g, o; what stays of c; and what h reads of it. y is the tanh of c."""
    return (
        i * (1.0 - i) * g,
        f * (1.0 - f) * c,
        (1.0 - g * g) * i,
        o * (1.0 - o) * y,
        f,
        (1.0 - y * y) * o,
    )


def gru_slopes(r: Any, z: Any, c: Any, m: Any, h: Any) -> tuple[Any, ...]:
    """For r, z, c, m; and what stays of h."""
    of_c = (1.0 - z) * (1.0 - c * c)
    of_m = of_c * r
    return of_m * m * (1.0 - r), (h - c) * z * (1.0 - z), of_c, of_m, z


def slopes_of(kept: Any, states: Any, kind: str) -> tuple[Any, ...]:
    """All slopes, [time, batch, hidden] each."""
    formulas: Callable[..., tuple[Any, ...]] = lstm_slopes if kind == "lstm" else gru_slopes
    return formulas(*[kept[:, k] for k in range(kept.shape[1])], states[-1, :-1])


def gate_slopes(kept: Array, states: Array, *, kind: str) -> Array:
    """[time, slope, batch, hidden], from the values of a layer."""
    steps, count, batch, size = kept.shape
    run = _in_c("slopes", steps, size, kept)
    if run is None:
        return np.stack(slopes_of(kept, states, kind), axis=1)
    slopes = np.empty((steps, count + 1, batch, size), kept.dtype)
    kept, states = np.ascontiguousarray(kept), np.ascontiguousarray(states)
    run(kept, states, slopes, steps, batch * size, _KINDS[kind])
    return slopes


def gate_scan(
    weight: Array, slopes: Array, stateflow: Array, *gateflow: Array, kind: str
) -> tuple[Array, Array]:
    """See `ops.recurrent`: the gates and states that flow from those given."""
    steps, count, batch, size = slopes.shape
    run = _in_c("linear", steps, size, slopes)
    if run is not None:
        return _linear(run, weight, slopes, stateflow, gateflow, kind, adjoint=False)
    blocks = RECURRENT[kind]
    gate_count = max(stop for _, stop in blocks)
    shape = (steps, batch, gate_count, size)
    gates = np.array(gateflow[0], order="C") if gateflow else np.zeros(shape, slopes.dtype)
    states = np.array(stateflow, order="C")
    product = np.empty((batch, len(weight)), slopes.dtype)
    for t in range(steps):
        np.matmul(states[0, t], weight.T, out=product)
        first = 0
        for start, stop in blocks:
            last = first + (stop - start) * size
            gates[t, :, start:stop] += product[:, first:last].reshape(batch, stop - start, size)
            first = last
        parts = slopes[t, :gate_count] * gates[t].transpose(1, 0, 2)
        if kind == "lstm":
            *_, keep, read = slopes[t]
            states[1, t + 1] += parts[0] + parts[1] + parts[2] + keep * states[1, t]
            states[0, t + 1] += parts[3] + read * states[1, t + 1]
        else:
            for part in parts:
                states[0, t + 1] += part
            if count > gate_count:
                states[0, t + 1] += slopes[t, gate_count] * states[0, t]
    return gates, states


def gate_scan_adjoint(
    weight: Array, slopes: Array, stateflow: Array, *gateflow: Array, kind: str
) -> tuple[Array, Array]:
    """The transpose of `gate_scan` as a function of its two flows."""
    steps, _, batch, size = slopes.shape
    run = _in_c("linear", steps, size, slopes)
    if run is not None:
        return _linear(run, weight, slopes, stateflow, gateflow, kind, adjoint=True)
    states = np.array(stateflow, order="C")
    blocks = RECURRENT[kind]
    weights = _rows_of_blocks(weight, blocks, size)
    gates = np.empty((steps, batch, blocks[-1][1], size), slopes.dtype)
    rows = gates.reshape(steps, batch, blocks[-1][1] * size)
    work = np.empty((blocks[-1][1], batch, size), slopes.dtype)
    by_gate, driven = work.transpose(1, 0, 2), work[:3] if kind == "lstm" else work
    part = np.empty((batch, size), slopes.dtype)
    hs, cs = states[0], states[-1]
    for t in range(steps - 1, -1, -1):
        slope, c, c_before, h_before = slopes[t], cs[t + 1], cs[t], hs[t]
        if kind == "lstm":
            h = hs[t + 1]
            np.multiply(slope[5], h, out=part)
            np.add(c, part, out=c)
            np.multiply(slope[3], h, out=work[3])
        np.multiply(slope[: len(driven)], c, out=driven)
        if kind != "plain":
            np.multiply(slope[4], c, out=part)
            np.add(c_before, part, out=c_before)
        gates[t] = by_gate
        if gateflow:
            np.add(gates[t], gateflow[0][t], out=gates[t])
        for start, stop, block in weights:
            np.matmul(rows[t, :, start:stop], block, out=part)
            np.add(h_before, part, out=h_before)
    return gates, states


def layer_adjoint(
    weight: Array, kept: Array, values: Array, stateflow: Array, *gateflow: Array, kind: str
) -> tuple[Array, Array]:
    """`gate_scan_adjoint` with the slopes of a layer, from its values."""
    steps, count, batch, size = kept.shape
    run = _in_c("layer_adjoint", steps, size, kept)
    if run is None:
        slopes = np.stack(slopes_of(kept, values, kind), axis=1)
        flows: tuple[Array, Array]
        flows = gate_scan_adjoint(weight, slopes, stateflow, *gateflow, kind=kind)
        return flows
    gates, states = _flows(kept, stateflow, gateflow, kind)
    weight, kept, values = map(np.ascontiguousarray, (weight, kept, values))
    scratch = np.empty((count + 1, batch, size), kept.dtype), *_scratch(weight, batch, size)
    sizes = steps, batch, size
    run(weight, kept, values, gates, states, *scratch, *sizes, _KINDS[kind], bool(gateflow))
    return gates, states


def _rows_of_blocks(
    weight: Array, blocks: Sequence[tuple[int, int]], size: int
) -> list[tuple[int, int, Array]]:
    """For each range of gates its columns among those of all gates, and its rows of the weight."""
    found, first = [], 0
    for start, stop in blocks:
        last = first + (stop - start) * size
        found.append((start * size, stop * size, weight[first:last]))
        first = last
    return found
