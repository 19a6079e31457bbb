"""Histograms and counts of integers. None has a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["bincount", "histogram", "histogram_bin_edges"]


def _bins(op: str, x: Any, bins: Any, low: float, high: float) -> Any:
    if not isinstance(bins, (int, np.integer)) or isinstance(bins, bool) or bins < 1:
        raise ArgumentError(f"{op}: bins must be a positive int, got {bins!r}")
    if low > high:
        raise ArgumentError(f"{op}: min must not be above max, got {low} and {high}")
    return as_operand(op, x, "input")


def _weights(op: str, argument: str, weights: Any, weighed: str, x: Any) -> list[Any]:
    """What each element of `x` counts, if that is given."""
    if weights is None:
        return []
    weights = as_operand(op, weights, argument)
    shape, wanted = spec_of(weights).shape, spec_of(x).shape
    if not may_equal(shape, wanted):
        raise ShapeError(
            f"{op}: {argument} of shape {format_shape(shape)} must have the shape of {weighed}, "
            f"{format_shape(wanted)}"
        )
    return [weights]


@atomic
def histogram(
    input: Any,
    bins: int = 100,
    min: float = 0.0,
    max: float = 0.0,
    weight: Any = None,
    density: bool = False,
    name: str | None = None,
) -> Tensor:
    """How many elements fall into each of `bins` equal parts of [min, max]. No gradient.

    Parameters
    ----------
    input : Tensor or Variable
    bins : int
    min, max : float
        Elements outside are left out. Both 0: the smallest and the largest element.
    weight : Tensor or Variable, optional
        What each element counts, of the shape of `input`.
    density : bool
        Divide so that the integral is 1.

    Returns
    -------
    Tensor or Variable
        int64; float32 with `weight` or `density`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.histogram(paddle.to_tensor([1.0, 2.0, 1.0]), bins=2, min=0, max=4).tolist()
    [2, 1]
    """
    x = _bins("histogram", input, bins, min, max)
    weights = _weights("histogram", "weight", weight, "input", x)
    return ops.histogram(
        x, *weights, bins=int(bins), low=float(min), high=float(max), density=density
    )


@atomic
def histogram_bin_edges(
    input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0, name: str | None = None
) -> Tensor:
    """The bounds of the bins of `histogram`, as float32. No gradient.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.histogram_bin_edges(paddle.to_tensor([1.0, 2.0]), bins=2).tolist()
    [1.0, 1.5, 2.0]
    """
    x = _bins("histogram_bin_edges", input, bins, min, max)
    return ops.histogram_bin_edges(x, bins=int(bins), low=float(min), high=float(max))


@atomic
def bincount(x: Any, weights: Any = None, minlength: int = 0, name: str | None = None) -> Tensor:
    """How often each of 0, 1, ... is in `x`, or the sum of its weights. No gradient.

    Parameters
    ----------
    x : Tensor or Variable
        A vector of integers from 0 on.
    weights : Tensor or Variable, optional
        Of the shape of `x`.
    minlength : int
        The result is at least as long.

    Returns
    -------
    Tensor or Variable
        As long as the largest number and one, an unknown size in a program. int64; with weights
        float32 if they are, else float64.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.bincount(paddle.to_tensor([1, 0, 1, 3])).tolist()
    [1, 2, 0, 1]
    """
    x = as_operand("bincount", x)
    if spec_of(x).ndim != 1:
        raise ShapeError(f"bincount: x must be a vector, got {format_shape(spec_of(x).shape)}")
    if not isinstance(minlength, (int, np.integer)) or minlength < 0:
        raise ArgumentError(f"bincount: minlength must be an int from 0 on, got {minlength!r}")
    given = _weights("bincount", "weights", weights, "x", x)
    return ops.bincount(x, *given, minlength=int(minlength))
