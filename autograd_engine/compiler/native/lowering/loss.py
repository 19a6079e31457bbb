"""Labels that are checked, and a maximum that cotangents pass by."""

from __future__ import annotations

from autograd_engine.compiler.native.c_code.c_text import (
    indices_in_range,
)
from autograd_engine.compiler.native.lowering.indexing import row_numbers, taken_along
from autograd_engine.compiler.native.lowering.reduction import first_extremum
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.dtypes import INTEGERS, UINT64
from autograd_engine.core.spec import Like

__all__: list[str] = []


@lowers("logistic_loss")
def _logistic_loss(np: Loops, x: Traced, positive: Traced, negative: Traced) -> Traced:
    return positive * np.map("softplus", -x) + negative * np.map("softplus", x)


@lowers("logistic_entropy")
def _logistic_entropy(np: Loops, x: Traced, label: Traced) -> tuple[Traced, Traced]:
    below, above = -abs(x), x > 0.0
    apart = np.cast(above, x.dtype) - label
    s = np.map("sigmoid", below)
    return x * apart + np.map("softplus", below), apart + np.where(above, -s, s)


@lowers("checked_label")
def _checked_label(
    np: Loops, label: Traced, like: Like, *, axis: int, ignore: int | None, op: str
) -> Traced:
    if label.dtype not in INTEGERS or label.dtype == UINT64:
        raise NotLowered(f"labels of {label.dtype.name} are checked by NumPy")
    counted = label if ignore is None else np.where(label == ignore, 0, label)
    wide = np.cast(counted, np.dtype("int64"))
    if not wide.size:
        return np.cast(counted, label.dtype)
    seen = np.check(indices_in_range(wide.size, 0, max(like.shape[axis], 1)), wide)
    np.in_range(seen, 0, max(like.shape[axis], 1))
    return np.cast(seen, label.dtype)


@lowers("label_entropy")
def _label_entropy(
    np: Loops,
    x: Traced,
    label: Traced,
    *,
    axis: int,
    ignore: int | None,
    op: str,
    mean: bool = False,
) -> tuple[Traced, Traced, Traced]:
    if not x.size:
        raise NotLowered("it has no elements")
    label = np.expand_dims(label, axis)
    classes = _checked_label(np, label, x, axis=axis, ignore=ignore, op=op)
    rows = row_numbers(np, classes, x.shape[axis], wraps=False)
    shifted = x - np.reduce("max", x, axis, True)
    e = np.map("exp", shifted)
    total = np.reduce("sum", e, axis, True)
    loss = np.map("log", total) - taken_along(np, shifted, rows, axis)
    number = np.full((), label.size, x.dtype)
    if ignore is not None:
        loss = np.where(label != ignore, loss, 0.0)
        counts = np.cast(label != ignore, np.dtype("int64"))
        counted = np.reduce("sum", counts, tuple(range(label.ndim)))
        number = np.cast(np.map("maximum", counted, 1), x.dtype)
    if mean:
        loss = np.reduce("sum", loss, tuple(range(loss.ndim))) / number
    else:
        loss = np.squeeze(loss, axis)
    return loss, e / total, number


@lowers("label_entropy_adjoint")
def _label_entropy_adjoint(
    np: Loops, y: Traced, probs: Traced, label: Traced, *, axis: int, ignore: int | None
) -> Traced:
    y, label = np.expand_dims(y, axis), np.expand_dims(label, axis)
    if ignore is not None:
        counts = label != ignore
        label, y = np.where(counts, label, 0), np.where(counts, y, 0.0)
    rows = row_numbers(np, np.cast(label, np.dtype("int64")), probs.shape[axis], wraps=True)
    here = np.map("equal", np.position(probs.shape, axis), rows)
    return y * (probs - np.cast(here, probs.dtype))


@lowers("label_loss")
def _label_loss(
    np: Loops,
    x: Traced,
    label: Traced,
    *,
    axis: int,
    ignore: int | None,
    op: str,
    mean: bool = False,
) -> tuple[Traced, Traced, Traced]:
    if not x.size or not label.size:
        raise NotLowered("it has no elements")
    label = np.expand_dims(label, axis)
    classes = _checked_label(np, label, x, axis=axis, ignore=ignore, op=op)
    rows = row_numbers(np, classes, x.shape[axis], wraps=False)
    loss = -taken_along(np, x, rows, axis)
    slope = np.full(label.shape, -1.0, x.dtype)
    if ignore is not None:
        loss = np.where(label != ignore, loss, 0.0)
        slope = np.where(label != ignore, slope, 0.0)
    loss, slope = np.squeeze(loss, axis), np.squeeze(slope, axis)
    if mean:
        number = 0.0 - np.reduce("sum", slope, tuple(range(slope.ndim)))
        number = np.map("maximum", number, 1.0)
        loss = np.reduce("sum", loss, tuple(range(loss.ndim))) / number
        slope = slope / number
    return loss, slope, np.squeeze(classes, axis)


@lowers("straight_through")
def _straight_through(np: Loops, x: Traced, *, axis: int) -> Traced:
    where = first_extremum(np, x, axis % x.ndim, "argmax")
    here = np.map("equal", np.position(x.shape, axis), where)
    return np.cast(here, x.dtype)
