"""Sorting, and finding elements: unique, nonzero, positions in what is sorted."""

from __future__ import annotations

from typing import Any, Literal, overload

from autograd_engine.core.dtypes import DTypeLike, to_numpy
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import axis_of

__all__ = [
    "argsort",
    "argwhere",
    "bucketize",
    "isin",
    "msort",
    "nonzero",
    "searchsorted",
    "sort",
    "unique",
    "unique_consecutive",
]


@atomic
def sort(
    x: Any, axis: int = -1, descending: bool = False, stable: bool = False, name: str | None = None
) -> Tensor:
    """The elements along `axis` in order. NaN is larger than any number.

    The sort is stable, whatever `stable` says: equal elements keep their order, and so do their
    gradients.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.sort(paddle.to_tensor([3.0, 1.0, 2.0]), descending=True).tolist()
    [3.0, 2.0, 1.0]
    """
    x = as_operand("sort", x)
    axis = axis_of("sort", x, axis, scalars=True)
    if not spec_of(x).ndim:
        return ops.assign(x)
    return ops.sort(x, axis=axis, descending=bool(descending))[0]


def msort(input: Any) -> Tensor:
    """The elements along the first axis in ascending order."""
    return sort(input, axis=0)


@atomic
def argsort(
    x: Any, axis: int = -1, descending: bool = False, stable: bool = False, name: str | None = None
) -> Tensor:
    """Positions along `axis` in the order of their values, int64; equal ones keep their order.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.argsort(paddle.to_tensor([3.0, 1.0, 2.0])).tolist()
    [1, 2, 0]
    """
    x = as_operand("argsort", x)
    axis = axis_of("argsort", x, axis, scalars=True)
    if not spec_of(x).ndim:
        return ops.full_like(x, value=0, dtype="int64")
    return ops.argsort(x, axis=axis, descending=bool(descending))


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
    *,
    side: str | None = None,
    sorter: Any = None,
) -> Tensor:
    """Where each of `values` would be put into `sorted_sequence` to keep it sorted.

    Parameters
    ----------
    sorted_sequence : Tensor or Variable
        Ascending along its last axis. One axis, or those of `values` with sizes that are equal on
        all but the last.
    values : Tensor or Variable
    out_int32 : bool
        Give int32 instead of int64.
    right : bool
        Behind elements that are equal, instead of before them.
    side : {"left", "right"}, optional
        The same in a word.
    sorter : Tensor or Variable, optional
        Positions that sort `sorted_sequence`, as of `argsort`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> edges = paddle.to_tensor([1, 3, 5])
    >>> paddle.searchsorted(edges, paddle.to_tensor([3, 6])).tolist()
    [1, 3]
    >>> paddle.searchsorted(edges, paddle.to_tensor([3, 6]), right=True).tolist()
    [2, 3]
    """
    sequence = as_operand("searchsorted", sorted_sequence, "sorted_sequence")
    values = as_operand("searchsorted", values, "values")
    if side not in (None, "left", "right") or (side == "left" and right):
        raise ArgumentError(
            f"searchsorted: side must be 'left' or 'right', and agree with right, got {side!r} "
            f"with right={right}"
        )
    if sorter is not None:
        axis = axis_of("searchsorted", sequence, -1)
        sequence = ops.take_along_axis(sequence, as_operand("searchsorted", sorter), axis=axis)
    out = ops.searchsorted(sequence, values, right=bool(right) or side == "right")
    return ops.cast(out, dtype="int32") if out_int32 else out


def bucketize(
    x: Any,
    sorted_sequence: Any,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
) -> Tensor:
    """Between which of the edges in `sorted_sequence` each element of `x` lies.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.bucketize(paddle.to_tensor([0, 2, 9]), paddle.to_tensor([1, 5])).tolist()
    [0, 1, 2]
    """
    sequence = as_operand("bucketize", sorted_sequence, "sorted_sequence")
    if spec_of(sequence).ndim != 1:
        raise ShapeError(
            f"bucketize: sorted_sequence must have one axis, got "
            f"{format_shape(spec_of(sequence).shape)}; use paddle.searchsorted"
        )
    return searchsorted(sequence, as_operand("bucketize", x), out_int32, right)


