"""Reshaping, joining, splitting and indexing."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.dims import Dim
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.namespace import ops
from autograd_engine.spec import format_shape, normalize_axes, normalize_axis
from autograd_engine.tensor.operand import as_operand, spec_of

__all__ = [
    "concat",
    "expand",
    "flatten",
    "gather",
    "reshape",
    "slice",
    "split",
    "squeeze",
    "stack",
    "t",
    "transpose",
    "tril",
    "triu",
    "unbind",
    "unsqueeze",
]


def _ints(op: str, argument: str, values: Any) -> tuple[int, ...]:
    if isinstance(values, (Tensor, np.ndarray)):
        values = values.tolist()
    if isinstance(values, (int, np.integer)):
        values = (values,)
    if not isinstance(values, (list, tuple)) or not builtins.all(
        isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values
    ):
        raise TypeError(f"{op}: {argument} must hold ints, got {values!r}")
    return tuple(int(v) for v in values)


def _axis_of(op: str, x: Any, axis: int) -> int:
    """An axis that exists: a 0-d array has none to cut, join or look along."""
    ndim = spec_of(x).ndim
    if not ndim:
        raise ShapeError(f"{op}: takes one dimension or more, got a 0-d array; use reshape([1])")
    return normalize_axis(op, axis, ndim)


def reshape(x: Any, shape: Sequence[int], name: str | None = None) -> Any:
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
    sizes = _ints("reshape", "shape", shape)
    if builtins.min(sizes, default=0) < -1:
        raise ShapeError(
            f"reshape: shape {list(sizes)} must hold sizes; use -1 for one to have it worked out"
        )
    return ops.reshape(x, shape=sizes)


def flatten(x: Any, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Any:
    """The axes from `start_axis` to `stop_axis` as one.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.flatten(paddle.zeros([2, 3, 4]), start_axis=1).shape
    paddle.Size([2, 12])
    """
    x = as_operand("flatten", x)
    shape = spec_of(x).shape
    if not shape:
        return ops.reshape(x, shape=(1,))
    start = normalize_axis("flatten", start_axis, len(shape))
    stop = normalize_axis("flatten", stop_axis, len(shape))
    if stop < start:
        raise ArgumentError(f"flatten: stop_axis {stop_axis} comes before start_axis {start_axis}")
    head = [0 if isinstance(d, Dim) else d for d in shape[:start]]
    merged, tail = shape[start : stop + 1], shape[stop + 1 :]
    unknown = builtins.any(isinstance(d, Dim) for d in merged)
    if builtins.any(isinstance(d, Dim) for d in tail):
        if unknown:
            raise ShapeError(
                f"flatten: {format_shape(shape)} has unknown sizes both in the merged axes and "
                "behind them; use reshape"
            )
        tail = tuple(-1 if isinstance(d, Dim) else d for d in tail)
    size = -1 if unknown else int(np.prod([int(d) for d in merged]))
    return ops.reshape(x, shape=(*head, size, *tail))


def transpose(x: Any, perm: Sequence[int], name: str | None = None) -> Any:
    """The axes in another order.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.transpose(paddle.zeros([2, 3, 4]), [2, 0, 1]).shape
    paddle.Size([4, 2, 3])
    """
    x = as_operand("transpose", x)
    ndim = spec_of(x).ndim
    perm = _ints("transpose", "perm", perm)
    axes = tuple(normalize_axis("transpose", p, ndim) for p in perm)
    if sorted(axes) != list(range(ndim)):
        raise ShapeError(
            f"transpose: perm {list(perm)} must name each of the {ndim} axes of "
            f"{format_shape(spec_of(x).shape)} once"
        )
    return ops.transpose(x, perm=axes)


def t(x: Any, name: str | None = None) -> Any:
    """The transpose of a matrix; vectors and 0-d arrays stay as they are."""
    x = as_operand("t", x)
    ndim = spec_of(x).ndim
    if ndim > 2:
        raise ShapeError(f"t: takes at most two dimensions, got {ndim}; use transpose with perm")
    return ops.transpose(x, perm=(1, 0)) if ndim == 2 else ops.assign(x)


def unsqueeze(x: Any, axis: int | Sequence[int], name: str | None = None) -> Any:
    """With axes of size 1 put in at the places `axis` of the result.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.unsqueeze(paddle.zeros([3]), [0, 2]).shape
    paddle.Size([1, 3, 1])
    """
    x = as_operand("unsqueeze", x)
    wanted = _ints("unsqueeze", "axis", axis)
    ndim = spec_of(x).ndim + len(wanted)
    return ops.unsqueeze(x, axis=normalize_axes("unsqueeze", list(wanted), ndim))


def squeeze(x: Any, axis: int | Sequence[int] | None = None, name: str | None = None) -> Any:
    """Without axes of size 1: all of them, or those of `axis` whose size is 1.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.squeeze(paddle.zeros([1, 3, 1]), axis=0).shape
    paddle.Size([3, 1])
    """
    x = as_operand("squeeze", x)
    shape = spec_of(x).shape
    axes = normalize_axes(
        "squeeze", None if axis is None else list(_ints("squeeze", "axis", axis)), len(shape)
    )
    return ops.squeeze(x, axis=tuple(a for a in axes if shape[a] == 1))


def expand(x: Any, shape: Sequence[int], name: str | None = None) -> Any:
    """`x` repeated along axes of size 1 (and new ones in front) to `shape`; -1 keeps a size.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.expand(paddle.to_tensor([[1], [2]]), [-1, 2]).tolist()
    [[1, 1], [2, 2]]
    """
    x = as_operand("expand", x)
    sizes = _ints("expand", "shape", shape)
    new = len(sizes) - spec_of(x).ndim
    if new < 0:
        raise ShapeError(
            f"expand: shape {list(sizes)} has fewer sizes than x, {format_shape(spec_of(x).shape)}"
        )
    if builtins.any(d < (0 if i < new else -1) for i, d in enumerate(sizes)):
        raise ShapeError(
            f"expand: shape {list(sizes)} must hold sizes, and -1 only where x "
            f"{format_shape(spec_of(x).shape)} has an axis whose size it keeps"
        )
    return ops.expand(x, shape=sizes)


def _sequence(op: str, x: Any) -> list[Any]:
    if not isinstance(x, (list, tuple)):
        raise TypeError(f"{op}: x must be a list or tuple of arrays, got {type(x).__name__}")
    if not x:
        raise ArgumentError(f"{op}: x is empty; give one array at least")
    return [as_operand(op, v, f"x[{k}]") for k, v in enumerate(x)]


def concat(x: Sequence[Any], axis: int = 0, name: str | None = None) -> Any:
    """Arrays joined along an existing axis; their other sizes must be equal.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.concat([paddle.zeros([1, 2]), paddle.ones([1, 2])]).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    values = _sequence("concat", x)
    return ops.concat(*values, axis=_axis_of("concat", values[0], axis))


