"""What operations are lowered to: scalar maps, reductions, products, copies into parts, kernels.

A `Buffer` is memory that one node fills, in C order. A `Term` is how memory is seen: an offset, a
stride for each axis (in elements, 0 where it is broadcast), or a number. Movements of data
(transposes, slices, broadcasts) change terms only, and cost nothing.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from autograd_engine.core.spec import Array

__all__ = [
    "Assemble",
    "Buffer",
    "Callback",
    "Check",
    "Kernel",
    "Map",
    "Product",
    "Reduce",
    "Step",
    "Term",
    "contiguous_strides",
    "readers_of",
    "reshaped_strides",
    "term_of",
]

Shape = tuple[int, ...]


@functools.lru_cache(maxsize=4096)
def contiguous_strides(shape: Shape) -> Shape:
    """Strides of an array in C order."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


class Buffer:
    """Memory of one array.

    Attributes
    ----------
    shape, dtype
    maker : Step or None
        What fills it; None of an input or constant.
    input : int or None
        Position among the inputs of the function.
    constant : ndarray or None
        What it holds, of an array that the program has.
    place : tuple of (Buffer, int) or None
        Another buffer, and the element of it, at which this one lies.
    number : int
        Counts the buffers of a program.
    """

    __slots__ = ("constant", "dtype", "input", "maker", "number", "place", "shape")

    def __init__(self, shape: Shape, dtype: np.dtype[Any], number: int) -> None:
        self.shape = shape
        self.dtype = dtype
        self.number = number
        self.maker: Step | None = None
        self.input: int | None = None
        self.constant: Array | None = None
        self.place: tuple[Buffer, int] | None = None

    def __repr__(self) -> str:
        return f"b{self.number}:{self.dtype.name}{list(self.shape)}"

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def root(self) -> tuple[Buffer, int]:
        """The buffer that has memory of its own, and where in it this one begins."""
        buffer, offset = self, 0
        while buffer.place is not None:
            buffer, more = buffer.place
            offset += more
        return buffer, offset


class Term:
    """A view of a buffer, or a number.

    Attributes
    ----------
    buffer : Buffer or None
        None of a number.
    number : Python scalar or None
    offset : int
    strides, shape : tuple of int
    dtype : dtype
        That of the elements as a loop takes them: floats of 16 bits may be taken in float32.
    """

    __slots__ = ("buffer", "dtype", "number", "offset", "shape", "strides")

    def __init__(
        self,
        buffer: Buffer | None,
        shape: Shape,
        strides: Shape,
        offset: int = 0,
        number: Any = None,
        dtype: np.dtype[Any] | None = None,
    ) -> None:
        self.buffer = buffer
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self.number = number
        self.dtype: np.dtype[Any] = buffer.dtype if dtype is None else dtype  # type: ignore[union-attr]

    def __repr__(self) -> str:
        if self.buffer is None:
            return f"{self.number!r}:{self.dtype.name}{list(self.shape)}"
        return f"{self.buffer!r}+{self.offset}{list(self.shape)}/{list(self.strides)}"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def converted(self) -> bool:
        """Whether its elements are in memory in another dtype, which loops alone can read."""
        return self.buffer is not None and self.buffer.dtype != self.dtype

    def taken_in(self, dtype: np.dtype[Any]) -> Term:
        """The same elements, converted where they are read."""
        return Term(self.buffer, self.shape, self.strides, self.offset, self.number, dtype)

    @property
    def contiguous(self) -> bool:
        """Whether its elements follow one another in C order."""
        if self.buffer is None:
            return False
        expected = contiguous_strides(self.shape)
        return all(
            n == 1 or s == e for n, s, e in zip(self.shape, self.strides, expected, strict=True)
        )

    @property
    def whole(self) -> bool:
        """Whether it is all of its buffer, in order."""
        return (
            self.buffer is not None
            and self.offset == 0
            and self.size == self.buffer.size
            and self.contiguous
        )

    def seen(self, shape: Shape, strides: Shape, offset: int = 0) -> Term:
        """The same memory seen otherwise; `offset` is added."""
        return Term(self.buffer, shape, strides, self.offset + offset, self.number, self.dtype)

    def broadcast(self, shape: Shape) -> Term:
        lead = len(shape) - len(self.shape)
        strides = [0] * lead
        for have, want, stride in zip(self.shape, shape[lead:], self.strides, strict=True):
            if have not in (want, 1):
                raise ValueError(f"{self.shape} cannot become {shape}")
            strides.append(stride if have == want else 0)
        return self.seen(shape, tuple(strides))

    def transposed(self, perm: Sequence[int]) -> Term:
        """With these axes, in this order; those that are left out have size 1."""
        return self.seen(tuple(self.shape[p] for p in perm), tuple(self.strides[p] for p in perm))

    def expanded(self, axes: Sequence[int]) -> Term:
        """With axes of size 1 at these places of the result."""
        shape, strides = list(self.shape), list(self.strides)
        for axis in sorted(axes):
            shape.insert(axis, 1)
            strides.insert(axis, 0)
        return self.seen(tuple(shape), tuple(strides))

    def sliced(self, axis: int, start: int, count: int, step: int = 1) -> Term:
        shape, strides = list(self.shape), list(self.strides)
        offset = start * strides[axis]
        shape[axis] = count
        strides[axis] *= step
        return self.seen(tuple(shape), tuple(strides), offset if self.buffer is not None else 0)

    def dropped(self, axis: int, index: int) -> Term:
        """The part at one index of an axis, without that axis."""
        part = self.sliced(axis, index, 1)
        return part.transposed([k for k in range(self.ndim) if k != axis])

    def matrix(self) -> tuple[bool, int] | None:
        """How BLAS reads the last two axes: whether transposed, and the distance of rows there.

        None where it cannot: one of their strides has to be 1.
        """
        if self.buffer is None:
            return None
        (rows, columns), (s, t) = self.shape[-2:], self.strides[-2:]
        if (t == 1 or columns == 1) and (s >= columns or rows == 1):
            return False, s if rows > 1 else max(columns, 1)
        if (s == 1 or rows == 1) and (t >= rows or columns == 1):
            return True, t if columns > 1 else max(rows, 1)
        return None

    def reshaped(self, shape: Shape) -> Term | None:
        """None where the elements would have to be copied."""
        strides = reshaped_strides(self.shape, self.strides, shape)
        return None if strides is None else self.seen(shape, strides)


