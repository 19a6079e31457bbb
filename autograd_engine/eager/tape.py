"""The tape: nodes that record operations, and the walk that runs them backwards.

An edge of a node leads to what made the input: another node, or the leaf Tensor itself. A node
holds no Tensor between, so nothing stays alive but what a rule asked for. Sequence numbers fall,
so the newest node comes first off a heap; when a node comes off, everything newer, and so every
consumer of its output, has contributed already. No recursion, and nothing is visited that no
cotangent reaches.

Saved arrays need no version counters: memory that anything else can see is never written (see
docs/design.md, "Values").
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable
from heapq import heappop, heappush, heappushpop
from types import CodeType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import GraphFreedError
from autograd_engine.flags import flags
from autograd_engine.namespace import ops, raw
from autograd_engine.pullback import Pullback
from autograd_engine.registry import REGISTRY
from autograd_engine.scattered import Scattered, iadd_scattered
from autograd_engine.source import Location, caller, user_stack
from autograd_engine.spec import Spec
from autograd_engine.strong_zeros import zeros_are_strong

__all__ = [
    "Edge",
    "MultiNode",
    "Node",
    "Observer",
    "Slot",
    "check_alive",
    "edge_of",
    "lift",
    "newer",
    "run_backward",
]

Array = NDArray[Any]
newer = itertools.count(0, -1).__next__


class Node:
    """One recorded operation.

    Attributes
    ----------
    pullback : Pullback
        The compiled rules of the inputs that want a gradient.
    edges : tuple
        One edge for each of those inputs.
    saved : tuple or Location
        What the rules asked for; after a backward pass that did not retain the graph, the line
        that ran it.
    attrs : dict or None
        Attributes of the call.
    seq : int
        Falls with every node recorded.
    code, instruction : the user's line (see `Location`).
    context : tuple
        Only where it was recorded for the forward mode: what the operands are, ndarrays for those
        without a rule and Specs for the others, and the Specs of the outputs.
    """

    __slots__ = (
        "attrs",
        "code",
        "context",
        "edges",
        "instruction",
        "pullback",
        "saved",
        "seq",
        "stack",
    )

    edges: tuple[Edge, ...]
    saved: Any
    context: tuple[tuple[Any, ...], tuple[Spec, ...]]

    def __init__(
        self,
        pullback: Pullback,
        edges: tuple[Edge, ...],
        saved: tuple[Any, ...],
        attrs: dict[str, Any] | None,
        code: CodeType,
        instruction: int,
    ) -> None:
        self.pullback = pullback
        self.edges = edges
        self.saved = saved
        self.attrs = attrs
        self.seq = newer()
        self.code = code
        self.instruction = instruction
        if flags.call_stack_level >= 3:
            self.stack = user_stack()

    @property
    def name(self) -> str:
        return self.pullback.op.name

    @property
    def location(self) -> Location:
        return Location(self.code, self.instruction)

    def __repr__(self) -> str:
        return f"<{self.name} at {self.location}>"


class MultiNode(Node):
    """A node with several outputs, each of which has a `Slot`."""

    __slots__ = ("_slots",)

    def slot(self, index: int) -> Slot:
        """The slot of one output: the same one for as long as anything leads to it."""
        # Weak, for the slot leads to the node: a cycle would keep saved values alive.
        slots: dict[int, weakref.ref[Slot]] = getattr(self, "_slots", {})
        known = slots.get(index)
        found = known() if known is not None else None
        if found is None:
            found = Slot(self, index)
            slots[index] = weakref.ref(found)
            self._slots = slots
        return found


class Slot(Node):
    """One output of a node that has several: puts the cotangent in its place in a bundle."""

    __slots__ = ("__weakref__", "index")

    def __init__(self, node: MultiNode, index: int) -> None:
        super().__init__(node.pullback, (node,), (), None, node.code, node.instruction)
        self.index = index

    def bundle(self, g: Any) -> Bundle:
        return Bundle({self.index: g})


class Bundle(dict[int, Any]):
    """Cotangents of the outputs of a node by their index; None where nothing has arrived."""

    def __missing__(self, _: int) -> None:
        return None

    def __add__(self, other: Any) -> Bundle:
        # Each slot contributes once, its own sum: nothing is there twice.
        return Bundle({**self, **other})


Edge: TypeAlias = Node | Tensor
Observer: TypeAlias = Callable[[Node, Any, tuple[Edge, ...], tuple[Any, ...]], None]
_IDENTITY = REGISTRY["assign"].pullback(1)


def edge_of(tensor: Tensor) -> Edge:
    """Where a cotangent of `tensor` goes: the node that made it, or the leaf itself."""
    node: Node | None = tensor._node
    return tensor if node is None else node


def run_backward(
    roots: Iterable[tuple[Edge, Any]],
    *,
    at: Location,
    retain: bool,
    create_graph: bool = False,
    needed: set[Edge] | None = None,
    capture: set[Edge] | None = None,
    observe: Observer | None = None,
) -> dict[Edge, Any]:
    """Run the tape backwards from `roots`; the cotangent of every leaf that it reaches.

    Parameters
    ----------
    roots : iterable of (edge, cotangent)
        Cotangents are ndarrays, or Tensors with `create_graph`.
    at : Location
        The user's line, for the error of a later pass.
    retain : bool
        Keep what the nodes saved.
    create_graph : bool
        Record the pass itself, so that its result can be differentiated.
    needed : set, optional
        Follow only edges in this set.
    capture : set, optional
        Nodes whose cotangent is wanted too.
    observe : callable, optional
        Called with (node, its cotangent, its edges, their cotangents) after each node.

    Raises
    ------
    GraphFreedError
        When the pass reaches a node that an earlier pass has freed. No leaf is touched.
    """
    xp = ops if create_graph else raw
    strong = zeros_are_strong()
    cotangents: dict[Edge, Any] = {}
    owned: set[Edge] = set()  # edges whose cotangent is a sum made here: nobody else sees it yet
    captured: dict[Edge, Any] = {}
    heap: list[tuple[int, Node]] = []

    for edge, g in roots:
        old = cotangents.get(edge)
        cotangents[edge] = g if old is None else old + g
        if old is None and isinstance(edge, Node):
            heappush(heap, (edge.seq, edge))
    found: Node | None = None  # met last, and not on the heap: in a chain, nothing ever is
    while found is not None or heap:
        if found is None:
            node = heappop(heap)[1]
        else:
            node = heappushpop(heap, (found.seq, found))[1] if heap else found
            found = None
        g = cotangents.pop(node)
        if isinstance(g, Scattered):
            g = g.dense()
        if capture is not None and node in capture:
            captured[node] = g
        saved = node.saved
        if saved.__class__ is Location:
            check_alive(node)
        edges = node.edges
        if node.__class__ is Slot:
            results: tuple[Any, ...] = (node.bundle(g),)
        else:
            pullback = node.pullback
            if create_graph:
                saved = lift(node)
            if needed is not None:
                pullback, edges = _restrict(node, needed)
            if strong:
                pullback = pullback.strengthened()
            results = pullback.pull(xp, g, saved, node.attrs)
        if not retain:
            node.saved = at
            node.edges = ()
        # Accumulate, as a left fold in order of arrival.
        for edge, gi in zip(edges, results):  # noqa: B905 - as many by construction, and hot
            if edge in owned:
                if gi is not None:
                    if gi.__class__ is Scattered:  # no array adds it to itself in place
                        cotangents[edge] = iadd_scattered(cotangents[edge], gi)
                    else:
                        cotangents[edge] += gi
            elif edge in cotangents:
                if gi is not None:
                    total = cotangents[edge] = cotangents[edge] + gi
                    if total.__class__ is np.ndarray or total.__class__ is Scattered:
                        owned.add(edge)
            elif gi is not None:
                cotangents[edge] = gi
                if edge.__class__ is not Tensor and isinstance(edge, Node):
                    if found is None:
                        found = edge
                    else:
                        heappush(heap, (edge.seq, edge))
        if observe is not None:
            observe(node, g, edges, results)
    cotangents.update(captured)
    return cotangents


def _restrict(node: Node, needed: set[Edge]) -> tuple[Pullback, tuple[Edge, ...]]:
    """The part of a node's pullback that leads to `needed`."""
    keep = [(k, e) for k, e in zip(node.pullback.wanted, node.edges, strict=True) if e in needed]
    return node.pullback.restrict(tuple(k for k, _ in keep)), tuple(e for _, e in keep)


