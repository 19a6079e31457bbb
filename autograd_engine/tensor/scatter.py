"""Writing by position into a copy: scatter and its kin, masks.

Where one position is written twice the last value stays, and it alone has a gradient; what adds up
gives each its gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import COMPLEX, FLOATS, iinfo, instead_of_complex
from autograd_engine.core.operand import Operand
from autograd_engine.core.spec import (
    Shape,
    broadcast_shapes,
    format_shape,
    may_equal,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.conversion import held, shape_of
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import (
    along_grids,
    as_index,
    as_mask,
    axis_of,
    check_smaller,
    expanded,
    index_columns,
    lined_up,
    times,
)
from autograd_engine.tensor.getitem import along, split_key
from autograd_engine.tensor.setitem import written

__all__ = [
    "index_add",
    "index_fill",
    "index_put",
    "masked_fill",
    "masked_scatter",
    "put_along_axis",
    "scatter",
    "scatter_add",
    "scatter_nd",
    "scatter_nd_add",
    "scatter_reduce",
]

_INDICES: Final = (Operand, np.ndarray, np.generic, list, tuple, int, slice)


NUMBERS = (bool, int, float, complex)


def _check_shape(op: str, argument: str, given: Any, wanted: Shape) -> None:
    shape = () if isinstance(given, NUMBERS) else spec_of(given).shape
    if not may_equal(shape, wanted):
        raise ShapeError(
            f"{op}: {argument} must have the shape of what it is written to, "
            f"{format_shape(wanted)}; got {format_shape(shape)}: use expand or reshape"
        )


def like_of(op: str, x: Any, value: Any, argument: str = "value") -> Any:
    """`value` as an operand in the dtype of `x`; a number stays one."""
    dtype = spec_of(x).dtype
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, NUMBERS):
        return dtype.type(held(op, argument, value, dtype)).item()
    value = as_operand(op, value, argument)
    return value if spec_of(value).dtype == dtype else ops.cast_like(value, x)


def spread(value: Any, like: Any, x: Any) -> Any:
    """`value` broadcast to the shape of `like`; a number in the dtype of `x`."""
    if isinstance(value, NUMBERS):
        return ops.full_like(like, value=value, dtype=spec_of(x).dtype.name)
    return ops.expand_like(value, like)


# --- rows of one axis


def scatter(
    x: Any, index: Any, updates: Any, overwrite: bool = True, name: str | None = None
) -> Tensor:
    """A copy of `x` whose rows at `index` are those of `updates`.

    Parameters
    ----------
    x : Tensor or Variable
    index : Tensor or Variable of integers, with one axis or none
    updates : Tensor or Variable of shape ``[*index.shape, *x.shape[1:]]``
    overwrite : bool
        The last of several rows for one position stays, and has the gradient; else the sum of
        them all.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, index = paddle.zeros([3]), paddle.to_tensor([2, 2, 0])
    >>> updates = paddle.to_tensor([1.0, 2.0, 3.0])
    >>> paddle.scatter(x, index, updates).tolist()
    [3.0, 0.0, 2.0]
    >>> paddle.scatter(x, index, updates, overwrite=False).tolist()
    [3.0, 0.0, 3.0]
    """
    x = as_operand("scatter", x)
    axis_of("scatter", x, 0)
    index = as_index("scatter", index)
    if spec_of(index).ndim > 1:
        raise ShapeError(
            f"scatter: index must have one axis or none, got {format_shape(spec_of(index).shape)}; "
            "use paddle.scatter_nd_add for positions on several axes"
        )
    updates = like_of("scatter", x, updates, "updates")
    _check_shape("scatter", "updates", updates, (*spec_of(index).shape, *spec_of(x).shape[1:]))
    if overwrite:
        return ops.setitem(x, updates, index, key=along(0))
    cleared = ops.setitem(x, 0, index, key=along(0))
    return ops.scatter_add(cleared, updates, index, axis=0)


@atomic
def index_add(
    x: Any, index: Any, axis: int, value: Any, alpha: float = 1, name: str | None = None
) -> Tensor:
    """A copy of `x` with the slices of `alpha` times `value` added at `index` along `axis`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, value = paddle.zeros([3]), paddle.to_tensor([1.0, 2.0])
    >>> paddle.index_add(x, paddle.to_tensor([2, 2]), 0, value).tolist()
    [0.0, 0.0, 3.0]
    """
    x = as_operand("index_add", x)
    axis = axis_of("index_add", x, axis)
    index = _one_axis("index_add", index)
    value = like_of("index_add", x, value)
    shape = spec_of(x).shape
    _check_shape(
        "index_add", "value", value, (*shape[:axis], *spec_of(index).shape, *shape[axis + 1 :])
    )
    return ops.scatter_add(x, times(value, alpha), index, axis=axis)


def _one_axis(op: str, index: Any) -> Any:
    index = as_index(op, index)
    if spec_of(index).ndim != 1:
        raise ShapeError(
            f"{op}: index must have one axis, got {format_shape(spec_of(index).shape)}; use reshape"
        )
    return index


@atomic
def index_fill(x: Any, index: Any, axis: int, value: Any, name: str | None = None) -> Tensor:
    """A copy of `x` whose slices at `index` along `axis` hold one number, `value`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.index_fill(paddle.zeros([3]), paddle.to_tensor([0, -1]), 0, 7.0).tolist()
    [7.0, 0.0, 7.0]
    """
    x = as_operand("index_fill", x)
    axis = axis_of("index_fill", x, axis)
    index = _one_axis("index_fill", index)
    value = like_of("index_fill", x, value)
    if not isinstance(value, NUMBERS):
        if spec_of(value).size != 1:
            raise ShapeError(
                f"index_fill: value must be one number, got {format_shape(spec_of(value).shape)}; "
                "use paddle.index_put for several"
            )
        value = ops.reshape(value, shape=())
    return ops.setitem(x, value, index, key=along(axis))


# --- positions on several axes


def index_put(
    x: Any, indices: Sequence[Any], value: Any, accumulate: bool = False, name: str | None = None
) -> Tensor:
    """A copy of `x` with `value` at ``x[indices]``, or added there.

    Parameters
    ----------
    x : Tensor or Variable
    indices : sequence of arrays
        Integers, or bools (masks), that broadcast; as in ``x[i, j]``.
    value : Tensor, Variable or number
        Broadcasts to the shape of ``x[indices]``.
    accumulate : bool

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, twice = paddle.zeros([2, 2]), paddle.to_tensor([1, 1])
    >>> paddle.index_put(x, (twice, twice), paddle.to_tensor(5.0), accumulate=True).tolist()
    [[0.0, 0.0], [0.0, 10.0]]
    """
    x = as_operand("index_put", x)
    if not isinstance(indices, (list, tuple)):
        raise ArgumentTypeError(
            f"index_put: indices must be a tuple of arrays, got {type(indices)}"
        )
    for k, index in enumerate(indices):
        if not isinstance(index, _INDICES):
            raise ArgumentTypeError(
                f"index_put: indices[{k}] must be an array of ints or bools, got {index!r:.60}"
            )
    if not accumulate:
        return written(x, tuple(indices), value)
    plain, arrays = split_key(tuple(indices))
    value = spread(like_of("index_put", x, value), ops.index(x, *arrays, key=plain), x)
    return ops.add(x, ops.index_add_like(value, x, *arrays, key=plain))


@atomic
def scatter_nd_add(x: Any, index: Any, updates: Any, name: str | None = None) -> Tensor:
    """A copy of `x` with `updates` added at positions given as rows, as in `gather_nd`.

    Parameters
    ----------
    x : Tensor or Variable
    index : Tensor or Variable of integers, shape [..., k]
    updates : Tensor or Variable of shape ``[..., *x.shape[k:]]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> index = paddle.to_tensor([[1], [1], [0]])
    >>> paddle.scatter_nd_add(paddle.ones([3]), index, paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
    [4.0, 4.0, 1.0]
    """
    x = as_operand("scatter_nd_add", x)
    columns = index_columns("scatter_nd_add", x, index)
    updates = like_of("scatter_nd_add", x, updates, "updates")
    lead = spec_of(as_index("scatter_nd_add", index)).shape[:-1]
    _check_shape("scatter_nd_add", "updates", updates, (*lead, *spec_of(x).shape[len(columns) :]))
    if not columns:  # a row without positions is all of x
        return ops.add(x, ops.sum_like(updates, x))
    added = ops.index_add_like(updates, x, *columns, key=("index",) * len(columns))
    return ops.add(x, added)


@atomic
def scatter_nd(index: Any, updates: Any, shape: Sequence[int], name: str | None = None) -> Tensor:
    """Zeros of `shape` with `updates` added at positions given as rows; see `scatter_nd_add`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> index = paddle.to_tensor([[1], [1], [0]])
    >>> paddle.scatter_nd(index, paddle.to_tensor([1.0, 2.0, 3.0]), [3]).tolist()
    [3.0, 3.0, 0.0]
    """
    updates = as_operand("scatter_nd", updates, "updates")
    sizes = shape_of(shape, "scatter_nd")
    zero = ops.sum(updates, axis=tuple(range(spec_of(updates).ndim)), keepdims=False)
    zeros = ops.expand(ops.zeros_like(zero), shape=sizes)
    return scatter_nd_add(ops.cast_like(zeros, updates), index, updates)


# --- masks


def masked_fill(x: Any, mask: Any, value: Any, name: str | None = None) -> Tensor:
    """`x` with `value` where `mask` is True; the three broadcast.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> paddle.masked_fill(x, paddle.to_tensor([True, False]), 0.0).tolist()
    [0.0, 2.0]
    """
    x = as_operand("masked_fill", x)
    return ops.where(as_mask("masked_fill", mask), like_of("masked_fill", x, value), x)


@atomic
def masked_scatter(x: Any, mask: Any, value: Any, name: str | None = None) -> Tensor:
    """`x` with the elements of `value`, in order, where `mask` (broadcast to `x`) is True.

    Raises
    ------
    ShapeError
        When `value` has fewer elements than the mask has ones (IndexError in a program).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, mask = paddle.zeros([3]), paddle.to_tensor([True, False, True])
    >>> paddle.masked_scatter(x, mask, paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
    [1.0, 0.0, 2.0]
    """
    x = as_operand("masked_scatter", x)
    shape = spec_of(x).shape
    mask = as_mask("masked_scatter", mask)
    value = like_of("masked_scatter", x, as_operand("masked_scatter", value, "value"))
    if not may_equal(broadcast_shapes("masked_scatter", shape, spec_of(mask).shape), shape):
        raise ShapeError(
            f"masked_scatter: a mask of shape {format_shape(spec_of(mask).shape)} does not "
            f"broadcast to x {format_shape(shape)}"
        )
    mask = expanded(mask, shape, x)
    if isinstance(mask, Tensor):
        ones, size = int(np.count_nonzero(mask._data)), spec_of(value).size
        if not isinstance(size, Dim) and ones > size:
            raise ShapeError(
                f"masked_scatter: the mask has {ones} ones, and value only {size} elements; give "
                "one for each"
            )
    rank = ops.cumsum(ops.reshape(ops.cast(mask, dtype="int64"), shape=(-1,)), axis=0) - 1
    taken = ops.index(ops.reshape_like(rank, mask), mask, key=("mask",))
    flat = ops.reshape(value, shape=(-1,))
    return ops.setitem(x, ops.gather(flat, taken, axis=0), mask, key=("mask",))


# --- along an axis, with one of several ways to put values together


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
    dtype = spec_of(arr).dtype
    if reduce in ("amin", "amax") and dtype in COMPLEX:
        raise DTypeError(
            f"{op}: complex numbers have no order for reduce={reduce!r}, got {dtype.name}"
            f"{instead_of_complex(dtype)}"
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
    if reduce == "add" and broadcast and include_self:
        given = spread(values, indices, arr)
        return ops.add(arr, ops.put_along_axis_like(given, indices, arr, axis=axis))
    grids = along_grids(indices, axis)
    if reduce == "assign":
        return ops.setitem(arr, values, *grids, key=("index",) * len(grids))
    return _combined(reduce, arr, spread(values, indices, arr), grids, axis, include_self)


def _combined(
    reduce: str, x: Any, values: Any, grids: list[Any], axis: int, include_self: bool
) -> Any:
    """`x` with all the values for a place put together there."""
    key = ("index",) * len(grids)
    if not include_self:
        x = ops.setitem(x, _NEUTRAL[reduce](spec_of(x).dtype), *grids, key=key)
    if reduce == "multiply":
        return _multiplied(x, values, grids, axis)
    if reduce in ("amin", "amax"):
        extremum = ops.index_minimum if reduce == "amin" else ops.index_maximum
        return extremum(x, values, *grids, key=key)
    total = ops.add(x, ops.index_add_like(values, x, *grids, key=key))
    if reduce == "add":
        return total
    count = ops.index_add_like(ops.full_like(values, value=1), x, *grids, key=key)
    count = ops.add(count, 1) if include_self else ops.maximum(count, 1)
    return ops.cast_like(ops.divide(total, count), x)


def _multiplied(x: Any, values: Any, grids: list[Any], axis: int) -> Any:
    """Each place by the product of the values for it: a table with 1 for all other places."""
    last = len(grids)
    places = ops.reshape(ops.positions_like(x, axis=axis), shape=(-1,))
    index = ops.gather(places, grids[axis], axis=0, wraps=True)
    here = ops.equal(ops.unsqueeze(index, axis=(last,)), places)
    table = ops.where(here, ops.unsqueeze(values, axis=(last,)), 1)
    order = [*range(axis), last, *range(axis + 1, last), axis]
    factors = ops.prod(ops.transpose(table, perm=tuple(order)), axis=last, keepdims=False)
    factors = ops.cast_like(factors, x)
    if spec_of(factors).shape == spec_of(x).shape:
        return ops.multiply(x, factors)
    # A part of `x`, or of sizes that only the run knows: they may be smaller than those of `x`.
    part = [ops.positions_like(factors, axis=k) for k in range(last)]
    key = ("index",) * last
    return ops.setitem(x, ops.multiply(ops.index(x, *part, key=key), factors), *part, key=key)


# What changes no result: it stands for the element that takes no part.
_NEUTRAL: dict[str, Any] = {
    "add": lambda dtype: 0,
    "mean": lambda dtype: 0,
    "multiply": lambda dtype: 1,
    "amin": lambda dtype: np.inf if dtype in FLOATS else int(iinfo(dtype).max),
    "amax": lambda dtype: -np.inf if dtype in FLOATS else int(iinfo(dtype).min),
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
