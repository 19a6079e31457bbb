"""Writing at keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from autograd_engine.compiler.xla.lowering.getitem import selected, without_masks, written_at
from autograd_engine.compiler.xla.memory import Memory, NumpyOnly
from autograd_engine.compiler.xla.rows import by_twin, row
from autograd_engine.compiler.xla.run import Run
from autograd_engine.core.dims import Dim
from autograd_engine.ops.getitem import Key, indexed_shape
from autograd_engine.ops.registry.opdef import REGISTRY


@row("setitem", at_places=True)
def _setitem(run: Run, x: Any, value: Any, *indices: Any, key: Key) -> Any:
    written = written_at(run, x, key, value)
    if written is not None:
        return written
    count = selected(x.shape, indices, key, value.shape) if "mask" in key else None
    if "mask" in key and count is None:
        return _spread(x, value, indices, key)
    arrays, plain = without_masks(run, indices, key, count)
    return by_twin(run, REGISTRY["setitem"], (x, value, *arrays), {"key": plain})


def _spread(x: Any, value: Any, indices: Sequence[Any], key: Key) -> Any:
    """One value for all that a mask selects, however much that is."""
    if len(indices) != 1:
        raise NumpyOnly("how much a mask selects is not known before")
    (mask,) = indices
    there = indexed_shape(x.shape, indices, key)
    behind = len(there) - next(k for k, n in enumerate(there) if isinstance(n, Dim)) - 1
    at = value.ndim - behind - 1
    if at >= 0:  # one element stands for all along the axis of what is selected
        shape = (*value.shape[:at], *(1,) * mask.ndim, *value.shape[at + 1 :])
        value = value.reshape(shape)
    entries: list[Any] = []
    for entry in key:
        entries += [slice(None)] * mask.ndim if entry == "mask" else [entry]
    memory = Memory(jnp.asarray(x))
    part = memory[tuple(entries)]
    here = mask.reshape(*mask.shape, *(1,) * behind)
    part.put(jnp.where(here, value.astype(x.dtype), part.value))
    return memory.value


@row("index_last")
def _index_last(run: Run, like: Any, *indices: Any, key: Key) -> Any:
    count = selected(like.shape, indices, key)
    arrays, plain = without_masks(run, indices, key, count)
    return by_twin(run, REGISTRY["index_last"], (like, *arrays), {"key": plain})


def _extremum(name: str) -> None:
    @row(name)
    def function(run: Run, x: Any, values: Any, *indices: Any, key: Key) -> Any:
        count = selected(x.shape, indices, key, values.shape)
        arrays, plain = without_masks(run, indices, key, 1 if count is None else count)
        return by_twin(run, REGISTRY[name], (x, values, *arrays), {"key": plain})


_extremum("index_maximum")
_extremum("index_minimum")
