"""Normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine.dims import product
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.namespace import ops
from autograd_engine.registry import REGISTRY
from autograd_engine.spec import Shape, format_shape, may_equal
from autograd_engine.static.builder import append_operator, restored_on_error
from autograd_engine.static.program import Ref
from autograd_engine.tensor.operand import as_operand, spec_of

__all__ = ["batch_norm", "layer_norm"]

_ARGUMENTS = ("running_mean", "running_var", "weight", "bias")


def layer_norm(
    x: Any,
    normalized_shape: int | Sequence[int],
    weight: Any = None,
    bias: Any = None,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> Any:
    """Standardise over the last axes, then scale and shift.

    Parameters
    ----------
    x : Tensor or Variable
    normalized_shape : int or sequence of int
        The sizes of those axes.
    weight, bias : Tensor or Variable, optional
        Of that shape.
    epsilon : float
        Added to the variance.

    Raises
    ------
    ShapeError
        When `x` does not end in `normalized_shape`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer_norm(paddle.to_tensor([[1.0, 3.0]]), 2, epsilon=0.0).tolist()
    [[-1.0, 1.0]]
    """
    x = as_operand("layer_norm", x)
    sizes = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    shape = spec_of(x).shape
    if not sizes or shape[len(shape) - len(sizes) :] != sizes:
        raise ShapeError(
            f"layer_norm: x {format_shape(shape)} does not end in normalized_shape {list(sizes)}"
        )
    weight, bias = (
        _affine("layer_norm", name, value, sizes)
        for name, value in (("weight", weight), ("bias", bias))
    )
    axes = tuple(range(len(shape) - len(sizes), len(shape)))
    out, _, _ = ops.standardize(x, axis=axes, epsilon=epsilon)
    if weight is not None:
        out = out * weight
    return out if bias is None else out + bias


def _affine(op: str, argument: str, value: Any, shape: Shape) -> Any:
    """A factor or a term of this shape, or flat as layers keep it; None where there is none."""
    if value is None:
        return None
    value = as_operand(op, value, argument)
    if may_equal(spec_of(value).shape, shape):
        return value
    if not may_equal(spec_of(value).shape, (product(shape),)):
        raise ShapeError(
            f"{op}: {argument} must have shape {format_shape(shape)}, got "
            f"{format_shape(spec_of(value).shape)}"
        )
    return ops.reshape(value, shape=shape)


def batch_norm(
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Any:
    """Standardise each channel over the batch, then scale and shift.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, ...]``
    running_mean, running_var : Tensor or Variable
        ``[C]``. While training they become ``momentum * old + (1 - momentum) * new``; otherwise
        they are what `x` is standardised with.
    weight, bias : Tensor or Variable, optional
        ``[C]``
    training : bool
    use_global_stats : bool, optional
        Use the running statistics; by default when not training.

    Raises
    ------
    ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1.0], [3.0]])
    >>> mean, var = paddle.zeros([1]), paddle.ones([1])
    >>> batch_norm(x, mean, var, training=True, epsilon=0.0).tolist()
    [[-1.0], [1.0]]
    >>> round(mean.item(), 4)
    0.2
    """
    x = as_operand("batch_norm", x)
    ndim = spec_of(x).ndim
    if data_format not in ("NCHW", "NCL", "NC", "NCDHW"):
        raise ArgumentError(f"batch_norm: data_format must have C second, got {data_format!r}")
    if ndim < 2:
        raise ShapeError(f"batch_norm: x must be [N, C, ...], got {format_shape(spec_of(x).shape)}")
    channels = spec_of(x).shape[1:2]
    given = (running_mean, running_var, weight, bias)
    with restored_on_error(x, *given):
        running_mean, running_var, weight, bias = (
            _affine("batch_norm", name, value, channels)
            for name, value in zip(_ARGUMENTS, given, strict=True)
        )
        spread = (1, -1, *[1] * (ndim - 2))
        fixed = use_global_stats if use_global_stats is not None else not training
        if fixed:
            mean = ops.reshape(running_mean, shape=spread)
            deviation = ops.sqrt(ops.reshape(running_var, shape=spread) + epsilon)
            out = (x - mean) / deviation
        else:
            axes = (0, *range(2, ndim))
            out, mean, variance = ops.standardize(x, axis=axes, epsilon=epsilon)
        if weight is not None:
            out = out * ops.reshape(weight, shape=spread)
        if bias is not None:
            out = out + ops.reshape(bias, shape=spread)
        if not fixed:  # last: a call that fails has written nothing
            statistics = ((running_mean, mean), (running_var, variance))
            kept = [(r, _following(r, s, momentum)) for r, s in statistics if r is not None]
            for running, new in kept:
                _write(running, new)
        return out


def _following(running: Any, statistic: Any, momentum: float) -> Any:
    """momentum * running + (1 - momentum) * statistic, outside of any gradient."""
    statistic = ops.reshape(statistic, shape=(-1,))
    if isinstance(running, Tensor) and isinstance(statistic, Tensor):
        running, statistic = running.detach(), statistic.detach()
    new = running * momentum + statistic * (1.0 - momentum)
    new.stop_gradient = True
    return new


def _write(running: Any, new: Any) -> None:
    if isinstance(running, Tensor):
        running.set_value(new)
        return
    if new.spec.dtype != running.spec.dtype:  # set_value casts too
        new = ops.cast(new, dtype=running.spec.dtype.name)
    operands = (Ref(new, new.version),)
    append_operator(running.block, REGISTRY["assign"], operands, (running.write(),), {})
