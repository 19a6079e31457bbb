"""Elements repeated: broadcast, tiled, interleaved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.spec import broadcast_shapes as joint_shape, format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import axis_of, integer, ints, operands

__all__ = [
    "broadcast_shape",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "expand",
    "expand_as",
    "repeat_interleave",
    "tile",
]


@atomic
def expand(x: Any, shape: Sequence[int], name: str | None = None) -> Tensor:
    """`x` repeated along axes of size 1 (and new ones in front) to `shape`; -1 keeps a size.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.expand(paddle.to_tensor([[1], [2]]), [-1, 2]).tolist()
    [[1, 1], [2, 2]]
    """
    x = as_operand("expand", x)
    sizes = ints("expand", "shape", shape)
    new = len(sizes) - spec_of(x).ndim
    if new < 0:
        raise ShapeError(
            f"expand: shape {list(sizes)} has fewer sizes than x, {format_shape(spec_of(x).shape)}"
        )
    if any(d < (0 if i < new else -1) for i, d in enumerate(sizes)):
        raise ShapeError(
            f"expand: shape {list(sizes)} must hold sizes, and -1 only where x "
            f"{format_shape(spec_of(x).shape)} has an axis whose size it keeps"
        )
    return ops.expand(x, shape=sizes)


@atomic
def broadcast_to(x: Any, shape: Sequence[int], name: str | None = None) -> Tensor:
    """`x` repeated along axes of size 1 (and new ones in front) to `shape`; -1 keeps a size.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.broadcast_to(paddle.to_tensor([1, 2]), [2, -1]).tolist()
    [[1, 2], [1, 2]]
    """
    return expand(x, shape)


@atomic
def expand_as(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x` repeated along axes of size 1 (and new ones in front) to the shape of `y`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.expand_as(paddle.to_tensor([1, 2]), paddle.zeros([2, 2])).tolist()
    [[1, 2], [1, 2]]
    """
    x, y = as_operand("expand_as", x), as_operand("expand_as", y, "y")
    have, target = spec_of(x).shape, spec_of(y).shape
    if len(have) > len(target) or not may_equal(joint_shape("expand_as", have, target), target):
        raise ShapeError(
            f"expand_as: {format_shape(have)} cannot become {format_shape(target)}: only a size "
            "of 1 can be expanded"
        )
    return ops.expand_like(x, y)


def broadcast_tensors(input: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """Arrays under the one shape that they broadcast to.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.broadcast_tensors([paddle.to_tensor([1, 2]), paddle.to_tensor([[3], [4]])])
    >>> x.tolist(), y.tolist()
    ([[1, 2], [1, 2]], [[3, 3], [4, 4]])
    """
    values = operands("broadcast_tensors", input, "input")
    return [ops.broadcast_like(v, *values) for v in values]


def broadcast_shape(x_shape: Sequence[int], y_shape: Sequence[int]) -> list[int]:
    """The shape that arrays of two shapes broadcast to; -1 stands for an unknown size.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.broadcast_shape([2, 1, 3], [4, 1])
    [2, 4, 3]
    """
    return broadcast_shapes(x_shape, y_shape)


def broadcast_shapes(*shapes: Sequence[int]) -> list[int]:
    """The shape that arrays of these shapes broadcast to; -1 stands for an unknown size.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.broadcast_shapes([2, 1], [3], [-1, 1])
    [2, 3]
    """
    given = [ints("broadcast_shape", "a shape", shape) for shape in shapes]
    out = []
    for axis in range(-max(map(len, given), default=0), 0):
        sizes = {s[axis] for s in given if len(s) >= -axis} - {1}
        known = sorted(sizes - {-1})
        if len(known) > 1:
            raise ShapeError(
                f"broadcast_shape: {' and '.join(str(list(s)) for s in given)} do not broadcast: "
                f"axis {axis} has sizes {' and '.join(map(str, known))}"
            )
        out.append(known[0] if known else -1 if sizes else 1)
    return out


@atomic
def tile(x: Any, repeat_times: int | Sequence[int], name: str | None = None) -> Tensor:
    """Copies of `x` side by side, as many along each axis as `repeat_times` says.

    Parameters
    ----------
    x : Tensor or Variable
    repeat_times : int or sequence of int
        Fewer than `x` has axes are for the last ones; more put new axes in front.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.tile(paddle.to_tensor([1, 2]), [2, 2]).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    x = as_operand("tile", x)
    repeats = ints("tile", "repeat_times", repeat_times)
    if min(repeats, default=0) < 0:
        raise ArgumentError(f"tile: repeat_times must not be negative, got {list(repeats)}")
    ndim = spec_of(x).ndim
    lead, own = repeats[: max(len(repeats) - ndim, 0)], repeats[max(len(repeats) - ndim, 0) :]
    counts = (1,) * (ndim - len(own)) + own
    # A new axis before each one that is repeated is expanded, and then the two are one.
    before = [axis + k for k, axis in enumerate(a for a, n in enumerate(counts) if n != 1)]
    if not before and not lead:
        return ops.assign(x)
    if before:
        x = ops.unsqueeze(x, axis=tuple(before))
    sizes = [-1] * (ndim + len(before))
    for place, count in zip(before, (n for n in counts if n != 1), strict=True):
        sizes[place] = count
    x = ops.expand(x, shape=(*lead, *sizes))
    for k, place in enumerate(before):
        start = len(lead) + place - k
        x = ops.flatten_axes(x, start=start, stop=start + 1)
    return x


@atomic
def repeat_interleave(
    x: Any,
    repeats: Any,
    axis: int | None = None,
    name: str | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Each element repeated in its place along `axis`.

    Parameters
    ----------
    x : Tensor or Variable
    repeats : int, Tensor or Variable
        How many times; a tensor holds one number for each place along the axis.
    axis : int or None
        None repeats the elements of `x` flattened.
    output_size : int or None
        What the repeats add up to, where that is known: a program then knows the size.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.repeat_interleave(paddle.to_tensor([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    >>> paddle.repeat_interleave(paddle.to_tensor([1, 2]), paddle.to_tensor([0, 3])).tolist()
    [2, 2, 2]
    """
    x = as_operand("repeat_interleave", x)
    if axis is None:
        x, axis = ops.reshape(x, shape=(-1,)), 0
    axis = axis_of("repeat_interleave", x, axis)
    if isinstance(repeats, (Tensor, Variable, np.ndarray)):
        counts = as_operand("repeat_interleave", repeats, "repeats")
        if spec_of(counts).dtype.kind not in "iu":
            raise DTypeError(
                "repeat_interleave: repeats must hold integers, got "
                f"{spec_of(counts).dtype.name}; use repeats.astype('int64')"
            )
        total = (
            None
            if output_size is None
            else integer("repeat_interleave", "output_size", output_size)
        )
        index = ops.repeat_index(counts, x, axis=axis, total=total)
        return ops.gather(x, index, axis=axis)
    count = integer("repeat_interleave", "repeats", repeats)
    if count < 0:
        raise ArgumentError(f"repeat_interleave: repeats must not be negative, got {count}")
    ndim = spec_of(x).ndim
    x = ops.unsqueeze(x, axis=(axis + 1,))
    x = ops.expand(x, shape=(-1,) * (axis + 1) + (count,) + (-1,) * (ndim - axis - 1))
    return ops.flatten_axes(x, start=axis, stop=axis + 1)
