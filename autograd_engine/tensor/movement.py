"""Parts of an array, and its elements in another order along their axes."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import positive_int
from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape, may_equal, normalize_axes, normalize_axis
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import ComposedView, note_view
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.program.symbolic_number import size_of
from autograd_engine.tensor.arguments import axis_of, integer, ints, is_open, known
from autograd_engine.tensor.shape import swapaxes

__all__ = [
    "as_strided",
    "crop",
    "flip",
    "narrow",
    "reverse",
    "roll",
    "rot90",
    "select_scatter",
    "slice",
    "slice_scatter",
    "strided_slice",
    "unfold",
]


@atomic
def flip(x: Any, axis: int | Sequence[int], name: str | None = None) -> Tensor:
    """The elements in reverse order along one or more axes.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.flip(paddle.to_tensor([[1, 2], [3, 4]]), axis=1).tolist()
    [[2, 1], [4, 3]]
    """
    x = as_operand("flip", x)
    axes = normalize_axes("flip", list(ints("flip", "axis", axis)), spec_of(x).ndim)
    return ops.flip(x, axis=axes)


@atomic
def reverse(x: Any, axis: int | Sequence[int], name: str | None = None) -> Tensor:
    """`flip` under its other name."""
    return flip(x, axis)


@atomic
def narrow(input: Any, dim: int, start: int, length: int) -> Tensor:
    """`length` elements of the axis `dim`, from `start` on.

    Parameters
    ----------
    input : Tensor or Variable
    dim : int
    start : int
        Counted from the back if it is negative.
    length : int

    Raises
    ------
    ArgumentError
        Where the axis has no such elements.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.narrow(paddle.arange(5), 0, 1, 3).tolist()
    [1, 2, 3]
    """
    x = as_operand("narrow", input, "input")
    axis = axis_of("narrow", x, dim)
    first, size = integer("narrow", "start", start), integer("narrow", "length", length)
    have = spec_of(x).shape[axis]
    if not is_open(first) and first < 0 and not isinstance(have, Dim):
        first += have
    needed = known([first, size])
    if min(needed, default=0) < 0 or (
        len(needed) == 2 and not isinstance(have, Dim) and sum(needed) > have
    ):
        raise ArgumentError(
            f"narrow: start {start} and length {length} do not lie in axis {dim} of "
            f"{format_shape(spec_of(x).shape)}"
        )
    if len(needed) < 2:
        return _stretch(x, axis, first, size)
    return slice(x, [axis], [first], [first + size])


def _stretch(x: Any, axis: int, start: Any, length: Any) -> Any:
    """`length` elements of an axis, from `start` on; that they are there is seen in the run."""
    rest = _left(x, axis, start) - length
    return ops.split(x, sizes=(start, length, rest), axis=axis)[1]


def _left(x: Any, axis: int, start: Any) -> Any:
    """How many elements of an axis there are from `start` on."""
    size = spec_of(x).shape[axis]
    return (size_of(x, axis) if isinstance(size, Dim) else size) - start


@atomic
def roll(
    x: Any,
    shifts: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """The elements moved along their axes; what leaves at one end comes in at the other.

    Parameters
    ----------
    x : Tensor or Variable
    shifts : int or sequence of int
    axis : int or sequence of int or None
        One for each shift; None moves the elements of `x` flattened.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.roll(paddle.to_tensor([1, 2, 3]), 1).tolist()
    [3, 1, 2]
    """
    x = as_operand("roll", x)
    steps = ints("roll", "shifts", shifts)
    if axis is None:
        if len(steps) != 1:
            raise ArgumentError(
                f"roll: {len(steps)} shifts need as many axes; give axis, or one shift"
            )
        flat = ops.reshape(x, shape=(-1,)) if spec_of(x).size != 0 else x
        return ops.reshape_like(ops.roll(flat, shifts=steps, axis=(0,)), x) if flat is not x else x
    ndim = spec_of(x).ndim
    axes = tuple(normalize_axis("roll", a, ndim) for a in ints("roll", "axis", axis))
    if len(axes) != len(steps) or (axes and not ndim):
        raise ArgumentError(
            f"roll: shifts {list(steps)} and axis {list(axes)} must have one length"
            + ("" if ndim else "; a 0-d array has no axes")
        )
    return ops.roll(x, shifts=steps, axis=axes)


@atomic
def rot90(x: Any, k: int = 1, axes: Sequence[int] = (0, 1), name: str | None = None) -> Tensor:
    """`x` turned `k` times by 90 degrees in the plane of two axes, from the first to the second.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.rot90(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    x = as_operand("rot90", x)
    plane = [axis_of("rot90", x, a) for a in ints("rot90", "axes", axes)]
    if len(plane) != 2 or plane[0] == plane[1]:
        raise ArgumentError(f"rot90: axes must name two different axes, got {list(axes)}")
    first, second = plane
    turns = integer("rot90", "k", k) % 4
    if turns == 1:
        return swapaxes(ops.flip(x, axis=(second,)), first, second)
    if turns == 2:
        return ops.flip(x, axis=(first, second))
    if turns == 3:
        return ops.flip(swapaxes(x, first, second), axis=(second,))
    return ops.assign(x)


# --- parts


@atomic
def slice(input: Any, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int]) -> Tensor:
    """The part from `starts` to `ends` along `axes`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.slice(paddle.arange(5), axes=[0], starts=[1], ends=[3]).tolist()
    [1, 2]
    """
    x = as_operand("slice", input, "input")
    return ops.getitem(x, key=_key("slice", x, axes, starts, ends))


