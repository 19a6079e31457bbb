"""Limits on gradients that were accumulated, between ``backward()`` and ``step()``."""

from __future__ import annotations

import functools
import math
from typing import Any

from autograd_engine.core.checks import plain_number, require_bools
from autograd_engine.eager.grad_mode import no_grad
from autograd_engine.errors import AnomalyError, ArgumentError
from autograd_engine.nn.utils.vectors import tensors
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.tensor.creation import zeros

__all__ = ["clip_grad_norm_", "clip_grad_value_"]


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Any:
    """Shorten all gradients by one factor, where together they are longer than `max_norm`.

    The gradients are changed in place. ``grad_clip=paddle.nn.ClipGradByGlobalNorm(...)`` of an
    optimizer does the same at each step, in programs too.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Those without a gradient are left out.
    max_norm : float
    norm_type : float
        Of all gradients as one vector the sum of ``|g| ** norm_type``, to the power of
        ``1 / norm_type``; ``inf`` for the largest, 0 for how many are not 0.
    error_if_nonfinite : bool
        Raise when the norm is infinite or NaN, in the place of making all gradients so.

    Returns
    -------
    Tensor
        The norm before, of no dimension.

    Raises
    ------
    AnomalyError
        See `error_if_nonfinite`. It is a RuntimeError; no gradient has been changed.
    ArgumentError, NotATensorError, ModeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
    >>> (w * w).sum().backward()
    >>> float(paddle.nn.utils.clip_grad_norm_([w], max_norm=1.0))
    10.0
    >>> [round(g, 5) for g in w.grad.tolist()]
    [0.6, 0.8]
    """
    function = "clip_grad_norm_"
    listed = tensors(function, parameters)
    limit = plain_number(function, "max_norm", max_norm)
    order = plain_number(function, "norm_type", norm_type, infinite=True)
    require_bools(function, error_if_nonfinite=error_if_nonfinite)
    if limit < 0:
        raise ArgumentError(
            f"{function}: max_norm must not be negative, got {max_norm}: gradients would be turned "
            "round"
        )
    if order < 0:
        raise ArgumentError(f"{function}: norm_type must be 0 or more, or inf; got {norm_type}")
    with no_grad():
        grads = [g for g in (p.grad for p in listed) if g is not None]
        if not grads:
            return zeros([])
        wide = "float64" if any(g.dtype.name == "float64" for g in grads) else "float32"
        total = _norm(
            [g if g.dtype.name == wide else ops.cast(g, dtype=wide) for g in grads], order
        )
        if error_if_nonfinite and not math.isfinite(float(total)):
            raise AnomalyError(_explained(listed, float(total)))
        factor = ops.minimum(ops.divide(limit, ops.add(total, 1e-6)), 1.0)
        for g in grads:
            name = g.dtype.name
            g.set_value(ops.multiply(g, factor if name == wide else ops.cast(factor, dtype=name)))
    return total


def _norm(grads: list[Any], order: float) -> Any:
    """The norm of all as one vector."""
    if math.isinf(order):
        largest = [ops.max(_flat(ops.abs(g)), axis=(0,), keepdims=False) for g in grads]
        return functools.reduce(ops.maximum, largest)
    if order == 0:
        parts = [ops.cast_like(ops.not_equal(g, 0.0), g) for g in grads]
    elif order == 1:
        parts = [ops.abs(g) for g in grads]
    elif order == 2:
        parts = [ops.square(g) for g in grads]
    else:
        parts = [ops.pow(ops.abs(g), order) for g in grads]
    total = functools.reduce(ops.add, [ops.sum(_flat(p), axis=(0,), keepdims=False) for p in parts])
    if order in (0, 1):
        return total
    return ops.sqrt(total) if order == 2 else ops.pow(total, 1.0 / order)


def _flat(x: Any) -> Any:
    return ops.reshape(x, shape=(-1,))


def _explained(parameters: list[Any], total: float) -> str:
    bad = [
        f"{p.name} {list(p.shape)}"
        for p in parameters
        if p.grad is not None and not math.isfinite(float(p.grad.abs().sum()))
    ]
    where = f"the gradients of {', '.join(bad[:4])} are not finite" if bad else "it is too large"
    more = f", and {len(bad) - 4} more" if len(bad) > 4 else ""
    return (
        f"clip_grad_norm_: the norm of the gradients is {total}: {where}{more}. Run the step "
        "inside paddle.autograd.detect_anomaly() to see which operation made them, or pass "
        "error_if_nonfinite=False"
    )


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Bring each element of the gradients between ``-clip_value`` and `clip_value`, in place.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Those without a gradient are left out.
    clip_value : float

    Raises
    ------
    ArgumentError, NotATensorError, ModeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.to_tensor([3.0, 0.1], stop_gradient=False)
    >>> (w * w).sum().backward()
    >>> paddle.nn.utils.clip_grad_value_([w], 1.0)
    >>> [round(g, 5) for g in w.grad.tolist()]
    [1.0, 0.2]
    """
    function = "clip_grad_value_"
    listed = tensors(function, parameters)
    limit = plain_number(function, "clip_value", clip_value)
    if limit < 0:
        raise ArgumentError(f"{function}: clip_value must not be negative, got {clip_value}")
    with no_grad():
        for p in listed:
            if p.grad is not None:
                p.grad.set_value(ops.minimum(ops.maximum(p.grad, -limit), limit))
