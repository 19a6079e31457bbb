"""Ends that are added, and cotangents of these."""

from __future__ import annotations

from typing import Any

import numpy

from autograd_engine.compiler.native.lowering.movement import PARTS, along, picked, replaced
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.ops.padding import Pads, _core, _padded, _sources

__all__ = ["pad"]


@lowers("pad")
def pad(np: Loops, x: Traced, *, pads: Pads, value: float = 0.0) -> Traced:
    shape: Any = _padded(x.shape, pads)
    fill = x.dtype.type(value).item()
    return np.assembled(shape, x.dtype, [(x, picked(_core(shape, pads)))], fill=fill)


@lowers("extend")
def _extend(np: Loops, x: Traced, *, pads: Pads, mode: str) -> Traced:
    for axis, (before, after) in enumerate(pads):
        if before or after:
            sources = np.operand(_sources(x.shape[axis], before, after, mode).astype(numpy.int64))
            shape = replaced(x.shape, axis, sources.size)
            at = sources.reshape(*(-1 if k == axis else 1 for k in range(x.ndim)))
            x = np.gathered(x, at, axis, shape)
    return x


@lowers("unextend")
def _unextend(np: Loops, x: Traced, *, pads: Pads, mode: str) -> Traced:
    for axis, (before, after) in enumerate(pads):
        if not before and not after:
            continue
        if before + after > PARTS:
            raise NotLowered("so many ends are added up by NumPy")
        n = x.shape[axis] - before - after
        sources = _sources(n, before, after, mode).tolist()
        parts: list[Any] = [(x[along(axis, slice(before, before + n))], picked(...))]
        for k in (*range(before), *range(before + n, x.shape[axis])):
            at = slice(sources[k], sources[k] + 1)
            parts.append((x[along(axis, slice(k, k + 1))], picked(along(axis, at))))
        x = np.assembled(replaced(x.shape, axis, n), x.dtype, parts, adds=True)
    return x