@atomic
def strided_slice(
    x: Any,
    axes: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    strides: Sequence[int],
    name: str | None = None,
) -> Tensor:
    """Every `strides`-th element from `starts` to `ends` along `axes`; backwards below 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.strided_slice(paddle.arange(5), [0], [4], [0], [-2]).tolist()
    [4, 2]
    """
    x = as_operand("strided_slice", x)
    return ops.getitem(x, key=_key("strided_slice", x, axes, starts, ends, strides))


def _key(
    op: str, x: Any, axes: Any, starts: Any, ends: Any, strides: Any = None
) -> tuple[Any, ...]:
    """Slices for every axis of `x`."""
    ndim = spec_of(x).ndim
    names = [normalize_axis(op, a, ndim) for a in ints(op, "axes", axes)]
    lists = [ints(op, "starts", starts), ints(op, "ends", ends)]
    lists.append((1,) * len(names) if strides is None else ints(op, "strides", strides))
    if not ndim or any(len(v) != len(names) for v in lists):
        which = "axes, starts and ends" if strides is None else "axes, starts, ends and strides"
        raise ArgumentError(
            f"{op}: {which} must have one length" if ndim else f"{op}: a 0-d array has no axes"
        )
    if 0 in known(lists[2]):
        raise ArgumentError(f"{op}: a stride cannot be 0, got {list(lists[2])}")
    key: list[Any] = [builtins.slice(None)] * ndim
    for axis, start, end, step in zip(names, *lists, strict=True):
        key[axis] = builtins.slice(start, end, None if type(step) is int and step == 1 else step)
    return tuple(key)


