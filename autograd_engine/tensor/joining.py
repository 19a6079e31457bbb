"""Arrays joined into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape, normalize_axis
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import spec_of
from autograd_engine.tensor.arguments import axis_of, operands
from autograd_engine.tensor.shape import atleast_1d, atleast_2d, atleast_3d

__all__ = [
    "block_diag",
    "column_stack",
    "concat",
    "dstack",
    "hstack",
    "row_stack",
    "stack",
    "vstack",
]


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
