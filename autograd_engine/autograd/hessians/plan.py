"""Hessians by a function that was compiled for the recording at hand.

Which kernels a Hessian takes follows from the shape of the recording: its operations, attributes,
edges, and the shapes and dtypes of what was saved. For each such shape the gradient of the
recording and the tangents of the gradient are worked out once, in a graph, and compiled. Functions
that record the same again only hand over their saved arrays.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from autograd_engine.autograd.hessians.graph import NoPlan, Plan, built
from autograd_engine.compiler.concrete_graph import freeze
from autograd_engine.core.locations import forget_generated
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.spec import Spec
from autograd_engine.eager.tape import Edge, Node, edge_of
from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.strong_zeros import zeros_are_strong

__all__ = ["planned_hessian"]

_ndarray = np.ndarray


_clock: Final = itertools.count()


@dataclass(slots=True, eq=False)
class _Entry:
    """A plan, the name of its text, how many bytes its constants take, and when it was asked for.

    `plan` is None where the general way is taken; with `waits`, this time only.
    """

    plan: Plan | None = None
    filename: str = ""
    nbytes: int = 0
    waits: bool = False
    used: int = field(default_factory=_clock.__next__)


_PLANS: Final[dict[Any, _Entry]] = {}  # by a description of the recording
_MOST: Final = 64
_MOST_BYTES: Final = 1 << 27
_LONG: Final = 100  # nodes: then a plan takes longer than a Hessian, and waits for the second one
_LARGEST: Final = 1 << 24  # bytes of a Hessian beyond which finding out what to do is nothing
_lock: Final = renewed_lock()


def planned_hessian(value: Tensor, inputs: Sequence[Tensor], edges: Sequence[Edge]) -> Any:
    """For each input, the stack of the rows of all inputs' gradients; None where there is no plan.

    Parameters
    ----------
    value : Tensor
        With one element, computed from the inputs.
    inputs : sequence of Tensor
    edges : sequence of Node
        Where the history of each of them starts.
    """
    root = value._data
    total = sum([x._data.size for x in inputs])
    if total * total * root.itemsize > _LARGEST or zeros_are_strong():
        return None
    start = {edge: k for k, edge in enumerate(edges)}
    try:
        key, nodes, arrays = _described(value, start, inputs)
        found = _PLANS.get(key)
    except (NoPlan, TypeError):  # an attribute that is not hashable
        return None
    if found is None and len(nodes) > _LONG:
        found = _kept(key, _Entry(waits=True))
    elif found is None or found.waits:
        found = _kept(key, _Entry(*built(root, nodes, start, inputs)))
    if found.plan is None:
        return None
    found.used = next(_clock)
    results = iter(found.plan(arrays))
    return [[next(results) for _ in inputs] for _ in inputs]


def _kept(key: Any, made: _Entry) -> _Entry:
    """Keep what was made, unless another thread made the same; forget what is not used."""
    with _lock:
        known = _PLANS.get(key)
        if known is not None and not known.waits:
            forget_generated(made.filename)
            return known
        _PLANS[key] = made
        _make_room()
    return made


def _make_room() -> None:
    """Forget what was not used for longest."""
    while len(_PLANS) > _MOST or sum([e.nbytes for e in _PLANS.values()]) > _MOST_BYTES:
        oldest = min(_PLANS, key=lambda key: _PLANS[key].used)
        forget_generated(_PLANS.pop(oldest).filename)


# --- what the plan depends on


def _described(
    root: Tensor, start: dict[Any, int], inputs: Sequence[Tensor]
) -> tuple[Any, list[Any], list[Any]]:
    """A key for the shape of the recording, its nodes, and their saved arrays in the same order.

    The nodes are those from the inputs on, breadth first from the root, also where they do not lead
    to an input. The key is flat: what follows a pullback is as long and of the same kinds in all
    recordings, or says what it is.
    """
    oldest = max([edge.seq for edge in start], default=0)
    first = edge_of(root)
    if first.__class__ is not Node:
        raise NoPlan
    key: list[Any] = [root._data.shape, root._data.dtype]
    for x in inputs:
        key += (x._data.shape, x._data.dtype)
    add = key.append
    arrays: list[Any] = []
    place: dict[Edge, int] = {first: 0}
    nodes: list[Any] = [first]
    for node in nodes:  # it grows
        if node in start:
            add(start[node])
            continue
        saved = node.saved
        if saved.__class__ is not tuple:
            raise NoPlan
        add(node.pullback)
        if node.attrs:
            for attr in node.attrs.values():
                freeze(attr, key)
        for edge in node.edges:
            k = place.get(edge)
            if k is None and isinstance(edge, Node) and edge.seq <= oldest:
                if edge.__class__ is not Node:
                    raise NoPlan  # several outputs, hooks, a layer of the user's
                k = place[edge] = len(nodes)
                nodes.append(edge)
            add(k)
        for value in saved:
            if value.__class__ is _ndarray:
                arrays.append(value)
                add(value.shape)
                add(value.dtype)
            elif value.__class__ is Spec:
                add(Spec)
                add(value.shape)
                add(value.dtype)
            else:
                _describe(value, key, arrays)
    return tuple(key), nodes, arrays


def _describe(value: Any, key: list[Any], arrays: list[Any]) -> None:
    """What else is saved: the arrays of a variadic input, or Specs of them."""
    if value.__class__ is Spec:
        key += (Spec, value.shape, value.dtype)
    elif value.__class__ is tuple:
        key += (tuple, len(value))
        for v in value:
            if v.__class__ is _ndarray:
                arrays.append(v)
                key += (v.shape, v.dtype)
            else:
                _describe(v, key, arrays)
    else:
        raise NoPlan
