"""Specs: what is known of an array before it exists, its shape and dtype."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.checks import as_number, is_int
from autograd_engine.core.dims import (
    Dim,
    Size,
    SymbolicNumber,
    fresh_dim,
    product,
)
from autograd_engine.core.dtypes import FLOATS, INTEGERS
from autograd_engine.core.operand import Operand
from autograd_engine.errors import ArgumentTypeError, ShapeError

__all__ = [
    "Array",
    "Like",
    "Shape",
    "Spec",
    "ValueSpec",
    "along",
    "broadcast_shapes",
    "format_shape",
    "known_value",
    "matmul_shape",
    "may_equal",
    "normalize_axes",
    "normalize_axis",
    "reduced_shape",
    "reshaped",
    "without_value",
]

Array: TypeAlias = NDArray[Any]
Shape: TypeAlias = tuple[Size, ...]


class Like(Protocol):
    """Anything that has a shape and a dtype; `*_like` operations ask for no more."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...


class Spec:
    """Shape and dtype of an array. Sizes that are not known yet are `Dim` objects."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: Shape, dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and self.shape == other.shape and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"{self.dtype.name}{format_shape(self.shape)}"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Size:
        return product(self.shape)


class ValueSpec(Spec):
    """The Spec of a small array whose values are known: integers, sizes (`Dim`), or one float.

    Attributes
    ----------
    value : ndarray
        Of objects, in the shape of the array.
    """

    __slots__ = ("value",)

    def __init__(self, dtype: np.dtype[Any], value: Any) -> None:
        given = np.asarray(value)
        super().__init__(given.shape, dtype)
        self.value = np.empty(given.shape, object)
        self.value[...] = given

    @classmethod
    def of(cls, spec: Spec, value: Any) -> Spec:
        """`spec`, with `value` if that is short and of integers."""
        small = isinstance(spec.size, int) and spec.size <= _MOST_VALUES
        return cls(spec.dtype, value) if small and spec.dtype in INTEGERS else spec

    @classmethod
    def constant(cls, spec: Spec, value: Any) -> Spec:
        """`spec` of what a program holds, an array or a number throughout: one float is known, too.

        A number that is no integer, in an array of integers, counts as unknown.
        """
        whole = spec.dtype in INTEGERS and np.asarray(value).dtype in INTEGERS
        most = _MOST_VALUES if whole else spec.dtype in FLOATS
        if isinstance(spec.size, int) and spec.size <= most:
            shape: Any = spec.shape
            return cls(spec.dtype, np.broadcast_to(value, shape))
        return spec


_MOST_VALUES: Final = 64


def known_value(spec: Spec) -> Any:
    """The values of an array as an ndarray of objects; None where they are not known."""
    return spec.value if isinstance(spec, ValueSpec) else None


def without_value(spec: Spec) -> Spec:
    return Spec(spec.shape, spec.dtype) if isinstance(spec, ValueSpec) else spec


def format_shape(shape: Iterable[Size]) -> str:
    """``[?, 3]``: unknown sizes print as question marks."""
    return "[" + ", ".join("?" if isinstance(d, Dim) else str(d) for d in shape) + "]"


def broadcast_shapes(op: str, *shapes: Shape) -> Shape:
    """Shape of the broadcast of `shapes` (NumPy's rule).

    An unknown size beside 1 stays; beside a known size above 1 it must be that size or 1, so
    the known size results; two different unknown sizes give a new one.
    """
    if shapes and all(s == shapes[0] for s in shapes):
        return shapes[0]
    ndim = max(len(s) for s in shapes)
    out: list[Size] = []
    for axis in range(-ndim, 0):
        sizes = {s[axis] for s in shapes if len(s) >= -axis} - {1}
        known = {d for d in sizes if not isinstance(d, Dim)}
        if len(known) > 1:
            raise ShapeError(
                f"{op}: shapes {' and '.join(format_shape(s) for s in shapes)} do not broadcast: "
                f"axis {axis} has sizes {' and '.join(map(str, sorted(known)))}; "
                "reshape or expand one so that they are equal or 1"
            )
        if known:
            out.append(known.pop())
        elif len(sizes) == 1:
            out.append(sizes.pop())
        else:
            out.append(fresh_dim() if sizes else 1)
    return tuple(out)


def may_equal(a: Shape, b: Shape) -> bool:
    """Whether two shapes can be the same: unknown sizes fit any."""
    return a == b or (
        len(a) == len(b)
        and all(
            m == n or isinstance(m, Dim) or isinstance(n, Dim) for m, n in zip(a, b, strict=True)
        )
    )


def normalize_axis(op: str, axis: int, ndim: int) -> int:
    """`axis` counted from the front; a ShapeError when there is no such axis.

    A 0-d array is looked at along 0 or -1 as if it had one axis, of which there is one element.
    """
    if type(axis) is not int:  # whose `__class__` a symbolic number has
        axis, given = as_number(axis), axis
        if isinstance(axis, SymbolicNumber):
            axis.refuse_axis(op, ndim)
        if not is_int(axis):
            raise ArgumentTypeError(
                f"{op}: axis must be an int, got {given!r} ({type(given).__name__})"
            )
    if not -max(ndim, 1) <= axis < max(ndim, 1):
        raise ShapeError(
            f"{op}: axis {axis} is out of range for an array with {ndim} dimensions; "
            f"use {-ndim} to {ndim - 1}"
            if ndim
            else f"{op}: axis {axis} given for a 0-d array, which has no axes; use 0, -1 or None"
        )
    return int(axis) % ndim if ndim else 0


def normalize_axes(op: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Sorted distinct axes counted from the front; all of them for None."""
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, Operand) and len(axis.shape):
        axis = list(axis)  # type: ignore[call-overload]
    if isinstance(axis, (list, tuple)):
        axes = [normalize_axis(op, a, ndim) for a in axis]
    else:
        axes = [normalize_axis(op, axis, ndim)]
    if not ndim:
        return ()
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{op}: axis {tuple(axis)} names an axis twice")
    return tuple(sorted(axes))


