"""What losses need and cannot compose: labels that are checked, logarithms that are bounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.spec import Array, Like, Spec, format_shape, may_equal
from autograd_engine.errors import IndexRangeError, ShapeError
from autograd_engine.ops.infer import broadcast, same
from autograd_engine.ops.kernels import columns, rows
from autograd_engine.ops.kernels.axes import line_key, with_axes
from autograd_engine.ops.kernels.elementwise import log_of_1_and, rounded_alike
from autograd_engine.ops.registry.forms import ELEMENTWISE
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.work import each_read, nothing

_log = rounded_alike(np.log)


def _bounded_log(x: Array, *, lowest: float, floor: float) -> Array:
    """max(log(x), lowest)."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(_log(x), lowest))


# The derivative 1 / x is bounded too: by 1 / floor.
defop("bounded_log", _bounded_log, **ELEMENTWISE, real=True).vjp(
    x=lambda xp, g, x, *, floor: g / xp.maximum(x, floor)
)


def _logistic_loss(x: Array, positive: Array, negative: Array) -> Array:
    """-positive log(sigmoid(x)) - negative log(sigmoid(-x)): no digits cancel at either end.

    log(1 + exp(x)) is max(x, 0) + t, and log(1 + exp(-x)) max(-x, 0) + t, with one t for both.
    """
    tail = log_of_1_and(np.exp(-np.abs(x)))
    above = positive * (np.maximum(-x, 0.0) + tail)
    return np.asarray(above + negative * (np.maximum(x, 0.0) + tail))


defop(
    "logistic_loss",
    _logistic_loss,
    inputs="x positive negative",
    infer=broadcast("logistic_loss"),
    broadcasts=0,
    dtypes="floating",
    tangent="elementwise",
    real=True,
).vjp(
    x=lambda xp, g, x, positive, negative: (
        g * (negative * xp.sigmoid(x) - positive * xp.sigmoid(-x))
    ),
    positive=lambda xp, g, x: g * xp.softplus(-x),
    negative=lambda xp, g, x: g * xp.softplus(x),
)


def _checked_label(label: Array, like: Like, *, axis: int, ignore: int | None, op: str) -> Array:
    """`label`, 0 where it is to be ignored, once all others are seen to be classes of `like`."""
    classes = like.shape[axis]
    counted = label
    if ignore is not None and (left_out := label == ignore).any():
        counted = np.where(left_out, 0, label)
    if counted.size and (counted.min() < 0 or counted.max() >= max(classes, 1)):
        bad = counted[(counted < 0) | (counted >= classes)].ravel()[0]
        unless = "" if ignore is None else f", or {ignore} to be ignored"
        raise IndexRangeError(
            f"{op}: label {bad} is out of range; axis {axis} has {classes} classes, so labels must "
            f"be in 0 to {classes - 1}{unless}"
        )
    return np.asarray(counted, dtype=label.dtype)


defop(
    "checked_label",
    _checked_label,
    inputs="label like",
    infer=lambda label, like, **_: label,
    result="view",
    stacks="each",
    checks_values=True,
    work=nothing,
).nondiff()


def _fitting(label: Like, x: Like, axis: int, op: str) -> Spec:
    """What there is for each label: an error where labels are not those of the lines of `x`."""
    lines = (*x.shape[:axis], *x.shape[axis + 1 :])
    if label.shape != lines and not may_equal(label.shape, lines):
        raise ShapeError(
            f"{op}: input {format_shape(x.shape)} needs labels {format_shape(lines)}, one for each "
            f"line along axis {axis}; got {format_shape(label.shape)}"
        )
    return Spec(label.shape, x.dtype)


def _terms(x: Array, axis: int) -> tuple[Array, Array, Array] | None:
    """softmax(x), the largest elements and the sums of exp(x - largest), in C."""
    shape = rows.lines(x, (axis,))
    if shape is not None:
        return rows.softmax_terms(x, shape)
    return columns.softmax_terms(x, axis)


def _label_entropy(
    x: Array, label: Array, *, axis: int, ignore: int | None, op: str
) -> tuple[Array, Array]:
    """-log softmax(x) at the labels, and softmax(x).

    Labels have the shape of `x` without `axis`. Where one is `ignore` the first is 0. All of it is
    computed in float32 for float16.
    """
    shape = _fitting(label, x, axis, op).shape
    label = with_axes(label, (axis,))
    classes = _checked_label(label, x, axis=axis, ignore=ignore, op=op)
    work = x.astype(np.float32) if x.dtype.char == "e" else x
    terms = _terms(work, axis)
    if terms is not None:
        probs, largest, total = terms
        picked = work[line_key(classes, axis)] - largest.reshape(label.shape)
        loss = np.log(total).reshape(label.shape) - picked
    elif work.size:
        probs = work - np.maximum.reduce(work, axis=axis, keepdims=True)
        picked = probs[line_key(classes, axis)]
        np.exp(probs, out=probs)
        total = np.add.reduce(probs, axis=axis, keepdims=True)
        probs /= total
        loss = np.log(total) - picked
    else:
        loss, probs = np.zeros(label.shape, work.dtype), work.copy()
    if classes is not label:  # some are left out
        loss[label == ignore] = 0.0
    return loss.reshape(shape).astype(x.dtype, copy=False), probs.astype(x.dtype, copy=False)


