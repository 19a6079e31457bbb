"""Reading and adding at keys that hold masks: of these it must be known how much they select."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from autograd_engine.compiler.xla.memory import NumpyOnly
from autograd_engine.compiler.xla.rows import by_twin, row
from autograd_engine.compiler.xla.run import Run
from autograd_engine.core.dims import Dim
from autograd_engine.ops.getitem import Key, indexed_shape
from autograd_engine.ops.registry.opdef import REGISTRY

__all__ = ["selected", "without_masks"]


def selected(shape: Any, indices: Sequence[Any], key: Key, given: Any = ()) -> int | None:
    """How many elements the masks of a key select, by the shape of what is selected, if given."""
    there = indexed_shape(shape, indices, key)
    along = [k - len(there) for k, n in enumerate(there) if isinstance(n, Dim)]
    if along:
        sizes = [given[k] for k in along if len(given) >= -k and given[k] != 1]
        return sizes[0] if sizes else None
    arrays = [a.shape for a, e in zip(indices, _arrays(key), strict=True) if e == "index"]
    return max((s[-1] for s in arrays if s), default=1)


def _arrays(key: Key) -> list[str]:
    return [e for e in key if isinstance(e, str)]


def without_masks(
    run: Run, indices: Sequence[Any], key: Key, count: int | None
) -> tuple[list[Any], Key]:
    """The same key with indices in the place of masks, which are required to select so many."""
    if "mask" not in key:
        return list(indices), key
    if count is None:
        raise NumpyOnly("how much a mask selects is not known before")
    given, arrays, entries = iter(indices), [], []
    for entry in key:
        if not isinstance(entry, str):
            entries.append(entry)
            continue
        array = next(given)
        if entry == "mask" and not array.ndim and "index" in key:
            run.require(array)  # as an index array of one element
        elif entry == "mask":
            run.require(jnp.count_nonzero(array) == count)
            found = jnp.nonzero(array, size=count, fill_value=0)
            arrays += found
            entries += ["index"] * len(found)
        else:
            arrays.append(array)
            entries.append("index")
    return arrays, tuple(entries)


@row("index")
def _index(run: Run, x: Any, *indices: Any, key: Key) -> Any:
    arrays, plain = without_masks(run, indices, key, selected(x.shape, indices, key))
    return by_twin(run, REGISTRY["index"], (x, *arrays), {"key": plain})


@row("index_add_like")
def _index_add_like(run: Run, x: Any, like: Any, *indices: Any, key: Key) -> Any:
    count = selected(like.shape, indices, key, x.shape)
    arrays, plain = without_masks(run, indices, key, 1 if count is None else count)
    return by_twin(run, REGISTRY["index_add_like"], (x, like, *arrays), {"key": plain})


@row("unslice_like")
def _unslice_like(run: Run, x: Any, like: Any, *, key: Any) -> Any:
    out = jnp.zeros(like.shape, x.dtype).at[key].set(x)
    run.note_parts(out, [(x, key)])
    return out
