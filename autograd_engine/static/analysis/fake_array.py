"""Arrays that are not there: what a rehearsed program computes with.

They know shape, dtype, memory layout, and which memory they hold; shapes may hold unknown sizes.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dims import Size, product
from autograd_engine.core.spec import Shape, Spec
from autograd_engine.ops.registry.scattered_cotangent import Scattered
from autograd_engine.static.analysis.kernel_probe import Layout

__all__ = ["Memory", "Meter", "Planned", "Tree", "build"]

Array = NDArray[Any]


class Meter:
    """How much memory is held, as a polynomial in unknown sizes; and by what."""

    def __init__(self) -> None:
        self.total: Size = 0
        self.live: weakref.WeakValueDictionary[int, Memory] = weakref.WeakValueDictionary()

    def hold(self, size: Size, made_by: Any) -> Memory:
        memory = Memory(self, size, made_by)
        self.live[id(memory)] = memory
        self.total = self.total + size
        return memory


class Memory:
    """Memory of one array, held for as long as anything refers to it.

    Attributes
    ----------
    size : Dim or int
        Bytes.
    made_by : object
        The operator that allocated it, or a word.
    names : list
        Keys of the values that lie in it, in the order in which they were made.
    spec : Spec or None
        Of the first of them.
    """

    __slots__ = ("__weakref__", "made_by", "meter", "names", "size", "spec")

    def __init__(self, meter: Meter, size: Size, made_by: Any) -> None:
        self.meter = meter
        self.size = size
        self.made_by = made_by
        self.names: list[tuple[str, int]] = []
        self.spec: Spec | None = None

    def __del__(self) -> None:
        meter = self.meter
        meter.total = meter.total - self.size


class Planned:
    """What will be an array."""

    __slots__ = ("dtype", "layout", "memory", "shape", "view")

    def __init__(
        self,
        shape: Shape,
        dtype: np.dtype[Any],
        layout: Layout,
        memory: Memory | None,
        *,
        view: bool = False,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.layout = layout
        self.memory = memory
        self.view = view

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def spec(self) -> Spec:
        return Spec(self.shape, self.dtype)

    @property
    def size(self) -> Size:
        return product(self.shape)

    @property
    def nbytes(self) -> Size:
        return self.size * self.dtype.itemsize


# --- arguments and results as trees


class Tree:
    """Leaves of nested arguments, and what builds them again with others in their place."""

    def __init__(self) -> None:
        self.arrays: list[Planned | Array] = []
        self.specs: list[Spec] = []
        self.constants: list[Any] = []  # keeps alive what keys name by identity

    def take(self, value: Any) -> Any:
        if isinstance(value, (Planned, np.ndarray)):
            for k, known in enumerate(self.arrays):
                if known is value:
                    return "array", k
            self.arrays.append(value)
            return "array", len(self.arrays) - 1
        if isinstance(value, Spec):
            self.specs.append(value)
            return "spec", len(self.specs) - 1
        if isinstance(value, Scattered):
            parts = tuple(
                (self.take(v), tuple(map(self.take, places)), self.take(attrs))
                for v, places, attrs in value.parts
            )
            like = self.take(Spec(value.like.shape, value.like.dtype))
            return "scattered", value.op, like, parts, self.take(value.base)
        if isinstance(value, (tuple, list)):
            return type(value).__name__, tuple(map(self.take, value))
        if isinstance(value, dict):
            return "dict", tuple((k, self.take(v)) for k, v in value.items())
        self.constants.append(value)
        return "constant", len(self.constants) - 1

    def key(self) -> Any:
        return tuple(_frozen(c) for c in self.constants)


def _frozen(value: Any) -> Any:
    if isinstance(value, slice):
        return "slice", value.start, value.stop, value.step
    if isinstance(value, float):
        return "float", repr(value)
    try:
        hash(value)
    except TypeError:
        return "object", id(value)
    return type(value), value


def build(tree: Any, leaf: Callable[[str, int], Any]) -> Any:
    """The value that a tree describes, its leaves given by `leaf`."""
    kind = tree[0]
    if kind in ("array", "spec", "constant"):
        return leaf(kind, tree[1])
    if kind == "dict":
        return {k: build(v, leaf) for k, v in tree[1]}
    if kind == "scattered":
        from autograd_engine.ops.registry.namespace import raw

        _, op, like, parts, base = tree
        made = [
            (build(v, leaf), tuple(build(p, leaf) for p in places), build(attrs, leaf))
            for v, places, attrs in parts
        ]
        return Scattered(op, raw, build(like, leaf), made, build(base, leaf))
    values = [build(v, leaf) for v in tree[1]]
    return tuple(values) if kind == "tuple" else values