@functools.lru_cache(maxsize=128)
def along(ndim: int, axis: int) -> tuple[int, ...]:
    """The shape in which a vector lies along `axis` of an array of so many axes."""
    return tuple(-1 if i == axis else 1 for i in range(ndim))


def reduced_shape(shape: Shape, axes: Iterable[int], keepdims: bool) -> Shape:
    """`shape` with `axes` dropped, or kept as 1."""
    gone = set(axes)
    if keepdims:
        return tuple(1 if i in gone else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in gone)


def matmul_shape(op: str, x: Shape, y: Shape) -> Shape:
    """Shape of ``x @ y`` (NumPy's rule, batch dimensions broadcast)."""
    if not x or not y:
        raise ShapeError(f"{op}: takes arrays of one or more dimensions; use multiply for 0-d")
    inner_x, inner_y = x[-1], y[-2] if len(y) > 1 else y[-1]
    if inner_x != inner_y and not isinstance(inner_x, Dim) and not isinstance(inner_y, Dim):
        raise ShapeError(
            f"{op}: {format_shape(x)} @ {format_shape(y)}: the last size of x ({inner_x}) must "
            f"equal the {'second to last' if len(y) > 1 else 'only'} size of y ({inner_y}); "
            "transpose one of them"
        )
    batch = broadcast_shapes(op, x[:-2], y[:-2]) if len(x) > 2 or len(y) > 2 else ()
    return (*batch, *x[-2:-1], *(y[-1:] if len(y) > 1 else ()))


def reshaped(op: str, shape: Shape, new: Sequence[int]) -> Shape:
    """Shape after reshaping `shape` to `new`: 0 keeps the size at its place, -1 is worked out."""
    if sum(1 for d in new if d == -1) > 1:
        raise ShapeError(f"{op}: shape {list(new)} has more than one -1; give all sizes but one")
    sizes: list[Size] = []
    for i, d in enumerate(new):
        if d < -1 or (d == 0 and i >= len(shape) and product(shape) != 0):
            raise ShapeError(
                f"{op}: size {d} at position {i} of {list(new)} is no size; use -1 for one that "
                "is to be worked out, 0 to keep the size of the input at that position"
            )
        sizes.append(shape[i] if d == 0 and i < len(shape) else d)
    total = product(shape)
    if -1 in sizes:
        hole = sizes.index(-1)
        rest = product(d for i, d in enumerate(sizes) if i != hole)
        if rest == 0:
            raise ShapeError(f"{op}: -1 in {list(new)} cannot be worked out beside a size of 0")
        sizes[hole] = total // rest
    have = product(sizes)
    if have != total and not isinstance(have, Dim) and not isinstance(total, Dim):
        raise ShapeError(
            f"{op}: {format_shape(shape)} has {total} elements and cannot become {list(new)}, "
            f"which has {have}; use -1 for one size to have it worked out"
        )
    return tuple(sizes)