def isin(
    x: Any,
    test_x: Any,
    assume_unique: bool = False,
    invert: bool = False,
    name: str | None = None,
) -> Tensor:
    """Whether each element of `x` is among those of `test_x` (or is not, with `invert`).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.isin(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([3, 1])).tolist()
    [True, False, True]
    """
    return ops.isin(as_operand("isin", x), as_operand("isin", test_x, "test_x"), invert=invert)


@overload
def nonzero(x: Any, as_tuple: Literal[False] = False) -> Tensor: ...


@overload
def nonzero(x: Any, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...


@overload
def nonzero(x: Any, as_tuple: bool) -> Any: ...


def nonzero(x: Any, as_tuple: bool = False) -> Any:
    """Positions of the elements that are not 0, in order, int64.

    Parameters
    ----------
    x : Tensor or Variable
    as_tuple : bool
        One array of positions for each axis, as indices; else one row for each element.

    Returns
    -------
    Tensor or Variable of shape [n, x.ndim], or a tuple of x.ndim of shape [n]
        In a program n is an unknown size.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nonzero(paddle.to_tensor([[1, 0], [0, 2]])).tolist()
    [[0, 0], [1, 1]]
    """
    x = as_operand("nonzero", x)
    axis_of("nonzero", x, 0)
    rows = ops.nonzero(x)
    return tuple(ops.unstack(rows, axis=1)) if as_tuple else rows


def argwhere(input: Any) -> Tensor:
    """Positions of the elements that are not 0, a row for each: `nonzero`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.argwhere(paddle.to_tensor([[1, 0], [0, 2]])).tolist()
    [[0, 0], [1, 1]]
    """
    return nonzero(as_operand("argwhere", input, "input"))


@atomic
def unique(
    x: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    sorted: bool = True,
    name: str | None = None,
) -> Any:
    """The distinct elements of `x`, sorted; or its distinct slices along `axis`.

    Not differentiable.

    Parameters
    ----------
    x : Tensor or Variable
    return_index : bool
        Also the position at which each occurs first.
    return_inverse : bool
        Also where each element of `x` (flattened) is in the result.
    return_counts : bool
        Also how often each occurs.
    axis : int, optional
        None flattens `x`.
    dtype : {"int64", "int32"}
        Of positions and counts.
    sorted : bool
        The result is sorted in any case.

    Returns
    -------
    Tensor or Variable, or a tuple of them
        In a program the number of distinct elements is an unknown size.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> out, counts = paddle.unique(paddle.to_tensor([3, 1, 3]), return_counts=True)
    >>> out.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    """
    x = as_operand("unique", x)
    out, *numbers = ops.unique(x, axis=None if axis is None else axis_of("unique", x, axis))
    wanted = (return_index, return_inverse, return_counts)
    return _with_numbers("unique", out, numbers, wanted, dtype)


@atomic
def unique_consecutive(
    x: Any,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Any:
    """The first of each run of equal elements of `x`, or of equal slices along `axis`.

    Not differentiable. The other arguments are those of `unique`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.unique_consecutive(paddle.to_tensor([1, 1, 2, 1])).tolist()
    [1, 2, 1]
    """
    op = "unique_consecutive"
    x = as_operand(op, x)
    out, *numbers = ops.unique_consecutive(x, axis=None if axis is None else axis_of(op, x, axis))
    return _with_numbers(op, out, numbers, (return_inverse, return_counts), dtype)


def _with_numbers(op: str, out: Any, numbers: Any, wanted: Any, dtype: DTypeLike) -> Any:
    """`out` alone, or in a tuple with those of `numbers` that are wanted."""
    name = to_numpy(dtype).name
    if name not in ("int32", "int64"):
        raise ArgumentError(f"{op}: dtype must be 'int32' or 'int64', got {name!r}")
    asked = [n for n, given in zip(numbers, wanted, strict=True) if given]
    if name == "int32":
        asked = [ops.cast(n, dtype=name) for n in asked]
    return (out, *asked) if asked else out
