"""Elements repeated: broadcast, tiled, interleaved, in all combinations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.checks import MOST, as_number, int_at_least
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import INTEGERS
from autograd_engine.core.spec import broadcast_shapes as joint_shape, format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import (
    axis_of,
    integer,
    ints,
    is_open,
    known,
    operands,
)

__all__ = [
    "broadcast_shape",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "cartesian_prod",
    "combinations",
    "expand",
    "expand_as",
    "meshgrid",
    "reduce_as",
    "repeat_interleave",
    "tile",
    "vander",
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
    sizes: tuple[Any, ...] = ints("expand", "shape", shape)
    have = spec_of(x).shape
    new = len(sizes) - len(have)
    if new < 0:
        raise ShapeError(
            f"expand: shape {list(sizes)} has fewer sizes than x, {format_shape(have)}"
        )
    if any(not is_open(d) and d < (0 if i < new else -1) for i, d in enumerate(sizes)):
        raise ShapeError(
            f"expand: shape {list(sizes)} must hold sizes, and -1 only where x "
            f"{format_shape(have)} has an axis whose size it keeps"
        )
    if known(sizes) is sizes:
        return ops.expand(x, shape=sizes)
    kept = [
        -1 if is_open(d) and i >= new and have[i - new] == d.dim else d for i, d in enumerate(sizes)
    ]
    return ops.expand(x, shape=tuple(kept))


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
    return _expand_like("expand_as", as_operand("expand_as", x), as_operand("expand_as", y, "y"))


def _expand_like(op: str, x: Any, y: Any) -> Tensor:
    have, target = spec_of(x).shape, spec_of(y).shape
    if len(have) > len(target) or not may_equal(joint_shape(op, have, target), target):
        raise ShapeError(
            f"{op}: {format_shape(have)} cannot become {format_shape(target)}: only a size of 1 "
            "can be expanded"
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
    if min(known(repeats), default=0) < 0:
        raise ArgumentError(f"tile: repeat_times must not be negative, got {list(repeats)}")
    repeats = tuple(int_at_least("tile", "repeat_times", n, 0) for n in repeats)
    ndim = spec_of(x).ndim
    lead, own = repeats[: max(len(repeats) - ndim, 0)], repeats[max(len(repeats) - ndim, 0) :]
    counts = (1,) * (ndim - len(own)) + own
    # A new axis before each one that is repeated is expanded, and then the two are one.
    repeated = [a for a, n in enumerate(counts) if is_open(n) or n != 1]
    before = [axis + k for k, axis in enumerate(repeated)]
    if not before and not lead:
        return ops.assign(x)
    if before:
        x = ops.unsqueeze(x, axis=tuple(before))
    sizes = [-1] * (ndim + len(before))
    for place, axis in zip(before, repeated, strict=True):
        sizes[place] = counts[axis]
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
    repeats = as_number(repeats)
    total = (
        None if output_size is None else integer("repeat_interleave", "output_size", output_size)
    )
    if isinstance(repeats, (Tensor, Variable, np.ndarray)):
        counts = as_operand("repeat_interleave", repeats, "repeats")
        if spec_of(counts).dtype not in INTEGERS:
            raise DTypeError(
                "repeat_interleave: repeats must hold integers, got "
                f"{spec_of(counts).dtype.name}; use repeats.astype('int64')"
            )
        index = ops.repeat_index(counts, x, axis=axis, total=total)
        return ops.gather(x, index, axis=axis)
    whole = integer("repeat_interleave", "repeats", repeats)
    count = int_at_least("repeat_interleave", "repeats", whole, 0)
    ndim = spec_of(x).ndim
    x = ops.unsqueeze(x, axis=(axis + 1,))
    x = ops.expand(x, shape=(-1,) * (axis + 1) + (count,) + (-1,) * (ndim - axis - 1))
    return ops.flatten_axes(x, start=axis, stop=axis + 1)


def reduce_as(x: Any, target: Any, name: str | None = None) -> Tensor:
    """`x` summed over the axes along which `target` would be broadcast to it.

    Bools and int32 are summed as int64; any other dtype stays.

    Parameters
    ----------
    x, target : Tensor or Variable
        The result has the shape of `target`, which must broadcast to that of `x`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> paddle.reduce_as(x, paddle.zeros([2])).tolist()
    [4.0, 6.0]
    """
    x, target = as_operand("reduce_as", x), as_operand("reduce_as", target, "target")
    have, wanted = spec_of(x).shape, spec_of(target).shape
    if len(wanted) > len(have) or not all(
        size == 1 or may_equal((size,), (there,))
        for size, there in zip(wanted, have[len(have) - len(wanted) :], strict=True)
    ):
        raise ShapeError(
            f"reduce_as: target {format_shape(wanted)} does not broadcast to x {format_shape(have)}"
        )
    lead, dtype = len(have) - len(wanted), spec_of(x).dtype
    axes = [k for k in range(len(have)) if k < lead or (wanted[k - lead] == 1 != have[k])]
    total = ops.sum(x, axis=tuple(axes), keepdims=True) if axes else ops.assign(x)
    total = ops.squeeze(total, axis=tuple(range(lead))) if lead else total
    if any(isinstance(size, Dim) for size in wanted):  # one of them may turn out to be 1
        total = ops.sum_like(total, target)
    kind = "int64" if dtype.name in ("bool", "int32") else dtype.name
    return total if spec_of(total).dtype.name == kind else ops.cast(total, dtype=kind)


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
    if not count:
        return ops.gather(x, np.zeros(0, np.int64), axis=0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = _choices(size + count - 1 if with_replacement and size else size, count)
    if rows is None or rows * count > MOST:
        raise ArgumentError(
            f"combinations: there are more choices of r={count} of {size} elements than an array "
            "can hold"
        )
    positions = itertools.chain.from_iterable(choose(range(size), count))
    index = np.fromiter(positions, np.int64, rows * count)  # all of its memory at once, or none
    return ops.gather(x, index.reshape(rows, count), axis=0)


def _choices(n: int, k: int) -> int | None:
    """n over k; None where that is above 2**64, as it is from 2**min(k, n - k) on."""
    return None if min(k, n - k) > 64 else math.comb(n, k)


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
