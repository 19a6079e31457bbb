"""Sizes of what a program is fed: those that are unknown, and those that a caller tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import to_numpy
from autograd_engine.core.spec import format_shape
from autograd_engine.errors import FeedError
from autograd_engine.program.ir.program import Program, Variable
from autograd_engine.static.executor.feeds import similar
from autograd_engine.static.symbolic_size import Symbols, atoms

__all__ = ["Large", "symbols_of"]

_LARGE: Final = 1 << 12  # what an unknown size is taken to be, to tell what is larger


class Large(dict[str, int]):
    """Sizes that are given, and large ones for all others."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> int:
        return _LARGE


def symbols_of(
    program: Program, feeds: list[Variable], feed_specs: Mapping[str, Any] | None
) -> tuple[Symbols, dict[str, int]]:
    """The unknown sizes of what is fed, and those that `feed_specs` tells."""
    symbols = Symbols()
    given = _given_shapes(program, feed_specs)
    firsts: dict[int | None, tuple[str, str]] = {}
    sizes: dict[str, int] = {}
    for var in feeds:
        shape = given.get(var.name)
        for axis, d in enumerate(var.spec.shape):
            known = [a for a in atoms(d) if a not in symbols.names]
            if isinstance(d, Dim) and known and repr(d) == known[0]:
                name, symbol = f"{var.name}.shape[{axis}]", known[0]
                symbols.names[symbol] = name
                value = None if shape is None else shape[axis]
                if value is not None:
                    sizes[symbol] = value
                first = firsts.get(value) if axis == 0 else None
                if first is not None:
                    symbols.equal[symbol] = Dim.symbol(first[0])
                    symbols.taken_equal.append((first[1], name))
                elif axis == 0:
                    firsts[value] = symbol, name
    return symbols, sizes


def _given_shapes(
    program: Program, feed_specs: Mapping[str, Any] | None
) -> dict[str, tuple[int, ...]]:
    """Shapes by name, checked against what the program declares."""
    if feed_specs is None:
        return {}
    if not isinstance(feed_specs, Mapping):
        raise TypeError(
            f"feed_specs must be a dict from names to shapes, got {type(feed_specs).__name__}"
        )
    declared = {v.name: v.spec for v in program.global_block().vars.values() if v.is_data}
    shapes = {}
    for name, value in feed_specs.items():
        if name not in declared:
            close = similar(name, declared)
            hint = (
                f"did you mean {close!r}?" if close else f"it has {', '.join(declared) or 'none'}"
            )
            raise FeedError(f"feed_specs: this program has no data variable {name!r}; {hint}")
        spec = declared[name]
        shape, dtype = _shape_of(name, value)
        fits = len(shape) == len(spec.shape) and all(
            isinstance(want, Dim) or have == want
            for have, want in zip(shape, spec.shape, strict=True)
        )
        if not fits:
            raise FeedError(
                f"feed_specs: {name!r} has shape {shape}; the program declares "
                f"{format_shape(spec.shape)}"
            )
        if dtype is not None and dtype != spec.dtype:
            raise FeedError(
                f"feed_specs: {name!r} is {dtype.name}; the program declares {spec.dtype.name}"
            )
        shapes[name] = shape
    return shapes


def _shape_of(name: str, value: Any) -> tuple[tuple[int, ...], np.dtype[Any] | None]:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return tuple(map(int, value.shape)), to_numpy(value.dtype)
    dtype = None
    if isinstance(value, (tuple, list)) and len(value) == 2 and isinstance(value[0], (tuple, list)):
        value, dtype = value[0], to_numpy(value[1])
    sizes = value if isinstance(value, (tuple, list)) else (None,)
    if not all(isinstance(d, (int, np.integer)) and d >= 0 for d in sizes):
        raise FeedError(
            f"feed_specs: {name!r} must be a shape, a tuple of sizes such as (64, 784), or "
            f"(shape, dtype), or an array; got {value!r}"
        )
    return tuple(map(int, sizes)), dtype
