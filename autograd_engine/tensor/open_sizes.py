"""Shapes with sizes that are not known yet: ``x.shape[0]`` of an open axis, in a traced function.

Where a function takes a shape, -1 has a meaning of its own, and such a size is not that: it is the
size of an axis of a variable, and known when the program runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine.core.dims import Dim, UnknownSize
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import spec_of
from autograd_engine.tensor.arguments import ints

__all__ = ["OpenShape", "is_open", "kept", "sizes_in", "sizes_of"]


def is_open(size: Any) -> bool:
    """Whether it is the size of an open axis, and no number."""
    return isinstance(size, UnknownSize)


class OpenShape(tuple[Any, ...]):
    """A shape of which one size at least is not known."""

    __slots__ = ()

    @property
    def numbers(self) -> list[int]:
        """The sizes that are."""
        return [d for d in self if not is_open(d)]

    def array(self) -> Any:
        """An array of this shape; its elements mean nothing."""
        lines = []
        for k, size in enumerate(self):
            if is_open(size):
                alone = [1] * len(self)
                alone[k] = -1
                lines.append(ops.reshape(_line(size), shape=tuple(alone)))
        met = ops.broadcast_like(*lines)
        return ops.expand(met, shape=tuple([-1 if is_open(d) else d for d in self]))


def _line(size: UnknownSize) -> Any:
    """As many elements as the axis has, also where another axis has none."""
    ndim = spec_of(size.var).ndim
    others = tuple([k for k in range(ndim) if k != size.axis])
    if not others:
        return size.var
    key = tuple([slice(None) if k == size.axis else slice(0, 1) for k in range(ndim)])
    return ops.sum(ops.getitem(size.var, key=key), axis=others, keepdims=False)


def sizes_of(op: str, shape: Any) -> tuple[Any, ...]:
    """The argument `shape`: a tuple of ints, or an `OpenShape`."""
    if isinstance(shape, (list, tuple)):
        for size in shape:
            if isinstance(size, UnknownSize):
                numbers = iter(ints(op, "shape", [d for d in shape if not is_open(d)]))
                return OpenShape([d if is_open(d) else next(numbers) for d in shape])
    return ints(op, "shape", shape)


def sizes_in(x: Any) -> list[Any]:
    """The sizes that `x` has."""
    return [
        UnknownSize(x, k, d) if isinstance(d, Dim) else d for k, d in enumerate(spec_of(x).shape)
    ]


def kept(shape: Sequence[Any], sizes: Sequence[Any]) -> bool:
    """Whether the open sizes among `sizes` are, provably, those of `shape` at their places."""
    return all(not is_open(d) or d.dim in shape[k : k + 1] for k, d in enumerate(sizes))
