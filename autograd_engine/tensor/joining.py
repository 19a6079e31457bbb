"""Arrays joined into one, and cut into several."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape, normalize_axis
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import note_view
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.program.symbolic_number import size_of
from autograd_engine.tensor.arguments import axis_of, integer, ints, is_open, known, operands
from autograd_engine.tensor.shape import atleast_1d, atleast_2d, atleast_3d

__all__ = [
    "block_diag",
    "chunk",
    "column_stack",
    "concat",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "row_stack",
    "split",
    "split_with_sizes",
    "stack",
    "tensor_split",
    "unbind",
    "unstack",
    "vsplit",
    "vstack",
]


@atomic
def concat(x: Sequence[Any], axis: int = 0, name: str | None = None) -> Tensor:
    """Arrays joined along an existing axis; their other sizes must be equal.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.concat([paddle.zeros([1, 2]), paddle.ones([1, 2])]).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    values = operands("concat", x)
    return ops.concat(*values, axis=axis_of("concat", values[0], axis))


@atomic
def stack(x: Sequence[Any], axis: int = 0, name: str | None = None) -> Tensor:
    """Arrays of one shape joined along a new axis.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.stack([paddle.zeros([2]), paddle.ones([2])], axis=1).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    values = operands("stack", x)
    return ops.stack(*values, axis=normalize_axis("stack", axis, spec_of(values[0]).ndim + 1))


@atomic
def hstack(x: Sequence[Any], name: str | None = None) -> Tensor:
    """Arrays joined along axis 1, vectors along axis 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.hstack([paddle.to_tensor([1, 2]), paddle.to_tensor(3)]).tolist()
    [1, 2, 3]
    """
    values = [atleast_1d(v) for v in operands("hstack", x)]
    return concat(values, axis=0 if spec_of(values[0]).ndim == 1 else 1)


@atomic
def vstack(x: Sequence[Any], name: str | None = None) -> Tensor:
    """Arrays joined along axis 0, a vector as a row.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.vstack([paddle.to_tensor([1, 2]), paddle.to_tensor([[3, 4]])]).tolist()
    [[1, 2], [3, 4]]
    """
    return concat([atleast_2d(v) for v in operands("vstack", x)])


@atomic
def row_stack(x: Sequence[Any], name: str | None = None) -> Tensor:
    """`vstack` under its other name."""
    return concat([atleast_2d(v) for v in operands("row_stack", x)])


@atomic
def dstack(x: Sequence[Any], name: str | None = None) -> Tensor:
    """Arrays joined along axis 2, with the axes that they lack.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.dstack([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])]).tolist()
    [[[1, 3], [2, 4]]]
    """
    return concat([atleast_3d(v) for v in operands("dstack", x)], axis=2)


@atomic
def column_stack(x: Sequence[Any], name: str | None = None) -> Tensor:
    """Arrays joined along axis 1, a vector as a column.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.column_stack([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])]).tolist()
    [[1, 3], [2, 4]]
    """
    new = {0: (0, 1), 1: (1,)}
    columns = [
        ops.unsqueeze(v, axis=new[spec_of(v).ndim]) if spec_of(v).ndim < 2 else v
        for v in operands("column_stack", x)
    ]
    return concat(columns, axis=1)


@atomic
def block_diag(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """Matrices along the diagonal of one, zeros elsewhere; a vector is a row, a number [1, 1].

    Raises
    ------
    ShapeError
        For more than two dimensions, and in a program for an unknown number of columns.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.block_diag([paddle.to_tensor([[1, 2]]), paddle.to_tensor(3)]).tolist()
    [[1, 2, 0], [0, 0, 3]]
    """
    blocks = [atleast_2d(v) for v in operands("block_diag", inputs, "inputs")]
    shapes = [spec_of(v).shape for v in blocks]
    for k, shape in enumerate(shapes):
        if len(shape) > 2:
            raise ArgumentError(
                f"block_diag: inputs[{k}] must have two dimensions at most, got {len(shape)}"
            )
        if isinstance(shape[1], Dim):
            raise ShapeError(
                f"block_diag: inputs[{k}] has shape {format_shape(shape)}; how many columns a "
                "block has must be known, declare it in static.data"
            )
    widths = [int(shape[1]) for shape in shapes]
    rows = [
        ops.pad(v, pads=((0, 0), (sum(widths[:k]), sum(widths[k + 1 :]))))
        for k, v in enumerate(blocks)
    ]
    return concat(rows)


# --- cut


@atomic
def split(
    x: Any, num_or_sections: int | Sequence[int], axis: int = 0, name: str | None = None
) -> list[Tensor]:
    """`x` cut along `axis` into equal parts, or into parts of the sizes given (one may be -1).

    Raises
    ------
    ArgumentError
        When the parts do not add up to the size of the axis.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> [p.tolist() for p in paddle.split(paddle.arange(5), [2, -1])]
    [[0, 1], [2, 3, 4]]
    """
    if isinstance(num_or_sections, bool):
        raise ArgumentTypeError(
            "split: num_or_sections must be an int or a list of ints, got a bool"
        )
    x = as_operand("split", x)
    axis = axis_of("split", x, axis)
    sizes = ints("split", "num_or_sections", num_or_sections)
    if isinstance(num_or_sections, (list, tuple)):
        return _sections(x, sizes, axis)
    return _equal_parts("split", x, integer("split", "num_or_sections", num_or_sections), axis)


@atomic
def split_with_sizes(self: Any, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    """`self` cut along `dim` into parts of the sizes given.

    Raises
    ------
    ArgumentError
        When one is negative, or they do not add up to the size of the axis.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> [p.tolist() for p in paddle.arange(4).split_with_sizes([1, 3])]
    [[0], [1, 2, 3]]
    """
    op = "split_with_sizes"
    x, sizes = as_operand(op, self, "self"), ints(op, "split_sizes", split_sizes)
    axis = axis_of(op, x, dim)
    there = spec_of(x).shape[axis]
    checked = len(known(sizes)) == len(sizes) and not isinstance(there, Dim)
    if min(known(sizes), default=0) < 0 or (checked and sum(sizes) != there):
        raise ArgumentError(
            f"{op}: split_sizes must be of 0 or more and add up to {there}, the size of axis "
            f"{axis}; got {list(sizes)}"
        )
    return _sections(x, sizes, axis)


def _equal_parts(op: str, x: Any, count: int, axis: int) -> list[Any]:
    size = spec_of(x).shape[axis]
    if isinstance(size, Dim) and count > 0:  # checked when it runs
        parts = ops.unflatten_axis(x, axis=axis, sizes=(count, -1))
        return list(ops.unstack(parts, axis=axis))
    if count < 1 or size % count:
        raise ArgumentError(
            f"{op}: axis {axis} has size {size}, which does not divide into {count} equal parts; "
            "give the sizes as a list to paddle.split, or use paddle.tensor_split"
        )
    return list(ops.split(x, sizes=(size // count,) * count, axis=axis))


def _sections(x: Any, sizes: tuple[int, ...], axis: int) -> list[Any]:
    shape = spec_of(x).shape
    size = shape[axis]
    if known(sizes).count(-1) == 1:
        hole = next(k for k, s in enumerate(sizes) if not is_open(s) and s == -1)
        whole = size_of(x, axis) if isinstance(size, Dim) else size
        rest = whole - sum(s for k, s in enumerate(sizes) if k != hole)
        sizes = (*sizes[:hole], rest, *sizes[hole + 1 :])
    checked = len(known(sizes)) == len(sizes) and not isinstance(size, Dim)
    if not sizes or min(known(sizes), default=0) < 0 or (checked and sum(sizes) != size):
        raise ArgumentError(
            f"split: {list(sizes)} must be sizes that add up to {size}, the size of axis {axis}"
        )
    return list(ops.split(x, sizes=sizes, axis=axis))


@atomic
def chunk(x: Any, chunks: int, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """`x` cut along `axis` into equal parts.

    Raises
    ------
    ArgumentError
        When the size of the axis does not divide into them.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> [p.tolist() for p in paddle.chunk(paddle.arange(4), 2)]
    [[0, 1], [2, 3]]
    """
    x = as_operand("chunk", x)
    return _equal_parts("chunk", x, integer("chunk", "chunks", chunks), axis_of("chunk", x, axis))


@atomic
def tensor_split(
    x: Any, num_or_indices: int | Sequence[int], axis: int = 0, name: str | None = None
) -> list[Tensor]:
    """`x` cut along `axis` into parts that need not be equal, or at positions.

    Parameters
    ----------
    x : Tensor or Variable
    num_or_indices : int or sequence of int
        So many parts, of which the first are larger by one where the size does not divide; or
        positions to cut at, in the terms of slices.
    axis : int

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> [p.tolist() for p in paddle.tensor_split(paddle.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    >>> [p.tolist() for p in paddle.tensor_split(paddle.arange(5), [1, 3])]
    [[0], [1, 2], [3, 4]]
    """
    x = as_operand("tensor_split", x)
    return _cut("tensor_split", x, num_or_indices, axis_of("tensor_split", x, axis))


def _cut(op: str, x: Any, num_or_indices: Any, axis: int) -> list[Any]:
    if isinstance(num_or_indices, (list, tuple)):
        return _at_positions(x, ints(op, "num_or_indices", num_or_indices), axis)
    count = integer(op, "num_or_indices", num_or_indices)
    shape = spec_of(x).shape
    size = shape[axis]
    if count < 1:
        raise ArgumentError(f"{op}: num_or_indices must be 1 or more parts, got {count}")
    if isinstance(size, Dim):
        raise ShapeError(
            f"{op}: axis {axis} of {format_shape(shape)} has no known size to make {count} parts "
            "of; declare it in static.data, or give positions"
        )
    small, larger = divmod(size, count)
    sizes = (small + 1,) * larger + (small,) * (count - larger)
    return list(ops.split(x, sizes=sizes, axis=axis))


def _at_positions(x: Any, positions: tuple[int, ...], axis: int) -> list[Any]:
    size = spec_of(x).shape[axis]
    bounds: list[int | None] = [0, *positions, None]
    if not isinstance(size, Dim):
        stops = [slice(0, p).indices(size)[1] for p in bounds]
        sizes = tuple(b - a for a, b in zip([0, *stops[1:-1]], stops[1:], strict=True))
        if min(sizes) >= 0:
            return list(ops.split(x, sizes=sizes, axis=axis))
    lead = (slice(None),) * axis
    parts = [ops.getitem(x, key=(*lead, slice(a, b))) for a, b in itertools.pairwise(bounds)]
    return [ops.assign(p) if isinstance(p, Tensor) else p for p in parts]  # copies, as the others


def _split_along(op: str, x: Any, num_or_indices: Any, least: int, axis: int) -> list[Any]:
    x = as_operand(op, x)
    ndim = spec_of(x).ndim
    if ndim < least:
        raise ShapeError(f"{op}: takes {least} dimensions or more, got {ndim}")
    return _cut(op, x, num_or_indices, 0 if ndim == 1 else axis)


@atomic
def hsplit(x: Any, num_or_indices: int | Sequence[int], name: str | None = None) -> list[Tensor]:
    """`tensor_split` along axis 1; of a vector along axis 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> [p.tolist() for p in paddle.hsplit(paddle.to_tensor([[1, 2, 3]]), 2)]
    [[[1, 2]], [[3]]]
    """
    return _split_along("hsplit", x, num_or_indices, 1, 1)


@atomic
def vsplit(x: Any, num_or_indices: int | Sequence[int], name: str | None = None) -> list[Tensor]:
    """`tensor_split` along axis 0, of two dimensions or more.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> [p.tolist() for p in paddle.vsplit(paddle.to_tensor([[1], [2], [3]]), [1])]
    [[[1]], [[2], [3]]]
    """
    return _split_along("vsplit", x, num_or_indices, 2, 0)


@atomic
def dsplit(x: Any, num_or_indices: int | Sequence[int], name: str | None = None) -> list[Tensor]:
    """`tensor_split` along axis 2, of three dimensions or more.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> [p.tolist() for p in paddle.dsplit(paddle.to_tensor([[[1, 2]]]), 2)]
    [[[[1]]], [[[2]]]]
    """
    return _split_along("dsplit", x, num_or_indices, 3, 2)


@atomic
def unbind(input: Any, axis: int = 0) -> list[Tensor]:
    """The slices along `axis`, without it.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> [p.tolist() for p in paddle.unbind(paddle.to_tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    x = as_operand("unbind", input, "input")
    axis = axis_of("unbind", x, axis)
    rows = list(ops.unstack(x, axis=axis)) if spec_of(x).shape[axis] != 0 else []
    for k, row in enumerate(rows):
        note_view(row, x, REGISTRY["getitem"], {"key": (*[slice(None)] * axis, k)})
    return rows


@atomic
def unstack(x: Any, axis: int = 0, num: int | None = None) -> list[Tensor]:
    """The slices along `axis`, without it; `num` says how many where the size is not known.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> [p.tolist() for p in paddle.unstack(paddle.to_tensor([[1, 2], [3, 4]]), axis=1)]
    [[1, 3], [2, 4]]
    """
    x = as_operand("unstack", x)
    axis = axis_of("unstack", x, axis)
    if num is not None:
        count = integer("unstack", "num", num)
        size = spec_of(x).shape[axis]
        if count < 1 or (size != count and not isinstance(size, Dim)):
            raise ArgumentError(
                f"unstack: num must be {size}, the size of axis {axis}, got {count}"
            )
        if isinstance(size, Dim):
            pieces = ops.split(x, sizes=(1,) * count, axis=axis)
            return [ops.squeeze(p, axis=(axis,)) for p in pieces]
    return list(ops.unstack(x, axis=axis)) if spec_of(x).shape[axis] != 0 else []
