"""Arrays that are not there: what a dry run computes with.

They know shape, dtype, how they would lie in memory, and which memory they hold; shapes and bytes
may hold unknown sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.core.dims import Dim, Size, product
from autograd_engine.core.dtypes import BOOLS, INEXACT
from autograd_engine.core.spec import Array, Shape, Spec
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.scattered_cotangent import Scattered
from autograd_engine.program.ir.program import Operator

__all__ = [
    "Allocation",
    "FakeArray",
    "Layout",
    "Memory",
    "Meter",
    "Step",
    "layout_of",
    "mapped",
    "parts",
    "resized",
]


# --- memory


class Step(NamedTuple):
    """One call: bytes held at most while it runs, and when it has returned."""

    operator: Operator | None  # None for what an executor does before and after
    peak: Size
    after: Size
    extra: Size  # of the peak, temporaries of the kernel
    assumed: bool  # the kernel could not be probed


@dataclass(slots=True, eq=False)
class Allocation:
    """Memory of one array, and when it was held."""

    size: Size
    made_by: Operator | str | None
    born: int  # the first step at which it is there
    freed: float = math.inf  # the first at which it is not
    spec: Spec | None = None  # of the first value that lies in it
    names: dict[tuple[str, int], int] = field(default_factory=dict)  # of all, by their steps


class Meter:
    """How much memory is held, as a polynomial in unknown sizes; and what was held when."""

    def __init__(self) -> None:
        self.total: Size = 0
        self.steps: list[Step] = []
        self.allocations: list[Allocation] = []

    def hold(self, size: Size, made_by: Operator | str | None) -> Memory:
        return Memory(self, Allocation(size, made_by, len(self.steps)))

    def note(self, operator: Operator | None, extra: Size = 0, assumed: bool = False) -> None:
        """A step, which needs so much beside what is held."""
        self.steps.append(Step(operator, self.total + extra, self.total, extra, assumed))

    def held(self, step: int) -> list[Allocation]:
        """What is there at the peak of a step."""
        return [a for a in self.allocations if a.born <= step < a.freed]

    def forget(self, steps: int, allocations: int) -> None:
        """Leave no more than the first so many."""
        del self.steps[steps:], self.allocations[allocations:]


class Memory:
    """What keeps an allocation alive, as a reference to an array does."""

    __slots__ = ("allocation", "meter")

    def __init__(self, meter: Meter, allocation: Allocation) -> None:
        self.meter = meter
        self.allocation = allocation
        meter.total = meter.total + allocation.size
        meter.allocations.append(allocation)

    def __del__(self) -> None:
        meter = self.meter
        meter.total = meter.total - self.allocation.size
        self.allocation.freed = len(meter.steps)


# --- arrays


class Layout(NamedTuple):
    """How an array lies in memory, apart from its shape."""

    order: tuple[int, ...]  # axes from the one of the largest stride to that of the smallest
    repeated: frozenset[int] = frozenset()  # axes of stride 0
    # Axes after whose elements others lie that are no part of the array; -1: between all elements.
    gaps: frozenset[int] = frozenset()
    backward: frozenset[int] = frozenset()  # axes that run backward

    @staticmethod
    def plain(ndim: int) -> Layout:
        """C order."""
        return Layout(tuple(range(ndim)))

    def build(self, shape: Sequence[Any], dtype: np.dtype[Any], fill: int) -> Array:
        """An array of that layout, with values that most kernels take."""
        sizes = [1 if k in self.repeated else shape[k] + (k in self.gaps) for k in self.order]
        apart = (2,) * (-1 in self.gaps)
        base = _sample((*sizes, *apart), dtype, fill)
        base = (base[..., 0] if apart else base).transpose(np.argsort(self.order))
        inside = tuple(
            slice(None)
            if k in self.repeated
            else slice(shape[k] - 1, None, -1)
            if k in self.backward and shape[k]
            else slice(0, shape[k])
            for k in range(len(shape))
        )
        return np.broadcast_to(base[inside], shape) if self.repeated else base[inside]


def layout_of(array: Array) -> Layout:
    """The layout of `array`, of which axes of one element say nothing."""
    strides, shape = array.strides, array.shape
    many = [k for k in range(array.ndim) if shape[k] > 1]
    repeated = frozenset(k for k in many if strides[k] == 0)
    dense = sorted((k for k in many if k not in repeated), key=lambda k: -abs(strides[k]))
    gaps, step = set(), array.itemsize
    for k, inner in zip(dense[::-1], [-1, *dense[:0:-1]], strict=False):
        if abs(strides[k]) > step:
            gaps.add(inner)
        step = abs(strides[k]) * shape[k]
    # Axes of one element go where they keep the order of the others.
    order = sorted(range(array.ndim), key=lambda k: (dense.index(k) if k in dense else -1, k))
    if dense == sorted(dense):
        order = list(range(array.ndim))
    backward = frozenset(k for k in dense if strides[k] < 0)
    return Layout(tuple(order), repeated, frozenset(gaps), backward)


def _sample(shape: tuple[int, ...], dtype: np.dtype[Any], fill: int) -> Array:
    """Values for a probe; `fill` 0 to 2 are tried one after the other.

    Numbers in (0, 1) and valid indices first; then matrices that are positive definite; then zeros.
    """
    if fill == 0 and dtype in INEXACT:
        pattern = np.random.default_rng(7).uniform(0.1, 0.9, 4099).astype(dtype)
        return np.resize(pattern, shape)
    if fill == 0 and dtype in BOOLS:
        return np.resize(np.array([True, False, True]), shape)
    out = np.zeros(shape, dtype)
    if fill == 1 and len(shape) >= 2 and dtype in INEXACT:
        out += np.eye(shape[-2], shape[-1], dtype=dtype)
    return out


@dataclass(slots=True, eq=False)
class FakeArray:
    """What would be an array."""

    shape: Shape
    dtype: np.dtype[Any]
    layout: Layout
    memory: Memory | None = None
    view: bool = False

    @property
    def nbytes(self) -> Size:
        return product(self.shape) * self.dtype.itemsize


# --- nested arguments and results


def mapped(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """`value` with ``leaf(part)`` in the place of each part that is no list, tuple or dict."""
    if isinstance(value, (tuple, list)):
        made = [mapped(v, leaf) for v in value]
        return tuple(made) if isinstance(value, tuple) else made
    if isinstance(value, dict):
        return {k: mapped(v, leaf) for k, v in value.items()}
    if isinstance(value, Scattered):
        like, inside, base = mapped(_inside(value), leaf)
        return Scattered(value.op, raw, like, inside, base)
    return leaf(value)


def parts(value: Any) -> Iterator[Any]:
    """The parts of `value`, and before those of a list, tuple or dict what tells it from others."""
    if isinstance(value, (tuple, list)):
        yield type(value), len(value)
        for part in value:
            yield from parts(part)
    elif isinstance(value, dict):
        yield tuple(value)
        yield from parts(list(value.values()))
    elif isinstance(value, Scattered):
        yield value.op
        yield from parts(_inside(value))
    else:
        yield value


def resized(value: Any, size: Callable[[Any], Any]) -> Any:
    """`value` with ``size(d)`` for each size of an array or Spec in it, and for each number.

    Arrays in it hold no memory; what was one array is one.
    """
    made: dict[int, FakeArray] = {}

    def leaf(part: Any) -> Any:
        if isinstance(part, Spec):
            return Spec(tuple(map(size, part.shape)), part.dtype)
        if not isinstance(part, FakeArray):
            return size(part) if type(part) in (int, Dim) else part
        if id(part) not in made:
            made[id(part)] = FakeArray(tuple(map(size, part.shape)), part.dtype, part.layout)
        return made[id(part)]

    return mapped(value, leaf)


def _inside(value: Scattered) -> tuple[Any, ...]:
    return Spec(value.like.shape, value.like.dtype), value.parts, value.base
