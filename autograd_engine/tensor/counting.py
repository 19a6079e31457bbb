"""Histograms and counts of integers. None has a gradient, but for weights of `histogramdd`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.checks import (
    as_int,
    as_number,
    int_at_least,
    positive_int,
    require_bools,
    require_floats,
)
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import instead
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.number_inputs import holds_symbolic
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.conversion import count, plain
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.scatter import scatter_nd

__all__ = ["bincount", "histogram", "histogram_bin_edges", "histogramdd"]


def _bins(op: str, bins: Any, low: Any, high: Any) -> dict[str, Any]:
    """How many bins there are, and from where to where."""
    number = positive_int(op, "bins", bins)
    ends = [as_number(v) for v in (low, high)]
    if not holds_symbolic(ends):
        if ends[0] > ends[1]:
            raise ArgumentError(f"{op}: min must not be above max, got {low} and {high}")
        ends = [float(v) for v in ends]
    return {"bins": as_int(number), "low": ends[0], "high": ends[1]}


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
    x, given = as_operand("histogram", input, "input"), _bins("histogram", bins, min, max)
    weights = _weights("histogram", "weight", weight, "input", x)
    return ops.histogram(x, *weights, **given, density=density)


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
    op = "histogram_bin_edges"
    return ops.histogram_bin_edges(as_operand(op, input, "input"), **_bins(op, bins, min, max))


@atomic
def histogramdd(
    x: Any,
    bins: int | Sequence[Any] = 10,
    ranges: Sequence[float] | None = None,
    density: bool = False,
    weights: Any = None,
    name: str | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """How many points fall into each cell of a grid.

    Parameters
    ----------
    x : Tensor or Variable
        Points, ``[..., n]``: their n coordinates along the last axis, known while a program is
        built.
    bins : int, list of int, or list of Tensor
        Into how many equal parts each coordinate is cut; or the edges between the parts, ascending.
    ranges : sequence of float, optional
        The least and the largest of each coordinate in turn, points beyond which are left out; by
        default those that occur.
    density : bool
        Divide so that the integral is 1.
    weights : Tensor or Variable, optional
        What each point counts, ``[...]``, in the dtype of `x`.

    Returns
    -------
    tuple
        The counts, in the dtype of `x`, with a gradient for `weights`; and a list of the edges.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> points = paddle.to_tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    >>> counts, edges = paddle.histogramdd(points, bins=[2, 2])
    >>> counts.tolist(), edges[0].tolist()
    ([[0.0, 1.0], [1.0, 1.0]], [0.0, 1.0, 2.0])
    """
    op = "histogramdd"
    x = as_operand(op, x)
    require_bools(op, density=density)
    shape, dtype = spec_of(x).shape, spec_of(x).dtype
    if len(shape) < 2 or isinstance(shape[-1], Dim):
        raise ShapeError(
            f"{op}: x must be points [..., n] with a known number of coordinates, got "
            f"{format_shape(shape)}"
        )
    require_floats(op, "x", dtype)
    points = ops.reshape(x, shape=(-1, shape[-1])) if len(shape) > 2 else x
    points = points.detach()
    coordinates = list(ops.unstack(points, axis=1))
    edges = _grid_edges(op, points, coordinates, bins, ranges)
    sizes = [int(spec_of(line).shape[0]) - 1 for line in edges]
    cells, inside = _cells(coordinates, edges, sizes)
    if weights is None:
        each = ops.full_like(cells, value=1.0, dtype=dtype.name)
    else:
        each = as_operand(op, weights, "weights")
        have = spec_of(each)
        if not may_equal(have.shape, shape[:-1]):
            raise ShapeError(
                f"{op}: weights must be {format_shape(shape[:-1])}, one for each point, got "
                f"{format_shape(have.shape)}"
            )
        if have.dtype != dtype:
            raise DTypeError(
                f"{op}: weights must have the dtype {dtype.name} of x, got {have.dtype.name}"
                f"{instead(have.dtype, 'weights', dtype.name)}"
            )
        each = ops.reshape(each, shape=(-1,)) if len(shape) > 2 else each
    each = ops.where(inside, each, ops.zeros_like(each))
    counts = scatter_nd(ops.unsqueeze(cells, axis=(1,)), each, [math.prod(sizes)])
    counts = ops.reshape(counts, shape=tuple(sizes))
    if density:
        counts = counts / ops.sum(counts, axis=tuple(range(len(sizes))), keepdims=False)
        for k, line in enumerate(edges):
            widths = ops.getitem(line, key=(slice(1, None),)) - ops.getitem(
                line, key=(slice(None, -1),)
            )
            counts = counts / ops.reshape(widths, shape=(-1, *(1,) * (len(edges) - k - 1)))
    return counts, edges


def _grid_edges(op: str, points: Any, coordinates: list[Any], bins: Any, ranges: Any) -> list[Any]:
    """The edges along each coordinate."""
    n, dtype = len(coordinates), spec_of(points).dtype
    given = list(bins) if isinstance(bins, (list, tuple)) else [bins] * n
    if len(given) != n:
        raise ArgumentError(f"{op}: bins must be one, or one for each of {n}; got {len(given)}")
    if any(isinstance(b, (Tensor, Variable)) and b.ndim for b in given):
        lines = [ops.cast(as_operand(op, b, "bins"), dtype=dtype.name) for b in given]
        for line in lines:
            shape = spec_of(line).shape
            if len(shape) != 1 or isinstance(shape[0], Dim) or shape[0] < 2:
                raise ShapeError(
                    f"{op}: the edges in bins must be vectors of two or more, got "
                    f"{format_shape(shape)}"
                )
        return lines
    counts = [count(op, "bins", b) for b in given]
    if min(counts) < 1:
        raise ArgumentError(f"{op}: bins must be 1 or more, got {counts}")
    if ranges is not None:
        ends = [plain(op, "ranges", v) for v in ranges]
        if len(ends) != 2 * n or any(a > b for a, b in zip(ends[::2], ends[1::2], strict=True)):
            raise ArgumentError(
                f"{op}: ranges must be the least and the largest of each of {n} coordinates, got "
                f"{ends}"
            )
        total = ops.sum(points, axis=(0, 1), keepdims=False)
        zero = ops.zeros_like(total)  # the edges belong to the mode of the points
        return [
            zero + np.linspace(a, b, k + 1).astype(dtype)
            for a, b, k in zip(ends[::2], ends[1::2], counts, strict=True)
        ]
    if spec_of(points).shape[0] == 0:
        raise ArgumentError(f"{op}: there is no point to take the ranges from; give ranges")
    lines = []
    for values, k in zip(coordinates, counts, strict=True):
        low, high = (f(values, axis=(0,), keepdims=False) for f in (ops.min, ops.max))
        part = np.linspace(0, 1, k + 1).astype(dtype)
        lines.append(low * (1 - part) + high * part)  # exact at both ends
    return lines


def _cells(coordinates: list[Any], edges: list[Any], sizes: list[int]) -> tuple[Any, Any]:
    """Of each point the cell of the grid, counted along the last coordinate first; is it one?"""
    cells: Any = None
    inside: Any = None
    for values, line, size in zip(coordinates, edges, sizes, strict=True):
        place = ops.searchsorted(line, values, right=True) - 1
        within = ops.logical_and(place >= 0, values <= ops.getitem(line, key=(-1,)))
        # The last part holds its upper edge; what is outside counts nothing, anywhere.
        place = ops.maximum(ops.minimum(place, size - 1), 0)
        cells = place if cells is None else cells * size + place
        inside = within if inside is None else ops.logical_and(inside, within)
    return cells, inside


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
    least = int_at_least("bincount", "minlength", minlength, 0)
    given = _weights("bincount", "weights", weights, "x", x)
    return ops.bincount(x, *given, minlength=as_int(least))
