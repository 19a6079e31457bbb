"""Arrays made larger at their ends. `pads` holds what comes before and after, for each axis."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import Array, Like, Shape, Spec, format_shape
from autograd_engine.errors import ShapeError
from autograd_engine.ops.registry.forms import PICKED
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.registry.work import each_read, nothing

Pads = tuple[tuple[int, int], ...]


def _core(shape: tuple[int, ...], pads: Pads) -> tuple[slice, ...]:
    """Where the array lies in a padded one of `shape`."""
    return tuple(slice(a, n - b) for n, (a, b) in zip(shape, pads, strict=True))


def _padded(shape: Shape, pads: Pads) -> Shape:
    return tuple(n + a + b for n, (a, b) in zip(shape, pads, strict=True))


def _unpadded(shape: Shape, pads: Pads) -> Shape:
    return tuple(n - a - b for n, (a, b) in zip(shape, pads, strict=True))


# --- with a constant


def _pad(x: Array, *, pads: Pads, value: float = 0.0) -> Array:
    shape = _padded(x.shape, pads)
    out = np.full(shape, value, x.dtype) if value else np.zeros(shape, x.dtype)
    out[_core(out.shape, pads)] = x
    return out


defop(
    "pad",
    _pad,
    inputs="x",
    infer=lambda x, *, pads, value=0.0: Spec(_padded(x.shape, pads), x.dtype),
    work=nothing,
).vjp(x=lambda xp, g, *, pads: xp.unpad(g, pads=pads))
defop(
    "unpad",
    lambda x, *, pads: x[_core(x.shape, pads)],
    inputs="x",
    infer=lambda x, *, pads: Spec(_unpadded(x.shape, pads), x.dtype),
    **PICKED,
).vjp(x=lambda xp, g, *, pads: xp.pad(g, pads=pads))

# --- with elements of the array itself: "reflect", "replicate" or "circular"

LIMITS: Final[dict[str, tuple[Callable[[int], float], str]]] = {
    "reflect": (lambda n: n - 1, "less than the size of the axis"),
    "replicate": (lambda n: np.inf if n else 0, "0 where the axis is empty"),
    "circular": (lambda n: np.inf if n else 0, "0 where the axis is empty"),
}


def _infer_extend(x: Like, *, pads: Pads, mode: str) -> Spec:
    limit, rule = LIMITS[mode]
    for axis, (n, pair) in enumerate(zip(x.shape, pads, strict=True)):
        if not isinstance(n, Dim) and max(pair) > max(limit(n), 0):
            raise ShapeError(
                f"pad: mode '{mode}' takes pads that are {rule}; got {list(pair)} for axis {axis} "
                f"of {format_shape(x.shape)}"
            )
    return Spec(_padded(x.shape, pads), x.dtype)


def _sources(n: int, before: int, after: int, mode: str) -> Array:
    """Which of the `n` elements of an axis comes at each place of the padded one."""
    places = np.arange(-before, n + after)
    if mode == "circular":
        return places % max(n, 1)
    if mode == "replicate":
        return places.clip(0, max(n - 1, 0))
    mirrored: Array = (n - 1) - np.abs((n - 1) - np.abs(places))
    return mirrored


@lru_cache(maxsize=256)
def _edges(n: int, before: int, after: int, mode: str) -> tuple[Array, Array]:
    """Places of a padded axis outside of its core of `n` elements, and those they are copies of."""
    places = np.concatenate([np.arange(before), np.arange(before + n, before + n + after)])
    return places, _sources(n, before, after, mode)[places] + before


def _extend(x: Array, *, pads: Pads, mode: str) -> Array:
    """The array in the middle, and then the edges of one axis after the other."""
    _infer_extend(x, pads=pads, mode=mode)
    if not any(map(any, pads)):
        return x
    out = np.empty(_padded(x.shape, pads), x.dtype)
    core = list(_core(out.shape, pads))
    out[tuple(core)] = x
    for axis, (before, after) in enumerate(pads):
        core[axis] = slice(None)
        if before or after:
            lines = out[tuple(core)].swapaxes(0, axis)
            places, sources = _edges(x.shape[axis], before, after, mode)
            lines[places] = lines[sources]
    return out


def _unextend(x: Array, *, pads: Pads, mode: str) -> Array:
    """The pads added to the elements they came from: the adjoint of extend."""
    if not any(map(any, pads)):
        return x
    out = x.copy()
    core = _core(x.shape, pads)
    for axis, (before, after) in enumerate(pads):
        n = x.shape[axis] - before - after
        lines = out[core[:axis]].swapaxes(0, axis)
        for k, source in zip(*_edges(n, before, after, mode), strict=True):
            lines[source] += lines[k]
    return np.ascontiguousarray(out[core])


defop("extend", _extend, inputs="x", infer=_infer_extend, **PICKED).vjp(
    x=lambda xp, g, **attrs: xp.unextend(g, **attrs)
)
defop(
    "unextend",
    _unextend,
    inputs="x",
    infer=lambda x, *, pads, mode: Spec(_unpadded(x.shape, pads), x.dtype),
    tangent="linear",
    result="view",
    work=each_read(),
).vjp(x=lambda xp, g, **attrs: xp.extend(g, **attrs))