def crop(
    x: Any,
    shape: Sequence[int] | None = None,
    offsets: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """The part of `x` of the given shape that begins at `offsets`.

    Parameters
    ----------
    x : Tensor or Variable
    shape : sequence of int or None
        -1 is all behind the offset; None the shape of `x`.
    offsets : sequence of int or None
        Zeros for None.

    Raises
    ------
    ShapeError
        Where the part reaches beyond `x`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.crop(paddle.to_tensor([[1, 2], [3, 4]]), [1, -1], [1, 0]).tolist()
    [[3, 4]]
    """
    x = as_operand("crop", x)
    have = spec_of(x).shape
    starts = (0,) * len(have) if offsets is None else ints("crop", "offsets", offsets)
    whole = tuple(-1 if isinstance(d, Dim) else d for d in have)
    sizes = whole if shape is None else ints("crop", "shape", shape)
    if not len(starts) == len(sizes) == len(have):
        raise ArgumentError(
            f"crop: shape and offsets must have a number for each of the {len(have)} axes of "
            f"{format_shape(have)}, got {list(sizes)} and {list(starts)}"
        )
    key, kept = [], []
    for axis, (start, size, n) in enumerate(zip(starts, sizes, have, strict=True)):
        asked = known([start, size])
        to_end = not is_open(size) and size == -1
        if len(asked) < 2:
            x = _stretch(x, axis, start, _left(x, axis, start) if to_end else size)
            key.append(builtins.slice(None))
            kept.append(0)
            continue
        sure = not isinstance(n, Dim)
        if min(asked, default=0) < (-1 if to_end else 0) or (sure and start + max(size, 0) > n):
            raise ShapeError(
                f"crop: {size} elements from {start} on do not lie in axis {axis} of "
                f"{format_shape(have)}"
            )
        key.append(builtins.slice(start or None, None if to_end else start + size))
        kept.append(0 if sure or to_end else size)
    out = ops.getitem(x, key=tuple(key))
    if isinstance(out, Tensor):
        return ops.assign(out)  # a copy in the reference
    # The slice of an unknown size may be shorter than asked for: reshape checks it when it runs.
    return ops.reshape(out, shape=tuple(kept)) if any(kept) else out


@atomic
def unfold(x: Any, axis: int, size: int, step: int, name: str | None = None) -> Tensor:
    """Windows of `size` elements along `axis`, one every `step`, their elements in a new last axis.

    Raises
    ------
    ShapeError
        When the axis is shorter than a window.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.unfold(paddle.arange(5), 0, 3, 2).tolist()
    [[0, 1, 2], [2, 3, 4]]
    """
    x = as_operand("unfold", x)
    width = positive_int("unfold", "size", size)
    stride = positive_int("unfold", "step", step)
    axis = axis_of("unfold", x, axis, scalars=True)
    lines = x if spec_of(x).ndim else ops.reshape(x, shape=(1,))
    windows = ops.windows(lines, axis=axis, size=width, step=stride)
    return windows if lines is x else ops.reshape(windows, shape=(1,))


def _strided(xp: Any, x: Any, index: Any) -> Any:
    return xp.gather(xp.reshape(x, shape=(-1,)), index, axis=0)


def _write_strided(xp: Any, value: Any, x: Any, index: Any) -> Any:
    """Of several values for one element the last stays."""
    flat = xp.reshape(x, shape=(-1,))
    return xp.reshape_like(xp.setitem(flat, value, index, key=("index",)), x)


_STRIDED: Final = ComposedView("as_strided", _strided, _write_strided)


@atomic
def as_strided(
    x: Any, shape: Sequence[int], stride: Sequence[int], offset: int = 0, name: str | None = None
) -> Tensor:
    """The elements of `x` flattened at ``offset + sum(index * stride)``.

    Elements that are taken more than once add their gradients.

    Raises
    ------
    ArgumentError
        For a position that is none of `x`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.as_strided(paddle.arange(5), [2, 3], [2, 1]).tolist()
    [[0, 1, 2], [2, 3, 4]]
    """
    x = as_operand("as_strided", x)
    sizes, strides = ints("as_strided", "shape", shape), ints("as_strided", "stride", stride)
    first = integer("as_strided", "offset", offset)
    if len(sizes) != len(strides) or min((*sizes, *strides, first)) < 0:
        raise ArgumentError(
            f"as_strided: shape {list(sizes)} and stride {list(strides)} must have one length, and "
            "neither they nor offset be negative"
        )
    index = np.asarray(first, np.int64)
    for n, s in zip(sizes, strides, strict=True):
        index = index[..., None] + np.arange(n, dtype=np.int64) * s
    count = spec_of(x).size
    if not isinstance(count, Dim) and index.size and index.max() >= count:
        raise ArgumentError(
            f"as_strided: shape {list(sizes)} with stride {list(strides)} from {first} on reaches "
            f"position {index.max()}, and x has {count} elements"
        )
    if isinstance(x, Tensor):
        return note_view(_strided(ops, x, index), x, _STRIDED, {"index": index})
    return _strided(ops, x, index)


# --- a part replaced


@atomic
def select_scatter(x: Any, values: Any, axis: int, index: int, name: str | None = None) -> Tensor:
    """`x` with `values` in the place of one slice along `axis`.

    Raises
    ------
    ShapeError
        Unless `values` has the shape of the slice.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.select_scatter(paddle.zeros([2, 2]), paddle.ones([2]), 1, 0).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    x = as_operand("select_scatter", x)
    values = as_operand("select_scatter", values, "values")
    axis = axis_of("select_scatter", x, axis)
    have = spec_of(x).shape
    there = (*have[:axis], *have[axis + 1 :])
    if not may_equal(there, spec_of(values).shape):
        raise ShapeError(
            f"select_scatter: a slice along axis {axis} of {format_shape(have)} has shape "
            f"{format_shape(there)}, values {format_shape(spec_of(values).shape)}"
        )
    place = integer("select_scatter", "index", index)
    key = (builtins.slice(None),) * axis + (place,)
    return ops.setitem(x, ops.cast_like(values, x), key=key)


@atomic
def slice_scatter(
    x: Any,
    value: Any,
    axes: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    strides: Sequence[int],
    name: str | None = None,
) -> Tensor:
    """`x` with `value`, broadcast, in the place of the slice that `strided_slice` would take.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.slice_scatter(paddle.zeros([4]), paddle.ones([2]), [0], [0], [4], [2]).tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    x, value = as_operand("slice_scatter", x), as_operand("slice_scatter", value, "value")
    key = _key("slice_scatter", x, axes, starts, ends, strides)
    return ops.setitem(x, ops.cast_like(value, x), key=key)
