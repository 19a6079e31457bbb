"""Operations on sequences: masks of lengths, beams, alignments, linear recurrences."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dims import Size, fresh_dim
from autograd_engine.core.dtypes import INT64
from autograd_engine.core.spec import (
    Array,
    Like,
    Shape,
    Spec,
    format_shape,
    may_equal,
)
from autograd_engine.errors import ArgumentError, IndexRangeError, ShapeError
from autograd_engine.ops.kernels import alignments
from autograd_engine.ops.registry.opdef import defop


def _sequence_mask(x: Array, *, maxlen: int | None, dtype: str) -> Array:
    """Along a new last axis: 1 for the first x positions of `maxlen`, the longest for None."""
    if maxlen is None:
        longest = x.max() if x.size else 0
        if not np.isfinite(longest):
            raise ValueError(f"sequence_mask: the longest of x is {longest}; give maxlen")
        maxlen = int(longest)
    mask: Array = np.arange(maxlen) < x[..., None]
    return mask.astype(dtype)


def _infer_sequence_mask(x: Spec, *, maxlen: int | None, dtype: str) -> Spec:
    return Spec((*x.shape, fresh_dim() if maxlen is None else maxlen), np.dtype(dtype))


defop(
    "sequence_mask", _sequence_mask, takes="bif", inputs="x", infer=_infer_sequence_mask
).nondiff()


def _gather_tree(ids: Array, parents: Array) -> Array:
    """The full sequence of every beam: from the last step back along its parents."""
    beams = ids.shape[2]
    if parents.size and (parents.min() < 0 or parents.max() >= beams):
        bad = parents[(parents < 0) | (parents >= beams)].ravel()[0]
        raise IndexRangeError(
            f"gather_tree: parent {bad} is no beam; it must be in 0 to {beams - 1}"
        )
    out = np.empty_like(ids)
    beam = np.broadcast_to(np.arange(beams), ids.shape[1:])
    for t in range(ids.shape[0] - 1, -1, -1):
        out[t] = np.take_along_axis(ids[t], beam, axis=1)
        beam = np.take_along_axis(parents[t], beam, axis=1)
    return out


defop(
    "gather_tree",
    _gather_tree,
    takes="i",
    inputs="ids parents",
    infer=lambda ids, parents: ids,
    checks_values=True,
).nondiff()

# --- alignments


def _ctc_states(labels: Array, like: Like, *, blank: int) -> Array:
    """The class of each state of an alignment, as an index into ``like = [T, batch, classes]``."""
    duration, _, classes = like.shape
    if labels.size and (labels.min() < 0 or labels.max() >= classes):
        bad = labels[(labels < 0) | (labels >= classes)].ravel()[0]
        raise IndexRangeError(
            f"ctc_loss: label {bad} is out of range; with {classes} classes labels must be in 0 to "
            f"{classes - 1} (also where they only fill up)"
        )
    path = alignments.states(labels, blank=blank)
    return np.broadcast_to(path, (duration, *path.shape))


def _states_of(labels: Spec) -> Size:
    return labels.shape[1] * 2 + 1


def _infer_ctc_states(labels: Spec, like: Spec, *, blank: int) -> Spec:
    return Spec((like.shape[0], labels.shape[0], _states_of(labels)), INT64)


defop(
    "ctc_states", _ctc_states, inputs="labels like", infer=_infer_ctc_states, checks_values=True
).nondiff()


def _ctc_align(
    scores: Array, labels: Array, times: Array, lengths: Array, *, blank: int
) -> tuple[Array, ...]:
    limits = (
        ("input_lengths", times, scores.shape[0]),
        ("label_lengths", lengths, labels.shape[1]),
    )
    for name, given, limit in limits:
        if given.size and (given.min() < 0 or given.max() > limit):
            bad = given[(given < 0) | (given > limit)].ravel()[0]
            raise ArgumentError(f"ctc_loss: {name} has {bad}; lengths must be in 0 to {limit}")
    return alignments.align(scores, labels, times, lengths, blank=blank)


def _infer_ctc_align(
    scores: Spec, labels: Spec, times: Spec, lengths: Spec, *, blank: int
) -> tuple[Spec, ...]:
    dtype = scores.dtype
    shapes: list[Shape] = [
        scores.shape[1:2],
        (*scores.shape, 3),
        scores.shape,
        scores.shape[1:],
        scores.shape,
    ]
    return tuple(Spec(s, dtype) for s in shapes)


defop(
    "ctc_align",
    _ctc_align,
    takes="bif",
    inputs="scores labels times lengths",
    outputs="likelihood steps start end anchor",
    nondiff_outputs="likelihood steps start end anchor",
    infer=_infer_ctc_align,
    checks_values=True,
    amp="high",
).nondiff()


def _rnnt_moves(labels: Array, like: Like, *, blank: int) -> Array:
    """The score of each move, as an index into the flat ``like = [batch, T, L + 1, classes]``."""
    classes = like.shape[3]
    if labels.size and (labels.min() < 0 or labels.max() >= classes):
        bad = labels[(labels < 0) | (labels >= classes)].ravel()[0]
        raise IndexError(
            f"rnnt_loss: label {bad} is out of range; with {classes} classes labels must be in 0 "
            f"to {classes - 1} (also where they only fill up)"
        )
    return alignments.transducer_moves(labels, like.shape, blank=blank)


defop(
    "rnnt_moves",
    _rnnt_moves,
    inputs="labels like",
    infer=lambda labels, like, *, blank: Spec(
        (like.shape[1] + like.shape[2], like.shape[0], like.shape[2], 3), INT64
    ),
    checks_values=True,
).nondiff()


def _rnnt_align(scores: Array, times: Array, lengths: Array) -> tuple[Array, ...]:
    labels = scores.shape[2] - 1
    frames = scores.shape[0] - labels - 1
    for name, given, least, most in (
        ("input_lengths", times, 1, frames),
        ("label_lengths", lengths, 0, labels),
    ):
        if given.size and (given.min() < least or given.max() > most):
            bad = given[(given < least) | (given > most)].ravel()[0]
            raise ArgumentError(
                f"rnnt_loss: {name} has {bad}; lengths must be in {least} to {most}"
            )
    return alignments.transducer_align(scores, times, lengths)


def _infer_rnnt_align(scores: Spec, times: Spec, lengths: Spec) -> tuple[Spec, ...]:
    nodes = scores.shape[:3]
    shapes: list[Shape] = [nodes[1:2], scores.shape, nodes, nodes[1:], scores.shape]
    return tuple(Spec(s, scores.dtype) for s in shapes)


defop(
    "rnnt_align",
    _rnnt_align,
    takes="bif",
    inputs="scores times lengths",
    outputs="likelihood steps start end anchor",
    nondiff_outputs="likelihood steps start end anchor",
    infer=_infer_rnnt_align,
    checks_values=True,
    amp="high",
).nondiff()

# --- linear recurrences over time, h[t, s] = inflow[t, s] + sum_k weight[t, s, k] h[t - 1, s - k]


def _infer_band_scan(weight: Spec, flow: Spec) -> Spec:
    if flow.ndim != 3 or weight.ndim != 4 or not may_equal(weight.shape[:3], flow.shape):
        raise ShapeError(
            "band_scan: weight must be [time, batch, states, band] and the flow [time, batch, "
            f"states]; got {format_shape(weight.shape)} and {format_shape(flow.shape)}"
        )
    return flow


def _before(xp: Any, x: Any, k: int) -> Any:
    """``x[t - 1, b, s - k]``, 0 where there is none."""
    key = (slice(None, -1), slice(None), slice(None, -k) if k else slice(None))
    to = (slice(1, None), slice(None), slice(k, None))
    return xp.unslice_like(xp.getitem(x, key=key), x, key=to)


def _outer(xp: Any, later: Any, earlier: Any) -> Any:
    """``later[t, b, s] * earlier[t - 1, b, s - k]``: the cotangent of the weight."""
    return xp.stack(*[later * _before(xp, earlier, k) for k in range(3)], axis=3)


defop(
    "band_scan",
    alignments.band_scan,
    takes="bif",
    inputs="weight inflow",
    infer=_infer_band_scan,
    dtypes="common",
).vjp(
    weight=lambda xp, g, weight, out: _outer(xp, xp.band_scan_adjoint(weight, g), out),
    inflow=lambda xp, g, weight: xp.band_scan_adjoint(weight, g),
)
defop(
    "band_scan_adjoint",
    alignments.band_scan_adjoint,
    inputs="weight outflow",
    takes="bif",
    infer=_infer_band_scan,
    dtypes="common",
).vjp(
    weight=lambda xp, g, weight, out: _outer(xp, out, xp.band_scan(weight, g)),
    outflow=lambda xp, g, weight: xp.band_scan(weight, g),
)
