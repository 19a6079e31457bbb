"""Writing at a key."""

from __future__ import annotations

import math
from typing import Any

from autograd_engine.compiler.native.ir import contiguous_strides
from autograd_engine.compiler.native.lowering.getitem import places_of, written
from autograd_engine.compiler.native.lowering.indexing import last_of
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.spec import Like
from autograd_engine.ops.getitem import Key, parts_of

__all__: list[str] = []


@lowers("setitem")
def _setitem(np: Loops, x: Traced, value: Traced, *indices: Traced, key: Key) -> Traced:
    if "mask" in key:
        return _masked(np, x, value, indices, key)
    at = places_of(np, x.shape, contiguous_strides(x.shape), indices, key)
    return written(np, x, x.shape, value, at, "set")


def _masked(np: Loops, x: Traced, value: Traced, indices: Any, key: Key) -> Traced:
    """One value for all elements of one mask."""
    parts = parts_of(x.shape, indices, key)
    masks = [p for p in parts if isinstance(p.entry, str)]
    plain = all(p.entry in ("mask", Ellipsis, slice(None)) for p in parts)
    if len(masks) != 1 or not plain or value.shape:
        raise NotLowered("how many elements a mask takes is known when it is looked at")
    mask, behind = masks[0].array, x.ndim - masks[0].axis - masks[0].taken
    return np.where(
        mask.reshape(*mask.shape, *(1 for _ in range(behind))), np.cast(value, x.dtype), x
    )


@lowers("index_maximum", "index_minimum")
def _index_extremum(np: Loops, x: Traced, values: Traced, *indices: Traced, key: Key) -> Traced:
    at = places_of(np, x.shape, contiguous_strides(x.shape), indices, key)
    return written(np, x, x.shape, values, at, np.origin.op.name.removeprefix("index_"))


@lowers("index_last")
def _index_last(np: Loops, like: Like, *indices: Traced, key: Key) -> Traced:
    """Which of the elements that a key takes is the last to name its place."""
    shape: Any = like.shape
    at = places_of(np, shape, contiguous_strides(shape), indices, key)
    if not math.prod(at.shape):
        return np.zeros(at.shape, bool)
    places: Any = at.offset
    for axis, stride in enumerate(at.strides):
        if stride:
            places = places + np.position(at.shape, axis) * stride
    places = places if at.rows is None else places + at.rows
    places = np.copied(np.broadcast_to(places, at.shape))
    return last_of(np, places, 1, math.prod(shape))
