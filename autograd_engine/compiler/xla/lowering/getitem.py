"""Reading and adding at keys.

Of masks it must be known how much they select. In a loop that was found in the listing a key may be
another one in each round: what it selects is part of a block that begins at a traced place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from autograd_engine.compiler.repetition import EachRound
from autograd_engine.compiler.xla.memory import Memory, NumpyOnly
from autograd_engine.compiler.xla.rows import by_twin, row
from autograd_engine.compiler.xla.run import Run, XlaUnavailable
from autograd_engine.core.dims import Dim
from autograd_engine.ops.getitem import Key, indexed_shape
from autograd_engine.ops.registry.opdef import REGISTRY

__all__ = ["added_at", "selected", "without_masks", "written_at"]


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


@row("getitem", at_places=True)
def _getitem(run: Run, x: Any, *, key: Key) -> Any:
    starts, sizes, rest = _block(run, x.shape, key)
    if not starts:
        return by_twin(run, REGISTRY["getitem"], (x,), {"key": key})
    return _taken(jnp.asarray(x), starts, sizes)[rest]


@row("unslice_like", at_places=True)
def _unslice_like(run: Run, x: Any, like: Any, *, key: Key) -> Any:
    out = added_at(run, jnp.zeros(like.shape, x.dtype), key, x)
    run.note_parts(out, [(x, key)])
    return out


def added_at(run: Run, total: Any, key: Any, part: Any) -> Any:
    """`total` with something added at a key; one that is of this round is written in place."""
    starts, sizes, rest = _block(run, total.shape, key)
    if not starts:
        return jnp.asarray(total).at[key].add(part)
    total = jnp.asarray(total)
    block = _taken(total, starts, sizes).at[rest].add(part)
    return lax.dynamic_update_slice(total, block, starts, allow_negative_indices=False)


def written_at(run: Run, x: Any, key: Any, value: Any) -> Any:
    """`x` with a value at a key that is of this round; None where the key is the same in all."""
    starts, sizes, rest = _block(run, x.shape, key)
    if not starts:
        return None
    x = jnp.asarray(x)
    block = Memory(_taken(x, starts, sizes))
    block[rest] = value
    return lax.dynamic_update_slice(x, block.value, starts, allow_negative_indices=False)


def _taken(x: Any, starts: list[Any], sizes: list[int]) -> Any:
    return lax.dynamic_slice(x, starts, sizes, allow_negative_indices=False)


def _block(run: Run, shape: Any, key: Any) -> tuple[list[Any], list[int], Any]:
    """(where a block begins, its sizes, the key in it) of a key that each round has another of."""
    entries = key if isinstance(key, tuple) else (key,)
    if not any(map(_differs, entries)):
        return [], [], key
    if any(isinstance(e, str) for e in entries):
        raise XlaUnavailable("a key with arrays is another one in each round")
    taken = sum(e is not None and e is not Ellipsis for e in entries)
    starts: list[Any] = []
    sizes: list[int] = []
    rest: list[Any] = []
    for entry in entries:
        axis = len(starts)
        if entry is None:
            rest.append(entry)
        elif entry is Ellipsis:
            for n in shape[axis : axis + len(shape) - taken]:
                starts.append(0)
                sizes.append(n)
                rest.append(slice(None))
        elif not _differs(entry):
            starts.append(0)
            sizes.append(shape[axis])
            rest.append(entry)
        elif isinstance(entry, slice):
            start, size = _span(entry, shape[axis])
            starts.append(run.place(start, shape[axis]))
            sizes.append(size)
            rest.append(slice(None))
        else:
            starts.append(run.place(entry, shape[axis]))
            sizes.append(1)
            rest.append(0)
    sizes += shape[len(starts) :]
    starts += [0] * (len(shape) - len(starts))
    return [jnp.asarray(s, jnp.int64) for s in starts], sizes, tuple(rest)


def _differs(entry: Any) -> bool:
    parts = (entry.start, entry.stop) if isinstance(entry, slice) else (entry,)
    return any(isinstance(p, EachRound) for p in parts)


def _span(entry: slice, size: int) -> tuple[EachRound, int]:
    """(where it begins in each round, how long it is)"""
    ends = [getattr(e, "each", None) for e in (entry.start, entry.stop)]
    count = max(len(e) for e in ends if e is not None)
    starts, stops = (
        e or (p,) * count for e, p in zip(ends, (entry.start, entry.stop), strict=True)
    )
    spans = [range(size)[a : b : entry.step] for a, b in zip(starts, stops, strict=True)]
    if len({len(s) for s in spans}) > 1 or any(s.step != 1 for s in spans):
        raise XlaUnavailable("a slice is of another length in each round")
    return EachRound([s.start for s in spans]), len(spans[0])