def reshaped_strides(shape: Shape, strides: Shape, new: Shape) -> Shape | None:
    """Strides of the same elements in another shape, None where there are none."""
    if math.prod(new) == 0:
        return contiguous_strides(new)
    old = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    out: list[int] = []
    k = 0
    pending = [d for d in new if d != 1]
    position = 0
    while position < len(pending):
        if k == len(old):
            return None
        size, stride = old[k]
        k += 1
        goal = pending[position]
        parts = [goal]
        position += 1
        while size != math.prod(parts):
            if math.prod(parts) < size:
                if position == len(pending):
                    return None
                parts.append(pending[position])
                position += 1
            else:
                if k == len(old):
                    return None
                more, finer = old[k]
                if stride != more * finer:
                    return None
                size, stride, k = size * more, finer, k + 1
        step = stride
        run = []
        for part in reversed(parts):
            run.append(step)
            step *= part
        out += reversed(run)
    if k != len(old):
        return None
    found = iter(out)
    return tuple(0 if d == 1 else next(found) for d in new)


class Step:
    """A node of the lowered program.

    Attributes
    ----------
    outs : list of Buffer
    origin : object
        The node of the graph that it comes from.
    after : list of Step
        What must run before, beside what it reads.
    """

    __slots__ = ("after", "origin", "outs")

    def __init__(self, outs: list[Buffer], origin: Any) -> None:
        self.outs = outs
        self.origin = origin
        self.after: list[Step] = []
        for out in outs:
            out.maker = self

    @property
    def terms(self) -> Iterator[Term]:
        """What it reads."""
        return iter(())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.terms))}) -> {self.outs}"


class Map(Step):
    """A scalar function of corresponding elements of `args`, broadcast to the shape of the out.

    Attributes
    ----------
    function : str
        See `scalars`. ``"gather"`` reads the first argument at an index along `axis`; and
        ``"position"`` is the index along `axis`.
    """

    __slots__ = ("args", "axis", "function")

    def __init__(
        self, function: str, args: tuple[Term, ...], out: Buffer, origin: Any, axis: int = 0
    ) -> None:
        super().__init__([out], origin)
        self.function = function
        self.args = args
        self.axis = axis

    @property
    def terms(self) -> Iterator[Term]:
        return iter(self.args)

    def __repr__(self) -> str:
        return f"{self.function}({', '.join(map(repr, self.args))}) -> {self.outs[0]}"


