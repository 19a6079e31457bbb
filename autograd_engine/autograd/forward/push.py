"""Tangents pushed along a recording, from the oldest node to the newest.

`xp` says what tangents are: `raw` for ndarrays, `ops` for Tensors with a history, `batching` of
either for a stack of directions, which then takes one pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.autograd.batching.batched import Batched, Batching
from autograd_engine.autograd.forward.pushforward import push
from autograd_engine.autograd.gradient import leads_to
from autograd_engine.core.dtypes import INEXACT
from autograd_engine.core.locations import caller
from autograd_engine.eager.grad_mode import grad_mode, recording, uncast
from autograd_engine.eager.tape import (
    Edge,
    MultiNode,
    Node,
    Slot,
    edge_of,
    newer,
    run_backward,
    saved_values,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import NotDifferentiableError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.scattered_cotangent import dense
from autograd_engine.ops.registry.strong_zeros import strengthened

__all__ = ["is_recorded", "push_along"]


def is_recorded(xp: Any) -> bool:
    """Whether what is computed with `xp` has a history."""
    return (xp.base if isinstance(xp, Batching) else xp) is ops


@uncast
def push_along(
    outputs: Sequence[Tensor], starts: dict[Edge, Any], since: int, xp: Any
) -> list[Any]:
    """Tangents of `outputs`, from those of the edges in `starts`, all recorded after `since`.

    None for an output that is not floating, that stops gradients, or whose tangent is zero.
    """
    roots = [edge_of(y) for y in outputs if y._data.dtype in INEXACT and not y._stop]
    reached = leads_to(roots, set(starts), set(), since)
    tangents: dict[Edge, Any] = dict(starts)
    several: dict[Node, Sequence[Any]] = {}
    # Sequence numbers fall: from the oldest node to the newest.
    for node in sorted((e for e in reached if isinstance(e, Node)), key=lambda n: -n.seq):
        if node in starts:
            continue
        if isinstance(node, Slot):
            (source,) = node.edges
            assert isinstance(source, Node)
            tangents[node] = several[source][node.index]
            continue
        given = [tangents.get(e) for e in node.edges]
        results = _push_node(node, given, xp)
        if grad_mode.anomaly is not None:
            grad_mode.anomaly.pushed(node, given, results)
        if isinstance(node, MultiNode):
            several[node] = results
        else:
            (tangents[node],) = results
    return [None if y._stop else tangents.get(edge_of(y)) for y in outputs]


def _push_node(node: Node, tangents: Sequence[Any], xp: Any) -> Sequence[Any]:
    pullback = node.pullback
    if not getattr(pullback, "batches", True):
        return _push_custom(node, tangents, xp)
    operands, outputs = _context(node)
    saved = saved_values(node)
    if is_recorded(xp):
        saved = node.lifted(saved)
        operands = tuple([Tensor._wrap(a) if isinstance(a, np.ndarray) else a for a in operands])
    return push(
        pullback,
        saved,
        node.attrs,
        operands,
        outputs,
        tangents,
        lambda along: _transposed(node, along, xp),
        xp,
    )


def _context(node: Node) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    context = getattr(node, "context", None)
    if context is None:
        raise NotDifferentiableError(
            f"jvp: {node.name} of {node.location} was recorded in another thread; func must "
            "compute in the thread that calls jvp"
        )
    return context  # type: ignore[no-any-return]


def _transposed(node: Node, along: Sequence[Any], xp: Any) -> Sequence[Any]:
    """The gradient of ``<pull(u), along>`` with respect to the cotangents u: they are `J along`."""
    op, (_, outputs) = node.pullback.op, _context(node)
    open_outputs = [k for k in range(len(outputs)) if op.output_at(k) not in op.nondiff_outputs]
    saved = node.lifted(saved_values(node))
    since = newer()
    us = {k: Tensor._leaf(np.zeros(outputs[k].shape, outputs[k].dtype)) for k in open_outputs}
    # Cotangents are zero here, but what is linear in them is not: zeros must not be strong.
    with recording(), strengthened(False):
        given: Any = [us.get(k) for k in range(len(outputs))] if op.multiple else us[0]
        pulled = [dense(r) for r in node.pullback.pull(ops, given, saved, node.attrs)]
    roots = [
        (edge_of(r), t)
        for r, t in zip(pulled, along, strict=True)
        if r is not None and t is not None and not r._stop
    ]
    targets: set[Edge] = set(us.values())
    found = run_backward(
        roots,
        at=caller(),
        retain=True,
        create_graph=is_recorded(xp),
        needed=leads_to([edge for edge, _ in roots], targets, set(), since),
        xp=xp if isinstance(xp, Batching) else None,
    )
    tangents_of = {k: dense(found.get(u)) for k, u in us.items()}
    return [tangents_of.get(k) for k in range(len(outputs))]


# --- nodes of the user's


def _push_custom(node: Node, tangents: Sequence[Any], xp: Any) -> Sequence[Any]:
    """A node whose rule is the user's takes one direction at a time, as Tensors."""
    if not isinstance(xp, Batching):
        return _push_one(node, tangents, xp)
    n = next((t.count for t in tangents if isinstance(t, Batched)), None)
    if n is None:
        return _push_one(node, tangents, xp.base)
    return xp.one_by_one(n, lambda i: _push_one(node, [xp.entry(t, i) for t in tangents], xp.base))


def _push_one(node: Node, tangents: Sequence[Any], xp: Any) -> Sequence[Any]:
    own = getattr(node.pullback, "push", None)
    if own is not None:
        given = [t if t is None or isinstance(t, Tensor) else Tensor._wrap(t) for t in tangents]
        results = own(node.lifted(saved_values(node)), given)
        if results is not None:
            if is_recorded(xp):
                return list(results)
            return [None if t is None else t._data for t in results]
    return _transposed(node, tangents, xp)
