"""Reading at a key, as NumPy's ``x[key]``; `ops.setitem` writes at one.

A key is a tuple of ints, slices, None and Ellipsis; for `index` and its kin also ``"index"`` and
``"mask"``, which stand for an array of integers or of bools each. The arrays themselves are
operands, in the order of their places, so that they may be computed. Where the result has the axes
that come from arrays is NumPy's rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.core.dims import Dim, fresh_dim, slice_length
from autograd_engine.core.dtypes import BOOL
from autograd_engine.core.spec import (
    Array,
    Like,
    Shape,
    Spec,
    broadcast_shapes,
    format_shape,
    may_equal,
)
from autograd_engine.errors import DTypeError, IndexRangeError, ShapeError
from autograd_engine.ops.infer import index_dtype, like as infer_like, same
from autograd_engine.ops.kernels.accumulate import accumulator, add_elements
from autograd_engine.ops.registry.forms import PICKED
from autograd_engine.ops.registry.opdef import NONDIFF, defop, scattering
from autograd_engine.ops.registry.work import Specs, Work, each_read

__all__ = [
    "Key",
    "Part",
    "check_values",
    "full_key",
    "indexed_shape",
    "parts_of",
    "positions_of",
    "read",
]

Key = tuple[Any, ...]


class Part(NamedTuple):
    """One entry of a key: the axes it takes are `axis` up to ``axis + taken``."""

    entry: Any
    axis: int
    taken: int
    array: Any = None


def _is_array(entry: Any) -> bool:
    return isinstance(entry, str)


def parts_of(shape: Shape, arrays: Sequence[Any], key: Key) -> list[Part]:
    """The entries of `key` with their axes, Ellipsis made as wide as it is, and one at the end.

    `arrays` is anything with a shape and a dtype. Raises IndexError for too many entries.
    """
    given = iter(arrays)
    held: list[Any] = [next(given) if _is_array(entry) else None for entry in key]
    widths = [
        0 if e is None or e is Ellipsis else len(a.shape) if e == "mask" else 1
        for e, a in zip(key, held, strict=True)
    ]
    taken = sum(widths)
    if taken > len(shape):
        raise IndexRangeError(
            f"too many indices: {taken} for an array with {len(shape)} dimensions "
            f"{format_shape(shape)}"
        )
    parts, axis = [], 0
    for entry, array, width in zip(key, held, widths, strict=True):
        width = len(shape) - taken if entry is Ellipsis else width
        parts.append(Part(entry, axis, width, array))
        axis += width
    parts.append(Part(Ellipsis, axis, len(shape) - axis))
    return parts


def indexed_shape(shape: Shape, arrays: Sequence[Any], key: Key) -> Shape:
    """Shape of ``x[key]``; a mask takes as many elements as it has ones, which nobody knows."""
    parts = parts_of(shape, arrays, key)
    advanced = any(_is_array(p.entry) for p in parts)
    out: list[Any] = []
    shapes: list[Shape] = []
    place, broken, last = 0, False, -2
    for k, part in enumerate(parts):
        entry, axis = part.entry, part.axis
        if _is_array(entry) or isinstance(entry, (int, Dim)):
            if advanced:  # an int beside arrays is a 0-d array
                place = place if shapes else len(out)
                broken = broken or (bool(shapes) and last != k - 1)
                last = k
            shapes.append(_entry_shape(shape, part))
        elif entry is None:
            out.append(1)
        elif isinstance(entry, slice):
            out.append(slice_length(shape[axis], entry.start, entry.stop, entry.step))
        else:
            out.extend(shape[axis : axis + part.taken])
    if not advanced:
        return tuple(out)
    if broken:
        place = 0
    together = _meet(shapes)
    return (*out[:place], *together, *out[place:])


def _meet(shapes: list[Shape]) -> Shape:
    try:
        return broadcast_shapes("x[...]", *shapes)
    except ShapeError:
        listed = " and ".join(map(format_shape, shapes))
        raise IndexRangeError(
            f"the index arrays of one key must broadcast, and {listed} do not; index one axis "
            "after the other, x[i][:, j], for all combinations"
        ) from None


def _entry_shape(shape: Shape, part: Part) -> Shape:
    """Shape of what an int, an index array or a mask contributes; checks what can be checked."""
    entry, axis, _, array = part
    if entry == "mask":
        _check_mask(shape, part)
        return (fresh_dim(),)
    if entry == "index":
        index_dtype("x[...]", "the index", array)
        return tuple(array.shape)
    size = shape[axis]
    if not isinstance(size, Dim) and not isinstance(entry, Dim) and not -size <= entry < size:
        raise IndexRangeError(_out_of_range(entry, axis, size))
    return ()


def _out_of_range(entry: Any, axis: int, size: int) -> str:
    return f"index {entry} is out of range for axis {axis} of size {size}; " + (
        f"use {-size} to {size - 1}" if size else "an empty axis has no index"
    )


def _check_mask(shape: Shape, part: Part) -> None:
    _, axis, taken, array = part
    if array.dtype != BOOL:
        raise DTypeError(
            f"x[mask]: the mask must hold bools, got {array.dtype.name}; use mask.astype('bool')"
        )
    there = shape[axis : axis + taken]
    if not may_equal(there, tuple(array.shape)):
        raise IndexRangeError(
            f"a mask of shape {format_shape(array.shape)} on axes {axis} to {axis + taken - 1} of "
            f"{format_shape(shape)} must have the sizes of these, {format_shape(there)}; expand it"
        )


# --- slices alone


def _getitem(x: Array, *, key: Key) -> Array:
    taken: Array = x[key]
    return taken if taken.__class__ is np.ndarray else np.asarray(taken)


def _infer_getitem(x: Spec, *, key: Key) -> Spec:
    return Spec(indexed_shape(x.shape, (), key), x.dtype)


def _unslice_like(x: Array, like: Like, *, key: Key) -> Array:
    """Zeros but for `x` at `key`: basic slices never visit an element twice.

    It is added to the zeros, which makes 0 of -0, as in sums of such parts (`_place_slice`).
    """
    out = np.zeros(like.shape, x.dtype)
    out[key] += x
    return out


defop(
    "getitem", _getitem, inputs="x", infer=_infer_getitem, **PICKED, zero_gradient="not_chosen"
).vjp(
    x=scattering("x", lambda xp, g, x_like, *, key: xp.scatter("unslice_like", g, x_like, key=key))
).writes(lambda xp, value, x, *, key: xp.setitem(x, value, key=key))
unslice_like = defop(
    "unslice_like",
    _unslice_like,
    inputs="x like",
    infer=infer_like,
    tangent="linear",
    elements="padded",
    result="contiguous",
)
unslice_like.vjp(x=lambda xp, g, *, key: xp.getitem(g, key=key), like=NONDIFF)


def _place_slice(out: Array, values: Array, *, key: Key) -> None:
    out[key] += values


def _unslice_add(base: Array, *xs: Array, keys: tuple[Key, ...]) -> Array:
    """`base` with each of `xs` added at its key, one after the other."""
    out = np.asarray(np.add(base, 0, order="C"))  # a number, where there are no dimensions
    for x, key in zip(xs, keys, strict=True):
        _place_slice(out, x, key=key)
    return out


class _Slices:
    """``g[key]`` for each of the keys, taken when asked for."""

    def __init__(self, xp: Any, g: Any, keys: tuple[Key, ...]) -> None:
        self.xp, self.g, self.keys = xp, g, keys

    def __getitem__(self, k: int) -> Any:
        return self.xp.getitem(self.g, key=self.keys[k])


def _additions(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
    """Each part is added where it lies."""
    return Work(0, sum([x.size for x in operands[1:]], 0))


defop(
    "unslice_add",
    _unslice_add,
    inputs="base *xs",
    infer=same,
    dtypes="common",
    tangent="linear",
    work=_additions,
).vjp(base=lambda xp, g: g, xs=lambda xp, g, *, keys: _Slices(xp, g, keys))


def _record_slices(xp: Any, base: Any, like: Like, parts: Any) -> Any:
    start = xp.zeros_like(like) if base is None else base
    keys = tuple([attrs["key"] for _, _, attrs in parts])
    return xp.unslice_add(start, *[values for values, _, _ in parts], keys=keys)


unslice_like.scatters(_place_slice, _record_slices)


# --- index arrays and masks


def full_key(key: Key, arrays: Sequence[Array]) -> Key:
    """`key` with its arrays in their places."""
    given = iter(arrays)
    return tuple([next(given) if _is_array(entry) else entry for entry in key])


def read(x: Array, arrays: Sequence[Array], key: Key) -> Array:
    try:
        return np.asarray(x[full_key(key, arrays)])
    except IndexError as error:
        indexed_shape(x.shape, arrays, key)
        for entry, axis, _, array in parts_of(x.shape, arrays, key):
            size = x.shape[axis] if axis < x.ndim else 0
            if entry == "index" and array.size and not -size <= array.min() <= array.max() < size:
                bad = array[(array < -size) | (array >= size)].ravel()[0]
                raise IndexRangeError(_out_of_range(bad, axis, size)) from None
        raise error


def positions_of(shape: tuple[int, ...], arrays: Sequence[Array], key: Key) -> Array:
    """Flat positions of the elements that `key` takes from an array of `shape`."""
    return read(np.arange(np.prod(shape, dtype=np.intp)).reshape(shape), arrays, key)


def _index(x: Array, *indices: Array, key: Key) -> Array:
    return read(x, indices, key)


def _index_add_like(x: Array, like: Like, *indices: Array, key: Key) -> Array:
    """Zeros with each element of `x` added at its place in `key`: the adjoint of index."""
    out = accumulator(like.shape, x.dtype)
    if "index" not in key:  # slices and masks meet no element twice
        full = full_key(key, indices)
        check_values(x.shape, np.broadcast_to(np.int8(0), like.shape)[full].shape)
        out[full] = x
    else:
        positions = positions_of(like.shape, indices, key)
        check_values(x.shape, positions.shape)
        add_elements(out, positions, x)
    return out.astype(x.dtype, copy=False)


def check_values(x: Shape, there: Shape) -> None:
    """One value for each element: NumPy would broadcast without a word."""
    if x != there and not may_equal(x, there):
        raise ShapeError(
            f"index_add_like: {format_shape(there)} elements are indexed, and the values have "
            f"shape {format_shape(x)}"
        )


def _infer_index_add(x: Spec, like: Spec, *indices: Spec, key: Key) -> Spec:
    check_values(x.shape, indexed_shape(like.shape, indices, key))
    return Spec(like.shape, x.dtype)


defop(
    "index",
    _index,
    inputs="x *indices",
    infer=lambda x, *indices, key: Spec(indexed_shape(x.shape, indices, key), x.dtype),
    tangent="linear",
    elements="picked",
    checks_values=True,
).vjp(
    x=lambda xp, g, x_like, indices, *, key: xp.index_add_like(g, x_like, *indices, key=key),
    indices=NONDIFF,
)
defop(
    "index_add_like",
    _index_add_like,
    inputs="x like *indices",
    infer=_infer_index_add,
    tangent="linear",
    checks_values=True,
    work=each_read(),
).vjp(
    x=lambda xp, g, indices, *, key: xp.index(g, *indices, key=key),
    like=NONDIFF,
    indices=NONDIFF,
)