def check_alive(node: Node) -> None:
    """Raise GraphFreedError when an earlier pass has freed what `node` saved."""
    freed = node.saved
    if freed.__class__ is not Location:
        return
    line = freed.text
    raise GraphFreedError(
        f"this graph was freed by an earlier backward pass at {freed}"
        + (f" ({line})" if line else "")
        + f"; it reached {node.name} of {node.location}. Call that earlier pass with "
        "retain_graph=True, or compute the result again before the second one"
    )


def lift(node: Node) -> tuple[Any, ...]:
    """What `node` saved, as Tensors connected to the graph, so that rules on them record."""
    op = node.pullback.op
    edges = dict(zip(node.pullback.wanted, node.edges, strict=True))
    fixed = len(op.inputs) - 1

    def tensor_at(position: int, value: Any) -> Any:
        return connect(value, edges.get(position))

    lifted: list[Any] = []
    for name, value in zip(node.pullback.saved, node.saved, strict=True):
        if isinstance(value, Spec) or name.removesuffix("_like") != name:
            lifted.append(value)
        elif name in op.outputs:
            lifted.append(_lift_output(node, name, value))
        elif op.variadic and name == op.inputs[-1]:
            lifted.append(tuple(tensor_at(fixed + i, v) for i, v in enumerate(value)))
        else:
            lifted.append(tensor_at(op.inputs.index(name), value))
    return tuple(lifted)


def _lift_output(node: Node, name: str, value: Any) -> Tensor:
    op = node.pullback.op
    if name in op.nondiff_outputs:
        return connect(value, None)
    if op.multiple:
        assert isinstance(node, MultiNode)
        return connect(value, node.slot(op.outputs.index(name)))
    return connect(value, node)


def connect(value: Array, edge: Edge | None) -> Tensor:
    """`value` as a Tensor whose cotangent goes to `edge`."""
    if edge is None:
        return Tensor._wrap(value)
    if isinstance(edge, Tensor):
        if edge._data is value:
            return edge
        # The leaf has been given another value since: an identity leads to it.
        at = caller()
        edge = Node(_IDENTITY, (edge,), (), None, at.code, at.instruction)
    return Tensor._wrap(value, edge)
