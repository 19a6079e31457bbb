"""Arrays before they exist: in which memory they lie, and how.

The order of elements in memory is part of what makes bits: a sum adds up along it, and a product of
matrices takes another way for a transposed operand. So a plan knows the strides of all arrays.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd_engine.core.spec import Array

__all__ = [
    "Buffer",
    "Local",
    "Place",
    "contiguous",
    "ordered",
    "stand_in",
    "strides_of",
    "view",
    "views",
    "written",
]

DType = np.dtype[Any]
Shape = tuple[int, ...]


class Buffer:
    """Memory of a plan, for one array at a time.

    Attributes
    ----------
    nbytes : int
    persistent : bool
        Whether it holds what stays from one run to the next: it shares its memory with nothing.
    parent, shift : Buffer or None, int
        The buffer that it is a part of, and where in it.
    """

    __slots__ = ("nbytes", "parent", "persistent", "shift")

    def __init__(self, nbytes: int, *, persistent: bool = False) -> None:
        self.nbytes = nbytes
        self.persistent = persistent
        self.parent: Buffer | None = None
        self.shift = 0

    def root(self) -> tuple[Buffer, int]:
        """The buffer that it lies in, and where."""
        buffer, shift = self, 0
        while buffer.parent is not None:
            shift += buffer.shift
            buffer = buffer.parent
        return buffer, shift

    def put_into(self, parent: Buffer, shift: int = 0) -> None:
        self.parent, self.shift = parent, shift


Base = Buffer | int | Array
"""A buffer, the position of an input, or a constant."""


@dataclass(eq=False, repr=False, slots=True)
class Place:
    """Where an array lies: ``strides`` and ``offset`` in bytes, from the beginning of ``base``."""

    base: Base
    shape: Shape
    strides: Shape
    dtype: DType
    offset: int = 0

    @classmethod
    def of(cls, shape: Shape, dtype: DType, *, persistent: bool = False) -> Place:
        """A place of its own, in C order."""
        buffer = Buffer(math.prod(shape) * dtype.itemsize, persistent=persistent)
        return cls(buffer, shape, strides_of(shape, dtype.itemsize), dtype)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def key(self) -> Any:
        """Equal for equal views of one memory."""
        base: Any = self.base
        offset = self.offset
        if isinstance(base, Buffer):
            base, shift = base.root()
            offset += shift
        where = base if isinstance(base, int) else id(base)
        return (where, offset, self.shape, self.strides, self.dtype)

    def view(self, array: Array) -> Array:
        """The same view of memory that begins with `array`, as a flat array of bytes."""
        return np.ndarray(self.shape, self.dtype, array, self.offset, self.strides)

    def part(self, start: int, stop: int) -> Place:
        """Along the first axis."""
        shape = (stop - start, *self.shape[1:])
        offset = self.offset + start * self.strides[0]
        return Place(self.base, shape, self.strides, self.dtype, offset)

    def shaped(self, shape: Shape) -> Place:
        """Of a contiguous place, another shape."""
        strides = strides_of(shape, self.dtype.itemsize)
        return Place(self.base, shape, strides, self.dtype, self.offset)

    def flat(self) -> Place:
        """Of a contiguous place, one axis."""
        return self.shaped((self.size,))

    def typed(self, dtype: DType) -> Place:
        """The same bytes as another dtype of that size."""
        return Place(self.base, self.shape, self.strides, dtype, self.offset)


class Local:
    """An array that a kernel makes when it runs; a plan knows how it lies, or does not.

    Attributes
    ----------
    number : int
    shape, dtype
    in_order : bool
        Whether its axes are known to lie in C order, gaps aside.
    contiguous : bool
        Whether it is known to be in C order without gaps.
    roots : frozenset of Buffer
        Planned memory that it may be a view of.
    """

    __slots__ = ("contiguous", "dtype", "in_order", "number", "roots", "shape")

    def __init__(
        self,
        number: int,
        shape: Shape,
        dtype: DType,
        in_order: bool,
        roots: frozenset[Buffer] = frozenset(),
        *,
        contiguous: bool = False,
    ) -> None:
        self.number = number
        self.shape = shape
        self.dtype = dtype
        self.contiguous = contiguous
        self.in_order = in_order or contiguous or sum(d != 1 for d in shape) <= 1
        self.roots = roots

    @property
    def ndim(self) -> int:
        return len(self.shape)


# Views of it say how views of a buffer lie; no page of it is ever written.
_memory: list[Array] = [np.empty(1 << 20, np.uint8)]


def stand_in(place: Place) -> Array:
    """An array that lies like `place`, and holds anything."""
    extent = place.offset + place.dtype.itemsize
    extent += sum((d - 1) * s for d, s in zip(place.shape, place.strides, strict=True) if s > 0)
    memory = _memory[0]
    if memory.size < extent:
        memory = np.empty(1 << extent.bit_length(), np.uint8)
        _memory[0] = memory
    array = np.ndarray(place.shape, place.dtype, memory, place.offset, place.strides)
    array.flags.writeable = False
    return array


def views(place: Place, function: Callable[[Array], Any]) -> list[Place | Array]:
    """What `function` makes of an array that lies like `place`: places of views, else copies."""
    array = stand_in(place)
    memory = array.base
    assert isinstance(memory, np.ndarray)
    made = function(array)
    found: list[Place | Array] = []
    for result in made if isinstance(made, (tuple, list)) else (made,):
        root = result
        while isinstance(root.base, np.ndarray):
            root = root.base
        if root is not memory:
            found.append(result)
            continue
        offset = result.ctypes.data - memory.ctypes.data
        found.append(Place(place.base, result.shape, result.strides, result.dtype, offset))
    return found


def view(place: Place, function: Callable[[Array], Array]) -> Place:
    """The view that `function` makes of an array that lies like `place`."""
    (found,) = views(place, function)
    assert isinstance(found, Place)
    return found


def strides_of(shape: Sequence[int], itemsize: int) -> Shape:
    """Strides in C order."""
    strides = [itemsize] * len(shape)
    for k in range(len(shape) - 2, -1, -1):
        strides[k] = strides[k + 1] * max(shape[k + 1], 1)
    return tuple(strides)


def contiguous(place: Place) -> bool:
    """Whether it is in C order without gaps."""
    expected = place.dtype.itemsize
    for size, stride in zip(reversed(place.shape), reversed(place.strides), strict=True):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def ordered(place: Place | Local) -> bool:
    """Whether axes lie in C order, gaps and repetition aside: then so do results of ufuncs."""
    if isinstance(place, Local):
        return place.in_order
    behind = 0
    for size, stride in zip(reversed(place.shape), reversed(place.strides), strict=True):
        if size != 1 and stride:
            if stride <= behind:
                return False
            behind = stride
    return True


def written(shape: Shape, dtype: DType, operands: Sequence[Place | Local]) -> Place | None:
    """A new place for what a ufunc makes of `operands`, in the order that NumPy would choose.

    None where that is not known.
    """
    if all(map(ordered, operands)):
        return Place.of(shape, dtype)
    places = [v for v in operands if isinstance(v, Place)]
    if len(places) < len(operands) or any(s < 0 for v in places for s in v.strides):
        return None
    order = _axes_in_order(shape, places)
    if order is None:
        return None
    sizes = [shape[a] for a in order]
    strides = [0] * len(shape)
    for a, stride in zip(order, strides_of(sizes, dtype.itemsize), strict=True):
        strides[a] = stride
    return Place(Buffer(math.prod(shape) * dtype.itemsize), shape, tuple(strides), dtype)


def _axes_in_order(shape: Shape, places: Sequence[Place]) -> list[int] | None:
    """The axes from the slowest to the fastest, where all operands agree on it."""
    for place in places:
        repeats = any(d != 1 and not s for d, s in zip(place.shape, place.strides, strict=True))
        if place.shape == shape and not repeats:
            order = sorted(range(len(shape)), key=lambda a: (-place.strides[a], a))
            break
    else:
        return None
    for place in places:
        lead = len(shape) - place.ndim
        steps = [
            place.strides[a - lead] if a >= lead and place.shape[a - lead] != 1 else 0
            for a in order
        ]
        known = [s for s in steps if s]
        if any(s <= t for s, t in itertools.pairwise(known)):
            return None
    return order
