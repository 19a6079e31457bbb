"""Arrays in another layout, and in other shapes: what an operation is tried with besides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.testing.modes import Runnable

__all__ = ["like_layout", "strided", "variants"]

Array: TypeAlias = NDArray[Any]


def strided(a: Array) -> Array:
    """`a` in memory that is neither contiguous nor in the order of its axes."""
    wide = np.repeat(np.asfortranarray(a), 2, axis=-1).T.copy().T
    return np.asarray(wide[..., ::2])


def like_layout(original: Array, values: Array) -> Array:
    """A copy of `values`, not contiguous where `original` is not."""
    return values.copy() if original.flags.c_contiguous else strided(values)


def variants(op: Runnable, operands: Sequence[Array]) -> Iterator[tuple[str, list[Array]]]:
    """(label, operands): the call itself, another layout, and for elementwise operations shapes.

    The numbers are those of the call, so they stay in the domain of the operation.
    """
    given = list(operands)
    yield "as given", given
    if any(a.ndim and a.size > 1 for a in given):
        yield "not contiguous", [strided(a) if a.ndim else a for a in given]
    if not _takes_any_shape(op):
        return
    if any(a.ndim for a in given) and all(a.size for a in given):
        points = [np.asarray(a.reshape(-1)[0]) for a in given]
        yield "0-d", points
        yield "empty", [np.empty((0, 3), a.dtype) for a in given]
        if len(given) > 1:
            for k, a in enumerate(given):
                if a.ndim:
                    name = op.input_at(k) if isinstance(op, OpDef) else f"input {k}"
                    yield f"{name} 0-d, broadcast", [*given[:k], points[k], *given[k + 1 :]]
                    yield f"{name} one row, broadcast", [*given[:k], a[:1], *given[k + 1 :]]


def _takes_any_shape(op: Runnable) -> bool:
    """Elementwise, with no attribute that speaks of axes."""
    if not isinstance(op, OpDef) or op.variadic or op.multiple or "axis" in op.attrs:
        return False
    if not all(op.reads_value(k) for k in range(len(op.inputs))):
        return False
    return op.broadcasts == 0 or (len(op.inputs) == 1 and op.tangent == "elementwise")
