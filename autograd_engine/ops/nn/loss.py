"""What losses need and cannot compose: labels that are checked, logarithms that are bounded."""

from __future__ import annotations

import numpy as np

from autograd_engine.core.spec import Array, Like
from autograd_engine.errors import IndexRangeError
from autograd_engine.ops.infer import same
from autograd_engine.ops.kernels.elementwise import rounded_alike
from autograd_engine.ops.registry.forms import ELEMENTWISE
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.work import nothing

_log = rounded_alike(np.log)


def _bounded_log(x: Array, *, lowest: float, floor: float) -> Array:
    """max(log(x), lowest)."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(_log(x), lowest))


# The derivative 1 / x is bounded too: by 1 / floor.
defop("bounded_log", _bounded_log, **ELEMENTWISE, real=True).vjp(
    x=lambda xp, g, x, *, floor: g / xp.maximum(x, floor)
)


def _checked_label(label: Array, like: Like, *, axis: int, ignore: int | None, op: str) -> Array:
    """`label`, 0 where it is to be ignored, once all others are seen to be classes of `like`."""
    classes = like.shape[axis]
    counted = label if ignore is None else np.where(label == ignore, 0, label)
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
