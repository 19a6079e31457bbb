"""The same elements under another shape, or with the axes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import DType, DTypeLike, to_numpy
from autograd_engine.core.spec import (
    Shape,
    format_shape,
    may_equal,
    normalize_axes,
    normalize_axis,
    reshaped,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, shape_of, spec_of
from autograd_engine.program.symbolic_number import NeedsValue
from autograd_engine.tensor.arguments import (
    axis_of,
    ints,
    is_open,
    known,
)
from autograd_engine.tensor.creation import to_tensor

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "flatten",
    "moveaxis",
    "permute",
    "ravel",
    "reshape",
    "squeeze",
    "swapaxes",
    "swapdims",
    "t",
    "transpose",
    "unflatten",
    "unsqueeze",
    "view",
    "view_as",
]


def reshape(x: Any, shape: Sequence[int], name: str | None = None) -> Tensor:
    """The same elements in another shape.

    Parameters
    ----------
    x : Tensor or Variable
    shape : sequence of int
        One size may be -1 and is worked out; 0 keeps the size of `x` at that place.

    Raises
    ------
    ShapeError
        When the number of elements differs.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.reshape(paddle.arange(4), [2, -1]).tolist()
    [[0, 1], [2, 3]]
    """
    x = as_operand("reshape", x)
    sizes = ints("reshape", "shape", shape)
    numbers = known(sizes)
    if min(numbers, default=0) < -1:
        raise ShapeError(
            f"reshape: shape {list(sizes)} must hold sizes; use -1 for one to have it worked out"
        )
    if numbers is sizes:
        return ops.reshape(x, shape=sizes)
    return ops.reshape(x, shape=_kept(spec_of(x).shape, sizes))


def _kept(have: Shape, sizes: tuple[Any, ...]) -> tuple[Any, ...]:
    """`sizes`, with 0 and -1 for symbolic ones where that provably gives them: it asks for less."""
    same = [
        0 if is_open(d) and k < len(have) and have[k] == d.dim else d for k, d in enumerate(sizes)
    ]
    (*left,) = (k for k, d in enumerate(same) if is_open(d))
    if len(left) == 1 and min(known(same), default=1) > 0:  # beside 0 elements -1 says nothing
        worked_out = [-1 if is_open(d) else d for d in same]
        if reshaped("reshape", have, worked_out)[left[0]] == sizes[left[0]].dim:
            return tuple(worked_out)
    return tuple(same)


@atomic
def flatten(x: Any, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """The axes from `start_axis` to `stop_axis` as one; a 0-d array gets one axis.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.flatten(paddle.zeros([2, 3, 4]), start_axis=1).shape
    paddle.Size([2, 12])
    """
    x = as_operand("flatten", x)
    ndim = spec_of(x).ndim
    if not ndim:
        return ops.reshape(x, shape=(1,))
    start = normalize_axis("flatten", start_axis, ndim)
    stop = normalize_axis("flatten", stop_axis, ndim)
    if stop < start:
        raise ArgumentError(f"flatten: stop_axis {stop_axis} comes before start_axis {start_axis}")
    return ops.flatten_axes(x, start=start, stop=stop)


@atomic
def unflatten(x: Any, axis: int, shape: Sequence[int], name: str | None = None) -> Tensor:
    """One axis as several, of the sizes in `shape`; one of them may be -1 and is worked out.

    Raises
    ------
    ShapeError
        When the product of `shape` is not the size of the axis.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.unflatten(paddle.zeros([6, 2]), 0, [3, -1]).shape
    paddle.Size([3, 2, 2])
    """
    x = as_operand("unflatten", x)
    sizes = ints("unflatten", "shape", shape)
    numbers = known(sizes)
    if not sizes or min(numbers, default=0) < -1 or numbers.count(-1) > 1:
        raise ArgumentError(
            f"unflatten: shape {list(sizes)} must hold sizes, one of them may be -1"
        )
    axis = axis_of("unflatten", x, axis)
    return ops.unflatten_axis(x, axis=axis, sizes=sizes)


@atomic
def transpose(x: Any, perm: Sequence[int], name: str | None = None) -> Tensor:
    """The axes in another order.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.transpose(paddle.zeros([2, 3, 4]), [2, 0, 1]).shape
    paddle.Size([4, 2, 3])
    """
    x = as_operand("transpose", x)
    ndim = len(shape_of(x))
    axes = perm = ints("transpose", "perm", perm)
    try:
        counted = sorted(axes) == list(range(ndim))
    except NeedsValue:  # each may be any of them
        counted = False
    if counted:
        return ops.transpose(x, perm=axes)
    axes = tuple([normalize_axis("transpose", p, ndim) for p in perm])
    if sorted(axes) != list(range(ndim)):
        raise ShapeError(
            f"transpose: perm {list(perm)} must name each of the {ndim} axes of "
            f"{format_shape(spec_of(x).shape)} once"
        )
    return ops.transpose(x, perm=axes)


def t(input: Any, name: str | None = None) -> Tensor:
    """The transpose of a matrix; vectors and 0-d arrays stay as they are.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.t(paddle.zeros([2, 3])).shape
    paddle.Size([3, 2])
    """
    x = as_operand("t", input, "input")
    ndim = spec_of(x).ndim
    if ndim > 2:
        raise ShapeError(f"t: takes at most two dimensions, got {ndim}; use transpose with perm")
    if ndim == 2:
        return ops.transpose(x, perm=(1, 0))
    return ops.getitem(x, key=(...,)) if isinstance(x, Tensor) else ops.assign(x)


@atomic
def permute(input: Any, dims: Sequence[int]) -> Tensor:
    """The axes in another order: `transpose`, which takes one list or an argument for each axis.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.zeros([2, 3, 4]).permute(2, 0, 1).shape
    paddle.Size([4, 2, 3])
    """
    return transpose(as_operand("permute", input, "input"), dims)


def ravel(input: Any) -> Tensor:
    """All elements on one axis.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.ravel(paddle.zeros([2, 3])).shape
    paddle.Size([6])
    """
    return ops.reshape(as_operand("ravel", input, "input"), shape=(-1,))


@atomic
def moveaxis(
    x: Any,
    source: int | Sequence[int],
    destination: int | Sequence[int],
    name: str | None = None,
) -> Tensor:
    """The axes `source` at the places `destination`, the others in their order.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.moveaxis(paddle.zeros([2, 3, 4]), [0, 1], [2, 0]).shape
    paddle.Size([3, 4, 2])
    """
    x = as_operand("moveaxis", x)
    ndim = spec_of(x).ndim
    sources, places = (
        [normalize_axis("moveaxis", a, ndim) for a in ints("moveaxis", argument, axes)]
        for argument, axes in (("source", source), ("destination", destination))
    )
    if len(sources) != len(places) or any(len(set(v)) != len(v) for v in (sources, places)):
        raise ArgumentError(
            f"moveaxis: source {source} and destination {destination} must name as many axes, "
            "each once"
        )
    perm = [a for a in range(ndim) if a not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        perm.insert(place, axis)
    return ops.transpose(x, perm=tuple(perm))


@atomic
def swapaxes(x: Any, axis0: int, axis1: int, name: str | None = None) -> Tensor:
    """With two axes exchanged.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.swapaxes(paddle.zeros([2, 3, 4]), 0, -1).shape
    paddle.Size([4, 3, 2])
    """
    x = as_operand("swapaxes", x)
    a, b = axis_of("swapaxes", x, axis0), axis_of("swapaxes", x, axis1)
    perm = list(range(spec_of(x).ndim))
    perm[a], perm[b] = b, a
    return ops.transpose(x, perm=tuple(perm))


@atomic
def swapdims(x: Any, dim0: int, dim1: int, name: str | None = None) -> Tensor:
    """`swapaxes` under its other name."""
    return swapaxes(x, dim0, dim1)


@atomic
def unsqueeze(x: Any, axis: int | Sequence[int], name: str | None = None) -> Tensor:
    """With axes of size 1 put in at the places `axis` of the result.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.unsqueeze(paddle.zeros([3]), [0, 2]).shape
    paddle.Size([1, 3, 1])
    """
    x = as_operand("unsqueeze", x)
    wanted = ints("unsqueeze", "axis", axis)
    ndim = spec_of(x).ndim + len(wanted)
    return ops.unsqueeze(x, axis=normalize_axes("unsqueeze", wanted, ndim))


@atomic
def squeeze(x: Any, axis: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """Without axes of size 1: all of them, or those of `axis` whose size is 1.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.squeeze(paddle.zeros([1, 3, 1]), axis=0).shape
    paddle.Size([3, 1])
    """
    x = as_operand("squeeze", x)
    shape = spec_of(x).shape
    given: Any = None if axis is None else ints("squeeze", "axis", axis)
    for number in given or ():
        if type(number) is not int:  # it is one that can go
            ones = [k for k, size in enumerate(shape) if size == 1]
            number.refuse_axis("squeeze", len(shape), ones)
    axes = normalize_axes("squeeze", given, len(shape))
    return ops.squeeze(x, axis=tuple(a for a in axes if shape[a] == 1))


def _at_least(op: str, inputs: tuple[Any, ...], axes: dict[int, tuple[int, ...]]) -> Any:
    """Each input with the new axes that its number of dimensions asks for."""
    if not inputs:
        raise ArgumentError(f"{op}: takes one array at least")
    listed = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)) else ()
    of_tensors = any(isinstance(value, (Tensor, Variable)) for value in listed)
    results = []
    for k, value in enumerate(listed if of_tensors else inputs):
        x = to_tensor(value) if isinstance(value, (list, tuple)) else value
        x = as_operand(op, x, f"inputs[{k}]")
        new = axes.get(spec_of(x).ndim)
        results.append(x if new is None else ops.unsqueeze(x, axis=new))
    return results if of_tensors or len(results) > 1 else results[0]


@atomic
def atleast_1d(*inputs: Any, name: str | None = None) -> Tensor:
    """Each input, those of no dimension with one; a list of several, also where they are in one.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.atleast_1d(paddle.to_tensor(5.0)).tolist()
    [5.0]
    """
    return _at_least("atleast_1d", inputs, {0: (0,)})


@atomic
def atleast_2d(*inputs: Any, name: str | None = None) -> Tensor:
    """Each input with two dimensions or more: a vector becomes a row.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.atleast_2d(paddle.to_tensor([1.0, 2.0])).tolist()
    [[1.0, 2.0]]
    """
    return _at_least("atleast_2d", inputs, {0: (0, 1), 1: (0,)})


@atomic
def atleast_3d(*inputs: Any, name: str | None = None) -> Tensor:
    """Each input with three dimensions or more: a vector [n] becomes [1, n, 1], [m, n] [m, n, 1].

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.atleast_3d(paddle.zeros([4])).shape
    paddle.Size([1, 4, 1])
    """
    return _at_least("atleast_3d", inputs, {0: (0, 1, 2), 1: (0, 2), 2: (2,)})


def view(x: Any, shape_or_dtype: Sequence[int] | DTypeLike, name: str | None = None) -> Tensor:
    """`x` under another shape, or its bytes read as another dtype (without a gradient).

    Raises
    ------
    ShapeError
        When the elements, or the bytes of the last axis, do not come out even.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> paddle.view(x, [2, 1]).tolist()
    [[1.0], [2.0]]
    >>> paddle.view(x, "int32").tolist()
    [1065353216, 1073741824]
    """
    x = as_operand("view", x)
    if isinstance(shape_or_dtype, (str, DType, np.dtype, type)):
        return ops.reinterpret(x, dtype=to_numpy(shape_or_dtype).name)
    return reshape(x, shape_or_dtype)


def view_as(x: Any, other: Any, name: str | None = None) -> Tensor:
    """`x` under the shape of `other`, which has as many elements.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.view_as(paddle.arange(4), paddle.zeros([2, 2])).tolist()
    [[0, 1], [2, 3]]
    """
    x, other = as_operand("view_as", x), as_operand("view_as", other, "other")
    have, wanted = spec_of(x), spec_of(other)
    if not may_equal((have.size,), (wanted.size,)):
        raise ShapeError(
            f"view_as: {format_shape(have.shape)} has {have.size} elements and cannot become "
            f"{format_shape(wanted.shape)}, which has {wanted.size}"
        )
    if isinstance(x, Tensor) and x.size:  # the operation that is noted as a view
        return ops.reshape(x, shape=tuple(wanted.shape))
    return ops.reshape_like(x, other)