def _infer_label_entropy(
    x: Spec, label: Spec, *, axis: int, ignore: int | None, op: str
) -> tuple[Spec, Spec]:
    return _fitting(label, x, axis, op), x


def _label_entropy_x(
    xp: Any,
    g_loss: Any,
    g_probs: Any,
    probs: Any,
    label: Any,
    *,
    axis: int,
    ignore: int | None,
) -> Any:
    """g_loss (p - q) + p (g_probs - <p, g_probs>), p the softmax, q 1 at the label, 0 elsewhere."""
    dx = None
    if g_loss is not None:
        dx = xp.label_entropy_adjoint(g_loss, probs, label, axis=axis, ignore=ignore)
    if g_probs is not None:
        term = xp.softmax_adjoint(g_probs, probs, axis=axis)
        dx = term if dx is None else dx + term
    return dx


defop(
    "label_entropy",
    _label_entropy,
    inputs="x label",
    outputs="loss probs",
    infer=_infer_label_entropy,
    dtypes="floating",
    untyped="label",
    real=True,
    lazy_cotangents=True,
    checks_values=True,
    work=each_read(5),
).vjp(x=_label_entropy_x, label=NONDIFF)


def _label_entropy_adjoint(
    y: Array, probs: Array, label: Array, *, axis: int, ignore: int | None
) -> Array:
    """y (probs - q), q 1 at the label and 0 elsewhere; 0 where the label is `ignore`."""
    if ignore is not None and (left_out := label == ignore).any():
        label, y = np.where(left_out, 0, label), np.where(left_out, y.dtype.type(0), y)
    y = with_axes(y, (axis,))
    dx = np.asarray(y * probs)
    if dx.size:
        dx[line_key(with_axes(label, (axis,)), axis)] -= y
    return dx


def _counted(xp: Any, values: Any, label: Any, ignore: int | None) -> Any:
    return values if ignore is None else xp.where(xp.not_equal(label, ignore), values, 0.0)


def _label_entropy_adjoint_y(
    xp: Any, g: Any, probs: Any, label: Any, *, axis: int, ignore: int | None
) -> Any:
    """<g, probs> - <g, q>."""
    classes = label if ignore is None else xp.where(xp.not_equal(label, ignore), label, 0)
    there = xp.take_along_axis(g, xp.unsqueeze(classes, axis=(axis,)), axis=axis)
    difference = xp.sum(g * probs, axis=(axis,), keepdims=False) - xp.squeeze(there, axis=(axis,))
    return _counted(xp, difference, label, ignore)


# Linear in y; and in probs, but for q.
defop(
    "label_entropy_adjoint",
    _label_entropy_adjoint,
    inputs="y probs label",
    outputs="dx",
    infer=lambda y, probs, label, **_: probs,
    dtypes="common",
    untyped="label",
    checks_values=True,
    work=each_read(2),
).vjp(
    y=_label_entropy_adjoint_y,
    probs=lambda xp, g, y, label, *, axis, ignore: (
        g * xp.unsqueeze(_counted(xp, y, label, ignore), axis=(axis,))
    ),
    label=NONDIFF,
)


def _label_count(label: Array, *, ignore: int, dtype: str) -> Array:
    """How many labels are not `ignore`, but 1 at least, to divide by."""
    return np.array(max(int(np.count_nonzero(label != ignore)), 1), dtype)


defop(
    "label_count",
    _label_count,
    inputs="label",
    infer=lambda label, *, ignore, dtype: Spec((), np.dtype(dtype)),
    casts=True,
    stacks="each",
    work=each_read(),
).nondiff()


def _straight_through(x: Array, *, axis: int) -> Array:
    """1 at the maximum along `axis`, 0 elsewhere; of several the first."""
    out = np.zeros(x.shape, x.dtype)
    if x.size:
        np.put_along_axis(out, np.argmax(x, axis=axis, keepdims=True), 1.0, axis=axis)
    return out


# Backwards it counts as the identity: Bengio, Leonard and Courville 2013.
defop(
    "straight_through",
    _straight_through,
    inputs="x",
    infer=same,
    tangent="elementwise",
    elementwise=False,
    work=nothing,
).vjp(x=lambda xp, g: g)
