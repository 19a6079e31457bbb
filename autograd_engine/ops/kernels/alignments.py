"""Alignments of label sequences with frames, over which losses sum.

Connectionist temporal classification (Graves, Fernandez, Gomez and Schmidhuber 2006): of a label
sequence of length L the states are 0, ..., 2 L: the labels are the odd ones, with a blank before,
between and behind them. In one step of time an alignment stays, moves on by one state, or by two:
over a blank between labels that differ.

Transducers (Graves 2012): of T frames and L labels the nodes are (t, l), t frames and l labels
having been consumed. A blank leads from (t, l) to (t + 1, l), the label l to (t, l + 1), and an
alignment from (0, 0) to (T, L). Here a step leads from one diagonal t + l to the next, and the
state on a diagonal is l: an alignment stays, or moves on by one state.

All is in logarithms, as the probability of an alignment is a product of thousands of factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import result_type
from autograd_engine.core.spec import Array

__all__ = [
    "align",
    "band_scan",
    "band_scan_adjoint",
    "in_turn",
    "states",
    "transducer_align",
    "transducer_moves",
]


def states(labels: Array, *, blank: int) -> Array:
    """``[batch, 2 L + 1]``: the class of each state."""
    out = np.full((labels.shape[0], 2 * labels.shape[1] + 1), blank, np.int64)
    out[:, 1::2] = labels
    return out


def _skips(path: Array, blank: int) -> Array:
    """Where a state can be entered from two states before."""
    out = np.zeros(path.shape, np.bool_)
    out[:, 2:] = (path[:, 2:] != blank) & (path[:, 2:] != path[:, :-2])
    return out


def _sources(alpha: Array) -> Array:
    """``[batch, states, 3]``: `alpha` of a state itself, of the one before, and of two before."""
    out = np.full((*alpha.shape, 3), -np.inf)
    out[..., 0] = alpha
    out[:, 1:, 1] = alpha[:, :-1]
    out[:, 2:, 2] = alpha[:, :-2]
    return out


def in_turn(
    step: Callable[..., tuple[Array, Array]], state: Array, given: Sequence[Array], out: Array
) -> Array:
    """The last state of ``state, out[t] = step(state, *[g[t] for g in given])``."""
    for t in range(len(out)):
        state, out[t] = step(state, *[g[t] for g in given])
    return state


def _logsumexp(x: Array, axis: int) -> Array:
    """Of nothing but -inf it is -inf."""
    top = np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.add.reduce(np.exp(x - top), axis=axis)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total) + np.squeeze(top, axis))


def align(
    scores: Array, labels: Array, times: Array, lengths: Array, *, blank: int
) -> tuple[Array, Array, Array, Array, Array]:
    """The distribution of alignments, read backwards in time.

    Parameters
    ----------
    scores : ``[T, batch, 2 L + 1]``
        Log-probability of the class of each state at each time.
    labels : ``[batch, L]``
    times, lengths : ``[batch]``
        How many steps and labels each sequence has.

    Returns
    -------
    likelihood : ``[batch]``
        Logarithm of the summed probability of all alignments, -inf where there is none.
    steps : ``[T, batch, 2 L + 1, 3]``
        Of the alignments in a state at a time, the share that came from the state itself, from the
        one before, and from two before. 0 where none is there. Past the end all stay.
    start : ``[T, batch, 2 L + 1]``
        1 for the states that alignments begin in, at time 0.
    end : ``[batch, 2 L + 1]``
        The share of alignments that end in each state.
    anchor : ``[T, batch, 2 L + 1]``
        `scores`, 0 where they are not finite or past the end.
    """
    duration, batch, count = scores.shape
    dtype = scores.dtype
    # Sums of thousands of logarithms have few digits behind the point in float32.
    given, scores = scores, scores.astype(np.float64)
    minus_infinity = -np.inf
    position = np.arange(count)
    reachable = position <= 2 * lengths[:, None]
    skips = _skips(states(labels, blank=blank), blank)
    alive = np.arange(duration)[:, None] < times
    steps = np.zeros((*scores.shape, 3), dtype)
    start = np.zeros_like(given)
    known = np.isfinite(scores) & alive[..., None]
    anchor = np.where(known, given, 0.0).astype(dtype, copy=False)
    # Before the first step everything waits ahead of state 0, so states 0 and 1 can be entered.
    alpha = np.full((batch, count), minus_infinity)
    if duration:
        entered = np.where((position < 2) & reachable, scores[0], minus_infinity)
        start[0] = np.where(np.isfinite(entered) & alive[0][:, None], 1.0, 0.0)
        alpha = np.where(alive[0][:, None], entered, alpha)

    def step(alpha: Array, score: Array, lives: Array) -> tuple[Array, Array]:
        sources = _sources(alpha)
        sources[..., 2] = np.where(skips, sources[..., 2], minus_infinity)
        total = _logsumexp(sources, 2)
        there = np.isfinite(total) & np.isfinite(score) & reachable
        shares = np.exp(sources - np.where(there, total, 0.0)[..., None])
        moved = np.where(
            lives[:, None, None], np.where(there[..., None], shares, 0.0), (1.0, 0.0, 0.0)
        )
        entered = np.where(there, total + score, minus_infinity)
        return np.where(lives[:, None], entered, alpha), moved

    alpha = in_turn(step, alpha, (scores[1:], alive[1:]), steps[1:])
    last = 2 * lengths[:, None]
    final = np.where((position == last) | (position == last - 1), alpha, minus_infinity)
    likelihood = _logsumexp(final, 1)
    possible = np.isfinite(likelihood)[:, None]
    end = np.where(possible, np.exp(final - np.where(possible, likelihood[:, None], 0.0)), 0.0)
    return likelihood.astype(dtype), steps, start, end.astype(dtype), anchor


def transducer_moves(labels: Array, shape: tuple[int, ...], *, blank: int) -> Array:
    """``[T + L + 1, batch, L + 1, 3]``: which score each move into a node of a diagonal has.

    It is a position in the flattened ``[batch, T, L + 1, classes]``, the given shape; 0 for moves
    that there are none of, such as those over two states.
    """
    batch, duration, states, classes = shape
    diagonal, b, state = np.ogrid[: duration + states, :batch, :states]
    time = diagonal - state
    out = np.zeros((*np.broadcast_shapes(time.shape, b.shape), 3), np.int64)

    def position(t: Array, u: Array, emitted: Any, there: Array) -> Array:
        return np.where(there, ((b * duration + t) * states + u) * classes + emitted, 0)

    out[..., 0] = position(time - 1, state, blank, (time > 0) & (time <= duration))
    emitted = np.concatenate([np.zeros((batch, 1), labels.dtype), labels], axis=1)
    there = (state > 0) & (time >= 0) & (time < duration)
    out[..., 1] = position(time, state - 1, emitted, there)
    return out


def transducer_align(
    scores: Array, times: Array, lengths: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """The distribution of alignments of a transducer, read backwards.

    Parameters
    ----------
    scores : ``[T + L + 1, batch, L + 1, 3]``
        Log-probability of each move, see `transducer_moves`.
    times, lengths : ``[batch]``
        How many frames and labels each sequence has.

    Returns
    -------
    likelihood, steps, start, end, anchor
        As of `align`, with the diagonals for times; `anchor` has one for each move.
    """
    diagonals, batch, count = scores.shape[:3]
    dtype, moves = scores.dtype, scores.astype(np.float64)
    diagonal, _, state = np.ogrid[:diagonals, :batch, :count]
    time, last = diagonal - state, state == lengths[:, None]
    inside = (time >= 0) & (time < times[:, None]) & (state <= lengths[:, None])
    final = (time == times[:, None]) & last
    there = np.zeros(scores.shape, np.bool_)
    there[..., 0] = (inside & (time > 0)) | final
    there[..., 1] = inside & (state > 0)
    moves = np.where(there, moves, -np.inf)
    anchor = np.where(np.isfinite(moves), moves, 0.0).astype(dtype, copy=False)
    steps = np.zeros(scores.shape, dtype)
    start = np.zeros(scores.shape[:3], dtype)
    start[0, :, 0] = 1.0
    alpha = np.where(np.arange(count) == 0, 0.0, np.full((batch, count), -np.inf))
    # What has arrived stays.
    arrived = (time > times[:, None]) & last

    def step(alpha: Array, move: Array, stays: Array) -> tuple[Array, Array]:
        sources = _sources(alpha) + move
        total = _logsumexp(sources, 2)
        finite = np.isfinite(total)[..., None]
        shares = np.exp(sources - np.where(finite, total[..., None], 0.0))
        moved = np.where(stays[..., None], (1.0, 0.0, 0.0), np.where(finite, shares, 0.0))
        return np.where(stays, alpha, total), moved

    alpha = in_turn(step, alpha, (moves[1:], arrived[1:]), steps[1:])
    likelihood = np.take_along_axis(alpha, lengths[:, None].astype(np.int64), 1)[:, 0]
    end = (last[0] & np.isfinite(likelihood)[:, None]).astype(dtype)
    return likelihood.astype(dtype), steps, start, end, anchor


def band_scan(weight: Array, inflow: Array) -> Array:
    """``h[t, b, s] = inflow[t, b, s] + sum_k weight[t, b, s, k] h[t - 1, b, s - k]``

    What would lie before the first time or state is 0.
    """
    out: Array = inflow.astype(result_type(weight, inflow))
    for t in range(1, out.shape[0]):
        for k in range(min(weight.shape[-1], out.shape[2])):
            upto = out.shape[2] - k
            out[t, :, k:] += weight[t, :, k:, k] * out[t - 1, :, :upto]
    return out


def band_scan_adjoint(weight: Array, outflow: Array) -> Array:
    """``v[t, b, s] = outflow[t, b, s] + sum_k weight[t + 1, b, s + k, k] v[t + 1, b, s + k]``

    The transpose of `band_scan` as a function of its inflow.
    """
    out: Array = outflow.astype(result_type(weight, outflow))
    for t in range(out.shape[0] - 1, 0, -1):
        for k in range(min(weight.shape[-1], out.shape[2])):
            upto = out.shape[2] - k
            out[t - 1, :, :upto] += weight[t, :, k:, k] * out[t, :, k:]
    return out
