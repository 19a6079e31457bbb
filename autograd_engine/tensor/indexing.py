"""Reading by position: gather and its kin. Repeated positions add their gradients."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import (
    along_grids,
    as_index,
    as_mask,
    axis_of,
    check_smaller,
    expanded,
    index_columns,
    integer,
    lined_up,
    meeting,
)

__all__ = [
    "gather",
    "gather_nd",
    "index_sample",
    "index_select",
    "masked_select",
    "shard_index",
    "take",
    "take_along_axis",
]


# --- along an axis


@atomic
def gather(x: Any, index: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Slices of `x` along `axis` (the first if not given) at the positions in `index`.

    Parameters
    ----------
    x : Tensor or Variable
    index : Tensor or Variable of integers
        Negative ones count from the back. Its axes take the place of `axis`.
    axis : int, optional

    Notes
    -----
    Of slices along the first axis of a leaf, the gradient keeps those that were read and no zeros
    between (its ``is_selected_rows()`` is True), until something asks for all its values.

    Raises
    ------
    IndexError
        For a position out of range.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.gather(paddle.to_tensor([1.0, 2.0, 3.0]), paddle.to_tensor([2, 0])).tolist()
    [3.0, 1.0]
    """
    x = as_operand("gather", x)
    index = as_index("gather", index)
    along = axis_of("gather", x, 0 if axis is None else axis)
    return ops.gather(x, index, axis=along, wraps=True, sparse=along == 0)


@atomic
def index_select(x: Any, index: Any, axis: int = 0, name: str | None = None) -> Tensor:
    """Slices of `x` along `axis` at the positions in `index`, which has one axis.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1, 2, 3], [4, 5, 6]])
    >>> paddle.index_select(x, paddle.to_tensor([2, 0]), axis=1).tolist()
    [[3, 1], [6, 4]]
    """
    x = as_operand("index_select", x)
    index = as_index("index_select", index)
    if spec_of(index).ndim != 1:
        raise ShapeError(
            f"index_select: index must have one axis, got {format_shape(spec_of(index).shape)}; "
            "use paddle.gather for others"
        )
    return ops.gather(x, index, axis=axis_of("index_select", x, axis), wraps=True)


@atomic
def gather_nd(x: Any, index: Any, name: str | None = None) -> Tensor:
    """The parts of `x` at positions given as rows: ``x[i, j, ...]`` for each row of `index`.

    Parameters
    ----------
    x : Tensor or Variable
    index : Tensor or Variable of integers, shape [..., k]
        Each row has one position for each of the first k axes of `x`.

    Returns
    -------
    Tensor or Variable of shape ``[..., *x.shape[k:]]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1, 2], [3, 4]])
    >>> paddle.gather_nd(x, paddle.to_tensor([[0, 1], [1, 1]])).tolist()
    [2, 4]
    """
    x = as_operand("gather_nd", x)
    columns = index_columns("gather_nd", x, index)
    if not columns:  # a row without positions takes all of x
        shape = (*spec_of(as_index("gather_nd", index)).shape[:-1], *spec_of(x).shape)
        return expanded(x, shape)
    return ops.index(x, *columns, key=("index",) * len(columns))


@atomic
def take(x: Any, index: Any, mode: str = "raise", name: str | None = None) -> Tensor:
    """Elements of `x` at positions in its flattened form; the result has the shape of `index`.

    Parameters
    ----------
    x : Tensor or Variable
    index : Tensor or Variable of integers
    mode : {"raise", "wrap", "clip"}
        What becomes of positions out of range: an error (negative ones count from the back),
        counted around, or moved to the nearest that exists.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1, 2, 3], [4, 5, 6]])
    >>> paddle.take(x, paddle.to_tensor([0, 4, -1])).tolist()
    [1, 5, 6]
    >>> paddle.take(x, paddle.to_tensor([7, -7]), mode="clip").tolist()
    [6, 1]
    """
    x = as_operand("take", x)
    index = as_index("take", index)
    if mode not in ("raise", "wrap", "clip"):
        raise ArgumentError(f"take: mode must be 'raise', 'wrap' or 'clip', got {mode!r}")
    flat = ops.reshape(x, shape=(-1,)) if spec_of(x).size != 0 else ops.reshape(x, shape=(0,))
    if mode != "raise":
        size = spec_of(x).size
        if isinstance(size, Dim):
            raise ShapeError(f"take: mode {mode!r} needs a known size; declare it, or use 'raise'")
        clipped = mode == "clip"
        index = ops.minimum(ops.maximum(index, 0), size - 1) if clipped else index % size
    return ops.gather(flat, index, axis=0, wraps=True)