class Reduce(Step):
    """Combine elements along `axes`, which the out does not have.

    Attributes
    ----------
    kind : {"sum", "prod", "max", "min", "any", "all"}
    """

    __slots__ = ("arg", "axes", "kind")

    def __init__(
        self, kind: str, arg: Term, axes: tuple[int, ...], out: Buffer, origin: Any
    ) -> None:
        super().__init__([out], origin)
        self.kind = kind
        self.arg = arg
        self.axes = axes

    @property
    def terms(self) -> Iterator[Term]:
        yield self.arg


class Product(Step):
    """out = alpha a b + beta out, matrices in the last two axes, batches broadcast before.

    Attributes
    ----------
    a, b : Term
        One of the last two strides of each is 1. Floats of 16 bits are taken in float32.
    scale : Term or None
        A 0-d factor beside `alpha`.
    alpha, beta : float
    """

    __slots__ = ("a", "alpha", "b", "beta", "scale")

    def __init__(self, a: Term, b: Term, out: Buffer, origin: Any) -> None:
        super().__init__([out], origin)
        self.a = a
        self.b = b
        self.alpha = 1.0
        self.beta = 0.0
        self.scale: Term | None = None

    @property
    def terms(self) -> Iterator[Term]:
        yield self.a
        yield self.b
        if self.scale is not None:
            yield self.scale


class Assemble(Step):
    """Parts written to regions of an array that is `fill` elsewhere.

    Attributes
    ----------
    parts : list of (Term, Term)
        What is written, and the region as a term of the out.
    covered : bool
        Whether the regions are all of it.
    adds : bool
        Whether regions overlap, so that parts are added up.
    """

    __slots__ = ("adds", "covered", "fill", "parts")

    def __init__(
        self,
        parts: list[tuple[Term, Term]],
        out: Buffer,
        origin: Any,
        *,
        fill: Any = 0,
        adds: bool = False,
    ) -> None:
        super().__init__([out], origin)
        self.parts = parts
        self.fill = fill
        self.adds = adds
        self.covered = not adds and sum(part.size for part, _ in parts) == out.size

    @property
    def terms(self) -> Iterator[Term]:
        return (part for part, _ in self.parts)


class Kernel(Step):
    """C text of its own, on contiguous operands.

    Attributes
    ----------
    text : str
        A static function called ``NAME``.
    args : tuple of Term
    scratch : int
        Bytes of memory that it works in.
    helpers : tuple of str
        Texts that must stand before, once.
    inplace : dict of int to int
        Position of an out that starts as a copy of an operand, to the position of that: where both
        lie in the same memory, the function copies nothing.
    """

    __slots__ = ("args", "helpers", "inplace", "scratch", "text")

    def __init__(
        self,
        text: str,
        args: tuple[Term, ...],
        outs: list[Buffer],
        origin: Any,
        scratch: int = 0,
        helpers: tuple[str, ...] = (),
    ) -> None:
        super().__init__(outs, origin)
        self.helpers = helpers
        self.inplace: dict[int, int] = {}
        self.text = text
        self.args = args
        self.scratch = scratch

    @property
    def terms(self) -> Iterator[Term]:
        return iter(self.args)


class Check(Kernel):
    """A kernel that returns whether its operands are in order; where not, the run is given up."""

    __slots__ = ()


class Callback(Step):
    """An operation that NumPy runs.

    Attributes
    ----------
    args : tuple of Term or Spec or None
    why : str
    """

    __slots__ = ("args", "why")

    def __init__(self, args: tuple[Any, ...], outs: list[Buffer], origin: Any, why: str) -> None:
        super().__init__(outs, origin)
        self.args = args
        self.why = why

    @property
    def terms(self) -> Iterator[Term]:
        return (a for a in self.args if isinstance(a, Term))


def term_of(buffer: Buffer) -> Term:
    """All of a buffer."""
    return Term(buffer, buffer.shape, contiguous_strides(buffer.shape))


def readers_of(steps: Iterable[Step]) -> dict[int, list[Step]]:
    """By the number of a buffer, the steps that read it."""
    found: dict[int, list[Step]] = defaultdict(list)
    for step in steps:
        for number in {t.buffer.number for t in step.terms if t.buffer is not None}:
            found[number].append(step)
    return found
