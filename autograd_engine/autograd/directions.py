"""Stacks of unit directions, and the batched passes that carry them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograd_engine.autograd.backward_pass import observer
from autograd_engine.autograd.batching.batched import (
    Batched,
    Batching,
    batching,
    dtype_of,
    shape_of,
)
from autograd_engine.autograd.forward.push import is_recorded, push_along
from autograd_engine.autograd.gradient import leads_to
from autograd_engine.core.dtypes import COMPLEX
from autograd_engine.core.locations import caller
from autograd_engine.core.spec import Array, Spec
from autograd_engine.eager.grad_mode import no_grad, recording, unwatched
from autograd_engine.eager.tape import Edge, edge_of, run_backward, write_out
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.conjugates import conj
from autograd_engine.ops.registry.namespace import ops, raw
from autograd_engine.ops.registry.scattered_cotangent import dense

__all__ = ["checked_chunk", "directions_of", "pull_units", "push_units", "split_front"]


def directions_of(shape: Sequence[int], batched: bool) -> int:
    """How many unit directions there are; with a batch axis, one serves all of the batch."""
    return math.prod(shape[1:] if batched else shape)


def checked_chunk(function: str, size: Any) -> int | None:
    """`chunk_size`, which must be a positive number or None."""
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
        raise ArgumentError(
            f"{function}: chunk_size must be None or a positive int, got {size!r}: it is how many "
            "directions go at once"
        )
    return int(size)


def _units(data: Array, indices: Sequence[int], batched: bool, unit: complex) -> Array:
    """A stack of arrays like `data`, each with a unit; with a batch axis, one in each of it."""
    count = len(indices)
    if batched:
        lead = data.shape[0]
        out = np.zeros((count, lead, directions_of(data.shape, True)), data.dtype)
        out[np.arange(count), :, indices] = unit
    else:
        out = np.zeros((count, data.size), data.dtype)
        if isinstance(indices, range) and indices.step == 1:
            out.ravel()[indices.start :: data.size + 1][:count] = unit
        else:
            out[np.arange(count), indices] = unit
    return out.reshape(count, *data.shape)


def _chunks(indices: Sequence[int], size: int | None) -> Iterator[Sequence[int]]:
    step = size or max(len(indices), 1)
    for start in range(0, len(indices), step):
        yield indices[start : start + step]


def _seed(
    data: Array, indices: Sequence[int], batched: bool, xp: Batching, unit: complex = 1
) -> Batched:
    stack = _units(data, indices, batched, unit)
    return Batched(Tensor._wrap(stack) if is_recorded(xp) else stack, xp)


def _array_of(value: Any, count: int, like: Array, xp: Batching) -> Any:
    """The stack that a pass found, as a value of the base; zeros where it found none."""
    value = dense(value)
    if value is None:
        return xp.base.zeros_like(Spec((count, *like.shape), like.dtype))
    return xp.stack_of(value, count)


def _joined(parts: list[list[Any]], xp: Batching) -> list[Any]:
    if len(parts) == 1:
        return parts[0]
    return [xp.base.concat(*column, axis=0) for column in zip(*parts, strict=True)]


def pull_units(
    y: Tensor,
    sources: Sequence[Tensor],
    *,
    create_graph: bool,
    batched: bool = False,
    chunk_size: int | None = None,
    rows: Sequence[int] | None = None,
) -> list[Any]:
    """Cotangents of `sources` for unit cotangents of `y`, along a first axis.

    Parameters
    ----------
    y : Tensor
    sources : sequence of Tensor
    create_graph : bool
        Give Tensors with a history, not ndarrays.
    batched : bool
        The first axis of `y` and of `sources` is a batch, whose entries do not mix.
    chunk_size : int, optional
    rows : sequence of int, optional
        Which units; all of them if not given.

    Notes
    -----
    Of a complex `y` by real sources the derivative is complex, and that of its two parts; by a
    complex source it is the gradient, as users see it.
    """
    if y._data.dtype in COMPLEX:
        with recording():
            parts = [ops.real_part(y), ops.imag_part(y)]
        options: dict[str, Any] = {"create_graph": create_graph, "batched": batched}
        options |= {"chunk_size": chunk_size, "rows": rows}
        return _complex(create_graph, *[pull_units(part, sources, **options) for part in parts])
    xp = batching(ops if create_graph else raw)
    indices = range(directions_of(y._data.shape, batched)) if rows is None else rows
    targets: set[Edge] = {edge_of(x) for x in sources if not x._stop}
    root = edge_of(y)
    if create_graph:
        write_out([root])
    needed: dict[Edge, int] = {} if y._stop else leads_to([root], targets, set())
    parts = []
    at = caller()
    for chunk in _chunks(indices, chunk_size):
        found: dict[Edge, Any] = {}
        if root in needed:
            with recording() if create_graph else no_grad(), unwatched():
                seeds: list[tuple[Edge, Any]] = [(root, _seed(y._data, chunk, batched, xp))]
                found = run_backward(
                    seeds,
                    at=at,
                    retain=True,
                    create_graph=create_graph,
                    needed=needed,
                    capture=targets,
                    observe=observer(at, seeds),
                    xp=xp,
                )
                found = {edge: dense(g) for edge, g in found.items()}
        parts.append(
            [
                _array_of(None if x._stop else found.get(edge_of(x)), len(chunk), x._data, xp)
                for x in sources
            ]
        )
    if not parts:
        parts = [[_array_of(None, 0, x._data, xp) for x in sources]]
    with recording() if create_graph else no_grad():
        return [conj(xp.base, g) for g in _joined(parts, xp)]


def _complex(create_graph: bool, real: list[Any], imag: list[Any]) -> list[Any]:
    base: Any = ops if create_graph else raw
    with recording() if create_graph else no_grad():
        return [base.to_complex(*pair) for pair in zip(real, imag, strict=True)]


def push_units(
    outputs: Sequence[Tensor],
    source: Tensor,
    since: int,
    *,
    create_graph: bool,
    batched: bool = False,
    chunk_size: int | None = None,
) -> list[Any]:
    """Tangents of `outputs` for unit tangents of `source`, along a first axis.

    Of real outputs by a complex source they are those of its two parts, as gradients have them.
    """
    options: dict[str, Any] = {"batched": batched, "chunk_size": chunk_size}
    options |= {"create_graph": create_graph}
    if source._data.dtype in COMPLEX:
        pushed = [_pushed(outputs, source, since, unit, **options) for unit in (1, 1j)]
        return _complex(create_graph, *pushed)
    return _pushed(outputs, source, since, 1, **options)


def _pushed(
    outputs: Sequence[Tensor],
    source: Tensor,
    since: int,
    unit: complex,
    *,
    create_graph: bool,
    batched: bool,
    chunk_size: int | None,
) -> list[Any]:
    xp = batching(ops if create_graph else raw)
    indices = range(directions_of(source._data.shape, batched))
    parts = []
    with recording() if create_graph else no_grad():
        for chunk in _chunks(indices, chunk_size):
            seed = _seed(source._data, chunk, batched, xp, unit)
            starts: dict[Edge, Any] = {edge_of(source): seed}
            pushed = push_along(outputs, starts, since, xp)
            parts.append(
                [
                    _array_of(t, len(chunk), y._data, xp)
                    for y, t in zip(outputs, pushed, strict=True)
                ]
            )
        if not parts:
            parts = [[_array_of(None, 0, y._data, xp) for y in outputs]]
        return _joined(parts, xp)


def split_front(
    value: Any, front: Sequence[int], back: Sequence[int], batched: bool, *, last: bool
) -> Tensor:
    """A stack ``[n, *back]`` as a Tensor in which the n directions have the shape `front`.

    They come first, or with `last` behind all others; with a batch axis, that comes before them.
    """
    base: Any = ops if isinstance(value, Tensor) else raw
    rank = len(back) + 1
    perm = tuple(range(rank))
    sizes = [*front, *back]
    if batched:
        lead = back[0]
        rest = tuple(back[1:])
        perm = (1, *range(2, rank), 0) if last else (1, 0, *range(2, rank))
        sizes = [lead, *rest, *front] if last else [lead, *front, *rest]
    elif last:
        perm = (*range(1, rank), 0)
        sizes = [*back, *front]
    if perm != tuple(range(rank)):
        value = base.transpose(value, perm=perm)
    if list(shape_of(value)) != sizes:
        value = base.reshape_like(value, Spec(tuple(sizes), dtype_of(value)))
    return value if isinstance(value, Tensor) else Tensor._wrap(value)