@atomic
def take_along_axis(
    arr: Any, indices: Any, axis: int, broadcast: bool = True, *, out: Any = None
) -> Tensor:
    """Elements of `arr` at positions along `axis`: ``out[i, j] = arr[indices[i, j], j]``.

    Parameters
    ----------
    arr : Tensor or Variable
    indices : Tensor or Variable of integers, with as many axes as `arr`
        Negative ones count from the back.
    axis : int
    broadcast : bool
        Broadcast `indices` and `arr` on the other axes; else `indices` may be smaller there, and
        the first elements of `arr` are meant.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1, 2, 3], [4, 5, 6]])
    >>> paddle.take_along_axis(x, paddle.to_tensor([[2], [0]]), axis=1).tolist()
    [[3], [4]]
    """
    arr = as_operand("take_along_axis", arr, "arr")
    indices = as_index("take_along_axis", indices, "indices")
    axis = axis_of("take_along_axis", arr, axis)
    if not broadcast:
        check_smaller("take_along_axis", arr, indices, axis)
        grids = along_grids(indices, axis)
        return ops.index(arr, *grids, key=("index",) * len(grids))
    arr, indices = lined_up("take_along_axis", arr, indices, axis)
    return ops.take_along_axis(arr, indices, axis=axis, wraps=True)


def index_sample(x: Any, index: Any) -> Tensor:
    """For each row of a matrix, its elements at the positions in the same row of `index`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1, 2, 3], [4, 5, 6]])
    >>> paddle.index_sample(x, paddle.to_tensor([[2, 1], [0, 0]])).tolist()
    [[3, 2], [4, 4]]
    """
    x = as_operand("index_sample", x)
    index = as_index("index_sample", index)
    if spec_of(x).ndim != 2 or spec_of(index).ndim != 2:
        raise ShapeError(
            f"index_sample: x and index must be matrices with as many rows, got "
            f"{format_shape(spec_of(x).shape)} and {format_shape(spec_of(index).shape)}"
        )
    return ops.take_along_axis(x, index, axis=1)


def masked_select(x: Any, mask: Any, name: str | None = None) -> Tensor:
    """The elements of `x` where `mask` is True, in one axis; the two broadcast.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1, 2], [3, 4]])
    >>> paddle.masked_select(x, paddle.to_tensor([True, False])).tolist()
    [1, 3]
    """
    x = as_operand("masked_select", x)
    mask = as_mask("masked_select", mask)
    shape, masks = meeting("masked_select", spec_of(x).shape, spec_of(mask).shape)
    return ops.index(expanded(x, shape, mask), expanded(mask, masks, x), key=("mask",))


@atomic
def shard_index(
    input: Any, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1
) -> Tensor:
    """Positions in one of the parts that a range is cut into; those in other parts become a value.

    Parameters
    ----------
    input : Tensor or Variable
        Integers of 0 to ``index_num - 1``.
    index_num : int
    nshards : int
        How many parts of ``ceil(index_num / nshards)`` there are.
    shard_id : int
        Which of them it is.
    ignore_value : int

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.shard_index(paddle.to_tensor([[16], [1]]), 20, nshards=2, shard_id=1).tolist()
    [[6], [-1]]
    """
    op = "shard_index"
    x = as_index(op, input, "input")
    total, parts = integer(op, "index_num", index_num), integer(op, "nshards", nshards)
    part, other = integer(op, "shard_id", shard_id), integer(op, "ignore_value", ignore_value)
    if total < 1 or parts < 1 or not 0 <= part < parts:
        raise ArgumentError(
            f"{op}: index_num and nshards must be 1 or more, and shard_id one of the shards from 0 "
            f"on; got {total}, {parts} and {part}"
        )
    size = -(-total // parts)
    within = ops.equal(ops.floor_divide(x, size), part)
    return ops.where(within, ops.remainder(x, size), ops.full_like(x, value=other))
