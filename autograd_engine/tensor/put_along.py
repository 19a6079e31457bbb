"""Writing at positions along an axis, with one of several ways to put values together."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.spec import (
    Spec,
    broadcast_shapes,
    format_shape,
    may_equal,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.positions import (
    along_grids,
    as_index,
    axis_of,
    check_smaller,
    lined_up,
)
from autograd_engine.tensor.scatter import NUMBERS, like_of, spread

__all__ = ["put_along_axis", "scatter_add", "scatter_reduce"]

_REDUCTIONS = {"mul": "multiply", "sum": "add", "prod": "multiply"}


@atomic
def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Tensor:
    """A copy of `arr` with `values` at positions along `axis`: ``out[indices[i, j], j]``.

    Parameters
    ----------
    arr : Tensor or Variable
    indices : Tensor or Variable of integers, with as many axes as `arr`
        Negative ones count from the back.
    values : Tensor, Variable or number
        Broadcasts to the shape of `indices`, and takes the dtype of `arr`.
    axis : int
    reduce : {"assign", "add", "mul", "multiply", "mean", "amin", "amax"}
        What is done with several values for one place. Of those that are assigned the last stays,
        and has the gradient; those that tie for the extremum share it. A product is made of a table
        of all places by all values.
    include_self : bool
        Whether the element of `arr` takes part.
    broadcast : bool
        Broadcast `indices` to `arr` on the other axes; else they may be smaller there, and the
        first elements of `arr` are meant.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, index = paddle.ones([2, 2]), paddle.to_tensor([[0, 0], [1, 1]])
    >>> paddle.put_along_axis(x, index, 5.0, axis=1, reduce="add").tolist()
    [[11.0, 1.0], [1.0, 11.0]]
    """
    op = "put_along_axis"
    arr = as_operand(op, arr, "arr")
    axis = axis_of(op, arr, axis)
    indices = as_index(op, indices, "indices")
    reduce = _REDUCTIONS.get(reduce, reduce)
    if reduce not in ("assign", "add", "multiply", "mean", "amin", "amax"):
        raise ArgumentError(
            f"{op}: reduce must be 'assign', 'add', 'multiply', 'mean', 'amin' or 'amax', got "
            f"{reduce!r}"
        )
    if broadcast:
        _, indices = lined_up(op, arr, indices, axis)
    check_smaller(op, arr, indices, axis)
    shape = spec_of(indices).shape
    values = like_of(op, arr, values, "values")
    if not isinstance(values, NUMBERS):
        given = spec_of(values).shape
        if not may_equal(broadcast_shapes(op, given, shape), shape):
            raise ShapeError(
                f"{op}: values {format_shape(given)} do not broadcast to indices "
                f"{format_shape(shape)}"
            )
    grids = along_grids(indices, axis)
    if reduce != "assign":
        values = spread(values, indices, arr)
        if not include_self:
            neutral = _NEUTRAL[reduce](spec_of(arr))
            arr = ops.setitem(arr, neutral, *grids, key=("index",) * len(grids))
    return _WRITERS[reduce](arr, values, grids, axis, include_self)


def _assign(x: Any, values: Any, grids: list[Any], axis: int, include_self: bool) -> Any:
    return ops.setitem(x, values, *grids, key=("index",) * len(grids))


def _added(x: Any, values: Any, grids: list[Any]) -> Any:
    return ops.index_add_like(values, x, *grids, key=("index",) * len(grids))


def _add(x: Any, values: Any, grids: list[Any], axis: int, include_self: bool) -> Any:
    return ops.add(x, _added(x, values, grids))


def _mean(x: Any, values: Any, grids: list[Any], axis: int, include_self: bool) -> Any:
    count = _added(x, ops.full_like(values, value=1), grids)
    count = ops.add(count, 1) if include_self else ops.maximum(count, 1)
    return ops.cast_like(ops.divide(ops.add(x, _added(x, values, grids)), count), x)


def _multiply(x: Any, values: Any, grids: list[Any], axis: int, include_self: bool) -> Any:
    """Each place by the product of the values for it: a table with 1 for all other places."""
    last = len(grids)
    places = ops.reshape(ops.positions_like(x, axis=axis), shape=(-1,))
    index = ops.gather(places, grids[axis], axis=0, wraps=True)
    here = ops.equal(ops.unsqueeze(index, axis=(last,)), places)
    table = ops.where(here, ops.unsqueeze(values, axis=(last,)), 1)
    order = [*range(axis), last, *range(axis + 1, last), axis]
    factors = ops.prod(ops.transpose(table, perm=tuple(order)), axis=last, keepdims=False)
    factors = ops.cast_like(factors, x)
    if may_equal(spec_of(factors).shape, spec_of(x).shape):
        return ops.multiply(x, factors)
    part = tuple(
        slice(None) if k == axis else slice(0, d) for k, d in enumerate(spec_of(factors).shape)
    )
    return ops.setitem(x, ops.multiply(ops.getitem(x, key=part), factors), key=part)


def _extremum(name: str) -> Any:
    def write(x: Any, values: Any, grids: list[Any], axis: int, include_self: bool) -> Any:
        return getattr(ops, name)(x, values, *grids, key=("index",) * len(grids))

    return write


def _lowest(spec: Spec) -> float:
    return -np.inf if spec.dtype.kind == "f" else int(np.iinfo(spec.dtype).min)


def _highest(spec: Spec) -> float:
    return np.inf if spec.dtype.kind == "f" else int(np.iinfo(spec.dtype).max)


_NEUTRAL: dict[str, Any] = {
    "add": lambda spec: 0,
    "mean": lambda spec: 0,
    "multiply": lambda spec: 1,
    "amax": _lowest,
    "amin": _highest,
}
_WRITERS: dict[str, Any] = {
    "assign": _assign,
    "add": _add,
    "mean": _mean,
    "multiply": _multiply,
    "amax": _extremum("index_maximum"),
    "amin": _extremum("index_minimum"),
}


@atomic
def scatter_reduce(
    input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`put_along_axis` without broadcasting; `src` may be larger than `index`.

    Parameters
    ----------
    reduce : {"sum", "prod", "mean", "amin", "amax"}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, index = paddle.ones([2]), paddle.to_tensor([0, 0])
    >>> paddle.scatter_reduce(x, 0, index, paddle.to_tensor([2.0, 4.0]), "sum").tolist()
    [7.0, 1.0]
    """
    if reduce not in ("sum", "prod", "mean", "amin", "amax"):
        raise ArgumentError(
            "scatter_reduce: reduce must be 'sum', 'prod', 'mean', 'amin' or 'amax', got "
            f"{reduce!r}"
        )
    index = as_index("scatter_reduce", index)
    src = as_operand("scatter_reduce", src, "src")
    sizes, given = spec_of(index).shape, spec_of(src).shape
    if len(sizes) == len(given) and sizes != given:
        grids = [ops.positions_like(index, axis=k) for k in range(len(sizes))]
        src = ops.index(src, *grids, key=("index",) * len(grids))
    return put_along_axis(input, index, src, dim, reduce, include_self, broadcast=False)


@atomic
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Tensor:
    """A copy of `input` with `src` added along `dim`: ``out[index[i, j], j] += src[i, j]``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, index = paddle.ones([2]), paddle.to_tensor([0, 0])
    >>> paddle.scatter_add(x, 0, index, paddle.to_tensor([2.0, 4.0])).tolist()
    [7.0, 1.0]
    """
    return scatter_reduce(input, dim, index, src, "sum")
