"""Arrays made of the combinations of other arrays' elements."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import integer, operands

__all__ = ["cartesian_prod", "combinations", "meshgrid", "vander"]


def _vectors(op: str, values: Sequence[Any], argument: str) -> list[Any]:
    """Each of `values` with one axis; a 0-d array is a vector of one element."""
    vectors = []
    for k, v in enumerate(values):
        ndim = spec_of(v).ndim
        if ndim > 1:
            raise ShapeError(f"{op}: {argument}[{k}] must have one dimension at most, got {ndim}")
        vectors.append(v if ndim else ops.unsqueeze(v, axis=(0,)))
    return vectors


def _grid(vectors: Sequence[Any]) -> list[Any]:
    """Each vector along an axis of its own, constant along those of the others."""
    count = len(vectors)
    lines = [
        ops.unsqueeze(v, axis=tuple(a for a in range(count) if a != k)) if count > 1 else v
        for k, v in enumerate(vectors)
    ]
    return [ops.broadcast_like(line, *lines) for line in lines]


@atomic
def meshgrid(*args: Any, indexing: str = "ij", name: str | None = None) -> list[Tensor]:
    """The coordinates of a grid: one array for each vector, of the shape of their lengths.

    Parameters
    ----------
    *args : Tensor or Variable, or one list of them
        Vectors, or 0-d arrays.
    indexing : {"ij", "xy"}
        "xy" exchanges the first two axes.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.meshgrid(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4]))
    >>> x.tolist(), y.tolist()
    ([[1, 1], [2, 2]], [[3, 4], [3, 4]])
    """
    if indexing not in ("ij", "xy"):
        raise ArgumentError(f"meshgrid: indexing must be 'ij' or 'xy', got {indexing!r}")
    given = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    vectors = _vectors("meshgrid", operands("meshgrid", given, "args"), "args")
    if indexing == "xy" and len(vectors) > 1:
        second, first, *rest = _grid([vectors[1], vectors[0], *vectors[2:]])
        return [first, second, *rest]
    return _grid(vectors)


@atomic
def cartesian_prod(x: Sequence[Any], name: str | None = None) -> Tensor:
    """Each way to take one element of every vector, as the rows of a matrix.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.cartesian_prod([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])]).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    vectors = _vectors("cartesian_prod", operands("cartesian_prod", x), "x")
    if len(vectors) == 1:
        return vectors[0]
    columns = [ops.reshape(v, shape=(-1,)) for v in _grid(vectors)]
    return ops.stack(*columns, axis=1)


@atomic
def combinations(
    x: Any, r: int = 2, with_replacement: bool = False, name: str | None = None
) -> Tensor:
    """Each choice of `r` elements of a vector, in their order, as the rows of a matrix.

    Raises
    ------
    ShapeError
        Unless `x` has one dimension, of known size.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.combinations(paddle.to_tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    x = as_operand("combinations", x)
    size = _length("combinations", x)
    if isinstance(size, Dim):
        raise ShapeError(
            "combinations: how many rows there are depends on the size of x, which is unknown; "
            "declare it in static.data"
        )
    count = integer("combinations", "r", r)
    if count < 0:
        raise ArgumentError(f"combinations: r must not be negative, got {count}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(size), count)) if count else []
    index = np.asarray(rows, np.int64).reshape((len(rows), count) if count else 0)
    return ops.gather(x, index, axis=0)


def _length(op: str, x: Any) -> Any:
    shape = spec_of(x).shape
    if len(shape) != 1:
        raise ShapeError(f"{op}: x must have one dimension, got {len(shape)}; use flatten")
    return shape[0]


@atomic
def vander(
    x: Any, n: int | None = None, increasing: bool = False, name: str | None = None
) -> Tensor:
    """The powers of a vector's elements: row i is x[i]**(n-1), ..., x[i], 1.

    Parameters
    ----------
    x : Tensor or Variable
        Of one dimension.
    n : int or None
        How many columns; as many as rows for None.
    increasing : bool
        From 1 to x[i]**(n-1) instead.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.vander(paddle.to_tensor([2.0, 3.0]), 3).tolist()
    [[4.0, 2.0, 1.0], [9.0, 3.0, 1.0]]
    """
    x = as_operand("vander", x)
    size = _length("vander", x)
    if n is None and isinstance(size, Dim):
        raise ShapeError(
            "vander: the size of x is unknown, so n must say how many columns there are"
        )
    columns = size if n is None else integer("vander", "n", n)
    if columns < 0:
        raise ArgumentError(f"vander: n must not be negative, got {columns}")
    powers = np.arange(columns, dtype=spec_of(x).dtype)
    return ops.pow(ops.unsqueeze(x, axis=(1,)), powers if increasing else powers[::-1])
