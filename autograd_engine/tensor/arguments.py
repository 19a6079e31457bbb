"""Checks of arguments: ints, axes, lists of tensors, positions and masks, shapes that meet."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import as_int, as_number, is_int
from autograd_engine.core.dims import Dim, Size, SymbolicNumber
from autograd_engine.core.dtypes import BOOLS, COMPLEX, DTypeLike, to_numpy
from autograd_engine.core.operand import Operand
from autograd_engine.core.spec import (
    Shape,
    broadcast_shapes,
    format_shape,
    normalize_axis,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    ShapeError,
)
from autograd_engine.ops.infer import index_dtype
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, shape_of, spec_of
from autograd_engine.program.symbolic_number import numbers_in

__all__ = [
    "along_grids",
    "as_index",
    "as_mask",
    "axis_of",
    "check_smaller",
    "expanded",
    "factor",
    "in_dtype",
    "index_columns",
    "integer",
    "ints",
    "is_open",
    "known",
    "lined_up",
    "meeting",
    "operands",
    "times",
]


def in_dtype(out: Any, dtype: DTypeLike | None) -> Any:
    """`out` in the dtype that was asked for, if one was; integers that do not fit wrap."""
    if dtype is None or spec_of(out).dtype == (chosen := to_numpy(dtype)):
        return out
    return ops.cast(out, dtype=chosen.name)


def factor(op: str, argument: str, value: Any, x: Any = None) -> Any:
    """A number that `x` is computed with, or a tensor: as it is, so that it keeps a gradient.

    A complex one is for a complex `x`.
    """
    if value.__class__ is float or isinstance(value, (int, float, np.generic, np.ndarray, Operand)):
        return value
    if isinstance(value, complex) and x is not None and spec_of(x).dtype in COMPLEX:
        return value
    raise ArgumentTypeError(f"{op}: {argument} must be a number, got {value!r:.60}")


def times(value: Any, factor: Any) -> Any:
    """The product, which is `value` for 1; a tensor has a gradient also where it is 1 now."""
    plain = isinstance(factor, (int, float, np.generic)) and factor == 1
    return value if plain else ops.multiply(value, factor)


def integer(op: str, argument: str, value: Any) -> int:
    """An int, or a tensor that holds one; a TypeError for anything else."""
    if type(value) is int:  # whose `__class__` an unknown size has
        return value
    found = value if is_int(value) else as_number(value)
    if not is_int(found):
        raise ArgumentTypeError(f"{op}: {argument} must be an int, got {value!r}")
    number: int = as_int(found)
    return number


def ints(op: str, argument: str, values: Any) -> tuple[int, ...]:
    """Ints as a tuple: of one int, a list of them, or an integer tensor; some may be symbolic."""
    if values.__class__ is list or values.__class__ is tuple:
        for v in values:
            if type(v) is not int:  # whose `__class__` an unknown size has
                break
        else:
            return tuple(values)
    if isinstance(values, (Tensor, np.ndarray)):
        values = values.tolist()
    elif isinstance(values, Variable):
        values = numbers_in(values)
    if is_int(values):
        return (as_int(values),)
    found = values
    if isinstance(values, (list, tuple)):
        found = [v if is_int(v) else as_number(v) for v in values]
    if not isinstance(found, list) or not builtins.all(map(is_int, found)):
        raise ArgumentTypeError(f"{op}: {argument} must hold ints, got {values!r}")
    return tuple([as_int(v) for v in found])


def axis_of(op: str, x: Any, axis: Any, *, scalars: bool = False) -> int:
    """An axis that exists: a 0-d array has none to cut or join along.

    With `scalars` it is looked at along 0 or -1, as a line of one element.
    """
    ndim = len(shape_of(x))
    if not ndim and not scalars:
        raise ShapeError(f"{op}: takes one dimension or more, got a 0-d array; use reshape([1])")
    return normalize_axis(op, axis, ndim)


def operands(op: str, x: Any, argument: str = "x") -> list[Any]:
    """The arrays of a list or tuple, of which there is at least one."""
    if not isinstance(x, (list, tuple)):
        raise ArgumentTypeError(
            f"{op}: {argument} must be a list or tuple of arrays, got {type(x).__name__}"
        )
    if not x:
        raise ArgumentError(f"{op}: {argument} is empty; give one array at least")
    return [
        v if v.__class__ is Tensor else as_operand(op, v, f"{argument}[{k}]")
        for k, v in enumerate(x)
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
    if spec_of(mask).dtype not in BOOLS:
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


def is_open(number: Any) -> bool:
    """Whether it is known when a program runs, and not while it is built."""
    return isinstance(number, SymbolicNumber)


_INT: Final = frozenset((int,))


def known(numbers: Sequence[Any]) -> Sequence[Any]:
    """The numbers that are known while a program is built: `numbers` itself where all are."""
    if _INT.issuperset(map(type, numbers)):
        return numbers
    return [n for n in numbers if not is_open(n)]
