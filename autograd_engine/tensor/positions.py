"""What functions that take positions ask of them: axes, dtypes, and shapes that meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim, Size
from autograd_engine.core.spec import (
    Shape,
    broadcast_shapes,
    format_shape,
)
from autograd_engine.errors import DTypeError, ShapeError
from autograd_engine.ops.infer import index_dtype
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "along_grids",
    "as_index",
    "as_mask",
    "check_smaller",
    "expanded",
    "index_columns",
    "lined_up",
    "meeting",
]


def as_index(op: str, index: Any, argument: str = "index") -> Any:
    """`index` if it holds integers; a list of them as a constant."""
    if isinstance(index, (list, tuple)) and all(isinstance(v, (int, np.integer)) for v in index):
        index = np.asarray(index, np.int64)
    index = as_operand(op, index, argument)
    index_dtype(op, argument, spec_of(index))
    return index


def as_mask(op: str, mask: Any) -> Any:
    """`mask` if it holds bools."""
    mask = as_operand(op, mask, "mask")
    if spec_of(mask).dtype.kind != "b":
        raise DTypeError(
            f"{op}: mask must hold bools, got {spec_of(mask).dtype.name}; use mask.astype('bool')"
        )
    return mask


def meeting(op: str, x: Shape, y: Shape) -> tuple[Shape, Shape]:
    """The shapes to which `x` and `y` are broadcast to meet.

    Unknown sizes that may differ are taken to be equal; the operation finds out when it runs.
    """
    ndim = len(broadcast_shapes(op, x, y))
    x, y = (1,) * (ndim - len(x)) + x, (1,) * (ndim - len(y)) + y

    def to(own: Size, other: Size) -> Size:
        known = isinstance(own, Dim) and not isinstance(other, Dim) and other != 1
        return other if own == 1 or known else own

    return tuple(map(to, x, y)), tuple(map(to, y, x))


def expanded(x: Any, shape: Shape, *others: Any) -> Any:
    """`x` broadcast to `shape`; sizes that are not known are those of one of `others`."""
    have = spec_of(x).shape
    if have == shape:
        return x
    for other in others:
        if spec_of(other).shape == shape:
            return ops.expand_like(x, other)
    padded = (*[1] * (len(shape) - len(have)), *have)
    if any(isinstance(d, Dim) and d != e for d, e in zip(shape, padded, strict=True)):
        raise ShapeError(
            f"an array of shape {format_shape(have)} cannot be broadcast to {format_shape(shape)} "
            "while sizes are not known; use expand_as first"
        )
    return ops.expand(x, shape=tuple(-1 if isinstance(d, Dim) else d for d in shape))


def index_columns(op: str, x: Any, index: Any) -> list[Any]:
    """The columns of an index whose rows are positions in `x`."""
    index = as_index(op, index)
    shape, ndim = spec_of(index).shape, spec_of(x).ndim
    if not shape or isinstance(shape[-1], Dim) or shape[-1] > ndim:
        raise ShapeError(
            f"{op}: index {format_shape(shape)} must have rows of at most {ndim} positions, as "
            f"x {format_shape(spec_of(x).shape)} has {ndim} axes"
        )
    return list(ops.unstack(index, axis=len(shape) - 1)) if shape[-1] else []


def lined_up(op: str, arr: Any, indices: Any, axis: int) -> tuple[Any, Any]:
    """`arr` and `indices` broadcast to equal sizes on all axes but `axis`."""
    there, given = spec_of(arr).shape, spec_of(indices).shape
    _check_axes(op, there, given)
    rest = (*there[:axis], 1, *there[axis + 1 :]), (*given[:axis], 1, *given[axis + 1 :])
    lines, expected = meeting(op, *rest)
    arr = expanded(arr, (*lines[:axis], there[axis], *lines[axis + 1 :]))
    wanted = (*expected[:axis], given[axis], *expected[axis + 1 :])
    if any(isinstance(d, Dim) and d != e for d, e in zip(wanted, given, strict=True)):
        line = ops.getitem(arr, key=(slice(None),) * axis + (slice(0, 1),))
        return arr, ops.add(indices, ops.full_like(line, value=0, dtype="int64"))
    return arr, expanded(indices, wanted)


def check_smaller(op: str, arr: Any, indices: Any, axis: int) -> None:
    """Refuse indices that are larger than `arr` on another axis than `axis`."""
    there, given = spec_of(arr).shape, spec_of(indices).shape
    _check_axes(op, there, given)
    for k, (size, wanted) in enumerate(zip(there, given, strict=True)):
        if k == axis or isinstance(size, Dim) or isinstance(wanted, Dim):
            continue
        if wanted > size:
            raise ShapeError(
                f"{op}: indices {format_shape(given)} must be no larger than "
                f"{format_shape(there)} on all axes but {axis}"
            )


def _check_axes(op: str, there: Shape, given: Shape) -> None:
    if len(there) != len(given):
        raise ShapeError(
            f"{op}: indices {format_shape(given)} must have as many axes as arr "
            f"{format_shape(there)}; use reshape or unsqueeze"
        )


def along_grids(indices: Any, axis: int) -> list[Any]:
    """One index array for each axis: `indices` on `axis`, each position on the others."""
    return [
        indices if k == axis else ops.positions_like(indices, axis=k)
        for k in range(spec_of(indices).ndim)
    ]
