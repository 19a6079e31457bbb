"""Losses of labels, which are required to be classes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


@row("checked_label")
def _checked_label(
    run: Run, label: Any, like: Any, *, axis: int, ignore: int | None, op: str
) -> Any:
    counted = label if ignore is None else jnp.where(label == ignore, 0, label)
    run.within(counted, 0, max(like.shape[axis], 1))
    return counted.astype(label.dtype)


def _at(x: Any, classes: Any, axis: int) -> Any:
    """The elements at the classes, without the axis of these."""
    at = jnp.expand_dims(classes, axis)
    return jnp.squeeze(jnp.take_along_axis(x, at, axis=axis, mode="clip"), axis)


def _counts(label: Any, ignore: int | None) -> Any:
    """Which labels count, and how many, 1 at least."""
    if ignore is None:
        return True, max(label.size, 1)
    counts = label != ignore
    return counts, jnp.maximum(counts.sum(), 1)


@row("label_entropy")
def _label_entropy(
    run: Run, x: Any, label: Any, *, axis: int, ignore: int | None, op: str, mean: bool = False
) -> tuple[Any, Any, Any]:
    classes = _checked_label(run, label, x, axis=axis, ignore=ignore, op=op)
    counts, number = _counts(label, ignore)
    number = jnp.asarray(number, x.dtype)
    if not x.size:
        loss = jnp.zeros(label.shape, x.dtype)
        return loss.sum() / number if mean else loss, x, number
    shifted = x - x.max(axis, keepdims=True)
    e = jnp.exp(shifted)
    total = e.sum(axis, keepdims=True)
    loss = jnp.where(counts, jnp.log(jnp.squeeze(total, axis)) - _at(shifted, classes, axis), 0.0)
    return loss.sum() / number if mean else loss, e / total, number


@row("label_entropy_adjoint")
def _label_entropy_adjoint(
    run: Run, y: Any, probs: Any, label: Any, *, axis: int, ignore: int | None
) -> Any:
    counts, _ = _counts(label, ignore)
    y, label = jnp.where(counts, y, 0.0), jnp.where(counts, label, 0)
    size = probs.shape[axis]
    run.within(label, -size, size)
    label = jnp.expand_dims(jnp.where(label < 0, label + size, label), axis)
    shape = [1] * probs.ndim
    shape[axis] = size
    here = jnp.arange(size).reshape(shape) == label
    return jnp.expand_dims(y, axis) * (probs - here.astype(probs.dtype))


@row("label_loss")
def _label_loss(
    run: Run, x: Any, label: Any, *, axis: int, ignore: int | None, op: str, mean: bool = False
) -> tuple[Any, Any, Any]:
    classes = _checked_label(run, label, x, axis=axis, ignore=ignore, op=op)
    counts, number = _counts(label, ignore)
    slope = jnp.where(counts, -jnp.ones(label.shape, x.dtype), 0.0)
    picked = _at(x, classes, axis) if x.size else jnp.zeros(label.shape, x.dtype)
    loss = jnp.where(counts, -picked, 0.0)
    if mean:
        number = jnp.asarray(number, x.dtype)
        loss, slope = loss.sum() / number, slope / number
    return loss, slope, classes