def stack(x: Sequence[Any], axis: int = 0, name: str | None = None) -> Any:
    """Arrays of one shape joined along a new axis.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.stack([paddle.zeros([2]), paddle.ones([2])], axis=1).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    values = _sequence("stack", x)
    return ops.stack(*values, axis=normalize_axis("stack", axis, spec_of(values[0]).ndim + 1))


def unbind(input: Any, axis: int = 0) -> list[Any]:
    """The slices along `axis`, without it.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> [p.tolist() for p in paddle.unbind(paddle.to_tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    x = as_operand("unbind", input, "input")
    return list(ops.unstack(x, axis=_axis_of("unbind", x, axis)))


def split(
    x: Any, num_or_sections: int | Sequence[int], axis: int = 0, name: str | None = None
) -> list[Any]:
    """`x` cut along `axis` into equal parts, or into parts of the sizes given (one may be -1).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> [p.tolist() for p in paddle.split(paddle.arange(5), [2, -1])]
    [[0, 1], [2, 3, 4]]
    """
    x = as_operand("split", x)
    shape = spec_of(x).shape
    axis = _axis_of("split", x, axis)
    size = shape[axis]
    if isinstance(size, Dim):
        raise ShapeError(
            f"split: axis {axis} of {format_shape(shape)} has no known size; declare it"
        )
    if isinstance(num_or_sections, bool):
        raise TypeError("split: num_or_sections must be an int or a list of ints, got a bool")
    if isinstance(num_or_sections, int):
        if num_or_sections < 1 or size % num_or_sections:
            raise ArgumentError(
                f"split: axis {axis} has size {size}, which does not divide into "
                f"{num_or_sections} equal parts; give the sizes as a list"
            )
        sizes = (size // num_or_sections,) * num_or_sections
    else:
        sizes = _ints("split", "num_or_sections", num_or_sections)
        if sizes.count(-1) == 1:
            rest = size - sum(s for s in sizes if s != -1)
            sizes = tuple(rest if s == -1 else s for s in sizes)
        if sum(sizes) != size or min(sizes, default=0) < 0:
            raise ArgumentError(
                f"split: {list(sizes)} must be sizes that add up to {size}, the size of axis {axis}"
            )
    return list(ops.split(x, sizes=sizes, axis=axis))


def gather(x: Any, index: Any, axis: int = 0, name: str | None = None) -> Any:
    """Slices of `x` along `axis` at the positions in `index`; repeated ones add their gradients.

    Raises
    ------
    IndexError
        For a position that is negative or too large.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.gather(paddle.to_tensor([1.0, 2.0, 3.0]), paddle.to_tensor([2, 0])).tolist()
    [3.0, 1.0]
    """
    x = as_operand("gather", x)
    index = as_operand("gather", index, "index")
    return ops.gather(x, index, axis=_axis_of("gather", x, axis))


def tril(x: Any, diagonal: int = 0, name: str | None = None) -> Any:
    """The lower triangle of the last two axes, zeros elsewhere."""
    return ops.tril(_matrix("tril", x, diagonal), diagonal=diagonal)


def triu(x: Any, diagonal: int = 0, name: str | None = None) -> Any:
    """The upper triangle of the last two axes, zeros elsewhere."""
    return ops.triu(_matrix("triu", x, diagonal), diagonal=diagonal)


def _matrix(op: str, x: Any, diagonal: Any) -> Any:
    x = as_operand(op, x)
    if not isinstance(diagonal, (int, np.integer)) or isinstance(diagonal, bool):
        raise TypeError(f"{op}: diagonal must be an int, got {diagonal!r}")
    if spec_of(x).ndim < 2:
        raise ShapeError(f"{op}: takes two dimensions or more, got {spec_of(x).ndim}")
    return x


def slice(input: Any, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int]) -> Any:
    """The part from `starts` to `ends` along `axes`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.slice(paddle.arange(5), axes=[0], starts=[1], ends=[3]).tolist()
    [1, 2]
    """
    x = as_operand("slice", input, "input")
    ndim = spec_of(x).ndim
    if not len(axes) == len(starts) == len(ends):
        raise ArgumentError("slice: axes, starts and ends must have one length")
    key: list[Any] = [builtins.slice(None)] * ndim
    for axis, start, end in zip(
        axes, _ints("slice", "starts", starts), _ints("slice", "ends", ends), strict=True
    ):
        key[normalize_axis("slice", axis, ndim)] = builtins.slice(start, end)
    return ops.getitem(x, key=tuple(key))


def getitem(x: Any, key: Any) -> Any:
    """``x[key]`` for ints, slices, None and Ellipsis.

    Raises
    ------
    IndexError
        For an index out of range, or too many of them.
    TypeError
        For a key of another kind.
    """
    parts = key if isinstance(key, tuple) else (key,)
    normal: list[Any] = []
    for part in parts:
        if part is None or part is Ellipsis:
            normal.append(part)
        elif isinstance(part, builtins.slice):
            normal.append(_plain_slice(part))
        elif _is_int(part):
            normal.append(int(part))
        else:
            raise TypeError(
                f"a tensor is indexed by ints, slices, None and ...; got {type(part).__name__}. "
                "For an index array use paddle.gather(x, index, axis)"
            )
    if normal.count(Ellipsis) > 1:
        raise IndexError("an index can have one ... only")
    return ops.getitem(x, key=tuple(normal))


def _is_int(part: Any) -> bool:
    if isinstance(part, Tensor):
        return part.ndim == 0 and part._data.dtype.kind in "iu"
    return isinstance(part, (int, np.integer)) and not isinstance(part, bool)


def _plain_slice(part: builtins.slice) -> builtins.slice:
    def plain(v: Any) -> int | None:
        if v is None:
            return None
        if isinstance(v, (int, np.integer, Tensor)):
            return int(v)
        raise TypeError(f"the bounds of a slice must be ints or None, got {type(v).__name__}")

    if part.step == 0:
        raise IndexError("the step of a slice cannot be 0")
    return builtins.slice(plain(part.start), plain(part.stop), plain(part.step))
